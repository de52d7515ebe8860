"""The repetition: what is told again and again, such as that the disk is full, is told less and less often.

The first time it is told at once. After that it is told with the number of times that it came, after a second, after
two more, and so on up to every ten minutes. What has not come for twice as long is new again. Two texts that differ in
their numbers alone are the same, for these are the numbers of jobs.
"""

from __future__ import annotations

import json
import re
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Final

from arrowproof.service.backoff import Backoff

MOST_KNOWN: Final = 100
_PAUSES: Final = Backoff(first=1.0, longest=600.0)
_NUMBERS = re.compile(r"[0-9]+")


@dataclass
class _Known:
    """A text that was told so often, that came so often since, and is told again from a moment on."""

    told: int
    came: int
    again: float
    last: float


class Repetition:
    """Counts what comes. ``now`` gives seconds that only grow."""

    def __init__(self, now: Callable[[], float] = time.monotonic) -> None:
        self._now = now
        self._known: dict[str, _Known] = {}

    def times(self, text: str) -> int:
        """How often the text came since it was told last, this time among them; 0 when it is not to be told now."""
        present, key = self._now(), _NUMBERS.sub("0", text)
        known = self._known.pop(key, None)
        if known is None or present - known.last > 2 * _PAUSES.longest:
            known = _Known(0, 0, present, present)
        # Put in anew, so that what came longest ago is the first to be forgotten.
        self._known[key] = known
        if len(self._known) > MOST_KNOWN:
            del self._known[next(iter(self._known))]
        known.came += 1
        known.last = present
        if present < known.again:
            return 0
        known.told += 1
        known.again = present + _PAUSES.after(known.told)
        came, known.came = known.came, 0
        return came


def sparing(tell: Callable[[Mapping[str, object]], None]) -> Callable[[Mapping[str, object]], None]:
    """Tell what happens, but for attempts, no more often than that; ``times`` says how often it came since."""
    repetition = Repetition()

    def tell_sparingly(happened: Mapping[str, object]) -> None:
        times = 1 if "outcome" in happened else repetition.times(json.dumps(happened))
        if times:
            tell({**happened, "times": times} if times > 1 else happened)

    return tell_sparingly
