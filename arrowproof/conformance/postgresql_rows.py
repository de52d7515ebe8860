"""Rows of the bound table, as PostgreSQL holds them: connecting, the table and its columns, reading one row by its key.

Everything that looks at a service's database goes through :func:`open_server`, so that every refusal is an error of
:mod:`arrowproof.errors` that shows no password.

A value is read as JSON, which is the same in a trigger, whatever the session there has set for dates and the like, and
here: numbers, texts, booleans and nulls stay what they are, and every other type is the text that ``to_jsonb`` makes.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from arrowproof.conformance.postgresql_server import shown_url
from arrowproof.conformance.postgresql_sessions import session
from arrowproof.conformance.rows import BoundRow, quote
from arrowproof.errors import InputError
from arrowproof.model.evidence import Row, Scalar
from arrowproof.model.lifecycle import Binding
from arrowproof.model.record import record

if TYPE_CHECKING:
    from psycopg import Connection

LOCK_SECONDS = 10
"""How long a statement waits for another connection's lock before it gives up, and a connection for its server."""

READING = {"TimeZone": "UTC", "IntervalStyle": "postgres", "bytea_output": "hex", "extra_float_digits": "1"}
"""What a session has to have set for values to be read alike in all of them."""

_COLUMNS = """SELECT a.attname, t.typname = 'bpchar', t.typcategory IN ('N', 'S', 'B', 'E') OR t.typname = 'uuid'
FROM pg_catalog.pg_attribute a JOIN pg_catalog.pg_type t ON t.oid = a.atttypid
WHERE a.attrelid = %s AND a.attnum > 0 AND NOT a.attisdropped
ORDER BY a.attnum"""


@record
class Column:
    """A column of a table. One that is ``padded`` (``char(n)``) is read without the spaces that fill it.

    One that is ``settled`` reads the same whatever a session has set; others follow its time zone and the like.
    """

    name: str
    padded: bool = False
    settled: bool = True

    def value(self, row: str) -> str:
        """The SQL expression for its value, as JSON, in the row that ``row`` (OLD, NEW, a quoted table) stands for."""
        of_row = f"{row}.{quote(self.name)}"
        return f"to_jsonb({of_row}::text)" if self.padded else f"to_jsonb({of_row})"


@record
class BoundTable:
    """The bound table of a database: its oid, its name as SQL text, its kind (``r``, ``p`` for a partitioned one, and
    so on, as ``pg_class`` has it) and its columns.
    """

    oid: int
    sql: str
    kind: str
    columns: tuple[Column, ...]

    def column(self, name: str) -> Column:
        """The column of this name; a plain one when the table has none."""
        return next((column for column in self.columns if column.name == name), Column(name))

    def values(self, names: Sequence[str], row: str) -> str:
        """The SQL expression for a JSON array of columns of a row."""
        return f"jsonb_build_array({', '.join(self.column(name).value(row) for name in names)})"

    def state(self, binding: Binding, row: str) -> str:
        """The SQL expression for the state of a row, as JSON.

        A ``state_sql`` names columns bare, or after the table; so it is evaluated over a one-row sub-select that is
        named like the table. The line break ends a trailing comment.
        """
        if binding.state is not None:
            return self.column(binding.state).value(row)
        text = (binding.state_sql or "").casefold()
        used = [quote(column.name) for column in self.columns if column.name.casefold() in text]
        image = ", ".join(f"{row}.{name} AS {name}" for name in used) or "NULL"
        alias = quote(binding.table.rpartition(".")[2])
        return f"(SELECT to_jsonb({binding.state_sql}\n) FROM (SELECT {image}) AS {alias})"


@contextmanager
def open_server(url: str) -> Iterator[Connection[Any]]:
    """A connection to a database of a server, each statement its own transaction; it is given back at the end.

    Raises:
        InputError: the server does not answer, a lock is held for too long, or PostgreSQL refuses a statement.
        MissingEnvironmentError: psycopg is missing.
    """
    shown = shown_url(url)
    import psycopg

    try:
        with session(url, {"lock_timeout": f"{LOCK_SECONDS}s", **READING}, LOCK_SECONDS) as connection:
            yield connection
    except psycopg.errors.LockNotAvailable as error:
        raise InputError(f"{shown} stayed locked for {LOCK_SECONDS} s; end what holds the lock and repeat.") from error
    except psycopg.Error as error:
        said = " ".join(str(error).split())[:300]
        raise InputError(f"PostgreSQL refuses {shown}: {said}") from error


def find_table(connection: Connection[Any], table: str) -> BoundTable | None:
    """The table of this name on the search path, or, when there is none, ``schema.table`` by its two parts.

    None when there is neither; views and the like are found as well.
    """
    schema, dot, name = table.rpartition(".")
    for sql in [quote(table), *([f"{quote(schema)}.{quote(name)}"] if dot else [])]:
        found = connection.execute(
            "SELECT oid::int8, oid::regclass::text, relkind FROM pg_catalog.pg_class WHERE oid = to_regclass(%s)",
            (sql,),
        ).fetchone()
        if found is not None:
            oid, text, kind = found
            columns = connection.execute(_COLUMNS, (oid,)).fetchall()
            return BoundTable(oid, text, kind, tuple(Column(*column) for column in columns))
    return None


def bound_table(connection: Connection[Any], binding: Binding) -> BoundTable:
    """The table of a binding.

    Raises:
        InputError: there is none.
    """
    table = find_table(connection, binding.table)
    if table is None:
        raise InputError(f"The database has no table {binding.table!r} any more.")
    return table


def select_row(connection: Connection[Any], binding: Binding, key: Row) -> BoundRow | None:
    """The row of the bound table with this key (columns in the binding's order), or None when there is none."""
    from psycopg.errors import DataError

    table = bound_table(connection, binding)
    names = [column.name for column in table.columns]
    query = f"SELECT {table.values(names, 'row')}, {table.state(binding, 'row')} FROM {table.sql} AS row WHERE "
    # A name may hold what psycopg takes for the place of a parameter.
    conditions = " AND ".join(f"row.{quote(column)}".replace("%", "%%") + " = %s" for column, _ in key)
    try:
        # As texts, which PostgreSQL takes for values of the columns' types: '3' finds 3.
        parameters = [_text(value) for _, value in key]
        found = connection.execute(query.replace("%", "%%") + conditions, parameters).fetchone()
    except DataError:
        return None
    if found is None:
        return None
    values, state_value = found
    return BoundRow(tuple(zip(names, map(scalar, values), strict=True)), scalar(state_value))


def scalar(value: object) -> Scalar:
    """A value of JSON as evidence holds it; what is an array or an object stays text."""
    if value is None or isinstance(value, str | int | float):
        return value
    return json.dumps(value, ensure_ascii=False)


def _text(value: Scalar) -> str | None:
    if isinstance(value, bool):
        return str(value).lower()
    return None if value is None else str(value)
