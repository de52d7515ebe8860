"""The SVG of one arrow: its line, its head, its bead and its label, and how it reads to a screen reader."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping

from markupsafe import Markup

from arrowproof.model.lifecycle import Lifecycle
from arrowproof.render.drawing import ArrowPath, Point
from arrowproof.render.language import Language
from arrowproof.render.names import endpoint_name
from arrowproof.render.svg_element import element, format_number, format_point, text_element
from arrowproof.render.text import clean_text

CORNER = 7.0
TIP_LENGTH = 9.6
TIP_HALF = 4.0
LINE_STOP = 7.0
"""How far before its tip a line ends, so that its square end never shows beside the point of the head."""


def arrow_group(
    number: int, path: ArrowPath, lifecycle: Lifecycle, names: Mapping[str, str], language: Language
) -> Markup:
    """The group of one arrow. ``number`` is its place in the file, ``names`` the states' names in the document."""
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
    return (bead, element("g", {"class": "label"}, chip, *(text_element(line, "sans") for line in path.label)))


def _tip(points: tuple[Point, ...]) -> Markup:
    (x0, y0), (x1, y1) = points[-2:]
    angle = math.degrees(math.atan2(y1 - y0, x1 - x0))
    shape = f"M0 0L{format_number(-TIP_LENGTH)}{format_number(-TIP_HALF)}V{format_number(TIP_HALF)}Z"
    place = f"translate({format_number(x1)} {format_number(y1)}) rotate({format_number(angle)})"
    return element("path", {"class": "tip", "d": shape, "transform": place})


def rounded_path(points: tuple[Point, ...]) -> str:
    """An orthogonal polyline as path data, its corners rounded by ``CORNER`` or by half of the shorter leg."""
    start, *middle, end = points
    data = [f"M{format_point(start)}"]
    for before, corner, after in zip(points, middle, points[2:], strict=False):
        radius = min(CORNER, math.dist(before, corner) / 2, math.dist(corner, after) / 2)
        first, last = _towards(corner, before, radius), _towards(corner, after, radius)
        data.append(f"L{format_point(first)}Q{format_point(corner)} {format_point(last)}")
    data.append(f"L{format_point(end)}")
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
