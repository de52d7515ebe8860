from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
from playwright.sync_api import Page

from arrowproof.model.loader import load_lifecycle
from arrowproof.render.page import render_page
from tests.render.drawn import CASES, page_of_case
from tests.render.pages import show
from tests.render.proofs import notes, proof_page


def signs(tab: Page) -> list[str]:
    """The items of the legend that are shown."""
    return [item.inner_text() for item in tab.locator(".legend .group > span:visible").all()]


def ruled(tab: Page) -> list[str]:
    """The shown items of the legend before which a rule stands."""
    items = tab.locator(".legend .group > span:visible").all()
    return [
        each.inner_text()
        for each in items
        if each.evaluate("(it) => getComputedStyle(it, '::before').content") != "none"
    ]


def test_the_legend_says_what_occurs_in_the_scene_that_is_shown(tab: Page, tmp_path: Path) -> None:
    show(tab, tmp_path, page_of_case("order-groups"))
    assert signs(tab) == ["created", "group"]
    tab.evaluate("location.hash = '#group=Payment'")
    tab.locator(".drawing[data-title=Payment]").wait_for()
    assert signs(tab) == ["active", "waiting", "outside the group"]
    # The kinds stay where they are when nothing is left beside them.
    right = "(item) => item.getBoundingClientRect().right"
    assert tab.locator(".legend .part").last.evaluate(right) == tab.locator(".legend").evaluate(right)


def test_no_rule_stands_before_the_first_group_of_signs_that_is_shown(tab: Page, tmp_path: Path) -> None:
    lifecycle = load_lifecycle(CASES / "order-groups.json")
    arrows = tuple(replace(arrow, guard="it may") for arrow in lifecycle.arrows)
    show(tab, tmp_path, render_page(replace(lifecycle, arrows=arrows)))
    assert ruled(tab) == ["event [guard]"]
    tab.evaluate("location.hash = '#group=Payment'")
    tab.locator(".drawing[data-title=Payment]").wait_for()
    assert signs(tab)[0] == "event [guard]"
    assert ruled(tab) == []


@pytest.mark.parametrize("width", [1440, 900, 700, 600, 500, 390])
def test_a_row_of_the_legend_never_begins_with_a_rule(tab: Page, tmp_path: Path, width: int) -> None:
    show(tab, tmp_path, proof_page(*notes()))
    tab.set_viewport_size({"width": width, "height": 900})
    part = tab.locator(".legend .part").first
    part.scroll_into_view_if_needed()
    box = part.bounding_box()
    assert box is not None
    edge = {"x": box["x"] - 12, "y": box["y"], "width": 11, "height": box["height"]}
    drawn = tab.screenshot(clip=edge)  # type: ignore[arg-type]
    tab.evaluate("document.styleSheets[0].insertRule('.legend span::before{content:none!important}', 0)")
    assert tab.screenshot(clip=edge) == drawn  # type: ignore[arg-type]


def test_parts_of_the_legend_that_share_no_row_begin_at_one_edge(tab: Page, tmp_path: Path) -> None:
    show(tab, tmp_path, proof_page(*notes()))
    tab.set_viewport_size({"width": 500, "height": 900})
    lefts = tab.evaluate(
        "[...document.querySelectorAll('.legend .part')].map((part) => part.getBoundingClientRect().left)"
    )
    assert len(lefts) == 2
    assert len(set(lefts)) == 1


def test_a_drawing_wider_than_its_frame_scrolls_to_what_is_chosen(tab: Page, tmp_path: Path) -> None:
    tab.set_viewport_size({"width": 390, "height": 844})
    show(tab, tmp_path, proof_page(*notes()), "#arrow=succeed")
    arrow = tab.locator(".arrow[aria-pressed=true] .line").bounding_box()
    frame = tab.locator(".draw").bounding_box()
    assert arrow is not None
    assert frame is not None
    assert frame["x"] <= arrow["x"]
    assert arrow["x"] + arrow["width"] <= frame["x"] + frame["width"]


def test_a_view_leaves_the_marks_of_its_own_arrows_alone(tab: Page, tmp_path: Path) -> None:
    show(tab, tmp_path, proof_page(*notes()), "#view=retries")
    assert tab.locator(".mark.aside").count() == 4
    tab.evaluate("location.hash = '#view=happy-path'")
    tab.locator(".view-note:visible").wait_for()
    assert tab.locator(".mark.aside").count() == 3
