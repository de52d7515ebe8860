"""Crash checks: the process that makes a transition is killed on each side of its commit.

Before the commit the row must be found as it was, column by column, and the journal empty, but for what the service
moves by itself; after the commit it must be found in the target state, with exactly that transition in the journal.
Either way the restart must end in the target state, and the transition must have happened once in all, behind nothing
but what the driver says. The kill is timed by the service's own signal at a hold point, never by a clock; where a
driver cannot kill and names the process, by the database (:mod:`arrowproof.conformance.held_kill`). Where it names the
process, its connection is taken from it as well (:mod:`arrowproof.conformance.lost_connection`). A service that lives
may then have counted that as a failure, and come to the target from there: so far as the driver says so.
"""

from __future__ import annotations

from collections.abc import Container, Sequence
from dataclasses import replace

from arrowproof.conformance import abilities
from arrowproof.conformance.answers import checked_killed, checked_walked
from arrowproof.conformance.driver import CrashDriver, Killed, ProcessDriver, Walked
from arrowproof.conformance.rows import BoundRow
from arrowproof.conformance.walks import Subject, attempt, bring_row, describe, journal_problem, keyed, state_problem
from arrowproof.model.evidence import Blow, JournalRow, Kill, Row, Side
from arrowproof.model.record import record
from arrowproof.model.transitions import Pair, Transition, transition_name

KILLED = "SIGKILL"
OVER_POINT = "after the commit, when the process had ended by itself"
"""Where a kill came too late: nobody was killed, though what was left of the row and the restart were judged."""
UNSEEN_POINT = "its commit, which came before the service had looked"
"""Where a commit that was to be late was not: what was left was judged; whether the service waits was not seen."""
_WHAT = {
    Blow.KILLED: "Killed before its commit",
    Blow.CUT: "Its connection was cut before its commit",
    Blow.LATE: "Its connection was cut ahead of its commit",
    Blow.ENDED: "Its connection was ended before its commit",
}


def blows_of(subject: Subject, transition: Transition) -> tuple[tuple[Blow, Side], ...]:
    """What befalls a transition in the crash checks of a subject, and on which side of its commit."""
    blows = [(Blow.KILLED, side) for side in Side]
    driver = subject.driver
    if abilities.can_lose_connections(driver, subject.journal) and not abilities.is_spared(driver, transition):
        blows.append((Blow.ENDED, Side.BEFORE))
        if subject.relay is not None:
            blows += [*((Blow.CUT, side) for side in Side), (Blow.LATE, Side.AFTER)]
    return tuple(blows)


def spared(subject: Subject, transitions: Sequence[Transition]) -> tuple[str, ...]:
    """Of which of these transitions no connection is taken because the driver spares them: a sentence, or none."""
    if not abilities.can_lose_connections(subject.driver, subject.journal):
        return ()
    left = [each.name for each in transitions if abilities.is_spared(subject.driver, each)]
    if not left:
        return ()
    return (f"Lost connections were not tried of {', '.join(left)}: the driver leaves them out.",)


def untried(kill: Kill) -> str | None:
    """Why a kill was none, or not the one that it was to be, and has found nothing: a sentence; None where it was."""
    name = transition_name(kill.source, kill.target)
    if kill.problem is None and kill.point == OVER_POINT:
        return f"{name} was not killed {kill.side}: its process had ended by itself by then."
    if kill.problem is None and kill.point == UNSEEN_POINT:
        return (
            f"A late commit of {name} was not tried: having lost its connection, the service had neither ended"
            " nor looked at what became of it by then."
        )
    return None


def check_crash(
    subject: Subject, way: Sequence[Transition], transition: Transition, side: Side, blow: Blow = Blow.KILLED
) -> Kill:
    """Bring a fresh row along ``way`` to the source of ``transition``, strike that transition, and restart.

    What goes wrong is told in the kill's ``problem``; errors of the environment or the input are raised.
    """
    row = bring_row(subject, (*way, transition), len(way))
    if row.problem is not None:
        return replace(_kill_record(transition, side, row.key, None, (None, None, None), (), row.problem), blow=blow)
    return replace(_Check(subject, transition, side, row.mark, blow).run(row.key), blow=blow)


@record
class _Check:
    """One kill and its restart, on a row in the source state; ``mark`` is the journal's last order ahead of it."""

    subject: Subject
    transition: Transition
    side: Side
    mark: int
    blow: Blow

    def run(self, key: Row | None) -> Kill:
        before = self.subject.row(key)
        answer, problem = attempt(lambda: self._struck(key))
        killed, wrong = answer or (None, None)
        if killed is not None and self.blow is Blow.KILLED and (problem := _no_kill(killed)):
            # What was not killed may hold the database still, so that nothing more is asked of it.
            return _kill_record(self.transition, self.side, key, killed, (before, None, None), (), problem)
        _, unsettled = attempt(self.subject.journal.settle)
        journal = self.subject.journal.rows(after=self.mark)
        key = key or (self._only_key(journal) if killed is None or killed.key is None else killed.key)
        found = self.subject.row(key)
        key = self.subject.stored_key(key, found or before)
        if killed is None:
            rows = (before, found, None)
            return _kill_record(self.transition, self.side, key, None, rows, journal, problem)
        # A service that lives and has lost its connection may have done it by itself by now.
        is_done = self.side is Side.AFTER or (self.blow is not Blow.KILLED and self._is_made(journal))
        problem = wrong or unsettled
        if not self._has_gone_elsewhere(journal, is_done):
            problem = problem or self._found_problem(before, found, key, journal, is_done)
        killed = Killed(killed.point, tuple(killed.processes), key)
        return self._restart(killed, before, found, problem, Side.AFTER if is_done else Side.BEFORE)

    def _is_made(self, journal: Sequence[JournalRow]) -> bool:
        return any(self.subject.pair(row) == self.transition.pair for row in journal)

    def _has_gone_elsewhere(self, journal: Sequence[JournalRow], is_done: bool) -> bool:
        """Whether a service that lost its connection has made another transition: the restart is judged by it then."""
        made = (pair for pair in map(self.subject.pair, journal) if pair is not None)
        return self.blow is not Blow.KILLED and not is_done and any(made)

    def _checked(self, answer: Killed) -> Killed:
        killed = checked_killed(answer)
        return killed if killed.key is None else replace(killed, key=self.subject.key(killed.key))

    def _struck(self, key: Row | None) -> tuple[Killed, str | None]:
        """The kill, and what was wrong ahead of it, where the service had lost its connection before."""
        driver, journal = self.subject.driver, self.subject.journal
        if self.blow is Blow.KILLED or not isinstance(driver, ProcessDriver):
            return self._checked(self._kill(key)), None
        from arrowproof.conformance.lost_connection import LostConnection
        from arrowproof.conformance.postgresql_journal import PostgresJournal

        assert isinstance(journal, PostgresJournal)
        lost = LostConnection(self.subject, driver, journal, self.subject.relay, self.transition, key)
        return lost.strike(self.blow, self.side)

    def _kill(self, key: Row | None) -> Killed:
        """By the driver; on a server by a hold of ours, for one that cannot and names the process."""
        driver = self.subject.driver
        if isinstance(driver, ProcessDriver) and not isinstance(driver, CrashDriver):
            from arrowproof.conformance.held_kill import HeldKill
            from arrowproof.conformance.postgresql_journal import PostgresJournal

            if isinstance(self.subject.journal, PostgresJournal):
                return HeldKill(self.subject, driver, self.subject.journal, self.transition, key).kill(self.side)
        return abilities.kill(driver, self.transition, key, self.side)

    def _restart(
        self, killed: Killed, before: BoundRow | None, found: BoundRow | None, problem: str | None, stands: Side
    ) -> Kill:
        """Have the driver start the service again; ``stands`` is the side of the commit on which the row stands."""
        walked, failure = attempt(
            lambda: keyed(
                self.subject,
                checked_walked(abilities.recover(self.subject.driver, self.transition, killed, stands), "recover"),
            )
        )
        key, ahead = (killed.key, ()) if walked is None else (walked.key, walked.ahead)
        restarted = self.subject.row(key)
        key = self.subject.stored_key(key, restarted)
        journal = self.subject.journal.rows(after=self.mark)
        problem = (
            problem
            or failure
            or self._ahead_problem(ahead, stands)
            or journal_problem(self.subject, self._awaited(ahead), key, journal, ahead)
            or state_problem(self.subject, self.transition.target, restarted, "After the restart")
        )
        rows = (before, found, restarted)
        return _kill_record(self.transition, self.side, key, killed, rows, journal, problem, walked)

    def _awaited(self, ahead: Sequence[Pair]) -> Transition:
        """What has to come behind the transitions ``ahead``: this one, or that to its target from where they led."""
        if self.blow is Blow.KILLED or not ahead:
            return self.transition
        return replace(self.transition, source=ahead[-1][1])

    def _only_key(self, journal: Sequence[JournalRow]) -> Row | None:
        """The key of the one row that was worked on; the client of a killed creation has no other way to it."""
        keys = {row.key for row in journal if not self.subject.is_beat(row)}
        return keys.pop() if len(keys) == 1 else None

    def _ahead_problem(self, ahead: Sequence[Pair], stands: Side) -> str | None:
        """Why a restart may not go by these transitions first; None if it may."""
        name = self.transition.name
        if ahead and stands is Side.AFTER:
            return f"{name} was committed ahead of the kill; the driver says that other transitions came ahead of it."
        if self.transition.pair in ahead:
            return f"The driver says that the restart made {name} more than once."
        return None

    def _found_problem(
        self,
        before: BoundRow | None,
        found: BoundRow | None,
        key: Row | None,
        journal: Sequence[JournalRow],
        is_done: bool,
    ) -> str | None:
        if is_done:
            return journal_problem(self.subject, self.transition, key, journal) or state_problem(
                self.subject, self.transition.target, found, "After the kill"
            )
        work = [row for row in journal if not self.subject.is_beat(row)]
        if work:
            return f"{_WHAT[self.blow]}, yet the journal holds {describe(self.subject, work)}."
        if changed := _difference(before, found, self.subject.beats):
            return f"{_WHAT[self.blow]}, yet the row was changed: {changed}."
        return None


def _kill_record(
    transition: Transition,
    side: Side,
    key: Row | None,
    killed: Killed | None,
    rows: tuple[BoundRow | None, BoundRow | None, BoundRow | None],
    journal: tuple[JournalRow, ...],
    problem: str | None,
    walked: Walked | None = None,
) -> Kill:
    before, found, restarted = (None if row is None else row.columns for row in rows)
    return Kill(
        source=transition.source,
        target=transition.target,
        side=side,
        point="" if killed is None else killed.point,
        key=key,
        processes=(() if killed is None else killed.processes) + (() if walked is None else tuple(walked.processes)),
        before=before,
        found=found,
        restarted=restarted,
        journal=journal,
        problem=problem,
    )


def _no_kill(killed: Killed) -> str | None:
    if killed.point == OVER_POINT or any(process.ended == KILLED for process in killed.processes):
        return None
    return f"The driver names no process that ended by {KILLED}."


def _difference(before: BoundRow | None, found: BoundRow | None, beats: Container[str]) -> str:
    """What became of a row, or which columns of it are others now beside those that beat; empty when none."""
    if before is None and found is None:
        return ""
    if before is None or found is None:
        return "a row was made" if before is None else "the row is gone"
    both = zip(before.columns, found.columns, strict=True)
    changed = [name for (name, old), (_, new) in both if old != new and name not in beats]
    if not changed and before.state != found.state:
        return "its state"
    return ", ".join(changed)
