"""The order of all elements in each row, from left to right, once the order of the nodes is known.

dot finds an order with few crossings; then what stands between two neighbours that a level arrow joins moves out.
"""

from __future__ import annotations

from collections.abc import Sequence

from arrowproof.render.layout.dot import Distance, order_rows
from arrowproof.render.layout.grid import Grid

Order = tuple[tuple[int, ...], ...]
"""Rows of element indexes, each row from left to right."""

_WEIGHTS = (1, 3, 9)
"""A link weighs by how many of its ends are no nodes, which keeps long arrows straight."""


def order_elements(grid: Grid) -> Order:
    """Every row of the grid in its final order. Nodes keep the order of the grid's placement."""
    links = []
    fixed: list[Sequence[int]] = list(grid.node_rows)
    for link in grid.links:
        first, last = grid.elements[link.first], grid.elements[link.last]
        if not link.turns:
            upper, lower = (link.first, link.last) if link.first_above else (link.last, link.first)
            links.append(Distance(upper, lower, 1, _WEIGHTS[(first.node is None) + (last.node is None)]))
        elif first.node is None:
            fixed.append((link.first, link.last) if first.is_label else (link.last, link.first))
    rows = order_rows(grid.rows, links, fixed)
    return tuple(tuple(_join_neighbours(grid, row)) for row in rows)


def _join_neighbours(grid: Grid, row: Sequence[int]) -> list[int]:
    """The row with nothing left between boxes that a level arrow joins: each half moves to the nearer side."""
    order = list(row)
    for left, right in grid.levels:
        if left in order:
            start, end = order.index(left), order.index(right)
            between = order[start + 1 : end]
            half = len(between) // 2
            order[start : end + 1] = [*between[:half], left, right, *between[half:]]
    return order
