"""A journal on a real file, and its rows in short."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import apsw

from arrowproof.conformance.sqlite_journal import SQLiteJournal
from arrowproof.model.evidence import JournalRow
from arrowproof.model.lifecycle import Binding

JOBS = "CREATE TABLE jobs (id INTEGER PRIMARY KEY, status, attempts INTEGER DEFAULT 0, code TEXT UNIQUE)"


JOB = Binding(table="jobs", key=("id",), state="status", watch=("attempts",))


Make = Callable[..., tuple[SQLiteJournal, apsw.Connection]]


def make_journal(folder: Path, ddl: str = JOBS, binding: Binding = JOB) -> tuple[SQLiteJournal, apsw.Connection]:
    """A database with this table and the journal on it, and a connection as the service has one."""
    path = folder / "service.sqlite3"
    connection = apsw.Connection(str(path))
    connection.execute(ddl)
    journal = SQLiteJournal(path, binding)
    journal.install()
    return journal, connection


def brief(rows: tuple[JournalRow, ...]) -> list[tuple[object, ...]]:
    return [(row.operation, row.kind.value, row.key[0][1], row.old_state, row.new_state) for row in rows]


def schema_of(connection: apsw.Connection) -> list[object]:
    return connection.execute("SELECT type, name, tbl_name, sql FROM sqlite_schema ORDER BY 1, 2").fetchall()
