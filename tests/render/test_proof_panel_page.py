from __future__ import annotations

import json
import re
from dataclasses import replace
from pathlib import Path
from urllib.parse import quote

import pytest
from playwright.sync_api import Page, expect

from arrowproof.render.language import load_language
from arrowproof.render.proof_column import proof_column
from arrowproof.render.proof_data import proof_data
from arrowproof.render.proof_heights import fitted_panels
from arrowproof.render.proof_panel import LIMITS
from arrowproof.render.ruler import Ruler
from tests.render.pages import FITS, MEASURE, NOTES, SIZES, Collector, page_of, pressed, show
from tests.render.proofs import PROOFS, agent, hostile, notes, proof_of, proof_page

LARGEST, SMALLEST = SIZES[-1], SIZES[0]

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
    """The address of every panel that a page can open: of every transition and sneak path, and of every arrow."""
    elements = Collector(page).elements
    rows = [each for tag, each in elements if tag == "button" and "data-arrows" in each]
    arrows = [each["data-arrow"] for tag, each in elements if tag == "g" and "data-arrow" in each]
    pairs = [f"#transition={quote(row['data-source'] or '')}:{quote(row['data-target'] or '')}" for row in rows]
    return [*pairs, *(f"#arrow={quote(arrow or '', safe='')}" for arrow in arrows)]


@pytest.mark.parametrize("name", ["notes", "agent run"])
def test_every_panel_fits_its_screen_at_every_size_in_either_theme(tab: Page, tmp_path: Path, name: str) -> None:
    page = proof_page(*PROOFS[name]())
    show(tab, tmp_path, page)
    seen = addresses(page)
    assert len(seen) == {"notes": 7 + 6, "agent run": 26 + 26}[name]
    for width, height in SIZES:
        tab.set_viewport_size({"width": width, "height": height})
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
    assert "</script></style><script>document" not in page
    show(tab, tmp_path, page)
    for address in addresses(page):
        tab.evaluate(LOOK, address)
    assert tab.title() != "broken"
    assert tab.locator("aside script, aside img, aside style").count() == 1  # the data beside the panel
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
    panels = json.loads(re.findall(r'id="proofs">(.*?)</script>', page)[0])["panels"]
    column = replace(proof_column(lifecycle, proof_of(lifecycle, evidence), load_language()), heads=())
    drawn = tab.evaluate(DRAWN, [[panel["a"] for panel in panels], aside])
    for make, data, height in zip(column.panels, panels, drawn, strict=True):
        shown = next(
            panel for panel in map(make, LIMITS) if json.loads(json.dumps(proof_data((), [panel])))["panels"] == [data]
        )
        _, planned = fitted_panels(replace(column, panels=(lambda _, shown=shown: shown,)), aside - 2.1, 99.0, Ruler())
        assert height - 0.1 <= planned <= height * 1.07 + 0.1, data["a"]
