"""Arrows on a cord, on a page: each of them is chosen, linked to, stepped back and said like any other arrow."""

from __future__ import annotations

from dataclasses import replace
from functools import cache
from pathlib import Path
from xml.etree import ElementTree

import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Page

from arrowproof.model.evidence import SneakPath
from arrowproof.model.lifecycle import Arrow, Kind, Lifecycle, View
from arrowproof.render.drawing import Drawing
from arrowproof.render.export import export_svg
from arrowproof.render.layout.candidates import best_drawing
from arrowproof.render.layout.forms import Form
from arrowproof.render.page import render_page
from arrowproof.render.svg import render_svg
from tests.render.evidence_builder import build_evidence
from tests.render.pages import pressed, show, state
from tests.render.proofs import proof_of
from tests.render.tabs import expect_fragment

MODEL = Lifecycle(
    "cord",
    "Cord",
    (state("open", Kind.WAITING), state("held"), state("done", Kind.SUCCESS)),
    (
        Arrow("new", None, "open", "POST"),
        *(Arrow(f"close{number}", "open", "done", f"close {number}") for number in range(5)),
        *(Arrow(f"tick{number}", "open", "open", f"tick {number}") for number in range(4)),
        Arrow("hold", "open", "held", "hold"),
    ),
    views=(View("some", "Some", (), ("close1", "close3")), View("none", "None", (), ("hold",))),
)
SVG = "http://www.w3.org/2000/svg"
CLOSES = [f"close{number}" for number in range(5)]


@cache
def drawing() -> Drawing:
    return best_drawing(MODEL, {}, form=Form(12))


@cache
def cord_page() -> str:
    return render_page(MODEL, drawing())


@pytest.mark.parametrize("arrow", ["close0", "close3", "tick2"])
def test_an_arrow_on_a_cord_is_chosen_by_the_mouse_at_its_label_and_at_its_bead(
    tab: Page, tmp_path: Path, arrow: str
) -> None:
    show(tab, tmp_path, cord_page())
    group = tab.locator(f"[data-arrow={arrow}]")
    for part in (".label text", ".bead"):
        group.locator(part).click(force=True)
        assert pressed(tab, ".arrow") == [arrow]
        expect_fragment(tab, f"#arrow={arrow}")
        tab.keyboard.press("Escape")
        assert pressed(tab, ".arrow") == []


def test_the_arrow_keys_go_along_a_cord_and_enter_chooses(tab: Page, tmp_path: Path) -> None:
    show(tab, tmp_path, cord_page())
    tab.locator("[data-arrow=close0]").focus()
    for _ in range(2):
        tab.keyboard.press("ArrowDown")
    tab.keyboard.press("Enter")
    assert pressed(tab, ".arrow") == ["close2"]


def test_an_address_opens_with_an_arrow_on_a_cord_chosen(tab: Page, tmp_path: Path) -> None:
    show(tab, tmp_path, cord_page(), "#arrow=close4")
    assert pressed(tab, ".arrow") == ["close4"]
    assert len(pressed(tab, ".list button")) == 1


STROKES = "[...document.querySelectorAll('.cord')].map((cord) => getComputedStyle(cord.querySelector('.line')).stroke)"


def test_a_chosen_arrow_lights_its_own_label_and_the_line_of_its_cord_alone(tab: Page, tmp_path: Path) -> None:
    show(tab, tmp_path, cord_page())
    calm = tab.evaluate(STROKES)
    assert len(calm) == 2
    # By its address, since what the keyboard has chosen has the focus too, and is lit for that.
    tab.goto("about:blank")
    show(tab, tmp_path, cord_page(), "#arrow=close1")
    lit = tab.evaluate(STROKES)
    assert lit[0] != calm[0]
    assert lit[1] == calm[1]
    fills = tab.evaluate(
        "[...document.querySelectorAll('.cord')[0].querySelectorAll('.chip')].map(chip => getComputedStyle(chip).fill)"
    )
    assert [number for number, fill in enumerate(fills) if fill != fills[0]] == [1]


def test_a_cord_steps_back_where_a_view_has_none_of_its_arrows_and_each_arrow_by_itself(
    tab: Page, tmp_path: Path
) -> None:
    show(tab, tmp_path, cord_page())
    calm = tab.evaluate(STROKES)[0]
    show(tab, tmp_path, cord_page(), "#view=some")
    aside = tab.locator(".arrow.aside").evaluate_all("all => all.map(each => each.dataset.arrow)")
    assert [arrow for arrow in CLOSES if arrow not in aside] == ["close1", "close3"]
    assert tab.evaluate(STROKES)[0] == calm
    show(tab, tmp_path, cord_page(), "#view=none")
    assert tab.evaluate(STROKES)[0] != calm


def test_every_arrow_on_a_cord_has_its_own_name_and_its_own_row_in_the_table(tab: Page, tmp_path: Path) -> None:
    show(tab, tmp_path, cord_page())
    names = tab.locator(".cord .arrow").evaluate_all("all => all.map(each => each.getAttribute('aria-label'))")
    assert names[:2] == ["open to done: close 0", "open to done: close 1"]
    assert tab.locator("table tbody tr").count() == len(MODEL.arrows)


def test_axe_finds_nothing_on_a_page_with_cords(tab: Page, tmp_path: Path) -> None:
    show(tab, tmp_path, cord_page(), "#arrow=close1")
    found = Axe().run(tab).response["violations"]
    assert [each["id"] for each in found] == []


def test_a_picture_of_a_cord_holds_every_label_and_one_line() -> None:
    picture = ElementTree.fromstring(export_svg(render_svg(MODEL, drawing())))
    texts = {text.text for text in picture.iter(f"{{{SVG}}}text")}
    assert {arrow.event for arrow in MODEL.arrows} <= texts
    cords = [group for group in picture.iter(f"{{{SVG}}}g") if group.get("class") == "cord"]
    assert len(cords) == 2
    heads = [[each.get("class") for each in cord].count("tip") for cord in cords]
    assert heads == [1, 1]


def test_a_cord_with_a_sneak_path_on_it_looks_like_one_which_a_model_that_has_it_by_now_can_make_so() -> None:
    proof = proof_of(MODEL, build_evidence(MODEL, sneak_paths=[SneakPath("open", "done")]))
    drawn = best_drawing(proof.lifecycle, proof.captions, form=Form(12))
    groups = ElementTree.fromstring(render_svg(proof.lifecycle, drawn, None, proof)).iter(f"{{{SVG}}}g")
    cords = [group.get("class") for group in groups if group.get("data-cord") is not None]
    assert cords == ["cord wrong sneak", "cord holds survived"]


def test_with_a_proof_each_arrow_on_a_cord_has_its_own_rung_and_the_line_shows_the_lowest() -> None:
    evidence = build_evidence(MODEL)
    transitions = tuple(
        replace(each, walks=tuple(walk for walk in each.walks if walk.path != ("close4",)))
        for each in evidence.transitions
    )
    proof = proof_of(MODEL, replace(evidence, transitions=transitions))
    drawn = best_drawing(proof.lifecycle, proof.captions, form=Form(12))
    groups = list(ElementTree.fromstring(render_svg(proof.lifecycle, drawn, None, proof)).iter(f"{{{SVG}}}g"))
    found = [group.get("class") for group in groups if group.get("data-arrow") in CLOSES]
    assert found == [*["arrow holds survived"] * 4, "arrow gap written"]
    cords = [group for group in groups if group.get("data-cord") is not None]
    assert [cord.get("class") for cord in cords] == ["cord gap written", "cord holds survived"]
    captions = [text.text for text in cords[0].iter(f"{{{SVG}}}text") if text.get("class") == "caption"]
    assert captions == ["written"]
