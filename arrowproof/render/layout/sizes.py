"""Sizes: the room that states and labels need, and the distances that a drawing keeps.

All lengths are drawing units. Widths are even and all lengths whole, so that centers are whole too: the x coordinates
come from a solver that works in integers.
"""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from dataclasses import replace
from itertools import pairwise

from arrowproof.model.lifecycle import Arrow, Kind, State
from arrowproof.model.record import record
from arrowproof.render.text import clean_text, tallness, text_width
from arrowproof.render.wrap import unbroken_width, wrap_text

STATE_SIZE, STATE_WEIGHT, STATE_LINE = 15, 600, 20
NOTE_SIZE, NOTE_LINE = 14.0, 18
LABEL_SIZE, LABEL_WEIGHT, LABEL_LINE = 13, 450, 16
CAPTION_SIZE, CAPTION_WEIGHT, CAPTION_LINE = 13, 500, 16
TALL_ROOM = (0, 4, 10)
"""So much higher each line is by the steps by which its letters are taller than those of Latin text."""

BOX_PADDING_X, BOX_PADDING_Y = 18, 11
MIN_BOX_WIDTH = 104
LONG_WORD, LONG_PART = 130, 190
"""A word of a label up to the first width is never broken, and a part of one without a joint up to the second."""
MAX_STATE_TEXT, LONG_NAME = 220, 300
"""State labels and notes wider than this are wrapped, but no part of a word without a joint up to the second width."""
ICON_ROOM = 20
"""The sign of the kind and the gap behind it, left of the label's first line."""
MARK_RADIUS = 7

PORT_SPACING = 16
RIM = 14
"""The least distance of a port from the corner of its box."""
SLOT = 12
"""Between two arrows that run level in one channel."""
ARROW_ROOM = 22
"""Between the edge of a box and the first bend of an arrow that points at it."""
LINE_ROOM = 12
"""The same for an arrow that leaves the box, and for labels."""
NODE_GAP, LINE_GAP = 30, 14
BEAD_ROOM, LABEL_GAP = 8, 12
"""A label stands this far right of its line; the bead takes this much left of it."""
LABEL_APART = 20
"""Between the labels of two arrows that stand side by side with no line between: no space between words looks so."""
LEVEL_MARGIN = 18
"""On both sides of the label of a level arrow, so that line and head stay visible."""
LEVEL_OFFSET = 10
"""How far two level arrows between the same boxes stand off the middle."""
LABEL_RISE = 9
"""Between a level arrow and its label."""
LOOP_REACH, LOOP_HEIGHT = 26, 22
ENTRY_GAP = 4
"""Between two labels on a cord, of which one at least has several lines; those of one line stand like lines of text."""
CAPTION_GAP = 10
"""Between a label and a caption behind it."""
TAG_HEIGHT, TAG_PADDING = 18, 5
CORNER_WIDTH, CORNER_DEPTH, CORNER_RISE = 20, 26, 5
"""A self arrow above or below its box: its width and depth, and how far off the box its label stands."""


_WORD_END = re.compile("(?<!/) ")
"""A space, but for one behind the slash of an effect."""


@record
class TextBlock:
    """Lines of one style with their measured widths."""

    lines: tuple[str, ...]
    widths: tuple[float, ...]

    @property
    def width(self) -> float:
        """The widest line."""
        return max(self.widths, default=0.0)

    @property
    def room(self) -> int:
        """How much higher its lines are than those of Latin text."""
        return TALL_ROOM[max(map(tallness, self.lines), default=0)]

    def height(self, line: int) -> int:
        """The height of its lines, each of which is this high in Latin text."""
        return (line + self.room) * len(self.lines)


@record
class BoxSize:
    """A state's box: its size and its texts."""

    width: int
    height: int
    rim: int
    label: TextBlock
    note: TextBlock
    has_icon: bool


@record
class LabelSize:
    """An arrow's label: its size, its lines, and the caption under it (a rung, for example) or behind it.

    ``entries`` are the labels of a cord, below each other. ``is_tag`` says that the text is a number in a frame.
    """

    width: int
    height: int
    text: TextBlock
    caption: TextBlock
    is_beside: bool = False
    is_tag: bool = False
    entries: tuple[LabelSize, ...] = ()

    @property
    def is_empty(self) -> bool:
        """Whether there is nothing to draw."""
        return not self.text.lines and not self.caption.lines and not self.entries

    @property
    def first_line(self) -> float:
        """The middle of the first line below the top, where the bead stands."""
        return (TAG_HEIGHT if self.is_tag else LABEL_LINE + self.text.room) / 2

    @property
    def tops(self) -> tuple[float, ...]:
        """How far below the top each of the entries begins."""
        tops = [0.0]
        for before, entry in pairwise(self.entries):
            tops.append(tops[-1] + before.height + _entry_gap(before, entry))
        return tuple(tops)


def _entry_gap(before: LabelSize, after: LabelSize) -> int:
    return ENTRY_GAP if max(before.height, after.height) > LABEL_LINE else 0


def measure_text(text: str, limit: float, size: float, weight: int = 400) -> TextBlock:
    """The text wrapped at ``limit`` with the width of each line."""
    lines = wrap_text(text, limit, size, weight)
    return TextBlock(lines, tuple(text_width(line, size, weight) for line in lines))


def measure_state(state: State) -> BoxSize:
    """The box of a state, before its arrows ask for more width or its self arrows for more height."""
    is_passing = state.kind is Kind.PASSING
    name = state.label if clean_text(state.label) else state.id
    limit = max(MAX_STATE_TEXT, unbroken_width(name, LONG_NAME, STATE_SIZE, STATE_WEIGHT))
    label = measure_text(name, limit, STATE_SIZE, STATE_WEIGHT)
    note = _measure_note(state.note or "")
    height = even(2 * BOX_PADDING_Y + label.height(STATE_LINE) + note.height(NOTE_LINE))
    text = max(label.width + (0 if is_passing else ICON_ROOM), note.width)
    rounding = height // 2 - BOX_PADDING_X // 2 if is_passing else 0
    width = max(MIN_BOX_WIDTH, even(text + 2 * (BOX_PADDING_X + rounding)))
    rim = max(RIM, round(height * 0.42)) if is_passing else RIM
    return BoxSize(width, height, rim, label, note, has_icon=not is_passing)


def _measure_note(note: str) -> TextBlock:
    """A note. What stands behind its last line feed (the time of a log, for example) has lines of its own."""
    limit = max(MAX_STATE_TEXT, unbroken_width(note, LONG_NAME, NOTE_SIZE))
    blocks = [measure_text(part, limit, NOTE_SIZE) for part in note.rsplit("\n", 1)]
    lines = tuple(line for block in blocks for line in block.lines)
    return TextBlock(lines, tuple(width for block in blocks for width in block.widths))


@record
class LabelLimits:
    """How wide a label may be: the whole on one line, and each of event, guard and effect when they are parted."""

    whole: float
    part: float


def measure_label(arrow: Arrow, caption: str, limits: LabelLimits, is_beside: bool = False) -> LabelSize:
    """The label of an arrow, with its caption on a line of its own, or behind the last line of the text.

    Event, guard and effect start lines of their own when the whole does not fit on one.
    """
    words = [text_width(word, LABEL_SIZE, LABEL_WEIGHT) for word in _WORD_END.split(clean_text(arrow.label))]
    part = unbroken_width(arrow.label, LONG_PART, LABEL_SIZE, LABEL_WEIGHT)
    limit = max([limits.part, part, *(width for width in words if width <= LONG_WORD)])
    whole = measure_text(arrow.label, math.inf, LABEL_SIZE, LABEL_WEIGHT)
    if whole.width > limits.whole:
        parts = [
            arrow.event or "",
            f"[{arrow.guard}]" if arrow.guard else "",
            f"/ {arrow.effect}" if arrow.effect else "",
        ]
        lines = tuple(line for part in parts for line in wrap_text(part, limit, LABEL_SIZE, LABEL_WEIGHT))
        whole = TextBlock(lines, tuple(text_width(line, LABEL_SIZE, LABEL_WEIGHT) for line in lines))
    below = measure_text(caption, math.inf, CAPTION_SIZE, CAPTION_WEIGHT)
    if is_beside and whole.lines and below.lines:
        width = even(max(whole.width, whole.widths[-1] + CAPTION_GAP + below.width))
        return LabelSize(width, whole.height(LABEL_LINE), whole, below, is_beside=True)
    width = even(max(whole.width, below.width))
    return LabelSize(width, whole.height(LABEL_LINE) + below.height(CAPTION_LINE), whole, below)


def measure_tag(number: int | None) -> LabelSize:
    """The number that stands for the label of an arrow, or nothing."""
    if number is None:
        return LabelSize(0, 0, TextBlock((), ()), TextBlock((), ()))
    text = measure_text(str(number), math.inf, LABEL_SIZE, LABEL_WEIGHT)
    width = max(TAG_HEIGHT, even(text.width + 2 * TAG_PADDING))
    return LabelSize(width, TAG_HEIGHT, text, TextBlock((), ()), is_tag=True)


def measure_cord(labels: Sequence[LabelSize]) -> LabelSize:
    """The labels of the arrows on a cord, below each other; one without a text is as high as a line, for its bead."""
    entries = tuple(replace(label, height=max(label.height, LABEL_LINE)) for label in labels)
    width = max(label.width for label in entries)
    none = TextBlock((), ())
    column = LabelSize(width, 0, none, none, entries=entries)
    return replace(column, height=even(column.tops[-1] + entries[-1].height))


def even(length: float) -> int:
    """The smallest even whole number that is not less."""
    return 2 * math.ceil(length / 2 - 1e-9)
