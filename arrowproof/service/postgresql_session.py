"""The session: one connection to a PostgreSQL server, set as the service needs it, and bounded in every wait.

A server whose machine has vanished answers nothing, not even that it is gone. So the kernel is asked to give up what is
not acknowledged and to look after connections that say nothing (``tcp_user_timeout`` and ``keepalives``), a statement
is ended by the server after the time to wait for a lock and a minute more (``statement_timeout``), and who waits for
its answer gives up ten seconds later. The other way round, a client that was stopped within a transaction would keep
its locks for ever, so the server ends one that says nothing for a minute (``idle_in_transaction_session_timeout``).
What the URL names of these is kept, and so are the timeouts of the role or the database. A service file cannot name
them, except for those.

A session can also go bad without being lost: its prepared statements do not fit a column of which somebody changed the
type, or a pooler threw them away. They fail again and again then, and only a new session is rid of them.
"""

from __future__ import annotations

import os
import re
import time
from collections.abc import Generator, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cache
from typing import Any, Final, TypeVar, cast

import psycopg
from psycopg import errors
from psycopg.abc import Buffer
from psycopg.adapt import Loader
from psycopg.conninfo import conninfo_to_dict, make_conninfo
from psycopg.pq import TransactionStatus

from arrowproof.service.database import BusyError, ConnectionLostError, DatabaseError, Value, bounded
from arrowproof.service.queries import service_queries

CONNECT_SECONDS: Final = 10
STATEMENT_SECONDS: Final = 60.0
"""How long a statement may take at most, beyond the time to wait for a lock."""
SILENCE_SECONDS: Final = 10.0
"""How much longer its answer is waited for."""
IDLE_SECONDS: Final = 60.0
"""How long a client may say nothing within a transaction."""
_USUAL: Final = {
    "connect_timeout": CONNECT_SECONDS,
    "keepalives_idle": 30,
    "keepalives_interval": 10,
    "keepalives_count": 3,
    "tcp_user_timeout": 30_000,
}
"""In seconds, but for the last, which is in milliseconds."""
_BUSY = (errors.LockNotAvailable, errors.DeadlockDetected, errors.SerializationFailure)
_STALE = (errors.FeatureNotSupported, errors.InvalidSqlStatementName, errors.DuplicatePreparedStatement)
"""How a prepared statement fails that the session is not rid of; the first is "cached plan must not change …"."""
NO_ROW: Final = errors.InvalidArgumentForLogarithm
"""How a statement fails that had to change a row; see ``changing_one``. None of the service's own takes a logarithm."""
_MOMENT = re.compile(r"(\d{4}-\d\d-\d\d) (\d\d:\d\d:\d\d)(?:\.(\d+))?\+00")
_PARAMETER = re.compile(r"(?<![:\w]):([a-z][a-z0-9_]*)")
_Answer = TypeVar("_Answer")


class PostgresSession(psycopg.Connection[tuple[Any, ...]]):
    """A connection that does not wait for an answer for ever."""

    patience = STATEMENT_SECONDS
    is_stale = False
    """Whether its prepared statements have gone bad; to be closed once no transaction stands."""

    def wait(self, gen: Generator[Any, Any, _Answer], *arguments: Any, **named: Any) -> _Answer:
        """Wait as psycopg does, which looks up ten times a second, but no longer than ``patience``, in seconds.

        Raises:
            psycopg.OperationalError: no answer came; the connection is closed.
        """
        return super().wait(self._until_deadline(gen, self.patience), *arguments, **named)

    def wait_for_all(self, gen: Generator[Any, Any, _Answer], statements: int) -> _Answer:
        """Wait for the answers to statements that went together. Each may take its time, and all come with the last.

        Raises: as ``wait``.
        """
        return super().wait(self._until_deadline(gen, statements * self.patience))

    def _until_deadline(self, answer: Generator[Any, Any, _Answer], seconds: float) -> Generator[Any, Any, _Answer]:
        deadline = time.monotonic() + seconds
        try:
            awaited = next(answer)
            while True:
                ready = yield awaited
                if not ready and time.monotonic() > deadline:
                    self.pgconn.finish()
                    raise psycopg.OperationalError(f"the server has not answered for {seconds:.0f} s")
                awaited = answer.send(ready)
        except StopIteration as end:
            return cast(_Answer, end.value)


class _MomentLoader(Loader):
    """A timestamptz as RFC 3339 text with milliseconds; the connection's time zone is UTC."""

    def load(self, data: Buffer) -> str:
        """``2026-11-29 15:09:02.118456+00`` as ``2026-11-29T15:09:02.118Z``.

        What RFC 3339 cannot say stays as PostgreSQL says it: infinity, and years before 1 and after 9999.
        """
        text = bytes(data).decode("ascii")
        match = _MOMENT.fullmatch(text)
        return f"{match[1]}T{match[2]}.{match[3] or '':0<3.3}Z" if match else text


def open_session(url: str, busy_seconds: float) -> PostgresSession:
    """Connect, and set what the service needs.

    Args:
        url: Where the server is, as libpq takes it.
        busy_seconds: How long a statement waits for another process's lock.

    Raises:
        DatabaseError: the server cannot be reached, or does not let us in.
    """
    with own_errors():
        session = PostgresSession.connect(_conninfo(url), autocommit=True)
    session.adapters.register_loader("timestamptz", _MomentLoader)
    try:
        with own_errors():
            prepare = postgres_statements()["prepare_session"]
            asked = {
                "lock_timeout": f"{max(1, int(busy_seconds * 1000))}ms",
                "statement_timeout": f"{int((busy_seconds + STATEMENT_SECONDS) * 1000)}ms",
                "idle_timeout": f"{int(IDLE_SECONDS * 1000)}ms",
            }
            cursor = psycopg.RawCursor(session)
            cursor.execute(prepare.text, [asked[name] for name in prepare.names])
            ((*_, statement_seconds),) = cursor.fetchall()
    except BaseException:
        session.close()
        raise
    session.patience = statement_seconds + SILENCE_SECONDS
    return session


@contextmanager
def own_errors(session: PostgresSession | None = None) -> Iterator[None]:
    """Has an error of psycopg raised as one of the service's own; the connection tells whether it was lost.

    One that has gone bad is closed, and is lost then, unless a transaction stands.
    """
    try:
        yield
    except psycopg.Error as error:
        # The message alone: what follows it speaks of the statement and of where in a function it stood.
        said = bounded(f"{type(error).__name__}: {error.diag.message_primary or error}")
        if session is not None and isinstance(error, _STALE):
            session.is_stale = True
            if session.info.transaction_status == TransactionStatus.IDLE:
                session.close()
        if session is not None and session.closed:
            raise ConnectionLostError(said) from error
        if isinstance(error, _BUSY):
            raise BusyError(said) from error
        raise DatabaseError(said) from error


def _conninfo(url: str) -> str:
    """The address with what the service asks for on top, and what it asks for unless the user does."""
    named = conninfo_to_dict(url)
    usual = {name: value for name, value in _USUAL.items() if name not in named}
    if "PGCONNECT_TIMEOUT" in os.environ:
        usual.pop("connect_timeout", None)
    return make_conninfo(url, client_encoding="UTF8", fallback_application_name="arrowproof-notes", **usual)


@dataclass(frozen=True)
class PostgresStatement:
    """A named query as libpq takes it: its parameters are ``$1``, ``$2`` and so on, ``names`` in this order."""

    text: bytes
    names: tuple[str, ...]

    def arguments(self, parameters: Mapping[str, Value]) -> list[bytes | None]:
        """The parameters as text, in their order; what type each is the server knows.

        Raises:
            psycopg.DataError: a text with a NUL, which PostgreSQL cannot hold, and libpq would cut off there.
        """
        return [_as_text(parameters[name]) for name in self.names]


def _as_text(value: Value) -> bytes | None:
    if value is None:
        return None
    text = str(value).encode("utf-8")
    if b"\x00" in text:
        raise psycopg.DataError("PostgreSQL text fields cannot contain NUL (0x00) bytes")
    return text


def changing_one(query: str) -> str:
    """The name of the statement that does what a named query does, and fails when that changes no row."""
    return f"{query}, one row"


@cache
def postgres_statements() -> Mapping[str, PostgresStatement]:
    """The queries by name, and those that change a row once more, by the name that ``changing_one`` gives."""
    statements = {name: _numbered(statement) for name, statement in service_queries("postgresql").items()}
    changing = {
        changing_one(name): PostgresStatement(_failing_without_row(statement.text), statement.names)
        for name, statement in statements.items()
        if statement.text.startswith((b"INSERT", b"UPDATE")) and b"RETURNING" not in statement.text
    }
    return {**statements, **changing}


def _failing_without_row(statement: bytes) -> bytes:
    """The statement within one that the server refuses when no row was changed, by the error ``NO_ROW``.

    How many rows a statement has changed is told to the client, and what stands behind it in the same exchange, the
    commit too, is done before the client knows. SQL has no assertion; but zero has no logarithm.
    """
    return b"WITH changed AS (" + statement.rstrip(b";") + b" RETURNING 1) SELECT ln(count(*)) FROM changed;"


def _numbered(statement: str) -> PostgresStatement:
    names = tuple(dict.fromkeys(_PARAMETER.findall(statement)))
    text = _PARAMETER.sub(lambda match: f"${names.index(match[1]) + 1}", statement)
    return PostgresStatement(text.encode("utf-8"), names)
