"""The passed over: the jobs that a resident worker leaves alone for a while, so that those behind them get their turn.

A job at which an attempt is made and can not be recorded, or comes to a lock that somebody keeps, is as due afterwards
as it was before, and still the one that has waited longest. It is passed over for a tenth of a second, and for twice as
long each time up to half a minute.
"""

from __future__ import annotations

import math
import time
from typing import Final

from arrowproof.service.backoff import Backoff

PAUSES: Final = Backoff(first=0.1, longest=30.0)


class PassedOver:
    """The jobs, by how often they were passed over, and until when by the clock of this process."""

    def __init__(self) -> None:
        self._jobs: dict[int, tuple[int, float]] = {}

    def add(self, job_id: int) -> None:
        """Pass a job over from now on."""
        present = time.monotonic()
        times = self._jobs.get(job_id, (0, 0.0))[0] + 1
        # What had its turn long ago and was not heard of again is in other hands, or gone.
        self._jobs = {id_: entry for id_, entry in self._jobs.items() if entry[1] > present - PAUSES.longest}
        self._jobs[job_id] = times, present + PAUSES.after(times)

    def forget(self, job_id: int) -> None:
        """An attempt at the job was recorded."""
        self._jobs.pop(job_id, None)

    def now(self) -> tuple[int, ...]:
        """The jobs to be left alone at this moment, by their ids."""
        present = time.monotonic()
        return tuple(job_id for job_id, (_, until) in self._jobs.items() if until > present)

    def seconds(self) -> float:
        """How long it is until the next of them has its turn again."""
        present = time.monotonic()
        return min((until - present for _, until in self._jobs.values() if until > present), default=math.inf)
