from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
from playwright.sync_api import Page, expect

from arrowproof.model.lifecycle import Lifecycle, Panel
from arrowproof.model.loader import load_lifecycle
from arrowproof.model.transitions import derive_transitions
from arrowproof.render.concession import NONE, Concession, concessions
from tests.render.evidence_builder import build_evidence
from tests.render.extremes import with_sneak_paths
from tests.render.pages import FITS, MEASURE, ROOT, show
from tests.render.proofs import proof_page

GALLERY = ROOT / "examples" / "gallery"
LEAST_LABEL = 11.0
"""CSS px of the text of a label that is read."""

SMALLEST = """() => Math.min(...[...document.querySelectorAll("svg.drawing .label text")]
  .filter((text) => text.checkVisibility())
  .map((text) => parseFloat(getComputedStyle(text).fontSize) * text.getScreenCTM().a))"""


def gallery(name: str) -> Lifecycle:
    return load_lifecycle(GALLERY / f"{name}.lifecycle.json")


def red(lifecycle: Lifecycle, step: int, sneaks: int) -> str:
    """The page of a lifecycle of which every so many transitions are not proven, with so many sneak paths."""
    pairs = [each.pair for each in derive_transitions(lifecycle)][::step]
    rungs = {pair: "written" if number % 2 else "not_survived" for number, pair in enumerate(pairs)}
    paths = with_sneak_paths(lifecycle, sneaks, 1).sneak_paths if sneaks else ()
    return proof_page(lifecycle, build_evidence(lifecycle, rungs, sneak_paths=paths))


@pytest.mark.parametrize(("name", "step", "sneaks"), [("oban-job", 2, 0), ("prefect-run", 2, 3), ("order", 1, 8)])
def test_a_red_proof_leaves_a_small_drawing_readable_and_its_page_on_one_screen(
    tab: Page, tmp_path: Path, name: str, step: int, sneaks: int
) -> None:
    tab.set_viewport_size({"width": 1440, "height": 900})
    show(tab, tmp_path, red(gallery(name), step, sneaks))
    assert tab.evaluate(MEASURE) == FITS
    assert tab.evaluate(SMALLEST) >= LEAST_LABEL


def test_what_gave_way_opens_in_its_place_and_the_drawing_stays_as_it_is(tab: Page, tmp_path: Path) -> None:
    tab.set_viewport_size({"width": 1440, "height": 900})
    show(tab, tmp_path, red(gallery("oban-job"), 2, 0))
    drawing = tab.locator("svg.drawing").first
    before = drawing.bounding_box()
    folds = tab.locator(".fold")
    hidden = [folds.nth(number).locator("p").first for number in range(folds.count())]
    assert len(hidden) == 4
    for fold, text in zip(folds.all(), hidden, strict=True):
        expect(text).not_to_be_visible()
        fold.locator("summary").focus()
        tab.keyboard.press("Enter")
        expect(text).to_be_visible()
    assert tab.evaluate("document.documentElement.scrollHeight <= innerHeight")
    assert drawing.bounding_box() == before


def test_a_folded_column_is_as_high_as_it_is_planned(tab: Page, tmp_path: Path) -> None:
    tab.set_viewport_size({"width": 1440, "height": 900})
    untitled = (Panel("", ("It goes by this line.", "The second one waits.")), Panel("Titled", ("A line.",)))
    page = red(replace(gallery("oban-job"), panels=(*gallery("oban-job").panels, *untitled)), 2, 0)
    show(tab, tmp_path, page)
    assert tab.evaluate(MEASURE) == FITS
    summaries = tab.locator(".panels summary")
    expect(summaries.nth(summaries.count() - 2)).to_have_text("It goes by this line.")


def test_a_column_gives_up_more_with_each_concession_and_only_what_it_has() -> None:
    every = list(concessions(4, 16, has_panels=True, has_binding=True))
    assert every[0] == NONE
    assert len(every) == len(set(every)) == 6
    assert list(concessions(0, 0, has_panels=False, has_binding=False)) == [NONE]
    assert list(concessions(0, 0, has_panels=True, has_binding=False)) == [NONE, Concession(folds_panels=True)]
