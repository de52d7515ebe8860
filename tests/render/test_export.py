from __future__ import annotations

import io
import re
from collections.abc import Callable, Iterator
from pathlib import Path
from xml.etree import ElementTree

import pytest
from PIL import Image
from playwright.sync_api import Browser, Page

from arrowproof import __version__
from arrowproof.model.lifecycle import Arrow, Kind, Lifecycle
from arrowproof.model.loader import load_lifecycle
from arrowproof.render.export import (
    MAX_AREA,
    MAX_SIDE,
    Theme,
    export_svg,
    file_stem,
    is_exported_png,
    is_exported_svg,
    paint_png,
    png_size,
)
from arrowproof.render.layout import layout_lifecycle
from arrowproof.render.palette import DARK, LIGHT
from arrowproof.render.svg import render_svg
from tests.render.pages import BUNDLED, NOTES, SCRIPT, TWO, grid_drawing, state

SVG = "{http://www.w3.org/2000/svg}"
HOSTILE = (
    "<b>&amp;\"'</b>",
    SCRIPT,
    "]]>",
    "\x00\x1b\ud800\ufffe",
    "a\u202eb",
    "😀 保留中 مرحبا",
    "<!--",
    "</desc>",
    "",
)


def svg_of(lifecycle: Lifecycle, theme: Theme | None = None) -> str:
    return export_svg(render_svg(lifecycle, grid_drawing(lifecycle)), theme)


def bundled_svg(theme: Theme | None = None) -> str:
    lifecycle = load_lifecycle(BUNDLED)
    return export_svg(render_svg(lifecycle, layout_lifecycle(lifecycle)), theme)


@pytest.fixture
def page_of_pictures(browser: Browser) -> Iterator[Callable[..., Page]]:
    """Makes an HTML document with pictures in it."""
    page = browser.new_page()

    def fill(*pictures: str) -> Page:
        page.set_content(f"<!doctype html><body>{''.join(pictures)}")
        return page

    yield fill
    page.close()


def rgb(colour: str) -> tuple[int, ...]:
    return tuple(bytes.fromhex(colour.removeprefix("#")))


def seen_as_image(browser: Browser, folder: Path, svg: str, scheme: str) -> Image.Image:
    """What a page of this colour scheme shows of the SVG in an ``img`` element."""
    (folder / "drawing.svg").write_text(svg, encoding="utf-8")
    (folder / "readme.html").write_text("<!doctype html><body style='margin:0'><img src=drawing.svg>", encoding="utf-8")
    context = browser.new_context(viewport={"width": 1000, "height": 700}, color_scheme=scheme)  # type: ignore[arg-type]
    page = context.new_page()
    page.goto((folder / "readme.html").as_uri())
    picture = page.locator("img").screenshot()
    context.close()
    return Image.open(io.BytesIO(picture)).convert("RGB")


def colours(picture: Image.Image) -> set[tuple[int, ...]]:
    return {colour for _, colour in picture.getcolors(picture.width * picture.height)}  # type: ignore[misc]


def test_an_svg_is_a_whole_file_that_asks_for_nothing_and_can_be_pressed_nowhere():
    svg = svg_of(NOTES)
    root = ElementTree.fromstring(svg)
    assert root.tag == f"{SVG}svg"
    assert root.find(f"{SVG}title").text == "Notes: state diagram"
    assert "5 arrows" in root.find(f"{SVG}desc").text
    assert root.get("role") == "group"
    names = {name for each in root.iter() for name in each.attrib}
    assert not names & {"tabindex", "style", "href", "hidden", "aria-pressed"}
    assert not any(name.startswith("on") for name in names)
    assert not any(each.get("role") == "button" for each in root.iter())
    assert {each.tag.removeprefix(SVG) for each in root.iter()} <= {
        *("svg", "title", "desc", "style", "g", "path", "rect", "circle", "text", "polygon")
    }
    style = root.find(f"{SVG}style").text
    assert not re.search(r"url\((?!data:font/woff2;base64,)|@import", style)
    assert svg_of(NOTES) == svg


def test_pictures_in_one_document_share_no_id_and_have_their_names(page_of_pictures):
    page = page_of_pictures(svg_of(NOTES), svg_of(TWO), svg_of(TWO, Theme.DARK))
    assert page.locator("[id]").count() == 0
    tree = page.context.new_cdp_session(page).send("Accessibility.getFullAXTree")["nodes"]
    groups = [node for node in tree if node["role"]["value"] == "group"]
    said = [(node["name"]["value"], node["description"]["value"].partition(".")[0]) for node in groups]
    two = ("Two: state diagram", "2 states and 1 arrow")
    assert said == [("Notes: state diagram", "4 states and 5 arrows"), two, two]


def test_an_svg_stands_on_paper_of_whole_units_around_its_drawing():
    root = ElementTree.fromstring(svg_of(NOTES))
    left, top, width, height = map(int, root.get("viewBox").split())
    assert (root.get("width"), root.get("height")) == (str(width), str(height))
    bounds = grid_drawing(NOTES).bounds
    assert left <= bounds.x - 13
    assert top <= bounds.y - 13
    assert left + width >= bounds.right + 13
    assert top + height >= bounds.bottom + 13
    paper = root.find(f"{SVG}rect")
    assert [paper.get(name) for name in ("class", "x", "y", "width", "height")] == [
        *("paper", str(left), str(top), str(width), str(height))
    ]


def test_an_svg_carries_one_face_even_with_a_passing_state():
    assert svg_of(NOTES).count("@font-face") == 1
    assert svg_of(TWO).count("@font-face") == 1
    assert len(svg_of(TWO)) < 50_000


@pytest.mark.parametrize("text", HOSTILE)
def test_any_label_leaves_an_svg_well_formed(text):
    lifecycle = Lifecycle(
        text,
        text,
        (state("a", Kind.PASSING, text, note=text), state(text or "b", label=text)),
        (Arrow(text or "c", "a", text or "b", text, text, text),),
        summary=text,
    )
    svg = svg_of(lifecycle)
    svg.encode("utf-8")
    root = ElementTree.fromstring(svg)
    assert len(root.findall(f"{SVG}style")) == 1
    assert root.find(f".//{SVG}script") is None


@pytest.mark.parametrize(("scheme", "paper", "ink"), [("light", LIGHT, LIGHT), ("dark", DARK, DARK)])
def test_an_svg_as_an_image_follows_the_scheme_of_its_viewer(browser, tmp_path, scheme, paper, ink):
    picture = seen_as_image(browser, tmp_path, bundled_svg(), scheme)
    assert picture.getpixel((2, 2)) == rgb(paper["paper"])
    assert {rgb(ink["line"]), rgb(ink["success-tint"]), rgb(ink["ink"])} <= colours(picture)


def test_an_svg_made_for_one_theme_stays_in_it(browser, tmp_path):
    assert seen_as_image(browser, tmp_path, bundled_svg(Theme.DARK), "light").getpixel((2, 2)) == rgb(DARK["paper"])
    assert seen_as_image(browser, tmp_path, bundled_svg(Theme.LIGHT), "dark").getpixel((2, 2)) == rgb(LIGHT["paper"])


def test_an_svg_as_an_image_is_set_in_the_fonts_that_it_carries(browser, tmp_path):
    svg = bundled_svg()
    own = seen_as_image(browser, tmp_path, svg, "light")
    without = seen_as_image(browser, tmp_path, svg.replace("@font-face", "@font-none"), "light")
    assert own.size == without.size
    assert own.tobytes() != without.tobytes()


@pytest.mark.parametrize(("theme", "palette"), [(None, LIGHT), (Theme.LIGHT, LIGHT), (Theme.DARK, DARK)])
def test_a_png_is_the_svg_at_two_pixels_to_the_unit(browser, theme, palette):
    svg = bundled_svg(theme)
    png = paint_png(svg, browser)
    with Image.open(io.BytesIO(png)) as picture:
        root = ElementTree.fromstring(svg)
        assert picture.size == (2 * int(root.get("width")), 2 * int(root.get("height")))
        assert picture.mode == "RGB"
        assert picture.info["Software"] == f"Arrowproof {__version__}"
        assert picture.getpixel((3, 3)) == rgb(palette["paper"])
        assert {rgb(palette[token]) for token in ("line", "success-tint", "ink")} <= colours(picture)


def test_the_same_svg_gives_the_same_png(browser):
    svg = svg_of(NOTES)
    assert paint_png(svg, browser) == paint_png(svg, browser)


def test_a_png_of_a_huge_drawing_has_fewer_pixels_to_the_unit():
    assert png_size('<svg viewBox="-16 -16 900 500">') == (1800, 1000)
    assert png_size('<svg viewBox="0 0 20000 400">') == (MAX_SIDE, 327)
    width, height = png_size('<svg viewBox="0 0 9000 6000">')
    assert 0.99 * MAX_AREA < width * height <= MAX_AREA
    assert width / height == pytest.approx(1.5, rel=0.001)


def test_a_picture_of_ours_is_known_by_its_mark_and_no_other_is(browser):
    svg = svg_of(TWO).encode()
    png = paint_png(svg_of(TWO), browser)
    assert is_exported_svg(svg[:4096])
    assert is_exported_png(png[:4096])
    assert not is_exported_svg(
        b'<svg xmlns="http://www.w3.org/2000/svg"><title>data-generator="Arrowproof 1"</title></svg>'
    )
    assert not is_exported_svg(png[:4096])
    written = io.BytesIO()
    Image.new("RGB", (4, 4)).save(written, "PNG")
    assert not is_exported_png(written.getvalue())


def test_a_file_is_named_after_the_lifecycle_with_nothing_that_a_file_system_minds():
    assert file_stem("notes-job") == "notes-job"
    assert file_stem("../a b/c:d") == "a-b-c-d"
    assert file_stem("受注") == "受注"
    assert file_stem("...") == "lifecycle"
    assert len(file_stem("𝐀" * 200).encode()) <= 200
