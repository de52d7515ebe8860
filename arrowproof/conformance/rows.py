"""Rows of the bound table, as SQLite holds them: opening the database, quoting names, reading one row by its key.

Everything that looks at a service's database goes through :func:`open_database`, so that a file is never created, never
opened with a SQLite that can corrupt it, and every refusal is an :class:`~arrowproof.errors.InputError`.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

import apsw

from arrowproof.conformance.names import fold
from arrowproof.conformance.wal_reset import AFFECTED, wal_reset_status
from arrowproof.errors import InputError, MissingEnvironmentError
from arrowproof.model.evidence import Row, Scalar
from arrowproof.model.lifecycle import Binding
from arrowproof.model.record import record

BUSY_MILLISECONDS = 10_000
"""How long a statement waits for another connection's lock before it gives up."""

_BLOB_TEXT = re.compile(r"x'(?:[0-9A-F]{2})*'")


def quote(name: str) -> str:
    """An SQL identifier that means ``name``, whatever characters it holds.

    Raises:
        InputError: the name holds a NUL, which no SQL text can carry.
    """
    if "\0" in name:
        raise InputError(f"{name!r} holds a NUL character and cannot name a table or column; change the binding.")
    return '"' + name.replace('"', '""') + '"'


@contextmanager
def open_database(path: Path) -> Iterator[apsw.Connection]:
    """A connection to an existing database that waits for locks and is closed at the end.

    Raises:
        InputError: the file is missing, is no database, stays locked, or SQLite refuses a statement.
        MissingEnvironmentError: the installed SQLite has the WAL-reset bug and must not touch a service's file.
    """
    library = apsw.sqlite_lib_version()
    if wal_reset_status(library) == AFFECTED:
        raise MissingEnvironmentError(
            f"SQLite {library} can corrupt databases in WAL mode (the WAL-reset bug); {path} is left alone.",
            "pip install --upgrade apsw",
        )
    if not path.is_file():
        raise InputError(f"{path} is no database file; give the file that the service uses.")
    try:
        connection = apsw.Connection(str(path), flags=apsw.SQLITE_OPEN_READWRITE)
        try:
            connection.set_busy_timeout(BUSY_MILLISECONDS)
            yield connection
        finally:
            connection.close()
    except apsw.BusyError as error:
        seconds = BUSY_MILLISECONDS // 1000
        raise InputError(f"{path} stayed locked for {seconds} s; end the process that holds it and repeat.") from error
    except apsw.Error as error:
        raise InputError(f"SQLite refuses {path}: {str(error)[:300]}") from error
    except UnicodeDecodeError as error:
        raise InputError(f"{path} holds text that is not UTF-8; store it as a blob or mend the row.") from error


def scalar(value: object) -> Scalar:
    """A column value as evidence holds it: blobs become ``x'…'`` text, all else stays what it is."""
    if isinstance(value, bytes):
        return f"x'{value.hex().upper()}'"
    if value is None or isinstance(value, str | int | float):
        return value
    raise TypeError(f"SQLite gave a {type(value).__name__}")


@record
class BoundRow:
    """One row as a SELECT gave it: its columns in table order, and what its state column or expression holds."""

    columns: Row
    state: Scalar


def select_row(connection: apsw.Connection, binding: Binding, key: Row) -> BoundRow | None:
    """The row of the bound table with this key (columns in the binding's order), or None when there is none."""
    columns = table_columns(connection, binding.table) if binding.state is None else ()
    state = state_expression(binding, quote(binding.table), columns)
    conditions, parameters = [], []
    for column, value in key:
        # IN finds no NULL, and SQLite allows NULL in a key unless the column says NOT NULL.
        forms = _stored_forms(value)
        marks = ", ".join("?" * len(forms))
        conditions.append(f"{quote(column)} IN ({marks})" if forms else f"{quote(column)} IS NULL")
        parameters += forms
    statement = f"SELECT *, {state} FROM {quote(binding.table)} WHERE {' AND '.join(conditions)}"
    cursor = connection.execute(statement, parameters)
    found = cursor.fetchone()
    if found is None:
        return None
    names = [description[0] for description in cursor.get_description()][:-1]
    values = [scalar(value) for value in found]
    return BoundRow(tuple(zip(names, values[:-1], strict=True)), values[-1])


def table_columns(connection: apsw.Connection, table: str) -> tuple[str, ...]:
    """The columns of a table as its DDL spells them, generated ones included; empty when there is no such table."""
    found = connection.execute("SELECT name FROM pragma_table_xinfo(?) WHERE hidden <> 1 ORDER BY cid", (table,))
    return tuple(str(name) for (name,) in found)


def state_expression(binding: Binding, row: str, columns: Sequence[str]) -> str:
    """The SQL expression for the state of the row that ``row`` (OLD, NEW, a quoted table) stands for.

    ``columns`` are those of the table; they matter where the binding has a ``state_sql``.

    A ``state_sql`` names columns bare, or after the table; so it is evaluated over a one-row sub-select that is named
    like the table and has the columns whose names occur in it. The line break ends a trailing comment.
    """
    if binding.state is not None:
        return f"{row}.{quote(binding.state)}"
    text = (binding.state_sql or "").casefold()
    used = [column for column in columns if column.casefold() in text]
    image = ", ".join(f"{row}.{quote(column)} AS {quote(column)}" for column in used) or "NULL"
    return f"(SELECT ({binding.state_sql}\n) FROM (SELECT {image}) AS {quote(binding.table)})"


def stored_key(binding: Binding, row: BoundRow) -> Row:
    """The key of a row as the database holds it, which may be 3 where someone says '3'."""
    values = {fold(name): value for name, value in row.columns}
    return tuple((column, values[fold(column)]) for column in binding.key)


def in_key_order(binding: Binding, key: Row) -> Row | None:
    """The same key with its columns in the binding's order, or None when a column is missing or too many."""
    values = dict(key)
    if len(key) != len(binding.key) or set(values) != set(binding.key):
        return None
    return tuple((column, values[column]) for column in binding.key)


def key_text(key: Row) -> str:
    """A key as people read it: ``id=3``, ``tenant='a', id=3``."""
    return ", ".join(f"{column}={value!r}" for column, value in key)[:200]


def _stored_forms(value: Scalar) -> list[str | int | float | bytes]:
    """What SQLite may hold for an evidence value: ``x'…'`` can be that text or the blob that it stands for."""
    if value is None:
        return []
    if isinstance(value, str) and _BLOB_TEXT.fullmatch(value):
        return [value, bytes.fromhex(value[2:-1])]
    return [value]
