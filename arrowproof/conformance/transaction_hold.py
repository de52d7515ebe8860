"""The hold: a transaction that waits inside of a trigger, on a PostgreSQL server, until it is let go.

A trigger on the bound table asks for an advisory lock when the wanted row makes the wanted change, and only then. This
session has the lock meanwhile: whoever makes the change waits, with everything done that came before it and nothing
committed. When its client is killed there, the server ends the transaction as soon as it looks after its clients. Until
that backend has gone the lock must stay: a statement that is let go commits after all, if it is its own transaction.

:func:`hold_first_write` has whoever writes next wait ahead of its write: its statement has its snapshot by then and no
lock of any row. What another commits meanwhile it does not see unless it looks again.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from arrowproof.conformance.driver import DriverError
from arrowproof.conformance.open_transactions import SETTLE_SECONDS
from arrowproof.conformance.postgresql_journal_schema import JournalQueries, literal
from arrowproof.conformance.postgresql_rows import BoundTable, bound_table, open_server
from arrowproof.conformance.rows import quote
from arrowproof.conformance.waiting import comes_true
from arrowproof.model.evidence import Row, Scalar
from arrowproof.model.lifecycle import Binding, Lifecycle
from arrowproof.model.record import record
from arrowproof.model.transitions import Transition

if TYPE_CHECKING:
    from psycopg import Connection

_LOCK_CLASS = 1095914835
"""The first number of the advisory locks; the second is the table's."""

_TRIGGER = '"00_arrowproof_9_hold"'


@record
class HeldChange:
    """Which change is to wait: of the row ``key`` (any row when it is None), from one value of its state to another.

    ``source`` is None for a creation, ``target`` for a removal; else each is a tuple of the one value.
    """

    key: Row | None
    source: tuple[Scalar] | None
    target: tuple[Scalar] | None

    @classmethod
    def of(cls, lifecycle: Lifecycle, transition: Transition, key: Row | None) -> HeldChange:
        """The change that a transition of a model makes to a row; ``key`` is None for a creation."""
        values = {state.id: state.value for state in lifecycle.stored_states}
        source, target = (None if end is None else (values[end],) for end in (transition.source, transition.target))
        return cls(key, source, target)


@record
class Hold:
    """A hold that stands. ``connection`` has the lock; ``schema`` has the function that asks for it."""

    connection: Connection[Any]
    lock: tuple[int, int]
    schema: str

    def await_held(self, is_over: Callable[[], bool]) -> int | None:
        """Wait until a transaction waits here; its backend. None when what was to make the change is over before that.

        Raises:
            DriverError: neither comes.
        """
        waiting = "SELECT pid FROM pg_locks WHERE locktype = 'advisory' AND NOT granted AND classid = %s AND objid = %s"
        held: list[int] = []

        def is_held_or_over() -> bool:
            was_over = is_over()
            held.extend(int(pid) for (pid,) in self.connection.execute(waiting, self.lock).fetchall())
            return was_over or bool(held)

        if not comes_true(is_held_or_over, SETTLE_SECONDS):
            raise DriverError(f"Nothing made the change within {SETTLE_SECONDS:g} s.")
        return held[0] if held else None

    def let_pass(self) -> None:
        """Hold nobody any more but who waits here already."""
        self.connection.execute(_function(self.schema, "RETURN NULL;"))

    def release(self) -> None:
        """Let go of who waits here. Once: the end of the block releases what is not released yet."""
        self.connection.execute("SELECT pg_advisory_unlock(%s, %s::int)", self.lock)

    def waiting(self) -> int:
        """How many transactions of this database wait for a lock, other than who is held here."""
        held = "locktype = 'advisory' AND classid = %s AND objid = %s"
        query = f"""SELECT count(DISTINCT pid) FROM pg_locks JOIN pg_stat_activity USING (pid)
WHERE NOT granted AND NOT ({held}) AND datname = current_database() AND backend_type = 'client backend'"""
        found = self.connection.execute(query, self.lock).fetchone()
        return 0 if found is None else int(found[0])

    def has_others_waiting(self, backend: int) -> bool:
        """Whether a transaction of this database waits for a lock that a backend has, or asked for before it."""
        query = """SELECT FROM pg_stat_activity WHERE %s = ANY (pg_blocking_pids(pid))
AND datname = current_database() AND backend_type = 'client backend'"""
        return self.connection.execute(query, (backend,)).fetchone() is not None

    def end(self, backend: int) -> None:
        """Have the server end a backend, which tells its client so."""
        self.connection.execute("SELECT pg_terminate_backend(%s)", (backend,))

    def await_gone(self, backend: int) -> None:
        """Wait until the server has ended a backend.

        Raises:
            DriverError: it does not.
        """
        at_work = "SELECT FROM pg_stat_activity WHERE pid = %s"
        if not comes_true(lambda: self.connection.execute(at_work, (backend,)).fetchone() is None, SETTLE_SECONDS):
            raise DriverError(
                f"The server still works for a client that went {SETTLE_SECONDS:g} s ago (backend {backend});"
                " set client_connection_check_interval for its database."
            )


@contextmanager
def hold_transaction(url: str, binding: Binding, change: HeldChange) -> Iterator[Hold]:
    """Have the transaction that makes a change wait until the end of the block; its journal must be installed.

    Raises:
        InputError: the database refuses it.
    """
    with open_server(url) as connection:
        table = bound_table(connection, binding)
        waits = f"IF {_is_wanted(table, binding, change)} THEN {_wait(table)} END IF; RETURN NULL;"
        with _held(connection, binding, table, waits, f"AFTER {_event(binding, change)}", "ROW") as hold:
            yield hold


@contextmanager
def hold_first_write(url: str, binding: Binding) -> Iterator[Hold]:
    """Have whoever writes to the bound table next wait ahead of that until the end of the block.

    Others wait too until :meth:`Hold.let_pass`.

    Raises:
        InputError: the database refuses it.
    """
    with open_server(url) as connection:
        table = bound_table(connection, binding)
        event = "BEFORE INSERT OR UPDATE OR DELETE"
        with _held(connection, binding, table, f"{_wait(table)} RETURN NULL;", event, "STATEMENT") as hold:
            yield hold


@contextmanager
def _held(
    connection: Connection[Any], binding: Binding, table: BoundTable, body: str, event: str, each: str
) -> Iterator[Hold]:
    """A trigger that runs ``body``, and the lock that it asks for, until the end of the block."""
    schema = JournalQueries(binding.table).schema
    hold = Hold(connection, (_LOCK_CLASS, table.oid), schema)
    with connection.transaction():
        connection.execute(_function(schema, body))
        on = f"CREATE TRIGGER {_TRIGGER} {event} ON {table.sql} FOR EACH {each} EXECUTE FUNCTION {schema}.hold()"
        connection.execute(on)
        connection.execute(f"ALTER TABLE {table.sql} ENABLE ALWAYS TRIGGER {_TRIGGER}")
    connection.execute("SELECT pg_advisory_lock(%s, %s::int)", hold.lock)
    try:
        yield hold
    finally:
        connection.execute("SET client_min_messages TO error")  # it may be released already, which is warned of
        hold.release()
        connection.execute(f"DROP FUNCTION {schema}.hold() CASCADE")


def _event(binding: Binding, change: HeldChange) -> str:
    if change.source is None:
        return "INSERT"
    if change.target is None:
        return "DELETE"
    # A touch ahead of a self-transition leaves the state alike, and does not name it.
    if change.source == change.target and binding.state is not None:
        return f"UPDATE OF {quote(binding.state)}"
    return "UPDATE"


def _is_wanted(table: BoundTable, binding: Binding, change: HeldChange) -> str:
    """The SQL condition that a row of a trigger makes the change."""
    conditions = []
    for row, value in (("OLD", change.source), ("NEW", change.target)):
        if value is not None:
            wanted = "IS NULL" if value[0] is None else f"= {literal(json.dumps(value[0]))}::jsonb"
            conditions.append(f"{table.state(binding, row)} {wanted}")
    if change.key is not None:
        row = "NEW" if change.source is None else "OLD"
        values = json.dumps([value for _, value in change.key])
        conditions.append(f"{table.values(binding.key, row)} = {literal(values)}::jsonb")
    return " AND ".join(conditions)


def _wait(table: BoundTable) -> str:
    return f"PERFORM pg_catalog.pg_advisory_xact_lock_shared({_LOCK_CLASS}, {table.oid}::int);"


def _function(schema: str, body: str) -> str:
    text = literal(f"#variable_conflict use_column\nBEGIN {body} END")
    return f"CREATE OR REPLACE FUNCTION {schema}.hold() RETURNS trigger LANGUAGE plpgsql AS {text}"
