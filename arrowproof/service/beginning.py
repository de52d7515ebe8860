"""The beginning: a command while it still loads its code, and has nothing to undo.

A signal that comes then would end it with a traceback, in whatever module is being loaded; or some module takes it for
a failure of its own. So a command begins with this, before its other imports. See :mod:`arrowproof.service.ending` for
what a signal does once there is work.
"""

from __future__ import annotations

import atexit
import os
import signal
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from types import FrameType
from typing import Any

from arrowproof.service.streams import leave_unsaid, open_closed_streams

INTERRUPTED = 130
TERMINATED = 143
"""Exit status of a process that Ctrl-C or SIGTERM ended at once."""


@dataclass(frozen=True)
class _AtOnce:
    """A handler that just ends the process, with ``terminated`` as its status after SIGTERM."""

    terminated: int

    def __call__(self, number: int, _: FrameType | None) -> None:
        os._exit(self.terminated if number == signal.SIGTERM else INTERRUPTED)


class Terminated(KeyboardInterrupt):
    """SIGTERM, where it ends at once. Whatever answers Ctrl-C answers it as well."""


def begin(terminated: int = TERMINATED) -> None:
    """What every command does first: it has streams, and from here on SIGTERM and Ctrl-C just end it.

    Args:
        terminated: The exit status after SIGTERM.
    """
    open_closed_streams()
    atexit.register(leave_unsaid)
    # Registered last, and so called first.
    atexit.register(_pass_signals_over)
    _handle(terminated)


def end_of_beginning() -> None:
    """From here on there may be something to undo: Ctrl-C raises KeyboardInterrupt, and SIGTERM Terminated.

    What handles a signal in a way of its own goes on to do so.
    """
    for number, handler in ((signal.SIGINT, signal.default_int_handler), (signal.SIGTERM, _raise_terminated)):
        if isinstance(signal.getsignal(number), _AtOnce):
            signal.signal(number, handler)


@contextmanager
def loading(terminated: int = TERMINATED) -> Iterator[None]:
    """Load more code, late: a signal meanwhile just ends the process. Nothing may stand open that has to be undone."""
    before = _handle(terminated)
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


def _handle(terminated: int) -> Mapping[int, Any]:
    """Have the signals end the process; gives what handled them before."""
    # What a shell starts in the background ignores Ctrl-C, and goes on to do so.
    handled = [number for number in (signal.SIGTERM, signal.SIGINT) if signal.getsignal(number) is not signal.SIG_IGN]
    return {number: signal.signal(number, _AtOnce(terminated)) for number in handled}


def _pass_signals_over() -> None:
    """The work is done, and its exit status is what counts: while Python takes itself down, no signal ends it."""
    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, signal.SIG_IGN)


def _raise_terminated(_: int, __: FrameType | None) -> None:
    raise Terminated
