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
    place_of = {node: (row, place) for row, nodes in enumerate(rows) for place, node in enumerate(nodes)}
    failures = [place_of[node][0] for node in graph.failures if node in place_of]
    return path_cost([place_of[node] for node in graph.main_path if node in place_of], failures)


def path_cost(path: Sequence[tuple[int, int]], failures: Sequence[int]) -> float:
    """The cost of a main path of places (row, place in the row), with the rows of failures."""
    if not path:
        return 0.0
    end = path[-1][0]
    cost = _MAIN_LOW * path[0][0] + _FAILURE_HIGH * sum([row < end for row in failures])
    was_level: bool | None = None
    for (row, place), (next_row, next_place) in pairwise(path):
        is_level = row == next_row
        if is_level:
            cost += _MAIN_LEFTWARDS * (place > next_place)
        else:
            cost += _MAIN_UPWARDS if row > next_row else _MAIN_DOWNWARDS
        if was_level not in (None, is_level):
            cost += _MAIN_TURN
        was_level = is_level
    return cost


def bent_steps(graph: Graph, drawing: Drawing) -> int:
    """How many steps of the main path have no straight arrow in the drawing of a graph."""
    corners = {arrow.id: len(arrow.points) - 2 for arrow in drawing.arrows}
    straight = {(edge.tail, edge.head) for edge in graph.edges if not corners[edge.arrows[0]]}
    return len(graph.main_steps - straight)
