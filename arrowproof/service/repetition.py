"""The repetition: what is told again and again, such as that the disk is full, is told less and less often.

The first time it is told at once. After that it is told with the number of times that it came: after a second, after
two more, and so on up to every ten minutes, and once more at the end if it came since. What has not come for twenty
minutes is new again. Two texts that differ only in their numbers are the same, since those are the numbers of jobs.
"""

from __future__ import annotations

import json
import re
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from arrowproof.service.backoff import Backoff

MOST_KNOWN: Final = 100
_PAUSES: Final = Backoff(first=1.0, longest=600.0)
_NUMBERS = re.compile(r"[0-9]+")


@dataclass
class _Known:
    """A text as it came last, how often it was told and how often it came since then.

    It is told again from the moment ``again`` on; ``last`` is when it came last.
    """

    text: str
    told: int
    came: int
    again: float
    last: float


class Repetition:
    """Counts what comes, from any thread. ``now`` gives seconds that only grow."""

    def __init__(self, now: Callable[[], float] = time.monotonic) -> None:
        self._now = now
        self._known: dict[str, _Known] = {}
        self._lock = threading.Lock()

    def times(self, text: str) -> int:
        """How often the text came since it was told last, this time among them; 0 when it is not to be told now."""
        key = _NUMBERS.sub("0", text)
        with self._lock:
            present = self._now()
            known = self._known.pop(key, None)
            if known is None or present - known.last > 2 * _PAUSES.longest:
                known = _Known(text, 0, known.came if known else 0, present, present)
            # Put in anew, so that what came longest ago is the first to be forgotten.
            self._known[key] = known
            if len(self._known) > MOST_KNOWN:
                del self._known[next(iter(self._known))]
            known.text, known.last = text, present
            known.came += 1
            if present < known.again:
                return 0
            known.told += 1
            known.again = present + _PAUSES.after(known.told)
            came, known.came = known.came, 0
            return came

    def untold(self) -> Sequence[tuple[str, int]]:
        """Each text that came since it was last told, and how often. It counts as told by this; call it at the end."""
        with self._lock:
            found = [(known.text, known.came) for known in self._known.values() if known.came]
            for known in self._known.values():
                known.came = 0
        return found


class Sparing:
    """Tells what happens as rarely as :class:`Repetition` has it, with ``times`` it came; attempts are always told."""

    def __init__(self, tell: Callable[[Mapping[str, object]], None]) -> None:
        self._tell = tell
        self._repetition = Repetition()

    def __call__(self, happened: Mapping[str, object]) -> None:
        """Tell it, or count it."""
        if "outcome" in happened:
            self._tell(happened)
        elif times := self._repetition.times(json.dumps(happened)):
            self._tell_times(happened, times)

    def close(self) -> None:
        """Tell what was only counted."""
        for text, times in self._repetition.untold():
            self._tell_times(json.loads(text), times)

    def _tell_times(self, happened: Mapping[str, object], times: int) -> None:
        self._tell({**happened, "times": times} if times > 1 else happened)
