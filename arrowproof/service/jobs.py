"""The jobs: what a client asks for by hand, a new start or an end."""

from __future__ import annotations

from dataclasses import dataclass

from arrowproof.service.clock import Clock, timestamp
from arrowproof.service.database import BusyError, Database, Value
from arrowproof.service.hold import Hold
from arrowproof.service.notes import StoredJob, find_job


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
    change.hold.at("after-begin")
    # Whose the job is never changes; the state may, until the statement has the lock.
    known = find_job(database, job_id, change.client)
    change.hold.at("after-select")
    if known is None:
        return None
    changed = database.change(query, job_id=job_id, now=timestamp(change.clock(database)), **parameters)
    change.hold.at("after-job")
    job = find_job(database, job_id, change.client)
    if job is None:
        raise BusyError("the job was removed in this moment")
    if not changed:
        raise JobStateError(job.status)
    database.commit()
    change.hold.at("after-commit")
    return job
