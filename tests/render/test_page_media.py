"""What the page is for readers who force their colours, want nothing to move, or print it."""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path

from playwright.sync_api import Page

from arrowproof.model.lifecycle import View
from arrowproof.render.assets import TEMPLATES
from tests.render.pages import NOTES, page_of, show

VIEWED = replace(NOTES, views=(View("happy", "Happy path", ("pending", "attempt", "done"), (), "All goes well."),))


def test_what_is_chosen_looks_different_where_colours_are_forced(tab: Page, tmp_path: Path) -> None:
    tab.emulate_media(forced_colors="active")
    show(tab, tmp_path, page_of(VIEWED), "#view=happy&arrow=pick")
    look = """(selector) => {
      const style = getComputedStyle(document.querySelector(selector));
      return [style.color, style.backgroundColor, style.stroke, style.strokeWidth];
    }"""
    for chosen, other in (
        (".views [aria-pressed=true]", ".views [aria-pressed=false]"),
        (".list [aria-pressed=true]", ".list [aria-pressed=false]"),
        (".arrow[aria-pressed=true] .line", ".arrow[aria-pressed=false] .line"),
    ):
        assert tab.evaluate(look, chosen) != tab.evaluate(look, other), chosen
    inner = ".list [aria-pressed=true]"
    assert tab.evaluate(look, f"{inner} i")[0] == tab.evaluate(look, inner)[0]


def test_nothing_moves_by_itself_so_that_nothing_has_to_be_stopped(tab: Page, tmp_path: Path) -> None:
    css = "".join(path.read_text(encoding="utf-8") for path in TEMPLATES.glob("*.css"))
    assert re.findall(r"(?:transition|animation|scroll-behavior)[\w-]*:[^;}]*", css) == []
    scripts = "".join(path.read_text(encoding="utf-8") for path in TEMPLATES.glob("*.js"))
    assert re.findall(r"\.animate\(|startViewTransition|smooth|setInterval", scripts) == []
    show(tab, tmp_path, page_of(VIEWED))
    tab.locator("[data-key=a1]").focus()
    tab.keyboard.press("Enter")
    assert tab.evaluate("document.getAnimations({subtree: true}).length") == 0


def test_a_print_leaves_the_controls_away_and_keeps_what_is_chosen(tab: Page, tmp_path: Path) -> None:
    show(tab, tmp_path, page_of(VIEWED), "#view=happy&arrow=pick")
    tab.emulate_media(media="print")
    visible = (
        "[...document.querySelectorAll('.controls button, .search, .zoom')].filter(each => each.checkVisibility())"
    )
    assert tab.evaluate(f"{visible}.length") == 0
    assert tab.evaluate("document.querySelector('.view-note').checkVisibility()")
    assert tab.locator(".arrow[aria-pressed=true]").count() == 1
    printed = tab.pdf(prefer_css_page_size=True, print_background=True)
    assert len(re.findall(rb"/Type\s*/Page\b", printed)) == 1
