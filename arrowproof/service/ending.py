"""The ending: how a worker is told to end, and the wait that this cuts short.

Ctrl-C ends at once, and so does SIGTERM in a bounded run: the attempt under way is undone, and the job is as it was. In
a resident worker the first SIGTERM asks it to drain, to finish the attempt that is under way and to begin nothing new,
which it tells on stderr; only the second ends it at once.
"""

from __future__ import annotations

import os
import select
import signal
import sys
from contextlib import suppress
from types import FrameType, TracebackType
from typing import Protocol

INTERRUPTED = 130
TERMINATED = 143
"""Exit status of a process that Ctrl-C or SIGTERM ended at once."""


class Terminated(KeyboardInterrupt):
    """SIGTERM, where it ends at once. Whatever answers Ctrl-C answers it as well."""


class Readable(Protocol):
    """Something that a wait can be woken by: it has a file descriptor that becomes readable."""

    def fileno(self) -> int:
        """The file descriptor."""


class Ending:
    """Handles SIGTERM while it is entered; for the main thread alone.

    A signal that comes just before a wait is not lost: its handler writes to a pipe that the wait looks at.
    """

    def __init__(self, *, drains: bool) -> None:
        self.is_asked = False
        self._drains = drains
        self._read, self._write = os.pipe()
        os.set_blocking(self._write, False)

    def __enter__(self) -> Ending:
        self._handler_before = signal.signal(signal.SIGTERM, self._on_sigterm)
        self._wakeup_before = signal.set_wakeup_fd(self._write, warn_on_full_buffer=False)
        return self

    def __exit__(self, _: type[BaseException] | None, __: BaseException | None, ___: TracebackType | None) -> None:
        signal.set_wakeup_fd(self._wakeup_before)
        signal.signal(signal.SIGTERM, self._handler_before)
        os.close(self._read)
        os.close(self._write)

    def wait(self, seconds: float, waker: Readable | None = None) -> None:
        """Wait, but no longer than until the worker is asked to end or the waker has something to say."""
        files: list[int | Readable] = [self._read]
        if waker is not None:
            files.append(waker)
        select.select(files, [], [], seconds)

    def _on_sigterm(self, _: int, __: FrameType | None) -> None:
        if self.is_asked or not self._drains:
            raise Terminated
        self.is_asked = True
        # Not by print, which a signal may have come in the middle of.
        with suppress(OSError):
            os.write(sys.stderr.fileno(), b'{"draining": true}\n')
