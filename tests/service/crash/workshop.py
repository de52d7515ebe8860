"""The workshop: the parts of the service put together in this process, and what a database holds as one value."""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import NamedTuple

import apsw

from arrowproof.service.attempt import Attempt, Attempts
from arrowproof.service.backoff import Backoff
from arrowproof.service.begun import BegunAttempts
from arrowproof.service.clock import database_clock
from arrowproof.service.database import Database
from arrowproof.service.hold import Hold
from arrowproof.service.notes import Accepted, SentUnderKey, accept_note

LATER = timedelta(seconds=60)


class StoredJob(NamedTuple):
    """What is stored of a job: its state, the attempts made, and the rows that tell of them."""

    status: str
    attempts: int
    history: int
    errors: int


Stored = dict[str, StoredJob]
"""Every note by its key, with its job."""

STORED = """
SELECT notes.idempotency_key, jobs.status, jobs.attempts,
    (SELECT count(*) FROM note_events WHERE note_events.job_id = jobs.id),
    (SELECT count(*) FROM attempt_errors WHERE attempt_errors.job_id = jobs.id)
FROM notes LEFT JOIN jobs ON jobs.note_id = notes.id
"""
"""One statement, and so one snapshot, on both databases."""

PENDING = StoredJob("pending", 0, 0, 0)
COMPLETED = StoredJob("completed", 1, 1, 0)
RETRY_WAIT = StoredJob("retry_wait", 1, 0, 1)
FAILED = StoredJob("failed", 1, 0, 1)


def stored(connection: apsw.Connection) -> Stored:
    """What a file holds; nothing when it has no tables yet."""
    if not connection.execute("SELECT count(*) FROM sqlite_schema").get:
        return {}
    return {key: StoredJob(*rest) for key, *rest in connection.execute(STORED)}


def is_sound(connection: apsw.Connection) -> bool:
    """Whether SQLite finds nothing wrong with the file."""
    return connection.execute("PRAGMA integrity_check").get == "ok" and not list(
        connection.execute("PRAGMA foreign_key_check")
    )


def accept(database: Database, key: str, max_attempts: int = 3) -> Accepted:
    """Accept a note as the server does: what is left of a transaction is rolled back."""
    try:
        return accept_note(database, SentUnderKey(key, f"text of {key}"), max_attempts, database_clock, Hold())
    finally:
        database.roll_back()


def later_clock(database: Database) -> datetime:
    """A minute later than it is."""
    return database_clock(database) + LATER


def work(database: Database, begun: BegunAttempts, *, later: bool = False, batch: int = 1) -> tuple[Attempt, ...]:
    """One look of a worker; ``later``, when every job that waits is due."""
    clock = later_clock if later else database_clock
    try:
        return Attempts(database, begun, clock, Hold(), Backoff(1.0, 1.0), batch).make()
    finally:
        database.roll_back()


def refuse_history(connection: apsw.Connection) -> None:
    """Put in the fault: no history row can be written."""
    connection.execute(
        "CREATE TRIGGER fault BEFORE INSERT ON note_events BEGIN SELECT RAISE(ABORT, 'no history today'); END"
    )


def allow_history(connection: apsw.Connection) -> None:
    """Take the fault out."""
    connection.execute("DROP TRIGGER fault")
