"""The pool: connections to one database, lent to one request at a time.

A SQLite file can be renamed, removed or replaced while connections to it are open, and they would go on writing to the
one that nobody finds any more. So the pool looks which file there is when it lends a connection, and once more when the
work on it is done: a connection to another file is closed, and work that was done on one has failed.
"""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from threading import BoundedSemaphore
from typing import Final

from arrowproof.service.address import MovedError
from arrowproof.service.database import BusyError, Database

USUAL_CONNECTIONS: Final = 10
MOST_CONNECTIONS: Final = 40
"""So many requests are worked on at once; more connections would never be used."""
MONITOR_CONNECTIONS: Final = 2
"""For the requests that ask how the service is, which must not wait for the others."""
IDLE_SECONDS: Final = 60.0
"""How long a connection that nobody needs is kept open."""


@dataclass(frozen=True)
class _Connection:
    """An open connection: the file that it leads to, and since when it is idle, by the monotonic clock."""

    database: Database
    file: object
    idle_since: float = 0.0


@dataclass(frozen=True)
class Bounds:
    """How many connections there may be at once, and how many seconds a request waits for one."""

    most: int
    wait_seconds: float
    idle_seconds: float = IDLE_SECONDS


class DatabasePool:
    """Lends connections, and opens a new one when all are lent and there may be more. Safe to use from several threads.

    Args:
        open_one: Opens a connection.
        file: Says which file there is now, as far as the database is a file.
        bounds: How many there may be, and for how long.
    """

    def __init__(self, open_one: Callable[[], Database], file: Callable[[], object], bounds: Bounds) -> None:
        self._open_one = open_one
        self._file = file
        self._bounds = bounds
        self._free = BoundedSemaphore(bounds.most)
        # The last that came back is lent first. deque's append and pop are atomic, so no lock is needed.
        self._idle: deque[_Connection] = deque()

    @contextmanager
    def lend(self) -> Iterator[Database]:
        """A connection without a transaction; one that is left open at the end is rolled back.

        Raises:
            BusyError: all connections were lent for the whole time to wait.
            MovedError: the database file was removed or replaced meanwhile; what was done is not in the one there is.
            RefusedError, DatabaseError: there was none, and none can be opened.
        """
        if not self._free.acquire(timeout=self._bounds.wait_seconds):
            raise BusyError(f"all {self._bounds.most} connections are in use")
        try:
            connection = self._take()
            try:
                yield connection.database
                if connection.file != self._file():
                    raise MovedError("the database file was removed, or replaced by another, while it was worked on")
            finally:
                self._give_back(connection)
        finally:
            self._free.release()

    def _take(self) -> _Connection:
        file = self._file()
        with suppress(IndexError):
            while True:
                connection = self._idle.pop()
                if connection.file == file:
                    return connection
                connection.database.close()
        # The file was looked at first: if it is replaced before it is opened, the work is found to have failed.
        return _Connection(self._open_one(), file)

    def _give_back(self, connection: _Connection) -> None:
        try:
            connection.database.roll_back()
        except BaseException:
            connection.database.close()
            raise
        now = time.monotonic()
        self._idle.append(_Connection(connection.database, connection.file, now))
        self._close_idle(now - self._bounds.idle_seconds)

    def _close_idle(self, before: float) -> None:
        """Close the connections that nobody has needed since a moment."""
        with suppress(IndexError):
            while True:
                oldest = self._idle.popleft()
                if oldest.idle_since > before:
                    self._idle.appendleft(oldest)
                    return
                oldest.database.close()

    def close(self) -> None:
        """Close the connections that are not lent."""
        with suppress(IndexError):
            while True:
                self._idle.pop().database.close()
