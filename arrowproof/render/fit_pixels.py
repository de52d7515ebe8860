"""The rules of the fit check that only pixels decide: contrast against what is really behind, and being seen at all.

What stands behind a text is taken from the screenshot, not from style sheets, so that gradients, pictures, filters and
anything that covers the text count. The colour of the text itself comes from its style, since the soft edges of thin
letters never reach it. Contrast is that of WCAG 2.2 (relative luminance, success criteria 1.4.3 and 1.4.11).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from functools import lru_cache
from itertools import pairwise, product
from math import ceil, hypot
from operator import itemgetter
from typing import TYPE_CHECKING, cast

from arrowproof.model.record import record
from arrowproof.render.fit_measures import XY, ArrowMeasure, Colour, Geometry, Rect, StateMeasure, Text
from arrowproof.render.fit_rules import Failure

if TYPE_CHECKING:
    from PIL.Image import Image

TEXT_CONTRAST_MIN = 4.5
LINE_CONTRAST_MIN = 3.0

_SEEN_SHARE = 0.35
"""Ink that is there comes at least this near to its colour somewhere; thin small letters reach about half."""
_WINDOW = 2.5
"""A text is judged in windows of this many times its height, so that a background that changes below it counts."""
_AROUND = 3.0
"""How many px around its ink a text is looked at: a single bold letter alone fills most of its own rectangle."""
_STEP = 3.0
_STEPS_A_PIECE = 14
_PAINTED_SHARE = 0.2
"""So much of a line is painted at least; one of dots is painted for about two fifths."""
_BESIDE = 3.0
"""How many px beside a line the ground is looked at."""
_NEARBY = tuple(product((0, -1, 1), repeat=2))
"""A pixel and those around it, by how far they are to its right and below it."""


RGB = tuple[int, int, int]


class Raster:
    """A picture in RGB from which single pixels are read fast, without a copy of it."""

    def __init__(self, picture: Image) -> None:
        self._width, self._height = picture.size
        self._pixels = cast("Mapping[tuple[int, int], RGB]", picture.load())

    def at(self, point: XY) -> RGB | None:
        """The pixel under a point, None off the picture."""
        column, row = int(point[0]), int(point[1])
        if 0 <= column < self._width and 0 <= row < self._height:
            return self._pixels[column, row]
        return None

    def most(self, points: Iterable[XY]) -> RGB | None:
        """The most frequent pixel under some points, None when there is none."""
        pixels = Counter(pixel for pixel in map(self.at, points) if pixel is not None)
        return next((colour for colour, _ in pixels.most_common(1)), None)


@record
class Contrast:
    """A contrast ratio, and the two colours that make it."""

    ratio: float
    ink: RGB
    ground: RGB

    def __str__(self) -> str:
        return f"{self.ratio:.2f}:1 ({_hex(self.ink)} on {_hex(self.ground)})"


@record
class PixelVerdict:
    """The lowest contrasts of a screen (None where there was nothing to measure), and what fails."""

    text_contrast: float | None
    line_contrast: float | None
    paper: RGB
    failures: tuple[Failure, ...]


def judge_pixels(geometry: Geometry, picture: Image) -> PixelVerdict:
    """Contrast and visibility of every text, arrow line and state edge on one screenshot.

    Args:
        geometry: what stands where.
        picture: the screenshot in RGB, one pixel for each CSS px.
    """
    raster = Raster(picture)
    failures: list[Failure] = []
    text_contrasts: list[float] = []
    line_contrasts: list[float] = []
    for text in geometry.texts:
        failures += _judge_text(text, picture, text_contrasts)
    for arrow in geometry.arrows:
        failures += _judge_arrow(arrow, raster, line_contrasts)
    for state in geometry.states:
        failures += _judge_edge(state, raster, line_contrasts)
    return PixelVerdict(
        text_contrast=min(text_contrasts, default=None),
        line_contrast=min(line_contrasts, default=None),
        paper=_paper(picture),
        failures=tuple(failures),
    )


def contrast(one: RGB, other: RGB) -> float:
    """The WCAG contrast ratio of two colours, from 1 to 21."""
    light, dark = sorted((luminance(one), luminance(other)), reverse=True)
    return (light + 0.05) / (dark + 0.05)


@lru_cache(maxsize=4096)
def contrast_on(ground: RGB, colour: Colour) -> Contrast:
    """The contrast of a colour, which may be see-through, on a ground."""
    ink = _over(colour, ground)
    return Contrast(contrast(ink, ground), ink, ground)


@lru_cache(maxsize=4096)
def luminance(colour: RGB) -> float:
    """The WCAG relative luminance of a colour, from 0 (black) to 1 (white)."""
    red, green, blue = (
        channel / 12.92 if channel <= 0.04045 else ((channel + 0.055) / 1.055) ** 2.4
        for channel in (value / 255 for value in colour)
    )
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


def _judge_text(text: Text, picture: Image, contrasts: list[float]) -> Iterator[Failure]:
    """Contrast of one text at its worst window, and whether its ink is to be seen."""
    if text.hidden or not text.rects:
        return
    if text.colour is None:
        yield Failure("contrast", text.place, "its colour is no plain colour, so that its contrast is unknown")
        return
    worst: Contrast | None = None
    seen = False
    for rect in text.rects:
        for window in _windows(rect.grown(_AROUND)):
            part = _part(picture, window)
            if part is None:
                continue
            ground = _ground(part)
            worst = _worse(worst, text.colour, ground)
            seen = seen or _reaches(part, ground, _over(text.colour, ground))
    if worst is None:
        return
    contrasts.append(worst.ratio)
    if worst.ratio < TEXT_CONTRAST_MIN:
        yield Failure("contrast", text.place, f"has contrast {worst}, must be at least {TEXT_CONTRAST_MIN}:1")
    elif not seen:
        yield Failure("hidden", text.place, "nothing of it is painted: something covers it")


def _judge_arrow(arrow: ArrowMeasure, raster: Raster, contrasts: list[float]) -> Iterator[Failure]:
    """Contrast of an arrow's line at its worst piece, and whether it is painted where its own signs leave it bare."""
    if arrow.hidden or not arrow.lines:
        return
    place = f"arrow {arrow.id!r}"
    if arrow.stroke is None:
        yield Failure("contrast", place, "its line has no plain colour, so that its contrast is unknown")
        return
    worst: Contrast | None = None
    painted = total = 0
    for piece in _pieces(arrow):
        bare = [(point, sides) for point, sides in piece if not _is_under(point, arrow.signs)]
        total += len(bare)
        ground = raster.most(side for _, sides in bare for side in sides)
        if ground is None:
            continue
        worst = _worse(worst, arrow.stroke, ground)
        ink = _over(arrow.stroke, ground)
        painted += sum(_is_painted(raster, point, ink, ground) for point, _ in bare)
    if painted < total * _PAINTED_SHARE:
        yield Failure("hidden", place, "most of its line is not painted: something covers it")
    elif worst is not None:
        yield from _judge_line(place, "its line", worst, contrasts)


def _judge_edge(state: StateMeasure, raster: Raster, contrasts: list[float]) -> Iterator[Failure]:
    """Contrast of a state's edge with what stands outside it."""
    if state.hidden or state.box is None:
        return
    place = f"state {state.id!r}"
    if state.edge is None:
        yield Failure("contrast", place, "its box has neither a stroke nor a fill of a plain colour")
        return
    ring = state.box.grown(_BESIDE)
    corners = ((ring.left, ring.top), (ring.right, ring.top), (ring.right, ring.bottom), (ring.left, ring.bottom))
    edges = zip(corners, (*corners[1:], corners[0]), strict=True)
    ground = raster.most(point for start, end in edges for point, _ in _walk((start, end)))
    if ground is not None:
        yield from _judge_line(place, "its edge", _worse(None, state.edge, ground), contrasts)


def _judge_line(place: str, what: str, worst: Contrast, contrasts: list[float]) -> Iterator[Failure]:
    contrasts.append(worst.ratio)
    if worst.ratio < LINE_CONTRAST_MIN:
        yield Failure("contrast", place, f"{what} has contrast {worst}, must be at least {LINE_CONTRAST_MIN}:1")


def _worse(worst: Contrast | None, colour: Colour, ground: RGB) -> Contrast:
    """The lower of a contrast known so far and that of a colour on a ground."""
    found = contrast_on(ground, colour)
    return found if worst is None or found.ratio < worst.ratio else worst


def _windows(rect: Rect) -> Iterator[Rect]:
    """A text's rectangle in windows of equal width, each wide enough to hold more ground than ink."""
    count = max(1, round(rect.width / (rect.height * _WINDOW)))
    width = rect.width / count
    for index in range(count):
        left = rect.left + index * width
        yield Rect(left, rect.top, left + width, rect.bottom)


def _pieces(arrow: ArrowMeasure) -> Iterator[list[tuple[XY, tuple[XY, XY]]]]:
    """An arrow's lines in pieces of points, each with the two points beside it, without the ends, which touch boxes."""
    for line in arrow.lines:
        walked = list(_walk(line, arrow.width / 2 + _BESIDE))
        inner = _without_ends(walked)
        count = max(1, len(inner) // _STEPS_A_PIECE)
        for index in range(count):
            yield inner[index * len(inner) // count : (index + 1) * len(inner) // count]


def _without_ends(walked: list[tuple[XY, tuple[XY, XY]]]) -> list[tuple[XY, tuple[XY, XY]]]:
    """The points without the ends; of a short line they are shorter, since its sign leaves little else of it bare."""
    ends = min(4, len(walked) // 6) if len(walked) > 12 else 0
    return walked[ends : len(walked) - ends]


def _is_under(point: XY, signs: tuple[Rect, ...]) -> bool:
    """Whether a point of a line, or what stands beside it, is covered by a sign of the arrow."""
    return any(
        sign.left - _BESIDE < point[0] < sign.right + _BESIDE and sign.top - _BESIDE < point[1] < sign.bottom + _BESIDE
        for sign in signs
    )


def _is_painted(raster: Raster, point: XY, ink: RGB, ground: RGB) -> bool:
    """Whether the line is to be seen at a point of it; a thin line's soft pixels come only so near to its colour."""
    near = _distance(ink, ground) * (1 - _SEEN_SHARE)
    for right, down in _NEARBY:  # a loop, since it ends at the first pixel nearly always
        pixel = raster.at((point[0] + right, point[1] + down))
        if pixel is not None and _distance(pixel, ink) <= near:
            return True
    return False


def _walk(line: tuple[XY, ...], beside: float = 0.0) -> Iterator[tuple[XY, tuple[XY, XY]]]:
    """Points along a polyline, some 3 px apart, and for each the two points ``beside`` px to its left and right."""
    for (x, y), (to_x, to_y) in pairwise(line):
        length = hypot(to_x - x, to_y - y)
        if length == 0:
            continue
        along_x, along_y = (to_x - x) / length, (to_y - y) / length
        steps = ceil(length / _STEP)
        for step in range(steps):
            at_x, at_y = x + along_x * length * step / steps, y + along_y * length * step / steps
            left = (at_x - along_y * beside, at_y + along_x * beside)
            right = (at_x + along_y * beside, at_y - along_x * beside)
            yield (at_x, at_y), (left, right)


def _part(picture: Image, rect: Rect) -> Image | None:
    """The part of the picture under a rectangle, None when there is none."""
    left, top = max(0, int(rect.left)), max(0, int(rect.top))
    right, bottom = min(picture.width, ceil(rect.right)), min(picture.height, ceil(rect.bottom))
    return None if right <= left or bottom <= top else picture.crop((left, top, right, bottom))


def _paper(picture: Image) -> RGB:
    """The most frequent colour of a whole screen, by every eighth pixel of every eighth row."""
    from PIL.Image import Resampling

    return _ground(picture.resize((max(1, picture.width // 8), max(1, picture.height // 8)), Resampling.NEAREST))


def _ground(picture: Image) -> RGB:
    """The most frequent colour of a picture."""
    counted = cast("list[tuple[int, RGB]]", picture.getcolors(picture.width * picture.height))
    return max(counted, key=itemgetter(0))[1]


@lru_cache(maxsize=4096)
def _over(ink: Colour, ground: RGB) -> RGB:
    """The colour that comes out when see-through ink is painted on a ground."""
    red, green, blue = (
        round(channel * ink[3] + below * (1 - ink[3])) for channel, below in zip(ink[:3], ground, strict=True)
    )
    return (red, green, blue)


def _reaches(picture: Image, ground: RGB, ink: RGB) -> bool:
    """Whether some pixel differs from the ground by a good share of what the ink does, in whichever direction.

    The direction is free because some glyphs, such as emoji, bring colours of their own.
    """
    needed = _distance(ink, ground) * _SEEN_SHARE
    extremes = cast("tuple[tuple[int, int], ...]", picture.getextrema())
    return any(
        max(channel - lowest, highest - channel) >= needed
        for channel, (lowest, highest) in zip(ground, extremes, strict=True)
    )


def _distance(one: RGB, other: RGB) -> int:
    return max(abs(one[0] - other[0]), abs(one[1] - other[1]), abs(one[2] - other[2]))


def _hex(colour: RGB) -> str:
    return "#{:02x}{:02x}{:02x}".format(*colour)
