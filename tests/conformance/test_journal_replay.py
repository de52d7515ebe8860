"""A property of the journal: read from the start, it tells what the table holds, whatever was done to the table."""

from __future__ import annotations

import tempfile
from pathlib import Path

import apsw
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from arrowproof.conformance.sqlite_journal import SQLiteJournal
from arrowproof.model.evidence import JournalKind, Row, Scalar
from arrowproof.model.lifecycle import Binding

TABLES = [
    "CREATE TABLE jobs (id INTEGER PRIMARY KEY, status, tries INTEGER, code UNIQUE, UNIQUE (tries, status))",
    "CREATE TABLE jobs (id PRIMARY KEY, status, tries, code TEXT COLLATE NOCASE UNIQUE) WITHOUT ROWID",
    "CREATE TABLE jobs (n PRIMARY KEY, id TEXT NOT NULL UNIQUE, status, tries, code UNIQUE ON CONFLICT REPLACE)",
]
JOB = Binding("jobs", ("id",), "status", watch=("tries",))

ids, states, codes = (
    st.integers(1, 4),
    st.sampled_from(["'a'", "'b'", "NULL"]),
    st.sampled_from(["'x'", "'X'", "1", "NULL"]),
)
conflicts = st.sampled_from(["", "OR REPLACE", "OR IGNORE", "OR FAIL", "OR ABORT", "OR ROLLBACK"])
changes = st.one_of(
    st.builds("status = {}".format, states),
    st.builds("tries = {}".format, ids),
    st.builds("id = {}".format, ids),
    st.builds("code = {}, status = {}".format, codes, states),
    st.just("id = id + 1"),
)
where = st.one_of(st.just(""), st.builds("WHERE id = {}".format, ids), st.builds("WHERE status IS {}".format, states))
statements = st.one_of(
    st.builds(
        "INSERT {} INTO jobs (id, status, tries, code) VALUES ({}, {}, 0, {})".format, conflicts, ids, states, codes
    ),
    st.builds(
        "INSERT INTO jobs (id, status, tries) VALUES ({}, {}, 1) ON CONFLICT (id) DO UPDATE SET tries = 2".format,
        ids,
        states,
    ),
    st.builds("UPDATE {} jobs SET {} {}".format, conflicts, changes, where),
    st.builds("DELETE FROM jobs {}".format, where),
    st.sampled_from(["BEGIN", "COMMIT", "ROLLBACK", "SAVEPOINT s", "ROLLBACK TO s", "RELEASE s"]),
)


@pytest.mark.parametrize("table", TABLES)
@pytest.mark.parametrize("recursive", [False, True])
@settings(max_examples=40, deadline=None, derandomize=True)
@given(done=st.lists(statements, max_size=12))
def test_the_journal_replayed_gives_the_rows_of_the_table(table: str, recursive: bool, done: list[str]) -> None:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "service.sqlite3"
        connection = apsw.Connection(str(path))
        connection.execute(f"PRAGMA synchronous = OFF; PRAGMA recursive_triggers = {recursive:d}; {table}").fetchall()
        journal = SQLiteJournal(path, JOB)
        journal.install()
        for statement in done:
            try:
                connection.execute(statement)
            except apsw.Error:
                continue  # a constraint, or no transaction: what a service meets too
        if connection.in_transaction:
            connection.execute("COMMIT")
        held = dict(_rows(connection))
        connection.close()
        assert _replayed(journal) == held


def _rows(connection: apsw.Connection) -> list[tuple[Scalar, tuple[Scalar, Row]]]:
    found = connection.execute("SELECT id, status, tries FROM jobs")
    return [(key, (state, (("tries", tries),))) for key, state, tries in found]


def _replayed(journal: SQLiteJournal) -> dict[Scalar, tuple[Scalar, Row]]:
    """What the journal says is there; on the way, each row must say rightly what was there before it."""
    held: dict[Scalar, tuple[Scalar, Row]] = {}
    for row in journal.rows():
        key = row.key[0][1]
        if row.operation == "insert":
            assert key not in held
        else:
            assert held.pop(key) == (row.old_state, row.old_watched)
        if row.operation != "delete":
            held[key] = (row.new_state, row.new_watched)
        if row.operation in ("update", "replace"):
            assert (row.kind is JournalKind.CHANGED) is (row.old_state != row.new_state)
    return held
