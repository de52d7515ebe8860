"""Tours: how a proof gets a row to each transition.

A tour is steps from creation on. Two kinds are planned, and the same model gives the same tours:

* for each arrow path of each transition one tour that is as short as can be, of which the last step is the one to be
  witnessed, by that path (:func:`plan_tours`): for whatever needs a row of its own, such as a kill;
* the fewest tours that take every arrow path of every transition, and of those the shortest (:func:`plan_cover`). A
  tour is one row that is created, so that few are. What a row can do may depend on more than its state, so that a tour
  which goes on for long can come to a step that the service does not make then; with the cover come the shortest tours,
  by which that step and those behind it are walked instead. Where a model is so large that the fewest are not found in
  good time, the shortest tours are the plan.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Sequence
from dataclasses import replace

from arrowproof.model.cover import Edge, cover
from arrowproof.model.lifecycle import Lifecycle
from arrowproof.model.record import record
from arrowproof.model.transitions import Pair, Transition, derive_transitions

PathGoal = tuple[Pair, tuple[str, ...]]
"""A transition by its pair, and one of its arrow paths."""


@record
class Tour:
    """Steps from creation; the last is the goal, to be walked by the arrow path ``goal_path``.

    Any other step whose ``paths`` are one alone is to be walked by that one.
    """

    steps: tuple[Transition, ...]
    goal_path: tuple[str, ...]

    @property
    def goal(self) -> Transition:
        """The transition that this tour is for: its last step."""
        return self.steps[-1]

    @property
    def path_goal(self) -> PathGoal:
        """The goal and its arrow path."""
        return (self.goal.pair, self.goal_path)


@record
class Plan:
    """The tours to walk, and the transitions that no row can come to.

    ``alone`` are the shortest tours, one for each arrow path, where ``tours`` are a cover; what the cover does not come
    to is walked by them. ``pairs`` are the shortest tours that end with each pair of transitions, where all pairs are
    wanted.
    """

    tours: tuple[Tour, ...]
    unreachable: tuple[Transition, ...] = ()
    alone: tuple[Tour, ...] = ()
    pairs: tuple[Tour, ...] = ()

    @property
    def shortest(self) -> tuple[Tour, ...]:
        """A shortest tour to each goal."""
        return self.alone or self.tours

    @property
    def one_each(self) -> tuple[Tour, ...]:
        """A shortest tour to each transition, whatever its arrow paths: the shorter ones first.

        So each finds another row in the state that its goal leaves, left there by a shorter one.
        """
        chosen: dict[Pair, Tour] = {}
        for tour in self._shorter_first():
            chosen.setdefault(tour.goal.pair, tour)
        return tuple(chosen.values())

    @property
    def to_stand_by(self) -> tuple[Tour, ...]:
        """A shortest tour to each state that a transition leaves.

        Their rows stay there, and whoever changes every row of a state, in place of the one that was asked for, changes
        them as well.
        """
        left = {step.source for tour in self.shortest for step in tour.steps}
        chosen: dict[str | None, Tour] = {}
        for tour in self._shorter_first():
            if tour.goal.target is not None and tour.goal.target in left:
                chosen.setdefault(tour.goal.target, tour)
        return tuple(chosen.values())

    def _shorter_first(self) -> list[Tour]:
        return sorted(self.shortest, key=lambda tour: len(tour.steps))


def plan_tours(lifecycle: Lifecycle) -> Plan:
    """One shortest tour for each arrow path of each transition.

    Raises:
        ModelError: the transitions cannot be derived (see :func:`derive_transitions`).
    """
    transitions = derive_transitions(lifecycle)
    ways = _shortest_ways(transitions)
    tours = tuple(
        Tour((*ways[transition.source], transition), path)
        for transition in transitions
        if transition.source in ways
        for path in transition.paths
    )
    return Plan(tours, tuple(transition for transition in transitions if transition.source not in ways))


def plan_cover(lifecycle: Lifecycle, *, pairs: bool = False) -> Plan:
    """The fewest tours, and of those the shortest, that take every arrow path of every transition.

    Args:
        lifecycle: the model.
        pairs: whether every pair of transitions that can follow each other is taken as well (1-switch).

    Raises:
        ModelError: the transitions cannot be derived (see :func:`derive_transitions`).
    """
    alone = plan_tours(lifecycle)
    reached = list(dict.fromkeys(tour.goal for tour in alone.tours))
    found = _cover_of_pairs(reached) if pairs else _cover(reached)
    ends = _pair_tours(reached) if pairs else ()
    if found is None:
        return replace(alone, pairs=ends)
    tours, seen = [], set[PathGoal]()
    for steps in found:
        narrowed = tuple(_narrowed(step, seen) for step in steps)
        tours.append(Tour(narrowed, narrowed[-1].paths[0]))
    return Plan(tuple(tours), alone.unreachable, alone.tours, ends)


def _narrowed(step: Transition, seen: set[PathGoal]) -> Transition:
    """A step that is to be taken by its first arrow path that no step before it takes; by any where all are taken."""
    for path in step.paths:
        if (step.pair, path) not in seen:
            seen.add((step.pair, path))
            return replace(step, paths=(path,))
    return step


def _cover(transitions: Sequence[Transition]) -> list[list[Transition]] | None:
    """A cover whose vertices are the states, and whose edges are the transitions, once for each arrow path."""
    edges = [
        Edge((step.source,), (step.target, "end") if step.target is None else (step.target,), len(step.paths))
        for step in transitions
    ]
    walks = cover(edges, (None,))
    return None if walks is None else [[transitions[number] for number in walk] for walk in walks]


def _cover_of_pairs(transitions: Sequence[Transition]) -> list[list[Transition]] | None:
    """A cover whose vertices are the transitions, and whose edges are the pairs of them that can follow each other."""
    edges, steps = [], []
    for latter in transitions:
        formers: list[object] = [former.pair for former in _before(latter, transitions)]
        formers = formers if latter.source is not None else ["start"]
        # As often as it has arrow paths, where fewer pairs than that end with it.
        times = [1 + max(0, len(latter.paths) - len(formers)), *(1 for _ in formers[1:])]
        edges += [Edge(former, latter.pair, count) for former, count in zip(formers, times, strict=True)]
        steps += [latter] * len(formers)
    walks = cover(edges, "start")
    return None if walks is None else [[steps[number] for number in walk] for walk in walks]


def _pair_tours(transitions: Sequence[Transition]) -> tuple[Tour, ...]:
    ways = _shortest_ways(transitions)
    return tuple(
        Tour((*ways[former.source], former, latter), latter.paths[0])
        for latter in transitions
        for former in _before(latter, transitions)
    )


def _before(latter: Transition, transitions: Iterable[Transition]) -> list[Transition]:
    """The transitions that it can follow."""
    return [it for it in transitions if it.target is not None and it.target == latter.source]


def _shortest_ways(transitions: Sequence[Transition]) -> dict[str | None, tuple[Transition, ...]]:
    """For each state that a row can come to, the fewest transitions from creation; ties go to the earlier in file."""
    leaving: dict[str | None, list[Transition]] = {}
    for transition in transitions:
        leaving.setdefault(transition.source, []).append(transition)
    ways: dict[str | None, tuple[Transition, ...]] = {None: ()}
    waiting: deque[str | None] = deque([None])
    while waiting:
        state = waiting.popleft()
        for transition in leaving.get(state, ()):
            if transition.target is not None and transition.target not in ways:
                ways[transition.target] = (*ways[state], transition)
                waiting.append(transition.target)
    return ways
