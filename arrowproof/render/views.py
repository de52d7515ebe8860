"""The views of a lifecycle: what each of them shows, and how a page offers them."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from dataclasses import replace

from arrowproof.model.lifecycle import Lifecycle, View
from arrowproof.model.record import record
from arrowproof.render.language import Language
from arrowproof.render.names import view_names
from arrowproof.render.scene import Scene
from arrowproof.render.text import clean_text


@record
class ListedView:
    """A view as its button: ``id`` as an address has it, and ``members``, the keys of what it shows, ``a`` or ``s`` and
    the number in the file."""

    id: str
    title: str
    note: str
    members: str


def view_part(view: View, lifecycle: Lifecycle, sneaks: Collection[str] = ()) -> Lifecycle:
    """What a view shows, as a lifecycle: its states and arrows, the ends of its arrows, and when it names no arrow, the
    arrows between its states.

    Args:
        view: one of the views of the lifecycle.
        lifecycle: what is drawn.
        sneaks: the ids of the sneak paths in it, which a view with both of their ends never leaves out.
    """
    states, arrows = set(view.states), set(view.arrows)
    for arrow in lifecycle.arrows:
        if arrow.id in view.arrows:
            states |= {end for end in (arrow.source, arrow.target) if end is not None}
    for arrow in lifecycle.arrows:
        if (not view.arrows or arrow.id in sneaks) and {arrow.source, arrow.target} <= {*states, None}:
            arrows.add(arrow.id)
    return replace(
        lifecycle,
        states=tuple(state for state in lifecycle.states if state.id in states),
        arrows=tuple(arrow for arrow in lifecycle.arrows if arrow.id in arrows),
        views=(),
    )


def list_views(lifecycle: Lifecycle, sneaks: Collection[str] = ()) -> tuple[ListedView, ...]:
    """The views of what is drawn, in file order."""
    names = view_names(lifecycle)
    states = {state.id: f"s{number}" for number, state in enumerate(lifecycle.states)}
    arrows = {arrow.id: f"a{number}" for number, arrow in enumerate(lifecycle.arrows)}
    listed = []
    for view in lifecycle.views:
        part = view_part(view, lifecycle, sneaks)
        keys = [*(states[state.id] for state in part.states), *(arrows[arrow.id] for arrow in part.arrows)]
        listed.append(ListedView(names[view.id], clean_text(view.title), clean_text(view.note or ""), " ".join(keys)))
    return tuple(listed)


def noted_views(views: Sequence[ListedView], scenes: Sequence[Scene], language: Language) -> Iterator[ListedView]:
    """The views of a page of these scenes: of one that is shown in the scenes of others alone, its note says so."""
    own = {scene.address[1] for scene in scenes if scene.address is not None and scene.address[0] == "view"}
    for view in views:
        if len(scenes) == 1 or view.id in own:
            yield view
        else:
            yield replace(view, note=" ".join(filter(None, (view.note, language("views.no_scene")))))
