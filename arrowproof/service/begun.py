"""The begun attempts: a record, outside of the database's transactions, of attempts that began and have not ended.

A job whose attempt kills its worker leaves no trace in the database: its transaction is gone with the worker, and the
job is as due as before. Without a record it would be tried for ever. The record is made before the work and taken away
after it, by whoever holds the job's lock; who finds one with the same number of attempts made knows of a crash. It has
to outlive a killed process and not a power cut, so it costs no second flush to the disk: SQLite keeps it in a file of
its own beside the database, PostgreSQL in an UNLOGGED table that a connection of its own writes.

Its loss harms nothing but the count of crashes, and so work goes on when it cannot be written.
"""

from __future__ import annotations

import logging
from typing import cast

from arrowproof.service.database import ConnectionLostError, Database, DatabaseError

_log = logging.getLogger(__name__)


class BegunAttempts:
    """The record, on a connection of its own."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def begin(self, job_id: int, attempts: int) -> int:
        """Record that an attempt begins at a job at which ``attempts`` were made before.

        Returns:
            How many attempts in a row began at this point and were not heard of again.
        """
        try:
            crashes = self._record(job_id, attempts)
        except DatabaseError as error:
            _log.warning("crashes of job %s are not counted: %s", job_id, error)
            return 0
        return crashes

    def _record(self, job_id: int, attempts: int) -> int:
        try:
            ((crashes,),) = self._database.rows("record_begun", job_id=job_id, attempts=attempts)
        except ConnectionLostError:
            # Most likely it was lost long before. If not, one crash too many is counted; that alone sets nothing aside.
            ((crashes,),) = self._database.rows("record_begun", job_id=job_id, attempts=attempts)
        return cast(int, crashes)

    def clear(self, job_id: int, attempts: int) -> None:
        """Take the record away: the attempt has ended, whatever it came to."""
        try:
            self._database.change("clear_begun", job_id=job_id, attempts=attempts)
        except DatabaseError as error:
            _log.warning("the attempt at job %s is still on record as begun: %s", job_id, error)

    def close(self) -> None:
        """Close the connection."""
        self._database.close()
