"""Gates: where the first of several workers waits, and how it is known that the others have come as far as they can.

On PostgreSQL the gate stands in the database: a trigger holds the first, and the server says who waits for a lock. On
SQLite it is a hold point of the service, and who waits for the write lock tells so itself, or ends busy.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Protocol

from arrowproof.conformance.answers import checked_moments
from arrowproof.conformance.driver import DriverError
from arrowproof.conformance.postgresql_journal import PostgresJournal
from arrowproof.conformance.rivals import HeldRival, HoldPointDriver, Rival, RivalDriver, WaitingRival
from arrowproof.conformance.transaction_hold import HeldChange, Hold, hold_first_write, hold_transaction
from arrowproof.conformance.walks import Subject, attempt
from arrowproof.model.evidence import Moment, Row
from arrowproof.model.record import record
from arrowproof.model.transitions import Transition


class Gate(Protocol):
    """Where the first worker waits."""

    def set_off(self) -> Rival:
        """Set the first worker off, and wait until it is held.

        Raises:
            DriverError: it does not come there.
        """

    def waiting(self, others: Sequence[Rival]) -> int:
        """How many of the others that are not over wait for a lock."""

    def open(self) -> None:
        """Let the first go on."""


@record
class DatabaseGate:
    """A gate in a PostgreSQL database."""

    driver: RivalDriver
    hold: Hold
    transition: Transition
    key: Row
    moment: Moment

    def set_off(self) -> Rival:
        """See :class:`Gate`."""
        first = self.driver.set_off(self.transition, self.key)
        with _finished_if_missed(first, self.open):
            if self.hold.await_held(lambda: first.is_over) is None:
                raise DriverError(f"{self.transition.name} did not come to its change.")
            if self.moment is Moment.READ:
                self.hold.let_pass()
        return first

    def waiting(self, others: Sequence[Rival]) -> int:
        """See :class:`Gate`."""
        return min(self.hold.waiting(), sum(not each.is_over for each in others))

    def open(self) -> None:
        """See :class:`Gate`."""
        self.hold.release()


class ServiceGate:
    """A gate at a hold point of the service."""

    def __init__(self, driver: HoldPointDriver, transition: Transition, key: Row, moment: Moment) -> None:
        self._driver = driver
        self._asked = (transition, key, moment)
        self._first: HeldRival | None = None

    def set_off(self) -> Rival:
        """See :class:`Gate`."""
        self._first = self._driver.set_off_held(*self._asked)
        with _finished_if_missed(self._first, self.open):
            self._first.await_held()
        return self._first

    def waiting(self, others: Sequence[Rival]) -> int:
        """See :class:`Gate`."""
        return sum(isinstance(each, WaitingRival) and each.is_waiting and not each.is_over for each in others)

    def open(self) -> None:
        """See :class:`Gate`."""
        if self._first is not None:
            self._first.release()


@contextmanager
def _finished_if_missed(first: Rival, open_gate: Callable[[], None]) -> Iterator[None]:
    """Have a first worker that does not come to its gate come to its end at least."""
    try:
        yield
    except BaseException:
        open_gate()
        attempt(first.finish)
        raise


def moments_of(subject: Subject) -> Sequence[Moment]:
    """The moments at which the first of several workers can be held; none when the driver has not the methods."""
    driver: object = subject.driver
    if isinstance(driver, RivalDriver) and isinstance(subject.journal, PostgresJournal):
        return tuple(Moment)
    return checked_moments(driver.moments) if isinstance(driver, HoldPointDriver) else ()


@contextmanager
def gate(subject: Subject, transition: Transition, key: Row, moment: Moment) -> Iterator[Gate]:
    """The gate for the first worker; it is open at the end of the block, and nothing is left of it."""
    driver: object = subject.driver
    journal = subject.journal
    if isinstance(journal, PostgresJournal) and isinstance(driver, RivalDriver):
        if moment is Moment.READ:
            holding = hold_first_write(journal.url, journal.binding)
        else:
            change = HeldChange.of(subject.lifecycle, transition, key)
            holding = hold_transaction(journal.url, journal.binding, change)
        with holding as hold:
            yield DatabaseGate(driver, hold, transition, key, moment)
        return
    assert isinstance(driver, HoldPointDriver)
    of_service = ServiceGate(driver, transition, key, moment)
    try:
        yield of_service
    finally:
        of_service.open()
