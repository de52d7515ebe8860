"""The check of a guard that is installed: every pair is tried, and each way of writing that gets around careless ones.

The database is a bench (:class:`GuardBench`): an empty copy of the table for SQLite, a transaction that is rolled back
for PostgreSQL. Rows come to their state by transitions of the model alone, so that any guard can be checked, whoever
wrote it. A state that cannot be reached so is not tried, and neither is a write that another constraint refuses: a
guard is credited with nothing that it has not been seen to refuse.

Sneak paths that the owner accepts are not tried: a guard may refuse them or let them through.

What a trigger refuses on the bench it may let through elsewhere, where it looks at other tables, at settings or at the
clock. For a proof those are set aside, and the rest is checked: see :mod:`arrowproof.conformance.guard_reads`.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import AbstractContextManager
from enum import StrEnum
from pathlib import Path
from typing import Protocol

from arrowproof.conformance.display import one_line
from arrowproof.conformance.guard import Allowed, read_allowed
from arrowproof.errors import InputError
from arrowproof.model.evidence import Guard
from arrowproof.model.lifecycle import Lifecycle, StateValue
from arrowproof.model.record import record
from arrowproof.model.transitions import Pair, derive_transitions, transition_name


class Outcome(StrEnum):
    """What became of a write. ``UNTRIED`` is one that something other than the guard prevented."""

    LET_THROUGH = "let through"
    REFUSED = "refused"
    UNTRIED = "not tried"


@record
class Answer:
    """What a database answered to a write, and in which words when it was not let through."""

    outcome: Outcome
    said: str = ""


class GuardBench(Protocol):
    """A database to try writes on. A row is known by a number, a state by its id; every write is one statement."""

    @property
    def ways(self) -> tuple[str, ...]:
        """The ways of writing, by name, the plain one first; each is tried for every pair."""

    def undo(self) -> AbstractContextManager[None]:
        """A block whose writes are undone at its end."""

    def write(self, way: str, row: int, source: str | None, target: str | None) -> Answer | None:
        """Bring a row from a state (None: there is none) to another (None: remove it) in this way.

        None where that way has no such statement.
        """

    def touches(self, row: int) -> Iterator[tuple[str, Answer]]:
        """Writes that leave the row as it is and have to pass, by what they are called."""

    def loopholes(self) -> Iterator[tuple[str, Answer]]:
        """What no write of the bench shows and a guard has to refuse all the same, by what it is called."""

    def set_aside(self, allowed: Allowed) -> tuple[str, ...]:
        """Take away every trigger that may look at more than the row; what each looks at, as ``strict: the clock``."""


@record
class GuardTrial:
    """One write: what it was, how it should have ended, and how it did."""

    name: str
    wanted: Outcome
    answer: Answer

    @property
    def is_right(self) -> bool:
        """Whether it ended as it should."""
        return self.answer.outcome is self.wanted

    def __str__(self) -> str:
        said = f": {one_line(self.answer.said, 200)}" if self.answer.said else ""
        return f"{self.name} was {self.answer.outcome}, and had to be {self.wanted}{said}"


@record
class GuardCheck:
    """Every write that was tried, in order.

    ``set_aside`` are the triggers that were taken away ahead of it, each with what it looks at besides the row.
    """

    trials: tuple[GuardTrial, ...]
    set_aside: tuple[str, ...] = ()

    @property
    def leaks(self) -> tuple[GuardTrial, ...]:
        """Undeclared writes that were let through."""
        return self._wrong(Outcome.LET_THROUGH)

    @property
    def wrongly_refused(self) -> tuple[GuardTrial, ...]:
        """Writes of the model, or touches, that were refused."""
        return self._wrong(Outcome.REFUSED)

    @property
    def untried(self) -> tuple[GuardTrial, ...]:
        """Writes that something else prevented."""
        return self._wrong(Outcome.UNTRIED)

    def _wrong(self, outcome: Outcome) -> tuple[GuardTrial, ...]:
        return tuple(trial for trial in self.trials if not trial.is_right and trial.answer.outcome is outcome)

    @property
    def holds(self) -> bool:
        """Whether every write ended as it should, and something was refused."""
        return self.as_evidence().holds and all(trial.is_right for trial in self.trials)

    def as_evidence(self) -> Guard:
        """The undeclared writes, and how many of them were refused."""
        undeclared = [trial for trial in self.trials if trial.wanted is Outcome.REFUSED]
        return Guard(len(undeclared), sum(trial.is_right for trial in undeclared))


def check_guard_of(address: Path | str, lifecycle: Lifecycle, *, by_row_alone: bool = False) -> GuardCheck:
    """Check the guard of a database: a SQLite file, or a PostgreSQL server by its URL. Nothing in it is changed.

    Args:
        address: the database.
        lifecycle: what the guard has to hold.
        by_row_alone: whether only what looks at the row alone is checked. On PostgreSQL this takes the table's owner.

    Raises:
        InputError: the lifecycle has no binding, the database does not fit it, or it cannot be used.
        MissingEnvironmentError: psycopg is missing, for a URL.
        ModelError: the transitions of the lifecycle cannot be derived.
    """
    binding = read_allowed(lifecycle).binding
    if isinstance(address, Path):
        from arrowproof.conformance.sqlite_guard_bench import sqlite_bench

        with sqlite_bench(address, lifecycle, binding) as bench:
            return check_guard(lifecycle, bench, by_row_alone=by_row_alone)
    from arrowproof.conformance.postgresql_guard_bench import postgresql_bench

    with postgresql_bench(address, lifecycle, binding) as server_bench:
        return check_guard(lifecycle, server_bench, by_row_alone=by_row_alone)


def check_guard(lifecycle: Lifecycle, bench: GuardBench, *, by_row_alone: bool = False) -> GuardCheck:
    """Try every pair in every way on the bench, whose rows are as they were afterwards.

    Raises:
        InputError: the lifecycle has no transition that creates a row.
        ModelError: its transitions cannot be derived.
    """
    declared = {transition.pair for transition in derive_transitions(lifecycle)}
    if not any(source is None for source, _ in declared):
        raise InputError(f"lifecycle {lifecycle.id!r} creates no row, so that there is none to try a guard on")
    accepted = {(path.source, path.target) for path in lifecycle.accepted_sneak_paths} - declared
    loopholes = tuple(GuardTrial(name, Outcome.REFUSED, answer) for name, answer in bench.loopholes())
    set_aside = bench.set_aside(read_allowed(lifecycle)) if by_row_alone else ()
    return GuardCheck((*_Check(lifecycle, bench, declared, accepted).trials(), *loopholes), set_aside)


@record
class _Check:
    lifecycle: Lifecycle
    bench: GuardBench
    declared: set[Pair]
    accepted: set[Pair]

    @property
    def strays(self) -> Mapping[str, StateValue]:
        """Values of no state."""
        return stray_values(self.lifecycle)

    def trials(self) -> Iterator[GuardTrial]:
        states = [state.id for state in self.lifecycle.stored_states]
        for created in (*states, *self.strays):
            yield from self._try(1, (None, created))
        ways = ways_to(self.declared)
        for state in states:
            with self.bench.undo():
                problem = self._place(ways.get(state))
                for target in (*states, *self.strays, None):
                    yield from self._try(1, (state, target), problem)
                if problem is None:
                    yield from self._touch(1, state)

    def _place(self, way: tuple[str, ...] | None) -> str | None:
        """Bring row 1 along a way of the model; why that was not possible, or None."""
        if way is None:
            return "the model has no way to this state"
        for source, target in zip((None, *way), way, strict=False):
            answer = self.bench.write(self.bench.ways[0], 1, source, target)
            if answer is None or answer.outcome is not Outcome.LET_THROUGH:
                return f"{transition_name(source, target)} on the way was not made: {answer.said if answer else ''}"
        return None

    def _try(self, row: int, pair: Pair, problem: str | None = None) -> Iterator[GuardTrial]:
        if pair in self.accepted:
            return
        wanted = Outcome.LET_THROUGH if pair in self.declared else Outcome.REFUSED
        for way in self.bench.ways:
            if problem is not None:
                yield GuardTrial(_named(way, pair), wanted, Answer(Outcome.UNTRIED, problem))
                return
            with self.bench.undo():
                answer = self.bench.write(way, row, *pair)
            # A value that the column itself cannot hold needs no guard.
            is_impossible = pair[1] in self.strays and answer is not None and answer.outcome is Outcome.UNTRIED
            if answer is not None and not is_impossible:
                yield GuardTrial(_named(way, pair), wanted, answer)

    def _touch(self, row: int, state: str) -> Iterator[GuardTrial]:
        for name, answer in self.bench.touches(row):
            yield GuardTrial(f"{name} in {state}", Outcome.LET_THROUGH, answer)


def stray_values(lifecycle: Lifecycle) -> Mapping[str, StateValue]:
    """Values that no state of the lifecycle has, by what a trial calls them: one of the states' type, and NULL."""
    values = [state.value for state in lifecycle.stored_states]
    numbers = [value for value in values if isinstance(value, int)]
    strays: dict[str, StateValue] = {}
    if "arrowproof" not in values:
        strays["a value of no state"] = max(numbers) + 1 if numbers else "arrowproof"
    if None not in values:
        strays["NULL, which is no state"] = None
    return strays


def ways_to(declared: set[Pair]) -> Mapping[str, tuple[str, ...]]:
    """For each state that can be reached from creation the shortest way: the states that a row goes through."""
    ways: dict[str, tuple[str, ...]] = {}
    ahead: list[tuple[str | None, tuple[str, ...]]] = [(None, ())]
    for reached, way in ahead:
        for source, target in sorted(declared, key=str):
            if source == reached and target is not None and target not in ways:
                ways[target] = (*way, target)
                ahead.append((target, ways[target]))
    return ways


def _named(way: str, pair: Pair) -> str:
    return f"{transition_name(*pair)} by {way}"
