"""The two databases of the bundled service, as its driver works on them beside it.

Statements are the same for both; a fault is put in by a trigger in the manner of each.
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Protocol

from arrowproof.conformance.rows import open_database
from arrowproof.model.record import record

_ENDED = "terminating connection"
"""What PostgreSQL says when it ends one."""

_Rows = list[tuple[Any, ...]]


class NotesEngine(Protocol):
    """A database, which is opened for each thing that is done and closed again."""

    def run(self, statement: str) -> _Rows:
        """Run a statement and commit it; its rows."""

    def is_refused(self, statement: str) -> bool:
        """Whether a constraint refuses this statement, which is rolled back in any case."""

    def fault(self, action: str | None, said: str) -> Sequence[str]:
        """The statements that have history rows refused by this action of SQLite's RAISE, or taken when it is None.

        ``said`` is the message, without an apostrophe.
        """

    def error(self, action: str | None, said: str) -> str:
        """A part of the error of an attempt whose history row is refused by this action, with this message."""

    def now(self) -> datetime:
        """The present moment by the clock of the machine that the database is on."""

    def settle(self) -> None:
        """Wait until nothing of a process that was killed is left in the database.

        Raises:
            DriverError: a transaction stays open.
        """


@record
class SQLiteNotes:
    """A SQLite file. Nothing of a killed process is left in one."""

    file: Path

    def run(self, statement: str) -> _Rows:
        """Run a statement and commit it; its rows."""
        with open_database(self.file) as connection:
            return connection.execute(statement).fetchall()

    def is_refused(self, statement: str) -> bool:
        """Whether a constraint refuses this statement, which is rolled back in any case."""
        import apsw

        with open_database(self.file) as connection:
            connection.execute("BEGIN IMMEDIATE")
            try:
                connection.execute(statement)
            except apsw.ConstraintError:
                return True
            finally:
                connection.execute("ROLLBACK")
        return False

    def fault(self, action: str | None, said: str) -> Sequence[str]:
        """See :class:`NotesEngine`."""
        drop = "DROP TRIGGER IF EXISTS arrowproof_fault"
        if action is None:
            return (drop,)
        raised = f"SELECT RAISE({action}, '{said}');"
        return drop, f"CREATE TRIGGER arrowproof_fault AFTER INSERT ON note_events BEGIN {raised} END"

    def error(self, action: str | None, said: str) -> str:  # noqa: ARG002 - SQLite says the same of each
        """A part of the error of an attempt whose history row is refused by this action, with this message."""
        return said

    def now(self) -> datetime:
        """The present moment: a file is on this machine."""
        return datetime.now(UTC)

    def settle(self) -> None:
        """Nothing to wait for."""


@record
class PostgresNotes:
    """A database of a PostgreSQL server, in which a killed process leaves its transaction open for a moment."""

    url: str

    def run(self, statement: str) -> _Rows:
        """Run a statement and commit it; its rows."""
        from arrowproof.conformance.postgresql_rows import open_server

        with open_server(self.url) as connection:
            cursor = connection.execute(statement)
            return cursor.fetchall() if cursor.description else []

    def is_refused(self, statement: str) -> bool:
        """Whether a constraint refuses this statement, which is rolled back in any case."""
        import psycopg

        from arrowproof.conformance.postgresql_rows import open_server

        with open_server(self.url) as connection:
            try:
                with connection.transaction(force_rollback=True):
                    connection.execute(statement)
            except psycopg.IntegrityError:
                return True
        return False

    def fault(self, action: str | None, said: str) -> Sequence[str]:
        """See :class:`NotesEngine`. What ends the whole transaction in SQLite ends the connection as well here."""
        drop = "DROP FUNCTION IF EXISTS arrowproof_fault() CASCADE"
        if action is None:
            return (drop,)
        ends = "PERFORM pg_terminate_backend(pg_backend_pid());"
        body = f"BEGIN {ends if action == 'ROLLBACK' else f'RAISE EXCEPTION $said${said}$said$;'} RETURN NULL; END"
        return (
            drop,
            f"CREATE FUNCTION arrowproof_fault() RETURNS trigger LANGUAGE plpgsql AS $body$ {body} $body$",
            "CREATE TRIGGER arrowproof_fault AFTER INSERT ON note_events"
            " FOR EACH ROW EXECUTE FUNCTION arrowproof_fault()",
        )

    def error(self, action: str | None, said: str) -> str:
        """A part of the error of an attempt whose history row is refused by this action, with this message."""
        return _ENDED if action == "ROLLBACK" else said

    def now(self) -> datetime:
        """The present moment by the clock of the server."""
        ((now,),) = self.run("SELECT clock_timestamp()")
        assert isinstance(now, datetime)
        return now

    def settle(self) -> None:
        """Wait until every transaction that is open now has ended."""
        from arrowproof.conformance.open_transactions import settle

        settle(self.url)


def notes_engine(address: Path | str) -> NotesEngine:
    """The engine of a database by where it is: a file, or a PostgreSQL URL."""
    return SQLiteNotes(address) if isinstance(address, Path) else PostgresNotes(address)
