"""The hold: a transaction that waits inside of a trigger, on a PostgreSQL server, until it is let go.

A trigger on the bound table asks for an advisory lock when the wanted row makes the wanted change, and only then. This
session has the lock meanwhile: whoever makes the change waits, with everything done that came before it and nothing
committed. When its client is killed there, the server ends the transaction as soon as it looks after its clients. Until
that backend has gone the lock must stay: a statement that is let go commits after all, if it is its own transaction.
"""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from arrowproof.conformance.driver import DriverError
from arrowproof.conformance.open_transactions import SETTLE_SECONDS
from arrowproof.conformance.postgresql_journal_schema import JournalQueries, literal
from arrowproof.conformance.postgresql_rows import BoundTable, bound_table, open_server
from arrowproof.conformance.rows import quote
from arrowproof.model.evidence import Row, Scalar
from arrowproof.model.lifecycle import Binding
from arrowproof.model.record import record

if TYPE_CHECKING:
    from psycopg import Connection

_LOCK_CLASS = 1095914835
"""The first number of the advisory locks; the second is the table's."""

_LOOK_SECONDS = 0.002
_TRIGGER = '"00_arrowproof_9_hold"'


@record
class HeldChange:
    """Which change is to wait: of the row ``key`` (any row when it is None), from one value of its state to another.

    ``source`` is None for a creation, ``target`` for a removal; else each is a tuple of the one value.
    """

    key: Row | None
    source: tuple[Scalar] | None
    target: tuple[Scalar] | None


@record
class Hold:
    """A hold that stands. ``connection`` has the lock."""

    connection: Connection[Any]
    lock: tuple[int, int]

    def await_held(self, is_over: Callable[[], bool]) -> int | None:
        """Wait until a transaction waits here; its backend. None when what was to make the change is over before that.

        Raises:
            DriverError: neither comes.
        """
        waiting = "SELECT pid FROM pg_locks WHERE locktype = 'advisory' AND NOT granted AND classid = %s AND objid = %s"
        deadline = time.monotonic() + SETTLE_SECONDS
        while time.monotonic() < deadline:
            was_over = is_over()
            found = self.connection.execute(waiting, self.lock).fetchone()
            if found is not None:
                return int(found[0])
            if was_over:
                return None
            time.sleep(_LOOK_SECONDS)
        raise DriverError(f"Nothing made the change within {SETTLE_SECONDS:g} s.")

    def await_gone(self, backend: int) -> None:
        """Wait until the server has ended a backend.

        Raises:
            DriverError: it does not.
        """
        deadline = time.monotonic() + SETTLE_SECONDS
        while self.connection.execute("SELECT FROM pg_stat_activity WHERE pid = %s", (backend,)).fetchone() is not None:
            if time.monotonic() > deadline:
                raise DriverError(
                    f"The server still works for a client that was killed {SETTLE_SECONDS:g} s ago (backend {backend});"
                    " set client_connection_check_interval for its database."
                )
            time.sleep(_LOOK_SECONDS)


@contextmanager
def hold_transaction(url: str, binding: Binding, change: HeldChange) -> Iterator[Hold]:
    """Have the transaction that makes a change wait until the end of the block; its journal must be installed.

    Raises:
        InputError: the database refuses it.
    """
    schema = JournalQueries(binding.table).schema
    with open_server(url) as connection:
        table = bound_table(connection, binding)
        lock = (_LOCK_CLASS, table.oid)
        with connection.transaction():
            connection.execute(_function(schema, table, binding, change, lock))
            event = _event(binding, change)
            on = f"CREATE TRIGGER {_TRIGGER} AFTER {event} ON {table.sql} FOR EACH ROW EXECUTE FUNCTION {schema}.hold()"
            connection.execute(on)
            connection.execute(f"ALTER TABLE {table.sql} ENABLE ALWAYS TRIGGER {_TRIGGER}")
        connection.execute("SELECT pg_advisory_lock(%s, %s::int)", lock)
        try:
            yield Hold(connection, lock)
        finally:
            connection.execute("SELECT pg_advisory_unlock(%s, %s::int)", lock)
            connection.execute("SET client_min_messages TO warning")
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


def _function(schema: str, table: BoundTable, binding: Binding, change: HeldChange, lock: tuple[int, int]) -> str:
    conditions = []
    for row, value in (("OLD", change.source), ("NEW", change.target)):
        if value is not None:
            wanted = "IS NULL" if value[0] is None else f"= {literal(json.dumps(value[0]))}::jsonb"
            conditions.append(f"{table.state(binding, row)} {wanted}")
    if change.key is not None:
        row = "NEW" if change.source is None else "OLD"
        values = json.dumps([value for _, value in change.key])
        conditions.append(f"{table.values(binding.key, row)} = {literal(values)}::jsonb")
    waits = f"PERFORM pg_catalog.pg_advisory_xact_lock_shared({lock[0]}, {lock[1]});"
    body = f"#variable_conflict use_column\nBEGIN IF {' AND '.join(conditions)} THEN {waits} END IF; RETURN NULL; END"
    return f"CREATE FUNCTION {schema}.hold() RETURNS trigger LANGUAGE plpgsql AS {literal(body)}"
