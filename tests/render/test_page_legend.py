from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
from playwright.sync_api import Page

from arrowproof.model.evidence import SneakPath
from arrowproof.model.loader import load_lifecycle
from arrowproof.model.transitions import derive_transitions
from arrowproof.render.page import render_page
from tests.render.drawn import CASES, page_of_case
from tests.render.evidence_builder import build_evidence
from tests.render.pages import show
from tests.render.proofs import notes, proof_page
from tests.render.tabs import resize


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


def rule_at_edge(tab: Page) -> bool:
    """Whether a rule is drawn in the gap before what begins a row."""
    legend = tab.locator(".legend")
    legend.scroll_into_view_if_needed()
    box = legend.bounding_box()
    assert box is not None
    edge = {"x": box["x"] - 12, "y": box["y"], "width": 11, "height": box["height"]}
    drawn = tab.screenshot(clip=edge)  # type: ignore[arg-type]
    tab.evaluate("document.styleSheets[0].insertRule('.legend span::before{content:none!important}', 0)")
    return tab.screenshot(clip=edge) != drawn  # type: ignore[arg-type]


@pytest.mark.parametrize("width", [1440, 900, 700, 600, 500, 390])
def test_a_row_of_the_legend_never_begins_with_a_rule(tab: Page, tmp_path: Path, width: int) -> None:
    show(tab, tmp_path, proof_page(*notes()))
    resize(tab, width, 900)
    assert not rule_at_edge(tab)


def test_rows_of_the_legend_begin_at_one_edge(tab: Page, tmp_path: Path) -> None:
    show(tab, tmp_path, proof_page(*notes()))
    resize(tab, 500, 900)
    boxes = [part.bounding_box() for part in tab.locator(".legend .part").all()]
    rows = {box["y"]: min(each["x"] for each in boxes if each and each["y"] == box["y"]) for box in boxes if box}
    assert len(rows) == 2
    assert len(set(rows.values())) == 1


def test_what_stands_at_no_arrow_shares_a_row_with_the_kinds_where_all_rungs_take_one(
    tab: Page, tmp_path: Path
) -> None:
    lifecycle, _ = notes()
    pairs = [each.pair for each in derive_transitions(lifecycle)]
    rungs = dict(zip(pairs[7:], ("missing", "not_survived", "written", "not_written", "walked"), strict=False))
    sneaks = (SneakPath("failed", "completed", possible=()),)
    show(tab, tmp_path, proof_page(lifecycle, build_evidence(lifecycle, rungs, sneak_paths=sneaks)))
    tops = [item.bounding_box()["y"] for item in tab.locator(".legend .sample").all()]  # type: ignore[index]
    assert max(tops) - min(tops) < 30
    kinds, legend = tab.locator(".legend .part").last.bounding_box(), tab.locator(".legend").bounding_box()
    assert kinds is not None
    assert legend is not None
    assert abs(kinds["x"] + kinds["width"] - legend["x"] - legend["width"]) < 1
    assert not rule_at_edge(tab)


def test_a_drawing_wider_than_its_frame_scrolls_to_what_is_chosen(tab: Page, tmp_path: Path) -> None:
    resize(tab, 390, 844)
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
