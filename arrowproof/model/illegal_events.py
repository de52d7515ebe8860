"""Illegal events: each event of a model in each stored state out of which no arrow path has it.

What an event does there is not drawn, so it must do nothing. The events are those of all arrows, those that create a
row included; an event that stands on any arrow of a path is legal where the path begins.
"""

from __future__ import annotations

from arrowproof.model.lifecycle import Lifecycle
from arrowproof.model.transitions import Transition


def illegal_events(lifecycle: Lifecycle, transitions: tuple[Transition, ...]) -> tuple[tuple[str, str], ...]:
    """Each state and event that the model does not join, as (state id, event), in the order of the file."""
    events = dict.fromkeys(arrow.event for arrow in lifecycle.arrows if arrow.event is not None)
    legal = {
        (transition.source, lifecycle.arrows_by_id[arrow].event)
        for transition in transitions
        for path in transition.paths
        for arrow in path
    }
    return tuple(
        (state.id, event) for state in lifecycle.stored_states for event in events if (state.id, event) not in legal
    )
