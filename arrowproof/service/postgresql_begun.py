"""The begun table: where PostgreSQL keeps the record of begun attempts, UNLOGGED and on a connection of its own."""

from __future__ import annotations

from typing import cast

from arrowproof.service.database import Database


class BegunTable:
    """See :class:`arrowproof.service.begun.Record`."""

    def __init__(self, database: Database) -> None:
        self.database = database

    def begin(self, job_id: int, attempts: int) -> int:
        """See the protocol."""
        ((crashes,),) = self.database.rows("record_begun", job_id=job_id, attempts=attempts)
        return cast(int, crashes)

    def reuse(self, job_id: int, attempts: int, ended_job_id: int, ended_attempts: int) -> bool:
        """See the protocol."""
        ended = {"ended_job_id": ended_job_id, "ended_attempts": ended_attempts}
        return self.database.change("reuse_begun", job_id=job_id, attempts=attempts, **ended) == 1

    def clear(self, job_id: int, attempts: int) -> None:
        """See the protocol."""
        self.database.change("clear_begun", job_id=job_id, attempts=attempts)

    def oldest(self, most: int) -> list[tuple[int, int]]:
        """See the protocol."""
        return cast(list[tuple[int, int]], self.database.rows("list_begun", most=most))

    def close(self) -> None:
        """Close the connection."""
        self.database.close()
