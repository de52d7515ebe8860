"""A guard on a real table of jobs, in either engine, and what its database says when it refuses."""

from __future__ import annotations

from collections.abc import Sequence

import apsw

from arrowproof.conformance.guard import Allowed, read_allowed
from arrowproof.conformance.rows import table_columns
from arrowproof.conformance.sqlite_guard import SQLiteGuard
from arrowproof.conformance.table_shape import TableShape
from arrowproof.conformance.unique_indexes import read_unique_indexes
from arrowproof.model.lifecycle import Arrow, Binding, Kind, Lifecycle, State

JOBS = "CREATE TABLE jobs (id INTEGER PRIMARY KEY, status TEXT, attempts INTEGER DEFAULT 0, code TEXT UNIQUE)"
BINDING = Binding("jobs", ("id",), "status", watch=("attempts",))


def guarded_job(binding: Binding = BINDING) -> Lifecycle:
    """Created as todo, todo -> doing -> done, doing again and again, and done rows are removed."""
    return Lifecycle(
        id="job",
        title="Job",
        binding=binding,
        states=tuple(State(each, Kind.ACTIVE, each, each) for each in ("todo", "doing", "done")),
        arrows=(
            Arrow("make", None, "todo"),
            Arrow("begin", "todo", "doing"),
            Arrow("retry", "doing", "doing"),
            Arrow("end", "doing", "done"),
            Arrow("purge", "done", None),
        ),
    )


def allowed_job(binding: Binding = BINDING) -> Allowed:
    return read_allowed(guarded_job(binding))


def sqlite_guard(connection: apsw.Connection, allowed: Allowed, *, is_plain: bool = False) -> SQLiteGuard:
    table = allowed.binding.table
    shape = TableShape(table_columns(connection, table), read_unique_indexes(connection, table))
    return SQLiteGuard(allowed, shape, is_plain)


def guarded_jobs(ddl: str = JOBS, rows: Sequence[str] = (), allowed: Allowed | None = None) -> apsw.Connection:
    """A database in memory whose table has these rows, and then a guard."""
    connection = apsw.Connection(":memory:")
    connection.execute(ddl)
    for row in rows:
        connection.execute(f"INSERT INTO jobs VALUES {row}")
    for statement in sqlite_guard(connection, allowed or allowed_job()).installation():
        connection.execute(statement)
    return connection


def refused(connection: apsw.Connection, sql: str) -> str | None:
    """What the database says against a statement, None when it takes it."""
    try:
        connection.execute(sql)
    except apsw.ConstraintError as error:
        is_raised = error.extendedresult == apsw.SQLITE_CONSTRAINT_TRIGGER
        return str(error) if is_raised else f"not a refusal: {error}"
    return None


def states(connection: apsw.Connection) -> dict[int, str]:
    return dict(connection.execute("SELECT id, status FROM jobs ORDER BY id"))
