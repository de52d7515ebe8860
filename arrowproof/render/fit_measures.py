"""The measures of one page on one screen: what ``measure.js`` saw, as frozen records. They judge nothing.

Lengths are CSS px, relative to the upper left corner of the screen.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from arrowproof.model.record import record

Colour = tuple[float, float, float, float]
"""Red, green and blue from 0 to 255, and alpha from 0 to 1."""

XY = tuple[float, float]


class Rect(NamedTuple):
    """An upright rectangle by its four edges."""

    left: float
    top: float
    right: float
    bottom: float

    @property
    def width(self) -> float:
        """From the left edge to the right one."""
        return self.right - self.left

    @property
    def height(self) -> float:
        """From the upper edge to the lower one."""
        return self.bottom - self.top

    def grown(self, by: float) -> Rect:
        """The rectangle with every edge moved outward (inward when ``by`` is negative)."""
        return Rect(self.left - by, self.top - by, self.right + by, self.bottom + by)

    def overlap(self, other: Rect) -> tuple[float, float]:
        """How wide and how high two rectangles share the screen; not positive where they do not."""
        return (
            min(self.right, other.right) - max(self.left, other.left),
            min(self.bottom, other.bottom) - max(self.top, other.top),
        )

    def excess(self, inner: Rect) -> float:
        """By how much ``inner`` stands out of this rectangle at its worst edge; not positive when it is inside."""
        return max(self.left - inner.left, self.top - inner.top, inner.right - self.right, inner.bottom - self.bottom)

    def __str__(self) -> str:
        return f"({self.left:g}, {self.top:g})–({self.right:g}, {self.bottom:g})"


@record
class Text:
    """A text as painted: one rectangle of ink for each of its lines.

    ``owner`` is ``state``, ``label`` or ``other``, and ``id`` the state or arrow it belongs to; ``drawn`` says whether
    it stands in the drawing. ``size`` is the font size as it comes to the screen. ``clip`` is what its ancestors leave
    visible, ``cut`` an ellipsis or a mask that takes some of it away, ``hidden`` why nobody sees it at all.
    """

    text: str
    selector: str
    owner: str
    id: str | None
    size: float
    colour: Colour | None
    rects: tuple[Rect, ...]
    clip: Rect | None = None
    cut: bool = False
    hidden: str | None = None
    drawn: bool = False

    @property
    def place(self) -> str:
        """How a failure names this text."""
        owner = {"state": f"state {self.id!r}, ", "label": f"arrow {self.id!r}, "}.get(self.owner, "")
        return f"{owner}text {self.text!r} ({self.selector})"


@record
class StateMeasure:
    """A state: its box, None when it has none, and the colour of the box's edge (its stroke, else its fill).

    A ``folded`` one is the box of a group, and stands for the states of several ``keys``.
    """

    id: str
    box: Rect | None
    edge: Colour | None = None
    hidden: str | None = None
    keys: tuple[str, ...] = ()
    folded: bool = False


@record
class ArrowMeasure:
    """An arrow: the states it joins, its lines as polylines, and how they are stroked.

    ``signs`` are the small shapes that belong to it and stand on its line: its head, its bead. A bundle of arrows has
    several ``keys``.
    """

    id: str
    source: str | None
    target: str | None
    lines: tuple[tuple[XY, ...], ...]
    width: float = 1.5
    stroke: Colour | None = None
    signs: tuple[Rect, ...] = ()
    hidden: str | None = None
    keys: tuple[str, ...] = ()


@record
class Geometry:
    """Everything that stands on the screen.

    ``hints`` ask the browser for connections, ``stray_lines`` are drawn lines of no arrow, and ``unmeasured`` is what
    is seen and cannot be measured: where it is, and what.

    ``scene`` is the address of the drawing that is shown, None for the one that the page opens with; ``scenes`` are the
    addresses of all its drawings, as far as they are looked at, of ``scene_count`` in all; and ``unaddressed`` counts
    the drawings that have none. ``claims_overview`` says that the page calls this drawing an overview.
    ``chosen`` counts what is marked as chosen in the drawing and in the list.
    """

    viewport: XY
    scroll: XY
    texts: tuple[Text, ...] = ()
    states: tuple[StateMeasure, ...] = ()
    arrows: tuple[ArrowMeasure, ...] = ()
    outside: tuple[tuple[str, Rect], ...] = ()
    drawings: int = 1
    drawing_hidden: str | None = None
    too_many: bool = False
    hints: tuple[str, ...] = ()
    stray_lines: int = 0
    unmeasured: tuple[tuple[str, str], ...] = ()
    scene: str | None = None
    scenes: tuple[str, ...] = ()
    scene_count: int = 0
    unaddressed: int = 1
    claims_overview: bool = False
    chosen: int = 0

    def smallest(self, owner: str) -> float | None:
        """The smallest size of the visible texts of one owner, None when there are none."""
        return min((text.size for text in self.texts if text.owner == owner and not text.hidden), default=None)


def read_geometry(measured: str) -> Geometry:
    """The records for the JSON text that ``measure.js`` gave."""
    found = json.loads(measured)
    return Geometry(
        viewport=_xy(found["viewport"]),
        scroll=_xy(found["scroll"]),
        texts=tuple(_text(item) for item in found["texts"]),
        states=tuple(
            StateMeasure(
                item["id"],
                _rect(item["box"]),
                _colour(item["edge"]),
                item["hidden"],
                tuple(item["keys"]),
                item["folded"],
            )
            for item in found["states"]
        ),
        arrows=tuple(_arrow(item) for item in found["arrows"]),
        outside=tuple((item["selector"], Rect(*item["rect"])) for item in found["outside"]),
        drawings=found["drawings"],
        drawing_hidden=found["drawingHidden"],
        too_many=found["tooMany"],
        hints=tuple(found["hints"]),
        stray_lines=found["strayLines"],
        unmeasured=tuple((place, what) for place, what in found["unmeasured"]),
        scene=found["scene"],
        scenes=tuple(found["scenes"]),
        scene_count=found["sceneCount"],
        unaddressed=found["unaddressed"],
        claims_overview=found["claimsOverview"],
        chosen=found["chosen"],
    )


def _text(item: Mapping[str, Any]) -> Text:
    return Text(
        text=item["text"],
        selector=item["selector"],
        owner=item["owner"],
        id=item["id"],
        size=item["size"],
        colour=_colour(item["colour"]),
        rects=tuple(Rect(*rect) for rect in item["rects"]),
        clip=_rect(item["clip"]),
        cut=item["cut"],
        hidden=item["hidden"],
        drawn=item["drawn"],
    )


def _arrow(item: Mapping[str, Any]) -> ArrowMeasure:
    return ArrowMeasure(
        id=item["id"],
        source=item["source"],
        target=item["target"],
        lines=tuple(tuple(_xy(point) for point in line) for line in item["lines"]),
        width=item["width"],
        stroke=_colour(item["stroke"]),
        signs=tuple(Rect(*rect) for rect in item["signs"]),
        hidden=item["hidden"],
        keys=tuple(item["keys"]),
    )


def _xy(pair: Sequence[float]) -> XY:
    return (pair[0], pair[1])


def _rect(edges: Sequence[float] | None) -> Rect | None:
    return Rect(*edges) if edges else None


def _colour(channels: Sequence[float] | None) -> Colour | None:
    return (channels[0], channels[1], channels[2], channels[3]) if channels else None
