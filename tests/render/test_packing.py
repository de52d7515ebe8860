"""A page that would weigh too much is packed, and a browser gets from it what it gets from the page as it is."""

from __future__ import annotations

import sys
from collections.abc import Callable
from functools import cache
from io import BytesIO
from pathlib import Path
from random import Random

import pytest
from PIL import Image, ImageChops
from playwright.sync_api import Browser, Page

from arrowproof.model.loader import load_lifecycle
from arrowproof.render import packing as packing_module
from arrowproof.render import page as page_module
from arrowproof.render.assets import asset
from arrowproof.render.packing import MOST_BYTES, MOST_STATES, Load, Packing, is_light, pack, possible_loads, unpack
from arrowproof.render.page import render_page
from tests.render.pages import LIGHT_PAPER, Collector, page_of, paper, ring, show

CASES = Path(__file__).parent / "cases"
RANDOM = Random(7)
TEXTS = {
    "nothing": "",
    "one letter": "a",
    "one letter again and again": "a" * 100_000,
    "words again and again": "the state of the row, and the row of the state. " * 4000,
    "no two alike": "".join(RANDOM.choices([chr(code) for code in range(32, 0x3000)], k=40_000)),
    "far apart": (far := "".join(RANDOM.choices("abcdefgh", k=30_000))) + far,
    "all of Unicode": "状態 حالة स्थिति 👩‍💻 é <script>&\u2028",
}
EXPAND = """([part, packed, size]) => {
  const script = `const root = 0;${part.split("document.addEventListener")[0]};return expand`;
  const bytes = Uint8Array.from(atob(packed), (sign) => sign.charCodeAt(0));
  return new TextDecoder().decode(new Function(script)()(bytes, size));
}"""
"""What the script of a page makes of a packed text."""


@cache
def order(packing: Packing) -> str:
    """The page of a lifecycle of thirty states, packed so."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(page_module, "possible_loads", lambda _: [Load(packing)])
        return render_page(load_lifecycle(CASES / "order-groups.json"))


def weight(page: str) -> int:
    return len(page.encode())


@pytest.mark.parametrize("text", TEXTS.values(), ids=TEXTS.keys())
def test_the_script_of_a_page_unpacks_what_was_packed(browser: Browser, text: str) -> None:
    packed = pack(text)
    assert unpack(packed.text) == text
    tab = browser.new_page()
    assert tab.evaluate(EXPAND, [asset("unpack.js"), packed.text, packed.size]) == text
    tab.close()


def test_what_is_said_again_costs_next_to_nothing_however_far_back_it_was_said() -> None:
    once = "".join(RANDOM.choices("abcdefgh", k=100_000))
    assert len(pack(once + once).text) < 1.01 * len(pack(once).text)


def test_a_python_that_was_built_without_lzma_packs_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "_lzma", None)
    assert render_page(load_lifecycle(CASES / "order-groups.json")) == order(Packing.NOTHING)


def test_a_page_is_packed_no_more_than_it_has_to_be() -> None:
    assert not is_light(order(Packing.NOTHING))
    assert is_light(order(Packing.UNSEEN))
    assert render_page(load_lifecycle(CASES / "order-groups.json")) == order(Packing.UNSEEN)
    agent = render_page(load_lifecycle(CASES / "agent-run.json"))
    assert weight(agent) < MOST_BYTES
    assert 'id="packed"' not in agent
    assert "atob" not in agent


def test_a_page_of_more_than_twelve_states_hides_nothing_from_who_runs_no_script_however_much_it_weighs(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(packing_module, "MOST_BYTES", 1000)  # so that every page weighs too much
    few, many = (page_of(ring(count, count)) for count in (MOST_STATES, MOST_STATES + 1))
    assert "<noscript>" in few
    assert "<noscript>" not in many
    assert 'id="packed"' in many
    assert {"h1", "table", "aside", "svg"} <= {tag for tag, _ in Collector(many).elements}


def test_values_are_cut_short_only_to_keep_the_promise_that_is_made_for_few_states() -> None:
    few, many = (possible_loads(count) for count in (MOST_STATES, MOST_STATES + 1))
    assert few[-1] == Load(Packing.WHOLE, 0)
    assert {load.most_whole for load in many} == {None}


def test_what_is_packed_least_keeps_all_that_is_seen_without_a_script() -> None:
    plain, packed = (Collector(order(each)) for each in (Packing.NOTHING, Packing.UNSEEN))
    hidden = sum("data-scene" in attributes and "hidden" in attributes for _, attributes in plain.elements)
    assert hidden > 30
    assert sum("data-scene" in attributes for _, attributes in packed.elements) == 1
    for tag in ("td", "li", "figcaption", "h1"):
        assert sum(each == tag for each, _ in plain.elements) == sum(each == tag for each, _ in packed.elements)


CONTENT = """() => {
  const paint = (part) => part.outerHTML;
  const blocks = [...document.querySelectorAll("script[type='application/json']")];
  const data = blocks.map((part) => [part.id, part.textContent]);
  const seen = [...document.body.children].filter((part) => !part.matches("script, noscript"));
  return { data, seen: seen.map(paint), drawings: [...document.querySelectorAll(".drawing")].map(paint) };
}"""


FIELD = 8
"""How many pixels of a picture are looked at together, along each side."""
SMOOTHED = 3
"""Of 255: how far apart the same field of two pictures of one page may be.

Chromium draws a page in tiles, several at once. How it smooths an edge or a letter near the end of a tile differs from
one picture to the next: a few pixels at the corner of a box were up to 28 of 255 apart, and no field more than 1.
"""


def difference(one: bytes, other: bytes) -> int:
    """How far apart the same field of two pictures is at most, in the channel in which it is furthest apart."""
    pictures = (Image.open(BytesIO(data)).convert("RGB") for data in (one, other))
    fields = ImageChops.difference(*pictures).reduce(FIELD)
    return max(high for _, high in fields.getextrema())


@pytest.mark.parametrize("packing", [Packing.UNSEEN, Packing.WHOLE])
def test_a_packed_page_is_the_same_page_in_a_browser(tab: Page, tmp_path: Path, packing: Packing) -> None:
    found, names, pictures = [], [], []
    for each in (Packing.NOTHING, packing):
        show(tab, tmp_path, order(each))
        found.append(tab.evaluate(CONTENT))
        names.append(tab.locator("body").aria_snapshot())
        pictures.append(tab.screenshot())
    assert found[0] == found[1]
    assert names[0] == names[1]
    assert difference(*pictures) <= SMOOTHED
    assert len(found[0]["drawings"]) > 30


@pytest.mark.parametrize(
    "part",
    [".drawing .bead", ".drawing .label text", ".drawing .tip", ".crumbs b", ".legend .part", "aside dt"],
)
def test_a_picture_of_a_page_that_lacks_a_part_is_another(tab: Page, tmp_path: Path, part: str) -> None:
    show(tab, tmp_path, order(Packing.UNSEEN))
    whole = tab.screenshot()
    assert difference(whole, tab.screenshot()) <= SMOOTHED
    found = tab.locator(part).locator("visible=true").first
    found.evaluate("(part) => { part.style.visibility = 'hidden'; }")
    assert difference(whole, tab.screenshot()) > SMOOTHED


def test_a_packed_page_opens_where_its_address_leads(tab: Page, tmp_path: Path) -> None:
    show(tab, tmp_path, order(Packing.WHOLE), "#state=picking")
    assert tab.locator(".drawing:not([hidden])").get_attribute("data-fragment") == "#state=picking"


def test_where_no_script_runs_a_wholly_packed_page_says_what_it_is(browser: Browser, tmp_path: Path) -> None:
    context = browser.new_context(java_script_enabled=False)
    tab = context.new_page()
    file = tmp_path / "page.html"
    file.write_text(order(Packing.WHOLE), encoding="utf-8")
    tab.goto(file.as_uri())
    assert "its own script unpacks it" in tab.locator("body").inner_text()
    assert "arrowproof render --format svg" in tab.locator("body").inner_text()
    assert paper(tab) == LIGHT_PAPER
    context.close()


@pytest.mark.parametrize("make", [lambda: order(Packing.UNSEEN), lambda: order(Packing.WHOLE)], ids=["unseen", "whole"])
def test_a_packed_page_asks_for_nothing_and_breaks_no_policy(
    tab: Page, tmp_path: Path, make: Callable[[], str]
) -> None:
    errors: list[str] = []
    requests: list[str] = []
    tab.on("console", lambda message: errors.append(message.text))
    tab.on("pageerror", lambda error: errors.append(str(error)))
    tab.on("request", lambda request: requests.append(request.url))
    show(tab, tmp_path, make())
    assert errors == []
    assert [url for url in requests if not url.startswith("data:")] == [(tmp_path / "page.html").as_uri()]
