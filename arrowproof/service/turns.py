"""The turns: which connection begins its next request when many have one.

The event loop serves every connection that is ready before it comes back to the first, and a new client needs several
such rounds: to be accepted, to be read, to be answered. So only a few requests are begun in each round, in the order in
which they came. A client may send many requests without waiting for the answers. Its first one has its turn like
everybody's; the others stand *behind*, in a second queue that moves more slowly.

Most requests are answered in threads. A request that was begun waits for a thread in a queue where all are alike, so
that queue must stay short: while many wait there, those behind are begun one at a time, with a pause between them.
"""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Callable
from typing import Final

MOST_IN_A_ROUND: Final = 8
"""Requests that are begun in one round of the event loop."""
MOST_BEHIND: Final = 2
"""How many of those may be requests that stood behind, while others wait."""
STEP_SECONDS: Final = 0.01
"""The pause between two requests that stood behind, while many wait for a thread."""

Begin = Callable[[], None]
"""Takes apart the next request of a connection, and sets about answering it."""


class Turns:
    """Whose turn it is, among the connections of one event loop. ``is_crowded`` says whether many wait for a thread."""

    def __init__(self, is_crowded: Callable[[], bool] = lambda: False) -> None:
        self.is_crowded = is_crowded
        self._may_step = False
        self._has_next_step = False
        self._first: deque[Begin] = deque()
        self._behind: deque[Begin] = deque()
        self._begun = 0
        self._has_next_round = False

    def ask(self, begin: Begin, *, is_behind: bool) -> None:
        """Have a request begun: at once when nobody waits, else when it is its turn.

        Args:
            begin: What is to be done then, once.
            is_behind: Whether the request stood behind another one of its client, which was answered just now.
        """
        (self._behind if is_behind else self._first).append(begin)
        if self._has_next_round and self._begun >= MOST_IN_A_ROUND:
            return
        self._begin_some()

    def _begin_some(self) -> None:
        # First of all, so that a request that cannot be begun keeps nobody else from it.
        if not self._has_next_round:
            self._has_next_round = True
            asyncio.get_running_loop().call_soon(self._next_round)
        while self._begun < MOST_IN_A_ROUND and (queue := self._next_queue()):
            self._begun += 1
            if queue is self._behind:
                self._may_step = False
            queue.popleft()()

    def _next_queue(self) -> deque[Begin]:
        are_next = self._begun < MOST_BEHIND or not self._first
        return self._behind if self._behind and are_next and self._lets_behind() else self._first

    def _lets_behind(self) -> bool:
        """Whether a request that stood behind may be begun. If not, they are looked at again after a pause."""
        if self._may_step or not self.is_crowded():
            return True
        if not self._has_next_step:
            self._has_next_step = True
            asyncio.get_running_loop().call_later(STEP_SECONDS, self._next_step)
        return False

    def _next_round(self) -> None:
        self._has_next_round = False
        self._begun = 0
        if self._first or (self._behind and self._lets_behind()):
            self._begin_some()

    def _next_step(self) -> None:
        self._has_next_step = False
        self._may_step = True
        if not self._has_next_round:
            self._begin_some()
