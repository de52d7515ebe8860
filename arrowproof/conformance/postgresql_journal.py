"""The journal on PostgreSQL: a table in a schema of its own that triggers write in the transaction of the change.

Its rules, each shown by a test:

* ``AFTER`` row triggers record: they see what a BEFORE trigger made of the row. A second one, ``UPDATE OF state``, only
  marks a row that named the state and left it.
* All are ``ENABLE ALWAYS``: with ``session_replication_role`` at ``replica`` others do not fire.
* OLD and NEW are stored, never inferred from the row before.
* Rows are in the order of a sequence, and bear ``clock_timestamp()``: by ``now()`` or the transaction's number, a
  transaction that began first and changed a row last would come first.
* A transaction or savepoint that rolls back takes its journal rows along, and leaves a gap in the order.
* TRUNCATE fires no row trigger; a statement trigger records every row as removed.
* A row that an UPDATE moves to another partition is deleted there and inserted here; it is recorded as one update.
  Which columns the statement named cannot be told then: a move that leaves the state as it was is a touch.
* An update of the key is a removal (``delete``) of the old key and a creation (``insert``) of the new one.
* Each row keeps the string that the client sent, as ``current_query()`` has it: all of its statements, where there are
  several, and that of the caller for what a function or trigger did.
* :meth:`PostgresJournal.stands` says whether the triggers are still there as they were made, and fire always.

A transaction that wrote its rows ahead of another's and commits after it comes first in the order: what is asked for
``after`` a row may leave it out, and only :meth:`PostgresJournal.rows_and_states` holds it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from arrowproof.conformance.balance import States
from arrowproof.conformance.database_triggers import Trigger
from arrowproof.conformance.environment import describe_postgresql
from arrowproof.conformance.open_transactions import settle
from arrowproof.conformance.postgresql_binding import check_postgresql_binding
from arrowproof.conformance.postgresql_journal_schema import JournalQueries, PostgresJournalSchema, schema_name
from arrowproof.conformance.postgresql_rows import bound_table, open_server, scalar, select_row
from arrowproof.conformance.rows import BoundRow
from arrowproof.errors import InputError
from arrowproof.model.evidence import Environment, JournalKind, JournalRow, Row
from arrowproof.model.lifecycle import Binding
from arrowproof.model.record import record

if TYPE_CHECKING:
    from psycopg import Connection

_FAMILY = """SELECT relid::regclass::text, isleaf FROM pg_partition_tree(%s::oid)
UNION SELECT oid::regclass::text, true FROM pg_class WHERE oid = %s::oid AND relkind = 'r'"""

_TRIGGERS = """SELECT tgname, pg_get_functiondef(tgfoid), pg_get_triggerdef(trigger.oid)
FROM pg_catalog.pg_trigger AS trigger
JOIN pg_catalog.pg_proc AS function ON function.oid = tgfoid
JOIN pg_catalog.pg_namespace AS namespace ON namespace.oid = pronamespace
WHERE NOT tgisinternal AND tgparentid = 0 AND nspname <> %s
ORDER BY tgname, tgrelid::regclass::text"""


@record
class PostgresJournal:
    """The journal of one bound table in one database of a server. Every method has a session for itself."""

    url: str
    binding: Binding

    def install(self) -> States:
        """Make the journal's schema and triggers in one transaction; rows that are there already are its start.

        Returns:
            The states that the journal starts from.

        Raises:
            InputError: the table, a column or a unique key is missing, a journal is there already, or the table stays
                locked.
        """
        with open_server(self.url) as connection, connection.transaction():
            check_postgresql_binding(connection, self.binding)
            is_there = "SELECT FROM pg_catalog.pg_namespace WHERE nspname = %s"
            if connection.execute(is_there, (schema_name(self.binding.table),)).fetchone() is not None:
                raise InputError(f"The database already has a journal of {self.binding.table!r}; remove it first.")
            schema = self._schema(connection)
            # The first trigger that is made waits for those who write the table, and lets nobody write until the end.
            for statement in schema.installation():
                connection.execute(statement)
            return self._states(connection, schema)

    def rows(self, after: int = 0) -> tuple[JournalRow, ...]:
        """The committed rows whose order is greater than ``after``, in order.

        Raises:
            InputError: there is no journal in the database.
        """
        with open_server(self.url) as connection:
            return self._rows(connection, after)

    def rows_and_states(self) -> tuple[tuple[JournalRow, ...], States]:
        """Every committed row, and the state of every row of the bound table at the same moment."""
        with open_server(self.url) as connection, connection.transaction():
            connection.execute("SET TRANSACTION ISOLATION LEVEL REPEATABLE READ, READ ONLY")
            return self._rows(connection), self._states(connection, self._schema(connection))

    def last_order(self) -> int:
        """The order of the last committed row; 0 when there is none."""
        with open_server(self.url) as connection:
            return int(_only(connection, self._queries.last_order()) or 0)

    def triggers(self) -> tuple[Trigger, ...]:
        """Every trigger of the database that is not the journal's, by name, with the function that it calls."""
        with open_server(self.url) as connection:
            found = connection.execute(_TRIGGERS, (schema_name(self.binding.table),)).fetchall()
        return tuple(Trigger(str(name), f"{function};\n{trigger};") for name, function, trigger in found)

    def stands(self) -> bool:
        """Whether every trigger and function of the journal is still there as it was made, and always fires."""
        from psycopg.errors import UndefinedTable

        with open_server(self.url) as connection:
            try:
                return bool(_only(connection, self._queries.fallen()) == 0)
            except UndefinedTable:
                return False

    def remove(self) -> None:
        """Take the journal out of the database, with its rows; nothing of it is left. Safe to call twice."""
        with open_server(self.url) as connection:
            connection.execute("SET client_min_messages TO warning")
            connection.execute(self._queries.removal())

    def bound_row(self, key: Row) -> BoundRow | None:
        """The row of the bound table with this key, by SELECT; None when there is none."""
        with open_server(self.url) as connection:
            return select_row(connection, self.binding, key)

    def settle(self) -> None:
        """Wait until every transaction that is open now in this database has ended.

        Raises:
            DriverError: one stays open.
        """
        settle(self.url)

    def environment(self) -> Environment:
        """Where the proof runs, and what the server is."""
        with open_server(self.url) as connection:
            return describe_postgresql(str(_only(connection, "SHOW server_version")))

    @property
    def _queries(self) -> JournalQueries:
        return JournalQueries(self.binding.table)

    def _schema(self, connection: Connection[Any]) -> PostgresJournalSchema:
        table = bound_table(connection, self.binding)
        family = connection.execute(_FAMILY, (table.oid, table.oid)).fetchall()
        return PostgresJournalSchema(
            self.binding,
            table,
            family=tuple(sql for sql, _ in family),
            leaves=tuple(sql for sql, is_leaf in family if is_leaf),
            search_path=str(_only(connection, "SHOW search_path")),
        )

    def _states(self, connection: Connection[Any], schema: PostgresJournalSchema) -> States:
        return {self._key(key): scalar(state) for key, state in connection.execute(schema.states())}

    def _rows(self, connection: Connection[Any], after: int = 0) -> tuple[JournalRow, ...]:
        return tuple(self._row(*values) for values in connection.execute(self._queries.rows(after)))

    def _row(
        self,
        order: int,
        operation: str,
        kind: str,
        old_state: object,
        new_state: object,
        key: list[object],
        old_watched: list[object] | None,
        new_watched: list[object] | None,
        query: str | None,
    ) -> JournalRow:
        return JournalRow(
            order=order,
            operation=operation,
            kind=JournalKind(kind),
            key=self._key(key),
            old_state=scalar(old_state),
            new_state=scalar(new_state),
            old_watched=_named(self.binding.watch, old_watched),
            new_watched=_named(self.binding.watch, new_watched),
            query=query,
        )

    def _key(self, values: list[object]) -> Row:
        return _named(self.binding.key, values)


def _named(names: tuple[str, ...], values: list[object] | None) -> Row:
    return () if values is None else tuple(zip(names, map(scalar, values), strict=True))


def _only(connection: Connection[Any], query: str) -> Any:
    found = connection.execute(query).fetchone()
    return None if found is None else found[0]
