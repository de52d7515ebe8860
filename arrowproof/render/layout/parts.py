"""Parts: groups for a lifecycle that has none and too many arrows for one overview.

States that very many arrows begin or end at, its hubs, stay by themselves. All others stand in parts of equal length,
in the order of the file, which is the only order that an author gave them.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import replace
from itertools import pairwise

from arrowproof.model.lifecycle import Lifecycle
from arrowproof.render.names import listed_names

_MOST_ARROWS = 80
"""How many different pairs of ends an overview of parts has at most, where fewer parts can bring that about."""
_MOST_PARTS, _LEAST_PARTS = 12, 3
_MOST_HUBS, _HUB = 6, 16
"""How many hubs there are at most, and the arrows that make one: it must have more. The fewest parts hold two states
each in any case, and so do all where there are enough.
"""


def part_states(lifecycle: Lifecycle) -> Mapping[str, tuple[str, ...]]:
    """The states of each part, by its name, as many parts as keep the arrows between them and the hubs few."""
    hubs = _hubs(lifecycle)
    others = [state.id for state in lifecycle.states if state.id not in hubs]
    parts: list[tuple[str, ...]] = []  # of too few states for any
    most = min(_MOST_PARTS, max(len(others) // 2, min(_LEAST_PARTS, len(others))))
    for count in range(most, _LEAST_PARTS - 1, -1):
        parts = _cut(others, count)
        if _count_pairs(lifecycle, parts) <= _MOST_ARROWS:
            break
    return dict(zip(_names(lifecycle, parts), parts, strict=True))


def grouped_by(lifecycle: Lifecycle, parts: Mapping[str, Sequence[str]]) -> Lifecycle:
    """The lifecycle with its parts as groups, and no other groups."""
    part_of = {state: name for name, states in parts.items() for state in states}
    return replace(lifecycle, states=tuple(replace(state, group=part_of.get(state.id)) for state in lifecycle.states))


def _hubs(lifecycle: Lifecycle) -> frozenset[str]:
    ends = Counter(end for arrow in lifecycle.arrows for end in {arrow.source, arrow.target} if end is not None)
    most = max(0, min(_MOST_HUBS, len(lifecycle.states) - 2 * _LEAST_PARTS))
    return frozenset(state for state, count in ends.most_common(most) if count > _HUB)


def _cut(states: Sequence[str], count: int) -> list[tuple[str, ...]]:
    cuts = [len(states) * part // count for part in range(count + 1)]
    return [tuple(states[start:end]) for start, end in pairwise(cuts)]


def _count_pairs(lifecycle: Lifecycle, parts: Sequence[Sequence[str]]) -> int:
    """How many arrows there are when those with the same ends are drawn as one."""
    box_of: dict[str | None, object] = {state: number for number, part in enumerate(parts) for state in part}
    ends = {(box_of.get(a.source, a.source), box_of.get(a.target, a.target)) for a in lifecycle.arrows}
    return sum(source != target for source, target in ends)


def _names(lifecycle: Lifecycle, parts: Sequence[Sequence[str]]) -> list[str]:
    """What each part is called: by its first and its last state, numbered where there is such a name already."""
    listed, taken = listed_names(lifecycle), set[str]()
    names = []
    for part in parts:
        plain = listed[part[0]] + (f" … {listed[part[-1]]}" if len(part) > 1 else "")
        name, number = plain, 1
        while name in taken:
            number += 1
            name = f"{plain} ({number})"
        taken.add(name)
        names.append(name)
    return names
