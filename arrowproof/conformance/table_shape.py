"""The shape of a table: its columns and unique indexes, read from a database or from the SQL that makes it."""

from __future__ import annotations

from pathlib import Path

import apsw

from arrowproof.conformance.binding_check import check_binding
from arrowproof.conformance.names import fold
from arrowproof.conformance.rows import open_database, table_columns
from arrowproof.conformance.sources import read_sources
from arrowproof.conformance.statements import SqlStatement, split_statements
from arrowproof.conformance.tokens import read_name
from arrowproof.conformance.unique_indexes import UniqueIndex, read_unique_indexes
from arrowproof.errors import InputError
from arrowproof.model.lifecycle import Binding, Lifecycle
from arrowproof.model.record import record


@record
class TableShape:
    """What a guard must know of a table: its columns, for ``state_sql``, and its unique indexes, for REPLACE."""

    columns: tuple[str, ...]
    unique_indexes: tuple[UniqueIndex, ...]


def shape_in_database(database: Path, binding: Binding) -> TableShape:
    """The shape of the bound table in a SQLite file, which is only read.

    Raises:
        InputError: the file is no database, or the binding does not fit it.
    """
    with open_database(database) as connection:
        return _shape(connection, binding)


def shape_in_sources(lifecycle: Lifecycle, binding: Binding) -> TableShape:
    """The shape of the bound table as the lifecycle's sources make it, found by making it in memory.

    Raises:
        InputError: no source makes the table, SQLite refuses one that does, or the binding does not fit it.
    """
    connection = apsw.Connection(":memory:")
    try:
        for statement in _definitions(lifecycle, binding.table):
            try:
                connection.execute(statement.sql)
            except apsw.Error as error:
                said = f"{statement.place}: SQLite refuses this: {str(error)[:300]}"
                raise InputError(f"{said}. Name the service's database with --db instead") from error
        if not table_columns(connection, binding.table):
            raise InputError(
                f"no .sql file among the lifecycle's sources makes the table {binding.table!r}, and SQLite's guard has"
                " to know its unique indexes. A table that code makes is not looked for here: name the service's"
                ' database with --db FILE, or add the schema to "sources"'
            )
        return _shape(connection, binding)
    finally:
        connection.close()


def _shape(connection: apsw.Connection, binding: Binding) -> TableShape:
    check_binding(connection, binding)
    return TableShape(table_columns(connection, binding.table), read_unique_indexes(connection, binding.table))


def _definitions(lifecycle: Lifecycle, table: str) -> list[SqlStatement]:
    """The statements that say what the table is like. None of them computes anything: the file is untrusted."""
    found: list[SqlStatement] = []
    for source in read_sources(lifecycle) if lifecycle.sources else ():
        if source.is_sql:
            found += [each for each in split_statements(source.file, source.text) if _defines(each, fold(table))]
    # The table first: sources come in the order of their names.
    return sorted(found, key=lambda statement: statement.word(0) == "ALTER" or statement.word(1) == "UNIQUE")


def _defines(statement: SqlStatement, table: str) -> bool:
    words = [token.word for token in statement.tokens]
    if words[:2] == ["ALTER", "TABLE"]:
        at = 2
    elif words[:1] == ["CREATE"] and "TABLE" in words[:3] and "SELECT" not in words:
        at = words.index("TABLE") + 1
    elif words[:3] == ["CREATE", "UNIQUE", "INDEX"] and "ON" in words:
        at = words.index("ON") + 1
    else:
        return False
    if words[at : at + 3] == ["IF", "NOT", "EXISTS"]:
        at += 3
    name = read_name(statement.tokens, at)[1]
    return name is not None and fold(name) == table
