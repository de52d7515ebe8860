"""The direction of a placement: whether the main path reads from left to right and from top to bottom.

And of its drawing: whether that path is straight.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

from arrowproof.render.drawing import Drawing
from arrowproof.render.layout.graph import Graph

_MAIN_LEFTWARDS, _MAIN_UPWARDS, _MAIN_TURN, _MAIN_DOWNWARDS, _MAIN_LOW = 5.0, 7.0, 1.0, 0.3, 0.15
_FAILURE_HIGH = 0.25
"""A failure that stands above the end of the main path."""


def direction_cost(graph: Graph, rows: Sequence[Sequence[int]]) -> float:
    """What the main path costs: best is one level line from left to right, next one line downwards.

    Arrows that lead to the left or upwards cost most, then turns, then arrows that lead downwards and a path that
    starts further down than it must.
    """
    row_of = [-1] * len(graph.nodes)
    for number, row in enumerate(rows):
        for node in row:
            row_of[node] = number
    return path_cost(graph, rows, row_of)


def path_cost(graph: Graph, rows: Sequence[Sequence[int]], row_of: Sequence[int]) -> float:
    """The cost of the main path where the row of each node is known, -1 for one that is not placed."""
    path = [node for node in graph.main_path if row_of[node] >= 0]
    if not path:
        return 0.0
    row, end = row_of[path[0]], row_of[path[-1]]
    cost = _MAIN_LOW * row + _FAILURE_HIGH * sum([0 <= row_of[node] < end for node in graph.failures])
    was_level: bool | None = None
    for before, after in pairwise(path):
        next_row = row_of[after]
        is_level = row == next_row
        if not is_level:
            cost += _MAIN_UPWARDS if row > next_row else _MAIN_DOWNWARDS
        elif rows[row].index(before) > rows[row].index(after):
            cost += _MAIN_LEFTWARDS
        if is_level is not was_level and was_level is not None:
            cost += _MAIN_TURN
        row, was_level = next_row, is_level
    return cost


def bent_steps(graph: Graph, drawing: Drawing) -> int:
    """How many steps of the main path have no straight arrow in the drawing of a graph."""
    corners = {arrow.id: len(arrow.points) - 2 for arrow in drawing.arrows}
    straight = {(edge.tail, edge.head) for edge in graph.edges if not corners[edge.arrows[0]]}
    return len(graph.main_steps - straight)
