"""The quality of a drawing: what overlaps, and how well it reads.

The layout chooses between candidates by these figures, and its tests hold every drawing to them.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import combinations, pairwise
from typing import NamedTuple

from arrowproof.model.record import record
from arrowproof.render.drawing import ArrowPath, Box, Drawing, Point, StateBox

TARGET_WIDTH, TARGET_HEIGHT = 950.0, 620.0
"""The figure of the page at 1440x900, in CSS px."""
MAX_SCALE = 1.25
"""A small drawing is not blown up further than this."""
SMALL_STATES, SMALL_ARROWS = 15, 28
"""A lifecycle of no more than this is small: its whole drawing has text that is read."""
MANY_STATES = 24
"""More states are never read as a whole."""
MAX_SCENES = 600
"""More scenes of one page are not looked at by the fit check, and views are not the ones to make so many."""
STATE_TEXT, LABEL_TEXT = 15.0, 13.0
READABLE_SCALE = 0.87
"""From here on labels have 11 CSS px, and names and notes of states 12 at 1440x900, with a little to spare."""
LEAST_SCALE = 0.85
"""Labels have just 11 CSS px from here on, and names of states more than 12."""

LEAST_STEP = 24
"""A line that steps aside by less than this, three radii of its corners, looks bent by mistake: a jog."""
_TOUCH = 3.0
"""Parallel lines nearer than this look like one."""
_BEAD_RADIUS = 6.0
_SLACK = 0.5
"""Shared edges and rounding are no overlap."""


@record
class Overlap:
    """Two things that must not touch: ``kind`` says what they are, ``first`` and ``second`` are their ids.

    Kinds: ``box-box``, ``label-label``, ``label-box``, ``label-arrow``, ``bead-arrow``, ``arrow-box`` (an arrow through
    a box, its own ends included), ``arrow-arrow`` (one drawn on top of the other), ``outside`` (beyond the bounds).
    """

    kind: str
    first: str
    second: str


@record
class Quality:
    """Figures of one drawing; lengths are drawing units unless they say px."""

    crossings: int
    bends: int
    jogs: int
    straight: int
    overlaps: tuple[Overlap, ...]
    label_distance: float
    box_room: float
    length: float
    scale: float
    state_px: float
    label_px: float
    used_area: float

    @property
    def holds(self) -> bool:
        """Whether nothing overlaps."""
        return not self.overlaps


@record
class _Segment:
    arrow: int
    low: Point
    high: Point

    @property
    def is_level(self) -> bool:
        return self.low[1] == self.high[1]


class _Line(NamedTuple):
    """A line that is drawn for an arrow, and how far it reaches: what lies beyond that, it cannot meet."""

    arrow: ArrowPath
    points: Sequence[Point]
    left: float
    right: float
    top: float
    bottom: float


def measure_drawing(drawing: Drawing, width: float = TARGET_WIDTH, height: float = TARGET_HEIGHT) -> Quality:
    """The quality of a drawing that is shown in a figure of ``width`` x ``height`` CSS px.

    ``bends`` counts corners, ``jogs`` the steps of less than ``LEAST_STEP``, ``straight`` the arrows without a
    corner; ``box_room`` is the most that a box is wider than its text; ``label_distance`` is the widest gap
    between a label and its arrow; ``used_area`` is the share of the figure that the scaled drawing covers.
    """
    return replace(measure_unchecked(drawing, width, height), overlaps=find_overlaps(drawing))


def measure_unchecked(drawing: Drawing, width: float = TARGET_WIDTH, height: float = TARGET_HEIGHT) -> Quality:
    """The same figures without a look for overlaps, which takes most of the time."""
    segments = _segments(drawing.arrows)
    drawn = [arrow for arrow in drawing.arrows if arrow.is_first]
    scale = fit_scale(drawing.bounds, width, height)
    legs = [abs(s.high[0] - s.low[0]) + abs(s.high[1] - s.low[1]) for s in segments]
    return Quality(
        crossings=count_crossings(drawing),
        bends=sum(max(len(arrow.points) - 2, 0) for arrow in drawn),
        jogs=sum(_jogs(arrow.points) for arrow in drawn),
        straight=sum(len(arrow.points) == 2 for arrow in drawn),
        overlaps=(),
        label_distance=max(map(_label_distance, drawing.arrows), default=0.0),
        box_room=max(map(_box_room, drawing.states), default=0.0),
        length=sum(legs),
        scale=scale,
        state_px=STATE_TEXT * scale,
        label_px=LABEL_TEXT * scale,
        used_area=drawing.bounds.width * drawing.bounds.height * scale * scale / (width * height),
    )


def _jogs(points: Sequence[Point]) -> int:
    """How often a line steps aside by too little and goes on the same way; where it turns back, it is no jog."""
    return sum(
        abs(right - left) + abs(lower - upper) < LEAST_STEP
        and (left - before[0]) * (after[0] - right) + (upper - before[1]) * (after[1] - lower) > 0
        for before, (left, upper), (right, lower), after in zip(
            points, points[1:], points[2:], points[3:], strict=False
        )
    )


def fit_scale(bounds: Box, width: float = TARGET_WIDTH, height: float = TARGET_HEIGHT) -> float:
    """How much a drawing is scaled to fit a figure, at most ``MAX_SCALE``."""
    return min(MAX_SCALE, width / max(bounds.width, 1.0), height / max(bounds.height, 1.0))


def count_crossings(drawing: Drawing) -> int:
    """How often a line of one arrow crosses a line of another."""
    segments = _segments(drawing.arrows)
    level = [s for s in segments if s.is_level]
    upright = [s for s in segments if not s.is_level]
    return sum(
        a.low[0] < b.low[0] < a.high[0] and b.low[1] < a.low[1] < b.high[1] and a.arrow != b.arrow
        for a in level
        for b in upright
    )


def is_read(drawing: Drawing) -> bool:
    """Whether every text of a drawing is large enough to read in the figure of the page at 1440x900."""
    return fit_scale(drawing.bounds) >= READABLE_SCALE


def find_overlaps(drawing: Drawing) -> tuple[Overlap, ...]:
    """Everything in a drawing that touches what it must not, in a fixed order."""
    boxes, lines = _boxes(drawing), _drawn_lines(drawing)
    return (
        *_box_overlaps(boxes),
        *_label_overlaps(drawing, boxes, lines),
        *_arrow_overlaps(drawing, boxes, lines),
        *_outside(drawing, boxes),
    )


_Named = tuple[str, Box]
"""The box of a state or a mark, with its id."""


def _boxes(drawing: Drawing) -> list[_Named]:
    marks = [
        (mark.id, Box(mark.center[0] - mark.radius, mark.center[1] - mark.radius, 2 * mark.radius, 2 * mark.radius))
        for mark in drawing.marks
    ]
    return [(state.id, state.box) for state in drawing.states] + marks


def _box_overlaps(boxes: Sequence[_Named]) -> Iterator[Overlap]:
    for (first, a), (second, b) in combinations(boxes, 2):
        if _boxes_touch(a, b):
            yield Overlap("box-box", first, second)


def _label_overlaps(drawing: Drawing, boxes: Sequence[_Named], lines: Sequence[_Line]) -> Iterator[Overlap]:
    labels = [(arrow.id, arrow.label_box) for arrow in drawing.arrows if arrow.label_box is not None]
    for (first, a), (second, b) in combinations(labels, 2):
        if _boxes_touch(a, b):
            yield Overlap("label-label", first, second)
    for first, label in labels:
        for second, box in boxes:
            if _boxes_touch(label, box):
                yield Overlap("label-box", first, second)
        for second in _through(lines, label):
            yield Overlap("label-arrow", first, second)


def _arrow_overlaps(drawing: Drawing, boxes: Sequence[_Named], lines: Sequence[_Line]) -> Iterator[Overlap]:
    for name, box in boxes:
        for first in _through(lines, box):
            yield Overlap("arrow-box", first, name)
    for arrow in drawing.arrows:
        if arrow.label_box is not None:
            x, y = arrow.bead
            bead = Box(x - _BEAD_RADIUS, y - _BEAD_RADIUS, 2 * _BEAD_RADIUS, 2 * _BEAD_RADIUS)
            for second in _through(lines, bead):
                if second not in (arrow.id, arrow.cord):
                    yield Overlap("bead-arrow", arrow.id, second)
    for lower, higher in sorted(set(_shared_runs(_segments(drawing.arrows)))):
        yield Overlap("arrow-arrow", drawing.arrows[lower].id, drawing.arrows[higher].id)


def _outside(drawing: Drawing, boxes: Sequence[_Named]) -> Iterator[Overlap]:
    bounds = drawing.bounds
    parts = list(boxes)
    parts += [(arrow.id, arrow.label_box) for arrow in drawing.arrows if arrow.label_box is not None]
    parts += [(arrow.id, Box(x, y, 0, 0)) for arrow in drawing.arrows for x, y in arrow.points]
    for name, box in parts:
        inside = bounds.x - _SLACK <= box.x and box.right <= bounds.right + _SLACK
        if not (inside and bounds.y - _SLACK <= box.y and box.bottom <= bounds.bottom + _SLACK):
            yield Overlap("outside", name, "bounds")


def _boxes_touch(a: Box, b: Box) -> bool:
    if a.x + a.width <= b.x or b.x + b.width <= a.x or a.y + a.height <= b.y or b.y + b.height <= a.y:
        return False  # nearly all pairs, told without a call
    return min(a.right, b.right) - max(a.x, b.x) > _SLACK and min(a.bottom, b.bottom) - max(a.y, b.y) > _SLACK


def _drawn_lines(drawing: Drawing) -> list[_Line]:
    lines = []
    for arrow in drawing.arrows:
        for points in _lines(arrow) if arrow.is_first else ():
            xs, ys = [x for x, _ in points], [y for _, y in points]
            lines.append(_Line(arrow, points, min(xs), max(xs), min(ys), max(ys)))
    return lines


def _through(lines: Sequence[_Line], box: Box) -> list[str]:
    """The ids of all arrows of which an orthogonal line enters the inside of a box."""
    left, right, top, bottom = box.x + _SLACK, box.right - _SLACK, box.y + _SLACK, box.bottom - _SLACK
    return list(
        dict.fromkeys(
            line.arrow.id
            for line in lines
            if line.right > left and line.left < right and line.bottom > top and line.top < bottom
            if _enters(line.points, left, right, top, bottom)
        )
    )


def _enters(points: Sequence[Point], left: float, right: float, top: float, bottom: float) -> bool:
    ax, ay = points[0]
    for bx, by in points[1:]:
        if (
            (ax > left or bx > left)
            and (ax < right or bx < right)
            and (ay > top or by > top)
            and (ay < bottom or by < bottom)
        ):
            return True
        ax, ay = bx, by
    return False


def _segments(arrows: Sequence[ArrowPath]) -> list[_Segment]:
    return [
        _Segment(number, min(a, b), max(a, b))
        for number, arrow in enumerate(arrows)
        if arrow.is_first
        for line in _lines(arrow)
        for a, b in pairwise(line)
    ]


def _lines(arrow: ArrowPath) -> tuple[tuple[Point, ...], ...]:
    """What is drawn of an arrow that has a line of its own, or for all arrows on its cord."""
    return (arrow.points,) if arrow.stem is None else (arrow.points, arrow.stem)


def _shared_runs(segments: Sequence[_Segment]) -> Iterator[tuple[int, int]]:
    """Pairs of arrows, lower number first, of which one is drawn on top of the other."""
    for level in (True, False):
        across = 1 if level else 0
        parallel = sorted((s for s in segments if s.is_level == level), key=lambda s: s.low[across])
        for place, a in enumerate(parallel):
            for b in parallel[place + 1 :]:
                if b.low[across] - a.low[across] >= _TOUCH:
                    break
                if _run_together(a, b):
                    yield min(a.arrow, b.arrow), max(a.arrow, b.arrow)


def _run_together(a: _Segment, b: _Segment) -> bool:
    """Whether two near parallel segments of different arrows lie beside each other for more than a touch."""
    along = 0 if a.is_level else 1
    return a.arrow != b.arrow and min(a.high[along], b.high[along]) - max(a.low[along], b.low[along]) > _SLACK


def _label_distance(arrow: ArrowPath) -> float:
    """The gap between a label and its own arrow."""
    box = arrow.label_box
    if box is None:
        return 0.0
    legs = [*pairwise(arrow.points), *([(arrow.bead, arrow.bead)] if arrow.cord is not None else [])]
    return min(
        max(box.x - max(a[0], b[0]), min(a[0], b[0]) - box.right, 0.0)
        + max(box.y - max(a[1], b[1]), min(a[1], b[1]) - box.bottom, 0.0)
        for a, b in legs
    )


def _box_room(state: StateBox) -> float:
    """How much wider a box is than its widest line of text."""
    return state.box.width - max((line.width for line in (*state.label, *state.note)), default=0.0)
