"""Choices: where a string of Python code may be one of several, each of them in its turn.

A reader that comes to such a place asks :meth:`Choices.choose` which one to take, and is run once more for each way
through all of them, up to a bound.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable
from dataclasses import dataclass, field
from typing import TypeVar

MAX_WAYS = 24
"""Ways through the choices of one string that are followed."""

Read = TypeVar("Read")


@dataclass
class Choices:
    """The way that is being taken. Outside of :meth:`ways` nothing is chosen."""

    taken: dict[Hashable, int] = field(default_factory=dict)
    sizes: dict[Hashable, int] = field(default_factory=dict)
    is_open: bool = False

    def choose(self, place: Hashable, size: int) -> int | None:
        """Which of ``size`` to take at a place, the same one each time on one way; None: whichever."""
        if size == 1:
            return 0
        if not self.is_open or size < 1:
            return None
        self.sizes[place] = size
        return self.taken.setdefault(place, 0)

    def ways(self, read: Callable[[], Read]) -> list[Read] | None:
        """What a reader makes on each way, None where there are too many. On a way, there is this way alone."""
        if self.is_open:
            return [read()]
        made: list[Read] = []
        self.taken = {}
        while True:
            self.sizes = {}
            self.is_open = True
            try:
                made.append(read())
            finally:
                self.is_open = False
            if not self._next():
                return made
            if len(made) >= MAX_WAYS:
                return None

    def _next(self) -> bool:
        """Take the next way; False when there is none. A place that was not come to is forgotten."""
        self.taken = {place: index for place, index in self.taken.items() if place in self.sizes}
        for place in reversed(tuple(self.taken)):
            if self.taken[place] + 1 < self.sizes[place]:
                self.taken[place] += 1
                return True
            del self.taken[place]
        return False
