"""The wake-up: how a resident worker that waits learns at once of a job that has become due.

Who waits has a :class:`Waker`; who makes a job due opens its database so that it rings
(:meth:`arrowproof.service.address.Address.open`): for every commit, since the server makes few that make no job due,
and a look for nothing costs little. On SQLite the two meet at a FIFO beside the file, on PostgreSQL by LISTEN and
NOTIFY; see :mod:`arrowproof.service.wake_fifo` and :mod:`arrowproof.service.wake_postgresql`. A wake-up is a courtesy:
no job depends on it, for a worker also looks when its poll interval is over.
"""

from __future__ import annotations

from pathlib import Path
from typing import Protocol

from arrowproof.service.address import Address


class Waker(Protocol):
    """What wakes a worker. Its file descriptor is readable from the moment that a job became due until it is drained.

    To be drained before a look for jobs and not after it: what comes during the look then wakes the wait that follows.
    """

    def fileno(self) -> int:
        """The file descriptor to wait for."""

    def drain(self) -> None:
        """Take away what has come so far.

        Raises:
            DatabaseError: nothing will ever come again, for the connection or the FIFO is lost.
        """

    def close(self) -> None:
        """Give up what it holds open."""


def open_waker(address: Address) -> Waker:
    """The waker of a database, which must be a notes database.

    Raises:
        DatabaseError: it cannot be had; the message says why. A worker can do without.
    """
    # The driver of the other database is not loaded.
    if address.is_postgresql:
        from arrowproof.service.wake_postgresql import ChannelWaker

        return ChannelWaker(address)
    from arrowproof.service.wake_fifo import FifoWaker

    return FifoWaker(Path(address.given))
