"""Panel heights: how high what a lifecycle brings along is, in the column, behind folds or in the figure.

All lengths are rem. The numbers are those of ``column.css``.
"""

from __future__ import annotations

from collections.abc import Sequence

from arrowproof.model.lifecycle import Panel
from arrowproof.render.concession import FOLD
from arrowproof.render.ruler import SLACK, Ruler, are_tall
from arrowproof.render.text import text_width

_RULE = 0.97
"""Above the first panel: a rule and the padding below it."""
_GAP = 0.9
_FOLD_GAP, _FOLD_SPACE = 0.35, 1.4
"""Between the lines of folded panels, and between two of them in a line."""
_HEADING = 1.2
_FOLD_LINE = 1.38
"""A line of a title in a fold: the summary around it has a line height of its own, which is more."""
_TITLE, _LINE = 1.3, 1.27
_TALL_LINE = 1.7
"""Of title and lines, where letters of one of them are tall."""


def panels_are_tall(panels: Sequence[Panel]) -> bool:
    """Whether the lines of these panels are higher, since letters in them are."""
    return are_tall(text for panel in panels for text in (panel.title, *panel.lines))


def panel_height(panel: Panel, width: float, is_tall: bool, ruler: Ruler) -> float:
    """The height of one panel, whose lines are higher where it ``is_tall``."""
    title = (_TALL_LINE if is_tall else _TITLE) * ruler.lines(panel.title, width, 0.94, 600)
    lines = (_TALL_LINE if is_tall else _LINE) * sum(ruler.lines(line, width, 0.9) for line in panel.lines)
    return title + lines + 0.9 * 0.35 * len(panel.lines[1:])


def panels_height(panels: Sequence[Panel], width: float, is_folded: bool, ruler: Ruler) -> float:
    """The height of all panels in a column, whole or with their titles alone, which follow each other like words."""
    is_tall = panels_are_tall(panels)
    if is_folded:
        rows = _fold_rows(panels, width, ruler)
        line = _FOLD_LINE + (_TALL_LINE - _TITLE if is_tall else 0.0)
        return _RULE + line * rows + _FOLD_GAP * (rows - 1)
    return _RULE + sum(panel_height(panel, width, is_tall, ruler) for panel in panels) + _GAP * len(panels[1:])


def _fold_rows(panels: Sequence[Panel], width: float, ruler: Ruler) -> int:
    """The lines of the titles; one that is wider than the column stands by itself."""
    rows, free = 0, 0.0
    for panel in panels:
        # A panel without a title goes by its first line.
        title = panel.title or (panel.lines[0] if panel.lines else "")
        need = FOLD + text_width(title, 0.94, 600) / SLACK
        if need > free:
            rows += max(1, ruler.lines(title, width - FOLD, 0.94, 600))
            free = width
        free -= need + _FOLD_SPACE
    return rows


def panels_height_under(panels: Sequence[Panel], width: float, count: int, ruler: Ruler) -> float:
    """The height that panels take under a drawing, in so many columns."""
    each = (width - 2.0 * (count - 1)) / count
    is_tall = panels_are_tall(panels)
    heights = [panel_height(panel, each, is_tall, ruler) for panel in panels]
    lines = [max(heights[start : start + count]) for start in range(0, len(heights), count)]
    return 0.9 + _RULE + sum(lines) + 0.7 * (len(lines) - 1)


def binding_height(
    facts: Sequence[tuple[str, str]], width: float, padding: float, is_folded: bool, ruler: Ruler
) -> float:
    """The height of where a lifecycle is stored, by name and value, with ``padding`` above and below each."""
    if is_folded:
        return _FOLD_LINE
    lines = sum(ruler.lines(value, width - 5.6, 0.84, face="mono") for _, value in facts)
    return _HEADING + 0.25 + 1.3 * lines + len(facts) * (2 * padding + 0.07)
