"""The automatic layout: from a lifecycle to a drawing. Nobody writes a coordinate."""

from __future__ import annotations

from collections.abc import Mapping

from arrowproof.model.lifecycle import Lifecycle
from arrowproof.render.drawing import Box, Drawing
from arrowproof.render.layout.candidates import best_drawing

__all__ = ["layout_lifecycle"]


def layout_lifecycle(lifecycle: Lifecycle, captions: Mapping[str, str] | None = None) -> Drawing:
    """The drawing of a lifecycle, in which nothing overlaps.

    Args:
        lifecycle: any lifecycle whose arrows name states that it has.
        captions: a short text under the label of an arrow (its rung, for example), by arrow id.

    Returns:
        A drawing whose order of states and arrows is that of the lifecycle, the same for the same input.
    """
    if not lifecycle.states and not lifecycle.arrows:
        return Drawing(Box(0, 0, 0, 0), (), ())
    return best_drawing(lifecycle, captions or {})
