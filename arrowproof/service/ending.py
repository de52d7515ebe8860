"""The ending: how a worker is told to end, and the wait that this cuts short.

Ctrl-C ends at once, and so does SIGTERM in a bounded run: the attempt under way is undone, and the job is as it was. In
a resident worker the first SIGTERM asks it to drain, to finish the attempt that is under way and to begin nothing new,
which it tells on stderr; only the second ends it at once.

At once means that what stands is rolled back and closed, for which a database has to answer. One that says nothing is
waited for eight seconds (psycopg itself takes five to give up); then, or at the next signal, the process just ends, and
an attempt that was under way stays on record as begun, as if the worker had been killed. Python hears of no signal
while SQLite waits for the lock of another process: then at once is when that wait is over, the busy timeout at most.
"""

from __future__ import annotations

import os
import select
import signal
import sys
from contextlib import suppress
from datetime import UTC, datetime
from threading import Timer
from types import FrameType, TracebackType
from typing import Final, Protocol

from arrowproof.service.beginning import INTERRUPTED, TERMINATED, Terminated
from arrowproof.service.log_line import log_line

END_SECONDS: Final = 8.0


class Readable(Protocol):
    """Something that a wait can be woken by: it has a file descriptor that becomes readable."""

    def fileno(self) -> int:
        """The file descriptor."""


class Ending:
    """Handles SIGTERM and Ctrl-C while it is entered; for the main thread alone.

    A signal that comes just before a wait is not lost: its handler writes to a pipe that the wait looks at.
    """

    def __init__(self, *, drains: bool) -> None:
        self.is_asked = False
        self._drains = drains
        self._last_resort: Timer | None = None
        self._read, self._write = os.pipe()
        os.set_blocking(self._write, False)

    def __enter__(self) -> Ending:
        self._handlers_before = {signal.SIGTERM: signal.signal(signal.SIGTERM, self._on_sigterm)}
        # Ignored in what a shell started in the background, and it stays so.
        if signal.getsignal(signal.SIGINT) is not signal.SIG_IGN:
            self._handlers_before[signal.SIGINT] = signal.signal(signal.SIGINT, self._on_interrupt)
        self._wakeup_before = signal.set_wakeup_fd(self._write, warn_on_full_buffer=False)
        return self

    def __exit__(self, _: type[BaseException] | None, __: BaseException | None, ___: TracebackType | None) -> None:
        signal.set_wakeup_fd(self._wakeup_before)
        for number, handler in self._handlers_before.items():
            signal.signal(number, handler)
        if self._last_resort is not None:
            self._last_resort.cancel()
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
            self._end(TERMINATED)
            raise Terminated
        self.is_asked = True
        # Not by print, which a signal may have come in the middle of.
        with suppress(OSError):
            os.write(sys.stderr.fileno(), f"{log_line({'draining': True}, datetime.now(UTC), 'ascii')}\n".encode())

    def _on_interrupt(self, _: int, __: FrameType | None) -> None:
        self._end(INTERRUPTED)
        raise KeyboardInterrupt

    def _end(self, status: int) -> None:
        """Have the process end soon whatever it waits for, and right now when it was told so before."""
        if self._last_resort is not None:
            os._exit(status)
        self._last_resort = Timer(END_SECONDS, os._exit, (status,))
        self._last_resort.daemon = True
        self._last_resort.start()
