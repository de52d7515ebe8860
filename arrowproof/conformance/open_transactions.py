"""The transactions that are open in a PostgreSQL database, and the wait until they have ended.

After a process was killed, its transaction stays open until the server finds the connection closed. Meanwhile its rows
stay locked, and a statement that is at work or waits would still be done.
"""

from __future__ import annotations

from arrowproof.conformance.driver import DriverError
from arrowproof.conformance.postgresql_rows import open_server
from arrowproof.conformance.waiting import comes_true

SETTLE_SECONDS = 30.0
"""How long a transaction may stay open after what it belonged to was killed."""

_OPEN = """SELECT pid, xact_start FROM pg_stat_activity
WHERE datname = current_database() AND pid <> pg_backend_pid() AND xact_start IS NOT NULL
    AND backend_type = 'client backend'"""


def settle(url: str) -> None:
    """Wait until every transaction that is open now in the database of ``url`` has ended.

    A statement at work, or one that waits for a lock, ends before its time only where the server looks after its
    clients (``client_connection_check_interval``).

    Raises:
        DriverError: one is still open after :data:`SETTLE_SECONDS`.
        InputError: the server cannot be asked.
    """
    with open_server(url) as connection:
        left = set(connection.execute(_OPEN).fetchall())

        def have_ended() -> bool:
            left.intersection_update(connection.execute(_OPEN).fetchall())
            return not left

        if left and not comes_true(have_ended, SETTLE_SECONDS):
            backends = ", ".join(str(pid) for pid, _ in sorted(left))
            raise DriverError(f"A transaction stays open {SETTLE_SECONDS:g} s later, of backend {backends}.")
