"""The bar above the drawing: where the reader is in a large model, the search, the zoom, and the views.

Lengths are rem; the stylesheet (``controls.css``) holds the same.
"""

from __future__ import annotations

from collections.abc import Sequence

from arrowproof.model.record import record
from arrowproof.render.ruler import SLACK, Ruler
from arrowproof.render.text import text_width

TEXT = 0.9
LINE = 1.27
_BUTTON = 1.66
_ROW_GAP = 0.4
_BELOW = 0.9
_VIEWS = 0.62
"""The share of the width that the buttons of the views may take."""
_TOOLS = 13.0 + 1.2 + 9.4 + 1.2 + 4.6 + 1.2
"""The search field, the buttons of the zoom and the menu of the keys, with the gaps before them."""


@record
class Bar:
    """What stands in the bar. ``places`` are the texts that may say where the reader is, one at a time, and without
    them there are no tools; ``views`` are the names on the buttons of the views, and one of ``notes`` stands beside
    these."""

    places: tuple[str, ...] = ()
    views: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()


def bar_height(bar: Bar, width: float, ruler: Ruler) -> float:
    """The height of the bar with the gap below it, 0 when there is none."""
    rows = [_place_height(bar.places, width, ruler)] if bar.places else []
    if bar.views:
        rows.append(_views_height(bar, width, ruler))
    return sum(rows) + _ROW_GAP * (len(rows) - 1) + _BELOW if rows else 0.0


def _place_height(places: Sequence[str], width: float, ruler: Ruler) -> float:
    return max(_BUTTON, LINE * max(ruler.lines(place, width - _TOOLS, TEXT, 600) for place in places))


def _views_height(bar: Bar, width: float, ruler: Ruler) -> float:
    """The rows of buttons, or the longest note."""
    share = width * _VIEWS
    rows, free = 1, share
    for view in bar.views:
        button = min(text_width(view, TEXT) / SLACK + 1.55 + 0.4, share)
        if button > free:
            rows, free = rows + 1, share
        free -= button
    used = share - free if rows == 1 else share
    notes = max((ruler.lines(note, width - used - 1.2, TEXT) for note in bar.notes), default=0)
    return max(rows * _BUTTON + (rows - 1) * _ROW_GAP, notes * LINE)
