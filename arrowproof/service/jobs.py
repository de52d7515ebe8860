"""The jobs: what a client asks for by hand, a new start or an end, and the list of jobs."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final, cast

from arrowproof.service.clock import Clock, timestamp
from arrowproof.service.database import BusyError, Database, Value
from arrowproof.service.hold import Hold
from arrowproof.service.notes import StoredJob, find_job

MOST_COUNTED: Final = 10_000


class JobStateError(Exception):
    """The job is not in a state in which this can be done to it. Has the state that it is in."""

    def __init__(self, state: str) -> None:
        super().__init__(state)
        self.state = state


@dataclass(frozen=True)
class JobChange:
    """Who changes a job, and with what: the client, the clock and the hold of the process."""

    client: str
    clock: Clock
    hold: Hold


def requeue_job(database: Database, job_id: int, more_attempts: int, change: JobChange) -> StoredJob | None:
    """Begin a failed job anew: it is due at once and has ``more_attempts`` attempts left.

    Returns:
        The job after the change, or None when the client has no such job.

    Raises:
        JobStateError: the job has not failed.
        DatabaseError: the database did not take it; nothing is changed then.
    """
    return _change(database, "requeue_job", job_id, change, more_attempts=more_attempts)


def cancel_job(database: Database, job_id: int, change: JobChange) -> StoredJob | None:
    """End a job that waits. An attempt that is under way comes first: its outcome decides.

    Returns:
        The job after the change, or None when the client has no such job.

    Raises:
        JobStateError: the job does not wait: it is completed, has failed, or was cancelled before.
        DatabaseError: the database did not take it; nothing is changed then.
    """
    return _change(database, "cancel_job", job_id, change)


def _change(database: Database, query: str, job_id: int, change: JobChange, **parameters: Value) -> StoredJob | None:
    """Compare and set in one transaction: the statement names the states that it may leave, under the row's lock."""
    database.begin()
    change.hold.reached("after-begin", database)
    # Whose the job is never changes; the state may, until the statement has the lock.
    known = find_job(database, job_id, change.client)
    change.hold.reached("after-select", database)
    if known is None:
        return None
    changed = database.change(query, job_id=job_id, now=timestamp(change.clock(database)), **parameters)
    if changed and query == "requeue_job":
        # That it has failed once stays counted.
        database.change("count_past_outcome", status="failed", jobs=1)
    change.hold.reached("after-job", database)
    job = find_job(database, job_id, change.client)
    if job is None:
        raise BusyError("the job was removed in this moment")
    if not changed:
        raise JobStateError(job.status)
    database.commit()
    change.hold.reached("after-commit", database)
    return job


@dataclass(frozen=True)
class ListedJob:
    """A job in a list: what :class:`StoredJob` says of it but its errors, and the first 200 characters of its note."""

    job_id: int
    note_id: int
    status: str
    attempts: int
    max_attempts: int
    next_run_at: str | None
    last_error: str | None
    finished_at: str | None
    text: str


@dataclass(frozen=True)
class JobPage:
    """Jobs, the newest first. ``before`` asks for those that follow; null when there are none."""

    jobs: tuple[ListedJob, ...]
    before: int | None


@dataclass(frozen=True)
class JobFilter:
    """Which jobs of a client to list: in which state (empty: any), before which id, and how many at most."""

    client: str
    state: str
    before: int
    limit: int


def list_jobs(database: Database, wanted: JobFilter) -> JobPage:
    """The newest jobs that are wanted."""
    # One more than is shown says whether there are more.
    parameters: dict[str, Value] = {"client": wanted.client, "before": wanted.before, "most": wanted.limit + 1}
    if wanted.state:
        rows = database.rows("list_jobs_in_state", state=wanted.state, **parameters)
    else:
        rows = database.rows("list_jobs", **parameters)
    listed = tuple(
        ListedJob(*cast(tuple[int, int, str, int, int, str | None, str | None, str | None, str], row)) for row in rows
    )
    shown = listed[: wanted.limit]
    return JobPage(shown, shown[-1].job_id if len(listed) > len(shown) else None)


@dataclass(frozen=True)
class JobCounts:
    """How many jobs there are by state. A count of ``most`` means so many or more."""

    jobs: dict[str, int]
    most: int


def count_jobs(database: Database, client: str, most: int = MOST_COUNTED) -> JobCounts:
    """How many jobs a client has in each state, counted up to ``most``."""
    counted = database.rows("count_client_jobs", client=client, most=most)
    return JobCounts(dict(cast(list[tuple[str, int]], counted)), most)
