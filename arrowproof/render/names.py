"""Names: how the states and the ends of arrows are called where people read them."""

from __future__ import annotations

from collections.abc import Iterable

from arrowproof.model.lifecycle import Lifecycle, State
from arrowproof.model.transitions import CREATED, REMOVED, Pair
from arrowproof.render.text import clean_text


def endpoint_name(state_id: str | None, lifecycle: Lifecycle, end: str) -> str:
    """How people read one end of an arrow: the state's label, or ``created`` and ``removed`` where there is none."""
    if state_id is None:
        return end
    return state_name(lifecycle.states_by_id[state_id])


def state_name(state: State) -> str:
    """The state's label, or its id when the label is empty."""
    return clean_text(state.label) or clean_text(state.id)


def distinct_names(ids: Iterable[str]) -> dict[str, str]:
    """Each id as the document may hold it: cleaned, and numbered where two ids clean to the same text."""
    names: dict[str, str] = {}
    for state_id in ids:
        shown, number = clean_text(state_id), 1
        name = shown
        while name in names.values():
            number += 1
            name = f"{shown} ({number})"
        names[state_id] = name
    return names


def group_names(lifecycle: Lifecycle) -> dict[str, str]:
    """Each group of a lifecycle as the document may hold it."""
    return distinct_names(dict.fromkeys(state.group for state in lifecycle.states if state.group is not None))


def pair_address(pair: Pair) -> tuple[str, str]:
    """Both ends of a transition as an address names them, in every language."""
    source, target = pair
    return (
        CREATED if source is None else clean_text(source) or '""',
        REMOVED if target is None else clean_text(target) or '""',
    )
