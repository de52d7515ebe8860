"""Seats: where the nodes of a very large graph stand, in rows of equal length, so that its arrows are short.

The estimate looks at whole drawings, and is too dear to search a hundred nodes with. Here nodes sit on the seats of a
plain table and change places at random; all that counts is how far apart the ends of each arrow are, so that a change
costs no more than a look at the arrows of two nodes. The randomness has a fixed seed, and the number of steps depends
on the size of the graph alone, so that the same graph gets the same seats.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from random import Random

from arrowproof.render.layout.graph import Graph
from arrowproof.render.layout.grid import Placement

SHAPES = (1.0, 1.2, 1.4, 1.6)
"""Tables that are tried: so many times as many rows as a square one has. A box is wider than it is high."""
_SPARE = 1.1
"""Seats for each node: a few stay free."""
_STEPS = 600
"""For each node."""
_HOT, _COLD = 400.0, 12.0
"""The temperature at the start and at the end, in units of distance."""
_ACROSS, _DOWN = 160, 120
"""From one seat to the next, in units: a box with the room around it."""
_UPWARDS = 1.15
"""How much longer an arrow counts that leads upwards: a drawing is read from top to bottom."""
_LEVEL = 0.8
"""How much shorter one counts between neighbours in a row, which needs no channel."""
_NEAR = 0.6
"""The share of steps that seat a node near one of its neighbours."""


def seat_nodes(graph: Graph) -> Iterator[Placement]:
    """A placement for each of the shapes of a table."""
    for shape in SHAPES:
        rows = max(1, round(math.sqrt(len(graph.nodes)) * shape))
        yield _Table(graph, rows, math.ceil(len(graph.nodes) * _SPARE / rows)).seated()


class _Table:
    """Nodes on the seats of a table. A seat is a number, counted row by row."""

    def __init__(self, graph: Graph, rows: int, columns: int) -> None:
        self.columns, self.seats = columns, rows * columns
        self.arrows: list[list[tuple[int, int]]] = [[] for _ in graph.nodes]
        for edge in graph.edges:
            if not edge.is_loop:
                self.arrows[edge.tail].append((edge.head, 1))
                self.arrows[edge.head].append((edge.tail, -1))
        self.seat_of = [node * self.seats // len(graph.nodes) for node in range(len(graph.nodes))]
        self.guest: list[int | None] = [None] * self.seats
        for node, seat in enumerate(self.seat_of):
            self.guest[seat] = node
        self.random = Random(0).random

    def seated(self) -> Placement:
        """The rows of the table after all steps, without free seats."""
        steps = _STEPS * len(self.seat_of)
        cooling = (_COLD / _HOT) ** (1 / max(steps, 1))
        heat = _HOT
        for _ in range(steps):
            heat *= cooling
            self._step(heat)
        rows = (self.guest[start : start + self.columns] for start in range(0, self.seats, self.columns))
        placed = (tuple(node for node in row if node is not None) for row in rows)
        return tuple(row for row in placed if row)

    def _step(self, heat: float) -> None:
        """One node takes another seat, and who sat there takes its own, unless that makes it worse by too much."""
        node = int(self.random() * len(self.seat_of))
        seat, other = self.seat_of[node], self._goal(node)
        if other is None or other == seat:
            return
        moved = [(node, other)]
        guest = self.guest[other]
        if guest is not None:
            moved.append((guest, seat))
        before = sum(self._length(each) for each, _ in moved)
        for each, to in moved:
            self.seat_of[each] = to
        worse = sum(self._length(each) for each, _ in moved) - before
        if worse > 0 and self.random() >= math.exp(-worse / heat):
            self.seat_of[node] = seat
            if guest is not None:
                self.seat_of[guest] = other
            return
        self.guest[seat], self.guest[other] = guest, node

    def _goal(self, node: int) -> int | None:
        """A seat near one of the node's neighbours, or any; None where that would be off the table."""
        arrows = self.arrows[node]
        if not arrows or self.random() >= _NEAR:
            return int(self.random() * self.seats)
        row, column = divmod(self.seat_of[arrows[int(self.random() * len(arrows))][0]], self.columns)
        column += int(self.random() * 5) - 2
        row += int(self.random() * 3) - 1
        is_there = 0 <= column < self.columns and 0 <= row * self.columns < self.seats
        return row * self.columns + column if is_there else None

    def _length(self, node: int) -> float:
        """How long the arrows of a node are together."""
        row, column = divmod(self.seat_of[node], self.columns)
        length = 0.0
        for other, direction in self.arrows[node]:
            its_row, its_column = divmod(self.seat_of[other], self.columns)
            across, down = abs(column - its_column) * _ACROSS, (its_row - row) * direction * _DOWN
            if down > 0:
                length += across + down
            elif down < 0:
                length += across - _UPWARDS * down
            else:
                length += _LEVEL * across if across <= _ACROSS else across + _DOWN
        return length
