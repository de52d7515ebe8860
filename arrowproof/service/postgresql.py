"""PostgreSQL: a connection to a notes database on a server, and the checks before it may be used.

The tables stand in the schema that new tables go to (``search_path``), marked by the table ``notes_service``. Who only
works on a database (the worker) makes nothing; the server makes the tables where none of them stands yet. Settings of
the server are left alone; what they mean for durability is told at the start (:mod:`arrowproof.service.durability`).
What a connection asks for, whatever its role has by default, is told in :mod:`arrowproof.service.postgresql_session`.

Needs PostgreSQL 14 or later and a database in UTF-8. A connection pooler in between (PgBouncer, for example) has to
pool by session: settings, prepared statements and LISTEN belong to a session, and one that pools by transaction or by
statement gives each transaction another.
"""

from __future__ import annotations

import platform
import time
from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import Final

import psycopg
from psycopg import errors
from psycopg.pq import TransactionStatus

from arrowproof.service.database import (
    BUSY_SECONDS,
    SCHEMA_VERSION,
    ConnectionLostError,
    DatabaseError,
    Value,
)
from arrowproof.service.postgresql_exchange import Answer, Exchange, Question
from arrowproof.service.postgresql_session import PostgresSession, open_session, own_errors, postgres_statements
from arrowproof.service.queries import schema_statements
from arrowproof.service.refusal import RefusedError

_RECONNECT_SECONDS: Final = 0.1
_SETS_SAVEPOINT: Final = {"begin": False, "savepoint": True, "release_savepoint": False}


class PostgresDatabase:
    """One connection to a server. See :class:`arrowproof.service.database.Database`.

    What is said later, and the begin of a transaction, goes to the server with the next statement, in one round trip
    (:mod:`arrowproof.service.postgresql_exchange`). A statement said later that fails takes its transaction with it,
    since what came behind was meant to stand on it. Behind a savepoint it goes on to stand, and can be rolled back to
    that.

    A connection that was lost outside of a transaction is made anew; a server that has crashed is given the busy time
    to come back, so that an attempt that crashed it can be counted. One that is lost within a transaction is an error
    until the transaction is rolled back. One of which the prepared statements have gone bad is given up likewise.
    """

    def __init__(self, url: str, busy_seconds: float = BUSY_SECONDS, *, rings: bool = False) -> None:
        self._url = url
        self._busy_seconds = busy_seconds
        self._rings = rings
        self._later: list[Question] = []
        self._began = False
        self._has_savepoint = False
        self._facts: Mapping[str, str] = {}
        self._connect()

    def _connect(self) -> None:
        self._connection = open_session(self._url, self._busy_seconds)
        self._exchange = Exchange(self._connection, postgres_statements())

    @property
    def facts(self) -> Mapping[str, str]:
        """Versions, and the settings that decide whether a commit outlives a power cut."""
        if not self._facts:
            ((version, fsync, commit, pages, *_),) = self.rows("read_settings")
            self._facts = {
                "python": platform.python_version(),
                "psycopg": psycopg.__version__,
                "postgresql": f"{version}",
                "fsync": str(fsync),
                "synchronous_commit": str(commit),
                "full_page_writes": str(pages),
            }
        return self._facts

    @property
    def connection(self) -> PostgresSession:
        """The connection itself, for what is no query: to listen for notifications."""
        return self._connection

    @property
    def in_transaction(self) -> bool:
        """Whether a transaction stands, aborted or not, or is to begin with the next statement."""
        return bool(self._later) or self._is_begun()

    @property
    def has_savepoint(self) -> bool:
        """Whether a savepoint stands to which the transaction can be rolled back."""
        return self._has_savepoint and self._is_begun()

    def _is_begun(self) -> bool:
        return self._connection.info.transaction_status in (TransactionStatus.INTRANS, TransactionStatus.INERROR)

    def _is_aborted(self) -> bool:
        return self._connection.info.transaction_status == TransactionStatus.INERROR

    def begin(self) -> None:
        """Begin a transaction with the next statement; a connection that was lost since the last is made anew."""
        self.later("begin")

    def commit(self) -> None:
        """Make the work of the transaction durable, and wake the workers with it, if asked to.

        Raises:
            DatabaseError: also when the transaction was aborted, which PostgreSQL itself calls no error.
        """
        if self._is_aborted():
            # Perhaps a rollback to the savepoint was said, and it is not aborted any more.
            self.settle()
        aborted = self._is_aborted()
        if self._rings and not aborted:
            self.later("announce_due_job")
        self._ask("commit")
        self._began = False
        self._give_up_stale()
        if aborted:
            raise DatabaseError("InFailedSqlTransaction: the transaction was aborted, and is rolled back")

    def rows(self, query: str, **parameters: Value) -> list[tuple[Value, ...]]:
        """Run a named query to its end and give every row."""
        return self._ask(query, parameters).rows

    def row(self, query: str, **parameters: Value) -> tuple[Value, ...] | None:
        """Run a named query to its end and give its first row, or None."""
        return next(iter(self.rows(query, **parameters)), None)

    def change(self, query: str, **parameters: Value) -> int:
        """Run a named INSERT, UPDATE or DELETE and give the number of rows that it changed, triggers not counted."""
        return self._ask(query, parameters).changed

    def later(self, query: str, **parameters: Value) -> None:
        """Run a named statement with the next one, which raises its error when it fails."""
        self._later.append(Question(query, parameters))

    def change_one(self, query: str, *, job_id: int, **parameters: Value) -> None:
        """Run a named statement with the next one, which raises its error when it fails or changes no row of a job."""
        self._later.append(Question(query, {"job_id": job_id, **parameters}, changes_one=True))

    def settle(self) -> None:
        """Have done what was said later."""
        if self._later:
            self._put()

    def stand_still(self) -> None:
        """Have done what was said later, and the transaction stand however long nothing more is said in it."""
        self.settle()
        if self._connection.info.transaction_status == TransactionStatus.INTRANS:
            self._ask("allow_silence")

    def run(self, statement: str) -> None:
        """Run a statement that is no named query: one that makes a table, or listens."""
        self.settle()
        with own_errors(self._connection):
            self._connection.execute(statement)

    def roll_back(self) -> None:
        """Drop the transaction, if one still stands. When the connection is lost, the server has dropped it."""
        self._later.clear()
        try:
            if self._is_begun():
                self._ask("rollback")
        except ConnectionLostError:
            pass
        finally:
            self._began = False
            self._give_up_stale()

    def close(self) -> None:
        """Close the connection; what is not committed is lost."""
        self._connection.close()

    def _give_up_stale(self) -> None:
        """Close a connection that has gone bad, once no transaction stands; the next statement is given another."""
        if self._connection.is_stale:
            self._connection.close()

    def _reconnect(self) -> None:
        """Connect once more, again and again for the busy time when the server does not answer."""
        deadline = time.monotonic() + self._busy_seconds
        while True:
            try:
                self._connect()
                return
            except DatabaseError:
                if time.monotonic() >= deadline:
                    raise
            time.sleep(_RECONNECT_SECONDS)

    def _ask(self, query: str, parameters: Mapping[str, Value] = MappingProxyType({})) -> Answer:
        """Have done what was said later and then this, and give its answer."""
        question = Question(query, parameters)
        self._put(question)
        assert question.answer is not None
        return question.answer

    def _put(self, *questions: Question) -> None:
        """Put what was said later and then these. When one of the former fails, the transaction is rolled back.

        Not so behind a savepoint: whoever said that one knows how to go on.
        """
        later, self._later = self._later, []
        try:
            self._send([*later, *questions])
        except ConnectionLostError:
            raise
        except DatabaseError:
            if any(question.answer is None for question in later) and not self.has_savepoint:
                self.roll_back()
            raise

    def _send(self, questions: Sequence[Question]) -> None:
        began = self._began
        if self._connection.closed:
            if began:
                raise ConnectionLostError("OperationalError: the connection was lost within a transaction")
            self._reconnect()
        self._began = began or questions[0].query == "begin"
        try:
            with own_errors(self._connection):
                self._exchange.ask(questions)
        except ConnectionLostError as error:
            if began and self._connection.is_stale:
                # The server lives, and has refused the commit: that is known, whatever the session is good for.
                raise DatabaseError(str(error)) from error.__cause__
            if began or not _can_be_repeated(questions):
                raise
            # It was lost while nobody looked, or before anything was committed on it, so nothing is done twice.
            self._reconnect()
            with own_errors(self._connection):
                self._exchange.ask(questions)
        finally:
            self._note_savepoint(questions)

    def _note_savepoint(self, questions: Sequence[Question]) -> None:
        """Of the savepoint, remember whether it was set and not released by what was done of these questions."""
        for question in questions:
            if question.answer is not None and question.query in _SETS_SAVEPOINT:
                self._has_savepoint = _SETS_SAVEPOINT[question.query]


def _can_be_repeated(questions: Sequence[Question]) -> bool:
    """Whether nothing of this is done for good: it only reads, or begins a transaction and does not commit it."""
    queries = [question.query for question in questions]
    statements = postgres_statements()
    return (queries[0] == "begin" and "commit" not in queries) or all(
        statements[query].text.startswith(b"SELECT") for query in queries
    )


def open_postgresql(
    url: str, shown: str, *, create: bool = False, busy_seconds: float = BUSY_SECONDS, rings: bool = False
) -> PostgresDatabase:
    """Open a notes database, checked first.

    Args:
        url: Where it is, as libpq takes it.
        shown: The same without a password, for messages.
        create: Whether to make the tables when none of them is there.
        busy_seconds: How long a statement waits for another process's lock.
        rings: Whether each commit wakes the workers that listen.

    Raises:
        RefusedError: the server cannot be reached, or what is there is no notes database of this version.
        DatabaseError: the database failed.
    """
    try:
        database = PostgresDatabase(url, busy_seconds, rings=rings)
    except DatabaseError as error:
        raise RefusedError(f"{shown} cannot be opened: {error}") from error
    try:
        _prepare(database, shown, create)
    except DatabaseError as error:
        database.close()
        if isinstance(error.__cause__, errors.InsufficientPrivilege):
            raise RefusedError(f"{shown} cannot be used: {error}; grant it to the role, or give another") from error
        raise
    except BaseException:
        database.close()
        raise
    return database


def _prepare(database: PostgresDatabase, shown: str, create: bool) -> None:
    ((*_, read_only, encoding),) = database.rows("read_settings")
    if encoding != "UTF8":
        raise RefusedError(f"{shown} holds text as {encoding}, which has no room for every note; use one in UTF8")
    version = _read_version(database, shown)
    if version is None and create:
        _initialise(database, shown)
        version = _read_version(database, shown)
    if version is None:
        raise RefusedError(f"{shown} is no database of the notes service; start the server on it first")
    if version != SCHEMA_VERSION:
        raise RefusedError(
            f"{shown} has schema version {version}, and this service works with version {SCHEMA_VERSION} only; "
            "it was left as it is: use the release that made it, or give another --db"
        )
    if read_only != "off":
        raise RefusedError(f"{shown} takes no writes (transaction_read_only is {read_only}); give another --db")


def _read_version(database: PostgresDatabase, shown: str) -> Value:
    """The schema version of the tables, or None when the database is not marked as one of the service."""
    ((schema, marked),) = database.rows("find_service_table")
    if schema is None:
        raise RefusedError(f"{shown} has no schema for the tables: make one that search_path names")
    row = database.row("schema_version") if marked else None
    return row[0] if row else None


def _initialise(database: PostgresDatabase, shown: str) -> None:
    """Make the tables, in one transaction, unless another process has just done so."""
    database.begin()
    try:
        database.rows("lock_schema")
        if _read_version(database, shown) is None:
            foreign = ", ".join(str(name) for (name,) in database.rows("find_foreign_tables"))
            if foreign:
                raise RefusedError(f"{shown} holds tables of something else ({foreign}); give another --db")
            for statement in schema_statements("postgresql"):
                database.run(statement)
        database.commit()
    finally:
        database.roll_back()
