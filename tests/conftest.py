"""What holds for every test."""

from __future__ import annotations

import signal

# A suite that is started in the background inherits an ignored SIGINT, and so would every process that it starts;
# what Ctrl-C does could not be tested then.
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)
