"""The page on screens below 1440 by 900: it scrolls, its text stays readable, and nothing of it is cut."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
from playwright.sync_api import Page

from arrowproof.model.lifecycle import Arrow, Lifecycle
from arrowproof.model.loader import load_lifecycle
from arrowproof.render.language import LANGUAGES, load_language
from arrowproof.render.page import render_page
from arrowproof.render.proof import bring_proof
from tests.render.evidence_builder import AGENT_RUNGS, AGENT_SNEAK_PATHS, build_evidence
from tests.render.extremes import dense
from tests.render.pages import BUNDLED, MEASURE, ROOT, show, state
from tests.render.scene_pages import TEXTS, page_of_views
from tests.render.tabs import resize
from tests.render.test_transition_groups import many, page_of

CASES = Path(__file__).parent / "cases"
LONG = "W" * 300
SMALL = ((1299, 900), (1280, 720), (1100, 700), (1024, 768), (800, 600), (390, 844), (1440, 600))
LOW = """(selector) => Math.min(...[...document.querySelectorAll(selector)]
  .filter((item) => item.checkVisibility()).map((item) => item.getBoundingClientRect().height))"""


def beside(tab: Page) -> bool:
    """Whether the column stands beside the drawing."""
    figure, column = (tab.locator(part).bounding_box() for part in ("figure", "aside"))
    assert figure is not None
    assert column is not None
    return column["x"] >= figure["x"] + figure["width"]


@pytest.mark.parametrize(("width", "height"), SMALL)
@pytest.mark.parametrize("fragment", ["#view=pay", "#group=Shipping", "#state=authorized"])
def test_on_a_small_screen_the_column_goes_below_and_text_stays_readable(
    tab: Page, tmp_path: Path, width: int, height: int, fragment: str
) -> None:
    resize(tab, width, height)
    show(tab, tmp_path, page_of_views(), fragment)
    states, labels = tab.evaluate(TEXTS)
    assert states >= 12
    assert labels >= 11
    assert not beside(tab)
    found = tab.evaluate(MEASURE)
    assert (found["right"], found["small"], found["overlapping"]) == (0, [], [])


def test_from_1300_pixels_on_the_column_stands_beside_the_drawing(tab: Page, tmp_path: Path) -> None:
    resize(tab, 1300, 720)
    show(tab, tmp_path, page_of_views())
    assert beside(tab)


@pytest.mark.parametrize(("size", "least"), [((1366, 768), 11), ((1440, 800), 11), ((1300, 720), 10.5)])
def test_on_a_low_screen_labels_are_read_and_only_a_drawing_that_needs_the_height_scrolls(
    tab: Page, tmp_path: Path, size: tuple[int, int], least: float
) -> None:
    resize(tab, size[0], size[1])
    show(tab, tmp_path, render_page(load_lifecycle(ROOT / "examples" / "gallery" / "order.lifecycle.json")))
    assert tab.evaluate(TEXTS)[1] >= least
    found = tab.evaluate(MEASURE)
    assert (found["right"], found["overlapping"], beside(tab)) == (0, [], True)
    show(tab, tmp_path, render_page(load_lifecycle(CASES / "two-states.json")))
    assert tab.evaluate(MEASURE)["down"] == 0


@pytest.mark.parametrize("size", [(1280, 720), (1200, 800), (1100, 700)])
def test_a_drawing_that_can_be_read_so_is_no_higher_than_the_screen(
    tab: Page, tmp_path: Path, size: tuple[int, int]
) -> None:
    resize(tab, size[0], size[1])
    show(tab, tmp_path, page_of_views(), "#view=pay")
    assert tab.evaluate("document.querySelector('.drawing:not([hidden])').getBoundingClientRect().height") < size[1]


@pytest.mark.parametrize("selector", [".controls :is(button, summary)", ".bar :is(button, input)", ".list button"])
def test_on_a_phone_what_is_touched_is_large_enough(tab: Page, tmp_path: Path, selector: str) -> None:
    resize(tab, 390, 844)
    show(tab, tmp_path, page_of_views(), "#view=pay")
    assert tab.evaluate(LOW, selector) >= 30


def test_on_a_phone_every_line_of_a_key_is_large_enough(tab: Page, tmp_path: Path) -> None:
    resize(tab, 390, 844)
    show(tab, tmp_path, render_page(dense()))
    assert tab.evaluate(LOW, ".key button") >= 30


def test_on_a_phone_every_target_of_a_group_is_large_enough_and_level_with_its_source(
    tab: Page, tmp_path: Path
) -> None:
    resize(tab, 390, 844)
    show(tab, tmp_path, page_of(many()))
    assert tab.evaluate(LOW, ".grouped button") >= 30
    tops = """() => ['.source', 'button bdi'].map((part) => {
      const range = document.createRange();
      range.selectNodeContents(document.querySelector(`.grouped ${part}`));
      return Math.round(range.getBoundingClientRect().top);
    })"""
    source, target = tab.evaluate(tops)
    assert abs(source - target) <= 1


@pytest.mark.parametrize("tag", LANGUAGES)
@pytest.mark.parametrize("model", [BUNDLED, CASES / "agent-run.json"], ids=lambda model: model.stem)
def test_a_proof_is_no_wider_than_a_screen_of_320_pixels(tab: Page, tmp_path: Path, model: Path, tag: str) -> None:
    lifecycle, language = load_lifecycle(model), load_language(tag)
    is_agent = model != BUNDLED
    evidence = build_evidence(
        lifecycle, AGENT_RUNGS if is_agent else {}, sneak_paths=AGENT_SNEAK_PATHS if is_agent else ()
    )
    evidence = replace(evidence, environment=replace(evidence.environment, database=LONG))
    resize(tab, 320, 568)
    proof = bring_proof(lifecycle, evidence, "", (), language)
    show(tab, tmp_path, render_page(lifecycle, language=language, proof=proof))
    assert tab.evaluate("document.documentElement.scrollWidth - innerWidth") == 0


def test_the_id_of_a_lifecycle_is_not_squeezed_by_what_stands_beside_it(tab: Page, tmp_path: Path) -> None:
    lifecycle = load_lifecycle(BUNDLED)
    proof = bring_proof(lifecycle, build_evidence(lifecycle, {}), "ab" * 32, (), load_language())
    resize(tab, 320, 640)
    show(tab, tmp_path, render_page(lifecycle, proof=proof))
    id, name = (tab.locator(f".run {part}").bounding_box() for part in (".id", "b"))
    assert id is not None
    assert name is not None
    assert id["height"] < 1.5 * name["height"]
    assert tab.evaluate("document.documentElement.scrollWidth") == 320


def test_on_a_phone_the_verdict_begins_where_the_title_does(tab: Page, tmp_path: Path) -> None:
    lifecycle = load_lifecycle(CASES / "agent-run.json")
    proof = bring_proof(lifecycle, build_evidence(lifecycle, AGENT_RUNGS, sneak_paths=AGENT_SNEAK_PATHS), "ab" * 32)
    resize(tab, 390, 844)
    show(tab, tmp_path, render_page(lifecycle, proof=proof))
    title, verdict = (tab.locator(place).bounding_box() for place in ("h1", ".verdict"))
    assert title is not None
    assert verdict is not None
    assert title["y"] < verdict["y"]
    assert title["x"] == verdict["x"]


def test_on_a_phone_the_keys_stand_beside_the_zoom_and_are_as_high(tab: Page, tmp_path: Path) -> None:
    resize(tab, 390, 844)
    show(tab, tmp_path, page_of_views())
    keys, zoom = tab.locator(".keys summary").bounding_box(), tab.locator(".zoom button").first.bounding_box()
    assert keys is not None
    assert zoom is not None
    assert abs(keys["y"] - zoom["y"]) <= 1
    assert abs(keys["height"] - zoom["height"]) <= 1


def test_what_a_phone_shows_first_is_a_whole_box(tab: Page, tmp_path: Path) -> None:
    """The mark and the label of the arrow that creates rows stand left of the first box."""
    states = [
        state(f"s{n}", group=("Intake and first review", "Second review by hand", "Delivery")[n // 9])
        for n in range(27)
    ]
    arrows = [Arrow(f"a{n}", f"s{n}", f"s{n + 1}", "go on") for n in range(26)]
    lifecycle = Lifecycle(
        "chain", "Chain", tuple(states), (Arrow("new", None, "s0", "the customer has sent the order"), *arrows)
    )
    resize(tab, 320, 568)
    show(tab, tmp_path, render_page(lifecycle))
    box, frame = (tab.locator(part).first.bounding_box() for part in (".drawing:not([hidden]) .state", ".draw"))
    assert box is not None
    assert frame is not None
    assert frame["x"] <= box["x"]
    assert box["x"] + box["width"] <= frame["x"] + frame["width"]
