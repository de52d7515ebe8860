"""Boxes: where the texts of a state stand in its box, and the lines of a label at their place."""

from __future__ import annotations

from arrowproof.render.drawing import Box, StateBox, TextLine
from arrowproof.render.layout.sizes import NOTE_LINE, STATE_LINE, BoxSize, TextBlock

BASELINE = 0.76
"""Where in its line a text stands: the share of the line height above the baseline."""
_ICON_SHIFT, _ICON_REACH = 10.0, 13.0


def place_state(state_id: str, size: BoxSize, box: Box) -> StateBox:
    """A state whose texts stand in the middle of its box, the sign of its kind left of the first line."""
    center, middle = box.center
    top = middle - (STATE_LINE * len(size.label.lines) + NOTE_LINE * len(size.note.lines)) / 2
    shift = _ICON_SHIFT if size.has_icon else 0.0
    label = place_lines(size.label, center + shift, top, STATE_LINE, "middle")
    note = place_lines(size.note, center, top + STATE_LINE * len(size.label.lines), NOTE_LINE, "middle")
    icon = (center + shift - size.label.widths[0] / 2 - _ICON_REACH, top + STATE_LINE / 2) if size.has_icon else None
    return StateBox(state_id, box, label, note, icon)


def place_lines(block: TextBlock, x: float, top: float, line: float, anchor: str) -> tuple[TextLine, ...]:
    """The lines of a text below each other, ``line`` high each, the first one's upper edge at ``top``."""
    return tuple(
        TextLine(text, x, top + line * (number + BASELINE), width, anchor)
        for number, (text, width) in enumerate(zip(block.lines, block.widths, strict=True))
    )
