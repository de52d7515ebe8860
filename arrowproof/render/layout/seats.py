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
_UNIT = 20
"""Lengths are whole twentieths of a unit, so that their sums are exact in any order."""
_HOT, _COLD = 400.0 * _UNIT, 12.0 * _UNIT
"""The temperature at the start and at the end."""
_ACROSS, _DOWN = 160 * _UNIT, 120 * _UNIT
"""From one seat to the next: a box with the room around it."""
_UPWARDS = 138 * _UNIT
"""The same for an arrow that leads upwards, which counts as longer: a drawing is read from top to bottom."""
_LEVEL = 128 * _UNIT
"""Between neighbours in a row, which counts as shorter, since it needs no channel."""
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
        self.heads: list[list[int]] = [[] for _ in graph.nodes]
        self.tails: list[list[int]] = [[] for _ in graph.nodes]
        self.neighbours: list[list[int]] = [[] for _ in graph.nodes]
        for edge in graph.edges:
            if not edge.is_loop:
                self.heads[edge.tail].append(edge.head)
                self.tails[edge.head].append(edge.tail)
                self.neighbours[edge.tail].append(edge.head)
                self.neighbours[edge.head].append(edge.tail)
        self.places = [divmod(seat, columns)[0] * 2 * columns + seat % columns for seat in range(self.seats)]
        self.lengths = _lengths(rows, columns)
        self.seat_of = [node * self.seats // len(graph.nodes) for node in range(len(graph.nodes))]
        self.place_of = [self.places[seat] for seat in self.seat_of]
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
        guest = self.guest[other]
        before = self._length(node) + (0 if guest is None else self._length(guest))
        self._seat(node, other)
        if guest is not None:
            self._seat(guest, seat)
        worse = self._length(node) + (0 if guest is None else self._length(guest)) - before
        if worse > 0 and self.random() >= math.exp(-worse / heat):
            self._seat(node, seat)
            if guest is not None:
                self._seat(guest, other)
            return
        self.guest[seat], self.guest[other] = guest, node

    def _seat(self, node: int, seat: int) -> None:
        self.seat_of[node], self.place_of[node] = seat, self.places[seat]

    def _goal(self, node: int) -> int | None:
        """A seat near one of the node's neighbours, or any; None where that would be off the table."""
        neighbours = self.neighbours[node]
        if not neighbours or self.random() >= _NEAR:
            return int(self.random() * self.seats)
        row, column = divmod(self.seat_of[neighbours[int(self.random() * len(neighbours))]], self.columns)
        column += int(self.random() * 5) - 2
        row += int(self.random() * 3) - 1
        is_there = 0 <= column < self.columns and 0 <= row * self.columns < self.seats
        return row * self.columns + column if is_there else None

    def _length(self, node: int) -> int:
        """How long the arrows of a node are together."""
        lengths, place_of, here = self.lengths, self.place_of, self.place_of[node]
        leaving = sum([lengths[place_of[head] - here] for head in self.heads[node]])
        return leaving + sum([lengths[here - place_of[tail]] for tail in self.tails[node]])


def _lengths(rows: int, columns: int) -> list[int]:
    """The length of an arrow by how much further the place of its head is than that of its tail.

    Of places a row has twice as many as seats, so that such a difference, which may be negative like an index that is
    counted from the end, says how many rows and columns lie between.
    """
    lengths = [0] * (4 * rows * columns)
    for down in range(1 - rows, rows):
        for right in range(1 - columns, columns):
            across = abs(right) * _ACROSS
            if down == 0:
                length = _LEVEL if abs(right) == 1 else across + _DOWN
            else:
                length = across + (down * _DOWN if down > 0 else -down * _UPWARDS)
            lengths[2 * columns * down + right] = length
    return lengths
