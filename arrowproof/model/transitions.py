"""Transitions: what a database can witness of a lifecycle.

A transition is a walk along arrows from one stored state (or creation) to the next stored state (or removal), through
passing states only. Its identity is the pair (source, target); it lists every arrow path that makes it.

Two rules guard the derivation, and lint reports them as errors:

===============  ========================================================================================
rule             what is wrong
===============  ========================================================================================
passing-cycle    passing states form a cycle, so that a walk through them never ends
too-many-paths   there are more than MAX_PATHS arrow paths (layers of passing states multiply), or they are longer
                 than MAX_STEPS arrows in all (long chains behind such layers)
===============  ========================================================================================
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping

from arrowproof.errors import ModelError, Problem
from arrowproof.model.document import short_json
from arrowproof.model.finding import finding, source_name
from arrowproof.model.graph import components, cycles
from arrowproof.model.lifecycle import Arrow, Lifecycle
from arrowproof.model.record import record

CREATED = "created"
REMOVED = "removed"

MAX_PATHS = 10_000
"""Arrow paths of one lifecycle. The largest file without passing states has 5000; nobody can prove or read more."""

MAX_STEPS = 250_000
"""Arrows of all arrow paths of one lifecycle, each counted in every path that it is on."""

Pair = tuple[str | None, str | None]


@record
class Transition:
    """A pair of stored state ids; ``source`` None is creation, ``target`` None is removal.

    ``paths`` holds each sequence of arrow ids that makes the transition, in file order.
    """

    source: str | None
    target: str | None
    paths: tuple[tuple[str, ...], ...] = ()

    @property
    def pair(self) -> Pair:
        """The transition's identity."""
        return (self.source, self.target)

    @property
    def name(self) -> str:
        """How people read it: ``pending -> completed``, ``created -> pending``."""
        return transition_name(self.source, self.target)


def transition_name(source: str | None, target: str | None) -> str:
    """The readable name of a pair of state ids.

    A state whose id is the word for creation or removal stands in quotes: ``created -> "created"`` creates a row in it.
    """
    return f"{source_text(source)} -> {REMOVED if target is None else _told_apart(target)}"


def source_text(source: str | None) -> str:
    """Where a transition begins, as people read it: a state's id, or the word for creation."""
    return CREATED if source is None else _told_apart(source)


def _told_apart(state_id: str) -> str:
    return f'"{state_id}"' if state_id in (CREATED, REMOVED) else state_id


def derive_transitions(lifecycle: Lifecycle) -> tuple[Transition, ...]:
    """Every transition of a lifecycle without lint errors, in the order of its first arrow path in the file.

    Raises:
        ModelError: passing states form a cycle, or there are more arrow paths than MAX_PATHS and MAX_STEPS allow.
    """
    problems = find_obstacles(lifecycle)
    if problems:
        raise ModelError(source_name(lifecycle), problems)
    leaving = _leaving_passing(lifecycle)
    counts = _count_paths(leaving)
    paths: dict[Pair, list[tuple[str, ...]]] = {}
    for first in lifecycle.arrows:
        if first.source not in leaving:
            for walk in _walks(first, leaving, counts):
                paths.setdefault((first.source, walk[-1].target), []).append(tuple(arrow.id for arrow in walk))
    return tuple(Transition(source, target, tuple(found)) for (source, target), found in paths.items())


def transition_map(lifecycle: Lifecycle) -> Mapping[Pair, Transition]:
    """The same transitions under their pairs, in the same order.

    Raises:
        ModelError: as for :func:`derive_transitions`.
    """
    return {transition.pair: transition for transition in derive_transitions(lifecycle)}


def find_obstacles(lifecycle: Lifecycle) -> tuple[Problem, ...]:
    """Why the transitions of a lifecycle cannot be derived: every cycle of passing states, or too many arrow paths."""
    leaving = _leaving_passing(lifecycle)
    index = {state.id: number for number, state in enumerate(lifecycle.states)}
    found = [
        finding(
            lifecycle,
            "passing-cycle",
            f"$.states[{index[cycle[0]]}]",
            f"passing states form a cycle, {' -> '.join(short_json(node) for node in cycle)}",
            "Make one of them a stored state, or remove an arrow between them.",
        )
        for cycle in cycles(_passing_graph(leaving))
    ]
    if not found:
        counts = _count_paths(leaving)
        first = [arrow for arrow in lifecycle.arrows if arrow.source not in leaving]
        message = None
        if sum(_paths_of(arrow, counts) for arrow in first) > MAX_PATHS:
            message = f"passing states multiply to more than {MAX_PATHS} arrow paths"
        elif _count_steps(first, _steps_behind(leaving, counts), counts) > MAX_STEPS:
            message = f"passing states multiply to arrow paths of more than {MAX_STEPS} arrows in all"
        if message:
            fix = "Make one of the passing states a stored state, or merge arrows between them."
            found.append(finding(lifecycle, "too-many-paths", "$.arrows", message, fix))
    return tuple(found)


_Leaving = Mapping[str | None, list[Arrow]]
"""The arrows that leave each passing state."""


def _leaving_passing(lifecycle: Lifecycle) -> _Leaving:
    leaving: dict[str | None, list[Arrow]] = {state.id: [] for state in lifecycle.states if not state.is_stored}
    for arrow in lifecycle.arrows:
        if arrow.source in leaving:
            leaving[arrow.source].append(arrow)
    return leaving


def _passing_graph(leaving: _Leaving) -> dict[str, list[str]]:
    """The passing states and the arrows between them."""
    return {
        node: [arrow.target for arrow in arrows if arrow.target is not None and arrow.target in leaving]
        for node, arrows in leaving.items()
        if node is not None
    }


def _count_paths(leaving: _Leaving) -> dict[str | None, int]:
    """For each passing state the number of arrow paths from it to a stored state or removal. There is no cycle."""
    counts: dict[str | None, int] = {}
    for (node,) in components(_passing_graph(leaving)):  # what a state leads to comes before it
        counts[node] = sum(_paths_of(arrow, counts) for arrow in leaving[node])
    return counts


def _steps_behind(leaving: _Leaving, counts: Mapping[str | None, int]) -> dict[str | None, int]:
    """For each passing state how many arrows all arrow paths from it have together."""
    steps: dict[str | None, int] = {}
    for (node,) in components(_passing_graph(leaving)):
        steps[node] = _count_steps(leaving[node], steps, counts)
    return steps


def _count_steps(arrows: Iterable[Arrow], steps: Mapping[str | None, int], counts: Mapping[str | None, int]) -> int:
    return sum(_paths_of(arrow, counts) + steps.get(arrow.target, 0) for arrow in arrows)


def _paths_of(arrow: Arrow, counts: Mapping[str | None, int]) -> int:
    return counts.get(arrow.target, 1)


def _walks(first: Arrow, leaving: _Leaving, counts: Mapping[str | None, int]) -> Iterator[tuple[Arrow, ...]]:
    """Every walk that starts with ``first`` and ends at a stored state or removal, in file order."""
    stack: list[tuple[Arrow, ...]] = [(first,)] if _paths_of(first, counts) else []
    while stack:
        walk = stack.pop()
        if walk[-1].target in leaving:
            following = [arrow for arrow in leaving[walk[-1].target] if _paths_of(arrow, counts)]
            stack.extend((*walk, arrow) for arrow in reversed(following))
        else:
            yield walk
