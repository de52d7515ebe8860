"""Crash checks: the process that makes a transition is killed on each side of its commit.

Before the commit the row must be found as it was, column by column, and the journal empty, but for what the service
moves by itself; after the commit it must be found in the target state, with exactly that transition in the journal.
Either way the restart must end in the target state, and the transition must have happened once in all, behind nothing
but what the driver says. The kill is timed by the service's own signal at a hold point, never by a clock; where a
driver names the process, by the database (:mod:`arrowproof.conformance.held_kill`).
"""

from __future__ import annotations

from collections.abc import Container, Sequence
from dataclasses import replace

from arrowproof.conformance import abilities
from arrowproof.conformance.answers import checked_killed, checked_walked
from arrowproof.conformance.driver import Killed, ProcessDriver, Walked
from arrowproof.conformance.rows import BoundRow
from arrowproof.conformance.walks import Subject, attempt, describe, journal_problem, keyed, state_problem, take_walk
from arrowproof.model.evidence import JournalRow, Kill, Row, Side
from arrowproof.model.record import record
from arrowproof.model.transitions import Pair, Transition

KILLED = "SIGKILL"


def check_crash(subject: Subject, way: Sequence[Transition], transition: Transition, side: Side) -> Kill:
    """Bring a fresh row along ``way`` to the source of ``transition``, kill that transition, and restart.

    What goes wrong is told in the kill's ``problem``; errors of the environment or the input are raised.
    """
    _, problem = attempt(lambda: abilities.begin(subject.driver, (*way, transition)))
    key, mark = None, subject.journal.last_order()
    for step in way if problem is None else ():
        walk = take_walk(subject, step, key, mark)
        mark = subject.journal.last_order()
        key = walk.key or key
        if walk.problem is not None:
            problem = f"The way to {transition.source} failed at {step.name}: {walk.problem}"
            break
    if problem is not None:
        return _kill_record(transition, side, key, None, (None, None, None), (), problem)
    return _Check(subject, transition, side, mark).run(key)


@record
class _Check:
    """One kill and its restart, on a row in the source state; ``mark`` is the journal's last order ahead of it."""

    subject: Subject
    transition: Transition
    side: Side
    mark: int

    def run(self, key: Row | None) -> Kill:
        before = self.subject.row(key)
        killed, problem = attempt(lambda: self._checked(self._kill(key)))
        if killed is not None and (problem := _no_kill(killed)):
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
        problem = unsettled or self._found_problem(before, found, key, journal)
        killed = Killed(killed.point, tuple(killed.processes), key)
        return self._restart(killed, before, found, problem)

    def _checked(self, answer: Killed) -> Killed:
        killed = checked_killed(answer)
        return killed if killed.key is None else replace(killed, key=self.subject.key(killed.key))

    def _kill(self, key: Row | None) -> Killed:
        """By the service's own hold points; on a server by ours, for a driver that names the process."""
        driver = self.subject.driver
        if isinstance(driver, ProcessDriver):
            from arrowproof.conformance.held_kill import HeldKill
            from arrowproof.conformance.postgresql_journal import PostgresJournal

            if isinstance(self.subject.journal, PostgresJournal):
                return HeldKill(self.subject, driver, self.subject.journal, self.transition, key).kill(self.side)
        return abilities.kill(driver, self.transition, key, self.side)

    def _restart(self, killed: Killed, before: BoundRow | None, found: BoundRow | None, problem: str | None) -> Kill:
        walked, failure = attempt(
            lambda: keyed(
                self.subject,
                checked_walked(abilities.recover(self.subject.driver, self.transition, killed, self.side), "recover"),
            )
        )
        key, ahead = (killed.key, ()) if walked is None else (walked.key, walked.ahead)
        restarted = self.subject.row(key)
        key = self.subject.stored_key(key, restarted)
        journal = self.subject.journal.rows(after=self.mark)
        problem = (
            problem
            or failure
            or self._ahead_problem(ahead)
            or journal_problem(self.subject, self.transition, key, journal, ahead)
            or state_problem(self.subject, self.transition.target, restarted, "After the restart")
        )
        rows = (before, found, restarted)
        return _kill_record(self.transition, self.side, key, killed, rows, journal, problem, walked)

    def _only_key(self, journal: Sequence[JournalRow]) -> Row | None:
        """The key of the one row that was worked on; the client of a killed creation has no other way to it."""
        keys = {row.key for row in journal if not self.subject.is_beat(row)}
        return keys.pop() if len(keys) == 1 else None

    def _ahead_problem(self, ahead: Sequence[Pair]) -> str | None:
        """Why a restart may not go by these transitions first; None if it may."""
        name = self.transition.name
        if ahead and self.side is Side.AFTER:
            return f"{name} was committed ahead of the kill; the driver says that other transitions came ahead of it."
        if self.transition.pair in ahead:
            return f"The driver says that the restart made {name} more than once."
        return None

    def _found_problem(
        self, before: BoundRow | None, found: BoundRow | None, key: Row | None, journal: Sequence[JournalRow]
    ) -> str | None:
        if self.side is Side.AFTER:
            return journal_problem(self.subject, self.transition, key, journal) or state_problem(
                self.subject, self.transition.target, found, "After the kill"
            )
        work = [row for row in journal if not self.subject.is_beat(row)]
        if work:
            return f"Killed before its commit, yet the journal holds {describe(self.subject, work)}."
        if changed := _difference(before, found, self.subject.beats):
            return f"Killed before its commit, yet the row was changed: {changed}."
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
    if any(process.ended == KILLED for process in killed.processes):
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
