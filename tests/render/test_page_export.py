"""What leaves a page, downloaded from it in a real Chromium, beside what the command makes of the same lifecycle."""

from __future__ import annotations

import io
import re
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from xml.etree import ElementTree

import pytest
from PIL import Image, ImageChops
from playwright.sync_api import Browser, Page, expect

from arrowproof import __version__
from arrowproof.model.lifecycle import View
from arrowproof.model.loader import load_lifecycle
from arrowproof.model.mermaid import write_mermaid
from arrowproof.render.assets import TEMPLATES
from arrowproof.render.export import (
    MAX_AREA,
    MAX_SIDE,
    PADDING,
    PIXELS_PER_UNIT,
    Theme,
    export_svg,
    is_exported_png,
    is_exported_svg,
    paint_png,
)
from arrowproof.render.layout import layout_lifecycle
from arrowproof.render.page import render_page
from arrowproof.render.svg import render_svg
from tests.render.pages import BUNDLED, DARK_PAPER, NOTES, SCRIPT, paper, ring, show
from tests.render.tabs import DEADLINE, expect_fragment, resize

LIFECYCLE = replace(load_lifecycle(BUNDLED), views=(View("happy", "Happy", (), ("accept",)),))
DRAWING = layout_lifecycle(LIFECYCLE)
PAGE = render_page(LIFECYCLE, DRAWING)
SVG = render_svg(LIFECYCLE, DRAWING)


@pytest.fixture(params=["light", "dark"])
def themed(browser: Browser, request: pytest.FixtureRequest) -> Iterator[Page]:
    """A tab of someone who prefers this theme."""
    context = browser.new_context(viewport={"width": 1440, "height": 900}, color_scheme=request.param)
    page = context.new_page()
    page.set_default_timeout(DEADLINE)
    yield page
    context.close()


def downloaded(tab: Page, item: str) -> tuple[str, bytes]:
    """The name and the bytes of the file that this item of the menu saves."""
    tab.locator("#export summary").click()
    with tab.expect_download() as download:
        tab.get_by_role("button", name=item, exact=True).click()
    return download.value.suggested_filename, Path(download.value.path()).read_bytes()


def canonical(svg: str) -> str:
    return ElementTree.canonicalize(svg)


def test_the_svg_of_a_page_is_the_svg_of_the_command(themed, tmp_path):
    show(themed, tmp_path, PAGE)
    name, content = downloaded(themed, "SVG, light and dark")
    assert name == "notes-job.svg"
    assert canonical(content.decode()) == canonical(export_svg(SVG))
    expect(themed.locator("#status")).to_have_text("Saved as notes-job.svg.")


def test_page_and_command_bound_a_picture_alike():
    written = re.search(r"exportLimits = \{(.*)\}", (TEMPLATES / "export.js").read_text(encoding="utf-8"))
    limits = {name: int(number) for name, number in re.findall(r"(\w+): (\d+)", written[1])}
    assert limits == {"padding": PADDING, "pixelsPerUnit": PIXELS_PER_UNIT, "side": MAX_SIDE, "area": MAX_AREA}


def test_a_picture_holds_no_trace_of_what_is_chosen_on_the_page(tab, tmp_path):
    show(tab, tmp_path, PAGE, "#view=happy&arrow=retry")
    tab.locator("[data-arrow=accept]").focus()
    tab.evaluate("document.documentElement.dataset.theme = 'dark'")
    _, content = downloaded(tab, "SVG, light and dark")
    assert canonical(content.decode()) == canonical(export_svg(SVG))


@pytest.mark.parametrize("theme", Theme)
def test_the_png_of_a_page_is_in_the_chosen_theme_at_two_pixels_to_the_unit(themed, browser, tmp_path, theme):
    show(themed, tmp_path, PAGE)
    name, content = downloaded(themed, f"PNG, {theme}")
    assert name == f"notes-job.{theme}.png"
    wanted = paint_png(export_svg(SVG, theme), browser)
    with Image.open(io.BytesIO(content)) as got, Image.open(io.BytesIO(wanted)) as made:
        assert got.size == made.size
        assert len(got.convert("L").getcolors()) > 20
        assert ImageChops.difference(got.convert("RGB"), made).getbbox() is None


def test_the_command_knows_a_picture_that_the_page_saved_as_one_of_its_own(tab, tmp_path):
    show(tab, tmp_path, PAGE)
    _, svg = downloaded(tab, "SVG, light and dark")
    _, png = downloaded(tab, "PNG, dark")
    assert is_exported_svg(svg[:4096])
    assert is_exported_png(png[:4096])
    with Image.open(io.BytesIO(png)) as picture:
        picture.verify()
        assert picture.info["Software"] == f"Arrowproof {__version__}"


def test_an_export_breaks_no_policy_and_asks_for_nothing(tab, tmp_path):
    said: list[str] = []
    asked: list[str] = []
    tab.on("console", lambda message: said.append(message.text))
    tab.on("pageerror", lambda error: said.append(str(error)))
    show(tab, tmp_path, PAGE)
    tab.on("request", lambda request: asked.append(request.url.partition(":")[0]))
    for item in ("SVG, light and dark", "PNG, light", "PNG, dark"):
        downloaded(tab, item)
    assert said == []
    assert set(asked) <= {"data", "blob"}


def test_mermaid_is_copied_as_the_command_writes_it(tab, tmp_path):
    show(tab, tmp_path, PAGE)
    tab.evaluate("navigator.clipboard.writeText = async (text) => { window.copied = text; }")
    tab.locator("#export summary").click()
    tab.get_by_role("button", name="Copy as Mermaid").click()
    expect(tab.locator("#status")).to_have_text("Copied.")
    assert tab.evaluate("window.copied") == write_mermaid(LIFECYCLE)


def test_mermaid_that_may_not_be_copied_has_another_way(tab, tmp_path):
    show(tab, tmp_path, PAGE)
    tab.evaluate(
        "() => { navigator.clipboard.writeText = () => Promise.reject(); document.execCommand = () => false; }"
    )
    tab.locator("#export summary").click()
    tab.get_by_role("button", name="Copy as Mermaid").click()
    expect(tab.locator("#status")).to_contain_text("arrowproof render --format mermaid")


def test_a_picture_that_cannot_be_made_is_said_to_be_missing(tab, tmp_path):
    show(tab, tmp_path, PAGE)
    tab.evaluate("() => { HTMLCanvasElement.prototype.toBlob = (done) => done(null); }")
    tab.locator("#export summary").click()
    tab.get_by_role("button", name="PNG, dark").click()
    expect(tab.locator("#status")).to_have_text("This browser could not make the picture.")


def test_any_id_and_title_can_be_exported(tab, tmp_path):
    hostile = replace(NOTES, id=f"../{SCRIPT}", title=SCRIPT, summary="]]>&amp;\x00")
    drawing = layout_lifecycle(hostile)
    show(tab, tmp_path, render_page(hostile, drawing))
    name, content = downloaded(tab, "SVG, light and dark")
    assert "/" not in name
    assert name.endswith(".svg")
    assert canonical(content.decode()) == canonical(export_svg(render_svg(hostile, drawing)))


def test_the_menu_takes_no_room_and_is_walked_and_left_by_keys(tab, tmp_path):
    show(tab, tmp_path, PAGE, "#arrow=retry")
    height = tab.evaluate("document.documentElement.scrollHeight")
    menu, summary = tab.locator("#export"), tab.locator("#export summary")
    items = menu.get_by_role("button")
    summary.focus()
    tab.keyboard.press("Enter")
    assert tab.evaluate("document.documentElement.scrollHeight") == height
    tab.keyboard.press("Tab")
    expect(items.first).to_be_focused()
    tab.keyboard.press("ArrowUp")
    expect(items.last).to_be_focused()
    tab.keyboard.press("ArrowDown")
    expect(items.first).to_be_focused()
    tab.keyboard.press("Escape")
    expect(summary).to_be_focused()
    assert menu.get_attribute("open") is None
    expect_fragment(tab, "#arrow=retry")


def test_the_menu_closes_when_something_else_is_pressed_or_focused(tab, tmp_path):
    show(tab, tmp_path, PAGE)
    menu, summary = tab.locator("#export"), tab.locator("#export summary")
    for leave in (lambda: tab.locator("h1").click(), lambda: tab.locator("#theme").focus()):
        summary.click()
        expect(menu).to_have_attribute("open", "")
        leave()
        expect(menu).not_to_have_attribute("open", "")


def test_the_menu_stands_within_the_screen_in_both_themes(themed, tmp_path):
    show(themed, tmp_path, PAGE)
    for width, height in ((1440, 900), (700, 900), (340, 700)):
        resize(themed, width, height)
        themed.evaluate("document.getElementById('export').open = true")
        box = themed.locator("#export .items").bounding_box()
        assert box is not None
        assert box["x"] >= 0
        assert box["x"] + box["width"] <= width
    colour = themed.locator("#export .items").evaluate("(menu) => getComputedStyle(menu).backgroundColor")
    assert colour == paper(themed)


def test_a_page_without_its_script_shows_no_menu(browser, tmp_path):
    context = browser.new_context(java_script_enabled=False)
    page = context.new_page()
    (tmp_path / "page.html").write_text(PAGE, encoding="utf-8")
    page.goto((tmp_path / "page.html").as_uri())
    expect(page.locator("#export")).to_be_hidden()
    context.close()


def test_a_dark_page_stays_dark_after_a_light_picture(tab, tmp_path):
    show(tab, tmp_path, PAGE)
    tab.emulate_media(color_scheme="dark")
    downloaded(tab, "PNG, light")
    assert paper(tab) == DARK_PAPER


def test_a_scene_of_a_large_lifecycle_is_exported_alone_and_named_after_what_it_shows(tab, tmp_path):
    large = ring(30, 60)
    page = render_page(large)
    show(tab, tmp_path, page, "#state=state_3")
    name, content = downloaded(tab, "SVG, light and dark")
    shown = ElementTree.fromstring(content)
    assert name == "ring.state_3.svg"
    assert shown.get("hidden") is None
    states = {each.get("data-state") for each in shown.iter() if each.get("data-state")}
    assert "state_3" in states
    assert len(states) < 30
