"""Numbers in the drawing of a page, and their key: each is chosen, linked to and said like the label it stands for."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import replace
from functools import cache
from pathlib import Path
from xml.etree import ElementTree

import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Page, expect

from arrowproof.model.lifecycle import Arrow, Kind, Lifecycle, Panel
from arrowproof.model.mermaid import write_mermaid
from arrowproof.render.drawing import Drawing
from arrowproof.render.key import Key, KeyRow, KeySettings
from arrowproof.render.language import load_language
from arrowproof.render.layout.candidates import best_drawing
from arrowproof.render.layout.forms import Form
from arrowproof.render.page import render_page
from arrowproof.render.ruler import Ruler
from tests.render.evidence_builder import AGENT_SNEAK_PATHS, build_evidence
from tests.render.pages import MEASURE, SIZES, pressed, ring, show, state
from tests.render.proofs import proof_of
from tests.render.tabs import expect_fragment, resize

LABEL = "confirmed by hand, for the {}th time"
MODEL = Lifecycle(
    "key",
    "Key",
    (state("open", Kind.WAITING), state("held"), state("done", Kind.SUCCESS)),
    (
        Arrow("new", None, "open", "POST"),
        *(Arrow(f"close{number}", "open", "done", LABEL.format(number), "guarded", "paid") for number in range(4)),
        Arrow("hold", "open", "held"),
        Arrow("free", "held", "open", "<b>free</b>"),
    ),
)


def numbered(lifecycle: Lifecycle, model: Lifecycle = MODEL) -> Drawing:
    return best_drawing(lifecycle, {}, form=Form(12, {arrow.id: n for n, arrow in enumerate(model.arrows, 1)}))


@cache
def key_page(tag: str = "en") -> str:
    return render_page(MODEL, numbered(MODEL), load_language(tag))


@cache
def crowded_page() -> str:
    """A page whose key has room for events alone."""
    arrows = tuple(
        Arrow(f"a{n}", *(("open", "held") if n % 2 else ("held", "open")), f"event {n}", "g " * 60, "e " * 60)
        for n in range(28)
    )
    model = replace(MODEL, arrows=arrows)
    return render_page(model, numbered(model, model))


@cache
def cramped_page() -> str:
    """A page whose column has room for a few lines of the key alone."""
    arrows = tuple(
        Arrow(f"a{n}", *(("open", "held") if n % 2 else ("held", "open")), f"event {n}", "g " * 400, "e " * 40)
        for n in range(28)
    )
    panels = tuple(Panel(f"Panel {number} {'word ' * 15}", ("A line.",)) for number in range(17))
    model = replace(MODEL, arrows=arrows, panels=panels)
    return render_page(model, numbered(model, model))


def test_the_drawing_has_numbers_and_the_key_says_what_each_stands_for(tab: Page, tmp_path: Path) -> None:
    show(tab, tmp_path, key_page())
    assert tab.locator(".drawing .label text").all_text_contents() == [str(n) for n in range(1, 8)]
    rows = tab.locator(".key li").all_inner_texts()
    assert [row.split()[0] for row in rows] == [str(n) for n in range(1, 8)]
    assert rows[1].endswith("confirmed by hand, for the 0th time [guarded] / paid")
    assert rows[5].endswith("open to held")
    assert rows[6].endswith("<b>free</b>")


def test_a_row_of_the_key_chooses_its_arrow_and_lights_it(tab: Page, tmp_path: Path) -> None:
    show(tab, tmp_path, key_page())
    row = tab.locator(".key button").nth(2)
    row.hover()
    assert tab.locator(".arrow.lit").evaluate_all("all => all.map(each => each.dataset.arrow)") == ["close1"]
    row.click()
    assert pressed(tab, ".arrow") == ["close1"]
    expect_fragment(tab, "#arrow=close1")
    assert row.get_attribute("aria-pressed") == "true"
    row.click()
    assert pressed(tab, ".arrow") == []


def test_a_row_of_the_key_lights_its_arrow_as_long_as_it_has_the_focus(tab: Page, tmp_path: Path) -> None:
    show(tab, tmp_path, key_page())
    tab.locator(".key button").nth(1).focus()
    lit = tab.locator(".arrow.lit")
    for arrow in ("close1", "close2"):
        tab.keyboard.press("Tab")
        assert lit.evaluate_all("all => all.map(each => each.dataset.arrow)") == [arrow]


def test_an_arrow_that_an_address_or_the_drawing_chooses_is_marked_in_the_key(tab: Page, tmp_path: Path) -> None:
    show(tab, tmp_path, key_page(), "#arrow=hold")
    assert tab.locator(".key [aria-pressed=true] b").all_inner_texts() == ["6"]
    tab.locator("[data-arrow=free] .label text").click(force=True)
    assert tab.locator(".key [aria-pressed=true] b").all_inner_texts() == ["7"]


@pytest.mark.parametrize(("tag", "name"), [("en", "2: open to done: "), ("ja", "2：")])
def test_a_number_is_read_with_the_whole_label_in_the_drawing_and_in_the_key(
    tab: Page, tmp_path: Path, tag: str, name: str
) -> None:
    show(tab, tmp_path, key_page(tag))
    spoken = str(tab.locator("[data-arrow=close0] title").text_content())
    assert spoken.startswith(name)
    assert spoken.endswith(MODEL.arrows[1].label)
    assert tab.locator(".key button").nth(1).get_attribute("aria-label") == spoken
    assert MODEL.arrows[1].label in tab.locator("table").inner_text()


@pytest.mark.parametrize("page", [key_page, crowded_page, cramped_page])
def test_a_page_with_a_key_stands_on_one_screen_at_every_size(
    tab: Page, tmp_path: Path, page: Callable[[], str]
) -> None:
    for width, height in SIZES:
        resize(tab, width, height)
        for fragment in ("", "#arrow=a4"):
            show(tab, tmp_path, page(), fragment)
            found = tab.evaluate(MEASURE)
            assert (found["right"], found["down"], found["outside"], found["overlapping"]) == (0, 0, [], [])


KEY_LINES = """() => {
  const rem = parseFloat(getComputedStyle(document.documentElement).fontSize);
  const styles = [...document.querySelectorAll('.key ol, .key p')].map((each) => getComputedStyle(each));
  const box = document.querySelector('.key');
  return [box.offsetWidth / rem, box.offsetHeight / rem, ...styles.map((each) => parseFloat(each.lineHeight) / rem)];
}"""


@pytest.mark.parametrize("guard", ["", "g" + " g" * 53], ids=["whole", "events"])
def test_lines_of_a_key_with_marks_upon_marks_are_higher_and_take_the_height_that_is_planned_for_them(
    tab: Page, tmp_path: Path, guard: str
) -> None:
    event = "e\u0301\u0301\u0301\u0301 closes"
    arrows = tuple(
        Arrow(f"a{n}", *(("open", "held") if n % 2 else ("held", "open")), f"{event} {n}", guard) for n in range(28)
    )
    model = replace(MODEL, arrows=arrows)
    resize(tab, 1440, 900)
    show(tab, tmp_path, render_page(model, numbered(model, model)))
    width, height, *lines = tab.evaluate(KEY_LINES)
    assert len(lines) == (2 if guard else 1)
    assert lines == pytest.approx([1.7] * len(lines), abs=0.01)
    rows = tuple(KeyRow(n, n - 1, arrow.label, arrow.event or "", "") for n, arrow in enumerate(arrows, 1))
    planned = KeySettings(Key(rows), Ruler()).fit(width, height + 0.5, 0.3)
    assert planned.height == pytest.approx(height, abs=0.5)
    assert planned.is_whole == (not guard)


def test_where_only_events_fit_the_whole_label_of_the_chosen_arrow_stands_below(tab: Page, tmp_path: Path) -> None:
    show(tab, tmp_path, crowded_page())
    whole = tab.locator(".key .whole")
    assert whole.inner_text() == "Events only. Choose a number to read its whole label."
    tab.locator(".key button").nth(3).click()
    assert whole.inner_text().startswith("event 3 [g g")
    tab.keyboard.press("Escape")
    assert whole.inner_text().startswith("Events only")


def test_a_key_with_room_for_some_lines_says_how_many_more_there_are_and_makes_room_for_what_is_chosen(
    tab: Page, tmp_path: Path
) -> None:
    show(tab, tmp_path, cramped_page())
    lines = "[...document.querySelectorAll('.key li')].filter((line) => line.checkVisibility()).length"
    shown = tab.evaluate(lines)
    assert 0 < shown < 28
    assert tab.locator(".key .left").inner_text() == f"{28 - shown} more: choose a number in the diagram"
    for number in (0, 27):
        tab.locator(f"[data-arrow=a{number}]").dispatch_event("click")
        left = tab.evaluate(lines)
        assert left < shown
        assert tab.locator(".key .left").inner_text().startswith(f"{28 - left} more")
        assert tab.locator(".key .whole").inner_text().startswith(f"event {number} [g g")
        assert tab.evaluate(MEASURE)["down"] == 0
    tab.keyboard.press("Escape")
    assert tab.evaluate(lines) == shown


def test_on_a_page_that_scrolls_every_line_of_the_key_stands(tab: Page, tmp_path: Path) -> None:
    resize(tab, 390, 844)
    show(tab, tmp_path, cramped_page(), "#arrow=a3")
    assert all(tab.locator(".key li").evaluate_all("all => all.map((line) => line.checkVisibility())"))
    assert not tab.locator(".key .left").is_visible()


def test_lines_that_one_screen_has_no_room_for_are_put_away_by_the_document_and_stand_elsewhere(
    tab: Page, tmp_path: Path
) -> None:
    show(tab, tmp_path, cramped_page())
    past = "lines => lines.map((line) => `${line.hidden} ${line.checkVisibility()}`)"
    found = tab.locator(".key li").filter(has_text=re.compile("^2[78]"))
    assert set(found.evaluate_all(past)) == {"true false"}
    resize(tab, 390, 844)
    expect(found.first).to_be_visible()
    assert set(found.evaluate_all(past)) == {"false true"}
    resize(tab, 1440, 900)
    expect(found.first).to_be_hidden()
    assert set(found.evaluate_all(past)) == {"true false"}
    tab.emulate_media(media="print")
    expect(found.first).to_be_visible()
    assert set(found.evaluate_all(past)) == {"false true"}


def test_a_screen_with_more_room_has_more_lines_of_the_key(tab: Page, tmp_path: Path) -> None:
    show(tab, tmp_path, cramped_page())
    lines = tab.locator(".key li:visible")
    few = lines.count()
    resize(tab, 1440, 1200)
    expect(lines).not_to_have_count(few)
    assert lines.count() > few
    resize(tab, 1440, 900)
    expect(lines).to_have_count(few)


def test_a_key_beside_several_scenes_names_its_lines_as_the_drawing_that_has_the_numbers_does(
    tab: Page, tmp_path: Path
) -> None:
    words = "the operator confirms by hand that all of it may be sent to the one who has asked for it " * 2
    ends = [(f"state_{n * 3 % 7}", f"state_{(n * 5 + n // 4 + 1) % 12}") for n in range(27)]
    model = ring(12, 27)
    model = replace(
        model,
        states=tuple(replace(each, label=f"{each.id} {words}") for each in model.states),
        arrows=(model.arrows[0], *(Arrow(f"a{n}", *pair, f"{n} {words}", words, words) for n, pair in enumerate(ends))),
    )
    errors: list[str] = []
    tab.on("pageerror", lambda error: errors.append(str(error)))
    show(tab, tmp_path, render_page(model))
    assert errors == []
    assert tab.locator(".drawing").count() > 1
    row = tab.locator(".key button").first
    assert (row.get_attribute("aria-label") or "").startswith("1: created to state_0 the operator")
    row.click()
    assert pressed(tab, ".drawing:not([hidden]) .arrow") == ["new"]


def test_axe_finds_nothing_on_a_page_with_a_key(tab: Page, tmp_path: Path) -> None:
    show(tab, tmp_path, key_page(), "#arrow=close1")
    assert [each["id"] for each in Axe().run(tab).response["violations"]] == []


def exported(tab: Page) -> str:
    """The text of the SVG that the page's menu saves."""
    tab.locator("#export summary").click()
    with tab.expect_download() as waiting:
        tab.locator("#export [data-picture=svg]").first.click()
    return Path(waiting.value.path()).read_text(encoding="utf-8")


def test_a_picture_with_numbers_takes_its_key_along(tab: Page, tmp_path: Path) -> None:
    show(tab, tmp_path, key_page())
    svg = ElementTree.fromstring(exported(tab))
    texts = [text.text or "" for text in svg.iter("{http://www.w3.org/2000/svg}text")]
    assert "<b>free</b>" in texts
    assert any(LABEL.format(2).startswith(text) and len(text) > 8 for text in texts)
    _, top, _, height = map(float, (svg.get("viewBox") or "").split())
    lowest = max(float(text.get("y") or 0) for text in svg.iter("{http://www.w3.org/2000/svg}text"))
    assert lowest < top + height
    assert write_mermaid(MODEL).count("confirmed by hand") == 4


def test_with_a_proof_the_key_says_where_an_arrow_stands_and_its_panel_takes_the_place_of_the_key(
    tab: Page, tmp_path: Path
) -> None:
    sneak = replace(AGENT_SNEAK_PATHS[0], source="done", target="held")
    proof = proof_of(MODEL, build_evidence(MODEL, {("open", "held"): "written"}, sneak_paths=[sneak]))
    show(tab, tmp_path, render_page(MODEL, numbered(proof.lifecycle), proof=proof))
    signs = tab.locator(".key li use").evaluate_all("all => all.map((sign) => sign.getAttribute('href').slice(6))")
    assert signs == ["survived"] * 5 + ["written", "survived"]
    assert (tab.locator(".key button").nth(5).get_attribute("aria-label") or "").endswith("written")
    assert tab.locator(".key li").count() == len(MODEL.arrows)
    assert tab.locator(".drawing .sneak .tag").count() == 0
    assert tab.locator(".drawing .sneak .bead").count() == 1
    tab.locator(".key button").nth(5).click()
    assert tab.locator(".proof").is_visible()
    assert not tab.locator(".key").is_visible()


def test_a_page_whose_labels_are_whole_has_no_key_and_nothing_of_it() -> None:
    page = render_page(MODEL, best_drawing(MODEL, {}))
    assert 'class="key"' not in page
    assert "picture-key" not in page.partition("<body")[2]
    assert ".key li" not in page
