"""The workplace: what a worker has open on one database, and how it works there."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from contextlib import ExitStack, closing
from dataclasses import dataclass

from arrowproof.service.address import Address
from arrowproof.service.attempt import MOST_CRASHES, Attempts
from arrowproof.service.backoff import Backoff
from arrowproof.service.clock import Clock, database_clock
from arrowproof.service.database import BusyError, ConnectionLostError, Database, DatabaseError, describe
from arrowproof.service.durability import durability_warnings
from arrowproof.service.hold import Hold
from arrowproof.service.retention import Retention
from arrowproof.service.wake import Waker, open_waker

Tell = Callable[[Mapping[str, object]], None]
"""Is given what happened, for whoever watches the worker."""


@dataclass(frozen=True)
class WorkerSettings:
    """How a worker works: see :class:`arrowproof.service.attempt.Attempts` and ``Retention`` for the parts.

    ``keep_seconds`` is how long a finished job is kept; for ever when it is None. ``wakes`` is
    whether it wants to be woken.
    """

    hold: Hold
    backoff: Backoff
    batch: int = 1
    most_crashes: int = MOST_CRASHES
    keep_seconds: float | None = None
    clock: Clock = database_clock
    wakes: bool = False


@dataclass(frozen=True)
class Workplace:
    """What is open, until it is closed. ``file`` is which file a SQLite database is, by device and inode.

    ``waker`` is None when none is wanted or none can be had.
    """

    address: Address
    attempts: Attempts
    retention: Retention | None
    waker: Waker | None
    file: tuple[int, int] | None
    close: Callable[[], None]

    @property
    def database(self) -> Database:
        """The connection that the attempts are made on."""
        return self.attempts.database

    def is_there(self) -> bool:
        """Whether the address still leads to what is open. A file that was removed can be written for ever."""
        return self.file == self.address.file()

    def remove_finished(self, tell: Tell) -> int:
        """Remove some finished jobs, when that is asked for; gives how many.

        What cannot be removed (another table refers to it, say) is told, and keeps nobody from work.

        Raises:
            ConnectionLostError: the connection is lost.
        """
        if self.retention is None:
            return 0
        try:
            removed = self.retention.remove_some()
        except ConnectionLostError:
            raise
        except BusyError as error:
            tell({"busy": str(error)})
            return 0
        except DatabaseError as error:
            tell({"error": f"finished jobs were not removed: {describe(error)}"})
            return 0
        if removed:
            tell({"removed": removed})
        return removed


def open_workplace(address: Address, settings: WorkerSettings, tell: Tell) -> Workplace:
    """Open a database for work, and the record of begun attempts that belongs to it.

    What the database is, what it can lose, and that nobody will wake the worker, is told.

    Raises:
        RefusedError: there is no such database, or it must not be used.
        DatabaseError: the database failed.
    """
    with ExitStack() as opened:
        file = address.file()
        database = opened.enter_context(closing(address.open()))
        begun = opened.enter_context(closing(address.open_begun()))
        begun.tidy(database)
        attempts = Attempts(
            database, begun, settings.clock, settings.hold, settings.backoff, settings.batch, settings.most_crashes
        )
        tell({"started": os.getpid(), **database.facts})
        for warning in durability_warnings(database.facts):
            tell({"warning": warning})
        waker = _open_waker(address, tell) if settings.wakes else None
        if waker is not None:
            opened.enter_context(closing(waker))
        kept = settings.keep_seconds
        retention = None if kept is None else Retention(database, settings.clock, kept)
        return Workplace(address, attempts, retention, waker, file, opened.pop_all().close)


def _open_waker(address: Address, tell: Tell) -> Waker | None:
    try:
        return open_waker(address)
    except DatabaseError as error:
        tell({"warning": f"a new job is found by the next poll alone: {error}"})
        return None
