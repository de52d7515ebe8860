"""Hub pages: the neighbours of a state that has too many for one focus view, some to a page.

The hub itself is then drawn with one folded box for each page; what comes out for both is a lifecycle, as of any fold.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise

from arrowproof.model.lifecycle import Arrow, Lifecycle
from arrowproof.render.drawing import Drawing
from arrowproof.render.language import Language
from arrowproof.render.layout.fold import Fold, fold_neighbours
from arrowproof.render.names import group_names, listed_names
from arrowproof.render.quality import is_read


@dataclass(frozen=True)
class HubPage:
    """Some neighbours of a hub, by id: the ``name`` of their box, and the ``part`` of the lifecycle that is drawn."""

    name: str
    states: tuple[str, ...]
    part: Lifecycle


def page_hub(lifecycle: Lifecycle, hub: str, draw: Callable[[Lifecycle], Drawing]) -> tuple[HubPage, ...]:
    """The neighbours of a state in file order, on as few pages of even length as can be read, or one on each.

    Args:
        lifecycle: the whole lifecycle.
        hub: one of its states.
        draw: what draws the focus view of the hub in a part of the lifecycle.
    """
    joined = {end for arrow in lifecycle.arrows if hub in _ends(arrow) for end in _ends(arrow)}
    neighbours = [state.id for state in lifecycle.states if state.id in joined and state.id != hub]
    pages: tuple[HubPage, ...] = ()
    for count in range(2, len(neighbours) + 1):
        ends = [len(neighbours) * page // count for page in range(count + 1)]
        pages = tuple(_page(lifecycle, hub, neighbours[start:end]) for start, end in pairwise(ends))
        if all(is_read(draw(page.part)) for page in pages):
            break
    return pages


def fold_pages(
    lifecycle: Lifecycle, hub: str, pages: Sequence[HubPage], language: Language, apart: Collection[str] = ()
) -> Fold:
    """The hub with a box for each page of several states, and all arrows at it.

    Args:
        lifecycle: the whole lifecycle.
        hub: one of its states.
        pages: those of this state.
        language: of the words that say how many arrows are drawn as one.
        apart: the ids of arrows that are drawn by themselves in any case.
    """
    page_of = {state: page.name for page in pages for state in page.states}
    states = tuple(replace(state, group=page_of.get(state.id)) for state in lifecycle.states)
    return fold_neighbours(replace(lifecycle, states=states), hub, language, apart)


def _page(lifecycle: Lifecycle, hub: str, states: Sequence[str]) -> HubPage:
    """A page of the arrows between the hub and these states."""
    arrows = tuple(arrow for arrow in lifecycle.arrows if any(_ends(arrow) == {hub, state} for state in states))
    names = listed_names(lifecycle)
    name = f"{names[hub]}: {names[states[0]]}" + (f" … {names[states[-1]]}" if len(states) > 1 else "")
    groups = group_names(lifecycle)
    while name in groups or name in groups.values():
        name += "'"
    return HubPage(name, tuple(states), replace(lifecycle, arrows=arrows, views=()))


def _ends(arrow: Arrow) -> set[str | None]:
    return {arrow.source, arrow.target}
