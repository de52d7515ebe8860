"""Lint: does a lifecycle mean something, and does it mean what its author thinks?

Errors: the model means nothing, and every other command refuses it.

===================  ====================================================================================
duplicate-id         two states, two arrows or two views have the same id
unknown-state        an arrow, a view or an accepted sneak path names a state that is not there
unknown-arrow        a view names an arrow that is not there
value-collision      two stored states have the same value; 1 and "1" are the same to a column of one type
passing-cycle        passing states form a cycle: a transaction that never ends
passing-stuck        no way leads from a passing state to a stored state or to removal
too-many-paths       passing states multiply to more arrow paths than can be derived
passing-sneak-path   an accepted sneak path starts or ends at a passing state, which no row is ever in
===================  ====================================================================================

Warnings: it can be drawn and proven, and is probably not what was meant. `lint --strict` fails on them.

===================  ====================================================================================
no-creation          no arrow creates a row, so no state can be reached
unreachable-state    no way leads to it from creation
dead-end             a state without an outgoing arrow that is no success or failure and does not say ``terminal``
ending-goes-on       a success or failure state, or one that says ``terminal``, has an arrow to a state
repeated-arrow       two arrows have the same from, to, event and guard
unguarded-loop       a loop on which no arrow has a guard and no state is an ending: nothing says why it ends
similar-id           two ids differ only by case or white space
declared-sneak-path  an accepted sneak path is a transition of the model, so there is nothing to accept
repeated-sneak-path  a sneak path is accepted twice
===================  ====================================================================================

Readings. Removal is the end of a row's life and no way on: a success state may have an arrow without ``to``. A
success or failure state that says ``"terminal": false`` is left on purpose (a refund, a retry by hand), and is a dead
end without an arrow. A self arrow with an event is a reaction (a heartbeat, a renewed lease), which leaves the row
where it is, and no loop; without event and guard it is one. An event is no guard in a loop of several states: it says
when the row goes round, not why it stops. A row rests in a success or failure state, so a loop through one ends there,
and what there is to say of it is ``ending-goes-on``.

The warnings about reachability and endings wait until all ids are right: before that they would only repeat a typo.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Protocol

from arrowproof.errors import ERROR, WARNING, Problem
from arrowproof.model.document import short_json
from arrowproof.model.finding import finding
from arrowproof.model.graph import cycles, reachable
from arrowproof.model.lifecycle import AcceptedSneakPath, Arrow, Kind, Lifecycle, State
from arrowproof.model.transitions import derive_transitions, find_obstacles, transition_name

_MAX_SUGGESTIONS = 20
"""Near names are looked up for so many unknown ids: the search is slow, and more than that is no typo."""

_ENDINGS = (Kind.SUCCESS, Kind.FAILURE)
_ID_RULES = ("duplicate-id", "unknown-state")

Rule = Callable[[Lifecycle], Iterable[Problem]]


class _Named(Protocol):
    @property
    def id(self) -> str: ...


def lint(lifecycle: Lifecycle) -> tuple[Problem, ...]:
    """All errors and warnings of a lifecycle, in file order."""
    problems = [problem for rule in _RULES for problem in rule(lifecycle)]
    if not any(problem.rule in _ID_RULES for problem in problems):
        problems += [problem for rule in _RULES_OF_SOUND_IDS for problem in rule(lifecycle)]
    return tuple(sorted(problems, key=lambda problem: (problem.line, problem.column)))


def errors_of(problems: Iterable[Problem]) -> tuple[Problem, ...]:
    """The errors among problems, without the warnings."""
    return tuple(problem for problem in problems if problem.severity == ERROR)


def _duplicate_ids(lifecycle: Lifecycle) -> Iterator[Problem]:
    for name, entries in _named_lists(lifecycle):
        first: dict[str, int] = {}
        for index, entry in enumerate(entries):
            if entry.id in first:
                line, _ = lifecycle.origin.position(f"$.{name}[{first[entry.id]}]")
                message = f"another of the {name} has this id"
                fix = f"Rename one of the two; the first stands in line {line}."
                yield finding(lifecycle, "duplicate-id", f"$.{name}[{index}].id", message, fix, value=entry.id)
            first.setdefault(entry.id, index)


def _similar_ids(lifecycle: Lifecycle) -> Iterator[Problem]:
    for name, entries in _named_lists(lifecycle):
        first: dict[str, str] = {}
        for index, entry in enumerate(entries):
            like = first.setdefault("".join(entry.id.casefold().split()), entry.id)
            if like != entry.id:
                message = f"this id differs from {short_json(like)} only by case or white space"
                fix = "Rename one of them, so that nobody takes it for the other."
                path = f"$.{name}[{index}].id"
                yield finding(lifecycle, "similar-id", path, message, fix, value=entry.id, severity=WARNING)


def _unknown_ids(lifecycle: Lifecycle) -> Iterator[Problem]:
    suggest = _Suggestions()
    meant = _meant_states(lifecycle)
    for rule, path, name in _references(lifecycle):
        known = lifecycle.states_by_id if rule == "unknown-state" else lifecycle.arrows_by_id
        if name not in known:
            noun = rule.removeprefix("unknown-")
            fix = meant.get(name, "") if rule == "unknown-state" else ""
            fix = fix or suggest.near(name, tuple(known)) or f"Add the {noun}, or name one that is there."
            yield finding(lifecycle, rule, path, f"there is no {noun} with this id", fix, value=name)


def _meant_states(lifecycle: Lifecycle) -> dict[str, str]:
    """What a name that is no id says of a state otherwise, its value or its label: the way out for each."""
    meant: dict[str, str] = {}
    for noun in ("value", "label"):
        for state in lifecycle.states:
            said = state.value if noun == "value" else state.label
            if said is not None:
                meant.setdefault(str(said), f"That is the {noun} of {short_json(state.id)}; arrows name ids.")
    return meant


def _references(lifecycle: Lifecycle) -> Iterator[tuple[str, str, str]]:
    """Every use of an id: the rule that it must keep, its path, and the id."""
    ended: tuple[tuple[str, Sequence[Arrow | AcceptedSneakPath]], ...] = (
        ("arrows", lifecycle.arrows),
        ("accepted_sneak_paths", lifecycle.accepted_sneak_paths),
    )
    for name, entries in ended:
        for index, entry in enumerate(entries):
            for field, state in (("from", entry.source), ("to", entry.target)):
                if state is not None:
                    yield "unknown-state", f"$.{name}[{index}].{field}", state
    for index, view in enumerate(lifecycle.views):
        for position, state in enumerate(view.states):
            yield "unknown-state", f"$.views[{index}].states[{position}]", state
        for position, arrow in enumerate(view.arrows):
            yield "unknown-arrow", f"$.views[{index}].arrows[{position}]", arrow


def _value_collisions(lifecycle: Lifecycle) -> Iterator[Problem]:
    first: dict[str | None, State] = {}
    for index, state in enumerate(lifecycle.states):
        if not state.is_stored:
            continue
        other = first.setdefault(None if state.value is None else str(state.value), state)
        if other.id != state.id:
            path = f"$.states[{index}].value"
            path = path if path in lifecycle.origin.positions else f"$.states[{index}]"
            message = f"the state {short_json(other.id)} has this value too: {short_json(state.value)}"
            if type(other.value) is not type(state.value):
                message += f" (a column of one type cannot tell it from {short_json(other.value)})"
            yield finding(lifecycle, "value-collision", path, message, "Give each stored state a value of its own.")


def _stuck_passing_states(lifecycle: Lifecycle) -> Iterator[Problem]:
    passing = {state.id for state in lifecycle.states if not state.is_stored}
    backwards: dict[str, list[str]] = {}
    leaving = set()
    for arrow in lifecycle.arrows:
        if arrow.source in passing:
            if arrow.target in passing:
                backwards.setdefault(str(arrow.target), []).append(str(arrow.source))
            else:
                leaving.add(str(arrow.source))
    free = reachable(leaving, backwards)
    for index, state in enumerate(lifecycle.states):
        if state.id in passing - free:
            message = "no way leads from this passing state to a stored state or to removal"
            fix = "Add an arrow from it, or make it a stored state."
            yield finding(lifecycle, "passing-stuck", f"$.states[{index}]", message, fix, value=state.id)


def _sneak_paths(lifecycle: Lifecycle) -> Iterator[Problem]:
    declared = set()
    if not find_obstacles(lifecycle):
        declared = {transition.pair for transition in derive_transitions(lifecycle)}
    seen = set()
    for index, accepted in enumerate(lifecycle.accepted_sneak_paths):
        pair = (accepted.source, accepted.target)
        path = f"$.accepted_sneak_paths[{index}]"
        name = transition_name(*pair)
        for field, state in zip(("from", "to"), pair, strict=True):
            if state is not None and not lifecycle.states_by_id[state].is_stored:
                message = "a passing state is never stored, so no row is found in it"
                fix = "Name the stored states before and after it."
                yield finding(lifecycle, "passing-sneak-path", f"{path}.{field}", message, fix, value=state)
        if pair in declared:
            message, fix = "this is a transition of the model", "Remove it here, or remove its arrows."
            yield finding(lifecycle, "declared-sneak-path", path, message, fix, value=name, severity=WARNING)
        if pair in seen:
            message, fix = "this sneak path is accepted above already", "Remove one of the two."
            yield finding(lifecycle, "repeated-sneak-path", path, message, fix, value=name, severity=WARNING)
        seen.add(pair)


def _unreachable_states(lifecycle: Lifecycle) -> Iterator[Problem]:
    created = [arrow.target for arrow in lifecycle.arrows if arrow.source is None and arrow.target is not None]
    if not created:
        message = "no arrow creates a row, so no state can be reached"
        fix = 'Add an arrow without "from".'
        yield finding(lifecycle, "no-creation", "$.arrows", message, fix, severity=WARNING)
        return
    found = reachable(created, _successors(lifecycle, lifecycle.arrows))
    for index, state in enumerate(lifecycle.states):
        if state.id not in found:
            fix = "Add an arrow to it, or remove it."
            path, message = f"$.states[{index}]", "no way leads to this state from creation"
            yield finding(lifecycle, "unreachable-state", path, message, fix, value=state.id, severity=WARNING)


def _endings(lifecycle: Lifecycle) -> Iterator[Problem]:
    leaving = {arrow.source for arrow in lifecycle.arrows}
    going_on = {arrow.source for arrow in lifecycle.arrows if arrow.target is not None}
    for index, state in enumerate(lifecycle.states):
        is_ending = state.kind in _ENDINGS if state.terminal is None else state.terminal
        path = f"$.states[{index}]"
        if state.id not in leaving and not is_ending and state.is_stored:
            article = "an" if state.kind is Kind.ACTIVE else "a"
            message = f"a dead end: {article} {state.kind} state without an outgoing arrow"
            fix = 'Add an arrow, make it success or failure, or say "terminal": true.'
            if state.kind in _ENDINGS:
                fix = 'Add an arrow, or remove "terminal": false.'
            yield finding(lifecycle, "dead-end", path, message, fix, value=state.id, severity=WARNING)
        if state.id in going_on and is_ending:
            word = "terminal" if state.terminal else state.kind.value
            message = f"a {word} state with an arrow to another state or itself"
            fix = "Remove the arrow, or say that the state is active, waiting or neutral."
            if state.terminal is None:
                fix = f'Say "terminal": false in the state if that is meant. {fix}'
            yield finding(lifecycle, "ending-goes-on", path, message, fix, value=state.id, severity=WARNING)


def _repeated_arrows(lifecycle: Lifecycle) -> Iterator[Problem]:
    first: dict[tuple[str | None, ...], Arrow] = {}
    for index, arrow in enumerate(lifecycle.arrows):
        other = first.setdefault((arrow.source, arrow.target, arrow.event, arrow.guard), arrow)
        if other is not arrow and other.id != arrow.id:
            message = f"the arrow {short_json(other.id)} has the same from, to, event and guard"
            fix = "Remove one of the two, or say what tells them apart."
            path = f"$.arrows[{index}]"
            yield finding(lifecycle, "repeated-arrow", path, message, fix, value=arrow.id, severity=WARNING)


def _unguarded_loops(lifecycle: Lifecycle) -> Iterator[Problem]:
    passing = {state.id for state in lifecycle.states if not state.is_stored}
    endings = {state.id for state in lifecycle.states if state.kind in _ENDINGS or state.terminal}
    index = {state.id: number for number, state in enumerate(lifecycle.states)}
    free = [
        arrow
        for arrow in lifecycle.arrows
        if arrow.guard is None and not (arrow.source == arrow.target and arrow.event is not None)
    ]
    for cycle in cycles(_successors(lifecycle, free)):
        if not passing.issuperset(cycle) and endings.isdisjoint(cycle):  # those are an error or a warning already
            message = f"no guard says why this loop ends, {' -> '.join(short_json(node) for node in cycle)}"
            fix = 'Give one of its arrows a "guard".'
            path = f"$.states[{index[cycle[0]]}]"
            yield finding(lifecycle, "unguarded-loop", path, message, fix, severity=WARNING)


def _successors(lifecycle: Lifecycle, arrows: Iterable[Arrow]) -> dict[str, list[str]]:
    successors: dict[str, list[str]] = {state.id: [] for state in lifecycle.states}
    for arrow in arrows:
        if arrow.source is not None and arrow.target is not None:
            successors[arrow.source].append(arrow.target)
    return successors


def _named_lists(lifecycle: Lifecycle) -> tuple[tuple[str, Sequence[_Named]], ...]:
    return (("states", lifecycle.states), ("arrows", lifecycle.arrows), ("views", lifecycle.views))


class _Suggestions:
    """Near names for unknown ids, for the first few of them."""

    def __init__(self) -> None:
        self._left = _MAX_SUGGESTIONS

    def near(self, name: str, known: Sequence[str]) -> str:
        """``Did you mean …?``, or an empty string."""
        from difflib import get_close_matches  # late: for wrong models only

        self._left -= 1
        near = get_close_matches(name, known, n=1) if self._left >= 0 else []
        return f"Did you mean {short_json(near[0])}?" if near else ""


_RULES: Sequence[Rule] = (
    _duplicate_ids,
    _similar_ids,
    _unknown_ids,
    _value_collisions,
    find_obstacles,
    _stuck_passing_states,
    _repeated_arrows,
)

_RULES_OF_SOUND_IDS: Sequence[Rule] = (
    _sneak_paths,
    _unreachable_states,
    _endings,
    _unguarded_loops,
)
