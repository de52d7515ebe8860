"""The driver: the small class by which a proof reaches a service. One per service, written by its owner.

A driver starts and stops the service on a database of its own, creates a row, and walks a transition, each time by
the service's own doors (HTTP, processes, a queue), never by writing the bound table itself. What the database held
before and after is read by the drive, not by the driver.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol, runtime_checkable

from arrowproof.model.evidence import Process, Row, Side
from arrowproof.model.transitions import Transition


class DriverError(Exception):
    """The service did not do what the driver asked of it; the message says what was asked and what came."""


@dataclass(frozen=True)
class Walked:
    """What a driver did for one transition: the row's key, the processes that took part, and the arrow path.

    ``path`` is None when the transition has one path only.
    """

    key: Row
    processes: tuple[Process, ...]
    path: tuple[str, ...] | None = None


@dataclass(frozen=True)
class Killed:
    """What a driver did for one kill: the hold point, the processes, and the key (None while no row is known)."""

    point: str
    processes: tuple[Process, ...]
    key: Row | None


@runtime_checkable
class Driver(Protocol):
    """What `prove` asks of a service. Methods raise :class:`DriverError` when the service answers otherwise."""

    def start(self, folder: Path) -> Path:
        """Start the service on a new database inside ``folder``; return the database file once it is ready."""

    def stop(self) -> None:
        """End every process that this driver started. Safe to call twice."""

    def begin(self, tour: Sequence[Transition]) -> None:
        """Announce the tour that comes next, so that its row can be created in the right way."""

    def walk(self, transition: Transition, key: Row | None) -> Walked:
        """Make the service take one transition with the row ``key`` (None: create the row)."""

    def end(self, key: Row | None) -> None:
        """The tour is over: leave no row behind that a later walk could pick up by mistake."""

    def kill(self, transition: Transition, key: Row | None, side: Side) -> Killed:
        """Start the same transition and SIGKILL the process that makes it, on one side of its commit."""

    def recover(self, transition: Transition, killed: Killed, side: Side) -> Walked:
        """Start the service again after a kill and let it do what it does: finish the transition, or leave it."""
