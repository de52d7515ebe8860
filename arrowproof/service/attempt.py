"""The attempt: one try to write the history of one job, counted whatever comes of it.

Order of work: BEGIN, claim due jobs, and for each: attempts + 1, SAVEPOINT, INSERT history, RELEASE, the new state;
then COMMIT. A database to which each way is long is told all of that, from the count up to the commit, before it is
asked for an answer: a statement that does not change what it has to is an error, and nothing behind an error is done.
When the history row cannot be written, the savepoint is rolled back and the count stays. Some errors end the whole
transaction (a full disk, an I/O error, RAISE(ROLLBACK), a lost connection), and the count with it; the job would then
be tried for ever. So after every error the transaction is looked at, and an attempt that lost its own is recorded in a
new one. What happens when the worker itself is killed is told in :mod:`arrowproof.service.begun`.

A lock that another process keeps for the whole busy timeout is no failure of the job: wherever it is met, at the commit
too, the attempt is undone and does not count, as if it had not been made.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import NamedTuple, cast

from arrowproof.service.backoff import Backoff
from arrowproof.service.begun import BegunAttempts
from arrowproof.service.clock import Clock, asked_moment, timestamp, timestamp_after
from arrowproof.service.database import BusyError, ConnectionLostError, Database, DatabaseError, describe
from arrowproof.service.hold import Hold
from arrowproof.service.refusal import RefusedError
from arrowproof.service.states import WAITING

MOST_CRASHES = 3


class UnrecordedError(DatabaseError):
    """An attempt was made at a job, and the database takes no record of it: the job is as due as before.

    A trigger that refuses or swallows what is written to the job does this, and so does a disk that stays full.
    ``lost_connection`` is whether the connection was lost over the record, right after it had been made anew for it.
    """

    def __init__(self, job_id: int, error: str, *, lost_connection: bool = False) -> None:
        super().__init__(f"the attempt at job {job_id} is on no record: {error}")
        self.job_id = job_id
        self.lost_connection = lost_connection


class WriteLockBusyError(Exception):
    """Another process kept a lock for the whole busy timeout; no attempt was made, or it was undone.

    ``job_id`` is the job that was worked on then, None when none was claimed.
    """

    def __init__(self, error: str, job_id: int | None = None) -> None:
        super().__init__(error)
        self.job_id = job_id


_ANSWERED = (
    DatabaseError,
    WriteLockBusyError,
    RefusedError,
    KeyboardInterrupt,
    SystemExit,
)
"""How an attempt can end without an outcome and without having killed its worker."""


@dataclass(frozen=True)
class Attempt:
    """What an attempt came to: ``completed``, ``retry_wait`` or ``failed``; ``error`` is None when completed.

    When another process was faster after a lost transaction, the outcome is the state that the job has by now.
    """

    job_id: int
    outcome: str
    error: str | None = None


class ClaimedJob(NamedTuple):
    """A job that is locked for an attempt, how many attempts were made at it before, and how many it has left."""

    job_id: int
    attempts: int
    attempts_left: int


@dataclass(frozen=True)
class Attempts:
    """Makes attempts, with what they need.

    ``batch`` is how many due jobs share one transaction at most. After ``most_crashes`` attempts in a row that killed
    their worker a job is set aside.
    """

    database: Database
    begun: BegunAttempts
    clock: Clock
    hold: Hold
    backoff: Backoff
    batch: int = 1
    most_crashes: int = MOST_CRASHES

    def make(self, passed_over: Collection[int] = ()) -> tuple[Attempt, ...]:
        """Make one attempt at each of the jobs that have waited longest, at most ``batch`` of them.

        Args:
            passed_over: The ids of jobs that are left alone.

        Returns:
            The attempts, in their order; none when no job is due.

        Raises:
            WriteLockBusyError: another process kept a lock; no attempt was made, or it was undone.
            UnrecordedError: an attempt was made, and the database takes no record of it.
            DatabaseError: the database failed otherwise.
        """
        self.begun.catch_up()
        try:
            now, jobs = self._claim(passed_over)
        except _ANSWERED as error:
            self.database.roll_back()
            if isinstance(error, BusyError):
                raise WriteLockBusyError(str(error)) from error
            raise
        if not jobs:
            self.database.roll_back()
            return ()
        on_record: dict[ClaimedJob, int] = {}
        try:
            attempts = self._try_together(jobs, now, on_record)
        except _ANSWERED as error:
            self._clear(job for job in on_record if not _is_crash_of(job, error))
            self.database.roll_back()
            raise
        for job, crashes in on_record.items():
            if self._is_to_be_tried(job, crashes):
                self.begun.end(job.job_id, job.attempts)
        return attempts

    def _claim(self, passed_over: Collection[int]) -> tuple[str, Sequence[ClaimedJob]]:
        """Begin, and lock the jobs that are due by now; gives this moment, as the database holds it, too."""
        self.database.begin()
        self.hold.reached("after-begin", self.database)
        now = asked_moment(self.clock, self.database)
        due = self.database.rows("claim_due_jobs", now=now, most=self.batch + len(passed_over))
        self.hold.reached("after-select", self.database)
        jobs = [ClaimedJob(*cast(tuple[int, int, int], row[:3])) for row in due if row[0] not in passed_over]
        return str(due[0][3]) if due else "", jobs[: self.batch]

    def _try_together(
        self, jobs: Sequence[ClaimedJob], now: str, on_record: dict[ClaimedJob, int]
    ) -> tuple[Attempt, ...]:
        """Attempts in the transaction that stands; when it is lost, each again in one of its own.

        A job at which an attempt was not heard of again is the last of its batch: those that only stood beside the one
        that kills its worker are done before they meet it again, and are not set aside with it. ``on_record`` comes to
        hold the jobs that were come to, with their crashes; the others are left to the next look.
        """
        attempts: list[Attempt] = []
        try:
            for job in jobs:
                crashes = self.begun.begin(job.job_id, job.attempts)
                on_record[job] = crashes
                is_last = crashes or job is jobs[-1]
                attempts.append(
                    self._try(job, crashes, now, partial(self._commit, on_record) if is_last else self.database.settle)
                )
                if is_last:
                    break
        except BusyError as error:
            raise WriteLockBusyError(str(error), job.job_id) from error
        except DatabaseError as error:
            self.database.roll_back()
            attempts = self._try_again(on_record, describe(error))
        return tuple(attempts)

    def _try_again(self, on_record: dict[ClaimedJob, int], error: str) -> list[Attempt]:
        """After a lost transaction: the error is that of the one job in it, or each of several is tried alone.

        What was done is told before what could not be: the rest is left to the next look then.
        """
        attempts: list[Attempt] = []
        is_the_one = len(on_record) == 1
        for job, crashes in list(on_record.items()):
            try:
                attempts.append(self._record_lost(job, error) if is_the_one else self._try_alone(job, crashes))
            except (BusyError, UnrecordedError) as again:
                if attempts:
                    self.database.roll_back()
                    self._leave(on_record, len(attempts), again)
                    break
                if isinstance(again, BusyError):
                    raise WriteLockBusyError(str(again), job.job_id) from again
                raise
        return attempts

    def _leave(self, on_record: dict[ClaimedJob, int], done: int, error: DatabaseError) -> None:
        left = list(on_record)[done:]
        self._clear(job for job in left if not _is_crash_of(job, error))
        for job in left:
            del on_record[job]

    def _try_alone(self, job: ClaimedJob, crashes: int) -> Attempt:
        """An attempt in a transaction of its own, at a job that was claimed before and may have changed since."""
        state = self._claim_again(job)
        if state is not None:
            return Attempt(job.job_id, state)
        try:
            return self._try(job, crashes, timestamp(self.clock(self.database)), partial(self._commit, {job: crashes}))
        except BusyError:
            raise
        except DatabaseError as error:
            self.database.roll_back()
            return self._record_lost(job, describe(error))

    def _try(self, job: ClaimedJob, crashes: int, now: str, end: Callable[[], None]) -> Attempt:
        """An attempt at a job in the transaction that stands.

        ``end`` has done what was said for it, or commits it with all before it. Either goes to the database together
        with the attempt, and so an error of the history row may be met no sooner than there.
        """
        if self._is_to_be_tried(job, crashes):
            self._count(job)
            self.database.later("savepoint")
            self.hold.reached("after-savepoint", self.database)
            try:
                self._write_history(job, now)
                self._change("complete_job", job, now=now)
                end()
                return Attempt(job.job_id, "completed")
            except BusyError:
                raise
            except DatabaseError as error:
                if not self.database.has_savepoint:
                    raise
                attempt = self._undo(job, describe(error))
        else:
            attempt = self._end_untried(job, crashes, now)
        end()
        return attempt

    def _write_history(self, job: ClaimedJob, now: str) -> None:
        """The work itself."""
        self._change("insert_history", job, now=now)
        self.hold.reached("after-history", self.database)
        self._release()

    def _undo(self, job: ClaimedJob, error: str) -> Attempt:
        """Roll the work back to the savepoint, and keep its count."""
        self.database.later("rollback_to_savepoint")
        self.hold.reached("after-rollback-to", self.database)
        self._release()
        return self._give_up(job, error)

    def _release(self) -> None:
        self.database.later("release_savepoint")
        self.hold.reached("after-release", self.database)

    def _record_lost(self, job: ClaimedJob, error: str) -> Attempt:
        """Count an attempt whose transaction is gone, in a new one, unless it was counted or the job has moved on."""
        state = self._claim_again(job)
        if state is not None:
            return Attempt(job.job_id, state, error)
        try:
            self._count(job)
            attempt = self._give_up(job, error)
            self._commit({})
        except BusyError:
            raise
        except DatabaseError as again:
            lost_connection = isinstance(again, ConnectionLostError)
            raise UnrecordedError(job.job_id, describe(again), lost_connection=lost_connection) from again
        return attempt

    def _claim_again(self, job: ClaimedJob) -> str | None:
        """Lock the job in a new transaction; None when it stands as it was claimed, else its state, and no transaction.

        More attempts than before mean that the lost transaction was committed after all, or that another worker had
        the job in between: nothing is left to be counted.
        """
        self.database.begin()
        self.hold.reached("after-begin", self.database)
        row = self.database.row("claim_lost_job", job_id=job.job_id)
        if row is not None and row[0] in WAITING and row[1] == job.attempts:
            return None
        self.database.roll_back()
        return "removed" if row is None else str(row[0])

    def _count(self, job: ClaimedJob) -> None:
        """Count the attempt, ahead of the work."""
        self._change("count_attempt", job)
        self.hold.reached("after-count", self.database)

    def _give_up(self, job: ClaimedJob, error: str) -> Attempt:
        """After a failed attempt: wait for the next one, or fail for good when none is left."""
        now = self.clock(self.database)
        self._change("insert_error", job, error=error, now=timestamp(now))
        ((attempts, attempts_left),) = cast(
            list[tuple[int, int]], self.database.rows("read_attempts", job_id=job.job_id)
        )
        if attempts_left:
            next_run_at = timestamp_after(now, self.backoff.after(attempts))
            self._change("retry_job", job, next_run_at=next_run_at, last_error=error)
            return Attempt(job.job_id, "retry_wait", error)
        self._change("fail_job", job, last_error=error, now=timestamp(now))
        return Attempt(job.job_id, "failed", error)

    def _is_to_be_tried(self, job: ClaimedJob, crashes: int) -> bool:
        return crashes < self.most_crashes and job.attempts_left > 0

    def _end_untried(self, job: ClaimedJob, crashes: int, now: str) -> Attempt:
        """Fail a job for good without an attempt: it kills its workers, or somebody had it wait with none left."""
        if job.attempts_left:
            query = "set_aside_job"
            error = f"set aside: {crashes} attempts in a row killed their worker or its connection"
        else:
            query, error = "fail_job", f"no attempt is left; POST /jobs/{job.job_id}/retry gives more"
        self._change(query, job, last_error=error, now=now)
        return Attempt(job.job_id, "failed", error)

    def _commit(self, worked: Mapping[ClaimedJob, int]) -> None:
        self.hold.reached("after-state", self.database)
        # Before the commit, since the next attempt at a job that was set aside has the same number of attempts made: a
        # record that a kill left behind would set it aside again, untried, when somebody has it retried by hand.
        self._clear(job for job, crashes in worked.items() if not self._is_to_be_tried(job, crashes))
        self.database.commit()
        self.hold.reached("after-commit", self.database)

    def _clear(self, jobs: Iterable[ClaimedJob]) -> None:
        for job in jobs:
            self.begun.clear(job.job_id, job.attempts)

    def _change(self, query: str, job: ClaimedJob, **parameters: str) -> None:
        """Change a job, or write of it. It is locked as it was claimed, so a statement that does not has failed."""
        self.database.change_one(query, job_id=job.job_id, **parameters)


def _is_crash_of(job: ClaimedJob, error: BaseException) -> bool:
    """Whether an attempt that was not recorded counts as one that killed its worker: it kills each connection."""
    return isinstance(error, UnrecordedError) and error.lost_connection and error.job_id == job.job_id
