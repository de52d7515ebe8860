"""The contact sheet: the screenshots of one page in one picture, sizes across and themes down."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from arrowproof.model.record import record
from arrowproof.render.png_file import write_png

if TYPE_CHECKING:
    from PIL.Image import Image

COLUMNS = 4
TILE_WIDTH = 720
CAPTION_HEIGHT = 34
GAP = 16

_PAPER = (226, 229, 232)
_INK = (20, 23, 26)


@record
class Tile:
    """One screenshot, already as small as it will stand on the sheet, and the line above it."""

    caption: str
    picture: Image


def shrink(picture: Image) -> Image:
    """A screenshot in RGB at the width of a tile."""
    from PIL.Image import Resampling

    height = round(picture.height * TILE_WIDTH / picture.width)
    # Pixels are merged first as far as that is exact work, which makes the filter after it three times as fast. The
    # filter is as sharp as the bicubic one where a picture gets smaller, and takes two thirds of its time.
    return picture.resize((TILE_WIDTH, height), Resampling.HAMMING, reducing_gap=1.0)


def write_contact_sheet(tiles: Sequence[Tile], path: Path) -> None:
    """Write tiles as one PNG, :data:`COLUMNS` to a row, in the order given; an empty sheet is not written."""
    from PIL import Image, ImageDraw, ImageFont

    if not tiles:
        return
    rows = [tiles[begin : begin + COLUMNS] for begin in range(0, len(tiles), COLUMNS)]
    heights = [max(tile.picture.height for tile in row) + CAPTION_HEIGHT + GAP for row in rows]
    sheet = Image.new("RGB", (GAP + COLUMNS * (TILE_WIDTH + GAP), GAP + sum(heights)), _PAPER)
    pen, font = ImageDraw.Draw(sheet), ImageFont.load_default(20)
    top = GAP
    for row, height in zip(rows, heights, strict=True):
        for column, tile in enumerate(row):
            left = GAP + column * (TILE_WIDTH + GAP)
            pen.text((left, top + 4), tile.caption, fill=_INK, font=font)
            sheet.paste(tile.picture, (left, top + CAPTION_HEIGHT))
        top += height
    write_png(sheet, path)
