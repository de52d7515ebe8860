from __future__ import annotations

import json
import re
from dataclasses import replace
from pathlib import Path
from urllib.parse import quote

import pytest
from playwright.sync_api import Page, expect

from arrowproof.render.language import load_language
from arrowproof.render.page import render_page
from arrowproof.render.proof_column import proof_column
from arrowproof.render.proof_data import proof_data
from arrowproof.render.proof_heights import fitted_panels
from arrowproof.render.proof_panel import LIMITS
from arrowproof.render.ruler import Ruler
from tests.render.evidence_builder import AGENT_SNEAK_PATHS, build_evidence
from tests.render.pages import (
    FITS,
    MEASURE,
    MODELS,
    NOTES,
    SIZES,
    Collector,
    grid_drawing,
    page_of,
    pressed,
    show,
    unpacked,
)
from tests.render.proofs import PROOFS, agent, hostile, notes, proof_of, proof_page, whole_panels
from tests.render.tabs import expect_fragment, expect_no_fragment, resize

LOOK = (
    """async (hash) => {
  if (hash !== location.hash) {
    const done = new Promise((resolve) => addEventListener('hashchange', resolve, {once: true}));
    location.hash = hash;
    await done;
  }
  const aside = document.querySelector('aside');
  const cut = [...aside.querySelectorAll('*')].filter((each) => each.checkVisibility() && !each.closest('.sr')
    && (each.scrollWidth > each.clientWidth + 1 || each.scrollHeight > each.clientHeight + 2)
    && getComputedStyle(each).overflow !== 'visible');
  const panel = aside.querySelector('.proof');
  return {open: panel?.getAttribute('aria-label') ?? null, cut: cut.map((each) => each.className), ...("""
    + MEASURE
    + ")()};}"
)


def addresses(page: str) -> list[str]:
    """The address of every panel that a page can open: of every transition and sneak path, and of every arrow. A bundle
    opens none, but a group."""
    elements = Collector(unpacked(page)).elements
    rows = [each for tag, each in elements if tag == "button" and "data-arrows" in each]
    arrows = [each["data-arrow"] for _, each in elements if {"data-key", "data-arrow"} <= each.keys()]
    pairs = [f"#transition={quote(row['data-source'] or '')}:{quote(row['data-target'] or '')}" for row in rows]
    return [*pairs, *(f"#arrow={quote(arrow or '', safe='')}" for arrow in arrows)]


@pytest.mark.parametrize("name", ["notes", "agent run"])
def test_every_panel_fits_its_screen_at_every_size_in_either_theme(tab: Page, tmp_path: Path, name: str) -> None:
    page = proof_page(*PROOFS[name]())
    show(tab, tmp_path, page)
    seen = addresses(page)
    assert len(seen) == {"notes": 13 + 13, "agent run": 26 + 26}[name]
    for width, height in SIZES:
        resize(tab, width, height)
        for scheme in ("light", "dark"):
            tab.emulate_media(color_scheme=scheme)  # type: ignore[arg-type]
            for address in seen:
                found = tab.evaluate(LOOK, address)
                assert found.pop("open"), address
                assert found == {"cut": [], **FITS}, (address, width, height, scheme)


def test_a_hostile_panel_fits_too_and_says_how_much_it_leaves_out(tab: Page, tmp_path: Path) -> None:
    page = proof_page(*hostile())
    show(tab, tmp_path, page)
    for address in addresses(page):
        found = tab.evaluate(LOOK, address)
        assert found["open"], address
        # The header and the bar hold what the model says in full; here only the panel is looked at.
        assert (found["right"], found["down"], found["cut"], found["small"]) == (0, 0, [], []), address
    expect(tab.locator("aside .proof")).to_contain_text("more columns")


def test_nothing_in_a_panel_runs(tab: Page, tmp_path: Path) -> None:
    said: list[str] = []
    tab.on("console", lambda message: said.append(message.text))
    tab.on("pageerror", lambda error: said.append(str(error)))
    page = proof_page(*hostile())
    assert "</script></style><script>document" not in unpacked(page)
    show(tab, tmp_path, page)
    for address in addresses(page):
        tab.evaluate(LOOK, address)
    assert tab.title() != "broken"
    assert tab.locator("aside script, aside img, aside style").count() == 0
    assert said == []


DRAWN = """async ([pairs, width]) => {
  const sheet = document.styleSheets[0];
  const rules = ['.proof>div::before{flex:none!important;height:.75rem}', `aside{width:${width}rem}`,
    '.proofs,.proof{flex:none!important}', 'main{align-items:start}'];
  for (const rule of rules) sheet.insertRule(rule, sheet.cssRules.length);
  const rem = parseFloat(getComputedStyle(document.documentElement).fontSize);
  const heights = [];
  for (const pair of pairs) {
    const done = new Promise((resolve) => addEventListener('hashchange', resolve, {once: true}));
    location.hash = `transition=${pair.map(encodeURIComponent).join(':')}`;
    await done;
    heights.push(document.querySelector('.proofs').getBoundingClientRect().height / rem);
  }
  return heights;
}"""
"""How high each panel is in rem where nothing stretches it, in a column of a width in rem."""


@pytest.mark.parametrize("name", PROOFS)
def test_a_panel_is_as_high_as_it_was_planned(tab: Page, tmp_path: Path, name: str) -> None:
    lifecycle, evidence = PROOFS[name]()
    page = proof_page(lifecycle, evidence)
    show(tab, tmp_path, page)
    aside = float(re.findall(r"--aside:([\d.]+)rem", page)[0])
    panels = whole_panels(json.loads(re.findall(r'id="proofs">(.*?)</script>', unpacked(page))[0]))
    column = replace(proof_column(lifecycle, proof_of(lifecycle, evidence), load_language()), heads=())
    drawn = tab.evaluate(DRAWN, [[panel["a"] for panel in panels], aside])
    for make, data, height in zip(column.panels, panels, drawn, strict=True):
        shown = next(
            panel for panel in map(make, LIMITS) if json.loads(json.dumps(proof_data((), [panel])))["panels"] == [data]
        )
        _, planned = fitted_panels(replace(column, panels=(lambda _, shown=shown: shown,)), aside - 2.1, 99.0, Ruler())
        assert height - 0.1 <= planned <= height * 1.07 + 0.1, data["a"]


# --- What it does


def heading(tab: Page) -> str:
    return " ".join(tab.locator(".proofs h2").inner_text().split())


def test_without_a_choice_the_column_says_what_keeps_it_red_and_how_far_each_transition_has_come(
    tab: Page, tmp_path: Path
) -> None:
    show(tab, tmp_path, proof_page(*agent()))
    expect(tab.locator(".reasons h2")).to_have_text("What keeps it red")
    expect(tab.locator(".reasons li").first).to_contain_text("Sneak path cancelled → completed is possible")
    rows = tab.locator(".list button")
    expect(rows.first).to_have_accessible_name("cancelled → completed: sneak path, possible")
    expect(tab.get_by_role("button", name="approval → failed: missing")).to_be_visible()
    expect(tab.locator(".proofs")).to_be_hidden()


def test_a_proven_lifecycle_has_no_reasons_and_shows_walks_and_kills(tab: Page, tmp_path: Path) -> None:
    show(tab, tmp_path, proof_page(*notes()))
    expect(tab.locator(".reasons")).to_have_count(0)
    row = tab.get_by_role("button", name="Pending → Retry wait: survived, walks: 4, kills survived: 2 of 2")
    assert row.inner_text().split("\n")[-2:] == ["4", "2 of 2"]


def test_an_arrow_that_is_one_transition_opens_its_panel_and_keeps_the_focus(tab: Page, tmp_path: Path) -> None:
    show(tab, tmp_path, proof_page(*agent()))
    arrow = tab.locator(".arrow[data-arrow=t23]")
    arrow.focus()
    tab.keyboard.press("Enter")
    expect(arrow).to_be_focused()
    assert heading(tab) == "reviewing → completed"
    expect(tab.locator(".title .sub span")).to_have_text(["review accepted", "t23"])
    expect(tab.locator("#status")).to_have_text("reviewing → completed: survived, walks: 1, kills survived: 2 of 2")
    expect(tab.locator(".overview")).to_be_hidden()


def test_the_panel_shows_statement_row_kills_and_processes(tab: Page, tmp_path: Path) -> None:
    show(tab, tmp_path, proof_page(*agent()), "#arrow=t23")
    panel = tab.get_by_role("region", name="reviewing → completed")
    assert [" ".join(line.split()) for line in panel.locator(".rungs li").all_inner_texts()] == [
        "written sql/review.sql:31",
        "walked 1 time, by worker 5108, 5123",
        "survived 2 of 2 kills",
        "guarded no guard was tried",
    ]
    expect(panel.locator(".sql code b").nth(3)).to_have_text("34")
    selected = panel.locator(".sql").evaluate("sql => (getSelection().selectAllChildren(sql), String(getSelection()))")
    assert "AND state IN" in selected
    assert "34" not in selected
    expect(panel.locator(".sql .target")).to_have_text("'completed'")
    expect(panel.locator(".sql .source")).to_have_text("'reviewing'")
    expect(panel.locator(".sql .wrong")).to_have_text("'cancelled'")
    expect(panel.locator(".bad")).to_have_text("Also makes the sneak path cancelled → completed.")
    expect(panel.get_by_role("row", name="state reviewing completed")).to_have_class("changed")
    expect(panel.locator(".kills p").first).to_contain_text("row stays reviewing")
    expect(panel.locator(".processes li")).to_have_count(2)


def test_an_arrow_over_several_transitions_offers_them_and_opens_the_lowest(tab: Page, tmp_path: Path) -> None:
    lifecycle, evidence = notes()
    weaker = replace(
        evidence,
        transitions=tuple(
            replace(each, walks=()) if (each.source, each.target) == ("retry_wait", "completed") else each
            for each in evidence.transitions
        ),
    )
    show(tab, tmp_path, proof_page(lifecycle, weaker), "#arrow=succeed")
    choices = tab.locator(".ways button")
    expect(choices).to_have_text(["Retry wait → Completed", "Pending → Completed"])
    assert heading(tab) == "Attempt → Completed"
    expect(tab.get_by_role("region", name="Retry wait → Completed: written")).to_be_visible()
    choices.nth(1).focus()
    tab.keyboard.press("Enter")
    expect(choices.nth(1)).to_be_focused()
    expect(choices.nth(1)).to_have_attribute("aria-pressed", "true")
    expect_fragment(tab, "#arrow=succeed&transition=pending:completed")
    assert heading(tab) == "Attempt → Completed"
    expect(tab.get_by_role("region", name="Pending → Completed: survived")).to_be_visible()


def test_a_row_of_the_list_opens_its_panel_and_the_way_back_ends_where_it_began(tab: Page, tmp_path: Path) -> None:
    show(tab, tmp_path, proof_page(*notes()))
    row = tab.get_by_role("button", name="Pending → Failed")
    row.focus()
    tab.keyboard.press("Enter")
    assert heading(tab) == "Pending → Failed"
    expect(tab.locator(".proofs h2")).to_be_focused()
    assert pressed(tab, ".arrow") == ["pick", "exhaust", "set_aside"]
    tab.get_by_role("button", name="All transitions").click()
    expect(row).to_be_focused()
    expect(tab.locator(".proofs")).to_be_hidden()
    expect_no_fragment(tab)
    tab.keyboard.press("Enter")
    tab.keyboard.press("Escape")
    expect(row).to_be_focused()


def test_a_sneak_path_has_a_panel_that_says_the_way_out(tab: Page, tmp_path: Path) -> None:
    show(tab, tmp_path, proof_page(*agent()))
    tab.locator(".arrow[data-sneak]").focus()
    tab.keyboard.press("Enter")
    panel = tab.get_by_role("region", name="cancelled → completed: sneak path, possible")
    expect(panel).to_contain_text("Name the source states in the statement")
    expect(panel.locator(".sql .wrong")).to_have_text("'cancelled'")
    expect(panel.locator(".row, .kills, .processes")).to_have_count(0)


def test_a_tap_beside_the_line_of_an_arrow_opens_its_panel(tab: Page, tmp_path: Path) -> None:
    show(tab, tmp_path, proof_page(*notes()))
    place = tab.evaluate(
        """() => {
          const line = document.querySelector('.arrow[data-arrow=pick] .line');
          const point = line.getPointAtLength(line.getTotalLength() * 0.15);
          const {a, d, e, f} = line.getScreenCTM();
          return [a * point.x + e, d * (point.y + 6) + f];
        }"""
    )
    tab.mouse.click(*place)
    assert heading(tab) == "Pending → Attempt"


@pytest.mark.parametrize("address", ["#transition=no:where", "#arrow=none", "#transition=pending", "#state=pending"])
def test_an_address_without_a_panel_leaves_the_list(tab: Page, tmp_path: Path, address: str) -> None:
    said: list[str] = []
    tab.on("pageerror", lambda error: said.append(str(error)))
    show(tab, tmp_path, proof_page(*notes()), address)
    expect(tab.locator(".overview")).to_be_visible()
    assert said == []


def test_a_page_without_a_proof_marks_a_choice_and_opens_nothing(tab: Page, tmp_path: Path) -> None:
    page = page_of(NOTES)
    assert "proofs" not in page
    show(tab, tmp_path, page, "#arrow=pick")
    expect(tab.locator(".overview")).to_be_visible()


def test_on_a_small_screen_the_panel_stands_under_the_drawing(tab: Page, tmp_path: Path) -> None:
    resize(tab, 420, 800)
    show(tab, tmp_path, proof_page(*agent()), "#arrow=t23")
    measured = tab.evaluate(MEASURE)
    assert (measured["right"], measured["small"], measured["overlapping"]) == (0, [], [])
    tops = tab.evaluate("['.draw', '.proof'].map((name) => document.querySelector(name).getBoundingClientRect().top)")
    assert tops[0] < tops[1]


def test_on_a_small_screen_a_choice_brings_the_panel_into_sight(tab: Page, tmp_path: Path) -> None:
    resize(tab, 420, 800)
    show(tab, tmp_path, proof_page(*agent()))
    tab.locator(".arrow[data-arrow=t1]").focus()
    tab.keyboard.press("Enter")
    expect(tab.locator(".proof .rungs")).to_be_in_viewport(ratio=1)
    expect(tab.locator(".proof h2")).to_be_in_viewport(ratio=1)


def test_a_panel_grows_with_the_screen(tab: Page, tmp_path: Path) -> None:
    show(tab, tmp_path, proof_page(*notes()), "#arrow=retry")
    for width, height in SIZES:
        resize(tab, width, height)
        last = tab.locator(".proof > :last-child > :last-child").bounding_box()
        assert last is not None
        assert last["y"] + last["height"] > 0.86 * height


def test_in_a_list_too_long_for_the_screen_what_does_not_hold_stays(tab: Page, tmp_path: Path) -> None:
    lifecycle = MODELS["more transitions than are listed"]
    evidence = build_evidence(lifecycle, {("state_0", "state_1"): "written"}, sneak_paths=AGENT_SNEAK_PATHS)
    proof = proof_of(lifecycle, evidence)
    show(tab, tmp_path, render_page(lifecycle, grid_drawing(proof.lifecycle), None, proof))
    shown = tab.locator(".list li:not(.sr)")
    expect(shown).to_have_text([re.compile("cancelled → completed"), "state_0 → state_1"])
    tab.locator(".list button").nth(5).evaluate("(row) => row.click()")
    tab.keyboard.press("Escape")
    expect(shown).to_have_count(2)
