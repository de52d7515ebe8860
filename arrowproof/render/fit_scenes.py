"""The scenes of a page that holds several drawings: which are looked at, and what must be true of them together.

Such a page opens with a drawing that has no address. Every other drawing has one, a fragment of the page's address that
shows it (``data-fragment``), and is looked at by going there. A page may call the drawing that it opens with an
overview (``data-overview="true"`` on the root): then its text may be small, and all that it stands for must be found in
the scenes, where it is not.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from arrowproof.render.fit_measures import Geometry
from arrowproof.render.fit_rules import Failure
from arrowproof.render.quality import MAX_SCENES


def judge_scenes(opened: Geometry, seen: Mapping[str, Geometry]) -> Iterator[Failure]:
    """What the scenes of a page are found to lack when all that is looked at was seen.

    Args:
        opened: what the page opens with.
        seen: what each address was found to show.
    """
    if opened.scene_count > MAX_SCENES:
        yield Failure("limits", "page", f"has {opened.scene_count} scenes, and {MAX_SCENES} are looked at")
    if opened.unaddressed != 1:
        yield Failure(
            "drawing", "page", f"opens with one drawing, and {opened.unaddressed} of its drawings have no address"
        )
    for address, geometry in seen.items():
        if geometry.scene != address:
            yield Failure("drawing", f"#{address}", "shows another drawing than the one with this address")
    if opened.claims_overview:
        yield from _judge_overview(opened, seen)


def _judge_overview(opened: Geometry, seen: Mapping[str, Geometry]) -> Iterator[Failure]:
    """Every state that an overview stands for has a scene in which it is a box of its own; every arrow has a scene."""
    states = {key for geometry in seen.values() for state in geometry.states if not state.folded for key in state.keys}
    for state in opened.states:
        if missing := [key for key in state.keys if key not in states]:
            yield Failure("drawing", f"state {state.id!r}", f"stands for {len(missing)} states that no scene shows")
    arrows = {key for geometry in seen.values() for arrow in geometry.arrows for key in arrow.keys}
    for arrow in opened.arrows:
        if missing := [key for key in arrow.keys if key not in arrows]:
            yield Failure("drawing", f"arrow {arrow.id!r}", f"stands for {len(missing)} arrows that no scene shows")
