"""The winner: whether several workers on one row have come out right, by the journal alone.

One of the wanted transitions left the state in which all found the row, and only one. What came behind it went on from
where the row stood by then, by transitions of the model. Nobody changed a row that was finished, nobody named its state
once more, and no removed row came back. What a counter lost is judged by the watched columns: where every walk of each
of these transitions added to a number, all of them together have to add as much.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import field

from arrowproof.conformance.rows import BoundRow
from arrowproof.conformance.walks import Subject, describe, state_problem
from arrowproof.model.evidence import JournalKind, JournalRow, Row, Walk
from arrowproof.model.record import record
from arrowproof.model.transitions import Pair, Transition, transition_name


@record
class Habit:
    """What each walk of a transition left in the journal when nobody else was there.

    ``added`` is what it added to each watched number, where all walks agree; ``afterwards`` is how many rows came
    behind its own, at most.
    """

    added: Mapping[str, int | float] = field(default_factory=dict)
    afterwards: int = 0


def habits_of(subject: Subject, walks: Sequence[Walk]) -> Mapping[Pair, Habit]:
    """The habit of each transition that was walked, by the walks that went right."""
    by_pair: dict[Pair, list[Walk]] = {}
    for walk in walks:
        if walk.problem is None:
            by_pair.setdefault((walk.source, walk.target), []).append(walk)
    return {pair: _habit(subject, of_pair) for pair, of_pair in by_pair.items()}


def rivalry_problem(
    subject: Subject,
    wanted: tuple[Transition, Transition],
    key: Row,
    after: BoundRow | None,
    journal: Sequence[JournalRow],
    habits: Mapping[Pair, Habit],
) -> str | None:
    """What is wrong with what several workers made of one row; None when all is right.

    Args:
        subject: what is proven.
        wanted: what the first worker and the others were set off to make, out of one state.
        key: the row.
        after: the row when all had ended.
        journal: all that the journal holds since they were set off.
        habits: what the transitions leave when they are walked alone.
    """
    others = [row for row in journal if row.key != key and not subject.is_beat(row)]
    if others:
        return f"Another row was changed too: {describe(subject, others)}."
    journal = [row for row in journal if row.key == key]
    made = [(row, pair) for row in journal if (pair := subject.pair(row)) is not None]
    if not made:
        return "Nobody made a transition: each kept the other from it."
    said = f"The journal holds {describe(subject, journal)}."
    problem = next(_chain_problems(subject, wanted, [pair for _, pair in made]), None)
    if problem is not None:
        return f"{problem} {said}"
    last, (_, target) = made[-1]
    late = [row for row in journal[journal.index(last) + 1 :] if not subject.is_beat(row)]
    problem = _late_problem(subject, target, late, habits.get(made[-1][1], Habit()).afterwards) or _lost_problem(
        [pair for _, pair in made], journal, habits
    )
    if problem is not None:
        return f"{problem} {said}"
    return state_problem(subject, target, after, "At the end")


def _chain_problems(subject: Subject, wanted: tuple[Transition, Transition], made: Sequence[Pair]) -> Iterator[str]:
    if made[0] not in [each.pair for each in wanted]:
        yield f"{transition_name(*made[0])} was made, which nobody was set off to make."
    stands: str | None = wanted[0].source
    for number, pair in enumerate(made):
        name = transition_name(*pair)
        if stands is None:
            yield f"{name} was made of a row that was removed."
        if pair[0] != stands:
            yield f"{name} was made of a row that stood in {stands}."
        if pair not in subject.transitions:
            which = "the winner" if number == 0 else "a late worker"
            yield f"{name}, which the model does not have, was made by {which}."
        stands = pair[1]


def _late_problem(subject: Subject, state: str | None, late: Sequence[JournalRow], usual: int) -> str | None:
    """Why what came behind the last transition is wrong, where it is more than ever comes there."""
    if len(late) <= usual:
        return None
    if any(row.kind is JournalKind.NAMED for row in late):
        return f"A late worker wrote the state {state} once more: two had the row."
    if state is not None and _is_finished(subject, state):
        return f"A late worker changed the row, which was finished in {state}."
    return None


def _is_finished(subject: Subject, state: str) -> bool:
    """Whether a row that is in this state has come to its end: nothing leads out of it but its removal."""
    goes_on = any(source == state and target is not None for source, target in subject.transitions)
    return bool(subject.lifecycle.states_by_id[state].terminal) or not goes_on


def _lost_problem(made: Sequence[Pair], journal: Sequence[JournalRow], habits: Mapping[Pair, Habit]) -> str | None:
    added = [habits.get(pair, Habit()).added for pair in made]
    total = _added(journal)
    for column in sorted(set.intersection(*(set(each) for each in added))):
        steps = [each[column] for each in added]
        wanted, found = sum(steps), total.get(column, 0)
        if min(steps) >= 0 and found < wanted:
            return f"{column} grew by {found}, where each of what was made adds to it, {wanted} in all: one was lost."
    return None


def _habit(subject: Subject, walks: Sequence[Walk]) -> Habit:
    every = [_added(walk.journal) for walk in walks]
    agreed = {name: value for name, value in every[0].items() if all(each.get(name) == value for each in every)}
    return Habit(agreed, max(_rows_behind(subject, walk.journal) for walk in walks))


def _added(journal: Sequence[JournalRow]) -> dict[str, int | float]:
    """What updates added to each watched number."""
    added: dict[str, int | float] = {}
    for row in journal:
        old = dict(row.old_watched)
        for name, value in row.new_watched:
            before = old.get(name)
            if _is_number(before) and _is_number(value):
                added[name] = added.get(name, 0) + value - before  # type: ignore[operator]  # numbers, as was asked
    return added


def _is_number(value: object) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def _rows_behind(subject: Subject, journal: Sequence[JournalRow]) -> int:
    work = [row for row in journal if not subject.is_beat(row)]
    last = max((at for at, row in enumerate(work) if subject.pair(row) is not None), default=len(work) - 1)
    return len(work) - 1 - last
