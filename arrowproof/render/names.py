"""Names: how the states and the ends of arrows are called where people read them."""

from __future__ import annotations

import unicodedata
from collections import Counter
from collections.abc import Iterable, Mapping

from arrowproof.model.lifecycle import Lifecycle, State
from arrowproof.model.transitions import CREATED, REMOVED, Pair
from arrowproof.render.text import clean_text

_TO_THE_LEFT = frozenset({"R", "AL"})
_LEFT_TO_RIGHT = "\N{LEFT-TO-RIGHT MARK}"
_ISOLATE, _POP = "\N{FIRST STRONG ISOLATE}", "\N{POP DIRECTIONAL ISOLATE}"


def endpoint_name(state_id: str | None, lifecycle: Lifecycle, end: str) -> str:
    """How people read one end of an arrow: the state's label, or ``created`` and ``removed`` where there is none."""
    if state_id is None:
        return end
    return state_name(lifecycle.states_by_id[state_id])


def state_name(state: State) -> str:
    """The state's label, or its id when the label is empty."""
    return clean_text(state.label) or clean_text(state.id)


def arrow_text(source: str, target: str) -> str:
    """Two names with an arrow between them, as they stand in a line of text: the source first, whatever they are.

    Names in a script that is written from right to left would turn the order around, so that the arrow would point
    from the target to the source. There they are isolated, and a mark makes the whole run from left to right (UAX 9).
    """
    if any(unicodedata.bidirectional(character) in _TO_THE_LEFT for character in source + target):
        return f"{_LEFT_TO_RIGHT}{_ISOLATE}{source}{_POP} → {_ISOLATE}{target}{_POP}"
    return f"{source} → {target}"


def listed_names(lifecycle: Lifecycle) -> dict[str, str]:
    """How a list calls each state: as the drawing does, with the id behind a label that several states have.

    No two states are called the same: one whose own label reads like a label with an id is numbered.
    """
    labels = {state.id: state_name(state) for state in lifecycle.states}
    shared = Counter(labels.values())
    return _distinct(
        (state_id, label if shared[label] == 1 else f"{label} ({clean_text(state_id)})")
        for state_id, label in labels.items()
    )


def distinct_names(ids: Iterable[str]) -> dict[str, str]:
    """Each id as the document may hold it: as it is known in addresses, numbered where two would have one name."""
    return _distinct((state_id, _known_as(state_id)) for state_id in ids)


def arrow_names(lifecycle: Lifecycle) -> dict[str, str]:
    """Each id of an arrow as the document may hold it."""
    return _distinct((arrow.id, clean_text(arrow.id)) for arrow in lifecycle.arrows)


def view_names(lifecycle: Lifecycle) -> dict[str, str]:
    """Each id of a view as the document may hold it."""
    return _distinct((view.id, clean_text(view.id)) for view in lifecycle.views)


def group_names(lifecycle: Lifecycle) -> dict[str, str]:
    """Each group of a lifecycle as the document may hold it."""
    return distinct_names(dict.fromkeys(state.group for state in lifecycle.states if state.group is not None))


def pair_address(pair: Pair, names: Mapping[str, str]) -> tuple[str, str]:
    """Both ends of a transition as an address names them, in every language; ``names`` are those of the states."""
    source, target = pair
    return (
        CREATED if source is None else names.get(source) or _known_as(source),
        REMOVED if target is None else names.get(target) or _known_as(target),
    )


def _distinct(shown: Iterable[tuple[str, str]]) -> dict[str, str]:
    names: dict[str, str] = {}
    taken = set()
    for id, name in shown:
        names[id], number = name, 1
        while names[id] in taken:
            number += 1
            names[id] = f"{name} ({number})"
        taken.add(names[id])
    return names


def _known_as(state_id: str) -> str:
    """An id or a value as an address names it: in quotes where it would be nothing, or mean a row's creation or end."""
    shown = clean_text(state_id)
    return f'"{shown}"' if shown in ("", CREATED, REMOVED) else shown
