"""How the transitions stand in the list beside the drawing, as a browser sets them."""

from __future__ import annotations

from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page

from tests.render.drawn import page_of_file
from tests.render.pages import ROOT, show
from tests.render.proofs import agent, proof_page

LINES = """() => [...document.querySelectorAll('.list .pair')].filter((pair) => !pair.closest('.sr')).map((pair) => {
  const [source, target] = [...pair.querySelectorAll('bdi')].map((end) => end.getClientRects());
  const arrow = pair.querySelector('i').getBoundingClientRect();
  return {text: pair.innerText, broken: target[0].top > source[0].top + 4, lag: target[0].top - arrow.top};
})"""

GALLERY = ROOT / "examples" / "gallery"


@pytest.mark.parametrize("name", ["spark-application", "prefect-run"])
def test_an_arrow_of_the_list_never_ends_a_line(tab: Page, tmp_path: Path, name: str) -> None:
    show(tab, tmp_path, page_of_file(GALLERY / f"{name}.lifecycle.json"))
    pairs = tab.evaluate(LINES)
    assert any(pair["broken"] for pair in pairs)
    # A name of one long word has no room for an arrow before it.
    assert [
        pair["text"] for pair in pairs if abs(pair["lag"]) > 2 and "AwaitingConcurrencySlot" not in pair["text"]
    ] == []
    assert all(pair["text"].count("\n") == 0 for pair in pairs)


def test_neither_does_one_beside_its_bead(tab: Page, tmp_path: Path) -> None:
    show(tab, tmp_path, proof_page(*agent()))
    pairs = tab.evaluate(LINES)
    assert any(pair["broken"] for pair in pairs)
    assert [pair["text"] for pair in pairs if abs(pair["lag"]) > 2] == []


def test_without_a_script_the_facts_of_the_header_end_where_the_rule_does(browser: Browser, tmp_path: Path) -> None:
    context = browser.new_context(viewport={"width": 1440, "height": 900}, java_script_enabled=False)
    plain = context.new_page()
    file = tmp_path / "page.html"
    file.write_text(page_of_file(GALLERY / "spark-application.lifecycle.json"), encoding="utf-8")
    plain.goto(file.as_uri())
    hash, rule = plain.locator(".run .hash").bounding_box(), plain.locator(".run").bounding_box()
    context.close()
    assert hash is not None
    assert rule is not None
    assert abs(hash["x"] + hash["width"] - rule["x"] - rule["width"]) < 1
