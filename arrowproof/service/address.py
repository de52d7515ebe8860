"""The address: which database ``--db`` means, a file or a PostgreSQL server, and what is opened there.

A text that begins with ``postgresql://`` or ``postgres://`` is a server; everything else is the path of a SQLite file.
Passwords in it are never shown.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
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
        parts = _parts(self.given)
        # What is no URL may hold a password anywhere.
        return "'postgresql://…'" if parts is None else _without_password(parts)

    def _postgresql(self) -> Callable[..., Database]:
        if find_spec("psycopg") is None:
            raise RefusedError("a PostgreSQL database needs psycopg: pip install 'arrowproof[postgres]'")
        if _parts(self.given) is None:
            # Without the value, which may hold a password.
            raise RefusedError(
                "--db is no PostgreSQL URL; write postgresql://USER@HOST:PORT/NAME, with each of @ : / ? # % in a "
                "name or password as %40 %3A %2F %3F %23 %25"
            )
        from arrowproof.service.postgresql import open_postgresql

        return open_postgresql


def _parts(url: str) -> Mapping[str, str | int | None] | None:
    """The parts of a PostgreSQL URL, or None when it is none, or when a sign in a password was taken for its end."""
    from psycopg import ProgrammingError
    from psycopg.conninfo import conninfo_to_dict

    authority, _, name = url.partition("://")[2].partition("?")[0].partition("/")
    if authority.count("@") > 1 or "@" in name:
        return None
    try:
        parts = conninfo_to_dict(url)
    except ProgrammingError:
        return None
    return parts if all(port.isdecimal() for port in str(parts.get("port") or "1").split(",")) else None


def _without_password(parts: Mapping[str, str | int | None]) -> str:
    if "service" in parts:
        return repr(f"postgresql://?service={parts['service']}")
    server = f"{parts.get('host', 'localhost')}:{parts.get('port', '5432')}"
    user = f"{parts['user']}@" if "user" in parts else ""
    return repr(f"postgresql://{user}{server}/{parts.get('dbname', '')}")
