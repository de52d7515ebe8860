"""Rivals: workers that a driver sets off on one row at once, each without waiting for what it comes to.

A proof sets off a first one, which is held in the middle of its transition, and then others that find the row in the
same state (:mod:`arrowproof.conformance.interleavings`). On PostgreSQL the database holds the first, and says who waits
for a lock; a driver needs ``set_off`` and nothing else. On SQLite, where nobody can look into another's connection, the
service has to offer hold points of its own. One that waits there for the write lock of another is known by a file that
its busy handler makes, or else by its end: give it a short busy timeout.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Collection
from contextlib import suppress
from pathlib import Path
from typing import Protocol, runtime_checkable

from arrowproof.conformance.driver import DriverError
from arrowproof.conformance.processes import DEADLINE_SECONDS, RunningProcess
from arrowproof.conformance.waiting import comes_true
from arrowproof.model.evidence import Moment, Process, Row
from arrowproof.model.transitions import Transition


@runtime_checkable
class Rival(Protocol):
    """A worker that was set off: a process, or a request to one."""

    @property
    def is_over(self) -> bool:
        """Whether it has ended, or has its answer: whatever came of it, a refusal included."""

    def finish(self) -> tuple[Process, ...]:
        """Wait until it is over, and give the processes that took part.

        Raises:
            DriverError: it does not end.
        """


@runtime_checkable
class WaitingRival(Rival, Protocol):
    """A rival that can also tell that it waits for a lock of another, where the database does not."""

    @property
    def is_waiting(self) -> bool:
        """Whether it has come to wait for a lock."""


@runtime_checkable
class HeldRival(Rival, Protocol):
    """A rival that waits at a hold point of the service."""

    def await_held(self) -> None:
        """Wait until it is at its point.

        Raises:
            DriverError: it does not come there.
        """

    def release(self) -> None:
        """Let it go on. Safe to call twice, and before it is held."""


@runtime_checkable
class RivalDriver(Protocol):
    """What a driver may have besides, so that interleavings can be tried.

    The tour that it is told of by ``begin`` ends with two transitions out of one state then: that of the first worker,
    and that of the others. ``walk`` is not called for them, and ``end`` finds the row in any state, or removed.
    """

    def set_off(self, transition: Transition, key: Row) -> Rival:
        """Start what makes the transition of this row, and come back at once.

        The row may be locked, and by the time that the worker comes to it in another state. What the service makes of
        that is its own business: it waits, passes it over or refuses, and no error of it is one of the driver.
        """


@runtime_checkable
class HoldPointDriver(RivalDriver, Protocol):
    """What a driver of a service on SQLite may have besides: its hold points, for the first worker."""

    @property
    def moments(self) -> Collection[Moment]:
        """The moments at which the service can be held."""

    def set_off_held(self, transition: Transition, key: Row, moment: Moment) -> HeldRival:
        """Start what makes the transition, to be held at this moment, and come back at once."""


class ProcessRival:
    """A process that was set off, for drivers to answer with.

    Args:
        process: the process, which ends by itself.
        held: the file that it makes when it is at its hold point.
        release: the file that lets it go on from there.
        waits: the file that it makes when it waits for a lock.
    """

    def __init__(
        self,
        process: RunningProcess,
        *,
        held: Path | None = None,
        release: Path | None = None,
        waits: Path | None = None,
    ) -> None:
        self._process = process
        self._held = held
        self._release = release
        self._waits = waits

    @property
    def is_over(self) -> bool:
        """Whether it has ended."""
        return not self._process.is_running

    @property
    def is_waiting(self) -> bool:
        """Whether it says that it waits for a lock."""
        return self._waits is not None and self._waits.exists()

    def await_held(self) -> None:
        """Wait until it is at its hold point."""
        if self._held is not None:
            self._process.await_file(self._held)

    def release(self) -> None:
        """Let it go on."""
        if self._release is not None:
            self._release.touch()

    def finish(self) -> tuple[Process, ...]:
        """Wait for its exit; one that does not end is killed."""
        process = self._process
        if not comes_true(lambda: self.is_over, DEADLINE_SECONDS):
            process.kill()
            raise DriverError(
                f"The {process.role} (process {process.pid}) did not come to an end within {DEADLINE_SECONDS:g} s."
            )
        return (process.record(),)


class RequestRival(ProcessRival):
    """A request that was set off to a process that stays, for drivers to answer with.

    ``ask`` is called in a thread of its own and has to come back by itself; what it gives or raises is of no interest.
    The files are those of a :class:`ProcessRival`.
    """

    def __init__(
        self,
        ask: Callable[[], object],
        process: RunningProcess,
        *,
        held: Path | None = None,
        release: Path | None = None,
        waits: Path | None = None,
    ) -> None:
        super().__init__(process, held=held, release=release, waits=waits)
        self._thread = threading.Thread(target=_asked, args=(ask,), name="rival", daemon=True)
        self._thread.start()

    @property
    def is_over(self) -> bool:
        """Whether it has its answer."""
        return not self._thread.is_alive()


def _asked(ask: Callable[[], object]) -> None:
    with suppress(Exception):
        ask()
