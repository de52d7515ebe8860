"""The key of a picture: what the numbers in a drawing stand for, below it and in drawing units.

A picture has room of its own, so that every label stands there whole. Where they are many or long it grows to both
sides, rather than to a strip.
"""

from __future__ import annotations

from markupsafe import Markup

from arrowproof.model.record import record
from arrowproof.render.drawing import Box, TextLine
from arrowproof.render.key import Key, KeyRow, balanced
from arrowproof.render.layout.sizes import TALL_ROOM
from arrowproof.render.svg_element import element, text_element
from arrowproof.render.text import tallness, text_width
from arrowproof.render.wrap import wrap_text

_TEXT, _LINE, _NUMBER, _GAP = 13, 17, 26, 26
"""The text, its lines, the width of a number, and the gaps around the columns."""
_COLUMN = 320
"""The least width of a column with the gap behind it, unless the drawing is narrower."""
_MOST_COLUMNS = 8
_TALLEST = 1.0
"""The height of a picture as a share of its width up to which no further column is added."""


@record
class KeyPicture:
    """The key as one ``g``; ``height`` is what it adds below a drawing, ``wider`` what it adds to its width in all."""

    content: Markup
    height: float
    wider: int


def key_picture(key: Key, bounds: Box) -> KeyPicture:
    """The key below a drawing with these bounds, in the middle."""
    room = TALL_ROOM[max(tallness(_said(row)) for row in key.rows)]
    line_height = _LINE + room
    fewest = max(1, min(len(key.rows), int(bounds.width // _COLUMN)))
    for count in range(fewest, max(fewest, min(len(key.rows), _MOST_COLUMNS)) + 1):
        width = max(bounds.width, count * _COLUMN if count > fewest else 0)
        texts = [wrap_text(_said(row), width / count - _NUMBER - _GAP, _TEXT) or ("",) for row in key.rows]
        height = balanced([float(line_height * len(lines)) for lines in texts], count)
        if bounds.height + _GAP + height <= _TALLEST * width:
            break
    wider = 2 * int((width - bounds.width + 1) // 2)
    x, top = bounds.x - wider / 2, bounds.bottom + _GAP
    parts: list[Markup] = []
    y = top
    for row, lines in zip(key.rows, texts, strict=True):
        if y + line_height * len(lines) > top + height + 1e-6:
            x, y = x + width / count, top
        parts.append(_line(str(row.number), x, y + room / 2, "number"))
        for line in lines:
            parts.append(_line(line, x + _NUMBER, y + room / 2, None))
            y += line_height
    return KeyPicture(element("g", {"class": "key"}, *parts), _GAP + height, wider)


def _said(row: KeyRow) -> str:
    return f"{row.label} {row.standing}".rstrip()


def _line(text: str, x: float, top: float, css: str | None) -> Markup:
    return text_element(TextLine(text, x, top + _TEXT, text_width(text, _TEXT)), "sans", css)
