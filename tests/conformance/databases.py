"""A database of its own on each engine, for the tests of what works on both: journal, rows, balance."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from itertools import count
from pathlib import Path
from typing import Any, Protocol
from urllib.parse import urlsplit, urlunsplit

import apsw
import psycopg

from arrowproof.conformance.journal import Address, Journal, open_journal
from arrowproof.model.lifecycle import Binding
from tests.conformance.journals import JOB

JOBS = "CREATE TABLE jobs (id INTEGER PRIMARY KEY, status TEXT, attempts INTEGER DEFAULT 0, code TEXT UNIQUE)"
ENGINES = ("sqlite", "postgresql")


class Place(Protocol):
    """A new database."""

    name: str
    address: Address

    def run(self, *statements: str) -> list[tuple[Any, ...]]:
        """Run statements on one connection, as a service would; the rows of the last."""

    def made(self) -> list[Any]:
        """Everything that the database has: tables, triggers and the like, with their text."""

    def close(self) -> None:
        """End the connection."""


class SQLitePlace:
    name = "sqlite"

    def __init__(self, folder: Path) -> None:
        self.address: Address = folder / "service.sqlite3"
        self._connection = apsw.Connection(str(self.address))

    def run(self, *statements: str) -> list[tuple[Any, ...]]:
        rows: list[tuple[Any, ...]] = []
        for statement in statements:
            rows = self._connection.execute(statement).fetchall()
        return rows

    def made(self) -> list[Any]:
        return self.run("SELECT type, name, tbl_name, sql FROM sqlite_schema ORDER BY 1, 2")

    def close(self) -> None:
        self._connection.close()


class PostgresPlace:
    name = "postgresql"
    _numbers = count(1)

    def __init__(self, server: str) -> None:
        self.database = f"place_{next(self._numbers)}"
        with psycopg.connect(server, autocommit=True) as connection:
            connection.execute(f"CREATE DATABASE {self.database}")
        self.address: Address = urlunsplit(urlsplit(server)._replace(path=f"/{self.database}"))
        self.connection = psycopg.connect(str(self.address), autocommit=True)

    def run(self, *statements: str) -> list[tuple[Any, ...]]:
        rows: list[tuple[Any, ...]] = []
        for statement in statements:
            cursor = self.connection.execute(statement)
            rows = cursor.fetchall() if cursor.description else []
        return rows

    @contextmanager
    def other(self) -> Iterator[psycopg.Connection[Any]]:
        """Another connection, each statement its own transaction."""
        with psycopg.connect(str(self.address), autocommit=True) as connection:
            yield connection

    def made(self) -> list[Any]:
        return self.run(
            "SELECT 'schema', nspname, '' FROM pg_namespace WHERE nspname !~ '^pg_'"
            " UNION SELECT 'relation', oid::regclass::text, '' FROM pg_class WHERE relnamespace >= 16384"
            " UNION SELECT 'function', proname, prosrc FROM pg_proc WHERE pronamespace >= 16384"
            " UNION SELECT 'trigger', tgname, pg_get_triggerdef(oid) FROM pg_trigger ORDER BY 1, 2, 3"
        )

    def close(self) -> None:
        self.connection.close()


def make(place: Place, ddl: str = JOBS, binding: Binding = JOB) -> Journal:
    """The journal on a table that this makes."""
    place.run(*ddl.split(";\n"))
    journal = open_journal(place.address, binding)
    journal.install()
    return journal
