"""The check of a binding against a PostgreSQL database: the table, its columns, and a key that names one row."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from arrowproof.conformance.binding_check import no_table
from arrowproof.conformance.postgresql_rows import BoundTable, find_table
from arrowproof.errors import InputError
from arrowproof.model.lifecycle import Binding

if TYPE_CHECKING:
    from psycopg import Connection

_KINDS = {"v": "view", "m": "materialized view", "f": "foreign table", "S": "sequence", "i": "index", "c": "type"}
_TABLES = """SELECT c.oid::regclass::text FROM pg_catalog.pg_class c
JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace
WHERE c.relkind IN ('r', 'p') AND n.nspname NOT IN ('pg_catalog', 'information_schema') AND n.nspname !~ '^pg_'
ORDER BY 1 LIMIT 30"""
_UNIQUE_KEYS = """SELECT array_agg(a.attname::text)
FROM pg_catalog.pg_index i
CROSS JOIN unnest(i.indkey) WITH ORDINALITY AS part (attnum, place)
JOIN pg_catalog.pg_attribute a ON a.attrelid = i.indrelid AND a.attnum = part.attnum
WHERE i.indrelid = %s AND i.indisunique AND i.indisvalid AND i.indpred IS NULL AND i.indexprs IS NULL
    AND part.place <= i.indnkeyatts
GROUP BY i.indexrelid"""
_VIRTUAL = """SELECT attname::text FROM pg_catalog.pg_attribute
WHERE attrelid = %s AND attnum > 0 AND NOT attisdropped AND attgenerated = 'v' ORDER BY attnum"""
_PARTITION_COLUMNS = """SELECT DISTINCT a.attname::text
FROM pg_partition_tree(%s::oid) AS tree
JOIN pg_catalog.pg_partitioned_table p ON p.partrelid = tree.relid
JOIN pg_catalog.pg_attribute a ON a.attrelid = p.partrelid AND a.attnum = ANY(p.partattrs)"""


def check_postgresql_binding(connection: Connection[Any], binding: Binding) -> BoundTable:
    """The bound table, when the binding fits the database.

    Raises:
        InputError: there is no such table (or it is a view or the like), a column is missing or has no value in a
            trigger, the key columns have no unique index of their own, or ``state_sql`` is no single expression over
            the row.
    """
    table = find_table(connection, binding.table)
    if table is None:
        own = [name for (name,) in connection.execute(_TABLES)]
        raise InputError(no_table(binding.table, own))
    if table.kind not in ("r", "p"):
        kind = _KINDS.get(table.kind, "thing")
        raise InputError(f"{binding.table!r} is a {kind}; row triggers need an ordinary table. Change $.binding.table.")
    columns = [column.name for column in table.columns]
    wanted = [*binding.key, *binding.watch, *([binding.state] if binding.state is not None else [])]
    missing = [column for column in wanted if column not in columns]
    if missing:
        raise InputError(
            f"Table {binding.table!r} has no column {_names(missing)}. It has: {_names(columns)}. Change $.binding."
        )
    unseen = _virtual(connection, binding, table, wanted)
    if unseen:
        raise InputError(
            f"{binding.table!r} computes {_names(unseen)} when it is read (VIRTUAL), and PostgreSQL's triggers see no"
            " value of such a column. Make it STORED, or change $.binding to the columns that it is computed from."
        )
    if not _is_unique(connection, binding, table):
        raise InputError(
            f"The key ({_names(binding.key)}) of {binding.table!r} does not name one row: no PRIMARY KEY or UNIQUE"
            " index has exactly these columns. Change $.binding.key, or make the index."
        )
    if binding.state_sql is not None:
        _check_expression(connection, binding, table)
    return table


def _virtual(connection: Connection[Any], binding: Binding, table: BoundTable, named: Sequence[str]) -> list[str]:
    """The columns that the binding names, or its ``state_sql`` has the name of, and that are never stored."""
    text = (binding.state_sql or "").casefold()
    found = [name for (name,) in connection.execute(_VIRTUAL, (table.oid,))]
    return [name for name in found if name in named or name.casefold() in text]


def _is_unique(connection: Connection[Any], binding: Binding, table: BoundTable) -> bool:
    """Whether a unique index has exactly the key's columns, but for those that a table is partitioned by.

    PostgreSQL wants these in every unique index, and they are often the state itself: a key that leaves them out names
    one row in each partition, and one in all when the service gives it once.
    """
    spared = {name for (name,) in connection.execute(_PARTITION_COLUMNS, (table.oid,))} - set(binding.key)
    indexes = (set(names) for (names,) in connection.execute(_UNIQUE_KEYS, (table.oid,)))
    return any(names - spared == set(binding.key) for names in indexes)


def _check_expression(connection: Connection[Any], binding: Binding, table: BoundTable) -> None:
    """Have PostgreSQL prepare a query of it, which it refuses when there is more than one statement; nothing is run."""
    import psycopg

    try:
        with connection.transaction():
            query = f"SELECT {table.state(binding, 'row')} FROM {table.sql} AS row LIMIT 0"
            connection.execute(query, prepare=True)
    except psycopg.Error as error:
        said = str(error).splitlines()[0]
        raise InputError(f"$.binding.state_sql is no expression over {binding.table!r}: {said}.") from error


def _names(names: Sequence[str]) -> str:
    return ", ".join(map(repr, names))[:300] or "none"
