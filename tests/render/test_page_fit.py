from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
from playwright.sync_api import Page

from arrowproof.model.lifecycle import Panel
from arrowproof.render.panel_heights import panel_height
from arrowproof.render.ruler import Ruler
from tests.render.pages import FITS, MEASURE, MODELS, NOTES, SIZES, page_of, show
from tests.render.tabs import resize


@pytest.mark.parametrize("name", MODELS)
def test_nothing_scrolls_is_cut_small_or_overlaps_at_any_size_in_either_theme(
    tab: Page, tmp_path: Path, name: str
) -> None:
    show(tab, tmp_path, page_of(MODELS[name]))
    for width, height in SIZES:
        resize(tab, width, height)
        for scheme in ("light", "dark"):
            tab.emulate_media(color_scheme=scheme)  # type: ignore[arg-type]
            assert tab.evaluate(MEASURE) == FITS, (width, height, scheme)


@pytest.mark.parametrize(
    ("fault", "seen"),
    [
        ("document.querySelector('h2').style.fontSize = '10px'", "small"),
        ("document.querySelector('h2').style.marginBottom = '-3em'", "overlapping"),
        ("document.querySelector('h2').style.marginLeft = '-2000px'", "outside"),
        ("document.querySelector('h2').style.width = '4000px'", "right"),
        ("document.querySelector('h2').style.height = '4000px'", "down"),
    ],
)
def test_the_measure_of_the_tests_sees_each_fault(tab: Page, tmp_path: Path, fault: str, seen: str) -> None:
    show(tab, tmp_path, page_of(NOTES))
    assert tab.evaluate(MEASURE) == FITS
    tab.evaluate(fault)
    assert tab.evaluate(MEASURE)[seen] not in (0, [])


def test_a_page_with_too_much_text_scrolls_and_hides_nothing(tab: Page, tmp_path: Path) -> None:
    endless = tuple(Panel(f"Endless {number} " + "word " * 40, ("A line.",)) for number in range(80))
    show(tab, tmp_path, page_of(replace(NOTES, panels=endless)))
    measured = tab.evaluate(MEASURE)
    assert measured["down"] > 0
    assert measured["right"] == 0
    assert measured["overlapping"] == []


@pytest.mark.parametrize("size", [(1280, 720), (1000, 800), (1440, 500), (390, 844), (320, 480)])
@pytest.mark.parametrize("name", ["notes", "13 states and 19 arrows", "one very long word everywhere"])
def test_a_smaller_screen_scrolls_down_and_never_sideways(
    tab: Page, tmp_path: Path, name: str, size: tuple[int, int]
) -> None:
    resize(tab, size[0], size[1])
    show(tab, tmp_path, page_of(MODELS[name]))
    measured = tab.evaluate(MEASURE)
    assert (measured["right"], measured["small"], measured["overlapping"]) == (0, [], [])


@pytest.mark.parametrize("count", [1, 2, 5])
def test_the_lines_of_a_panel_stand_apart_and_are_planned_for_as_they_are_drawn(
    tab: Page, tmp_path: Path, count: int
) -> None:
    panel = Panel("One row", ("A line.",) * count)
    show(tab, tmp_path, page_of(replace(NOTES, panels=(panel,))))
    drawn, gap = tab.evaluate("""() => {
      const lines = [...document.querySelectorAll(".panels p")].map((line) => line.getBoundingClientRect());
      const rem = parseFloat(getComputedStyle(document.documentElement).fontSize);
      const height = document.querySelector(".panels section").getBoundingClientRect().height;
      return [height / rem, lines.length > 1 ? (lines[1].top - lines[0].bottom) / rem : null];
    }""")
    assert drawn == pytest.approx(panel_height(panel, 26, False, Ruler()), abs=0.02)
    assert gap is None or gap == pytest.approx(0.9 * 0.35, abs=0.02)
