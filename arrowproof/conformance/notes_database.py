"""The notes database beside the service: what a driver puts into it, and what it has to refuse or to have lost.

Nothing here writes a state. A trigger refuses history rows, so that attempts fail; what a UNIQUE constraint has to
refuse is tried and rolled back; and a job that a tour leaves behind, finished or waiting, is given a late moment, which
puts it out of reach of a retention that is to remove another, and of a worker.
"""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from enum import StrEnum
from pathlib import Path

from arrowproof.conformance.driver import DriverError
from arrowproof.conformance.notes_engines import notes_engine
from arrowproof.conformance.notes_jobs import REFUSED
from arrowproof.model.record import record


class Doubled(StrEnum):
    """What the database has to refuse, with the statement that tries it on the last row."""

    NOTE = "second note of one Idempotency-Key"
    JOB = "second job of one note"
    EVENT = "second history row of one job"
    ERROR = "second error of one attempt"


_LATE = "9999-12-31T23:59:59.999Z"
_DOUBLES = {
    Doubled.NOTE: f"""INSERT INTO notes (client, idempotency_key, text, text_sha256, created_at)
SELECT client, idempotency_key, text || '.', text_sha256 || '.', '{_LATE}' FROM notes ORDER BY id DESC LIMIT 1""",
    Doubled.JOB: """INSERT INTO jobs
    (note_id, client, status, attempts, max_attempts, next_run_at, finished_at)
SELECT note_id, client || '.', CASE status
        WHEN 'pending' THEN 'retry_wait' WHEN 'retry_wait' THEN 'pending'
        WHEN 'completed' THEN 'failed' ELSE 'completed'
    END, attempts, max_attempts + 1, next_run_at, finished_at
FROM jobs ORDER BY id DESC LIMIT 1""",
    Doubled.EVENT: f"""INSERT INTO note_events (job_id, attempt, created_at)
SELECT job_id, attempt + 1, '{_LATE}' FROM note_events ORDER BY job_id DESC LIMIT 1""",
    Doubled.ERROR: f"""INSERT INTO attempt_errors (job_id, attempt, error, created_at)
SELECT job_id, attempt, error || '.', '{_LATE}' FROM attempt_errors ORDER BY id DESC LIMIT 1""",
}
"""Each is another than the row in all that the constraint does not name, or one that names more would pass for it."""
_OUT_OF_REACH = (
    f"UPDATE jobs SET finished_at = '{_LATE}' WHERE id = {{job_id:d}} AND finished_at IS NOT NULL",
    f"UPDATE jobs SET next_run_at = '{_LATE}' WHERE id = {{job_id:d}} AND status = 'retry_wait'",
)
_DUE = """UPDATE jobs SET next_run_at = (SELECT created_at FROM notes WHERE notes.id = jobs.note_id)
WHERE id = {job_id:d} AND status = 'retry_wait'"""
_OTHERS = """SELECT (SELECT count(*) FROM notes WHERE id <> {note_id:d}),
    (SELECT count(*) FROM note_events WHERE job_id <> {job_id:d}),
    (SELECT count(*) FROM attempt_errors WHERE job_id <> {job_id:d})"""
_REMAINS = """SELECT 'a note' FROM notes WHERE id = {note_id:d}
UNION ALL SELECT 'a history row' FROM note_events WHERE job_id = {job_id:d}
UNION ALL SELECT 'an error' FROM attempt_errors WHERE job_id = {job_id:d}"""


@record
class Others:
    """How many rows belong to other jobs than one."""

    notes: int
    history: int
    errors: int

    def __str__(self) -> str:
        return f"{self.notes} notes, {self.history} history rows and {self.errors} errors"


class NotesDatabase:
    """The database at an address: a SQLite file, or a PostgreSQL URL."""

    def __init__(self, address: Path | str) -> None:
        self._engine = notes_engine(address)
        self._fault: str | None = None
        self._said = REFUSED

    def set_fault(self, action: str | None, attempts: int = 0) -> None:
        """Have the history row refused by this action of RAISE, or taken when it is None.

        After an odd number of ``attempts`` it says so in other words than after an even one: whose error it is can be
        told by it.
        """
        said = f"{REFUSED} {'once more' if attempts % 2 else 'now'}"
        if action != self._fault or (action is not None and said != self._said):
            for statement in self._engine.fault(action, said):
                self._engine.run(statement)
            self._fault, self._said = action, said

    def error(self, action: str | None) -> str:
        """A part of the error of an attempt whose history row is refused by this action, as it was set last."""
        return self._engine.error(action, self._said)

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
        """Have a job that is finished, or waits for a retry, be so until the far future: nobody takes it up."""
        for statement in _OUT_OF_REACH:
            self._engine.run(statement.format(job_id=job_id))

    def make_due(self, job_id: int) -> None:
        """Have a job that waits for a retry be due."""
        self._engine.run(_DUE.format(job_id=job_id))

    def now(self) -> datetime:
        """The present moment by the clock of the database, to the millisecond."""
        now = self._engine.now()
        return now.replace(microsecond=now.microsecond // 1000 * 1000)

    def others(self, job_id: int, note_id: int) -> Others:
        """What belongs to other jobs than this one and its note."""
        (counts,) = self._engine.run(_OTHERS.format(job_id=job_id, note_id=note_id))
        return Others(*counts)

    def past_outcomes(self) -> Mapping[str, int]:
        """By state, how many jobs came to an end in it and left that again."""
        return {str(state): int(jobs) for state, jobs in self._engine.run("SELECT status, jobs FROM past_outcomes")}

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
