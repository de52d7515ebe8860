"""The attempt: one try to write the history of one job, counted whatever comes of it.

Order of work: BEGIN IMMEDIATE, select a due job, attempts + 1, SAVEPOINT, INSERT history, RELEASE, the new state,
COMMIT. When the history row cannot be written, the savepoint is rolled back and the count stays. Some errors end the
whole transaction (a full disk, an I/O error, RAISE(ROLLBACK)), and the count with it; the job would then be tried for
ever. So after every error the transaction is looked at, and an attempt that lost its own is recorded in a new one.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import cast

import apsw

from arrowproof.service.clock import Clock, timestamp, timestamp_after
from arrowproof.service.database import Database
from arrowproof.service.hold import Hold

LONGEST_ERROR = 500


class AttemptLostError(Exception):
    """A statement of an attempt left the job as it was, although the job was selected as due under the write lock."""


class WriteLockBusyError(Exception):
    """Another process kept the write lock for the whole busy timeout; nothing was looked at."""


@dataclass(frozen=True)
class Attempt:
    """What an attempt came to: ``completed``, ``retry_wait`` or ``failed``; ``error`` is None when completed."""

    job_id: int
    outcome: str
    error: str | None = None


@dataclass(frozen=True)
class Workbench:
    """What every attempt needs, and the attempt itself.

    ``retry_delay`` is the time in seconds from a failed attempt to the moment at which the next one is due.
    """

    database: Database
    clock: Clock
    hold: Hold
    retry_delay: float

    def attempt(self) -> Attempt | None:
        """Make one attempt at the job that has waited longest; None when no job is due.

        Raises:
            WriteLockBusyError: no attempt was made, another process kept the write lock.
            apsw.Error: the attempt was made, and the database took no record of it either.
            AttemptLostError: likewise, without an error of SQLite (a trigger ignores the update, for example).
        """
        try:
            self.database.rows("begin")
        except apsw.BusyError as error:
            raise WriteLockBusyError(str(error)) from error
        self.hold.at("after-begin")
        due = self.database.row("select_due_job", now=timestamp(self.clock()))
        self.hold.at("after-select")
        if due is None:
            self.database.rows("rollback")
            return None
        job_id = cast(int, due[0])
        try:
            return self._try(job_id)
        except (apsw.Error, AttemptLostError) as error:
            self.database.roll_back()
            return self._record_lost(job_id, describe(error))

    def _try(self, job_id: int) -> Attempt:
        self._count(job_id)
        self.database.rows("savepoint")
        self.hold.at("after-savepoint")
        error = self._write_history(job_id)
        self.database.rows("release_savepoint")
        self.hold.at("after-release")
        if error is None:
            self._change("complete_job", job_id)
            return self._commit(Attempt(job_id, "completed"))
        return self._commit(self._give_up(job_id, error))

    def _write_history(self, job_id: int) -> str | None:
        """The work itself. Gives the error when it failed and was rolled back to the savepoint."""
        try:
            self._change("insert_history", job_id, now=timestamp(self.clock()))
        except (apsw.Error, AttemptLostError) as error:
            if not self.database.in_transaction:
                raise
            self.database.rows("rollback_to_savepoint")
            self.hold.at("after-rollback-to")
            return describe(error)
        self.hold.at("after-history")
        return None

    def _record_lost(self, job_id: int, error: str) -> Attempt:
        """Count an attempt whose transaction is gone, in a new one, unless another worker has finished the job."""
        self.database.rows("begin")
        self.hold.at("after-begin")
        ((state, _),) = self.database.rows("read_job_state", job_id=job_id)
        if state in ("completed", "failed"):
            self.database.rows("rollback")
            return Attempt(job_id, state, error)
        self._count(job_id)
        return self._commit(self._give_up(job_id, error))

    def _count(self, job_id: int) -> None:
        self._change("count_attempt", job_id)
        self.hold.at("after-count")

    def _give_up(self, job_id: int, error: str) -> Attempt:
        """After a failed attempt: wait for the next one, or fail for good when none is left."""
        ((_, attempts_left),) = self.database.rows("read_job_state", job_id=job_id)
        if attempts_left:
            next_run_at = timestamp_after(self.clock, self.retry_delay)
            self._change("retry_job", job_id, next_run_at=next_run_at, last_error=error)
            return Attempt(job_id, "retry_wait", error)
        self._change("fail_job", job_id, last_error=error)
        return Attempt(job_id, "failed", error)

    def _commit(self, attempt: Attempt) -> Attempt:
        self.hold.at("after-state")
        self.database.rows("commit")
        self.hold.at("after-commit")
        return attempt

    def _change(self, query: str, job_id: int, **parameters: str) -> None:
        if self.database.change(query, job_id=job_id, **parameters) != 1:
            raise AttemptLostError(f"{query} changed no row of job {job_id}")


def describe(error: Exception) -> str:
    """An error as ``last_error`` holds it: its type and message, bounded."""
    return f"{type(error).__name__}: {error}"[:LONGEST_ERROR]
