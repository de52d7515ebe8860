"""The address: which database ``--db`` means, a file or a PostgreSQL server, and what is opened there.

A text that begins with ``postgresql://`` or ``postgres://`` is a server; everything else is the path of a SQLite file.
Passwords in it are never shown.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from importlib.util import find_spec
from pathlib import Path

from arrowproof.service.begun import BegunAttempts
from arrowproof.service.database import BUSY_SECONDS, Database
from arrowproof.service.refusal import RefusedError

_SCHEMES = ("postgresql://", "postgres://")


@dataclass(frozen=True)
class Address:
    """Where a database is, as it was given. Its text and ``repr`` hold no password."""

    given: str = field(repr=False)
    busy_seconds: float = BUSY_SECONDS
    journal_mode: str | None = None

    @property
    def is_postgresql(self) -> bool:
        """Whether the database is on a PostgreSQL server."""
        return self.given.startswith(_SCHEMES)

    def open(self, *, create: bool = False) -> Database:
        """Open the database; see ``open_sqlite`` and ``open_postgresql`` for the errors.

        Raises:
            RefusedError: there is no such database, or it must not be used.
            DatabaseError: the database failed.
        """
        if self.is_postgresql:
            return self._postgresql()(self.given, str(self), create=create, busy_seconds=self.busy_seconds)
        # The driver of the other database is not loaded.
        from arrowproof.service.sqlite import open_sqlite

        return open_sqlite(
            Path(self.given), create=create, busy_seconds=self.busy_seconds, journal_mode=self.journal_mode
        )

    def open_begun(self) -> BegunAttempts:
        """Open the record of begun attempts that belongs to the database, which must be open already."""
        if self.is_postgresql:
            return BegunAttempts(self._postgresql()(self.given, str(self), busy_seconds=self.busy_seconds))
        from arrowproof.service.sqlite import open_begun

        return BegunAttempts(open_begun(Path(self.given), self.busy_seconds))

    def __str__(self) -> str:
        """The address for messages, quoted."""
        if not self.is_postgresql:
            return repr(self.given)
        from psycopg.conninfo import conninfo_to_dict

        return _without_password(conninfo_to_dict(self.given))

    def _postgresql(self) -> Callable[..., Database]:
        if find_spec("psycopg") is None:
            raise RefusedError("a PostgreSQL database needs psycopg: pip install 'arrowproof[postgres]'")
        from psycopg import ProgrammingError
        from psycopg.conninfo import conninfo_to_dict

        try:
            conninfo_to_dict(self.given)
        except ProgrammingError:
            # The message of the error may hold the password.
            raise RefusedError("--db is no PostgreSQL URL; write postgresql://USER@HOST:PORT/NAME") from None
        from arrowproof.service.postgresql import open_postgresql

        return open_postgresql


def _without_password(parts: object) -> str:
    assert isinstance(parts, dict)
    server = f"{parts.get('host', 'localhost')}:{parts.get('port', '5432')}"
    user = f"{parts['user']}@" if "user" in parts else ""
    return repr(f"postgresql://{user}{server}/{parts.get('dbname', '')}")
