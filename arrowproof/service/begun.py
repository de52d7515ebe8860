"""The begun attempts: a record, outside of the database's transactions, of attempts that began and have not ended.

A job whose attempt kills its worker leaves no trace in the database: its transaction is gone with the worker, and the
job is as due as before. Without a record it would be tried for ever. The record is made before the work and let go of
after it, by whoever holds the job's lock; who finds one with the same number of attempts made knows of a crash. It has
to outlive a killed process and not a power cut, so it costs no second flush to the disk: it is a small file beside a
SQLite database (:mod:`arrowproof.service.begun_file`), and an UNLOGGED table in PostgreSQL
(:mod:`arrowproof.service.postgresql_begun`).

Its loss harms nothing but the count of crashes, and so work goes on when it cannot be written any
more; a worker that cannot even open it, on a full disk, say, does not start. A record that cannot be
taken away, of an attempt that ended, is remembered by this process and tried again before its next look; a process that
ends before that leaves it, and the next attempt at that job takes it for a crash. Records of jobs that are finished by
now, which workers left that were killed just after their commit, are taken away when a worker starts.
"""

from __future__ import annotations

import logging
from typing import Final, Protocol

from arrowproof.service.database import ConnectionLostError, Database, DatabaseError

MOST_TIDIED: Final = 1000
_log = logging.getLogger(__name__)


class Record(Protocol):
    """Where the record is kept: at most one entry for a job. Every error is a :class:`DatabaseError`."""

    def begin(self, job_id: int, attempts: int) -> int:
        """Enter a job at which ``attempts`` were made before; gives how often in a row it was entered so before."""

    def reuse(self, job_id: int, attempts: int, ended_job_id: int, ended_attempts: int) -> bool:
        """Enter a job in the place of an attempt that has ended.

        Gives whether it was entered: not when there is an entry of the job, or none any more of what has ended.
        """

    def clear(self, job_id: int, attempts: int) -> None:
        """Take an entry away, but not one that the next attempt has made meanwhile."""

    def oldest(self, most: int) -> list[tuple[int, int]]:
        """The entries of the oldest jobs: job, attempts made before."""

    def close(self) -> None:
        """Close it; what is entered stays."""


class BegunAttempts:
    """The attempts that began, by a record of them that this process alone does not have."""

    def __init__(self, record: Record) -> None:
        self._record = record
        self._ended: list[tuple[int, int]] = []
        self._left: dict[tuple[int, int], None] = {}

    def begin(self, job_id: int, attempts: int) -> int:
        """Record that an attempt begins at a job at which ``attempts`` were made before.

        Returns:
            How many attempts in a row began at this point and were not heard of again.
        """
        if (job_id, attempts) in self._left and not self.clear(job_id, attempts):
            # What is on record is no crash, but would count as one. Should this attempt be one, that is counted then.
            return 0
        try:
            return self._enter(job_id, attempts)
        except DatabaseError as error:
            _log.warning("crashes of job %s are not counted: %s", job_id, error)
            return 0

    def _enter(self, job_id: int, attempts: int) -> int:
        try:
            return self._write(job_id, attempts)
        except ConnectionLostError:
            # Whether it was written is not known; if it was, this counts a crash that was none. So one is not believed:
            # a job that killed its workers is tried once more, which is better than one that did not is set aside.
            return max(0, self._write(job_id, attempts) - 1)

    def _write(self, job_id: int, attempts: int) -> int:
        if self._ended:
            ended = self._ended.pop()
            if self._record.reuse(job_id, attempts, *ended):
                return 0
            self.clear(*ended)
        return self._record.begin(job_id, attempts)

    def end(self, job_id: int, attempts: int) -> None:
        """Let go of a record that means nothing any more: the attempt was committed, and the next has another number.

        The next attempt to begin overwrites it, which is half the work of taking it away first.
        """
        self._ended.append((job_id, attempts))

    def clear(self, job_id: int, attempts: int) -> bool:
        """Take the record away: the attempt has ended, and the next may have the same number.

        Returns:
            Whether it is away. If not, it is tried again by ``catch_up``.
        """
        try:
            self._record.clear(job_id, attempts)
        except DatabaseError as error:
            if (job_id, attempts) not in self._left:
                _log.warning("the attempt at job %s is still on record as begun: %s", job_id, error)
            self._left[job_id, attempts] = None
            return False
        self._left.pop((job_id, attempts), None)
        return True

    def catch_up(self) -> None:
        """Take away what could not be taken away before, as far as that goes now."""
        while self._left:
            if not self.clear(*next(iter(self._left))):
                return

    def tidy(self, database: Database) -> None:
        """Take away the records of jobs that do not wait any more by what the database says, a thousand at most.

        A job that an attempt is under way at still waits, for everybody else.
        """
        try:
            for job_id, attempts in self._record.oldest(MOST_TIDIED):
                if database.row("find_waiting_job", job_id=job_id) is None:
                    self.clear(job_id, attempts)
        except DatabaseError as error:
            _log.warning("records of attempts at finished jobs were not taken away: %s", error)

    def close(self) -> None:
        """Take away what was let go of, and close the record."""
        self.catch_up()
        while self._ended:
            self.clear(*self._ended.pop())
        self._record.close()
