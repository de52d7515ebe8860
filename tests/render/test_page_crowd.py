"""A crowd of arrows that an overview draws as one: who chooses it comes to where its arrows stand by themselves."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import cache
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Locator, Page, expect

from arrowproof.model.lifecycle import Arrow
from arrowproof.render.page import render_page
from tests.render.pages import show
from tests.render.scene_pages import path, scene
from tests.render.tabs import expect_fragment, go_back
from tests.render.test_scenes import SAYS_MUCH, crowded

CROWD = ".drawing:not([hidden]) .arrow[data-arrow='bundle:1']"


@cache
def page_of_crowd() -> str:
    return render_page(crowded(26, 60, SAYS_MUCH))


@cache
def page_of_crowd_at_a_hub() -> str:
    """The source of the crowd has so many other arrows that its focus view shows more than that of the target."""
    model = crowded(26, 13, SAYS_MUCH)
    ends = [("s3", f"s{number}") for number in range(6, 26)]
    more = (Arrow(f"b{number}", *pair, f"leap {number}") for number, pair in enumerate(ends))
    return render_page(replace(model, arrows=(*model.arrows, *more)))


def by_mouse(crowd: Locator) -> None:
    crowd.locator(".label").click()


def by_enter(crowd: Locator) -> None:
    crowd.focus()
    crowd.press("Enter")


@pytest.mark.parametrize("choose", [by_mouse, by_enter])
def test_a_crowd_opens_the_focus_view_of_its_source_and_back_returns(
    tab: Page, tmp_path: Path, choose: Callable[[Locator], None]
) -> None:
    show(tab, tmp_path, page_of_crowd())
    choose(tab.locator(CROWD))
    assert scene(tab) == "#state=s3"
    expect_fragment(tab, "#state=s3")
    assert path(tab) == ["Overview", "Step 3"]
    shown = tab.locator(".drawing:not([hidden]) .arrow")
    keys = {key for each in shown.all() for key in (each.get_attribute("data-keys") or "").split()}
    assert len(keys) >= 60
    go_back(tab)
    assert scene(tab) is None
    expect(tab.locator(CROWD)).to_be_visible()


def test_a_crowd_opens_by_touch(browser: Browser, tmp_path: Path) -> None:
    context = browser.new_context(viewport={"width": 1366, "height": 768}, has_touch=True)
    tab = context.new_page()
    show(tab, tmp_path, page_of_crowd())
    tab.locator(f"{CROWD} .label").tap()
    assert scene(tab) == "#state=s3"
    context.close()


def test_a_crowd_at_a_hub_opens_its_other_end_which_draws_its_arrows_by_themselves(tab: Page, tmp_path: Path) -> None:
    show(tab, tmp_path, page_of_crowd_at_a_hub())
    by_enter(tab.locator(CROWD))
    assert scene(tab) == "#state=s4"
    assert tab.locator(".drawing:not([hidden]) .arrow[data-number][data-from=s3]").count() == 13
