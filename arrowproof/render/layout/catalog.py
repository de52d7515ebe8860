"""The catalog: the states of a group side by side, without arrows, for a group too large to be drawn with them.

Each state says how many arrows lead to it and from it; its focus view shows them.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence

from arrowproof.model.lifecycle import State
from arrowproof.render.drawing import Box, Drawing
from arrowproof.render.layout.boxes import place_state
from arrowproof.render.layout.sizes import BoxSize, measure_state
from arrowproof.render.quality import fit_scale

_GAP_X, _GAP_Y = 24.0, 20.0


def catalog_drawing(states: Iterable[State]) -> Drawing:
    """The states in rows of equal boxes, from left to right and from top to bottom, as large as they can be shown."""
    sizes = {state.id: measure_state(state) for state in states}
    if not sizes:
        return Drawing(Box(0, 0, 0, 0), (), ())
    tables = [_table(sizes, columns) for columns in range(1, len(sizes) + 1)]
    return max(tables, key=lambda drawing: fit_scale(drawing.bounds))


def _table(sizes: Mapping[str, BoxSize], columns: int) -> Drawing:
    width = max(size.width for size in sizes.values())
    names = list(sizes)
    rows = [names[start : start + columns] for start in range(0, len(names), columns)]
    y, boxes = 0.0, {}
    for row in rows:
        height = _height(row, sizes)
        for place, name in enumerate(row):
            boxes[name] = Box(place * (width + _GAP_X), y, width, height)
        y += height + _GAP_Y
    across = min(columns, len(names))
    bounds = Box(0, 0, across * (width + _GAP_X) - _GAP_X, y - _GAP_Y)
    return Drawing(bounds, tuple(place_state(name, sizes[name], box) for name, box in boxes.items()), ())


def _height(row: Sequence[str], sizes: Mapping[str, BoxSize]) -> int:
    return math.ceil(max(sizes[name].height for name in row))
