"""What the page is for readers who force their colours, want nothing to move, or print it."""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path

from playwright.sync_api import Page

from arrowproof.model.lifecycle import View
from arrowproof.model.loader import load_lifecycle
from arrowproof.render.assets import TEMPLATES
from arrowproof.render.page import render_page
from arrowproof.render.proof import bring_proof
from tests.render.evidence_builder import AGENT_RUNGS, AGENT_SNEAK_PATHS, build_evidence
from tests.render.pages import NOTES, page_of, show

AGENT = load_lifecycle(Path(__file__).parent / "cases" / "agent-run.json")
EVIDENCE = build_evidence(AGENT, AGENT_RUNGS, sneak_paths=AGENT_SNEAK_PATHS)
PROVEN = render_page(AGENT, proof=bring_proof(AGENT, EVIDENCE, "3ad814f6" * 8))
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


def test_gaps_and_sneak_paths_look_different_where_colours_are_forced(tab: Page, tmp_path: Path) -> None:
    tab.emulate_media(forced_colors="active")
    show(tab, tmp_path, PROVEN)
    look = """(id) => {
      const arrow = document.querySelector(`[data-arrow="${id}"]`);
      const style = getComputedStyle(arrow.querySelector(".line"));
      return [style.strokeDasharray, style.strokeWidth, arrow.querySelector(".bead").innerHTML];
    }"""
    looks = {id: tab.evaluate(look, id) for id in ("t13", "t16", "t2", "t1")}  # missing, written, walked, survived
    sneak = tab.evaluate(look, tab.locator("[data-sneak]").first.get_attribute("data-arrow"))
    lines = [tuple(found[:2]) for found in (looks["t13"], looks["t16"], looks["t1"], sneak)]
    assert len(set(lines)) == 4
    assert len({found[2] for found in (*looks.values(), sneak)}) == 5


def test_a_page_with_a_proof_prints_on_one_page_with_the_panel_of_what_is_chosen(tab: Page, tmp_path: Path) -> None:
    for fragment in ("", "#arrow=t1"):
        tab.goto("about:blank")
        show(tab, tmp_path, PROVEN, fragment)
        printed = tab.pdf(prefer_css_page_size=True, print_background=True)
        assert len(re.findall(rb"/Type\s*/Page\b", printed)) == 1, fragment
    tab.emulate_media(media="print")
    assert tab.locator(".proofs").is_visible()
    assert not tab.locator(".proofs .back").is_visible()


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
