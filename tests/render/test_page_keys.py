"""The keys of a single character can be switched off (WCAG 2.1.4), and stay so."""

from __future__ import annotations

from functools import cache
from pathlib import Path

import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Locator, Page, expect

from arrowproof.model.lifecycle import Arrow, Lifecycle
from arrowproof.render.language import load_language
from arrowproof.render.page import render_page
from tests.render.pages import TWO, grid_drawing, page_of, show, state
from tests.render.tabs import reload

SCENE = ".drawing:not([hidden])"


@cache
def page(language: str = "en") -> str:
    states = tuple(state(f"s{number}") for number in range(24))
    arrows = tuple(Arrow(f"a{n}", f"s{n}", f"s{n + 1}", f"event {n}") for n in range(23))
    lifecycle = Lifecycle("line", "Line", states, arrows)
    return render_page(lifecycle, grid_drawing(lifecycle), load_language(language))


def menu(tab: Page, name: str = "Keys") -> Locator:
    return tab.locator("#keys summary").filter(has_text=name)


def switch(tab: Page, name: str = "Single-character keys") -> Locator:
    return tab.get_by_role("switch", name=name, exact=True)


def zoom(tab: Page) -> str | None:
    return tab.locator(SCENE).get_attribute("viewBox")


def switch_off(tab: Page) -> None:
    menu(tab).click()
    switch(tab).click()
    expect(switch(tab)).to_have_attribute("aria-checked", "false")
    tab.keyboard.press("Escape")
    expect(switch(tab)).to_be_hidden()


def test_the_menu_of_the_keys_says_what_each_of_them_does(tab: Page, tmp_path: Path) -> None:
    show(tab, tmp_path, page())
    menu(tab).click()
    said = [" ".join(text.split()) for text in tab.locator("#keys dl > div").all_inner_texts()]
    assert said == ["/ Find a state or an arrow", "+ Zoom in", "- Zoom out", "0 Fit", "Shift ← ↑ ↓ → Move the drawing"]
    expect(switch(tab)).to_have_attribute("aria-checked", "true")


def test_keys_that_are_switched_off_do_nothing_and_come_back(tab: Page, tmp_path: Path) -> None:
    show(tab, tmp_path, page())
    whole = zoom(tab)
    switch_off(tab)
    for key in ("+", "=", "-", "0", "/"):
        tab.keyboard.press(key)
    assert zoom(tab) == whole
    expect(tab.get_by_role("combobox")).not_to_be_focused()
    menu(tab).click()
    switch(tab).click()
    tab.keyboard.press("Escape")
    tab.keyboard.press("+")
    assert zoom(tab) != whole
    tab.keyboard.press("/")
    expect(tab.get_by_role("combobox")).to_be_focused()


def test_buttons_and_keys_of_more_than_one_character_serve_in_any_case(tab: Page, tmp_path: Path) -> None:
    show(tab, tmp_path, page())
    switch_off(tab)
    for _ in range(3):
        tab.get_by_role("button", name="Zoom in").click()
    near = zoom(tab)
    tab.keyboard.press("Shift+ArrowRight")
    assert zoom(tab) != near


def test_what_was_chosen_is_remembered(tab: Page, tmp_path: Path) -> None:
    show(tab, tmp_path, page())
    switch_off(tab)
    reload(tab)
    whole = zoom(tab)
    tab.keyboard.press("+")
    assert zoom(tab) == whole
    menu(tab).click()
    expect(switch(tab)).to_have_attribute("aria-checked", "false")


def test_the_switch_is_reached_and_turned_by_keys_alone(tab: Page, tmp_path: Path) -> None:
    show(tab, tmp_path, page())
    tab.get_by_role("button", name="Zoom in").focus()
    tab.keyboard.press("Tab")
    tab.keyboard.press("Enter")
    tab.keyboard.press("Tab")
    expect(switch(tab)).to_be_focused()
    tab.keyboard.press("Space")
    expect(switch(tab)).to_have_attribute("aria-checked", "false")
    tab.keyboard.press("Escape")
    expect(menu(tab)).to_be_focused()


def test_the_menu_speaks_the_language_of_the_page(tab: Page, tmp_path: Path) -> None:
    show(tab, tmp_path, page("ja"))
    menu(tab, "キー").click()
    expect(switch(tab, "1文字のキーを使う")).to_have_attribute("aria-checked", "true")


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("is_off", [False, True], ids=["on", "off"])
def test_an_open_menu_breaks_no_rule_of_axe(tab: Page, tmp_path: Path, scheme: str, is_off: bool) -> None:
    tab.emulate_media(color_scheme=scheme)  # type: ignore[arg-type]
    show(tab, tmp_path, page())
    menu(tab).click()
    if is_off:
        switch(tab).click()
    assert [(each["id"], each["nodes"]) for each in Axe().run(tab).response["violations"]] == []


def test_a_page_without_such_keys_has_no_switch() -> None:
    assert "switch" not in page_of(TWO).partition("<body")[2]
