"""A scene: one of the drawings of a page, with what it shows and the address under which it is shown.

A page of a small model has one scene, the whole. That of a large one opens with an overview, and has a scene for each
group, view and state (:mod:`arrowproof.render.scenes` plans them).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import field
from urllib.parse import quote

from arrowproof.model.lifecycle import Lifecycle
from arrowproof.model.record import record
from arrowproof.render.drawing import Box, Drawing
from arrowproof.render.proof import Proof
from arrowproof.render.quality import LEAST_SCALE, MANY_STATES, READABLE_SCALE, SMALL_ARROWS, SMALL_STATES, fit_scale

MARGIN = 3.0
"""Drawing units around the bounds, so that half of a stroke at the edge is not cut."""

KEPT = "!~*'()"
"""What a script's encodeURIComponent keeps besides letters, digits, ``-``, ``_`` and ``.``."""


@record
class Scene:
    """One drawing of a page.

    ``name`` is its own among the scenes of a page, and makes its DOM ids. ``lifecycle`` is what is drawn: the model, or
    a part of it in which ``groups`` are boxes of a whole group (group by state id) and ``bundles`` arrows that stand
    for several (arrow ids by arrow id); ``pages`` are the groups that only this scene has (state ids by group).
    ``view`` is what of the plane is shown. ``address`` is the key and the value that the page's address must have, None
    for the scene that it opens with, and ``parent`` the group of the state that is shown, both as the document names
    them. ``focus`` is the state in the middle and ``quiet`` are the states that stand at the edge, by id. ``proof`` is
    what the arrows show, and ``tones`` say of a group that something inside is no more than a ``gap``, or ``wrong``.
    ``is_overview`` says that the text is too small to be read without zoom.
    """

    name: str
    lifecycle: Lifecycle
    drawing: Drawing
    view: Box
    title: str = ""
    address: tuple[str, str] | None = None
    parent: str | None = None
    focus: str | None = None
    quiet: frozenset[str] = frozenset()
    groups: Mapping[str, str] = field(default_factory=dict)
    bundles: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    pages: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    tones: Mapping[str, str] = field(default_factory=dict)
    proof: Proof | None = None
    is_overview: bool = False

    @property
    def is_bare(self) -> bool:
        """Whether it is drawn without the labels that its arrows have."""
        return any(arrow.label for arrow in self.lifecycle.arrows) and not any(
            path.label for path in self.drawing.arrows
        )

    @property
    def hub(self) -> str | None:
        """The state of which this is a page of neighbours, by id, None for any other scene."""
        return self.focus if self.address is not None and self.address[0] == "group" else None

    @property
    def fragment(self) -> str | None:
        """The fragment of the page's address that shows this scene."""
        return None if self.address is None else f"#{self.address[0]}={quote(self.address[1], safe=KEPT)}"


def is_small(lifecycle: Lifecycle) -> bool:
    """Whether the page of a model is held to show all of it in one drawing that can be read."""
    return len(lifecycle.states) <= SMALL_STATES and len(lifecycle.arrows) <= SMALL_ARROWS


def is_read_whole(lifecycle: Lifecycle, drawing: Drawing) -> bool:
    """Whether the page of a model shows its drawing as a whole, and nothing else.

    That of a small model is shown so as long as labels can be read, whatever a proof adds to it.
    """
    if len(lifecycle.states) > MANY_STATES:
        return False
    return fit_scale(drawing.bounds) >= (LEAST_SCALE if is_small(lifecycle) else READABLE_SCALE)


def whole_scene(lifecycle: Lifecycle, drawing: Drawing) -> Scene:
    """The scene of a page that shows everything in one drawing."""
    return Scene("whole", lifecycle, drawing, framed(drawing.bounds))


def framed(bounds: Box, width: float = 0.0, height: float = 0.0) -> Box:
    """The bounds with their margin, in the middle of at least this much of the plane."""
    wide, high = max(bounds.width + 2 * MARGIN, width), max(bounds.height + 2 * MARGIN, height)
    x, y = bounds.center
    return Box(x - wide / 2, y - high / 2, wide, high)
