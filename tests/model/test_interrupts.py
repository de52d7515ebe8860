from __future__ import annotations

import os
import signal
import threading

import pytest

from arrowproof.model.interrupts import interrupts_held


@pytest.mark.parametrize("chosen", [signal.SIGINT, signal.SIGTERM])
def test_an_interrupt_waits_for_the_end_of_the_block_whatever_other_threads_there_are(chosen: signal.Signals) -> None:
    released, done = threading.Event(), []
    other = threading.Thread(target=released.wait)

    def interrupted() -> None:
        with interrupts_held():
            os.kill(os.getpid(), chosen)
            done.append("the block")

    before = signal.signal(chosen, signal.default_int_handler)
    other.start()
    try:
        with pytest.raises(KeyboardInterrupt):
            interrupted()
    finally:
        signal.signal(chosen, before)
        released.set()
        other.join()
    assert done == ["the block"]


def test_a_thread_that_is_never_interrupted_leaves_the_handlers_alone() -> None:
    seen: list[object] = []

    def hold() -> None:
        with interrupts_held():
            seen.append(signal.getsignal(signal.SIGTERM))

    thread = threading.Thread(target=hold)
    thread.start()
    thread.join()
    assert seen == [signal.getsignal(signal.SIGTERM)]
