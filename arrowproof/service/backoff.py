"""The backoff: how long a job waits after a failed attempt."""

from __future__ import annotations

import random
from collections.abc import Callable
from dataclasses import dataclass

JITTER = 0.1
LONGEST_SECONDS = 3600.0
_MOST_DOUBLINGS = 60


@dataclass(frozen=True)
class Backoff:
    """Twice as long after each attempt, up to a limit, less a tenth at random at most.

    The random part keeps jobs that failed together from coming back together. It only ever shortens the wait, so that
    ``first`` and ``longest``, in seconds, are promises. ``draw`` gives a number from 0 to 1.
    """

    first: float
    longest: float
    draw: Callable[[], float] = random.random

    def after(self, attempts: int) -> float:
        """The seconds to wait after this many attempts, 1 or more."""
        doubled: float = self.first * 2.0 ** min(attempts - 1, _MOST_DOUBLINGS)
        return min(doubled, self.longest) * (1 - JITTER * self.draw())
