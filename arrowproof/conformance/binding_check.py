"""The check of a binding against a database: the table, its columns, and a key that names one row."""

from __future__ import annotations

from collections.abc import Sequence

import apsw

from arrowproof.conformance.names import fold
from arrowproof.conformance.rows import quote, state_expression, table_columns
from arrowproof.conformance.unique_indexes import read_unique_indexes
from arrowproof.errors import InputError
from arrowproof.model.lifecycle import Binding


def check_binding(connection: apsw.Connection, binding: Binding) -> None:
    """Return when the binding fits the database.

    Raises:
        InputError: there is no such table (or it is a view or virtual), a column is missing, the key columns have no
            unique index of their own, or ``state_sql`` is no single expression over the row.
    """
    tables = dict(connection.execute("SELECT name, type FROM pragma_table_list WHERE schema = 'main' ORDER BY name"))
    kind = next((kind for name, kind in tables.items() if fold(str(name)) == fold(binding.table)), None)
    if kind is None:
        own = [str(name) for name, kind in tables.items() if kind == "table" and not str(name).startswith("sqlite_")]
        raise InputError(no_table(binding.table, own))
    if kind != "table":
        raise InputError(f"{binding.table!r} is a {kind}; row triggers need an ordinary table. Change $.binding.table.")
    columns = table_columns(connection, binding.table)
    known = {fold(column) for column in columns}
    wanted = [*binding.key, *binding.watch, *([binding.state] if binding.state is not None else [])]
    missing = [column for column in wanted if fold(column) not in known]
    if missing:
        raise InputError(
            f"Table {binding.table!r} has no column {_names(missing)}. It has: {_names(columns)}. Change $.binding."
        )
    if not _is_unique(connection, binding):
        raise InputError(
            f"The key ({_names(binding.key)}) of {binding.table!r} does not name one row: no PRIMARY KEY or UNIQUE"
            " index has exactly these columns. Change $.binding.key, or make the index."
        )
    if binding.state_sql is not None:
        _check_expression(connection, binding, columns)


def _is_unique(connection: apsw.Connection, binding: Binding) -> bool:
    indexes = read_unique_indexes(connection, binding.table)
    return any(index.has_columns(binding.key) and not index.is_partial for index in indexes)


def _check_expression(connection: apsw.Connection, binding: Binding, columns: tuple[str, ...]) -> None:
    import apsw.ext  # late: it takes longer than all else here, and few bindings have an expression

    expression = state_expression(binding, quote(binding.table), columns)
    query = f"SELECT {expression} FROM {quote(binding.table)}"
    try:
        info = apsw.ext.query_info(connection, query)
    except apsw.SQLError as error:
        raise InputError(f"$.binding.state_sql is no expression over {binding.table!r}: {error}.") from error
    if info.query_remaining is not None or not info.is_readonly:
        raise InputError("$.binding.state_sql holds more than one expression; give the expression alone.")


def no_table(table: str, own: Sequence[str]) -> str:
    """What is said when the bound table is none of the database's, which has none before a service makes some."""
    if own:
        return f"The database has no table {table!r}. It has: {_names(own)}. Change $.binding.table."
    return (
        f"The database has no table {table!r} and no other. Name the one that the service uses; a driver's start, in a"
        " proof, comes back only when its tables are made."
    )


def _names(names: Sequence[str]) -> str:
    return ", ".join(map(repr, names))[:300] or "none"
