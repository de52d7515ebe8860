"""Views of a large lifecycle, each with a drawing of its own."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Page, expect

from arrowproof.model.lifecycle import View
from arrowproof.model.loader import load_lifecycle
from arrowproof.render.page import render_page
from tests.render.drawn import CASES
from tests.render.pages import FITS, MEASURE, SIZES, pressed, show
from tests.render.scene_pages import arrow, box, group, page_of_views, path, scene
from tests.render.tabs import expect_fragment, expect_no_fragment, go_back, reload, resize


def view_button(tab: Page, name: str) -> Any:
    return tab.get_by_role("button", name=name, exact=True)


def test_a_view_of_a_large_model_opens_its_own_scene_with_its_note_and_leads_back(tab: Page, tmp_path: Path) -> None:
    show(tab, tmp_path, page_of_views())
    for back in (partial(tab.keyboard.press, "Escape"), partial(go_back, tab), tab.locator(".crumbs button").click):
        view_button(tab, "Paying").click()
        assert scene(tab) == "#view=pay"
        expect_fragment(tab, "#view=pay")
        assert path(tab) == ["Overview", "Paying"]
        assert tab.locator(".view-note:visible").all_inner_texts() == ["How it is paid."]
        assert tab.locator(".drawing:not([hidden]) .state").count() == 3
        assert tab.locator(".drawing:not([hidden]) .aside").count() == 0
        back()
        assert scene(tab) is None
        expect_no_fragment(tab)


def test_left_and_right_step_through_the_scenes_of_views(tab: Page, tmp_path: Path) -> None:
    show(tab, tmp_path, page_of_views())
    seen = []
    for _ in range(4):
        tab.keyboard.press("ArrowRight")
        seen.append(scene(tab))
    assert seen == ["#view=pay", "#view=ship", None, None]
    expect(tab.get_by_role("status")).to_have_text("Whole")


def test_a_state_of_a_view_opens_its_focus_view_and_the_way_back_is_the_view(tab: Page, tmp_path: Path) -> None:
    show(tab, tmp_path, page_of_views(), "#view=pay")
    for back in (partial(tab.keyboard.press, "Escape"), tab.get_by_role("button", name="Paying").last.click):
        box(tab, "authorized").click()
        assert scene(tab) == "#state=authorized"
        expect_fragment(tab, "#view=pay&state=authorized")
        assert path(tab) == ["Overview", "Paying", "authorized"]
        back()
        assert scene(tab) == "#view=pay"
        expect(box(tab, "authorized")).to_have_attribute("aria-pressed", "false")


def test_who_goes_to_what_is_not_in_the_view_leaves_it(tab: Page, tmp_path: Path) -> None:
    show(tab, tmp_path, page_of_views(), "#view=pay&state=authorized")
    box(tab, "allocating").click()
    expect_fragment(tab, "#state=allocating")
    assert path(tab) == ["Overview", "Stock", "allocating"]
    assert tab.locator(".aside").count() == 0


def test_the_search_finds_what_is_not_in_the_view_and_leaves_it(tab: Page, tmp_path: Path) -> None:
    show(tab, tmp_path, page_of_views(), "#view=pay")
    tab.keyboard.press("/")
    tab.keyboard.type("allocating")
    tab.keyboard.press("Enter")
    expect_fragment(tab, "#state=allocating")


def test_an_arrow_is_chosen_in_the_scene_of_its_view(tab: Page, tmp_path: Path) -> None:
    show(tab, tmp_path, page_of_views(), "#view=pay")
    arrow(tab, "t11").click()
    assert scene(tab) == "#view=pay"
    expect_fragment(tab, "#view=pay&arrow=t11")
    reload(tab)
    assert scene(tab) == "#view=pay"
    assert pressed(tab, ".drawing:not([hidden]) .arrow") == ["t11"]
    tab.keyboard.press("Escape")
    expect_fragment(tab, "#view=pay")


def test_a_transition_that_one_arrow_path_of_a_view_can_make_is_listed_and_chosen_there(
    tab: Page, tmp_path: Path
) -> None:
    lifecycle = load_lifecycle(CASES / "order-groups.json")
    twin = replace(next(arrow for arrow in lifecycle.arrows if arrow.id == "t11"), id="twin", event="another way")
    view = View("v", "V", (), ("t11", "t10"))
    show(tab, tmp_path, render_page(replace(lifecycle, arrows=(*lifecycle.arrows, twin), views=(view,))), "#view=v")
    row = tab.locator(f".list li:not(.sr) button[data-arrows~='{len(lifecycle.arrows)}']")
    expect(row).to_have_count(1)
    row.click()
    assert scene(tab) == "#view=v"
    assert pressed(tab, ".drawing:not([hidden]) .arrow") == ["t11"]
    expect(tab.locator(".transitions .more")).to_have_text("2 of the transitions listed")


def test_another_view_takes_the_place_of_the_state_that_was_shown(tab: Page, tmp_path: Path) -> None:
    show(tab, tmp_path, page_of_views(), "#view=pay&state=authorized")
    view_button(tab, "Shipping it").click()
    assert scene(tab) == "#view=ship"
    view_button(tab, "Whole").click()
    assert scene(tab) is None


@pytest.mark.parametrize("fragment", ["#view=pay", "#view=pay&state=authorized", "#view=all", "#view=ship"])
def test_no_view_of_a_large_model_makes_a_page_scroll(tab: Page, tmp_path: Path, fragment: str) -> None:
    show(tab, tmp_path, page_of_views(), fragment)
    for width, height in SIZES:
        resize(tab, width, height)
        assert tab.evaluate(MEASURE) == FITS, (width, height)


def test_a_view_too_large_for_a_scene_steps_back_what_is_not_in_it_in_every_scene(tab: Page, tmp_path: Path) -> None:
    show(tab, tmp_path, page_of_views())
    view_button(tab, "Everything").click()
    assert scene(tab) is None
    assert "no drawing of its own" in tab.locator(".view-note:visible").inner_text()
    assert "aside" in (group(tab, "Returns").get_attribute("class") or "")
    assert "aside" not in (group(tab, "Payment").get_attribute("class") or "")
    group(tab, "Payment").click()
    assert scene(tab) == "#group=Payment"
    expect_fragment(tab, "#view=all&group=Payment")


def test_a_group_that_a_view_leaves_out_steps_back_with_all_its_lines(tab: Page, tmp_path: Path) -> None:
    lifecycle = load_lifecycle(CASES / "order-groups.json")
    left_out = {state.id for state in lifecycle.states if state.group == "Stock"}
    view = View("v", "V", tuple(state.id for state in lifecycle.states if state.id not in left_out), ())
    show(tab, tmp_path, render_page(replace(lifecycle, views=(view,))), "#view=v")
    color = "(item) => getComputedStyle(item).stroke"
    lines = {
        name: group(tab, name).locator(".box, .sheet").evaluate_all(f"(all) => all.map({color})")
        for name in ("Payment", "Stock")
    }
    assert len(lines["Stock"]) > 1
    assert len(set(lines["Stock"])) == 1
    assert not set(lines["Stock"]) & set(lines["Payment"])
