"""One check of the fit check, judged: a page's geometry and its screenshot on one screen in one theme."""

from __future__ import annotations

import base64
import io
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import groupby
from pathlib import Path
from typing import TYPE_CHECKING

from arrowproof.model.record import record
from arrowproof.render.contact_sheet import Tile, shrink
from arrowproof.render.fit_measures import Geometry
from arrowproof.render.fit_pixels import RGB, PixelVerdict, judge_pixels, luminance
from arrowproof.render.fit_report import Check, Measures
from arrowproof.render.fit_rules import Failure, is_overview, judge_geometry

if TYPE_CHECKING:
    from PIL.Image import Image

MAX_FAILURES_A_RULE = 40
"""More failures of one rule on one screen than this are counted, not listed."""


@record
class Screen:
    """What a check looks at: a size in CSS px, and a theme."""

    width: int
    height: int
    theme: str

    @property
    def size(self) -> str:
        """The size as receipts and file names have it: ``1440x900``."""
        return f"{self.width}x{self.height}"

    def __str__(self) -> str:
        return f"{self.size} {self.theme}"


@record
class JudgedScreen:
    """A check with what the whole page needs of it: its small picture, and the colour of its paper."""

    screen: Screen
    check: Check
    tile: Tile
    paper: RGB


def in_order_of_visit(screens: Sequence[Screen]) -> list[Screen]:
    """Screens so that from one to the next only the size or only the theme changes, and the first of them comes last.

    Each change has the page styled and laid out anew. The first is where scenes and choices are looked at afterwards.
    """
    walk: list[Screen] = []
    for _, group in groupby(screens, key=lambda screen: screen.size):
        themes = list(group)
        walk += themes[::-1] if walk and walk[-1].theme != themes[0].theme else themes
    return walk[::-1]


def prepare_to_judge() -> None:
    """Import what the first screen would otherwise wait for."""
    from PIL import Image, PngImagePlugin  # noqa: F401 - for the sake of the import


def judge_scene(screen: Screen, geometry: Geometry, encoded: str | None, address: str) -> Check:
    """Judge what is seen at an address as :func:`judge_screen` does a page; no picture of it is kept.

    Where there is none (``encoded`` is None), it is judged by its places and sizes alone.
    """
    pixels = None if encoded is None else _looked_at(geometry, base64.b64decode(encoded))[1]
    check = _check(screen, geometry, pixels)
    failures = tuple(replace(failure, place=f"#{address}, {failure.place}") for failure in check.failures)
    return replace(check, failures=failures)


def judge_screen(screen: Screen, geometry: Geometry, encoded: str, path: Path) -> JudgedScreen:
    """Write a screenshot and judge it together with the geometry.

    Args:
        screen: what was looked at.
        geometry: what stands where.
        encoded: the screenshot, a PNG in base64, one pixel for each CSS px.
        path: where the screenshot goes.
    """
    content = base64.b64decode(encoded)
    path.write_bytes(content)
    picture, pixels = _looked_at(geometry, content)
    check = _check(screen, geometry, pixels, path.name)
    return JudgedScreen(screen, check, Tile(str(screen), shrink(picture)), pixels.paper)


def judge_themes(judged: Sequence[JudgedScreen]) -> Iterator[Failure]:
    """The page follows the theme: else half of the checks looked at what the other half had seen already."""
    papers = {(item.screen.size, item.screen.theme): item.paper for item in judged}
    for size in dict.fromkeys(size for size, _ in papers):
        light, dark = papers.get((size, "light")), papers.get((size, "dark"))
        if light and dark and luminance(light) <= luminance(dark):
            yield Failure("theme", "page", f"its paper is no darker in the dark theme than in the light one at {size}")


def _looked_at(geometry: Geometry, content: bytes) -> tuple[Image, PixelVerdict]:
    """A screenshot in RGB, and what its pixels say."""
    from PIL import Image

    with Image.open(io.BytesIO(content), formats=("PNG",)) as opened:
        picture = opened if opened.mode == "RGB" else opened.convert("RGB")
        picture.load()
    return picture, judge_pixels(geometry, picture)


def _check(screen: Screen, geometry: Geometry, pixels: PixelVerdict | None, screenshot: str | None = None) -> Check:
    failures = bound_failures((*judge_geometry(geometry), *(pixels.failures if pixels else ())))
    return Check(
        size=screen.size,
        theme=screen.theme,
        screenshot=screenshot,
        measures=_measures(geometry, pixels),
        failures=tuple(replace(failure, size=screen.size, theme=screen.theme) for failure in failures),
    )


def bound_failures(failures: Sequence[Failure]) -> list[Failure]:
    """At most :data:`MAX_FAILURES_A_RULE` failures of each rule; one more says how many there are beyond."""
    kept: list[Failure] = []
    seen: Counter[str] = Counter()
    for failure in failures:
        seen[failure.rule] += 1
        if seen[failure.rule] <= MAX_FAILURES_A_RULE:
            kept.append(failure)
    return kept + [
        Failure(rule, "page", f"and {count - MAX_FAILURES_A_RULE} more places")
        for rule, count in seen.items()
        if count > MAX_FAILURES_A_RULE
    ]


def _measures(geometry: Geometry, pixels: PixelVerdict | None) -> Measures:
    return Measures(
        smallest_state_text=geometry.smallest("state"),
        smallest_label=geometry.smallest("label"),
        smallest_other_text=geometry.smallest("other"),
        lowest_text_contrast=_rounded(pixels.text_contrast) if pixels else None,
        lowest_line_contrast=_rounded(pixels.line_contrast) if pixels else None,
        scroll_width=geometry.scroll[0],
        scroll_height=geometry.scroll[1],
        states=len(geometry.states),
        arrows=len(geometry.arrows),
        texts=len(geometry.texts),
        overview=is_overview(geometry),
    )


def _rounded(ratio: float | None) -> float | None:
    return None if ratio is None else round(ratio, 2)
