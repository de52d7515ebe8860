"""The journal: one row for each insert, update and delete of a bound row, written by triggers in its transaction.

Two engines keep one: SQLite (:mod:`arrowproof.conformance.sqlite_journal`) and PostgreSQL
(:mod:`arrowproof.conformance.postgresql_journal`). What they promise is the same; each says in its own docstring by
which rules of its database it holds. The rows are of three kinds: the state changed; the state was named and left as it
was; a touch.
"""

from __future__ import annotations

from pathlib import Path
from typing import Protocol

from arrowproof.conformance.balance import States
from arrowproof.conformance.database_triggers import Trigger
from arrowproof.conformance.rows import BoundRow
from arrowproof.conformance.sqlite_journal import SQLiteJournal
from arrowproof.model.evidence import Environment, JournalRow, Row
from arrowproof.model.lifecycle import Binding

Address = Path | str
"""Where a database is: a SQLite file, or a PostgreSQL server by its URL."""


class Journal(Protocol):
    """The journal of one bound table in one database. Every method raises InputError when the database refuses it."""

    @property
    def binding(self) -> Binding:
        """The bound table."""

    def install(self) -> States:
        """Make the journal in one transaction; rows that are there already are its start.

        Returns:
            The states that the journal starts from.

        Raises:
            InputError: the table, a column or a unique key is missing, or a journal is there already.
        """

    def rows(self, after: int = 0) -> tuple[JournalRow, ...]:
        """The committed rows whose order is greater than ``after``, in order."""

    def rows_and_states(self) -> tuple[tuple[JournalRow, ...], States]:
        """Every committed row, and the state of every row of the bound table at the same moment."""

    def last_order(self) -> int:
        """The order of the last committed row; 0 when there is none."""

    def triggers(self) -> tuple[Trigger, ...]:
        """Every trigger of the database that is not the journal's, by name."""

    def stands(self) -> bool:
        """Whether everything of the journal is still there as it was made."""

    def remove(self) -> None:
        """Take the journal out of the database, with its rows; nothing of it is left. Safe to call twice."""

    def bound_row(self, key: Row) -> BoundRow | None:
        """The row of the bound table with this key, by SELECT; None when there is none."""

    def settle(self) -> None:
        """Wait until every transaction that is open now has ended, such as that of a process that was killed.

        Raises:
            DriverError: one is open for too long.
        """

    def environment(self) -> Environment:
        """Where the proof runs, and on which database."""


def open_journal(address: Address, binding: Binding) -> Journal:
    """The journal of a bound table in the database at ``address``; nothing is opened yet.

    Raises:
        MissingEnvironmentError: psycopg is missing, for a PostgreSQL URL.
    """
    if isinstance(address, Path):
        return SQLiteJournal(address, binding)
    from arrowproof.conformance.postgresql_journal import PostgresJournal

    return PostgresJournal(address, binding)
