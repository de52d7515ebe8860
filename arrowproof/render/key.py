"""The key: what the numbers in a drawing stand for, a line for each arrow, in the column beside it.

It always finds room: whole labels first, then events alone, then events that end in an ellipsis, and at last as many
lines as there is room for. Whatever a line lacks, the text of an arrow that is chosen is whole. Lengths are rem; the
stylesheet (``key.css``) holds the same.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import field, replace
from functools import cached_property
from itertools import accumulate, product
from math import ceil

from arrowproof.model.record import record
from arrowproof.render.language import Language
from arrowproof.render.outline import ArrowRow
from arrowproof.render.proof import Proof
from arrowproof.render.ruler import Ruler, are_tall
from arrowproof.render.stage import Stage
from arrowproof.render.text import clean_text, graphemes

NUMBER = 1.9
"""The width of a number."""
SIGN = 1.35
"""The width of the sign of a rung behind it."""
_HEAD = 1.45 + 0.25
"""The heading with the gap below it."""
_SIZE, _LINE = 0.9, 1.27
_TALL_LINE = 1.7
"""Of every line, where letters of a label are tall."""
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


@record
class KeyRow:
    """One arrow: its number in the drawing, its place in the file, what its label says, and its name for people.

    ``event`` is the first part of the label, and ``standing`` what a proof says of it where that needs saying; a page
    says so with the ``sign`` of its rung in this ``tone``.
    """

    number: int
    place: int
    label: str
    event: str
    name: str
    standing: str = ""
    sign: str = ""
    tone: str = ""


@record
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

    @cached_property
    def is_tall(self) -> bool:
        """Whether its lines are higher, since letters of a label are."""
        return are_tall(row.label for row in self.rows)

    @property
    def line(self) -> float:
        """The height of a line."""
        return _TALL_LINE if self.is_tall else _LINE

    @property
    def has_signs(self) -> bool:
        """Whether a sign stands behind each number."""
        return any(row.sign for row in self.rows)

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
        rung = None if proof is None else proof.standing.arrows[arrow.id].rung
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
                sign=rung or "",
                tone="" if rung is None else rung.tone,
            )
        )
    return Key(tuple(rows))


@record
class _Setting:
    """A way in which a key can stand; rows that are not ``is_whole`` have events of at most so many lines."""

    columns: int
    row: float
    is_whole: bool = True
    lines: int | None = None


@record
class KeySettings:
    """The ways in which a key can stand beside a drawing, each measured once, however often a column asks for one."""

    key: Key
    ruler: Ruler
    known: dict[tuple[_Setting, float], Key] = field(default_factory=dict)
    cuts: dict[tuple[float, int | None], Mapping[int, str]] = field(default_factory=dict)

    def fit(self, width: float, height: float, row: float) -> Key:
        """The key as it fits: whole labels before events alone, in few columns and with calm lines first.

        Where nothing fits it is the lowest one.

        Args:
            width: of the column.
            height: that is left in the column.
            row: the padding of a line that is not set closer.
        """
        if not self.key.rows:
            return self.key
        settings = list(_settings(row))
        for setting in settings:
            if self._least(setting) <= height and (key := self._measured(setting, width)).height <= height:
                return key
        part = self._in_part(self._measured(settings[-1], width), width, height)
        if part.height <= height:
            return part
        lower = [self._measured(each, width) for each in settings if self._least(each) < part.height]
        return min((*lower, part), key=lambda key: key.height)

    def _least(self, setting: _Setting) -> float:
        """A height that no key in this setting is below: that of as many lines as it has rows."""
        return _HEAD + ceil(len(self.key.rows) / setting.columns) * (self.key.line + 2 * setting.row + _RULE)

    def _measured(self, setting: _Setting, width: float) -> Key:
        if (setting, width) not in self.known:
            key = replace(self.key, columns=setting.columns, row=setting.row)
            if not setting.is_whole:
                cut = self._shortened(_text_width(key, width), setting.lines)
                key = replace(key, is_whole=False, whole=self._whole(width), shortened=cut)
            around = _WHOLE_GAP + self.key.line * key.whole if key.whole else 0.0
            height = _HEAD + balanced(_row_heights(key, width, self.ruler), key.columns) + around
            self.known[setting, width] = replace(key, height=height)
        return self.known[setting, width]

    def _whole(self, width: float) -> int:
        """The lines of the text of a chosen arrow, or of what stands there before, since a proof has panels."""
        if self.key.has_signs:
            return _HINT_LINES
        return max(_HINT_LINES, *(self.ruler.lines(each.label, width, _SIZE) for each in self.key.rows))

    def _in_part(self, key: Key, width: float, height: float) -> Key:
        """As many rows of a key set closest as there is room for, and room for a whole label in their place."""
        around = _HEAD + self.key.line + _WHOLE_GAP
        row = max(_row_heights(key, width, self.ruler))
        fitting = int((height - around - self.key.line * _HINT_LINES) / row) * key.columns
        shown = max(0, min(fitting, len(key.rows) - 1))
        rows = ceil(shown / key.columns) * row + self.key.line * _HINT_LINES
        return replace(key, left_out=len(key.rows) - shown, height=around + max(rows, self.key.line * key.whole))

    def _shortened(self, width: float, lines: int | None) -> Mapping[int, str]:
        """The events that take more lines than these, cut at a word, or inside the first one where that is too long."""
        if lines is None:
            return {}
        if (width, lines) not in self.cuts:
            rows = self.key.rows
            said = {row.number: _cut(row.event, width, lines, self.ruler) for row in rows}
            self.cuts[width, lines] = {row.number: said[row.number] for row in rows if said[row.number] != row.event}
        return self.cuts[width, lines]


def _settings(row: float) -> Iterator[_Setting]:
    """The ways in which a key can stand, the best first; ``row`` is the padding of a line that is not set closer."""
    paddings = dict.fromkeys((row, min(row, _CLOSE)))
    for columns, padding in product(_COLUMNS, paddings):
        yield _Setting(columns, padding)
    for lines, columns, padding in product(_EVENT_LINES, _COLUMNS, paddings):
        yield _Setting(columns, padding, False, lines)


def _row_heights(key: Key, width: float, ruler: Ruler) -> list[float]:
    each = _text_width(key, width)
    line = key.line
    return [line * max(1, ruler.lines(key.text(row), each, _SIZE)) + 2 * key.row + _RULE for row in key.rows]


def _text_width(key: Key, width: float) -> float:
    """The width of a label in a column."""
    return (width - _GAP * (key.columns - 1)) / key.columns - NUMBER - (SIGN if key.has_signs else 0.0)


def _cut(event: str, width: float, lines: int, ruler: Ruler) -> str:
    def is_long(text: str) -> bool:
        return ruler.lines(text, width, _SIZE) > lines

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
