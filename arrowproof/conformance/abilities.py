"""Abilities: what a driver can do beside ``start``, ``stop`` and ``walk``, and what is done where it cannot.

A driver without ``begin`` is not told of tours, one without ``end`` leaves its rows where they are, and one without
``recover`` has its restart made by ``walk``. One that cannot kill gets no crash checks, which the report says.
"""

from __future__ import annotations

from collections.abc import Sequence

from arrowproof.conformance.driver import (
    CrashDriver,
    Driver,
    DriverError,
    Killed,
    ProcessDriver,
    RestartDriver,
    SparingDriver,
    TidyDriver,
    TourDriver,
    Walked,
)
from arrowproof.conformance.journal import Journal
from arrowproof.conformance.sqlite_journal import SQLiteJournal
from arrowproof.model.evidence import Row, Side
from arrowproof.model.transitions import Transition

NO_KILL = "Crash checks were not made: the driver has no kill() and, on PostgreSQL, no process_of()."
NO_INTERLEAVINGS = "Interleavings of several workers on one row were not tried: `--interleavings` tries them."


def begin(driver: Driver, tour: Sequence[Transition]) -> None:
    """Announce a tour to a driver that wants to know of it."""
    if isinstance(driver, TourDriver):
        driver.begin(tour)


def end(driver: Driver, key: Row | None) -> None:
    """Tell a driver that wants to know that a tour is over."""
    if isinstance(driver, TidyDriver):
        driver.end(key)


def can_kill(driver: Driver, journal: Journal) -> bool:
    """Whether crash checks can be made: by the driver, or on a server by a process that it names."""
    return isinstance(driver, CrashDriver) or can_lose_connections(driver, journal)


def can_lose_connections(driver: Driver, journal: Journal) -> bool:
    """Whether connections can be taken from a service at all: on a server, from a process that its driver names."""
    return isinstance(driver, ProcessDriver) and not isinstance(journal, SQLiteJournal)


def is_spared(driver: Driver, transition: Transition) -> bool:
    """Whether the driver has no connection taken from a transition."""
    return isinstance(driver, SparingDriver) and not driver.is_cut(transition)


def kill(driver: Driver, transition: Transition, key: Row | None, side: Side) -> Killed:
    """Have the driver kill.

    Raises:
        DriverError: it cannot.
    """
    if not isinstance(driver, CrashDriver):
        raise DriverError("The driver has no kill().")
    return driver.kill(transition, key, side)


def recover(driver: Driver, transition: Transition, killed: Killed, side: Side) -> Walked:
    """Have the driver restart its service; where it has no ``recover``, do what a client without an answer does.

    Raises:
        DriverError: a row was created and nobody knows its key.
    """
    if isinstance(driver, RestartDriver):
        return driver.recover(transition, killed, side)
    if side is Side.BEFORE:
        return driver.walk(transition, killed.key)
    if killed.key is None:
        raise DriverError("A row was created whose key nobody knows; the driver has no recover().")
    return Walked(killed.key)
