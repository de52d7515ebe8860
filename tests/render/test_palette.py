from __future__ import annotations

from collections.abc import Mapping

import pytest

from arrowproof.render.palette import DARK, FORCED, LIGHT, palette_css

TEXT = ("ink", "ink2", "ink3", "chosen", "proof", "gap", "wrong")
KINDS = ("neutral", "waiting", "active", "success", "failure")


def luminance(colour: str) -> float:
    """Relative luminance as WCAG 2 defines it."""
    channels = [int(colour[start : start + 2], 16) / 255 for start in (1, 3, 5)]
    linear = [c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in channels]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


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
