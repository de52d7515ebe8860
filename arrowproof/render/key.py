"""The key: what the numbers in a drawing stand for, a line for each arrow, in the column beside it.

Lengths are rem; the stylesheet (``key.css``) holds the same. A picture of the drawing takes the key along, below it and
in drawing units.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import product
from math import ceil

from markupsafe import Markup

from arrowproof.render.drawing import Box, TextLine
from arrowproof.render.language import Language
from arrowproof.render.outline import ArrowRow
from arrowproof.render.proof import Proof
from arrowproof.render.ruler import Ruler
from arrowproof.render.stage import Stage
from arrowproof.render.svg_element import element, text_element
from arrowproof.render.text import clean_text, text_width
from arrowproof.render.wrap import wrap_text

NUMBER = 1.9
"""The width of a number."""
_HEAD = 1.45 + 0.25
"""The heading with the gap below it."""
_SIZE, _LINE = 0.9, 1.27
_GAP = 1.2
"""Between two columns."""
_RULE = 0.07
_WHOLE_GAP = 0.5
"""Above the text of the arrow that is chosen, where the lines have room for events alone."""
_COLUMNS = (1, 2)
_CLOSE = 0.04
"""The padding of lines that are set closer."""

_TEXT, _TEXT_LINE, _NUMBER_UNITS, _PICTURE_GAP = 13, 17, 26, 26
"""Of the key in a picture, in drawing units: its text, its lines, the width of a number, and the gaps around it."""
_PICTURE_COLUMN = 300


@dataclass(frozen=True)
class KeyRow:
    """One arrow: its number in the drawing, its place in the file, what its label says, and its name for people.

    ``event`` is the first part of the label, and ``standing`` what a proof says of it where that needs saying, in this
    ``tone``.
    """

    number: int
    place: int
    label: str
    event: str
    name: str
    standing: str = ""
    tone: str = ""


@dataclass(frozen=True)
class Key:
    """The rows as they stand in ``columns``, each with padding ``row``; ``height`` is that of all of it.

    Rows that are not ``is_whole`` have events alone, and the text of the chosen arrow has ``whole`` lines below them.
    """

    rows: tuple[KeyRow, ...] = ()
    columns: int = 1
    row: float = 0.0
    is_whole: bool = True
    whole: int = 0
    height: float = 0.0

    def text(self, row: KeyRow) -> str:
        """What a row says of its arrow."""
        return row.label if self.is_whole else row.event


def key_of_stage(stage: Stage, arrows: Sequence[ArrowRow], proof: Proof | None, language: Language) -> Key:
    """The key of a page whose drawing has numbers, without rows for any other one.

    Args:
        stage: of the page.
        arrows: what the page says of each arrow, in the order of the file.
        proof: what keeps an arrow from standing where most do.
        language: of the words between its ends.
    """
    numbered = {path.id for path in stage.scenes[0].drawing.arrows if path.is_tag}
    rows = []
    for place, (arrow, row) in enumerate(zip(stage.lifecycle.arrows, arrows, strict=True)):
        if arrow.id not in numbered:
            continue
        ends = language("drawing.arrow", source=row.source, target=row.target)
        named = language("drawing.arrow_label", ends=ends, label=row.label) if row.label else ends
        name = language("drawing.standing", arrow=named, standing=row.standing) if row.standing else named
        rows.append(
            KeyRow(
                number=place + 1,
                place=place,
                label=row.label or ends,
                event=clean_text(arrow.event or "") or row.label or ends,
                name=language("key.row", number=place + 1, arrow=name),
                standing="" if proof is None else proof.captions.get(arrow.id, ""),
                tone="" if proof is None else proof.standing.arrows[arrow.id].rung.tone,
            )
        )
    return Key(tuple(rows))


def fit_key(key: Key, width: float, height: float, row: float, ruler: Ruler) -> Key:
    """The key as it fits: whole labels before events alone, in few columns and with calm lines first.

    Where nothing fits it is the lowest one.

    Args:
        key: with all its rows.
        width: of the column.
        height: that is left in the column.
        row: the padding of a line that is not set closer.
        ruler: what measures the texts.
    """
    if not key.rows:
        return key
    settings = []
    for is_whole, columns, padding in product((True, False), _COLUMNS, (row, min(row, _CLOSE))):
        whole = 0 if is_whole else max(ruler.lines(each.label, width, _SIZE) for each in key.rows)
        setting = replace(key, columns=columns, row=padding, is_whole=is_whole, whole=whole)
        settings.append(replace(setting, height=_height(setting, width, ruler)))
        if settings[-1].height <= height:
            return settings[-1]
    return min(settings, key=lambda setting: setting.height)


def _height(key: Key, width: float, ruler: Ruler) -> float:
    each = (width - _GAP * (key.columns - 1)) / key.columns - NUMBER
    rows = [_LINE * max(1, ruler.lines(_said(key, row), each, _SIZE)) + 2 * key.row + _RULE for row in key.rows]
    whole = _WHOLE_GAP + _LINE * key.whole if key.whole else 0.0
    return _HEAD + _balanced(rows, key.columns) + whole


def _said(key: Key, row: KeyRow) -> str:
    return f"{key.text(row)} {row.standing}".rstrip()


def _balanced(heights: Sequence[float], columns: int) -> float:
    """The height of rows that flow through columns as a browser balances them."""
    ends = [sum(heights[start:end]) for start in range(len(heights)) for end in range(start + 1, len(heights) + 1)]
    return next(most for most in sorted(ends) if _columns(heights, most) <= columns)


def _columns(heights: Sequence[float], most: float) -> int:
    """How many columns of this height the rows take, more than there are rows when one is higher."""
    if max(heights) > most + 1e-9:
        return len(heights) + 1
    columns, free = 1, most
    for height in heights:
        if height > free + 1e-9:
            columns, free = columns + 1, most
        free -= height
    return columns


def key_picture(key: Key, bounds: Box) -> tuple[Markup, float]:
    """The key below a drawing with these bounds, as one ``g`` in drawing units, and the height that it adds."""
    count = max(1, min(len(key.rows), int(bounds.width // _PICTURE_COLUMN)))
    width = bounds.width / count
    texts = [wrap_text(_said(key, row), width - _NUMBER_UNITS - _PICTURE_GAP, _TEXT, 400) for row in key.rows]
    each = ceil(len(key.rows) / count)
    parts: list[Markup] = []
    lowest = top = bounds.bottom + _PICTURE_GAP
    for start in range(0, len(key.rows), each):
        x, y = bounds.x + width * (start // each), top
        for row, lines in zip(key.rows[start : start + each], texts[start : start + each], strict=True):
            parts.append(_line(str(row.number), x, y, "number"))
            for line in lines or ("",):
                parts.append(_line(line, x + _NUMBER_UNITS, y, None))
                y += _TEXT_LINE
        lowest = max(lowest, y)
    return element("g", {"class": "key"}, *parts), lowest - bounds.bottom


def _line(text: str, x: float, top: float, css: str | None) -> Markup:
    return text_element(TextLine(text, x, top + _TEXT, text_width(text, _TEXT)), "sans", css)
