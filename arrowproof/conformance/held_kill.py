"""Kills for any service on PostgreSQL whose driver names the process: the database holds the transaction.

Before the commit the process is killed while its transaction waits in a trigger, after the change and everything that
came ahead of it (:mod:`arrowproof.conformance.transaction_hold`). After the commit it is killed while the answer to
that is held back on the way to it (:mod:`arrowproof.conformance.relay`), and so cannot have gone on or ended. Where its
connection does not come by the relay, it is killed as soon as the change can be seen by others, wherever it then is.
One that has ended by itself by then was not killed, and is said to be so.
"""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager

from arrowproof.conformance.crash import KILLED, OVER_POINT
from arrowproof.conformance.driver import Driver, DriverError, Killed, ProcessDriver
from arrowproof.conformance.postgresql_journal import PostgresJournal
from arrowproof.conformance.processes import DEADLINE_SECONDS
from arrowproof.conformance.relay import Line
from arrowproof.conformance.transaction_hold import HeldChange, Hold, hold_transaction
from arrowproof.conformance.waiting import comes_true
from arrowproof.conformance.walks import Subject, attempt_in_thread
from arrowproof.model.evidence import Row, Side
from arrowproof.model.record import record
from arrowproof.model.transitions import Transition

BEFORE_POINT = "in the transaction, after the change"
AFTER_POINT = "after the commit"


@record
class HeldKill:
    """The kill of one transition of a row; ``key`` is None for a creation. ``driver`` is that of the subject."""

    subject: Subject
    driver: ProcessDriver
    journal: PostgresJournal
    transition: Transition
    key: Row | None

    def kill(self, side: Side) -> Killed:
        """Have the driver walk, and kill the process that it names on this side of the commit.

        Raises:
            DriverError: the walk came to its end, or did not come to the change, or did not end with its process.
        """
        return self._before() if side is Side.BEFORE else self._after()

    def _before(self) -> Killed:
        change = HeldChange.of(self.subject.lifecycle, self.transition, self.key)
        with (
            walking(self.subject.driver, self.transition, self.key) as walk,
            hold_transaction(self.journal.url, self.journal.binding, change) as hold,
        ):
            backend = walk.start_and_hold(hold)
            process = self.driver.process_of(self.transition)
            process.kill()
            hold.await_gone(backend)
        return Killed(BEFORE_POINT, (process.record(),), self.key)

    def _after(self) -> Killed:
        change = HeldChange.of(self.subject.lifecycle, self.transition, self.key)
        mark = self.journal.last_order()
        with walking(self.subject.driver, self.transition, self.key) as walk:
            with hold_transaction(self.journal.url, self.journal.binding, change) as hold:
                backend = walk.start_and_hold(hold)
                # Asked while it is sure to be there: who is asked later may name, or start, another one.
                process = self.driver.process_of(self.transition)
                line = None if self.subject.relay is None else self.subject.relay.find(backend)
                if line is not None:
                    line.hold_answer()
            try:
                self._await_commit(mark, walk, line)
            finally:
                process.kill()
                if line is not None:
                    line.let_go()
        killed = process.record()
        return Killed(AFTER_POINT if killed.ended == KILLED else OVER_POINT, (killed,), self.key)

    def _await_commit(self, mark: int, walk: Walking, line: Line | None) -> None:
        def is_over() -> bool:
            return not walk.is_alive() or (line is not None and line.is_held.is_set())

        if not comes_true(lambda: self._is_committed(mark) or is_over(), DEADLINE_SECONDS):
            raise walk.failure(f"was not committed within {DEADLINE_SECONDS:g} s")
        # What it did last may have come between the two looks.
        if not self._is_committed(mark):
            raise walk.failure("was not committed")

    def _is_committed(self, mark: int) -> bool:
        rows = self.journal.rows(after=mark)
        return any(self.subject.pair(row) == self.transition.pair and self.key in (None, row.key) for row in rows)


class Walking(threading.Thread):
    """A walk in a thread of its own; ``problem`` says why it failed, once it has."""

    def __init__(self, driver: Driver, transition: Transition, key: Row | None) -> None:
        super().__init__(name=f"walk {transition.name}", daemon=True)
        self._asked = (driver, transition, key)
        self.problem: str | None = None

    def start_and_hold(self, hold: Hold) -> int:
        """Start it, and wait until its change is held; the backend that makes it.

        Raises:
            DriverError: the walk came to its end before that, or neither comes.
        """
        self.start()
        backend = hold.await_held(lambda: not self.is_alive())
        if backend is None:
            raise self.failure("did not come to its change")
        return backend

    def failure(self, what: str) -> DriverError:
        """The error that this walk did something else than it should, with what the driver says of it."""
        _, transition, _ = self._asked
        return DriverError(f"{transition.name} {what}. {self.problem or ''}".strip())

    def run(self) -> None:
        """Have the driver walk."""
        driver, transition, key = self._asked
        try:
            _, self.problem = attempt_in_thread(lambda: driver.walk(transition, key))
        except Exception as error:
            self.problem = str(error)


@contextmanager
def walking(driver: Driver, transition: Transition, key: Row | None) -> Iterator[Walking]:
    """A walk that is to be started, and has to have ended at the end of the block."""
    walk = Walking(driver, transition, key)
    try:
        yield walk
    finally:
        if walk.ident is not None:
            walk.join(DEADLINE_SECONDS)
    if walk.is_alive():
        raise DriverError(f"The walk of {transition.name} does not come to an end.")
