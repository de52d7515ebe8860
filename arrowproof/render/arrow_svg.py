"""The SVG of one arrow: its line, its head, its bead and its label, and how it reads to a screen reader.

Arrows on a cord have their line in common: it stands in the group around theirs, and looks as the lowest of them does.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace

from markupsafe import Markup

from arrowproof.model.lifecycle import Arrow, Lifecycle
from arrowproof.model.record import record
from arrowproof.model.rung import Rung
from arrowproof.render.beads import RADIUS, styled_bead
from arrowproof.render.drawing import ArrowPath, Box, Point
from arrowproof.render.language import Language
from arrowproof.render.names import endpoint_name
from arrowproof.render.proof import Proof, arrow_words
from arrowproof.render.standing import FREQUENCY_STEPS
from arrowproof.render.svg_element import element, format_number, sample, text_element
from arrowproof.render.svg_path import SvgPath, path_data
from arrowproof.render.text import clean_text

CORNER = 7.0
TIP_LENGTH = 9.6
TIP_HALF = 4.0
LINE_STOP = 7.0
"""How far before its tip a line ends, so that its square end never shows beside the point of the head."""

THIN, THICK = 1.5, 5.0
"""The widths of the rarest and of the most frequent arrow's line; the stylesheet holds the same."""

DOT_RADIUS = 3.0

ARROW_UNITS = 38
"""The width of an arrow's sample in the legend."""


@record
class Look:
    """How an arrow is drawn, by its standing: classes for the stylesheet, the line's width, its head, and its words."""

    classes: str = ""
    width: float = THIN
    is_open: bool = False
    sign: str = ""
    words: str = ""


SNEAK = Look("wrong sneak", 2.25, sign="sneak")
"""The look of every sneak path."""


def arrow_group(
    numbers: Sequence[int],
    name: str,
    path: ArrowPath,
    lifecycle: Lifecycle,
    names: Mapping[str, str],
    language: Language,
    proof: Proof | None = None,
) -> Markup:
    """The group of one arrow. ``name`` is its own and ``names`` are the states' names in the document.

    ``numbers`` are the places in the file of what it stands for: one arrow, or a bundle of several.
    """
    key, *more = (f"a{number}" for number in numbers)
    arrow = lifecycle.arrows_by_id[path.id]
    is_left_out = path.label_box is None and clean_text(arrow.label) != ""
    has_tooltip = proof is not None or path.is_tag or is_left_out  # it names the arrow, too
    look = _look(path.id, proof, language) if proof is not None else Look()
    spoken = _spoken(arrow, lifecycle, look, language)
    if path.is_tag:
        spoken = language("key.row", number=numbers[0] + 1, arrow=spoken)
    return element(
        "g",
        {
            "class": f"arrow{' bundle' if more else ''} {look.classes}".rstrip(),
            "data-key": None if more else key,
            "data-keys": " ".join((key, *more)) if more else None,
            "data-arrow": name,
            "data-sneak": "" if look.sign == SNEAK.sign else None,
            "data-from": None if arrow.source is None else names[arrow.source],
            "data-to": None if arrow.target is None else names[arrow.target],
            "role": "img",
            "aria-label": None if has_tooltip else spoken,
        },
        *((element("title", None, spoken),) if has_tooltip else ()),
        *(_line(path, look) if path.cord is None else _reach(path)),
        *_label(path, look),
    )


def cord_group(
    members: Iterable[Markup], first: ArrowPath, arrows: Sequence[str], proof: Proof | None = None
) -> Markup:
    """The group of a cord: the line of its first arrow, and the groups of all its arrows."""
    look = _lowest_look(arrows, proof) if proof is not None else Look()
    return element("g", {"class": f"cord {look.classes}".rstrip(), "data-cord": ""}, *_line(first, look), *members)


def _line(path: ArrowPath, look: Look) -> Iterable[Markup]:
    """The line with its head, and what is around it to be seen by; the script of a page puts beside it what is hit."""
    points = _distinct(path.points)
    stop = 1.0 if look.is_open else LINE_STOP * _tip_length(look.width) / TIP_LENGTH
    stem = "" if path.stem is None else rounded_path(path.stem)
    yield element("path", {"class": "halo", "d": rounded_path(points) + stem})
    yield element("path", {"class": "line", "d": rounded_path(_shortened(points, stop))})
    if stem:
        yield element("path", {"class": "line", "d": stem})
    yield _tip(points, look)


def _reach(path: ArrowPath) -> Iterable[Markup]:
    """What is hit of an arrow on a cord: its bead, its label, and what is between them."""
    box = path.label_box or Box(path.bead[0], path.bead[1] - RADIUS, 0, 2 * RADIUS)
    left, right = min(box.x, path.bead[0] - RADIUS), max(box.right, path.bead[0] + RADIUS)
    yield element("rect", {"class": "hit", "x": left, "y": box.y, "width": right - left, "height": box.height})


def rung_sample(rung: Rung) -> Markup:
    """A short arrow on this rung for the legend."""
    return _arrow_sample(_rung_look(rung))


def sneak_sample() -> Markup:
    """A short sneak path for the legend."""
    return _arrow_sample(SNEAK)


def _arrow_sample(look: Look) -> Markup:
    points = ((1.0, 9.0), (ARROW_UNITS - 1.0, 9.0))
    stop = 1.0 if look.is_open else LINE_STOP
    line = element("path", {"class": "line", "d": rounded_path(_shortened(points, stop))})
    return sample(ARROW_UNITS, line, _tip(points, look), _bead((16.0, 9.0), look), kind=f"arrow {look.classes}")


def _look(arrow: str, proof: Proof, language: Language) -> Look:
    """The look of an arrow or of a bundle that the proof knows."""
    words = arrow_words(arrow, proof, language)
    if arrow in proof.sneak_paths:
        return replace(SNEAK, words=words)
    standing = proof.standing.arrows[arrow]
    return replace(_rung_look(standing.rung, standing.step), words=words)


def _lowest_look(arrows: Sequence[str], proof: Proof) -> Look:
    """The look of a line that several arrows share: that of the lowest one, as thick as the most frequent one."""
    if any(arrow in proof.sneak_paths for arrow in arrows):
        return SNEAK
    standings = [proof.standing.arrows[arrow] for arrow in arrows]
    lowest = min((each.rung for each in standings), key=lambda rung: rung.height)
    return _rung_look(lowest, max(each.step for each in standings))


def _rung_look(rung: Rung, step: int = 0) -> Look:
    classes = f"{rung.tone} {rung_class(rung)}" + (f" f{step}" if step else "")
    return Look(classes, THIN + (THICK - THIN) * step / FREQUENCY_STEPS, _is_open(rung), rung)


def rung_class(rung: Rung) -> str:
    """The class of an arrow on this rung."""
    return rung.replace("_", "-")


def _is_open(rung: Rung) -> bool:
    """Whether the head is drawn as two lines: nobody has made this transition."""
    return rung in (Rung.MISSING, Rung.WRITTEN)


def _spoken(arrow: Arrow, lifecycle: Lifecycle, look: Look, language: Language) -> str:
    source = endpoint_name(arrow.source, lifecycle, language("end.created"))
    target = endpoint_name(arrow.target, lifecycle, language("end.removed"))
    spoken = language("drawing.arrow", source=source, target=target)
    label = clean_text(arrow.label)
    if label:
        spoken = language("drawing.arrow_label", ends=spoken, label=label)
    return language("drawing.standing", arrow=spoken, standing=look.words) if look.words else spoken


def _label(path: ArrowPath, look: Look) -> Iterable[Markup]:
    if path.label or look.classes:
        yield _bead(path.bead, look)
    if path.label_box is None:
        return
    caption = () if path.caption is None else (text_element(path.caption, "sans", "caption"),)
    # The stylesheet puts a number in the middle of its frame.
    lines = (text_element(replace(line, anchor="start") if path.is_tag else line, "sans") for line in path.label)
    yield element("g", {"class": "label"}, _chip(path, path.label_box), *lines, *caption)


def _chip(path: ArrowPath, box: Box) -> Markup:
    """What stands behind a label: the frame of a number, or what is only seen once the arrow is chosen."""
    x = 0.0 if path.is_tag else 5.0
    y = 0.0 if path.is_tag or path.cord is not None else 2.0  # on a cord, the next label stands close below
    place = {"x": box.x - x, "y": box.y - y, "width": box.width + 2 * x, "height": box.height + 2 * y}
    radius = box.height / 2 if path.is_tag else 4.0
    return element("rect", {"class": "chip tag" if path.is_tag else "chip", **place, "rx": radius})


def _bead(center: Point, look: Look) -> Markup:
    """The sign of an arrow on its line: a dot, a ring that says its rung, or the diamond of a sneak path."""
    x, y = center
    if not look.sign:
        return element("circle", {"class": "bead", "cx": x, "cy": y, "r": DOT_RADIUS})
    place = {"class": "bead sign", "transform": f"translate({format_number(x)} {format_number(y)})"}
    return element("g", place, *styled_bead(look.sign))


def _tip_length(width: float) -> float:
    """The length of the head on a line of this width."""
    return TIP_LENGTH + width - THIN


def _tip_half(width: float) -> float:
    """Half of the breadth of the head on a line of this width."""
    return TIP_HALF + 0.6 * (width - THIN)


def _tip(points: tuple[Point, ...], look: Look) -> Markup:
    before, tip = points[-2:]
    along, half = _towards((0.0, 0.0), (tip[0] - before[0], tip[1] - before[1]), 1.0), _tip_half(look.width)
    foot = _towards(tip, before, _tip_length(look.width))
    one, other = ((foot[0] - side * along[1], foot[1] + side * along[0]) for side in (-half, half))
    if look.is_open:
        return element("path", {"class": "tip open", "d": path_data(one, tip, other)})
    return element("path", {"class": "tip", "d": f"{path_data(tip, one, other)}Z"})


def rounded_path(points: tuple[Point, ...]) -> str:
    """An orthogonal polyline as path data, its corners rounded by ``CORNER`` or by half of the shorter leg."""
    start, *middle, end = points
    path = SvgPath(start)
    for before, corner, after in zip(points, middle, points[2:], strict=False):
        radius = min(CORNER, math.dist(before, corner) / 2, math.dist(corner, after) / 2)
        path.line(_towards(corner, before, radius))
        path.curve(corner, _towards(corner, after, radius))
    path.line(end)
    return str(path)


def _shortened(points: tuple[Point, ...], length: float) -> tuple[Point, ...]:
    reach = min(length, math.dist(points[-1], points[-2]) * 0.9)
    return (*points[:-1], _towards(points[-1], points[-2], reach))


def _distinct(points: tuple[Point, ...]) -> tuple[Point, ...]:
    """The points without repetitions, since a leg of no length has no direction."""
    return tuple(point for number, point in enumerate(points) if number == 0 or point != points[number - 1])


def _towards(start: Point, end: Point, length: float) -> Point:
    share = length / math.dist(start, end)
    return (start[0] + (end[0] - start[0]) * share, start[1] + (end[1] - start[1]) * share)
