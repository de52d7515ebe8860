"""The SVG of a lifecycle: what a drawing looks like, and how it reads to a screen reader.

Colours and type come from the stylesheet around it, so that both themes share one drawing. Elements are told apart by
``data-state``, ``data-arrow`` (with ``data-from`` and ``data-to``) and ``data-mark``, and numbered by ``data-key``:
``a`` or ``s`` and the place in the file. An id of a lifecycle can be any string, so it is never a DOM id.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping

from markupsafe import Markup

from arrowproof.model.lifecycle import Kind, Lifecycle, State
from arrowproof.render.arrow_svg import arrow_group
from arrowproof.render.drawing import Box, Drawing, Mark, Point, StateBox
from arrowproof.render.language import Language, load_language
from arrowproof.render.names import distinct_names, state_name
from arrowproof.render.svg_element import element, format_number, text_element
from arrowproof.render.text import clean_text

MARGIN = 3.0
"""Drawing units around the bounds, so that half of a stroke at the edge is not cut."""

BOX_RADIUS = 6.0
INNER_INSET = 3.5

ICONS: Mapping[Kind, str] = {
    Kind.WAITING: "M-3.6-4.6H3.6M-3.6 4.6H3.6M-2.8-4.6C-2.8-1.4 2.8 1.4 2.8 4.6M2.8-4.6C2.8-1.4-2.8 1.4-2.8 4.6",
    Kind.ACTIVE: "M-2.6-3.8L3.6 0L-2.6 3.8Z",
    Kind.SUCCESS: "M-4.2.4L-1.2 3.4L4.4-3.2",
    Kind.FAILURE: "M-3.4-3.4L3.4 3.4M3.4-3.4L-3.4 3.4",
    Kind.NEUTRAL: "M0-3.6L3.6 0L0 3.6L-3.6 0Z",
}
"""The sign of each kind around (0, 0): an hourglass, a play sign, a check, a cross, a lozenge. Passing is a pill."""


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
    names = distinct_names(state.id for state in lifecycle.states)
    return element(
        "svg",
        {
            "class": "drawing",
            "xmlns": "http://www.w3.org/2000/svg",
            "viewBox": " ".join(map(format_number, view)),
            "role": "group",
            "data-scene": scene,
            "aria-labelledby": f"{scene}-title",
            "aria-describedby": f"{scene}-desc",
        },
        element("title", {"id": f"{scene}-title"}, language("drawing.title", title=clean_text(lifecycle.title))),
        element("desc", {"id": f"{scene}-desc"}, _description(lifecycle, language)),
        *(
            arrow_group(arrow_number[path.id], path, lifecycle, names, language)
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


def _sample(width: int, *children: Markup, kind: str | None = None) -> Markup:
    inner = element("g", {"class": kind}, *children)
    return element("svg", {"class": "sample", "viewBox": f"0 0 {width} 18", "aria-hidden": "true"}, inner)


def _description(lifecycle: Lifecycle, language: Language) -> str:
    return language(
        "drawing.description",
        states=language.count("count.states", len(lifecycle.states)),
        arrows=language.count("count.arrows", len(lifecycle.arrows)),
    )


def _mark(mark: Mark) -> Markup:
    x, y = mark.center
    circle: dict[str, object] = {"cx": x, "cy": y, "r": mark.radius}
    if mark.kind == "start":
        return element("g", {"class": "mark start", "data-mark": "start"}, element("circle", circle))
    arm = mark.radius * math.sqrt(0.5)
    cross = f"M{format_number(x - arm)} {format_number(y - arm)}L{format_number(x + arm)} {format_number(y + arm)}"
    cross += f"M{format_number(x + arm)} {format_number(y - arm)}L{format_number(x - arm)} {format_number(y + arm)}"
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
        *(text_element(line, face, "name") for line in drawn.label),
        *(text_element(line, face, "note") for line in drawn.note),
    )


def _box(kind: Kind, is_final: bool, box: Box, icon: Point | None) -> Iterable[Markup]:
    radius = box.height / 2 if kind is Kind.PASSING else min(BOX_RADIUS, box.height / 4)
    yield element("rect", {"class": "box", **_rect(box), "rx": radius})
    if is_final:
        inset = min(INNER_INSET, box.height / 6)
        inner = Box(box.x + inset, box.y + inset, box.width - 2 * inset, box.height - 2 * inset)
        yield element("rect", {"class": "inner", **_rect(inner), "rx": max(radius - 2.5, 1.0)})
    if icon is not None and kind in ICONS:
        place = f"translate({format_number(icon[0])} {format_number(icon[1])})"
        yield element("path", {"class": "icon", "d": ICONS[kind], "transform": place})


def _rect(box: Box) -> dict[str, object]:
    return {"x": box.x, "y": box.y, "width": box.width, "height": box.height}
