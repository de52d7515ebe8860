"""The rules of the fit check that places and sizes decide. Each takes a page's geometry and names what breaks it.

A rule yields (place, message) pairs; :func:`judge_geometry` runs them all. The rules that need the painted pixels are
in :mod:`arrowproof.render.fit_pixels`, and those that need the browser's events in :mod:`arrowproof.render.fit_visit`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import pairwise

from arrowproof.model.record import record
from arrowproof.render.fit_measures import XY, ArrowMeasure, Geometry, Rect, Text
from arrowproof.render.quality import SMALL_ARROWS, SMALL_STATES

STATE_TEXT_MIN = 12.0
"""Smallest font size of text in states, in CSS px."""
LABEL_TEXT_MIN = 11.0
"""Smallest font size of arrow labels, in CSS px."""
OTHER_TEXT_MIN = 11.0
"""Smallest font size of any other text, in CSS px."""

_SLACK = 0.75
"""Less than this many px is rounding, not a fault: ink and edges are painted with soft pixels."""
_SIZE_SLACK = 0.01
_OWN_LINES_SHARE = 0.3
"""Each line of a text counts as high as its highest letter and lowest tail, which seldom meet: so much is no fault."""
_BOX_INSET = 1.0
"""How deep a line must be inside a box to go through it; touching the edge is how arrows end."""

Finding = tuple[str, str]


@record
class Failure:
    """One way in which a page does not fit: the rule, the place, and the numbers.

    ``size`` (``1440x900``) and ``theme`` say which check saw it; None means that the page failed as a whole.
    """

    rule: str
    place: str
    message: str
    size: str | None = None
    theme: str | None = None

    def __str__(self) -> str:
        where = f"{self.size} {self.theme}: " if self.size else ""
        return f"{where}{self.rule}: {self.place}: {self.message}"


def judge_geometry(geometry: Geometry) -> tuple[Failure, ...]:
    """Every failure that places and sizes show, in the order of the rules."""
    return tuple(Failure(rule, place, message) for rule, judge in RULES.items() for place, message in judge(geometry))


def judge_drawing(geometry: Geometry) -> Iterator[Finding]:
    """There is one drawing of states that have a box and text and of lines that are arrows: else nothing is checked."""
    if geometry.drawings != 1:
        yield "svg.drawing", f"the page has {geometry.drawings or 'no'} drawings, and needs exactly one"
        return
    if not geometry.states:
        yield "svg.drawing", "the drawing has no states, so there is nothing to check"
    named = {text.id for text in geometry.texts if text.owner == "state"}
    known = {state.id for state in geometry.states}
    for state in geometry.states:
        if state.box is None:
            yield f"state {state.id!r}", "has no rect.box"
        elif state.id not in named:
            yield f"state {state.id!r}", "has no text"
    if geometry.stray_lines:
        yield "svg.drawing", f"{geometry.stray_lines} of its lines belong to no arrow"
    for arrow in geometry.arrows:
        if not arrow.lines and not arrow.hidden:
            yield f"arrow {arrow.id!r}", "has no path.line of any length"
        for end in (arrow.source, arrow.target):
            if end is not None and end not in known:
                yield f"arrow {arrow.id!r}", f"joins state {end!r}, which is not drawn"


def judge_limits(geometry: Geometry) -> Iterator[Finding]:
    """A page that shows more than what is measured is not judged by a part of it."""
    yield from geometry.unmeasured
    if geometry.too_many:
        yield "page", f"has more than {len(geometry.texts)} texts, too many to measure"


def judge_hidden(geometry: Geometry) -> Iterator[Finding]:
    """Nothing is hidden to make the numbers pass. What the document itself puts away (``hidden``) is not hidden."""
    if geometry.drawing_hidden:
        yield "svg.drawing", f"is hidden by {geometry.drawing_hidden}"
    for state in geometry.states:
        if state.hidden:
            yield f"state {state.id!r}", f"its box is hidden by {state.hidden}"
    for arrow in geometry.arrows:
        if arrow.hidden:
            yield f"arrow {arrow.id!r}", f"its line is hidden by {arrow.hidden}"
    for text in geometry.texts:
        if text.hidden:
            yield text.place, f"is hidden by {text.hidden}"


def judge_scroll(geometry: Geometry) -> Iterator[Finding]:
    """The page is the screen: nothing to scroll to, and nothing that stands where no scrolling goes."""
    for axis, size, room in zip(("width", "height"), geometry.scroll, geometry.viewport, strict=True):
        if size > room:
            yield "page", f"its {axis} of {size:g} px scrolls on a screen of {room:g} px"
    for selector, rect in geometry.outside:
        yield selector, f"{rect} is not all on the screen of {geometry.viewport[0]:g}x{geometry.viewport[1]:g} px"


def judge_clipping(geometry: Geometry) -> Iterator[Finding]:
    """Every text is whole: on the screen, inside what its ancestors show, and inside its own state's box."""
    screen = Rect(0, 0, *geometry.viewport)
    boxes = {state.id: state.box for state in geometry.states}
    for text in geometry.texts:
        if text.cut:
            yield text.place, "is cut by an ellipsis, a clip-path or a mask"
            continue
        frames = [("the screen", screen), ("what its ancestors show", text.clip)]
        if text.owner == "state":
            frames.append(("its state's box", boxes.get(text.id or "")))
        for name, frame in frames:
            worst = max((frame.excess(rect) for rect in text.rects), default=0.0) if frame else 0.0
            if worst > _SLACK:
                yield text.place, f"stands {worst:.1f} px out of {name} {frame}"
                break


def judge_overlap(geometry: Geometry) -> Iterator[Finding]:
    """No text stands on another text, on a foreign state, or on any arrow's line, its own included."""
    placed = sorted(
        ((rect, text) for text in geometry.texts for rect in text.rects), key=lambda item: (item[0].top, item[0].left)
    )
    yield from _overlaps_of_texts(placed)
    for rect, text in placed:
        for state in geometry.states:
            foreign = not (text.owner == "state" and text.id == state.id)
            if foreign and state.box and _share(rect, state.box):
                yield text.place, f"{rect} stands on state {state.id!r}, whose box is {state.box}"
    for arrow in geometry.arrows:
        core = -_SLACK + arrow.width / 2
        bounds = _bounds(arrow).grown(arrow.width)
        for rect, text in placed:
            if _share(rect, bounds) and any(_crosses(line, rect.grown(core)) for line in arrow.lines):
                whose = (
                    "its own line"
                    if text.owner == "label" and text.id == arrow.id
                    else f"the line of arrow {arrow.id!r}"
                )
                yield text.place, f"{rect} is crossed by {whose}"


def judge_boxes(geometry: Geometry) -> Iterator[Finding]:
    """No arrow goes through the box of a state that it does not join."""
    for arrow in geometry.arrows:
        bounds = _bounds(arrow).grown(1)
        for state in geometry.states:
            if state.box is None or state.id in (arrow.source, arrow.target) or not _share(bounds, state.box):
                continue
            if any(_crosses(line, state.box.grown(-_BOX_INSET)) for line in arrow.lines):
                yield f"arrow {arrow.id!r}", f"goes through state {state.id!r}, whose box is {state.box}"


def judge_text_size(geometry: Geometry) -> Iterator[Finding]:
    """Every text is large enough to read: at least 12 px in states, 11 px on arrows and elsewhere.

    The text of an overview is not judged: its size is told, and each scene behind it must be readable.
    """
    spared = is_overview(geometry)
    smallest = {"state": STATE_TEXT_MIN, "label": LABEL_TEXT_MIN, "other": OTHER_TEXT_MIN}
    for text in geometry.texts:
        if not text.hidden and not (spared and text.drawn) and text.size < smallest[text.owner] - _SIZE_SLACK:
            yield text.place, f"is {text.size:g} px high, and must be at least {smallest[text.owner]:g}"


def is_overview(geometry: Geometry) -> bool:
    """Whether the drawing that is shown is an overview: the page says so, and it stands for too much to be readable.

    A small drawing has to be readable as a whole. What an overview claims to stand for has to be found in its scenes
    (:mod:`arrowproof.render.fit_scenes`).
    """
    states = {key for state in geometry.states for key in state.keys}
    arrows = {key for arrow in geometry.arrows for key in arrow.keys}
    is_large = len(states) > SMALL_STATES or len(arrows) > SMALL_ARROWS
    return geometry.claims_overview and is_large


def judge_hints(geometry: Geometry) -> Iterator[Finding]:
    """The page asks for no connection ahead of need either; such hints make no request that a browser reports."""
    for hint in geometry.hints:
        yield "link", f"asks for {hint}"


RULES: dict[str, Callable[[Geometry], Iterator[Finding]]] = {
    "drawing": judge_drawing,
    "limits": judge_limits,
    "hidden": judge_hidden,
    "scroll": judge_scroll,
    "text-clipped": judge_clipping,
    "label-overlap": judge_overlap,
    "arrow-through-box": judge_boxes,
    "text-size": judge_text_size,
    "request": judge_hints,
}
"""The rules of this module by their stable names."""


def _overlaps_of_texts(placed: list[tuple[Rect, Text]]) -> Iterator[Finding]:
    """Pairs of texts that share ink, found by a sweep from the top (``placed`` is sorted so)."""
    for index, (rect, text) in enumerate(placed):
        for other_rect, other in placed[index + 1 :]:
            if other_rect.top > rect.bottom - _SLACK:
                break
            if other is text:
                if not text.cut and _collide(rect, other_rect):
                    yield text.place, f"{rect} overlaps another line of the same text at {other_rect}"
            elif _share(rect, other_rect):
                yield text.place, f"{rect} overlaps {other.place} at {other_rect}"


def _collide(one: Rect, other: Rect) -> bool:
    """Whether two lines of one text stand on each other."""
    return _share(one, other) and one.overlap(other)[1] > min(one.height, other.height) * _OWN_LINES_SHARE


def _share(one: Rect, other: Rect) -> bool:
    """Whether ``one.overlap(other)`` is more than the slack both ways; mostly the first edge tells that it is not."""
    return (
        one.bottom - other.top > _SLACK
        and other.bottom - one.top > _SLACK
        and one.right - other.left > _SLACK
        and other.right - one.left > _SLACK
        and min(one.width, one.height, other.width, other.height) > _SLACK
    )


def _bounds(arrow: ArrowMeasure) -> Rect:
    """The rectangle around an arrow's lines; an empty one, far off, when it has none."""
    points = [point for line in arrow.lines for point in line]
    if not points:
        return Rect(-1e9, -1e9, -1e9, -1e9)
    xs, ys = [x for x, _ in points], [y for _, y in points]
    return Rect(min(xs), min(ys), max(xs), max(ys))


def _crosses(line: tuple[XY, ...], rect: Rect) -> bool:
    """Whether a polyline has a point inside a rectangle."""
    return any(_enters(start, end, rect) for start, end in pairwise(line))


def _enters(start: XY, end: XY, rect: Rect) -> bool:
    """Whether a segment has a point strictly inside a rectangle: the share of it inside all four edges is not empty."""
    enter, leave = 0.0, 1.0
    for begin, step, low, high in (
        (start[0], end[0] - start[0], rect.left, rect.right),
        (start[1], end[1] - start[1], rect.top, rect.bottom),
    ):
        if step == 0:
            if not low < begin < high:
                return False
            continue
        near, far = sorted(((low - begin) / step, (high - begin) / step))
        enter, leave = max(enter, near), min(leave, far)
    return enter < leave
