"""The wake-up: how a resident worker that waits learns at once of a job that has become due.

Who waits has a :class:`Waker`; who makes a job due commits through a :class:`RingingDatabase`. On SQLite the two meet
at a FIFO beside the file, on PostgreSQL by LISTEN and NOTIFY; see :mod:`arrowproof.service.wake_fifo` and
:mod:`arrowproof.service.wake_postgresql`. A wake-up is a courtesy: no job depends on it, for a worker also looks when
its poll interval is over.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Protocol

from arrowproof.service.address import Address
from arrowproof.service.database import Database, Value


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


class Bell(Protocol):
    """What wakes the workers, called with a transaction that makes a job due."""

    def commit(self, database: Database) -> None:
        """Commit the transaction, and wake whoever waits for work on this database."""


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


def bell_of(address: Address) -> Bell:
    """The bell of a database."""
    if address.is_postgresql:
        from arrowproof.service.wake_postgresql import ChannelBell

        return ChannelBell()
    from arrowproof.service.wake_fifo import FifoBell

    return FifoBell(Path(address.given))


class RingingDatabase:
    """A database each of whose commits wakes the workers. See :class:`arrowproof.service.database.Database`.

    It rings for every commit: the server makes few that make no job due, and a look for nothing costs little.
    """

    def __init__(self, database: Database, bell: Bell) -> None:
        self._database = database
        self._bell = bell

    @property
    def facts(self) -> Mapping[str, str]:
        """What is worth knowing of the database, by name."""
        return self._database.facts

    @property
    def in_transaction(self) -> bool:
        """Whether a transaction stands."""
        return self._database.in_transaction

    def begin(self) -> None:
        """Begin a transaction."""
        self._database.begin()

    def commit(self) -> None:
        """Make the work of the transaction durable, and wake the workers."""
        self._bell.commit(self._database)

    def rows(self, query: str, **parameters: Value) -> list[tuple[Value, ...]]:
        """Run a named query to its end and give every row."""
        return self._database.rows(query, **parameters)

    def row(self, query: str, **parameters: Value) -> tuple[Value, ...] | None:
        """Run a named query to its end and give its first row, or None."""
        return self._database.row(query, **parameters)

    def change(self, query: str, **parameters: Value) -> int:
        """Run a named INSERT, UPDATE or DELETE and give the number of rows that it changed."""
        return self._database.change(query, **parameters)

    def roll_back(self) -> None:
        """Drop the transaction, if one still stands."""
        self._database.roll_back()

    def close(self) -> None:
        """Close the connection; what is not committed is lost."""
        self._database.close()
