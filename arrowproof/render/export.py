"""Out of the page: a drawing as a picture of its own, SVG or PNG.

The SVG carries what its drawing needs and nothing else: its style with the colours of both themes, the fonts that occur
in it as ``data:`` URLs, and its own paper. As an image in another page it follows the viewer's colour scheme, unless it
was made for one theme. It has no script and asks for nothing. Its title and description belong to it without ids, so
that several pictures can stand in one HTML document. The script of a page (``export.js``) makes the same SVG
out of the same parts, which it finds in the page between two markers; a test holds the two against each other.

A PNG is this SVG as Chromium paints it, two pixels to the unit.
"""

from __future__ import annotations

import base64
import io
import math
import re
from enum import StrEnum
from typing import TYPE_CHECKING

from markupsafe import Markup

from arrowproof import __version__
from arrowproof.errors import MissingEnvironmentError
from arrowproof.render.assets import asset
from arrowproof.render.fonts import font_faces_css
from arrowproof.render.palette import palette_css
from arrowproof.render.svg_element import element

if TYPE_CHECKING:
    from playwright.sync_api import Browser

PADDING = 13
"""Units of paper around a drawing, besides the margin that it has itself."""

PIXELS_PER_UNIT = 2
MAX_SIDE = 16_384
MAX_AREA = 80_000_000
"""A PNG has no more pixels than this to a side and in all; a drawing too large for that gets fewer to the unit."""

STYLE_MARKERS = ("/*drawing:*/", "/*:drawing*/")
"""Stand around the part of a page's style that a picture takes along."""

GENERATOR = "Arrowproof"
_SVG_MARK = re.compile(rb'<svg [^>]*\bdata-generator="' + GENERATOR.encode() + b" ")
_PNG_MARK = b"tEXtSoftware\0" + GENERATOR.encode()
_PNG_SIGNATURE = b"\x89PNG\r\n\x1a\n"

_VIEW_BOX = re.compile(r' viewBox="([^"]*)"')
_REFERENCE = re.compile(r' (?:aria-labelledby|aria-describedby|id)="[^"]*"')

_PAINT = """async ([svg, width, height]) => {
  const image = new Image();
  image.src = `data:image/svg+xml;charset=utf-8,${encodeURIComponent(svg)}`;
  await image.decode();
  const canvas = document.createElement("canvas");
  [canvas.width, canvas.height] = [width, height];
  canvas.getContext("2d").drawImage(image, 0, 0, width, height);
  return canvas.toDataURL("image/png");
}"""


class Theme(StrEnum):
    """The theme that a picture is made for."""

    LIGHT = "light"
    DARK = "dark"


def drawing_css(text: str) -> str:
    """The style that a drawing needs wherever it stands: the font for its text, palette and rules."""
    return f"{font_faces_css({'sans': text})}\n{palette_css()}{asset('drawing.css')}"


def export_svg(drawing: Markup, theme: Theme | None = None) -> str:
    """A drawing as an SVG file, to be written as UTF-8; the same drawing gives the same text.

    Args:
        drawing: the ``svg`` element of :func:`arrowproof.render.svg.render_svg`.
        theme: the theme to stay in; the viewer's own one when left out.
    """
    left, top, width, height = _paper(drawing)
    attributes = f' data-generator="{GENERATOR} {__version__}" viewBox="{left} {top} {width} {height}"'
    attributes += f' width="{width}" height="{height}"' + (f' data-theme="{theme}"' if theme else "")
    style = element("style", {}, drawing_css(drawing))
    paper = element("rect", {"class": "paper", "x": left, "y": top, "width": width, "height": height})
    # No ">" stands in an attribute and no tag in a text, since both were escaped.
    start, end, parts = _VIEW_BOX.sub("", drawing, count=1).partition("</desc>")
    root, _, description = _REFERENCE.sub("", start).partition(">")
    return f"{root}{attributes}>{description}{end}{style}{paper}{parts}\n"


def export_png(svg: str) -> bytes:
    """An SVG of :func:`export_svg` as a PNG file, two pixels to the unit: in its theme, in light when it has none.

    Raises:
        MissingEnvironmentError: there is no Chromium, it does not start, or it cannot paint the picture.
    """
    from arrowproof.render.chromium import open_browser

    with open_browser() as browser:
        return paint_png(svg, browser)


def paint_png(svg: str, browser: Browser) -> bytes:
    """As :func:`export_png`, in a browser that is open.

    Raises:
        MissingEnvironmentError: it cannot paint the picture.
    """
    from playwright.sync_api import Error

    from arrowproof.render.chromium import REMEDY

    try:
        page = browser.new_page(color_scheme="light")
        painted: str = page.evaluate(_PAINT, [svg, *png_size(svg)])
        page.close()
    except Error as error:
        said = error.message.partition("\n")[0]
        raise MissingEnvironmentError(f"Chromium cannot paint the picture: {said}", REMEDY) from error
    return _signed(base64.b64decode(painted.partition(",")[2]))


def png_size(svg: str) -> tuple[int, int]:
    """Width and height in pixels of the PNG of an exported SVG."""
    _, _, width, height = map(float, _view_box(svg))
    scale = min(PIXELS_PER_UNIT, MAX_SIDE / max(width, height), math.sqrt(MAX_AREA / (width * height)))
    return math.floor(width * scale), math.floor(height * scale)


def png_pixels(png: bytes) -> tuple[int, int]:
    """Width and height in pixels that a PNG file says it has."""
    return int.from_bytes(png[16:20]), int.from_bytes(png[20:24])


def is_exported_svg(head: bytes) -> bool:
    """Whether a file starts like an SVG that :func:`export_svg` made."""
    return _SVG_MARK.match(head) is not None


def is_exported_png(head: bytes) -> bool:
    """Whether a file starts like a PNG that :func:`export_png` made."""
    return head.startswith(_PNG_SIGNATURE) and _PNG_MARK in head


def file_stem(model_id: str) -> str:
    """The model's id as a plain file name without a suffix, short enough for every file system."""
    kept = "".join(char if char.isalnum() or char in "-_." else "-" for char in model_id)
    return kept.strip(".-")[:80].encode()[:200].decode(errors="ignore") or "lifecycle"


def _paper(svg: str) -> tuple[int, int, int, int]:
    """Left, top, width and height of the paper around a drawing, in whole units."""
    x, y, width, height = map(float, _view_box(svg))
    left, top = math.floor(x) - PADDING, math.floor(y) - PADDING
    return left, top, math.ceil(x + width) + PADDING - left, math.ceil(y + height) + PADDING - top


def _view_box(svg: str) -> list[str]:
    found = _VIEW_BOX.search(svg)
    assert found is not None, "a drawing without a viewBox"
    return found[1].split(" ")


def _signed(png: bytes) -> bytes:
    """The picture with the name of its maker in it, and without the transparency that it has no use for."""
    from PIL import Image
    from PIL.PngImagePlugin import PngInfo

    made_by = PngInfo()
    made_by.add_text("Software", f"{GENERATOR} {__version__}")
    written = io.BytesIO()
    Image.open(io.BytesIO(png)).convert("RGB").save(written, "PNG", pnginfo=made_by)
    return written.getvalue()
