from __future__ import annotations

from dataclasses import replace
from functools import cache
from pathlib import Path

import pytest
from playwright.sync_api import Page, expect

from arrowproof.model.lifecycle import Arrow, Lifecycle, Panel
from arrowproof.render.drawing import Box
from arrowproof.render.language import load_language
from arrowproof.render.page import render_page
from arrowproof.render.proof import bring_proof
from arrowproof.render.ruler import Ruler
from arrowproof.render.transition_groups import BEAD, Row, by_source, groups_height, source_width
from tests.render.evidence_builder import build_evidence
from tests.render.pages import FITS, MEASURE, SIZES, grid_drawing, pressed, show, state
from tests.render.tabs import expect_fragment, resize

NAMES = ("Arranging payment", "Payment settled", "Partially shipped", "Delivered", "Cancelled", "created")
PANELS = tuple(Panel(f"Panel {n}", ("Some words that take their room in the column. " * 3,)) for n in range(4))


def rows(*pairs: tuple[str, str]) -> tuple[Row, ...]:
    return tuple(Row(pair, *pair, "") for pair in pairs)


@cache
def many() -> Lifecycle:
    """Every state leads to every other one: too many transitions for a line each, beside a drawing of full width."""
    states = tuple(state(f"s{n}", label=name) for n, name in enumerate(NAMES))
    arrows = [Arrow(f"{one.id}-{two.id}", one.id, two.id, "go") for one in states for two in states if one.id != two.id]
    return Lifecycle("many", "Many", states, (Arrow("new", None, "s0", "create"), *arrows), panels=PANELS)


def page_of(lifecycle: Lifecycle, is_proven: bool = False, lang: str = "en") -> str:
    if is_proven:
        lifecycle = replace(lifecycle, panels=(*PANELS, Panel("Panel 4", ("It takes room as well. " * 16,))))
    drawing = replace(grid_drawing(lifecycle), bounds=Box(0, 0, 1120 if is_proven else 1040, 640))
    proof = bring_proof(lifecycle, build_evidence(lifecycle), "3ad814f6" * 8) if is_proven else None
    return render_page(lifecycle, drawing, load_language(lang), proof)


def test_the_rows_of_one_source_stand_together_in_the_order_of_the_list() -> None:
    groups = by_source(rows(("a", "b"), ("b", "c"), ("a", "c"), ("", "a")))
    assert [[row.address for row in group] for group in groups] == [
        [("a", "b"), ("a", "c")],
        [("b", "c")],
        [("", "a")],
    ]


def test_sources_that_are_named_alike_stand_apart() -> None:
    one, two = Row(("created", "a"), "created", "a", ""), Row(('"created"', "a"), "created", "a", "")
    assert by_source((one, two)) == ((one,), (two,))


def test_the_sources_never_take_more_than_their_share_of_the_width() -> None:
    assert source_width(rows(("w" * 90, "b")), 20.0) == pytest.approx(8.4)
    assert source_width(rows(("a", "b")), 20.0) < 3


def test_targets_take_as_many_lines_as_their_width_needs() -> None:
    ruler = Ruler()
    one, many = rows(("a", "b")), rows(*(("a", f"{n} target of some length") for n in range(6)))
    assert groups_height(one, 20.0, 0.0, 0.0, ruler) == pytest.approx(1.37)
    assert groups_height(many, 20.0, 0.0, 0.0, ruler) > 3 * 1.3
    assert groups_height(many, 20.0, 0.0, BEAD, ruler) >= groups_height(many, 20.0, 0.0, 0.0, ruler)


@pytest.mark.parametrize(("is_proven", "lang"), [(False, "en"), (False, "ja"), (True, "en")])
def test_transitions_too_many_for_a_line_each_stand_by_their_source_and_fit(
    tab: Page, tmp_path: Path, is_proven: bool, lang: str
) -> None:
    show(tab, tmp_path, page_of(many(), is_proven, lang))
    expect(tab.locator(".grouped > li")).to_have_count(7)
    expect(tab.locator(".grouped button")).to_have_count(31)
    for width, height in SIZES:
        resize(tab, width, height)
        assert tab.evaluate(MEASURE) == FITS, (width, height)


def test_the_height_that_is_planned_is_the_height_that_is_taken(tab: Page, tmp_path: Path) -> None:
    show(tab, tmp_path, page_of(many()))
    taken = "document.querySelector('.grouped').getBoundingClientRect().height / 14"
    width, padding = tab.evaluate(
        """() => {
          const list = document.querySelector('.grouped');
          const rem = (text) => parseFloat(text) / 14;
          return [rem(getComputedStyle(list).width), rem(getComputedStyle(list.querySelector('li')).paddingTop)];
        }"""
    )
    pairs = [(button.get_attribute("aria-label") or "").split(" → ") for button in tab.locator(".grouped button").all()]
    keys = {name: f"s{number}" for number, name in enumerate(NAMES)}
    listed = tuple(
        Row(("created" if n == 0 else keys[one], keys[two]), one, two, "") for n, (one, two) in enumerate(pairs)
    )
    planned = groups_height(listed, width, padding, 0.0, Ruler())
    assert planned - 1.4 <= tab.evaluate(taken) <= planned + 0.1


def test_a_target_is_chosen_by_mouse_and_keyboard_and_named_with_its_source(tab: Page, tmp_path: Path) -> None:
    show(tab, tmp_path, page_of(many()))
    target = tab.get_by_role("button", name="Payment settled → Delivered", exact=True)
    target.click()
    expect_fragment(tab, "#transition=s1:s3")
    tab.mouse.move(0, 0)
    assert pressed(tab, ".arrow") == ["s1-s3"]
    expect(target).to_have_attribute("aria-pressed", "true")
    tab.keyboard.press("Tab")
    tab.keyboard.press("Enter")
    expect_fragment(tab, "#transition=s1:s4")
    assert tab.evaluate("[...document.querySelectorAll('.arrow.lit')].map((arrow) => arrow.dataset.arrow)") == ["s1-s4"]


def test_of_a_proof_every_target_bears_its_bead_and_opens_its_panel(tab: Page, tmp_path: Path) -> None:
    show(tab, tmp_path, page_of(many(), is_proven=True))
    expect(tab.locator(".grouped button svg")).to_have_count(31)
    tab.locator(".grouped button").nth(3).click()
    expect(tab.locator(".proof")).to_be_visible()
    tab.keyboard.press("Escape")
    expect(tab.locator(".grouped")).to_be_visible()


def test_arrows_beside_a_long_name_are_never_broken_and_make_no_row_higher_than_its_name(
    tab: Page, tmp_path: Path
) -> None:
    names = ("Done", *(f"Waiting for the confirmation of the supplier number {n}" for n in (1, 2)))
    states = tuple(state(f"s{n}", label=name) for n, name in enumerate(names))
    arrows = tuple(Arrow(f"a{n}", f"s{n}", f"s{(n + 1) % 3}", "goes on") for n in range(3))
    show(tab, tmp_path, render_page(Lifecycle("long", "Long names", states, (*arrows, Arrow("new", None, "s0", "go")))))
    for width, height in SIZES:
        resize(tab, width, height)
        rows = tab.evaluate("""() => [...document.querySelectorAll('.list button')].map((row) => {
          const [name, path] = [...row.children].map((each) => each.getBoundingClientRect().height);
          const [all, words] = [getComputedStyle(row), getComputedStyle(row.lastElementChild)];
          const padding = parseFloat(all.paddingTop) + parseFloat(all.paddingBottom);
          return [row.getBoundingClientRect().height - padding - name, path / parseFloat(words.lineHeight)];
        })""")
        assert len(rows) == 4
        assert all(abs(beyond) < 0.05 and lines < 1.1 for beyond, lines in rows), (width, rows)
