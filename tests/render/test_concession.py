"""A red proof leaves a small drawing readable: what gives way, in what order, and how it is reached."""

from __future__ import annotations

from dataclasses import replace
from functools import cache
from itertools import pairwise, product
from pathlib import Path

import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Page, expect

from arrowproof.model.lifecycle import Lifecycle, Panel
from arrowproof.model.loader import load_lifecycle
from arrowproof.model.transitions import derive_transitions
from arrowproof.render.concession import NONE, Concession, concessions
from arrowproof.render.language import load_language
from arrowproof.render.page import plan_page, render_page
from arrowproof.render.proof import Proof
from arrowproof.render.proof_words import ProofWords
from arrowproof.render.reasons import say_reasons
from tests.render.evidence_builder import build_evidence
from tests.render.extremes import with_sneak_paths
from tests.render.pages import FITS, MEASURE, ROOT, SIZES, show
from tests.render.proofs import CASES, proof_of
from tests.render.tabs import resize

MODELS = (
    *sorted((ROOT / "examples" / "gallery").glob("*.lifecycle.json")),
    CASES / "agent-run.json",
    CASES / "job.json",
)
SHARES = ("none", "first", "half", "all")
SNEAKS = (0, 3, 8)
EVIDENCE = tuple(product(SHARES, SNEAKS))
SEEN = [(model, *EVIDENCE[(5 * place + step) % 12]) for place, model in enumerate(MODELS) for step in (0, 7)]
"""Two kinds of evidence a model, so that every kind is seen twice: to draw all of them takes minutes."""

LEAST_STATE, LEAST_LABEL = 12.0, 11.0
"""CSS px of text that is read."""

SMALLEST = """(texts) => Math.min(...[...document.querySelectorAll(texts)].filter((text) => text.checkVisibility())
  .map((text) => parseFloat(getComputedStyle(text).fontSize) * text.getScreenCTM().a))"""


def red(lifecycle: Lifecycle, share: str, sneaks: int) -> Proof:
    """A proof in which none, the first, half or all of the transitions are not proven, with so many sneak paths."""
    pairs = [each.pair for each in derive_transitions(lifecycle)]
    unproven = {"none": [], "first": pairs[:1], "half": pairs[::2], "all": pairs}[share]
    rungs = {pair: "written" if number % 2 else "not_survived" for number, pair in enumerate(unproven)}
    paths = with_sneak_paths(lifecycle, sneaks, 1).sneak_paths if sneaks else ()
    return proof_of(lifecycle, build_evidence(lifecycle, rungs, sneak_paths=paths))


def gallery(name: str) -> Lifecycle:
    return load_lifecycle(ROOT / "examples" / "gallery" / f"{name}.lifecycle.json")


@cache
def red_page(name: str, share: str, sneaks: int) -> str:
    lifecycle = gallery(name)
    return render_page(lifecycle, proof=red(lifecycle, share, sneaks))


def name_of(model: object) -> str:
    return model.name.partition(".")[0] if isinstance(model, Path) else str(model)


@pytest.mark.parametrize(("model", "share", "sneaks"), SEEN, ids=name_of)
def test_a_proof_leaves_a_small_drawing_read_beside_the_reasons_and_the_key(
    model: Path, share: str, sneaks: int
) -> None:
    lifecycle = load_lifecycle(model)
    parts = plan_page(lifecycle, None, load_language(), red(lifecycle, share, sneaks))
    assert parts.sheet.spare >= 0
    assert 14 * parts.sheet.scale >= LEAST_STATE  # their notes are the smaller text
    assert 13 * parts.sheet.scale >= LEAST_LABEL
    assert 10 * parts.sheet.key.left_out <= len(parts.sheet.key.rows)
    assert len(parts.stage.scenes) == 1


@pytest.mark.parametrize(
    ("name", "share", "sneaks"), [("github-check-run", "all", 0), ("prefect-run", "first", 8), ("parcel", "all", 8)]
)
def test_a_red_page_is_read_and_stands_on_one_screen_in_the_browser_too(
    tab: Page, tmp_path: Path, name: str, share: str, sneaks: int
) -> None:
    show(tab, tmp_path, red_page(name, share, sneaks))
    assert tab.evaluate(SMALLEST, "svg.drawing .state text") >= LEAST_STATE
    assert tab.evaluate(SMALLEST, "svg.drawing .label text") >= LEAST_LABEL
    for width, height in SIZES:
        resize(tab, width, height)
        assert tab.evaluate(MEASURE) == FITS


def test_what_gave_way_opens_in_its_place_by_key_and_the_drawing_stays_as_it_is(tab: Page, tmp_path: Path) -> None:
    show(tab, tmp_path, red_page("oban-job", "all", 8))
    drawing = tab.locator("svg.drawing").first
    before = drawing.bounding_box()
    folds = tab.locator(".fold").all()
    assert len(folds) == 5  # the reasons, where it is stored, and three panels
    for fold in folds:
        inside = fold.locator("p, dd").first
        expect(inside).not_to_be_visible()
        fold.locator("summary").focus()
        tab.keyboard.press("Enter")
        expect(inside).to_be_visible()
        assert tab.evaluate("document.documentElement.scrollHeight <= innerHeight")
    column = tab.locator("aside")
    assert column.evaluate("(it) => it.scrollHeight > it.clientHeight")
    assert drawing.bounding_box() == before
    assert [each["id"] for each in Axe().run(tab).response["violations"]] == []


def test_sneak_paths_behind_a_fold_are_counted_on_it_and_chosen_in_it(tab: Page, tmp_path: Path) -> None:
    show(tab, tmp_path, red_page("parcel", "half", 8))
    fold, rows = tab.locator(".more-sneaks"), tab.locator(".sneaks button")
    assert rows.count() == 8
    expect(fold.locator("summary")).to_have_text("5 more sneak paths")
    expect(fold.locator("button")).to_have_count(5)
    expect(rows.nth(2)).to_be_visible()
    expect(rows.nth(3)).not_to_be_visible()
    assert tab.evaluate(MEASURE) == FITS
    fold.locator("summary").click()
    rows.nth(7).click()
    expect(tab.locator(".proof")).to_be_visible()
    assert tab.evaluate(MEASURE) == FITS
    tab.keyboard.press("Escape")
    expect(rows.nth(7)).to_be_visible()
    assert [each["id"] for each in Axe().run(tab).response["violations"]] == []


def test_a_choice_shows_its_panel_whole_while_a_fold_is_open_and_the_fold_is_open_after_it(
    tab: Page, tmp_path: Path
) -> None:
    show(tab, tmp_path, red_page("oban-job", "half", 0))
    for summary in tab.locator(".fold summary").all():
        summary.click()
    tab.locator(".drawing .arrow").nth(2).focus()
    tab.keyboard.press("Enter")
    expect(tab.locator(".proof")).to_be_visible()
    assert tab.evaluate(MEASURE) == FITS
    tab.keyboard.press("Escape")
    expect(tab.locator(".fold p").first).to_be_visible()


def test_print_shows_what_stands_in_folds(tab: Page, tmp_path: Path) -> None:
    show(tab, tmp_path, red_page("oban-job", "half", 0))
    texts = tab.locator(".fold p").all()
    assert texts
    assert not any(text.evaluate("(it) => it.checkVisibility()") for text in texts)
    tab.emulate_media(media="print")
    assert all(text.evaluate("(it) => it.checkVisibility()") for text in texts)


def test_paper_has_the_whole_drawing_on_its_first_sheet(tab: Page, tmp_path: Path) -> None:
    show(tab, tmp_path, red_page("oban-job", "all", 8))
    resize(tab, 1062, 733)  # A4 without its margins
    tab.emulate_media(media="print")
    assert tab.evaluate("document.documentElement.scrollHeight > innerHeight")
    drawing, legend = (tab.locator(part).first.bounding_box() for part in ("svg.drawing", ".legend"))
    assert drawing is not None
    assert legend is not None
    assert drawing["y"] + drawing["height"] <= legend["y"]
    assert legend["y"] + legend["height"] <= 733
    assert drawing["height"] > 733 / 2


def test_a_panel_without_a_title_goes_by_its_first_line_and_folds_share_lines_as_planned(
    tab: Page, tmp_path: Path
) -> None:
    untitled = (Panel("", ("It goes by this line.", "The second one waits.")), Panel("Titled", ("A line.",)))
    lifecycle = replace(gallery("oban-job"), panels=(*gallery("oban-job").panels, *untitled))
    proof = red(lifecycle, "all", 8)
    show(tab, tmp_path, render_page(lifecycle, proof=proof))
    assert tab.evaluate(MEASURE) == FITS
    names = [each.inner_text() for each in tab.locator(".panels summary").all()]
    assert names[-2:] == ["It goes by this line.", "Titled"]
    rows = {round(box["y"]) for each in tab.locator(".panels summary").all() if (box := each.bounding_box())}
    assert len(rows) < len(names)


def test_the_words_of_a_fold_count_the_reasons_behind_it(tab: Page, tmp_path: Path) -> None:
    show(tab, tmp_path, red_page("oban-job", "all", 8))
    shown = tab.locator(".reasons li").count() - 1
    assert shown == 2
    lifecycle = gallery("oban-job")
    said = say_reasons(red(lifecycle, "all", 8).evidence, ProofWords(lifecycle, load_language()))
    more = len(said) - shown
    expect(tab.locator(".reasons summary")).to_have_text(f"{more} more reasons")


def test_a_column_gives_up_more_with_each_concession_and_only_what_it_has() -> None:
    every = list(concessions(4, 16, 8, has_panels=True, has_binding=True))
    assert every[0] == NONE
    assert len(every) == len(set(every)) == 8
    assert [each.folds_panels for each in every] == sorted(each.folds_panels for each in every)
    assert [-each.reasons for each in every] == sorted(-each.reasons for each in every)
    assert [-each.sneaks for each in every] == sorted(-each.sneaks for each in every)
    bare = list(concessions(0, 0, 0, has_panels=False, has_binding=False))
    assert bare == [NONE, Concession(may_be_short=True)]


def test_panels_and_where_a_lifecycle_is_stored_give_way_before_a_reason_does() -> None:
    first = next(each for each in concessions(4, 16, 8, has_panels=True, has_binding=True) if each.reasons == 2)
    assert first == Concession(folds_panels=True, folds_binding=True, reasons=2)


def test_how_many_transitions_are_listed_stands_above_these_and_below_the_sneak_paths(
    tab: Page, tmp_path: Path
) -> None:
    show(tab, tmp_path, red_page("order", "all", 8))
    listed = tab.locator(".kept button").count()
    assert listed > 1
    assert tab.locator(".transitions .more").inner_text() == f"{listed} of the transitions listed"
    places = tab.evaluate("""() => ['.sneaks', '.transitions .more', '.kept'].map((each) => {
      const { top, bottom } = document.querySelector(each).getBoundingClientRect();
      return [top, bottom];
    })""")
    assert all(above[1] <= below[0] for above, below in pairwise(places)), places
