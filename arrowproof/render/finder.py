"""The finder: the names by which states, groups and arrows of a lifecycle are searched, for the script of a page."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from arrowproof.model.lifecycle import Arrow, Lifecycle
from arrowproof.render.language import Language
from arrowproof.render.names import arrow_names, arrow_text, distinct_names, endpoint_name, state_name
from arrowproof.render.quality import SMALL_STATES
from arrowproof.render.scene import Scene
from arrowproof.render.text import clean_text


def find_names(
    lifecycle: Lifecycle, scenes: Sequence[Scene], language: Language
) -> Mapping[str, list[list[str]]] | None:
    """What can be found: name in the address, name for people, and what is said beside it. None for a small lifecycle.

    More states than a small one has are searched even when they are read as a whole. Groups can be found where they
    have a scene, and so can the parts that stand for them where the lifecycle has none.
    """
    if len(scenes) == 1 and len(lifecycle.states) <= SMALL_STATES:
        return None
    states = distinct_names(state.id for state in lifecycle.states)
    arrows = arrow_names(lifecycle)
    # The page of a hub has an address of that kind too, and is found by its states.
    opened = [(scene.address, scene.title) for scene in scenes if scene.address is not None and scene.focus is None]
    return {
        "states": [[states[each.id], state_name(each), clean_text(each.group or "")] for each in lifecycle.states],
        "groups": [[name, clean_text(title)] for (kind, name), title in opened if kind == "group"],
        "arrows": [
            [arrows[arrow.id], clean_text(arrow.label), _ends(arrow, lifecycle, language)] for arrow in lifecycle.arrows
        ],
    }


def _ends(arrow: Arrow, lifecycle: Lifecycle, language: Language) -> str:
    source = endpoint_name(arrow.source, lifecycle, language("end.created"))
    target = endpoint_name(arrow.target, lifecycle, language("end.removed"))
    return arrow_text(source, target)
