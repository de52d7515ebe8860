"""Extremes: lifecycles at the edge of what a page must keep readable, 15 states and 28 arrows, one builder to a family.

A model of this size is a small one however its arrows are spread and however much each says.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from itertools import pairwise, product

from arrowproof.model.evidence import Evidence, Place, SneakPath, Statement
from arrowproof.model.lifecycle import Arrow, Kind, Lifecycle, State
from tests.render.evidence_builder import build_evidence
from tests.render.pages import state

STATES, ARROWS = 15, 28
"""The most that a model of these families has."""

_KINDS = (Kind.WAITING, Kind.ACTIVE, Kind.NEUTRAL)
_WORDS = ("claim", "time out", "cancel by user", "retry later", "approve", "send back for review", "hold", "resume")


def _states(count: int) -> tuple[State, ...]:
    """A state of every kind; the last two are a failure and a success."""
    middle = [state(f"s{number}", _KINDS[number % 3], f"Step {number}") for number in range(count - 2)]
    return (*middle, state("failed", Kind.FAILURE, "Failed"), state("done", Kind.SUCCESS, "Done"))


def _model(name: str, states: Iterable[State], ends: Iterable[tuple[str | None, str | None]]) -> Lifecycle:
    """A lifecycle with an arrow for each of these ends, in their order, each with a label of its own."""
    arrows = tuple(
        Arrow(f"a{number}", source, target, f"{_WORDS[number % len(_WORDS)]} {number}")
        for number, (source, target) in enumerate(ends)
    )
    return Lifecycle(name, name.replace("-", " ").capitalize(), tuple(states), arrows)


def parallel() -> Lifecycle:
    """All arrows from one state to one other."""
    return _model("parallel", _states(2), [("failed", "done")] * ARROWS)


def to_and_fro() -> Lifecycle:
    """Half of the arrows from one state to another, and the other half back."""
    return _model("to-and-fro", _states(3), [("s0", "failed"), ("failed", "s0")] * (ARROWS // 2))


def selves() -> Lifecycle:
    """All arrows from one state to itself."""
    return _model("selves", _states(2), [("failed", "failed")] * ARROWS)


def dense() -> Lifecycle:
    """Six states, nearly all of them joined both ways."""
    states = _states(6)
    names = [each.id for each in states]
    return _model("dense", states, [(one, two) for one, two in product(names, names) if one != two][:ARROWS])


def star() -> Lifecycle:
    """One state that all others lead to and come from."""
    states = _states(STATES)
    hub, *others = (each.id for each in states)
    return _model("star", states, [ends for other in others for ends in ((hub, other), (other, hub))])


def chain() -> Lifecycle:
    """All states in a row, each with an arrow to the next one and one back."""
    names = [each.id for each in _states(STATES)]
    steps = list(pairwise(names))
    return _model("chain", _states(STATES), [*steps, *((after, before) for before, after in steps)])


def returning() -> Lifecycle:
    """All states in a row, and from each an arrow back to the first."""
    names = [each.id for each in _states(STATES)]
    return _model("returning", _states(STATES), [*pairwise(names), *((name, names[0]) for name in names[1:])])


def wordy() -> Lifecycle:
    """A lifecycle of a usual shape, in which every arrow has a long event, a long guard and a long effect."""
    states = _states(STATES)
    names = [each.id for each in states]
    ends: list[tuple[str | None, str | None]] = [(None, "s0"), *pairwise(names[:-2])]
    ends += [(name, "failed") for name in names[:-2:2]] + [("s12", "done"), ("failed", "s0")]
    ends += [(name, "s1") for name in names[3:12:2]]
    model = _model("wordy", states, ends[:ARROWS])
    arrows = tuple(
        replace(
            arrow,
            event=f"the operator confirms step {number} by hand",
            guard=f"attempts < max_attempts and priority >= {number}",
            effect=f"history row {number} is written and mailed out",
        )
        for number, arrow in enumerate(model.arrows)
    )
    return replace(model, arrows=arrows)


def wordy_parallel() -> Lifecycle:
    """All arrows between two states, each with a long event, guard and effect."""
    return replace(parallel(), id="wordy-parallel", arrows=_wordy(parallel().arrows))


def wordy_dense() -> Lifecycle:
    """Six states, nearly all joined both ways, by arrows that say much."""
    return replace(dense(), id="wordy-dense", arrows=_wordy(dense().arrows))


def _wordy(arrows: Iterable[Arrow]) -> tuple[Arrow, ...]:
    return tuple(
        replace(each, event=f"operator confirms {each.id}", guard="attempts < max_attempts", effect="mail is sent")
        for each in arrows
    )


def noted() -> Lifecycle:
    """A dense lifecycle, every state of which has a note of two lines."""
    model = dense()
    states = tuple(
        replace(each, note=f"waits for the operator, who looks at {each.id} by hand") for each in model.states
    )
    return replace(model, id="noted", states=states)


FAMILIES: Mapping[str, Callable[[], Lifecycle]] = {
    "parallel": parallel,
    "to and fro": to_and_fro,
    "selves": selves,
    "dense": dense,
    "star": star,
    "chain": chain,
    "returning": returning,
    "wordy": wordy,
    "wordy parallel": wordy_parallel,
    "wordy dense": wordy_dense,
    "noted": noted,
}


def with_sneak_paths(lifecycle: Lifecycle, count: int, unknown: int) -> Evidence:
    """Evidence of a lifecycle with so many sneak paths, of which the last ones lead to values that are no state."""
    names = [each.id for each in lifecycle.stored_states]
    known = {(arrow.source, arrow.target) for arrow in lifecycle.arrows}
    free = [pair for pair in product(reversed(names), names) if pair not in known and pair[0] != pair[1]]
    step = max(1, len(free) // max(count - unknown, 1))
    pairs = free[::step][: count - unknown]
    pairs += [(names[number % len(names)], f"value {number % 3}") for number in range(unknown)]
    statement = Statement(Place("sql/rows.sql", 3, "move"), "UPDATE rows SET state = :state WHERE id = :id")
    return build_evidence(lifecycle, sneak_paths=[SneakPath(*pair, possible=(statement,)) for pair in pairs])
