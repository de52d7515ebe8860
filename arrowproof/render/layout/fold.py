"""The fold: a lifecycle in which whole groups of states are one box each, and the arrows between two boxes are one.

What comes out is a lifecycle again, which any layout can draw. A group of one state is never folded, since its box
would say less than the state does.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import field, replace

from arrowproof.model.lifecycle import Arrow, Kind, Lifecycle, State
from arrowproof.model.record import record
from arrowproof.render.language import Language
from arrowproof.render.layout.forms import crowded_ends

End = str | None


@record
class Fold:
    """A lifecycle with folded groups.

    ``groups`` says which of its states are boxes of a group, by state id; ``bundles`` which of its arrows stand for
    several ones of the model, by arrow id.
    """

    lifecycle: Lifecycle
    groups: Mapping[str, str] = field(default_factory=dict)
    bundles: Mapping[str, tuple[str, ...]] = field(default_factory=dict)


def foldable_groups(lifecycle: Lifecycle) -> tuple[str, ...]:
    """The groups of two states or more, in the order in which the file first names them."""
    counts = Counter(state.group for state in lifecycle.states if state.group is not None)
    return tuple(group for group, count in counts.items() if count > 1)


def fold_groups(
    lifecycle: Lifecycle, groups: Mapping[str, str], language: Language, apart: Collection[str] = ()
) -> Fold:
    """The lifecycle with each of these groups as one box in the place of its first state.

    Arrows inside such a group are not drawn. Arrows that join the same two ends, of which one at least is folded, are
    one arrow whose label says how many they are.

    Args:
        lifecycle: the whole lifecycle, or a part of it.
        groups: the note of each box, by group.
        language: of the words that say how many arrows are drawn as one.
        apart: the ids of arrows that are drawn by themselves in any case, as self arrows where they are inside.
    """
    ids = _box_ids(lifecycle, groups)
    box_of = {state.id: ids.get(state.group, state.id) if state.group else state.id for state in lifecycle.states}
    states: dict[str, State] = {}
    for state in lifecycle.states:
        box = box_of[state.id]
        if box == state.id:
            states[box] = state
        elif state.group is not None:
            note = groups[state.group] or None
            states.setdefault(box, State(box, Kind.NEUTRAL, state.group, box, note=note, terminal=True))
    boxes = frozenset(ids.values())
    arrows, bundles = _bundled(lifecycle, box_of, boxes, language, apart)
    folded = replace(lifecycle, states=tuple(states.values()), arrows=arrows, views=())
    return Fold(folded, {box: group for group, box in ids.items()}, bundles)


def fold_crowds(lifecycle: Lifecycle, language: Language, apart: Collection[str] = ()) -> Fold:
    """The lifecycle with each crowd of arrows that have the same ends as one arrow, which says how many they are.

    Args:
        lifecycle: any lifecycle.
        language: of these words.
        apart: the ids of arrows that are drawn by themselves in any case.
    """
    crowds = crowded_ends(lifecycle)
    together: dict[tuple[End, End] | str, list[Arrow]] = {}
    for arrow in lifecycle.arrows:
        ends = (arrow.source, arrow.target)
        together.setdefault(ends if ends in crowds and arrow.id not in apart else arrow.id, []).append(arrow)
    arrows, bundles = _bundles_of(together.values(), {arrow.id for arrow in lifecycle.arrows}, language)
    return Fold(replace(lifecycle, arrows=arrows, views=()), bundles=bundles)


def open_group(
    lifecycle: Lifecycle,
    group: str,
    language: Language,
    folded: Collection[str] = (),
    apart: Collection[str] = (),
) -> Fold:
    """The states of one group, all arrows at these, and the other ends of the arrows, so that nothing dangles.

    Args:
        lifecycle: the whole lifecycle.
        group: one of its groups.
        language: of the words that say how many arrows are drawn as one.
        folded: the groups outside that are one box each.
        apart: the ids of arrows that are drawn by themselves in any case.
    """
    inside = {state.id for state in lifecycle.states if state.group == group}
    return _fold_outside(lifecycle, inside, language, set(folded) - {group}, apart)


def fold_neighbours(lifecycle: Lifecycle, state_id: str, language: Language, apart: Collection[str] = ()) -> Fold:
    """One state, all arrows at it, and their other ends, these in their groups, for a state with very many of them."""
    return _fold_outside(lifecycle, {state_id}, language, set(foldable_groups(lifecycle)), apart)


def fold_arrows(
    lifecycle: Lifecycle,
    hub: str,
    boxes: Mapping[str, Collection[str]],
    language: Language,
    apart: Collection[str] = (),
) -> Fold:
    """A state at which some arrows lead to boxes, or come from them, and stand there for all in the same direction.

    Args:
        lifecycle: the state, all its arrows, and their other ends.
        hub: the state, by id.
        boxes: the ids of the arrows of each box, by its name. A box stands in the place of the first of their ends.
        language: of the words that say how many arrows are drawn as one.
        apart: the ids of arrows that are drawn by themselves in any case.
    """
    ids = _free_ids(boxes, {state.id for state in lifecycle.states})
    box_of = {arrow: ids[name] for name, arrows in boxes.items() for arrow in arrows if arrow not in apart}
    place_of: dict[str | None, int] = {state.id: place for place, state in enumerate(lifecycle.states)}
    states: dict[str, tuple[int, State]] = {}
    arrows = []
    for arrow in lifecycle.arrows:
        box = box_of.get(arrow.id)
        if box is not None:
            other = arrow.target if arrow.source == hub else arrow.source
            place = min(place_of.get(other, place_of[hub]), states[box][0] if box in states else len(place_of))
            states[box] = (place, State(box, Kind.NEUTRAL, "", box, terminal=True))
            arrows.append(replace(arrow, target=box) if arrow.source == hub else replace(arrow, source=box))
        else:
            arrows.append(arrow)
    ends = {hub}.union(*({arrow.source, arrow.target} for arrow in arrows))
    states |= {state.id: (place_of[state.id], state) for state in lifecycle.states if state.id in ends}
    names = {box: name for name, box in ids.items() if box in states}
    shown = [
        replace(state, label=names.get(state.id, state.label))
        for _, state in sorted(states.values(), key=lambda each: (each[0], each[1].id in names))
    ]
    folded = replace(lifecycle, states=tuple(shown), arrows=tuple(arrows), views=())
    together, bundles = _bundled(folded, {state.id: state.id for state in shown}, frozenset(names), language, apart)
    return Fold(replace(folded, arrows=together), names, bundles)


def inside_words(lifecycle: Lifecycle, group: str, language: Language) -> str:
    """How many states and arrows are inside a group."""
    members = {state.id for state in lifecycle.states if state.group == group}
    return language(
        "scene.inside",
        states=language.count("count.states", len(members)),
        arrows=language.count("count.arrows", len(arrows_inside(lifecycle, group))),
    )


def arrows_inside(lifecycle: Lifecycle, group: str) -> tuple[str, ...]:
    """The arrows from states of a group to states of the same group, by id."""
    members = {state.id for state in lifecycle.states if state.group == group}
    return tuple(arrow.id for arrow in lifecycle.arrows if {arrow.source, arrow.target} <= members)


def _fold_outside(
    lifecycle: Lifecycle, inside: Collection[str], language: Language, folded: Collection[str], apart: Collection[str]
) -> Fold:
    """The part of a lifecycle that touches these states, what is not among them in its groups if these are folded.

    Its states have no group any more, so that it is drawn without lanes.
    """
    arrows = tuple(arrow for arrow in lifecycle.arrows if arrow.source in inside or arrow.target in inside)
    ends = set(inside).union(*({arrow.source, arrow.target} for arrow in arrows))
    states = tuple(
        replace(state, group=None) if state.id in inside else state for state in lifecycle.states if state.id in ends
    )
    part = replace(lifecycle, states=states, arrows=arrows, views=())
    several = {group: "" for group in foldable_groups(part) if group in folded}
    fold = fold_groups(part, several, language, apart)
    alone = tuple(replace(state, group=None) for state in fold.lifecycle.states)
    return replace(fold, lifecycle=replace(fold.lifecycle, states=alone))


def _box_ids(lifecycle: Lifecycle, groups: Collection[str]) -> dict[str, str]:
    """An id for the box of each group, which no state has."""
    folded = [group for group in foldable_groups(lifecycle) if group in groups]
    return _free_ids(folded, {state.id for state in lifecycle.states})


def _free_ids(names: Iterable[str], taken: set[str]) -> dict[str, str]:
    """An id for the box of each name, which is not taken."""
    ids = {}
    for name in names:
        box = f"group:{name}"
        while box in taken:
            box += "'"
        taken.add(box)
        ids[name] = box
    return ids


def _bundled(
    lifecycle: Lifecycle,
    box_of: Mapping[str, str],
    boxes: frozenset[str],
    language: Language,
    apart: Collection[str],
) -> tuple[tuple[Arrow, ...], dict[str, tuple[str, ...]]]:
    """The arrows between the boxes in file order, a bundle in the place of its first one."""
    together: dict[tuple[End, End] | str, list[Arrow]] = {}
    for arrow in lifecycle.arrows:
        source, target = (None if end is None else box_of[end] for end in (arrow.source, arrow.target))
        if source == target and source in boxes and arrow.id not in apart:
            continue
        is_folded = not boxes.isdisjoint((source, target)) and arrow.id not in apart
        key = (source, target) if is_folded else arrow.id
        together.setdefault(key, []).append(replace(arrow, source=source, target=target))
    return _bundles_of(together.values(), {arrow.id for arrow in lifecycle.arrows}, language)


def _bundles_of(
    together: Iterable[Sequence[Arrow]], taken: Collection[str], language: Language
) -> tuple[tuple[Arrow, ...], dict[str, tuple[str, ...]]]:
    """One arrow for each of these lots, a bundle where there are several, and what the bundles stand for."""
    arrows: list[Arrow] = []
    bundles: dict[str, tuple[str, ...]] = {}
    names = _free_names(taken)
    for members in together:
        if len(members) == 1:
            arrows += members
        else:
            name = next(names)
            bundles[name] = tuple(member.id for member in members)
            label = language.count("count.arrows", len(members))
            arrows.append(Arrow(name, members[0].source, members[0].target, label))
    return tuple(arrows), bundles


def _free_names(taken: Collection[str]) -> Iterator[str]:
    number = 0
    while True:
        number += 1
        if f"bundle:{number}" not in taken:
            yield f"bundle:{number}"
