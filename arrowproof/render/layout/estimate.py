"""The estimate: what a placement will look like, guessed in microseconds.

A search looks at thousands of placements, and only a handful is drawn. The guess packs each row, moves it to its
neighbours, and adds up what a reader would mind: small text, long and bent arrows, crossings, and a main path that does
not read from left to right and from top to bottom. The weights were set by looking at drawings.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import pairwise

from arrowproof.model.lifecycle import Kind
from arrowproof.render.layout.graph import Graph
from arrowproof.render.layout.grid import MAX_LEVEL
from arrowproof.render.layout.sizes import (
    ARROW_ROOM,
    BEAD_ROOM,
    LABEL_GAP,
    LEVEL_MARGIN,
    LINE_GAP,
    LINE_ROOM,
    LOOP_REACH,
    NODE_GAP,
    PORT_SPACING,
    SLOT,
)
from arrowproof.render.quality import MAX_SCALE, READABLE_SCALE, TARGET_HEIGHT, TARGET_WIDTH

_CROSSING = 1.6
_STEP, _LONG, _BENT, _TURNING = 0.5, 1.1, 0.8, 4.0
_FAR = 320.0
"""This much of sideways way costs 1."""
_LEFTWARDS, _UPWARDS = 0.6, 0.6
_MAIN_LEFTWARDS, _MAIN_UPWARDS, _MAIN_TURN, _MAIN_DOWNWARDS, _MAIN_LOW = 5.0, 7.0, 1.0, 0.3, 0.15
_FAILURE_HIGH = 0.25
"""A failure that stands above the end of the main path."""
_MAIN = 2.0
"""How much more an arrow of the main path weighs."""
_BUSY_SIDES = 2.5
"""A self arrow whose box has level arrows on both sides."""
_SMALL_TEXT, _SMALLER_TEXT, _UNREADABLE = 34.0, 3.0, 60.0
_LABEL_ROOM = BEAD_ROOM + LABEL_GAP + LINE_GAP


@dataclass
class _Guess:
    """What is known of one placement while its cost is added up."""

    row_of: dict[int, int]
    widths: list[float]
    heights: list[float]
    gap_widths: list[float]
    gap_heights: list[float]
    gap_edges: list[list[tuple[int, int]]]
    x: dict[int, float] = field(default_factory=dict)
    level: dict[tuple[int, int], int] = field(default_factory=dict)
    cost: float = 0.0


class Estimate:
    """Guesses the cost of placements of one graph. Lower is better; a crossing costs about 1.6."""

    def __init__(self, graph: Graph) -> None:
        self.graph = graph
        self.widths = [node.width for node in graph.nodes]
        self.loops = {
            node: max(edge.label.width for edge in edges) + LOOP_REACH + LABEL_GAP
            for node, edges in graph.loops.items()
        }
        self.gaps = {
            pair: max(16, *(edge.label.width for edge in edges)) + 2 * LEVEL_MARGIN
            for pair, edges in graph.pairs.items()
        }
        self.level_heights = {
            pair: 1.5 * max(edge.label.height for edge in edges) * min(len(edges), MAX_LEVEL) + 20
            for pair, edges in graph.pairs.items()
        }
        self.edges = [edge for edge in graph.edges if not edge.is_loop]
        self.weights = [_MAIN if (e.tail, e.head) in graph.main_steps else 1.0 for e in graph.edges]
        self.neighbours: list[list[int]] = [[] for _ in graph.nodes]
        for edge in self.edges:
            self.neighbours[edge.tail].append(edge.head)
            self.neighbours[edge.head].append(edge.tail)

    def cost(self, rows: Sequence[Sequence[int]], limit: float = math.inf) -> float:
        """The guessed cost of a placement. It may lack some nodes: their arrows are left out.

        Args:
            rows: rows of node indexes, from left to right.
            limit: a cost above which the answer does not matter; infinity stands for it.
        """
        guess = self._rows(rows)
        guess.cost += direction_cost(self.graph, rows)
        room = limit - _text_cost(max(guess.widths), sum(guess.heights))
        if guess.cost >= room:
            return math.inf
        self._assign_columns(guess, rows)
        for edge in self.edges:
            if edge.tail in guess.row_of and edge.head in guess.row_of:
                self._add_edge(guess, edge.tail, edge.head, edge.index, len(rows))
                if guess.cost >= room:
                    return math.inf
        cost = guess.cost + _text_cost(*self._extent(guess, rows))
        for edges in guess.gap_edges:
            if cost >= limit:
                return math.inf
            cost += _CROSSING * _inversions(edges, guess.x)
        return cost

    def _rows(self, rows: Sequence[Sequence[int]]) -> _Guess:
        """Width and height of every row, and which neighbours level arrows can join."""
        count = len(rows) + 1
        guess = _Guess(
            {node: row for row, nodes in enumerate(rows) for node in nodes},
            [],
            [],
            [0.0] * count,
            [0.0] * count,
            [[] for _ in range(count)],
        )
        nodes = self.graph.nodes
        for row in rows:
            width: float = sum([self.widths[node] for node in row])
            height: float = max([nodes[node].height for node in row])
            for left, right in pairwise(row):
                pair = (left, right) if left < right else (right, left)
                if pair in self.gaps:
                    width += self.gaps[pair]
                    height = max(height, self.level_heights[pair])
                    guess.level[pair] = 0
                else:
                    width += NODE_GAP
            guess.widths.append(width)
            guess.heights.append(height)
            if self.loops:
                self._add_loops(guess, row)
        return guess

    def _add_loops(self, guess: _Guess, row: Sequence[int]) -> None:
        for place, node in enumerate(row):
            if node in self.loops:
                guess.widths[-1] += self.loops[node]
                beside = (*row[max(place - 1, 0) : place], *row[place + 1 : place + 2])
                joined = sum((min(node, other), max(node, other)) in guess.level for other in beside)
                guess.cost += _BUSY_SIDES * (joined == 2)

    def _assign_columns(self, guess: _Guess, rows: Sequence[Sequence[int]]) -> None:
        """A guess of each node's middle: the widest row is packed, the others move to their neighbours."""
        widest = max(range(len(rows)), key=guess.widths.__getitem__)
        half = guess.widths[widest] / 2
        for number in [widest, *range(widest - 1, -1, -1), *range(widest + 1, len(rows))]:
            row = rows[number]
            shift = 0.0
            free = -guess.widths[number] / 2
            previous = -1
            for node in row:
                width = self.widths[node]
                if previous >= 0:
                    pair = (previous, node) if previous < node else (node, previous)
                    free += self.gaps.get(pair, NODE_GAP)
                wish = free + width / 2
                if number != widest:
                    known = [guess.x[n] for n in self.neighbours[node] if n in guess.x and guess.row_of[n] != number]
                    if known:
                        wish = sum(known) / len(known)
                guess.x[node] = max(wish, free + width / 2)
                shift += wish - guess.x[node]
                free = guess.x[node] + width / 2
                previous = node
            if number != widest:
                shift /= len(row)
                beyond = max(free + shift - half, 0.0)
                shift -= min(beyond, max(half * 2 - guess.widths[number], 0.0))
                for node in row:
                    guess.x[node] += shift

    def _add_edge(self, guess: _Guess, tail: int, head: int, index: int, count: int) -> None:
        """Add what one edge costs, and the room that its label takes."""
        upper, lower = guess.row_of[tail], guess.row_of[head]
        weight = self.weights[index]
        label = self.graph.edges[index].label
        distance = abs(guess.x[tail] - guess.x[head])
        if upper == lower:
            pair = (tail, head) if tail < head else (head, tail)
            if guess.level.get(pair, MAX_LEVEL) < MAX_LEVEL:
                guess.level[pair] += 1
                guess.cost += _LEFTWARDS * (guess.x[tail] > guess.x[head]) / guess.level[pair]
                return
            gap = upper + 1 if upper + 1 < count or upper == 0 else upper
            guess.gap_widths[gap] += label.width + _LABEL_ROOM + LINE_GAP
            guess.gap_heights[gap] = max(guess.gap_heights[gap], label.height + SLOT)
            guess.cost += _TURNING * weight + distance / _FAR
            return
        if upper > lower:
            guess.cost += _UPWARDS
            upper, lower, tail, head = lower, upper, head, tail
        reach = max((self.widths[tail] + self.widths[head]) / 2 - 3 * PORT_SPACING, 0)
        guess.cost += _STEP * weight + _LONG * (lower - upper - 1)
        if distance > reach:
            guess.cost += _BENT * weight + (distance - reach) / _FAR
        gap = upper + 1
        if lower > gap:
            gap = min(range(gap, lower + 1), key=guess.gap_widths.__getitem__)
            for row in range(upper + 1, lower):
                guess.widths[row] += LINE_GAP
        guess.gap_widths[gap] += label.width + _LABEL_ROOM
        guess.gap_heights[gap] = max(guess.gap_heights[gap], label.height)
        for row in range(upper + 1, lower + 1):
            guess.gap_edges[row].append((tail, head))

    def _extent(self, guess: _Guess, rows: Sequence[Sequence[int]]) -> tuple[float, float]:
        """Width and height of the whole."""
        left = min([guess.x[row[0]] - self.widths[row[0]] / 2 for row in rows])
        right = max([guess.x[row[-1]] + self.widths[row[-1]] / 2 for row in rows])
        width = max(*guess.widths, *guess.gap_widths, right - left)
        height = sum(guess.heights) + sum(guess.gap_heights)
        for gap, edges in enumerate(guess.gap_edges):
            if edges or guess.gap_heights[gap]:
                height += 2 * ARROW_ROOM + LINE_ROOM + SLOT * len(edges) * 0.6
            elif 0 < gap < len(rows):
                height += 2 * LINE_ROOM
        return width, height


def _text_cost(width: float, height: float) -> float:
    """What it costs that text gets small when the whole is fitted into the figure."""
    scale = min(MAX_SCALE, TARGET_WIDTH / max(width, 1), TARGET_HEIGHT / max(height, 1))
    unreadable = max(READABLE_SCALE - scale, 0)
    return _SMALL_TEXT * max(1 / scale - 1, 0) + _SMALLER_TEXT * (MAX_SCALE - scale) + _UNREADABLE * unreadable


def direction_cost(graph: Graph, rows: Sequence[Sequence[int]]) -> float:
    """What the main path costs: best is one level line from left to right, next one line downwards.

    Arrows that lead to the left or upwards cost most, then turns, then arrows that lead downwards and a path that
    starts further down than it must.
    """
    place_of = {node: (row, place) for row, nodes in enumerate(rows) for place, node in enumerate(nodes)}
    path = [place_of[node] for node in graph.main_path if node in place_of]
    cost = _MAIN_LOW * path[0][0] if path else 0.0
    failures = [place_of[node.index] for node in graph.nodes if node.kind_is(Kind.FAILURE) and node.index in place_of]
    cost += _FAILURE_HIGH * sum(row < path[-1][0] for row, _ in failures if path)
    level: list[bool] = []
    for (row, place), (next_row, next_place) in pairwise(path):
        level.append(row == next_row)
        if row == next_row:
            cost += _MAIN_LEFTWARDS * (place > next_place)
        else:
            cost += _MAIN_UPWARDS if row > next_row else _MAIN_DOWNWARDS
    return cost + _MAIN_TURN * sum(before != after for before, after in pairwise(level))


def _inversions(edges: Sequence[tuple[int, int]], x: dict[int, float]) -> int:
    """Pairs of edges in one gap whose ends stand in opposite order."""
    ends = [(x[upper], x[lower]) for upper, lower in edges]
    count = 0
    for place, (a, b) in enumerate(ends):
        for c, d in ends[place + 1 :]:
            if (a - c) * (b - d) < 0:
                count += 1
    return count
