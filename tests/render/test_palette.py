from __future__ import annotations

import math
import re
from collections.abc import Mapping
from itertools import combinations

import pytest

from arrowproof.model.lifecycle import Kind
from arrowproof.render.page import TEMPLATES
from arrowproof.render.palette import DARK, FORCED, LIGHT, palette_css
from arrowproof.render.svg import ICONS

TEXT = ("ink", "ink2", "ink3", "chosen", "proof", "gap", "wrong")
KINDS = ("neutral", "waiting", "active", "success", "failure")
STANDINGS = ("proof", "gap", "wrong")


def luminance(colour: str) -> float:
    """Relative luminance as WCAG 2 defines it."""
    red, green, blue = linear(colour)
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


def contrast(one: str, other: str) -> float:
    lighter, darker = sorted((luminance(one), luminance(other)), reverse=True)
    return (lighter + 0.05) / (darker + 0.05)


themes = pytest.mark.parametrize("tokens", [LIGHT, DARK], ids=["light", "dark"])


def test_contrast_is_that_of_the_standard() -> None:
    assert contrast("#000000", "#ffffff") == pytest.approx(21)
    assert contrast("#777777", "#ffffff") == pytest.approx(4.48, abs=0.01)


@themes
@pytest.mark.parametrize("surface", ["paper", "sunk", "chosen-tint"])
def test_text_is_readable_on_every_surface(tokens: Mapping[str, str], surface: str) -> None:
    low = {token: round(contrast(tokens[token], tokens[surface]), 2) for token in TEXT}
    assert min(low.values()) >= 4.5, low


@themes
@pytest.mark.parametrize("kind", KINDS)
def test_a_state_has_readable_text_and_a_border_that_is_seen(tokens: Mapping[str, str], kind: str) -> None:
    tint = tokens[f"{kind}-tint"]
    assert contrast(tokens["ink"], tint) >= 4.5
    assert contrast(tokens["ink2"], tint) >= 4.5
    assert contrast(tokens[kind], tint) >= 3
    assert contrast(tokens[kind], tokens["paper"]) >= 3


@themes
def test_arrows_are_seen_on_paper(tokens: Mapping[str, str]) -> None:
    assert contrast(tokens["line"], tokens["paper"]) >= 3


def test_every_theme_has_the_same_tokens() -> None:
    assert LIGHT.keys() == DARK.keys() == FORCED.keys()


def test_dark_stands_once_for_the_preference_and_once_for_the_switch() -> None:
    css = palette_css()
    assert css.count(f"--paper:{DARK['paper']};") == 2
    assert ":root:not([data-theme=light])" in css
    assert ":root[data-theme=dark]" in css


# --- What stylesheets do with the palette

LINES = {*KINDS, "line", *TEXT}
PROPERTY = re.compile(r"(?:^|[;{])([\w-]+):([^;{}]*)var\(--([\w-]+)\)")


def stylesheets() -> str:
    return "".join(path.read_text(encoding="utf-8") for path in sorted(TEMPLATES.glob("*.css")))


def uses() -> set[tuple[str, str]]:
    """Each property of the stylesheets with a token of the palette that it takes."""
    return {(name, token) for name, _, token in PROPERTY.findall(stylesheets()) if token in LIGHT}


def test_a_stylesheet_colours_text_with_tokens_of_text_or_with_paper_on_one_of_these() -> None:
    found = uses()
    assert {token for name, token in found if name == "color"} <= {*TEXT, "paper"}
    assert ("color", "ink2") in found
    for rule in re.findall(r"\{[^{}]*\bcolor:var\(--paper\)[^{}]*\}", stylesheets()):
        assert re.search(rf"background:var\(--({'|'.join(TEXT)})\)", rule), rule


def test_a_stylesheet_draws_lines_with_tokens_of_lines_or_the_rule_of_decoration() -> None:
    lines = {(name, token) for name, token in uses() if name in {"stroke", "--colour", "--edge"} or "outline" in name}
    drawn = {token for name, token in lines if name != "stroke" or token != "paper"}
    assert drawn - {"rule"} <= LINES
    assert "line" in drawn


# --- Readers without one kind of cones

LINEAR = {
    "protanopia": ((0.152286, 1.052583, -0.204868), (0.114503, 0.786281, 0.099216), (-0.003882, -0.048116, 1.051998)),
    "deuteranopia": ((0.367322, 0.860646, -0.227968), (0.280085, 0.672501, 0.047413), (-0.011820, 0.042940, 0.968881)),
    "tritanopia": ((1.255528, -0.076749, -0.178779), (-0.078411, 0.930809, 0.147602), (0.004733, 0.691367, 0.303900)),
}
"""Linear RGB as it is seen without red, green or blue cones: Machado, Oliveira and Fernandes, "A Physiologically-based
Model for Simulation of Color Vision Deficiency" (2009), table 1, severity 1.0."""


def linear(colour: str) -> list[float]:
    channels = [int(colour[start : start + 2], 16) / 255 for start in (1, 3, 5)]
    return [c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in channels]


def seen(colour: str, sight: str) -> list[float]:
    """Linear RGB of a colour as readers of this sight see it."""
    rgb = linear(colour)
    rows = LINEAR.get(sight, ((1, 0, 0), (0, 1, 0), (0, 0, 1)))
    return [min(1.0, max(0.0, sum(a * b for a, b in zip(row, rgb, strict=True)))) for row in rows]


def oklab(rgb: list[float]) -> tuple[float, float, float]:
    """Björn Ottosson's perceptual space (2020), in which equal distances look alike; 0.02 is just seen."""
    red, green, blue = rgb
    long = (0.4122214708 * red + 0.5363325363 * green + 0.0514459929 * blue) ** (1 / 3)
    middle = (0.2119034982 * red + 0.6806995451 * green + 0.1073969566 * blue) ** (1 / 3)
    short = (0.0883024619 * red + 0.2817188376 * green + 0.6299787005 * blue) ** (1 / 3)
    return (
        0.2104542553 * long + 0.7936177850 * middle - 0.0040720468 * short,
        1.9779984951 * long - 2.4285922050 * middle + 0.4505937099 * short,
        0.0259040371 * long + 0.7827717662 * middle - 0.8086757660 * short,
    )


def distance(one: str, other: str, sight: str) -> float:
    return math.dist(oklab(seen(one, sight)), oklab(seen(other, sight)))


def test_a_sight_is_simulated_as_it_is_known_to_be() -> None:
    assert distance("#ff0000", "#00ff00", "all cones") > 0.5
    assert distance("#b4201f", "#8a5300", "deuteranopia") < 0.02
    assert distance("#777777", "#777777", "tritanopia") == 0
    for sight in LINEAR:
        assert seen("#ffffff", sight) == pytest.approx([1, 1, 1], abs=0.001)
        assert distance("#0000ff", "#ffff00", sight) > 0.3


@themes
@pytest.mark.parametrize("sight", ["all cones", *LINEAR])
def test_what_holds_what_is_missing_and_what_is_wrong_look_different_to_every_reader(
    tokens: Mapping[str, str], sight: str
) -> None:
    apart = {pair: round(distance(*map(tokens.__getitem__, pair), sight), 3) for pair in combinations(STANDINGS, 2)}
    assert min(apart.values()) >= 0.05, apart


@themes
@pytest.mark.parametrize("sight", ["all cones", *LINEAR])
def test_what_is_missing_wrong_or_chosen_stands_out_from_other_lines_to_every_reader(
    tokens: Mapping[str, str], sight: str
) -> None:
    apart = {name: round(distance(tokens["line"], tokens[name], sight), 3) for name in ("gap", "wrong", "chosen")}
    assert min(apart.values()) >= 0.05, apart


def test_every_kind_has_a_sign_or_a_border_of_its_own() -> None:
    signs = {kind: ICONS.get(kind) for kind in Kind}
    assert len(set(signs.values())) == len(Kind)
    assert [kind for kind, sign in signs.items() if sign is None] == [Kind.PASSING]
    dashed = re.search(r"\.passing \.box\{[^}]*stroke-dasharray", (TEMPLATES / "drawing.css").read_text())
    assert dashed is not None
