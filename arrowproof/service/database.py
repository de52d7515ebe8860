"""The database: what server and worker ask of a connection, whichever database it leads to, and the errors it raises.

:mod:`arrowproof.service.sqlite` and :mod:`arrowproof.service.postgresql` have the two kinds of it, and
:mod:`arrowproof.service.address` chooses. Statements are named queries; see :mod:`arrowproof.service.queries`.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final, Protocol

BUSY_SECONDS: Final = 5.0
SCHEMA_VERSION: Final = 4
LONGEST_ERROR: Final = 500

Value = str | int | float | None


class DatabaseError(Exception):
    """The database did not do what it was asked. The message is the driver's type of error and its text, bounded."""


class BusyError(DatabaseError):
    """Another process kept a lock for the whole busy timeout, or won a race; asking again can help."""


class ConnectionLostError(DatabaseError):
    """The connection is gone, and whether a commit that was under way came to pass is not known."""


class UnchangedError(DatabaseError):
    """A statement that had to change a row, or to write one, did not, without an error: a trigger swallowed it, say."""

    def __init__(self, query: str, job_id: Value) -> None:
        super().__init__(f"UnchangedError: {query} changed no row of job {job_id}")


class Database(Protocol):
    """One connection. Not for two threads at once. Every error of the database is a :class:`DatabaseError`."""

    @property
    def facts(self) -> Mapping[str, str]:
        """What is worth knowing of the database when a process starts to work on it, by name."""

    @property
    def in_transaction(self) -> bool:
        """Whether a transaction stands. A database ends one on its own after some errors."""

    @property
    def has_savepoint(self) -> bool:
        """Whether a savepoint stands to which the transaction can be rolled back, whatever failed behind it."""

    def begin(self) -> None:
        """Begin a transaction, on a new connection when the old one was lost."""

    def commit(self) -> None:
        """Make the work of the transaction durable."""

    def rows(self, query: str, **parameters: Value) -> list[tuple[Value, ...]]:
        """Run a named query to its end and give every row; a moment is RFC 3339 text with milliseconds, in UTC."""

    def row(self, query: str, **parameters: Value) -> tuple[Value, ...] | None:
        """Run a named query to its end and give its first row, or None."""

    def change(self, query: str, **parameters: Value) -> int:
        """Run a named INSERT, UPDATE or DELETE and give the number of rows that it changed, triggers not counted."""

    def later(self, query: str, **parameters: Value) -> None:
        """Run a named statement now, or together with the next one, for a database to which each way is long.

        When it fails later, the next one raises its error, and what came behind it is not done. The transaction has
        ended then, unless it has a savepoint, for what came behind was meant to stand on it.
        """

    def change_one(self, query: str, *, job_id: int, **parameters: Value) -> None:
        """Run a named INSERT or UPDATE that has to change one row of a job, now or together with the next statement.

        Raises:
            UnchangedError: it changed none; this, or the next one, raises it, as it does for ``later``.
        """

    def settle(self) -> None:
        """Have done what was said later."""

    def stand_still(self) -> None:
        """Have done what was said later, and the transaction stand however long nothing more is said in it."""

    def roll_back(self) -> None:
        """Drop the transaction, if one still stands. Raises nothing when the connection is lost."""

    def close(self) -> None:
        """Close the connection; what is not committed is lost."""


def describe(error: BaseException) -> str:
    """An error as ``last_error`` holds it: its type and message, bounded."""
    return str(error) if isinstance(error, DatabaseError) else bounded(f"{type(error).__name__}: {error}")


def bounded(text: str) -> str:
    """A message on one line, cut to 500 characters, with a replacement for what not every database can keep."""
    line = " ".join(part for part in map(str.strip, text.splitlines()) if part)
    return line.encode("utf-8", "replace").decode("utf-8").replace("\x00", "\N{REPLACEMENT CHARACTER}")[:LONGEST_ERROR]
