from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
from playwright.sync_api import Page

from arrowproof.model.evidence import SneakPath
from arrowproof.model.lifecycle import Arrow, Binding, Kind, Lifecycle, Panel
from arrowproof.render.page import render_page
from arrowproof.render.panel_heights import panels_height
from arrowproof.render.ruler import Ruler
from tests.render.evidence_builder import build_evidence
from tests.render.pages import NOTES, grid_drawing, show, state
from tests.render.proofs import proof_page
from tests.render.tabs import resize

FOLDED = {
    "many titles of some words": [f"Panel number {number}" for number in range(50)],
    "many short titles": [f"P{number}" for number in range(50)],
    "titles that fill their lines": [f"A title of many words with number {number}" for number in range(12)],
}
SIZE = """() => {
  const rem = parseFloat(getComputedStyle(document.documentElement).fontSize);
  return [...document.querySelectorAll('aside .panels:has(.fold)')]
    .map(({offsetWidth, offsetHeight}) => [offsetWidth / rem, offsetHeight / rem]);
}"""


@pytest.mark.parametrize("titles", FOLDED.values(), ids=FOLDED)
def test_panels_behind_folds_take_no_more_than_the_height_that_is_planned_for_them(
    tab: Page, tmp_path: Path, titles: list[str]
) -> None:
    panels = tuple(Panel(title, ("Some words of it. " * 20,)) for title in titles)
    lifecycle = replace(NOTES, panels=panels)
    resize(tab, 1440, 900)
    show(tab, tmp_path, render_page(lifecycle, grid_drawing(lifecycle)))
    ((width, height),) = tab.evaluate(SIZE)
    assert height <= panels_height(panels, width, True, Ruler()) < height + 2.0


TALL = "Words with حُدِّدَ"
WHOLE = """() => {
  const rem = parseFloat(getComputedStyle(document.documentElement).fontSize);
  return [...document.querySelectorAll('aside .panels')]
    .map(({offsetWidth, offsetHeight}) => [offsetWidth / rem, offsetHeight / rem]);
}"""
GAPS = """(selector) => Math.min(...[...document.querySelectorAll(selector)]
  .map((line) => parseFloat(getComputedStyle(line).lineHeight) / parseFloat(getComputedStyle(line).fontSize)))"""


@pytest.mark.parametrize(
    "titles", [[f"{TALL} {n}" for n in range(count)] for count in (2, 50)], ids=["whole", "folded"]
)
def test_panels_with_tall_letters_have_higher_lines_and_take_the_height_that_is_planned_for_them(
    tab: Page, tmp_path: Path, titles: list[str]
) -> None:
    panels = tuple(Panel(title, (f"{TALL} " * 8,)) for title in titles)
    lifecycle = replace(NOTES, panels=panels)
    resize(tab, 1440, 900)
    show(tab, tmp_path, render_page(lifecycle, grid_drawing(lifecycle)))
    ((width, height),) = tab.evaluate(WHOLE)
    is_folded = tab.locator("aside .panels .fold").count() > 0
    assert is_folded == (len(titles) > 2)
    # A browser sets each line on whole pixels.
    assert height - 0.1 <= panels_height(panels, width, is_folded, Ruler()) < height + 2.0
    assert tab.evaluate(GAPS, "aside .panels :is(h2, p)") >= 1.75


def test_sneak_paths_and_reasons_with_tall_letters_have_higher_lines(tab: Page, tmp_path: Path) -> None:
    states = (state("a", Kind.WAITING, TALL), state("b", Kind.SUCCESS, f"{TALL} ٢"))
    lifecycle = Lifecycle("tall", "Tall", states, (Arrow("go", "a", "b", "go"),), binding=Binding("t", ("id",), "s"))
    show(
        tab, tmp_path, proof_page(lifecycle, build_evidence(lifecycle, sneak_paths=(SneakPath("b", "a", possible=()),)))
    )
    assert tab.evaluate(GAPS, ".sneaks, .reasons li") >= 1.75


def test_latin_panels_keep_their_lines(tab: Page, tmp_path: Path) -> None:
    show(tab, tmp_path, render_page(NOTES, grid_drawing(NOTES)))
    assert tab.evaluate(GAPS, ".panels p") < 1.5
