"""The ground: a place for notes in each of the three settings, and what is stored there as any other client sees it."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any

import psycopg
import pytest

from arrowproof.service.address import Address
from arrowproof.service.database import Database
from tests.service.conftest import wait_until
from tests.service.crash.workshop import STORED, Stored, StoredJob, accept
from tests.service.engines import Engine, PostgresEngine, SQLiteEngine

SETTINGS = ("sqlite wal", "sqlite truncate", "postgresql")


class Ground:
    """A database of the service, made and empty. With ``observes`` one connection looks at it all the time."""

    def __init__(self, setting: str, folder: Path, engine: Engine, *, observes: bool = True):
        self.setting = setting
        self.folder = folder
        self.engine = engine
        self.is_file = isinstance(engine, SQLiteEngine)
        self._observer = psycopg.connect(engine.db, autocommit=True) if observes and not self.is_file else None
        self.database: Database = Address(engine.db, journal_mode=self.journal_mode).open(create=True)

    @property
    def journal_mode(self) -> str | None:
        """What is said to a server's ``--journal-mode``; None for PostgreSQL."""
        return self.setting.removeprefix("sqlite ") if self.is_file else None

    def accept(self, key: str, max_attempts: int = 3) -> int:
        """A new job; its id."""
        return accept(self.database, key, max_attempts).job_id

    def sql(self, statement: str) -> list[tuple[Any, ...]]:
        """Run SQL beside the service: PostgreSQL on one connection for all, which is dear to make."""
        if self._observer is None:
            return self.engine.sql(statement)
        cursor = self._observer.execute(statement)
        return cursor.fetchall() if cursor.description else []

    def stored(self) -> Stored:
        """Every note with its job, in one snapshot, on a connection of another."""
        return {key: StoredJob(*rest) for key, *rest in self.sql(STORED)}

    def backends(self) -> set[int]:
        """The processes that PostgreSQL has for connections of the service; SQLite has none."""
        if self.is_file:
            return set()
        return {
            pid for (pid,) in self.sql("SELECT pid FROM pg_stat_activity WHERE application_name = 'arrowproof-notes'")
        }

    @contextmanager
    def outlived(self) -> Iterator[None]:
        """Waits at the end until every connection that was made within is gone, with whatever it had in hand."""
        before = self.backends()
        yield
        wait_until(lambda: self.backends() <= before, "the end of the backends of a killed process")

    def is_sound(self) -> bool:
        """Whether SQLite finds nothing wrong; PostgreSQL keeps its own counsel."""
        return not self.is_file or self.sql("PRAGMA integrity_check") == [("ok",)]

    def close(self) -> None:
        """Close the connections."""
        self.database.close()
        if self._observer is not None:
            self._observer.close()


@contextmanager
def ground(setting: str, folder: Path, request: pytest.FixtureRequest) -> Iterator[Ground]:
    """A fresh ground; PostgreSQL's server is the one of the test session."""
    on_server = setting == "postgresql"
    engine = PostgresEngine(request.getfixturevalue("postgresql")) if on_server else SQLiteEngine(folder)
    made = Ground(setting, folder, engine)
    try:
        with closing(made):
            yield made
    finally:
        engine.remove()
