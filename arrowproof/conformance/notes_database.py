"""The notes database beside the service: what a driver puts into it, and what it has to refuse or to have lost.

Nothing here writes a state. A trigger refuses history rows, so that attempts fail; what a UNIQUE constraint has to
refuse is tried and rolled back; and a finished job that a tour leaves behind is given a later ``finished_at``, which
puts it out of reach of a retention that is to remove another.
"""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path

from arrowproof.conformance.driver import DriverError
from arrowproof.conformance.notes_engines import notes_engine


class Doubled(StrEnum):
    """What the database has to refuse, with the statement that tries it on the last row."""

    NOTE = "second note of one Idempotency-Key"
    JOB = "second job of one note"
    EVENT = "second history row of one job"
    ERROR = "second error of one attempt"


_DOUBLES = {
    Doubled.NOTE: """INSERT INTO notes (client, idempotency_key, text, text_sha256, created_at)
SELECT client, idempotency_key, text, text_sha256, created_at FROM notes ORDER BY id DESC LIMIT 1""",
    Doubled.JOB: """INSERT INTO jobs
    (note_id, client, status, attempts, max_attempts, next_run_at, finished_at)
SELECT note_id, client, status, attempts, max_attempts, next_run_at, finished_at FROM jobs ORDER BY id DESC LIMIT 1""",
    Doubled.EVENT: """INSERT INTO note_events (job_id, attempt, created_at)
SELECT job_id, attempt, created_at FROM note_events ORDER BY job_id DESC LIMIT 1""",
    Doubled.ERROR: """INSERT INTO attempt_errors (job_id, attempt, error, created_at)
SELECT job_id, attempt, error, created_at FROM attempt_errors ORDER BY id DESC LIMIT 1""",
}
_OUT_OF_REACH = """UPDATE jobs SET finished_at = '9999-12-31T23:59:59.999Z'
WHERE id = {job_id:d} AND finished_at IS NOT NULL"""
_REMAINS = """SELECT 'a note' FROM notes WHERE id = {note_id:d}
UNION ALL SELECT 'a history row' FROM note_events WHERE job_id = {job_id:d}
UNION ALL SELECT 'an error' FROM attempt_errors WHERE job_id = {job_id:d}"""


class NotesDatabase:
    """The database at an address: a SQLite file, or a PostgreSQL URL."""

    def __init__(self, address: Path | str) -> None:
        self._engine = notes_engine(address)
        self._fault: str | None = None

    def set_fault(self, action: str | None) -> None:
        """Have the history row refused by this action of RAISE, or taken when it is None."""
        if action != self._fault:
            for statement in self._engine.fault(action):
                self._engine.run(statement)
            self._fault = action

    def error(self, action: str | None) -> str:
        """A part of the error of an attempt whose history row is refused by this action."""
        return self._engine.error(action)

    def check_refusal(self, doubled: Doubled) -> None:
        """Try what a UNIQUE constraint must refuse, in a transaction that is rolled back in any case.

        Raises:
            DriverError: the database took it.
        """
        if not self._engine.is_refused(_DOUBLES[doubled]):
            raise DriverError(f"The database takes a {doubled}: a UNIQUE constraint is missing.")

    def has_job(self, job_id: int) -> bool:
        """Whether the job is there."""
        return bool(self._engine.run(f"SELECT 1 FROM jobs WHERE id = {job_id:d}"))

    def put_out_of_reach(self, job_id: int) -> None:
        """Have a finished job count as finished in the far future, so that no retention takes it for old."""
        self._engine.run(_OUT_OF_REACH.format(job_id=job_id))

    def check_removed(self, job_id: int, note_id: int) -> None:
        """Have nothing left of a removed job.

        Raises:
            DriverError: something is; the message says what.
        """
        left = [str(what) for (what,) in self._engine.run(_REMAINS.format(job_id=job_id, note_id=note_id))]
        if left:
            raise DriverError(f"Job {job_id} was removed and left {' and '.join(left)} behind.")

    def settle(self) -> None:
        """Wait until nothing of a process that was killed is left in the database.

        Raises:
            DriverError: a transaction of it stays open.
        """
        self._engine.settle()
