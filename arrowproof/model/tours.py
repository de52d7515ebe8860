"""Tours: how a proof gets a row to each transition.

For each arrow path of each transition there is one tour: transitions from creation on, of which the last is the one to
be witnessed, by that path. A tour is as short as can be, and the same model gives the same tours.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Sequence

from arrowproof.model.lifecycle import Lifecycle
from arrowproof.model.record import record
from arrowproof.model.transitions import Transition, derive_transitions


@record
class Tour:
    """Steps from creation; the last is the goal, to be walked by the arrow path ``goal_path``."""

    steps: tuple[Transition, ...]
    goal_path: tuple[str, ...]

    @property
    def goal(self) -> Transition:
        """The transition that this tour is for: its last step."""
        return self.steps[-1]


@record
class Plan:
    """The tours in transition order, and the transitions that no row can come to."""

    tours: tuple[Tour, ...]
    unreachable: tuple[Transition, ...] = ()


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
