"""The journal on SQLite: a table that triggers write in the transaction of the change.

Its rules, each shown by a test:

* Plain ``AFTER UPDATE`` triggers record; ``UPDATE OF state`` misses changes that do not name the column, such as those
  of a generated one. A second trigger, ``UPDATE OF state``, only marks a row that named the state and left it.
* OLD and NEW are stored, never inferred from the row before: nested triggers make the order of rows differ.
* A transaction or savepoint that rolls back takes its journal rows along.
* REPLACE fires no DELETE trigger while ``recursive_triggers`` is off. A shadow table of keys and states finds the rows
  that vanished (operation ``delete``), and those that another row took the place of under the same key (``replace``:
  a change from the old state to the new one). With ``recursive_triggers`` on, SQLite itself tells of a removal first.
* An update of the key is a removal (``delete``) of the old key and a creation (``insert``) of the new one.
* Triggers are never TEMP (such see one connection only) and go with their table when a migration rebuilds it:
  :meth:`SQLiteJournal.stands` says whether they are still there with the same text.

The order of rows is that of the writes; a row whose transaction rolled back gives its number to the next one.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import apsw

from arrowproof.conformance.balance import States
from arrowproof.conformance.binding_check import check_binding
from arrowproof.conformance.database_triggers import Trigger
from arrowproof.conformance.environment import describe_environment
from arrowproof.conformance.rows import BoundRow, open_database, scalar, select_row, table_columns
from arrowproof.conformance.sqlite_journal_schema import JournalSchema
from arrowproof.conformance.unique_indexes import read_unique_indexes
from arrowproof.errors import InputError
from arrowproof.model.evidence import Environment, JournalKind, JournalRow, Row, Scalar
from arrowproof.model.lifecycle import Binding
from arrowproof.model.record import record


@record
class SQLiteJournal:
    """The journal of one bound table in one SQLite database. Every method opens the file and closes it again."""

    database: Path
    binding: Binding

    def install(self) -> States:
        """Make the journal's tables and triggers in one transaction; rows that are there already are its start.

        Returns:
            The states that the journal starts from.

        Raises:
            InputError: the table, a column or a unique key is missing, a journal is there already, or the database
                stays locked.
        """
        with open_database(self.database) as connection, _immediate(connection):
            schema = self._schema(connection)
            check_binding(connection, self.binding)
            if schema.texts().keys() & _made(connection).keys():
                raise InputError(f"{self.database} already has a journal of {self.binding.table!r}; remove it first.")
            for statement in schema.installation():
                connection.execute(statement)
            return self._states(connection)

    def rows(self, after: int = 0) -> tuple[JournalRow, ...]:
        """The committed rows whose order is greater than ``after``, in order.

        Raises:
            InputError: there is no journal in the database.
        """
        with open_database(self.database) as connection:
            found = connection.execute(self._schema(connection).rows(), (after,)).fetchall()
        return tuple(self._row([scalar(value) for value in values]) for values in found)

    def rows_and_states(self) -> tuple[tuple[JournalRow, ...], States]:
        """Every committed row, and the state of every row of the bound table at the same moment."""
        with open_database(self.database) as connection, _immediate(connection):
            found = connection.execute(self._schema(connection).rows(), (0,)).fetchall()
            states = self._states(connection)
        return tuple(self._row([scalar(value) for value in values]) for values in found), states

    def last_order(self) -> int:
        """The order of the last committed row; 0 when there is none."""
        with open_database(self.database) as connection:
            return int(connection.execute(self._schema(connection).last_order()).get or 0)

    def triggers(self) -> tuple[Trigger, ...]:
        """Every trigger of the database that is not the journal's, by name, as SQLite keeps its text."""
        with open_database(self.database) as connection:
            own = self._schema(connection).texts().keys()
            made = sorted(_made(connection).items())
        return tuple(Trigger(name, sql) for (kind, name), sql in made if kind == "trigger" and (kind, name) not in own)

    def stands(self) -> bool:
        """Whether every table and trigger of the journal is still there with the text that it was made with."""
        with open_database(self.database) as connection:
            return self._schema(connection).texts().items() <= _made(connection).items()

    def remove(self) -> None:
        """Take the journal out of the database, with its rows; nothing of it is left. Safe to call twice."""
        with open_database(self.database) as connection, _immediate(connection):
            for statement in self._schema(connection).removal():
                connection.execute(statement)

    def bound_row(self, key: Row) -> BoundRow | None:
        """The row of the bound table with this key, by SELECT; None when there is none."""
        with open_database(self.database) as connection:
            return select_row(connection, self.binding, key)

    def settle(self) -> None:
        """Nothing to wait for: a process that is dead holds no lock on a file, and its transaction is gone."""

    def environment(self) -> Environment:
        """Where the proof runs, and what the file is in now."""
        return describe_environment(self.database)

    def _schema(self, connection: apsw.Connection) -> JournalSchema:
        table = self.binding.table
        return JournalSchema(self.binding, table_columns(connection, table), read_unique_indexes(connection, table))

    def _states(self, connection: apsw.Connection) -> States:
        found = connection.execute(self._schema(connection).states()).fetchall()
        rows = [[scalar(value) for value in values] for values in found]
        return {tuple(zip(self.binding.key, keys, strict=True)): state for state, *keys in rows}

    def _row(self, values: list[Scalar]) -> JournalRow:
        order, operation, kind, old_state, new_state, *images = values
        keys, watch = self.binding.key, self.binding.watch
        key, old = images[: len(keys)], images[len(keys) : len(keys) + len(watch)]
        new = images[len(keys) + len(watch) :]
        return JournalRow(
            order=int(order or 0),
            operation=str(operation),
            kind=JournalKind(str(kind)),
            key=tuple(zip(keys, key, strict=True)),
            old_state=old_state,
            new_state=new_state,
            old_watched=() if operation == "insert" else tuple(zip(watch, old, strict=True)),
            new_watched=() if operation == "delete" else tuple(zip(watch, new, strict=True)),
        )


@contextmanager
def _immediate(connection: apsw.Connection) -> Iterator[None]:
    """One transaction that takes the write lock at its start, so that it waits for the lock and never deadlocks."""
    connection.execute("BEGIN IMMEDIATE")
    try:
        yield
    except BaseException:
        if connection.in_transaction:
            connection.execute("ROLLBACK")
        raise
    connection.execute("COMMIT")


def _made(connection: apsw.Connection) -> dict[tuple[str, str], str]:
    """The SQL of every table and trigger of the database by (type, name)."""
    found = connection.execute("SELECT type, name, sql FROM sqlite_schema WHERE type IN ('table', 'trigger')")
    return {(str(kind), str(name)): str(sql) for kind, name, sql in found}
