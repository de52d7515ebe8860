"""Label rooms: how wide each label may be once everything has its column, and the labels that fill these rooms.

Labels are measured before anything has a place, narrow where a lifecycle has many arrows. In the end many stand beside
more room than they asked for, and a label on three lines over a long and empty line reads as a mistake. What is
measured anew here only grows into free room: no column moves, and rows become lower.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from itertools import zip_longest

from arrowproof.model.lifecycle import Arrow, Lifecycle
from arrowproof.render.layout.assembly import Assembly
from arrowproof.render.layout.coordinates import Columns
from arrowproof.render.layout.forms import Form
from arrowproof.render.layout.graph import Edge
from arrowproof.render.layout.grid import Grid
from arrowproof.render.layout.order import Order
from arrowproof.render.layout.sizes import BEAD_ROOM, LABEL_GAP, LEVEL_MARGIN, LabelLimits, LabelSize

_WIDEST = LabelLimits(136, 180)
"""No label is wider than those of a lifecycle with few arrows: a long line is no easier to read than two."""


def with_roomy_labels(
    assembly: Assembly, order: Order, lifecycle: Lifecycle, captions: Mapping[str, str], form: Form
) -> Grid | None:
    """The grid with every label on as few lines as it takes in the room that its column leaves.

    Args:
        assembly: a drawing that is done, whose rows of elements stand in this ``order``.
        lifecycle: what is drawn, with these ``captions`` and in this ``form``.

    Returns:
        None where no label would have fewer lines.
    """
    grid = assembly.grid
    arrow_of = {arrow.id: arrow for arrow in lifecycle.arrows}
    wider: dict[int, Edge] = {}
    for index, room in _rooms(grid, order, assembly.columns):
        edge = grid.graph.edges[index]
        label = None if edge.is_cord else _roomy(arrow_of[edge.arrow], edge.label, room, captions, form)
        if label is not None:
            wider[index] = replace(edge, label=label)
    if not wider:
        return None
    edges = tuple(wider.get(edge.index, edge) for edge in grid.graph.edges)
    levels = {pair: tuple(edges[edge.index] for edge in own) for pair, own in grid.levels.items()}
    return replace(grid, graph=replace(grid.graph, edges=edges), levels=levels)


def _roomy(arrow: Arrow, label: LabelSize, room: float, captions: Mapping[str, str], form: Form) -> LabelSize | None:
    """The label of an arrow on fewer lines, if this room is wide enough for that."""
    if len(label.text.lines) < 2:
        return None
    limits = LabelLimits(min(_WIDEST.whole, room), min(_WIDEST.part, room))
    wider = form.label((arrow,), captions, limits)
    return wider if wider.width <= room and len(wider.text.lines) < len(label.text.lines) else None


def _rooms(grid: Grid, order: Order, columns: Columns) -> Iterator[tuple[int, float]]:
    """(edge index, width) of the room of every label over a level arrow and right of an upright line."""
    for (left, right), edges in grid.levels.items():
        if not {left, right} & grid.corners.keys():
            room = _level_end(grid, columns, right, 0) - _level_end(grid, columns, left, 1)
            yield from ((edge.index, room - LEVEL_MARGIN) for edge in edges)
    for row in order:
        for element, after in zip_longest(row, row[1:]):
            part = grid.elements[element]
            if part.is_label and part.edge is not None:
                end = columns.width if after is None else _left_end(grid, columns, after)
                yield part.edge, end - columns.lines[element] - LABEL_GAP


def _level_end(grid: Grid, columns: Columns, node: int, side: int) -> int:
    """Up to where a label reaches over a level arrow: a mark is so low that it may stand below one."""
    is_state = grid.graph.nodes[node].is_state
    return columns.boxes[node][side if is_state else 1 - side]


def _left_end(grid: Grid, columns: Columns, element: int) -> float:
    """Where what stands left of an element must end."""
    x = columns.boxes[element][0] if element in columns.boxes else columns.lines[element]
    room = BEAD_ROOM if grid.elements[element].is_label else 0
    return x - room - grid.graph.line_gap
