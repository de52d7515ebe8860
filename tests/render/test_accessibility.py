"""What the page is to those who do not see it, or do not point at it: axe-core and the accessibility tree decide."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Literal

import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Page, expect

from arrowproof.model.loader import load_lifecycle
from arrowproof.render.language import LANGUAGES, load_language
from arrowproof.render.page import render_page
from tests.render.pages import BUNDLED, show

CASES = Path(__file__).parent / "cases"
THEMES: tuple[Literal["light", "dark"], ...] = ("light", "dark")


@dataclass(frozen=True)
class Sight:
    """A page, and the addresses at which it is looked at: another one for everything that can be chosen."""

    model: Path
    fragments: tuple[str, ...] = ("",)

    def page(self, language: str) -> str:
        return render_sight(self.model, language)


SIGHTS = {
    "notes": Sight(BUNDLED, ("", "#arrow=retry", "#state=attempt", "#transition=pending:failed")),
    "agent run": Sight(CASES / "agent-run.json", ("", "#arrow=t9", "#state=running")),
    "japanese": Sight(CASES / "japanese.json"),
    "hostile": Sight(CASES / "hostile.json"),
}
"""Extend this with every new thing that a page can hold or show."""


@cache
def render_sight(model: Path, language: str) -> str:
    return render_page(load_lifecycle(model), language=load_language(language))


def findings(tab: Page) -> list[str]:
    """What axe-core has against a page as it stands, by rule and element."""
    found = Axe().run(tab).response["violations"]
    return [f"{each['id']}: {node['html'][:160]}" for each in found for node in each["nodes"]]


@pytest.mark.parametrize("language", LANGUAGES)
@pytest.mark.parametrize("name", SIGHTS)
def test_axe_finds_nothing_in_any_theme_whatever_is_chosen(tab: Page, tmp_path: Path, name: str, language: str) -> None:
    found = {}
    for theme in THEMES:
        tab.emulate_media(color_scheme=theme)
        for fragment in SIGHTS[name].fragments:
            tab.goto("about:blank")
            show(tab, tmp_path, SIGHTS[name].page(language), fragment)
            if said := findings(tab):
                found[theme, fragment] = said
    assert found == {}


def test_axe_would_find_a_control_without_a_name(tab: Page, tmp_path: Path) -> None:
    page = SIGHTS["notes"].page("en").replace("</header>", "<button type=button></button></header>")
    show(tab, tmp_path, page)
    assert [each.split(":")[0] for each in findings(tab)] == ["button-name"]


UNNAMED = """() => [...document.querySelectorAll("button, a[href], input, [tabindex], [role=button]")]
  .filter((each) => each.checkVisibility())
  .flatMap((each) => {
    const tight = (text) => text.replace(/\\s+/g, "");
    const lines = [...each.querySelectorAll("text")].map((text) => text.textContent);
    const seen = each instanceof SVGElement ? lines : [each.innerText];
    const label = each.ariaLabel ?? (each.labels?.[0] ?? each).textContent;
    const isNamed = tight(label) !== "" && seen.every((text) => tight(label).includes(tight(text)));
    return isNamed ? [] : [[label, ...seen]];
  })"""


@pytest.mark.parametrize("language", LANGUAGES)
@pytest.mark.parametrize("name", SIGHTS)
def test_every_control_is_named_by_the_text_that_stands_on_it(
    tab: Page, tmp_path: Path, name: str, language: str
) -> None:
    show(tab, tmp_path, SIGHTS[name].page(language))
    assert tab.evaluate(UNNAMED) == []


FOCUS = """() => {
  const at = document.activeElement;
  const box = at.getBoundingClientRect();
  const halo = at.querySelector(":scope > .halo");
  const isWide = halo !== null && parseFloat(getComputedStyle(halo).strokeWidth) > 6;
  const ring = getComputedStyle(at).outlineStyle !== "none" || isWide;
  const inSight = box.right > 0 && box.bottom > 0 && box.left < innerWidth && box.top < innerHeight;
  const part = at.closest("header, .bar, .draw, aside, .list");
  return [part?.className || part?.localName || at.localName, ring && inSight];
}"""


@pytest.mark.parametrize("name", SIGHTS)
def test_the_tab_key_goes_through_all_parts_in_their_order_with_a_focus_that_is_seen(
    tab: Page, tmp_path: Path, name: str
) -> None:
    show(tab, tmp_path, SIGHTS[name].page("en"))
    count = tab.evaluate("document.querySelectorAll('button:not([hidden]), [tabindex]').length")
    parts: list[str] = []
    for _ in range(min(count, 80)):
        tab.keyboard.press("Tab")
        part, is_seen = tab.evaluate(FOCUS)
        if part == "body":
            break
        assert is_seen, tab.evaluate("document.activeElement.outerHTML")
        if not parts or parts[-1] != part:
            parts.append(part)
    assert parts == [part for part in ("header", "bar", "draw", "list") if part in parts]
    assert {"header", "draw"} <= set(parts)


def test_the_drawing_has_a_title_and_a_description(tab: Page, tmp_path: Path) -> None:
    show(tab, tmp_path, SIGHTS["notes"].page("en"))
    drawing = tab.locator(".drawing").first
    expect(drawing).to_have_role("group")
    expect(drawing).to_have_accessible_name("Note job: state diagram")
    expect(drawing).to_have_accessible_description("5 states and 6 arrows.")


@pytest.mark.parametrize("language", LANGUAGES)
def test_the_arrows_are_a_table_with_headers_for_columns_and_rows(tab: Page, tmp_path: Path, language: str) -> None:
    show(tab, tmp_path, SIGHTS["notes"].page(language))
    texts = load_language(language).texts
    table = tab.get_by_role("table", name=texts["table.caption"].format(title="Note job"))
    columns = table.get_by_role("columnheader").all_text_contents()
    assert columns[:4] == [texts[f"table.{name}"] for name in ("arrow", "from", "to", "label")]
    rows = table.get_by_role("rowheader").all_text_contents()
    assert rows == ["accept", "pick", "due", "succeed", "retry", "exhaust"]
    assert table.get_by_role("cell").count() == len(rows) * (len(columns) - 1)
