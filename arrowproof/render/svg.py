"""The SVG of a lifecycle: what a drawing looks like, and how it reads to a screen reader.

Every element is made by :func:`element`, which escapes; nothing else joins text into markup. Colours and type come
from the stylesheet around it, so that both themes share one drawing. Elements are told apart by ``data-state``,
``data-arrow`` (with ``data-from`` and ``data-to``) and ``data-mark``, and numbered by ``data-key``: ``a`` or ``s`` and
the place in the file. An id of a lifecycle can be any string, so it is never a DOM id.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping

from markupsafe import Markup, escape

from arrowproof.model.lifecycle import Kind, Lifecycle, State
from arrowproof.render.drawing import ArrowPath, Box, Drawing, Mark, Point, StateBox, TextLine
from arrowproof.render.language import Language, load_language
from arrowproof.render.text import clean_text, is_covered

MARGIN = 3.0
"""Drawing units around the bounds, so that half of a stroke at the edge is not cut."""

CORNER = 7.0
BOX_RADIUS = 6.0
INNER_INSET = 3.5
TIP_LENGTH = 9.6
TIP_HALF = 4.0
LINE_STOP = 7.0
"""How far before its tip a line ends, so that its square end never shows beside the point of the head."""

ICONS: Mapping[Kind, str] = {
    Kind.WAITING: "M-3.6-4.6H3.6M-3.6 4.6H3.6M-2.8-4.6C-2.8-1.4 2.8 1.4 2.8 4.6M2.8-4.6C2.8-1.4-2.8 1.4-2.8 4.6",
    Kind.ACTIVE: "M-2.6-3.8L3.6 0L-2.6 3.8Z",
    Kind.SUCCESS: "M-4.2.4L-1.2 3.4L4.4-3.2",
    Kind.FAILURE: "M-3.4-3.4L3.4 3.4M3.4-3.4L-3.4 3.4",
    Kind.NEUTRAL: "M0-3.6L3.6 0L0 3.6L-3.6 0Z",
}
"""The sign of each kind around (0, 0): an hourglass, a play sign, a check, a cross, a lozenge. Passing is a pill."""


def element(name: str, attributes: Mapping[str, object] | None = None, *children: str | Markup) -> Markup:
    """One element. Attribute values and children that are not Markup are escaped; None leaves an attribute out."""
    written = "".join(
        f' {key}="{escape(_number(value) if isinstance(value, float) else value)}"'
        for key, value in (attributes or {}).items()
        if value is not None
    )
    if not children:
        return Markup(f"<{name}{written}/>")
    return Markup(f"<{name}{written}>{Markup('').join(children)}</{name}>")


def render_svg(
    lifecycle: Lifecycle, drawing: Drawing, language: Language | None = None, scene: str = "whole"
) -> Markup:
    """The drawing of a lifecycle as one ``svg`` element, without a stylesheet, its descriptions in a language.

    ``scene`` names this drawing among those of one page, and makes its DOM ids its own.

    Arrows come first, in file order, then boxes, so that a line never covers a box; a line that crosses an earlier one
    leaves a gap in it.
    """
    language = language or load_language()
    bounds = drawing.bounds
    view = (bounds.x - MARGIN, bounds.y - MARGIN, bounds.width + 2 * MARGIN, bounds.height + 2 * MARGIN)
    arrow_number = {arrow.id: number for number, arrow in enumerate(lifecycle.arrows)}
    state_number = {state.id: number for number, state in enumerate(lifecycle.states)}
    names = _distinct_names(state.id for state in lifecycle.states)
    return element(
        "svg",
        {
            "class": "drawing",
            "xmlns": "http://www.w3.org/2000/svg",
            "viewBox": " ".join(map(_number, view)),
            "role": "group",
            "data-scene": scene,
            "aria-labelledby": f"{scene}-title",
            "aria-describedby": f"{scene}-desc",
        },
        element("title", {"id": f"{scene}-title"}, language("drawing.title", title=clean_text(lifecycle.title))),
        element("desc", {"id": f"{scene}-desc"}, _description(lifecycle, language)),
        *(
            _arrow(arrow_number[path.id], path, lifecycle, names, language)
            for path in sorted(drawing.arrows, key=lambda path: arrow_number[path.id])
        ),
        *(_mark(mark) for mark in drawing.marks),
        *(
            _state(state_number[box.id], lifecycle.states_by_id[box.id], box, names[box.id], language)
            for box in sorted(drawing.states, key=lambda box: state_number[box.id])
        ),
    )


def kind_sample(kind: Kind) -> Markup:
    """A small box of this kind for the legend."""
    outline = Box(0.8, 0.8, 26.4, 16.4)
    return _sample(28, *_box(kind, kind in (Kind.SUCCESS, Kind.FAILURE), outline, (14.0, 9.0)), kind=f"state {kind}")


def mark_sample(mark: str) -> Markup:
    """A small start or removal mark for the legend."""
    return _sample(18, _mark(Mark("", mark, (9.0, 9.0), 6.0)))


def endpoint_name(state_id: str | None, lifecycle: Lifecycle, end: str) -> str:
    """How people read one end of an arrow: the state's label, or ``created`` and ``removed`` where there is none."""
    if state_id is None:
        return end
    return state_name(lifecycle.states_by_id[state_id])


def state_name(state: State) -> str:
    """The state's label, or its id when the label is empty."""
    return clean_text(state.label) or clean_text(state.id)


def _sample(width: int, *children: Markup, kind: str | None = None) -> Markup:
    inner = element("g", {"class": kind}, *children)
    return element("svg", {"class": "sample", "viewBox": f"0 0 {width} 18", "aria-hidden": "true"}, inner)


def _description(lifecycle: Lifecycle, language: Language) -> str:
    return language(
        "drawing.description",
        states=language.count("count.states", len(lifecycle.states)),
        arrows=language.count("count.arrows", len(lifecycle.arrows)),
    )


def _distinct_names(ids: Iterable[str]) -> dict[str, str]:
    """Each id as the document may hold it: cleaned, and numbered where two ids clean to the same text."""
    names: dict[str, str] = {}
    for state_id in ids:
        shown, number = clean_text(state_id), 1
        name = shown
        while name in names.values():
            number += 1
            name = f"{shown} ({number})"
        names[state_id] = name
    return names


def _arrow(number: int, path: ArrowPath, lifecycle: Lifecycle, names: Mapping[str, str], language: Language) -> Markup:
    arrow = lifecycle.arrows_by_id[path.id]
    points = _distinct(path.points)
    source = endpoint_name(arrow.source, lifecycle, language("end.created"))
    target = endpoint_name(arrow.target, lifecycle, language("end.removed"))
    spoken = language("drawing.arrow", source=source, target=target)
    label = clean_text(arrow.label)
    if label:
        spoken = language("drawing.arrow_label", ends=spoken, label=label)
    whole = rounded_path(points)
    return element(
        "g",
        {
            "class": "arrow",
            "data-key": f"a{number}",
            "data-number": number,
            "data-arrow": clean_text(arrow.id),
            "data-from": None if arrow.source is None else names[arrow.source],
            "data-to": None if arrow.target is None else names[arrow.target],
            "role": "img",
            "aria-label": spoken,
        },
        element("path", {"class": "halo", "d": whole}),
        element("path", {"class": "hit", "d": whole}),
        element("path", {"class": "line", "d": rounded_path(_shortened(points, LINE_STOP))}),
        _tip(points),
        *_label(path),
    )


def _label(path: ArrowPath) -> Iterable[Markup]:
    if not path.label or path.label_box is None:
        return ()
    box = path.label_box
    chip = element(
        "rect",
        {
            "class": "chip",
            "x": box.x - 5,
            "y": box.y - 2,
            "width": box.width + 10,
            "height": box.height + 4,
            "rx": 4.0,
        },
    )
    bead = element("circle", {"class": "bead", "cx": path.bead[0], "cy": path.bead[1], "r": 3.0})
    return (bead, element("g", {"class": "label"}, chip, *(_text(line, "sans") for line in path.label)))


def _tip(points: tuple[Point, ...]) -> Markup:
    (x0, y0), (x1, y1) = points[-2:]
    angle = math.degrees(math.atan2(y1 - y0, x1 - x0))
    shape = f"M0 0L{_number(-TIP_LENGTH)}{_number(-TIP_HALF)}V{_number(TIP_HALF)}Z"
    place = f"translate({_number(x1)} {_number(y1)}) rotate({_number(angle)})"
    return element("path", {"class": "tip", "d": shape, "transform": place})


def _mark(mark: Mark) -> Markup:
    x, y = mark.center
    circle: dict[str, object] = {"cx": x, "cy": y, "r": mark.radius}
    if mark.kind == "start":
        return element("g", {"class": "mark start", "data-mark": "start"}, element("circle", circle))
    arm = mark.radius * math.sqrt(0.5)
    cross = f"M{_number(x - arm)} {_number(y - arm)}L{_number(x + arm)} {_number(y + arm)}"
    cross += f"M{_number(x + arm)} {_number(y - arm)}L{_number(x - arm)} {_number(y + arm)}"
    circle["r"] = mark.radius - 0.8
    return element(
        "g",
        {"class": "mark removed", "data-mark": "removed"},
        element("circle", circle),
        element("path", {"d": cross}),
    )


def _state(number: int, state: State, drawn: StateBox, name: str, language: Language) -> Markup:
    is_final = state.terminal or state.kind in (Kind.SUCCESS, Kind.FAILURE)
    face = "italic" if state.kind is Kind.PASSING else "sans"
    spoken = (state_name(state), language(f"kind.{state.kind}"), clean_text(state.note or ""))
    return element(
        "g",
        {
            "class": f"state {state.kind}",
            "data-key": f"s{number}",
            "data-state": name,
            "role": "img",
            "aria-label": ", ".join(part for part in spoken if part),
        },
        *_box(state.kind, is_final, drawn.box, drawn.icon),
        *(_text(line, face, "name") for line in drawn.label),
        *(_text(line, face, "note") for line in drawn.note),
    )


def _box(kind: Kind, is_final: bool, box: Box, icon: Point | None) -> Iterable[Markup]:
    radius = box.height / 2 if kind is Kind.PASSING else min(BOX_RADIUS, box.height / 4)
    yield element("rect", {"class": "box", **_rect(box), "rx": radius})
    if is_final:
        inset = min(INNER_INSET, box.height / 6)
        inner = Box(box.x + inset, box.y + inset, box.width - 2 * inset, box.height - 2 * inset)
        yield element("rect", {"class": "inner", **_rect(inner), "rx": max(radius - 2.5, 1.0)})
    if icon is not None and kind in ICONS:
        place = f"translate({_number(icon[0])} {_number(icon[1])})"
        yield element("path", {"class": "icon", "d": ICONS[kind], "transform": place})


def _rect(box: Box) -> dict[str, object]:
    return {"x": box.x, "y": box.y, "width": box.width, "height": box.height}


def _text(line: TextLine, face: str, css: str | None = None) -> Markup:
    """A line of text. Where a font of the reader's machine draws it, it is held to the width that was reserved."""
    attributes: dict[str, object] = {
        "class": css,
        "x": line.x,
        "y": line.baseline,
        "text-anchor": "middle" if line.anchor == "middle" else None,
    }
    if line.width > 0 and not is_covered(line.text, face):
        attributes |= {"textLength": line.width, "lengthAdjust": "spacingAndGlyphs"}
    return element("text", attributes, line.text)


def rounded_path(points: tuple[Point, ...]) -> str:
    """An orthogonal polyline as path data, its corners rounded by ``CORNER`` or by half of the shorter leg."""
    start, *middle, end = points
    data = [f"M{_pair(start)}"]
    for before, corner, after in zip(points, middle, points[2:], strict=False):
        radius = min(CORNER, math.dist(before, corner) / 2, math.dist(corner, after) / 2)
        data.append(
            f"L{_pair(_towards(corner, before, radius))}Q{_pair(corner)} {_pair(_towards(corner, after, radius))}"
        )
    data.append(f"L{_pair(end)}")
    return "".join(data)


def _shortened(points: tuple[Point, ...], length: float) -> tuple[Point, ...]:
    reach = min(length, math.dist(points[-1], points[-2]) * 0.9)
    return (*points[:-1], _towards(points[-1], points[-2], reach))


def _distinct(points: tuple[Point, ...]) -> tuple[Point, ...]:
    """The points without repetitions, since a leg of no length has no direction."""
    return tuple(point for number, point in enumerate(points) if number == 0 or point != points[number - 1])


def _towards(start: Point, end: Point, length: float) -> Point:
    share = length / math.dist(start, end)
    return (start[0] + (end[0] - start[0]) * share, start[1] + (end[1] - start[1]) * share)


def _pair(point: Point) -> str:
    return f"{_number(point[0])} {_number(point[1])}"


def _number(value: float) -> str:
    """At most one decimal and never ``-0``: enough for a screen, and the same on every machine."""
    text = f"{value:.1f}".removesuffix(".0")
    return "0" if text == "-0" else text
