"""The metrics: how much there is to do and what came of it, in the text format that Prometheus reads.

==================================  =======  ==================================================================
name                                type     what
==================================  =======  ==================================================================
notes_jobs                          gauge    jobs by ``state``
notes_oldest_due_job_age_seconds    gauge    how long the job that is due for longest has been due; 0 without one,
                                             infinite when it is due since a moment that no calendar has
notes_jobs_finished_total           counter  how often a job came to an end, by ``outcome``; a job that is retried
                                             by hand can come to one again
notes_attempt_errors                gauge    failed attempts on record, counted to a hundred thousand; those of
                                             removed jobs are not
==================================  =======  ==================================================================

All of it is read from the database at the moment that it is asked for, and so is the same on every server. It counts
the jobs of all clients together.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final, cast

from arrowproof.service.clock import Clock, stored_moment, timestamp
from arrowproof.service.database import Database
from arrowproof.service.states import FINISHED, STATES

if TYPE_CHECKING:
    from prometheus_client.metrics_core import Metric

MEDIA_TYPE: Final = "text/plain; version=0.0.4; charset=utf-8"
MOST_ERRORS: Final = 100_000


@dataclass(frozen=True, eq=False)
class Metrics:
    """The figures of one moment: jobs by state, ends by outcome, an age in seconds, and errors on record."""

    jobs: Mapping[str, int]
    finished: Mapping[str, int]
    oldest_due_seconds: float
    errors: int

    def collect(self) -> Iterator[Metric]:
        """The figures as Prometheus' own client has them."""
        from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily

        jobs = GaugeMetricFamily("notes_jobs", "Jobs by state.", labels=["state"])
        for state, count in self.jobs.items():
            jobs.add_metric([state], count)
        yield jobs
        yield GaugeMetricFamily(
            "notes_oldest_due_job_age_seconds",
            "How long the job that is due for longest has been due; 0 without one.",
            value=self.oldest_due_seconds,
        )
        finished = CounterMetricFamily(
            "notes_jobs_finished", "How often a job came to an end, by outcome.", labels=["outcome"]
        )
        for outcome, count in self.finished.items():
            finished.add_metric([outcome], count)
        yield finished
        yield GaugeMetricFamily("notes_attempt_errors", "Failed attempts on record.", value=self.errors)

    def exposition(self) -> bytes:
        """The figures as text."""
        # Late: it takes longer than all else at the start, and many a server is never asked.
        from prometheus_client import CollectorRegistry, generate_latest

        registry = CollectorRegistry()
        registry.register(self)
        return generate_latest(registry)


def read_metrics(database: Database, clock: Clock) -> Metrics:
    """The figures of this moment.

    Raises:
        DatabaseError: the database did not answer.
    """
    counts = {
        (place, state): count for place, state, count in cast(list[tuple[str, str, int]], database.rows("count_jobs"))
    }
    now = clock(database)
    ((due,),) = database.rows("oldest_due", now=timestamp(now))
    ((errors,),) = database.rows("count_errors", most=MOST_ERRORS)
    since = stored_moment(due)
    no_calendar_has_it = 0.0 if due is None else math.inf
    age = no_calendar_has_it if since is None else (now - since).total_seconds()
    return Metrics(
        {state: counts.get(("now", state), 0) for state in STATES},
        {state: counts.get(("now", state), 0) + counts.get(("left", state), 0) for state in FINISHED},
        max(0.0, age),
        cast(int, errors),
    )
