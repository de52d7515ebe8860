from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any
from urllib.parse import quote

import pytest
from playwright.sync_api import Page, expect

from arrowproof.model.lifecycle import Arrow, Binding, Kind, Lifecycle, Panel
from arrowproof.render.drawing import Box, Drawing, TextLine
from arrowproof.render.page import render_page
from tests.render.pages import MEASURE, MODELS, NOTES, TWO, grid_drawing, page_of, pressed, show, state
from tests.render.tabs import expect_fragment, expect_no_fragment, reload


def test_choosing_a_transition_marks_its_arrows_and_escape_clears(tab: Page, tmp_path: Path) -> None:
    show(tab, tmp_path, page_of(NOTES))
    tab.get_by_role("button", name="pending → done").click()
    assert pressed(tab, ".arrow") == ["pick", "succeed"]
    expect_fragment(tab, "#transition=pending:done")
    tab.keyboard.press("Escape")
    assert pressed(tab, ".arrow") == []
    expect_no_fragment(tab)


def test_a_transition_that_is_pointed_at_or_in_focus_lights_its_arrows(tab: Page, tmp_path: Path) -> None:
    show(tab, tmp_path, page_of(NOTES))
    lit = "[...document.querySelectorAll('.arrow.lit')].map(arrow => arrow.dataset.arrow)"
    places = "[...document.querySelectorAll('.arrow')].map(arrow => JSON.stringify(arrow.getBoundingClientRect()))"
    before = tab.evaluate(places)
    tab.get_by_role("button", name="pending → done").hover()
    assert tab.evaluate(lit) == ["pick", "succeed"]
    assert tab.evaluate(places) == before
    assert tab.evaluate("getComputedStyle(document.querySelector('.arrow.lit .line')).stroke") == "rgb(31, 79, 208)"
    tab.mouse.move(2, 2)
    assert tab.evaluate(lit) == []
    tab.get_by_role("button", name="created → pending").focus()
    assert tab.evaluate(lit) == ["accept"]
    tab.keyboard.press("Shift+Tab")
    assert tab.evaluate(lit) == []
    assert pressed(tab, ".arrow") == []


@pytest.mark.parametrize("sign", [",", ":", " ", "%2C", "%3A"])
def test_transitions_whose_ends_read_the_same_when_they_are_joined_are_chosen_one_after_the_other(
    tab: Page, tmp_path: Path, sign: str
) -> None:
    near, far = f"a{sign}b", f"b{sign}c"
    states = (state("a"), state(far), state(near), state("c", Kind.SUCCESS))
    arrows = (Arrow("first", "a", far), Arrow("second", near, "c"))
    show(tab, tmp_path, page_of(replace(TWO, states=states, arrows=arrows)))
    for ends, arrow in (((near, "c"), "second"), (("a", far), "first"), ((near, "c"), "second")):
        tab.get_by_role("button", name=" → ".join(ends)).click()
        assert pressed(tab, ".arrow") == [arrow]
    tab.get_by_role("button", name=f"{near} → c").click()
    assert pressed(tab, ".arrow") == []
    for ends, arrow in (((near, "c"), "second"), (("a", far), "first"), ((near, "c"), "second")):
        address = "#transition=" + ":".join(quote(end, "") for end in ends)
        tab.evaluate("address => { location.hash = address; }", address)
        expect(tab.locator(f'.arrow[data-arrow="{arrow}"][aria-pressed=true]')).to_have_count(1)
        assert pressed(tab, ".arrow") == [arrow]
        assert len(pressed(tab, ".list button")) == 1


@pytest.mark.parametrize("fragment", ["#transition=pending:done", "#transition=%70ending:done"])
def test_an_address_with_a_transition_opens_with_it_chosen(tab: Page, tmp_path: Path, fragment: str) -> None:
    show(tab, tmp_path, page_of(NOTES), fragment)
    assert pressed(tab, ".arrow") == ["pick", "succeed"]
    assert len(pressed(tab, ".list button")) == 1


def test_an_address_names_arrows_and_transitions_whose_ids_have_a_colon(tab: Page, tmp_path: Path) -> None:
    states = (state("a:b"), state("c", Kind.SUCCESS))
    show(tab, tmp_path, page_of(replace(TWO, states=states, arrows=(Arrow("x:y", "a:b", "c"),))), "#arrow=x:y")
    assert pressed(tab, ".arrow") == ["x:y"]
    tab.keyboard.press("Escape")
    tab.get_by_role("button", name="a:b → c").click()
    reload(tab)
    assert pressed(tab, ".arrow") == ["x:y"]


def test_choosing_an_arrow_by_keyboard_marks_the_transitions_over_it_and_names_it_in_the_address(
    tab: Page, tmp_path: Path
) -> None:
    show(tab, tmp_path, page_of(NOTES))
    tab.locator("[data-key=a0]").focus()
    tab.keyboard.press("ArrowRight")
    tab.keyboard.press("Enter")
    assert pressed(tab, ".arrow") == ["pick"]
    assert len(pressed(tab, ".list button")) == 2
    expect_fragment(tab, "#arrow=pick")
    tab.keyboard.press("Enter")
    assert pressed(tab, ".list button") == []
    expect_no_fragment(tab)


@pytest.mark.parametrize(
    ("media", "chosen"),
    [
        ({"color_scheme": "light"}, "rgb(31, 79, 208)"),
        ({"color_scheme": "dark"}, "rgb(141, 176, 255)"),
        ({"forced_colors": "active"}, None),
    ],
    ids=["light", "dark", "forced"],
)
def test_an_arrow_in_focus_shows_it_on_its_line_and_tip(
    tab: Page, tmp_path: Path, media: dict[str, Any], chosen: str | None
) -> None:
    tab.emulate_media(**media)
    show(tab, tmp_path, page_of(NOTES))
    look = """() => [".line", ".tip"].map((part) => {
      const style = getComputedStyle(document.querySelector("[data-key=a1] " + part));
      return part === ".line" ? [style.stroke, style.strokeWidth] : style.fill;
    })"""
    (before, _), _ = tab.evaluate(look)
    tab.locator("[data-key=a0]").focus()
    tab.keyboard.press("ArrowRight")
    (line, width), tip = tab.evaluate(look)
    assert line == tip != before
    assert chosen in (None, line)
    assert width == "2.5px"
    tab.keyboard.press("Enter")
    assert tab.evaluate(look)[0][1] == "4px"


@pytest.mark.parametrize("fragment", ["#arrow=pick", "#arrow=%70ick"])
def test_an_address_with_an_arrow_opens_with_it_chosen(tab: Page, tmp_path: Path, fragment: str) -> None:
    show(tab, tmp_path, page_of(NOTES), fragment)
    assert pressed(tab, ".arrow") == ["pick"]


@pytest.mark.parametrize(
    "fragment", ["#arrow=%E0%A4%A", "#arrow=nothing", "#arrow=", "#x", "#transition=%E0", "#transition=a:b"]
)
def test_an_address_that_names_no_arrow_chooses_none(tab: Page, tmp_path: Path, fragment: str) -> None:
    said: list[str] = []
    tab.on("pageerror", lambda error: said.append(str(error)))
    show(tab, tmp_path, page_of(NOTES), fragment)
    assert pressed(tab, ".arrow") == []
    assert said == []


def test_a_list_that_is_too_long_shows_what_is_chosen(tab: Page, tmp_path: Path) -> None:
    show(tab, tmp_path, page_of(MODELS["more transitions than are listed"]))
    shown = tab.locator(".list li:not(.sr)")
    expect(shown).to_have_count(0)
    tab.locator(".drawing:not([hidden]) [data-key=a1]").focus()
    tab.keyboard.press("Enter")
    assert pressed(tab, ".list li:not(.sr) button") == ["state_0 → state_1"]
    # What is not listed is no stop of Tab either.
    assert tab.locator(".list li.sr button:not([tabindex='-1'])").count() == 0
    assert tab.locator(".list li:not(.sr) button[tabindex='-1']").count() == 0


def dense_drawing(lifecycle: Lifecycle) -> Drawing:
    """States in lines of five, so that the page has one drawing."""
    drawing = grid_drawing(lifecycle)
    places = [(220.0 * (n % 5), 150.0 * (n // 5)) for n in range(len(drawing.states))]
    states = (
        replace(each, box=Box(x, y, 180, 40), label=(TextLine(each.id, x + 90, y + 25, 150, "middle"),))
        for each, (x, y) in zip(drawing.states, places, strict=True)
    )
    return Drawing(Box(0, 0, 1080, 660), tuple(states), drawing.arrows)


def test_no_choice_makes_a_page_scroll_that_fits_its_screen(tab: Page, tmp_path: Path) -> None:
    hub = (state("hub"), *(state(f"s{n}") for n in range(14)))
    lines = (*(Arrow(f"o{n}", "hub", f"s{n}") for n in range(14)), *(Arrow(f"b{n}", f"s{n}", "hub") for n in range(14)))
    panels = tuple(Panel(f"What is known of it, part {n}", ("A line.",)) for n in range(40))
    lifecycle = Lifecycle("hub", "Hub", hub, lines, panels=panels, binding=Binding("jobs", ("id",), "state"))
    show(tab, tmp_path, render_page(lifecycle, dense_drawing(lifecycle)))
    assert tab.locator(".drawing").count() == 1
    assert tab.evaluate(MEASURE)["down"] == 0
    listed = tab.locator(".list li:not(.sr)")
    for fragment, least in (("#arrow=o7", 1), ("#transition=hub:s3", 1), ("#state=hub", 1), ("#state=s4", 1)):
        tab.evaluate("(fragment) => { location.hash = fragment; }", fragment)
        expect(listed.first).to_be_visible()
        assert listed.count() >= least
        assert tab.evaluate(MEASURE)["down"] == 0
    tab.evaluate("location.hash = '#state=hub'")
    said = tab.locator(".transitions .more")
    expect(said).to_have_text(f"{listed.count()} of 28 listed, as many as there is room for")
    assert tab.locator(".list .sr button[tabindex='-1']").count() == 28 - listed.count()


def test_what_one_script_chooses_is_said_at_once_and_written_into_the_address_once_at_its_end(
    tab: Page, tmp_path: Path
) -> None:
    show(tab, tmp_path, page_of(NOTES))
    said, during, written = tab.evaluate(
        """async () => {
            const written = [];
            const write = history.replaceState;
            history.replaceState = (...all) => { written.push(all[2]); write.apply(history, all); };
            const said = [...document.querySelectorAll('.drawing .arrow')].map((arrow) => {
                arrow.dispatchEvent(new MouseEvent('click', { bubbles: true }));
                return document.documentElement.dataset.address;
            });
            const during = location.hash;
            await null;
            return [said, during, written];
        }"""
    )
    assert said == [f"arrow={arrow.id}" for arrow in NOTES.arrows]
    assert (during, written) == ("", [f"#{said[-1]}"])
    assert tab.evaluate("location.hash") == written[0]
