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
    return tuple(tuple(_join_neighbours(grid, _with_nodes_in_order(grid, row))) for row in rows)


def _with_nodes_in_order(grid: Grid, row: Sequence[int]) -> list[int]:
    """The row with its nodes in the order of the placement: dot takes that order as a wish, and sometimes breaks it."""
    nodes = [element for element in row if grid.elements[element].node is not None]
    if not nodes:
        return list(row)
    placed = iter(next(row for row in grid.node_rows if row[0] in nodes))
    return [next(placed) if grid.elements[element].node is not None else element for element in row]


def _join_neighbours(grid: Grid, row: Sequence[int]) -> list[int]:
    """The row with nothing left between boxes that level arrows join: lines in between move to the nearer end."""
    order = list(row)
    nodes = [element for element in row if grid.elements[element].node is not None]
    for group in _joined_groups(grid, nodes):
        start, end = order.index(group[0]), order.index(group[-1])
        lines = [element for element in order[start:end] if grid.elements[element].node is None]
        half = sum(order.index(line) - start < end - order.index(line) for line in lines)
        order[start : end + 1] = [*lines[:half], *group, *lines[half:]]
    return order


def _joined_groups(grid: Grid, nodes: Sequence[int]) -> list[list[int]]:
    groups: list[list[int]] = []
    for node in nodes:
        if groups and (groups[-1][-1], node) in grid.levels:
            groups[-1].append(node)
        else:
            groups.append([node])
    return groups
