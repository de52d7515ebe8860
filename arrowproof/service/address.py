"""The address: which database ``--db`` means, a file or a PostgreSQL server, and what is opened there.

A text that begins with ``postgresql://`` or ``postgres://``, in small letters or large, is a server. Another URL, and
what looks like the parts of one, is refused. Everything else is the path of a SQLite file. Passwords are never shown,
and so nothing of what is refused is shown but its scheme.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path

from arrowproof.service.begun import BegunAttempts
from arrowproof.service.database import BUSY_SECONDS, Database, DatabaseError
from arrowproof.service.refusal import RefusedError

_SERVER = re.compile(r"(?i:postgres(?:ql)?)://")
_URL = re.compile(r"\s*([A-Za-z][A-Za-z0-9+.-]+):/")
_LOGIN = re.compile(r"(?is)(?![./])(.*password\s*=|[^/]*:[^/]*@)")
"""What libpq takes as ``password=…``, and ``user:password@host`` without its scheme; not for a path after ``./``."""


class MovedError(DatabaseError):
    """The database file was removed, or replaced by another, since it was opened."""


@dataclass(frozen=True)
class Address:
    """Where a database is, as it was given. Its text and ``repr`` hold no password.

    Raises:
        RefusedError: it can be neither a file nor a PostgreSQL server.
    """

    given: str = field(repr=False)
    busy_seconds: float = BUSY_SECONDS
    journal_mode: str | None = None

    def __post_init__(self) -> None:
        if self.is_postgresql:
            return
        url = _URL.match(self.given)
        if url is not None or _LOGIN.match(self.given):
            shown = f"'{url[1]}:…'" if url else "'…'"
            raise RefusedError(
                f"{shown} is no database that is known here: give --db the path of a SQLite file (after ./ if it looks "
                "like something else), or postgresql://USER@HOST:PORT/NAME"
            )

    @cached_property
    def is_postgresql(self) -> bool:
        """Whether the database is on a PostgreSQL server."""
        return _SERVER.match(self.given) is not None

    @property
    def url(self) -> str:
        """Where the PostgreSQL server is, with the scheme as libpq knows it."""
        return _SERVER.sub("postgresql://", self.given, count=1)

    def file(self) -> tuple[int, int] | None:
        """Which file there is now, by device and inode; None when there is none, and for a PostgreSQL server.

        A file that was removed or renamed can be written for ever by whoever has it open.
        """
        if self.is_postgresql:
            return None
        try:
            status = os.stat(self.given)  # noqa: PTH116 - for every request, and a Path costs ten times as much
        except (OSError, ValueError):
            return None
        return status.st_dev, status.st_ino

    def open(self, *, create: bool = False, rings: bool = False) -> Database:
        """Open the database; see ``open_sqlite`` and ``open_postgresql`` for the errors.

        Args:
            create: Whether to make what is missing.
            rings: Whether each commit wakes the workers that wait; see :mod:`arrowproof.service.wake`.

        Raises:
            RefusedError: there is no such database, or it must not be used.
            DatabaseError: the database failed.
        """
        if self.is_postgresql:
            open_postgresql = self._postgresql()
            return open_postgresql(self.url, str(self), create=create, busy_seconds=self.busy_seconds, rings=rings)
        # The driver of the other database is not loaded.
        from arrowproof.service.sqlite import open_sqlite
        from arrowproof.service.wake_fifo import FifoBell

        path = Path(self.given)
        return open_sqlite(
            path,
            create=create,
            busy_seconds=self.busy_seconds,
            journal_mode=self.journal_mode,
            bell=FifoBell(path) if rings else None,
        )

    def open_begun(self) -> BegunAttempts:
        """Open the record of begun attempts that belongs to the database, which must be open already."""
        if self.is_postgresql:
            open_postgresql = self._postgresql()
            from arrowproof.service.postgresql_begun import BegunTable

            return BegunAttempts(BegunTable(open_postgresql(self.url, str(self), busy_seconds=self.busy_seconds)))
        from arrowproof.service.begun_file import open_begun

        return BegunAttempts(open_begun(Path(self.given), self.busy_seconds))

    def __str__(self) -> str:
        """The address for messages, quoted."""
        if not self.is_postgresql:
            return repr(self.given)
        try:
            parts = _parts(self.url)
        except ImportError:
            parts = None
        # What is no URL may hold a password anywhere.
        return "'postgresql://…'" if parts is None else _without_password(parts)

    def _postgresql(self) -> Callable[..., Database]:
        try:
            parts = _parts(self.url)
        except ImportError as error:
            raise RefusedError(
                f"a PostgreSQL database needs psycopg: pip install 'arrowproof[postgres]' ({error})"
            ) from error
        if parts is None:
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
