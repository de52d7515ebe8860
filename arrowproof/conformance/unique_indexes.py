"""The unique indexes of a table, its primary key among them: by them a row is known, and by them replaced."""

from __future__ import annotations

from collections.abc import Iterable

import apsw

from arrowproof.conformance.names import fold
from arrowproof.model.record import record


@record
class UniqueIndex:
    """Its columns in order, each with its collation; a column is None where the index holds an expression."""

    columns: tuple[tuple[str | None, str], ...]
    is_partial: bool = False

    @property
    def named_columns(self) -> list[tuple[str, str]]:
        """Its columns without its expressions."""
        return [(name, collation) for name, collation in self.columns if name is not None]

    def has_columns(self, names: Iterable[str]) -> bool:
        """Whether these are its columns, in any order and without case, and no expression."""
        own = {fold(name) for name, _ in self.named_columns}
        return len(self.named_columns) == len(self.columns) and own == {fold(name) for name in names}


def read_unique_indexes(connection: apsw.Connection, table: str) -> tuple[UniqueIndex, ...]:
    """Every unique index of a table in the order of their names; empty when there is no such table."""
    listed = 'SELECT name, origin, partial FROM pragma_index_list(?) WHERE "unique" ORDER BY name'
    found, has_primary_key = [], False
    for name, origin, partial in connection.execute(listed, (table,)).fetchall():
        columns = connection.execute('SELECT name, coll FROM pragma_index_xinfo(?) WHERE "key" ORDER BY seqno', (name,))
        found.append(UniqueIndex(tuple((column, str(collation)) for column, collation in columns), bool(partial)))
        has_primary_key = has_primary_key or origin == "pk"
    # An INTEGER PRIMARY KEY is the table's own order and has no index.
    rowid = connection.execute("SELECT name FROM pragma_table_xinfo(?) WHERE pk > 0", (table,)).fetchall()
    if rowid and not has_primary_key:
        found.insert(0, UniqueIndex(tuple((str(name), "BINARY") for (name,) in rowid)))
    return tuple(found)
