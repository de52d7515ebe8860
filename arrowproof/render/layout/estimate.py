"""The estimate: what a placement will look like, guessed in a fraction of a millisecond.

A search looks at thousands of placements, and only a handful is drawn. The guess packs each row, moves it to its
neighbours, lets each long arrow pass the rows in between where no boxes stand in its way, and adds up what a reader
would mind: small text, long and bent arrows, crossings, and a main path that does not read from left to right and from
top to bottom. The weights were set by looking at drawings.
"""

from __future__ import annotations

import math
from bisect import bisect_right, insort
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import NamedTuple

from arrowproof.render.layout.graph import Edge, Graph
from arrowproof.render.layout.grid import MAX_LEVEL
from arrowproof.render.layout.sizes import (
    ARROW_ROOM,
    BEAD_ROOM,
    LABEL_GAP,
    LABEL_RISE,
    LEVEL_MARGIN,
    LEVEL_OFFSET,
    LINE_GAP,
    LINE_ROOM,
    LOOP_REACH,
    NODE_GAP,
    PORT_SPACING,
    SLOT,
)
from arrowproof.render.quality import MAX_SCALE, READABLE_SCALE, TARGET_HEIGHT, TARGET_WIDTH

_CROSSING = 1.8
_STEP, _LONG, _BENT, _TURNING = 0.5, 1.1, 0.8, 4.0
_FAR = 320.0
"""This much of sideways way costs 1."""
_LEFTWARDS, _UPWARDS = 0.6, 0.6
_MAIN_LEFTWARDS, _MAIN_UPWARDS, _MAIN_TURN, _MAIN_DOWNWARDS, _MAIN_LOW = 5.0, 7.0, 1.0, 0.3, 0.15
_FAILURE_HIGH = 0.25
"""A failure that stands above the end of the main path."""
_MAIN = 2.0
"""How much more an arrow of the main path weighs."""
_BUSY_SIDES = 1.0
"""A self arrow whose box has level arrows on both sides."""
_SMALL_TEXT, _SMALLER_TEXT, _UNREADABLE = 34.0, 3.0, 60.0
_LABEL_ROOM = BEAD_ROOM + LABEL_GAP + LINE_GAP
_SLOTS_PER_EDGE = 0.3
"""How many level runs an arrow adds to the height of a channel: many share one."""


class _Row(NamedTuple):
    """What is known of a row whatever the others are: sizes, gaps between nodes, and its blocks.

    A block is a run of nodes that level arrows join, under (first place, last place): no line passes between them.
    """

    width: float
    height: float
    gaps: tuple[float, ...]
    level: frozenset[tuple[int, int]]
    blocks: tuple[tuple[int, int], ...]
    cost: float


@dataclass
class _Guess:
    """What is known of one placement while its cost is added up. Gap ``g`` lies above row ``g``."""

    rows: Sequence[Sequence[int]]
    infos: list[_Row]
    row_of: dict[int, int]
    x: dict[int, float]
    widths: list[float]
    blocked: list[list[tuple[float, float]]]
    gap_widths: list[float]
    gap_heights: list[float]
    gap_edges: list[list[tuple[float, float]]]
    turns: list[tuple[int, bool, float, float]]
    left: float = 0.0
    right: float = 0.0


class Estimate:
    """Guesses the cost of placements of one graph. Lower is better; a crossing costs about 1.8."""

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
        self.level_heights = {pair: _level_height(edges[:MAX_LEVEL]) for pair, edges in graph.pairs.items()}
        self.edges = [edge for edge in graph.edges if not edge.is_loop]
        self.weights = [_MAIN if (e.tail, e.head) in graph.main_steps else 1.0 for e in graph.edges]
        self.ordinals = {edge.index: place for edges in graph.pairs.values() for place, edge in enumerate(edges)}
        self.neighbours: list[list[int]] = [[] for _ in graph.nodes]
        for edge in self.edges:
            self.neighbours[edge.tail].append(edge.head)
            self.neighbours[edge.head].append(edge.tail)
        self._known: dict[tuple[int, ...], _Row] = {}

    def cost(self, rows: Sequence[Sequence[int]], limit: float = math.inf) -> float:
        """The guessed cost of a placement. It may lack some nodes: their arrows are left out.

        Args:
            rows: rows of node indexes, from left to right.
            limit: a cost above which the answer does not matter; infinity stands for it.
        """
        infos = [self._row(tuple(row)) for row in rows]
        cost = direction_cost(self.graph, rows) + sum([info.cost for info in infos])
        room = limit - _text_cost(max([info.width for info in infos]), sum([info.height for info in infos]))
        if cost >= room:
            return math.inf
        guess = self._placed(rows, infos)
        for edge in self.edges:
            if edge.tail in guess.row_of and edge.head in guess.row_of:
                cost += self._edge_cost(guess, edge.tail, edge.head, edge.index)
                if cost >= room:
                    return math.inf
        cost += _text_cost(*self._extent(guess))
        if cost >= limit:
            return math.inf
        return cost + _CROSSING * _crossings(guess)

    def columns(self, rows: Sequence[Sequence[int]]) -> dict[int, float]:
        """A guess of each node's middle."""
        return self._placed(rows, [self._row(tuple(row)) for row in rows]).x

    def _row(self, row: tuple[int, ...]) -> _Row:
        """What is known of a row; rows come back again and again during a search."""
        info = self._known.get(row)
        if info is None:
            info = self._known[row] = self._new_row(row)
        return info

    def _new_row(self, row: tuple[int, ...]) -> _Row:
        nodes = self.graph.nodes
        upper = lower = max(nodes[node].height for node in row) / 2
        gaps, level, blocks, cost = [], set(), [[0, 0]], 0.0
        for place, (left, right) in enumerate(pairwise(row), start=1):
            pair = (left, right) if left < right else (right, left)
            if pair in self.gaps:
                gaps.append(float(self.gaps[pair]))
                above, below = self.level_heights[pair]
                upper, lower = max(upper, above), max(lower, below)
                level.add(pair)
                blocks[-1][1] = place
            else:
                gaps.append(float(NODE_GAP))
                blocks.append([place, place])
        width = sum(self.widths[node] for node in row) + sum(gaps)
        for first, last in blocks:
            for place in range(first, last + 1):
                if row[place] in self.loops:
                    cost += _BUSY_SIDES * (first < place < last)
                    width += self.loops[row[place]]
        return _Row(width, upper + lower, tuple(gaps), frozenset(level), tuple((a, b) for a, b in blocks), cost)

    def _placed(self, rows: Sequence[Sequence[int]], infos: list[_Row]) -> _Guess:
        """All nodes in their columns: the widest row is packed, the others move to their neighbours."""
        count = len(rows) + 1
        row_of = {node: number for number, row in enumerate(rows) for node in row}
        widths = [info.width for info in infos]
        guess = _Guess(
            rows,
            infos,
            row_of,
            {},
            widths,
            [],
            [0.0] * count,
            [0.0] * count,
            [[] for _ in range(count)],
            [],
        )
        widest = max(range(len(rows)), key=widths.__getitem__)
        for number in (widest, *range(widest - 1, -1, -1), *range(widest + 1, len(rows))):
            self._place_row(guess, number, widths[widest] / 2, number == widest)
        for row, info in zip(rows, infos, strict=True):
            ends = [(row[a], row[b]) for a, b in info.blocks]
            guess.blocked.append(
                [(guess.x[a] - self.widths[a] / 2 - 7, guess.x[b] + self.widths[b] / 2 + 7) for a, b in ends]
            )
        guess.left = min([row[0][0] for row in guess.blocked])
        guess.right = max([row[-1][1] for row in guess.blocked])
        return guess

    def _place_row(self, guess: _Guess, number: int, half: float, is_packed: bool) -> None:
        """The x of each node of a row: packed around 0, or at the mean of the neighbours that are placed already."""
        row, x, row_of, shift = guess.rows[number], guess.x, guess.row_of, 0.0
        free = -guess.widths[number] / 2
        for node, gap in zip(row, (0.0, *guess.infos[number].gaps), strict=True):
            least = free + gap + self.widths[node] / 2
            wish = least
            if not is_packed:
                known = [x[n] for n in self.neighbours[node] if n in x and row_of[n] != number]
                if known:
                    wish = sum(known) / len(known)
            x[node] = wish if wish > least else least
            shift += wish - x[node]
            free = x[node] + self.widths[node] / 2
        if not is_packed:
            shift /= len(row)
            beyond = max(free + shift - half, 0.0)
            shift -= min(beyond, max(half * 2 - guess.widths[number], 0.0))
            for node in row:
                x[node] += shift

    def _edge_cost(self, guess: _Guess, tail: int, head: int, index: int) -> float:
        """What one edge costs, not counting its crossings. Notes its way and the room that its label takes."""
        upper, lower = guess.row_of[tail], guess.row_of[head]
        if upper == lower:
            return self._row_edge_cost(guess, tail, head, index)
        cost = 0.0
        if upper > lower:
            cost += _UPWARDS
            upper, lower, tail, head = lower, upper, head, tail
        label = self.graph.edges[index].label
        weight = self.weights[index]
        above, below = guess.x[tail], guess.x[head]
        reach = max((self.widths[tail] + self.widths[head]) / 2 - 3 * PORT_SPACING, 0)
        distance = abs(above - below)
        cost += _STEP * weight + _LONG * (lower - upper - 1)
        gap = upper + 1
        if lower > gap:
            line, detour = _passage(guess.blocked[gap:lower], above, below)
            distance += 2 * detour
            gap = min(range(gap, lower + 1), key=guess.gap_widths.__getitem__)
            for row in range(upper + 1, lower):
                guess.widths[row] += LINE_GAP
                guess.gap_edges[row].append((above, line))
                guess.gap_widths[row + (row >= gap)] += LINE_GAP
                above = line
            guess.left, guess.right = min(guess.left, line), max(guess.right, line + label.width)
        guess.gap_edges[lower].append((above, below))
        if distance > reach:
            cost += _BENT * weight + (distance - reach) / _FAR
        guess.gap_widths[gap] += label.width + _LABEL_ROOM
        guess.gap_heights[gap] = max(guess.gap_heights[gap], label.height)
        return cost

    def _row_edge_cost(self, guess: _Guess, tail: int, head: int, index: int) -> float:
        """The cost of an edge within a row: level between neighbours, or else round the boxes in between."""
        row = guess.row_of[tail]
        is_leftwards = guess.x[tail] > guess.x[head]
        pair = (tail, head) if tail < head else (head, tail)
        if pair in guess.infos[row].level and self.ordinals[index] < MAX_LEVEL:
            return _LEFTWARDS * is_leftwards / (1 + self.ordinals[index])
        label = self.graph.edges[index].label
        is_below = row + 1 < len(guess.rows) or row == 0
        gap = row + is_below
        guess.gap_widths[gap] += label.width + _LABEL_ROOM + LINE_GAP
        guess.gap_heights[gap] = max(guess.gap_heights[gap], label.height + SLOT)
        ends = sorted((guess.x[tail], guess.x[head]))
        guess.turns.append((gap, is_below, ends[0], ends[1]))
        return _TURNING * self.weights[index] + (ends[1] - ends[0]) / _FAR

    def _extent(self, guess: _Guess) -> tuple[float, float]:
        """Width and height of the whole."""
        width = max(*guess.widths, *guess.gap_widths, guess.right - guess.left)
        height = sum([info.height for info in guess.infos]) + sum(guess.gap_heights)
        for gap, edges in enumerate(guess.gap_edges):
            if edges or guess.gap_heights[gap]:
                height += ARROW_ROOM + 3 * LINE_ROOM + SLOT * len(edges) * _SLOTS_PER_EDGE
            elif 0 < gap < len(guess.rows):
                height += 2 * LINE_ROOM
        return width, height


def _level_height(edges: Sequence[Edge]) -> tuple[float, float]:
    """How far level arrows and their labels reach above and below the middle of their row."""
    offset = LEVEL_OFFSET if len(edges) > 1 else 0
    reach = [offset + LABEL_RISE + edge.label.height for edge in edges if not edge.label.is_empty]
    return (reach[0] if reach else 0.0, reach[1] if len(reach) > 1 else 0.0)


def _passage(rows: Iterable[Sequence[tuple[float, float]]], above: float, below: float) -> tuple[float, float]:
    """The x at which a line passes these rows without meeting a box, and how far that is out of its way."""
    low, high = (above, below) if above < below else (below, above)
    blocks = [block for row in rows for block in row]
    best, least = low, math.inf
    for x in (above, below, *(edge for block in blocks for edge in block)):
        detour = low - x if x < low else x - high if x > high else 0.0
        if detour < least and not any(left < x < right for left, right in blocks):
            if not detour:
                return x, 0.0
            best, least = x, detour
    return best, least


def _crossings(guess: _Guess) -> int:
    """Pairs of edges whose ends stand in opposite order, and edges that lead into a turn of another."""
    count = 0
    for edges in guess.gap_edges:
        seen: list[float] = []
        for _, below in sorted(edges):
            count += len(seen) - bisect_right(seen, below)
            insort(seen, below)
    for gap, is_above, left, right in guess.turns:
        count += sum([left < ends[not is_above] < right for ends in guess.gap_edges[gap]])
    return count


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
    if path:
        end = path[-1][0]
        cost += _FAILURE_HIGH * sum([place_of[node][0] < end for node in graph.failures if node in place_of])
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
