"""Lost connections: what a service on PostgreSQL does when its connection goes in the middle of a transition.

The process lives, and has to find out what became of its transaction. Before the commit the server ends the connection
while the transaction is held in a trigger, or the connection is cut at the COMMIT, which the server does not get. After
it the COMMIT is done and the client gets no answer. The COMMIT may also be late: the client has lost its connection and
the server is not done. What it then looks at has to wait for that, or is as it was. The client sees the same in the
last three, and may neither take it for done nor do it once more without a look. Whatever it does at once is waited for;
then its process is killed, and the service started again as after any kill.
"""

from __future__ import annotations

from arrowproof.conformance.crash import UNSEEN_POINT
from arrowproof.conformance.driver import Killed, ProcessDriver
from arrowproof.conformance.held_kill import BEFORE_POINT, Walking, walking
from arrowproof.conformance.postgresql_journal import PostgresJournal
from arrowproof.conformance.processes import DEADLINE_SECONDS
from arrowproof.conformance.relay import Line, Relay
from arrowproof.conformance.transaction_hold import HeldChange, Hold, hold_transaction
from arrowproof.conformance.waiting import comes_true
from arrowproof.conformance.walks import Subject
from arrowproof.model.evidence import Blow, Row, Side
from arrowproof.model.record import record
from arrowproof.model.transitions import Transition

COMMIT_POINT = "its COMMIT"
ANSWER_POINT = "the answer to its commit"
LATE_POINT = "its commit, which came late"
_PATIENCE_SECONDS = 10.0
"""How long a service that has lost its connection may do neither: come to its end, or wait for its own transaction."""


@record
class LostConnection:
    """The lost connection of one transition of a row; ``key`` is None for a creation.

    Without a ``relay`` it can be ended by the server alone.
    """

    subject: Subject
    driver: ProcessDriver
    journal: PostgresJournal
    relay: Relay | None
    transition: Transition
    key: Row | None

    def strike(self, blow: Blow, side: Side) -> tuple[Killed, str | None]:
        """Have the driver walk, take the connection away, wait for what the service does, and kill its process.

        Returns:
            The kill, and what was wrong ahead of it: a service that took for done what was not.

        Raises:
            DriverError: the walk came to its end, or did not come to the change or its commit, or goes on for ever.
        """
        change = HeldChange.of(self.subject.lifecycle, self.transition, self.key)
        mark = self.journal.last_order()
        with (
            walking(self.subject.driver, self.transition, self.key) as walk,
            hold_transaction(self.journal.url, self.journal.binding, change) as hold,
        ):
            backend = walk.start_and_hold(hold)
            if blow is Blow.ENDED:
                hold.end(backend)
                point = BEFORE_POINT
            elif blow is Blow.LATE:
                point = self._overtake(hold, backend, walk)
            else:
                point = self._cut(side, hold, backend, walk)
            hold.await_gone(backend)
        process = self.driver.process_of(self.transition)
        process.kill()
        is_believed = walk.problem is None and not any(map(self.subject.pair, self.journal.rows(after=mark)))
        problem = f"The service took {self.transition.name} for done, which was not committed." if is_believed else None
        return Killed(point, (process.record(),), self.key), problem

    def _cut(self, side: Side, hold: Hold, backend: int, walk: Walking) -> str:
        """Cut the connection of a transaction that is held; the point at which it went."""
        assert self.relay is not None
        line = self.relay.line(backend)
        if side is Side.AFTER:
            line.cut_answer()
        elif line.commit_is_to_come:
            line.cut_commit()
        else:
            # The statement is its own transaction, or its COMMIT came along with it.
            line.cut()
            return BEFORE_POINT
        hold.release()
        _await_cut(line, walk)
        return ANSWER_POINT if side is Side.AFTER else COMMIT_POINT

    def _overtake(self, hold: Hold, backend: int, walk: Walking) -> str:
        """Take the connection from the client alone, and have the server commit when the client has looked again.

        Returns:
            The point; another one where the client had not looked by then, so that the commit was not late for it.
        """
        assert self.relay is not None
        line = self.relay.line(backend)
        go_on = hold.release
        if line.commit_is_to_come:
            line.delay_commit()
            hold.release()
            _await_cut(line, walk)
            go_on = line.let_go
        else:
            line.part()
        is_late = comes_true(lambda: hold.has_others_waiting(backend) or not walk.is_alive(), _PATIENCE_SECONDS)
        go_on()
        return LATE_POINT if is_late else UNSEEN_POINT


def _await_cut(line: Line, walk: Walking) -> None:
    """Wait until a connection is cut at its commit.

    Raises:
        DriverError: the walk came to its end before that.
    """
    comes_true(lambda: line.is_cut.is_set() or not walk.is_alive(), DEADLINE_SECONDS)
    if not line.is_cut.is_set():
        raise walk.failure("did not come to its commit")
