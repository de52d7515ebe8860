"""The key: what the numbers in a drawing stand for, a line for each arrow, in the column beside it.

It always finds room: whole labels first, then events alone, then events that end in an ellipsis, and at last as many
lines as there is room for. Whatever a line lacks, the text of an arrow that is chosen is whole. Lengths are rem; the
stylesheet (``key.css``) holds the same.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import accumulate, product
from math import ceil

from arrowproof.render.language import Language
from arrowproof.render.outline import ArrowRow
from arrowproof.render.proof import Proof
from arrowproof.render.ruler import Ruler
from arrowproof.render.stage import Stage
from arrowproof.render.text import clean_text, graphemes

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
_EVENT_LINES = (None, 2, 1)
"""The most lines of an event: any number, else so many."""
_HINT_LINES = 2
"""Of what is said below the lines while no arrow is chosen."""


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
    ``shortened`` are the events that end in an ellipsis, by number, and the last ``left_out`` rows have no room. Where
    there are such rows, others make room for the text of the chosen arrow.
    """

    rows: tuple[KeyRow, ...] = ()
    columns: int = 1
    row: float = 0.0
    is_whole: bool = True
    whole: int = 0
    height: float = 0.0
    shortened: Mapping[int, str] = field(default_factory=dict)
    left_out: int = 0

    def text(self, row: KeyRow) -> str:
        """What a row says of its arrow."""
        return row.label if self.is_whole else self.shortened.get(row.number, row.event)

    @property
    def lacking(self) -> float:
        """How much of the labels has no room: 0 for nothing, 1 for all but the events, 2 for the events as well."""
        if not self.rows or self.is_whole:
            return 0.0
        shown = self.rows[: len(self.rows) - self.left_out]
        return 2.0 - sum(len(self.text(row)) / len(row.event) for row in shown) / len(self.rows)


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
    for setting in _settings(key, width, height, row, ruler):
        if setting.height <= height:
            return setting
        settings.append(setting)
    return min(settings, key=lambda setting: setting.height)


def _settings(key: Key, width: float, height: float, row: float, ruler: Ruler) -> Iterator[Key]:
    """The ways in which a key can stand, the best first."""
    paddings = (row, min(row, _CLOSE))
    for columns, padding in product(_COLUMNS, paddings):
        yield _measured(replace(key, columns=columns, row=padding), width, ruler)
    whole = max(_HINT_LINES, *(ruler.lines(each.label, width, _SIZE) for each in key.rows))
    events = replace(key, is_whole=False, whole=whole)
    for lines, columns in product(_EVENT_LINES, _COLUMNS):
        shortened = _shortened(key, _text_width(width, columns), lines, ruler)
        for padding in paddings:
            setting = replace(events, columns=columns, row=padding, shortened=shortened)
            yield _measured(setting, width, ruler)
    yield _in_part(setting, width, height, ruler)


def _in_part(key: Key, width: float, height: float, ruler: Ruler) -> Key:
    """As many rows of a key with lines set closer as there is room for, and room for a whole label in their place."""
    around = _HEAD + _LINE + _WHOLE_GAP
    row = max(_row_heights(key, width, ruler))
    fitting = int((height - around - _LINE * _HINT_LINES) / row) * key.columns
    shown = max(0, min(fitting, len(key.rows) - 1))
    rows = ceil(shown / key.columns) * row + _LINE * _HINT_LINES
    return replace(key, left_out=len(key.rows) - shown, height=around + max(rows, _LINE * key.whole))


def _measured(key: Key, width: float, ruler: Ruler) -> Key:
    whole = _WHOLE_GAP + _LINE * key.whole if key.whole else 0.0
    return replace(key, height=_HEAD + balanced(_row_heights(key, width, ruler), key.columns) + whole)


def _row_heights(key: Key, width: float, ruler: Ruler) -> list[float]:
    each = _text_width(width, key.columns)
    return [_LINE * max(1, ruler.lines(key_text(key, row), each, _SIZE)) + 2 * key.row + _RULE for row in key.rows]


def _text_width(width: float, columns: int) -> float:
    return (width - _GAP * (columns - 1)) / columns - NUMBER


def key_text(key: Key, row: KeyRow) -> str:
    """A row as it is read, with what a proof says of its arrow."""
    return f"{key.text(row)} {row.standing}".rstrip()


def _shortened(key: Key, width: float, lines: int | None, ruler: Ruler) -> dict[int, str]:
    """The events that take more lines than these, cut at a word, or inside the first one where that is too long."""
    if lines is None:
        return {}

    said = {row.number: _cut(row.event, row.standing, width, lines, ruler) for row in key.rows}
    return {row.number: said[row.number] for row in key.rows if said[row.number] != row.event}


def _cut(event: str, standing: str, width: float, lines: int, ruler: Ruler) -> str:
    def is_long(text: str) -> bool:
        return ruler.lines(f"{text} {standing}".rstrip(), width, _SIZE) > lines

    if not is_long(event):
        return event
    starts = [f"{start} …" for start in accumulate(event.split(" "), "{} {}".format)]
    if is_long(starts[0]):
        starts = [f"{start}…" for start in accumulate(graphemes(event.split(" ")[0]))]
    return starts[max(0, bisect_left(starts, True, key=is_long) - 1)]


def balanced(heights: Sequence[float], columns: int) -> float:
    """The height of rows that flow through columns as a browser balances them."""
    ends = sorted(end for start in range(len(heights)) for end in accumulate(heights[start:]))
    return ends[bisect_left(ends, True, key=lambda most: _columns(heights, most) <= columns)]


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
