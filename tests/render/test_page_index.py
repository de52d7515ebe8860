from __future__ import annotations

from pathlib import Path

import pytest
from playwright.sync_api import Page, expect

from arrowproof.model.lifecycle import Arrow, Lifecycle
from arrowproof.render.page import render_page
from tests.render.drawn import page_of_case
from tests.render.pages import FITS, MEASURE, SIZES, show, state
from tests.render.tabs import go_back, resize


@pytest.mark.parametrize("name", ["order", "order-groups"])
@pytest.mark.parametrize("size", SIZES)
def test_the_index_of_all_states_stands_on_one_screen(
    tab: Page, tmp_path: Path, name: str, size: tuple[int, int]
) -> None:
    resize(tab, size[0], size[1])
    show(tab, tmp_path, page_of_case(name))
    expect(tab.locator(".index dd a")).to_have_count(30)
    assert tab.evaluate(MEASURE) == FITS


def test_a_link_shows_the_focus_view_of_its_state_and_takes_the_focus_there(tab: Page, tmp_path: Path) -> None:
    show(tab, tmp_path, page_of_case("order-groups"))
    tab.locator(".index").get_by_role("link", name="fraud_review").press("Enter")
    assert tab.evaluate("location.hash") == "#state=pay_review"
    expect(tab.locator(".state.focus:visible")).to_be_focused()
    expect(tab.locator(".index")).to_be_hidden()
    go_back(tab)
    expect(tab.locator(".index")).to_be_visible()


def test_counts_of_an_index_without_links_stand_at_its_right_end_and_names_on_one_line(
    tab: Page, tmp_path: Path
) -> None:
    states = [state(f"s{n}", group=f"Group {n // 15} of many states") for n in range(180)]
    arrows = [Arrow(f"a{n}", f"s{n}", f"s{n + 1}", "go on") for n in range(179)]
    show(tab, tmp_path, render_page(Lifecycle("many", "Many", tuple(states), tuple(arrows))))
    index = tab.locator(".index").bounding_box()
    assert index is not None
    for row in tab.locator(".index div").all():
        name, count = row.locator("dt a").bounding_box(), row.locator("dd").bounding_box()
        assert name is not None
        assert count is not None
        assert name["height"] < 20
        assert abs(count["x"] + count["width"] - index["x"] - index["width"]) < 1


def test_the_name_of_a_group_shows_its_scene(tab: Page, tmp_path: Path) -> None:
    show(tab, tmp_path, page_of_case("order-groups"))
    tab.locator(".index").get_by_role("link", name="Payment", exact=True).click()
    expect(tab.locator(".crumbs")).to_have_text("OverviewPayment")


def test_a_link_keeps_nothing_of_an_address_that_named_nothing(tab: Page, tmp_path: Path) -> None:
    show(tab, tmp_path, page_of_case("order"), "#view=late")
    tab.locator(".index").get_by_role("link", name="cart", exact=True).click()
    assert tab.evaluate("location.hash") == "#state=cart"


@pytest.mark.parametrize(("name", "lit"), [("order", "fraud_review"), ("order-groups", "Payment")])
def test_a_link_lights_the_box_of_its_state_or_of_the_group_that_holds_it(
    tab: Page, tmp_path: Path, name: str, lit: str
) -> None:
    show(tab, tmp_path, page_of_case(name))
    tab.locator(".index").get_by_role("link", name="fraud_review").hover()
    assert tab.locator(".state.lit .name").all_text_contents() == [lit]
    tab.locator("h1").hover()
    assert tab.locator(".state.lit").count() == 0
