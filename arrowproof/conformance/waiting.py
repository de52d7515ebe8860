"""The waiting: for what nothing wakes us for, such as the exit of a process, a file that it makes, a lock on a server.

It is looked for every few milliseconds, up to a deadline. The deadline is for what never comes; no right run meets it.
"""

from __future__ import annotations

import time
from collections.abc import Callable

LOOK_SECONDS = 0.002
"""The pause between two looks: short beside what a process takes to start, and long beside a look."""


def comes_true(look: Callable[[], bool], seconds: float) -> bool:
    """Look until ``look`` answers True, for so many seconds at most, and at least once; whether it did."""
    deadline = time.monotonic() + seconds
    while not look():
        if time.monotonic() > deadline:
            return False
        time.sleep(LOOK_SECONDS)
    return True
