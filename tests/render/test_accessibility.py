"""What the page is to those who do not see it, or do not point at it: axe-core and the accessibility tree decide."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Page, expect

from arrowproof.model.evidence import SneakPath
from arrowproof.model.lifecycle import Lifecycle
from arrowproof.model.loader import load_lifecycle
from arrowproof.model.staleness import Difference, DifferenceKind
from arrowproof.model.transitions import Pair
from arrowproof.render.language import LANGUAGES, load_language
from arrowproof.render.page import render_page
from arrowproof.render.proof import bring_proof
from tests.render.drawn import CASES, page_of_file
from tests.render.evidence_builder import AGENT_RUNGS, AGENT_SNEAK_PATHS, build_evidence
from tests.render.pages import BUNDLED, ROOT, show


@dataclass(frozen=True)
class Sight:
    """A page, and the addresses at which it is looked at: another one for everything that can be chosen."""

    model: Path
    fragments: tuple[str, ...] = ("",)
    rungs: Mapping[Pair, str] | None = None
    sneak_paths: tuple[SneakPath, ...] = ()

    @property
    def lifecycle(self) -> Lifecycle:
        return load_lifecycle(self.model)

    def page(self, tag: str) -> str:
        return render_sight(self, tag)

    def __hash__(self) -> int:
        return id(self)


STALE = (Difference(DifferenceKind.CHANGED, "sql/worker.sql"),)
SIGHTS = {
    "notes": Sight(BUNDLED, ("", "#arrow=retry", "#state=attempt", "#transition=pending:failed")),
    "agent run": Sight(CASES / "agent-run.json", ("", "#arrow=t9", "#state=running")),
    "japanese": Sight(CASES / "japanese.json"),
    "hostile": Sight(CASES / "hostile.json"),
    "proof": Sight(BUNDLED, ("", "#arrow=retry", "#transition=pending:failed"), {}),
    "gaps and a sneak path": Sight(
        CASES / "agent-run.json", ("", "#arrow=t2", "#transition=cancelled:completed"), AGENT_RUNGS, AGENT_SNEAK_PATHS
    ),
    "large": Sight(CASES / "order.json", ("", "#state=pay_pending")),
    "groups": Sight(CASES / "order-groups.json", ("", "#group=Payment", "#state=pay_pending")),
    "view": Sight(ROOT / "examples" / "gallery" / "parcel.lifecycle.json", ("", "#view=happy")),
}
"""Extend this with every new thing that a page can hold or show."""


@cache
def render_sight(sight: Sight, tag: str) -> str:
    if sight.rungs is None:
        return page_of_file(sight.model, tag)
    lifecycle, language = sight.lifecycle, load_language(tag)
    evidence = build_evidence(lifecycle, sight.rungs, sneak_paths=sight.sneak_paths)
    return render_page(
        lifecycle, language=language, proof=bring_proof(lifecycle, evidence, "3ad814f6" * 8, STALE, language)
    )


CONTRAST = "color-contrast"
"""The rule that takes axe-core the longest: it looks at what lies behind each text."""


def findings(tab: Page, *rules: str, without: str = "") -> list[str]:
    """What axe-core has against a page as it stands, by rule and element; all rules where none is named."""
    options: dict[str, object] = {"resultTypes": ["violations"]}
    if rules:
        options["runOnly"] = list(rules)
    if without:
        options["rules"] = {without: {"enabled": False}}
    found = Axe().run(tab, options=options).response["violations"]
    return [f"{each['id']}: {node['html'][:160]}" for each in found for node in each["nodes"]]


@pytest.mark.parametrize("name", SIGHTS)
def test_axe_finds_nothing_in_any_theme_whatever_is_chosen(tab: Page, tmp_path: Path, name: str) -> None:
    show(tab, tmp_path, SIGHTS[name].page("en"))
    found = {}
    for fragment in SIGHTS[name].fragments:
        tab.evaluate("fragment => { location.hash = fragment; }", fragment)
        tab.emulate_media(color_scheme="light")
        found["light", fragment] = findings(tab)
        tab.emulate_media(color_scheme="dark")
        found["dark", fragment] = findings(tab, CONTRAST)  # no other rule knows of themes
    assert {sight: said for sight, said in found.items() if said} == {}


@pytest.mark.parametrize("language", [each for each in LANGUAGES if each != "en"])
@pytest.mark.parametrize("name", SIGHTS)
def test_axe_finds_nothing_in_any_other_language(tab: Page, tmp_path: Path, name: str, language: str) -> None:
    show(tab, tmp_path, SIGHTS[name].page(language))
    found = {}
    for fragment in SIGHTS[name].fragments:
        tab.evaluate("fragment => { location.hash = fragment; }", fragment)
        found[fragment] = findings(tab, without=CONTRAST)  # colours are those of every language
    assert {sight: said for sight, said in found.items() if said} == {}


def test_axe_would_find_a_control_without_a_name(tab: Page, tmp_path: Path) -> None:
    page = SIGHTS["notes"].page("en").replace("</header>", "<button type=button></button></header>")
    show(tab, tmp_path, page)
    assert [each.split(":")[0] for each in findings(tab)] == ["button-name"]


UNNAMED = """() => [...document.querySelectorAll("button, a[href], input, [tabindex], [role=button]")]
  .filter((each) => each.checkVisibility())
  .flatMap((each) => {
    const tight = (text) => text.replace(/\\s+/g, "");
    const lines = [...each.querySelectorAll("text")].map((text) => text.textContent);
    const parts = each instanceof SVGElement ? lines : each.innerText.split("\\n");
    const seen = parts.filter((text) => /[\\p{L}\\p{N}]/u.test(text));
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
  return [part?.classList[0] || part?.localName || at.localName, ring && inSight];
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
    assert parts == [part for part in ("header", "bar", "draw", "list", "aside") if part in parts]
    assert {"header", "draw"} <= set(parts)


def test_the_drawing_has_a_title_and_a_description(tab: Page, tmp_path: Path) -> None:
    show(tab, tmp_path, SIGHTS["notes"].page("en"))
    drawing = tab.locator(".drawing").first
    expect(drawing).to_have_role("group")
    expect(drawing).to_have_accessible_name("Note job: state diagram")
    expect(drawing).to_have_accessible_description("6 states and 13 arrows.")


@pytest.mark.parametrize("language", LANGUAGES)
def test_the_arrows_are_a_table_with_headers_for_columns_and_rows(tab: Page, tmp_path: Path, language: str) -> None:
    show(tab, tmp_path, SIGHTS["notes"].page(language))
    texts = load_language(language).texts
    table = tab.get_by_role("table", name=texts["table.caption"].format(title="Note job"))
    columns = table.get_by_role("columnheader").all_text_contents()
    assert columns[:4] == [texts[f"table.{name}"] for name in ("arrow", "from", "to", "label")]
    rows = table.get_by_role("rowheader").all_text_contents()
    assert rows == [arrow.id for arrow in load_lifecycle(BUNDLED).arrows]
    assert len(rows) == 13
    assert table.get_by_role("cell").count() == len(rows) * (len(columns) - 1)


def test_the_table_says_what_a_proof_says_of_every_arrow_and_sneak_path(tab: Page, tmp_path: Path) -> None:
    show(tab, tmp_path, SIGHTS["gaps and a sneak path"].page("en"))
    rows = {
        row[0]: row[1:]
        for row in tab.get_by_role("table", name="Arrows of Agent run").evaluate(
            "table => [...table.rows].map(row => [...row.cells].map(cell => cell.textContent))"
        )
    }
    assert rows["Arrow"][-1] == "Proof"
    assert rows["t13"] == ["needs_approval", "failed", "approval timed out", "missing"]
    assert rows["t16"][-1] == "written"
    assert rows["t1"][-1] == "survived"
    assert [row[:2] + row[-1:] for row in rows.values()][-1] == ["cancelled", "completed", "possible"]
    assert len(rows) == 1 + 25 + 1
