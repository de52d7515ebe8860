from __future__ import annotations

from pathlib import Path

from playwright.sync_api import Page

from tests.render.pages import NOTES, page_of, show

EDGE = "(box) => [getComputedStyle(box).stroke, getComputedStyle(box).strokeWidth]"
CHOSEN = ["rgb(31, 79, 208)", "2.5px"]


def edge(tab: Page, state: str) -> object:
    return tab.locator(f".state[data-state={state}] .box").evaluate(EDGE)


def test_a_state_that_is_chosen_has_an_edge_of_its_own(tab: Page, tmp_path: Path) -> None:
    show(tab, tmp_path, page_of(NOTES))
    before = edge(tab, "done")
    tab.locator(".state[data-state=done]").click()
    assert edge(tab, "done") == CHOSEN
    assert edge(tab, "pending") != CHOSEN
    tab.keyboard.press("Escape")
    tab.locator("h1").hover()
    assert edge(tab, "done") == before


def test_a_state_says_that_it_can_be_chosen_where_the_reader_points_at_it(tab: Page, tmp_path: Path) -> None:
    show(tab, tmp_path, page_of(NOTES))
    state = tab.locator(".state[data-state=done]")
    before = edge(tab, "done")
    state.hover()
    assert state.evaluate("(box) => getComputedStyle(box).cursor") == "pointer"
    assert edge(tab, "done") != before
