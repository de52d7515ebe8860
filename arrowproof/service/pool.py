"""The pool: connections to one database, lent to one request at a time."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from arrowproof.service.database import Database


class DatabasePool:
    """Lends connections and opens a new one when all are lent. Safe to use from several threads."""

    def __init__(self, first: Database, open_another: Callable[[], Database]) -> None:
        self._open_another = open_another
        # deque's append and pop are atomic, so no lock is needed.
        self._idle = deque([first])

    @contextmanager
    def lend(self) -> Iterator[Database]:
        """A connection without a transaction; one that is left open at the end is rolled back."""
        try:
            database = self._idle.pop()
        except IndexError:
            database = self._open_another()
        try:
            yield database
        finally:
            try:
                database.roll_back()
            except BaseException:
                database.close()
                raise
            self._idle.append(database)

    def close(self) -> None:
        """Close the connections that are not lent."""
        while self._idle:
            self._idle.pop().close()
