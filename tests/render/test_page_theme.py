from __future__ import annotations

import re
from pathlib import Path
from typing import Literal

import pytest
from playwright.sync_api import Page, expect

from tests.render.pages import DARK_PAPER, LIGHT_PAPER, NOTES, TWO, page_of, paper, show
from tests.render.tabs import reload


@pytest.mark.parametrize(("scheme", "expected"), [("light", LIGHT_PAPER), ("dark", DARK_PAPER)])
def test_the_page_follows_the_reader_s_preference(tab: Page, tmp_path: Path, scheme: str, expected: str) -> None:
    tab.emulate_media(color_scheme=scheme)  # type: ignore[arg-type]
    show(tab, tmp_path, page_of(TWO))
    assert paper(tab) == expected


@pytest.mark.parametrize(("system", "other"), [("dark", "light"), ("light", "dark")])
def test_the_switch_goes_from_auto_to_the_other_theme_to_the_system_s_own_and_back_and_is_remembered(
    tab: Page, tmp_path: Path, system: Literal["dark", "light"], other: Literal["dark", "light"]
) -> None:
    papers = {"light": LIGHT_PAPER, "dark": DARK_PAPER}
    tab.emulate_media(color_scheme=system)
    show(tab, tmp_path, page_of(TWO))
    switch = tab.get_by_role("button", name="Theme")
    for name, seen in (("auto", system), (other, other), (system, system), ("auto", system)):
        expect(switch).to_have_accessible_name(f"Theme: {name}")
        assert paper(tab) == papers[seen]
        reload(tab)
        expect(switch).to_have_accessible_name(f"Theme: {name}")
        assert paper(tab) == papers[seen]
        switch.click()


def test_a_theme_that_is_held_stays_when_the_system_turns_to_the_other(tab: Page, tmp_path: Path) -> None:
    tab.emulate_media(color_scheme="light")
    show(tab, tmp_path, page_of(TWO))
    switch = tab.get_by_role("button", name="Theme")
    switch.click()
    switch.click()
    expect(switch).to_have_accessible_name("Theme: light")
    tab.emulate_media(color_scheme="dark")
    assert paper(tab) == LIGHT_PAPER
    switch.click()
    assert paper(tab) == DARK_PAPER


def test_the_switch_looks_like_a_control(tab: Page, tmp_path: Path) -> None:
    show(tab, tmp_path, page_of(TWO))
    edge = tab.evaluate("getComputedStyle(document.getElementById('theme')).border")
    assert edge == "1px solid rgb(223, 226, 229)"


def test_the_switch_works_where_nothing_can_be_stored(tab: Page, tmp_path: Path) -> None:
    tab.add_init_script("Object.defineProperty(window, 'localStorage', {get() { throw new DOMException('no') }})")
    said: list[str] = []
    tab.on("pageerror", lambda error: said.append(str(error)))
    show(tab, tmp_path, page_of(TWO))
    tab.get_by_role("button", name="Theme").click()
    expect(tab.get_by_role("button", name="Theme")).to_have_accessible_name("Theme: dark")
    assert said == []


def test_a_print_is_light_and_one_landscape_page(tab: Page, tmp_path: Path) -> None:
    tab.emulate_media(color_scheme="dark")
    show(tab, tmp_path, page_of(NOTES))
    tab.evaluate("document.documentElement.dataset.theme = 'dark'")
    printed = tab.pdf(prefer_css_page_size=True, print_background=True)
    assert len(re.findall(rb"/Type\s*/Page\b", printed)) == 1
    tab.emulate_media(media="print")
    assert paper(tab) == LIGHT_PAPER


def test_forced_colours_reach_the_drawing(tab: Page, tmp_path: Path) -> None:
    tab.emulate_media(forced_colors="active")
    show(tab, tmp_path, page_of(NOTES))
    used = tab.evaluate(
        "['.line', '.box'].map(name => getComputedStyle(document.querySelector(name)).stroke)"
        ".concat(getComputedStyle(document.body).color)"
    )
    assert len(set(used)) == 1
