"""The drawing: a lifecycle with coordinates. It knows no SVG, no HTML and no Jinja.

The unit is the drawing unit: one CSS px at the drawing's natural scale, in which state text is 15 and label text 13
units high. x grows to the right, y downwards. The page scales the whole drawing and keeps its aspect ratio.
"""

from __future__ import annotations

from arrowproof.model.record import record

Point = tuple[float, float]


@record
class Box:
    """An upright rectangle: its upper left corner and its size."""

    x: float
    y: float
    width: float
    height: float

    @property
    def right(self) -> float:
        """The x of the right edge."""
        return self.x + self.width

    @property
    def bottom(self) -> float:
        """The y of the lower edge."""
        return self.y + self.height

    @property
    def center(self) -> Point:
        """The middle of the box."""
        return (self.x + self.width / 2, self.y + self.height / 2)


@record
class TextLine:
    """One line of text: its anchor point on the baseline, its measured width, and ``start`` or ``middle``."""

    text: str
    x: float
    baseline: float
    width: float
    anchor: str = "start"


@record
class StateBox:
    """A state as drawn: the box and its text lines (label lines first, then note lines).

    ``icon`` is the center of the sign that says the kind by shape, or None for a kind without a sign.
    """

    id: str
    box: Box
    label: tuple[TextLine, ...]
    note: tuple[TextLine, ...] = ()
    icon: Point | None = None


@record
class Mark:
    """The start mark (rows are created here) or the removal mark (rows leave here)."""

    id: str
    kind: str
    center: Point
    radius: float

    @property
    def arrow(self) -> str:
        """The arrow that begins or ends here, which its id names behind the kind of node that the mark is."""
        return self.id.partition(":")[2]


@record
class ArrowPath:
    """An arrow as drawn: an orthogonal polyline from tail to tip, its label lines, the label's box, and the bead.

    ``bead`` is the point on the line that belongs to the label and carries the arrow's sign (its rung, with evidence).
    ``label`` is empty and ``label_box`` None when the arrow has no text. ``caption`` is the short line under the label
    (a rung, for example) when the layout was asked to leave room for one; the label's box holds it too.

    Arrows with the same ends may share one line, a *cord*: they all have its ``points``, and ``cord`` is the id of the
    first of them. The beads stand on the line, or on its ``stem``, which stands off it where it is level or short; the
    first one has it. ``is_tag`` says that the label is a number that stands for the text.
    """

    id: str
    points: tuple[Point, ...]
    bead: Point
    label: tuple[TextLine, ...] = ()
    label_box: Box | None = None
    caption: TextLine | None = None
    cord: str | None = None
    stem: tuple[Point, Point] | None = None
    is_tag: bool = False

    @property
    def is_first(self) -> bool:
        """Whether it is the arrow that its line is drawn for: the only one, or the first on a cord."""
        return self.cord in (None, self.id)


@record
class Lane:
    """The part of a drawing in which the states of one group stand: its outline, a closed orthogonal line, and name."""

    group: str
    outline: tuple[Point, ...]
    name: tuple[TextLine, ...]


@record
class Drawing:
    """A whole diagram. ``bounds`` holds everything that is drawn."""

    bounds: Box
    states: tuple[StateBox, ...]
    arrows: tuple[ArrowPath, ...]
    marks: tuple[Mark, ...] = ()
    lanes: tuple[Lane, ...] = ()
