"""Interrupts that wait: what must not be broken off half-way is done first."""

from __future__ import annotations

import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType


@contextmanager
def interrupts_held() -> Iterator[None]:
    """SIGINT and SIGTERM wait until the block is over.

    An interrupt between the start of a process and the note that it was started would leave it running for ever. A mask
    of signals would not do: where there are other threads, one of them takes what this one holds back.
    """
    if threading.current_thread() is not threading.main_thread():
        yield  # only the main thread is interrupted
        return
    came: list[tuple[int, FrameType | None]] = []
    handlers = {
        number: signal.signal(number, lambda *interrupt: came.append(interrupt))
        for number in (signal.SIGINT, signal.SIGTERM)
    }
    try:
        yield
    finally:
        for number, handler in handlers.items():
            signal.signal(number, handler)
        for came_number, _frame in came:
            signal.raise_signal(came_number)
