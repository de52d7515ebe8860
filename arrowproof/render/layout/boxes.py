"""Boxes: where the texts of a state stand in its box, and the lines of a label at their place."""

from __future__ import annotations

from dataclasses import replace

from arrowproof.render.drawing import ArrowPath, Box, Point, StateBox, TextLine
from arrowproof.render.layout.sizes import (
    CAPTION_GAP,
    CAPTION_LINE,
    LABEL_LINE,
    NOTE_LINE,
    STATE_LINE,
    TAG_HEIGHT,
    BoxSize,
    LabelSize,
    TextBlock,
)

BASELINE = 0.76
"""Where in its line a text stands: the share of the line height above the baseline."""
_ICON_SHIFT, _ICON_REACH = 10.0, 13.0


def place_state(state_id: str, size: BoxSize, box: Box) -> StateBox:
    """A state whose texts stand in the middle of its box, the sign of its kind left of the first line."""
    center, middle = box.center
    top = middle - (size.label.height(STATE_LINE) + size.note.height(NOTE_LINE)) / 2
    shift = _ICON_SHIFT if size.has_icon else 0.0
    label = place_lines(size.label, center + shift, top, STATE_LINE, "middle")
    note = place_lines(size.note, center, top + size.label.height(STATE_LINE), NOTE_LINE, "middle")
    middle = top + (STATE_LINE + size.label.room) / 2
    icon = (center + shift - size.label.widths[0] / 2 - _ICON_REACH, middle) if size.has_icon else None
    return StateBox(state_id, box, label, note, icon)


def with_label(path: ArrowPath, size: LabelSize, corner: Point, anchor: str) -> ArrowPath:
    """An arrow with its label, whose upper left corner this is; its lines begin there or stand in its middle."""
    if size.is_empty:
        return path
    left, top = corner
    x = left + size.width / 2 if anchor == "middle" or size.is_tag else left
    box = Box(left, top, size.width, size.height)
    if size.is_tag:
        lines = place_lines(size.text, x, top + (TAG_HEIGHT - LABEL_LINE) / 2, LABEL_LINE, "middle")
        return replace(path, label=lines, label_box=box, is_tag=True)
    lines = place_lines(size.text, x, top, LABEL_LINE, anchor)
    caption = place_lines(size.caption, x, top + size.text.height(LABEL_LINE), CAPTION_LINE, anchor)
    if size.is_beside:
        behind = left + size.text.widths[-1] + CAPTION_GAP
        caption = (replace(caption[0], x=behind, baseline=lines[-1].baseline),)
    return replace(path, label=lines, label_box=box, caption=caption[0] if caption else None)


def place_lines(block: TextBlock, x: float, top: float, line: float, anchor: str) -> tuple[TextLine, ...]:
    """The lines of a text below each other from ``top`` on, each ``line`` high where it is in Latin script."""
    return tuple(
        TextLine(text, x, top + (line + block.room) * (number + BASELINE), width, anchor)
        for number, (text, width) in enumerate(zip(block.lines, block.widths, strict=True))
    )
