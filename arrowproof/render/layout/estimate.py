"""The estimate: what a placement will look like, guessed in a fraction of a millisecond.

A search looks at thousands of placements, and only a handful is drawn. The guess packs each row, moves it to its
neighbours, lets each long arrow pass the rows in between where no boxes stand in its way, and adds up what a reader
would mind: small text, long and bent arrows, crossings, and a main path that does not read from left to right and from
top to bottom. The weights were set by looking at drawings.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from itertools import pairwise

from arrowproof.render.layout.direction import path_cost
from arrowproof.render.layout.graph import Edge, Graph
from arrowproof.render.layout.grid import MAX_LEVEL
from arrowproof.render.layout.guess import Guess, RowGuess, Way, guessed_crossings, guessed_height
from arrowproof.render.layout.lanes import lane_breaks, lane_gaps
from arrowproof.render.layout.sizes import (
    BEAD_ROOM,
    CORNER_DEPTH,
    LABEL_GAP,
    LABEL_RISE,
    LEVEL_MARGIN,
    LEVEL_OFFSET,
    LINE_GAP,
    LOOP_REACH,
    NODE_GAP,
    PORT_SPACING,
    SLOT,
)
from arrowproof.render.layout.tracks import depth, passage
from arrowproof.render.quality import MAX_SCALE, READABLE_SCALE, TARGET_HEIGHT, TARGET_WIDTH

_CROSSING = 6.0
_STEP, _LONG, _BENT, _TURNING = 0.5, 1.1, 0.8, 4.0
_FAR = 320.0
"""This much of sideways way costs 1."""
_LEFTWARDS, _UPWARDS = 0.6, 0.6
_MAIN = 2.0
"""How much more an arrow of the main path weighs."""
_BUSY_SIDES = 1.0
"""A self arrow whose box has level arrows on both sides."""
_LANE_BREAK = 6.0
"""What tears a group apart, where lanes are kept."""
_SMALL_TEXT, _SMALLER_TEXT, _UNREADABLE = 34.0, 3.0, 60.0
_BARELY, _SPAN = 50.0, 0.1
"""How much more it costs to be unreadable by a little, up to this span: then it could have been avoided."""
CLOSE = 2.5
"""Placements whose costs differ by less the estimate cannot tell apart."""
_COMPACTED = 0.9
"""The share of its height that a drawing keeps when it is compacted, measured on drawings of real lifecycles."""
_LABEL_ROOM = BEAD_ROOM + LABEL_GAP + LINE_GAP


_Part = tuple[float, int, tuple[int, ...], int, float, float]
"""What takes room in rows: (x, row, (), 0, width, gap before it when a box is there) is a box, and
(x, -1, rows passed, label row, label width, 0) a line. State rows come first, label rows after them."""


class Estimate:
    """Guesses the cost of placements of one graph. Lower is better; a crossing costs 6."""

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
        self.parts = [
            (e.tail, e.head, e.index, self.weights[e.index], e.label.width, e.label.height, self._reach(e))
            for e in self.edges
        ]
        self.main_path, self.failures = graph.main_path, graph.failures
        self.neighbours: list[list[int]] = [[] for _ in graph.nodes]
        for edge in self.edges:
            self.neighbours[edge.tail].append(edge.head)
            self.neighbours[edge.head].append(edge.tail)
        self._known: dict[tuple[int, ...], RowGuess] = {}

    def cost(self, rows: Sequence[Sequence[int]], limit: float = math.inf) -> float:
        """The guessed cost of a placement. It may lack some nodes: their arrows are left out.

        Args:
            rows: rows of node indexes, from left to right.
            limit: a cost above which the answer does not matter; infinity stands for it.
        """
        guess = self._structure(rows, limit)
        if guess is None:
            return math.inf
        room = limit - guess.cost
        height = guessed_height(guess)
        widest_gap = max(guess.gap_widths)
        if _text_cost(max(*guess.widths, widest_gap), _COMPACTED * height) >= room:
            return math.inf
        self._place(guess)
        cost, lines, gap_edges = self._ways_cost(guess)
        # What costs a little more than the limit is worth knowing: it may be as good as the best.
        room_of_lines = room + CLOSE - _text_cost(widest_gap, _COMPACTED * height)
        if cost >= room_of_lines:
            return math.inf
        crossings = _CROSSING * guessed_crossings(guess, gap_edges)
        if cost + crossings >= room_of_lines:
            return math.inf
        width = max(self._width(guess, lines), widest_gap)
        cost += _text_cost(width, _COMPACTED * (height + SLOT * sum(map(depth, gap_edges))))
        return math.inf if cost >= room else guess.cost + cost + crossings

    def columns(self, rows: Sequence[Sequence[int]]) -> dict[int, float]:
        """A guess of each node's middle."""
        guess = self._structure(rows)
        assert guess is not None  # without a limit
        self._place(guess)
        return dict(enumerate(guess.x))

    def _reach(self, edge: Edge) -> float:
        return (self.widths[edge.tail] + self.widths[edge.head]) / 2 - 3 * PORT_SPACING

    def _infos(self, rows: Sequence[Sequence[int]]) -> list[RowGuess]:
        """What is known of each row; rows come back again and again during a search."""
        infos = []
        for row in map(tuple, rows):
            info = self._known.get(row)
            if info is None:
                info = self._known[row] = self._new_row(row)
            infos.append(info)
        return infos

    def _new_row(self, row: tuple[int, ...]) -> RowGuess:
        """What is known of a row that is met for the first time."""
        nodes = self.graph.nodes
        upper = lower = max(nodes[node].height for node in row) / 2
        gaps, level, blocks, cost = [], [], [[0, 0]], 0.0
        for place, (left, right) in enumerate(pairwise(row), start=1):
            pair = (left, right) if left < right else (right, left)
            if pair in self.gaps:
                gaps.append(float(self.gaps[pair]))
                above, below = self.level_heights[pair]
                upper, lower = max(upper, above), max(lower, below)
                edges = self.graph.pairs[pair][:MAX_LEVEL]
                level += [edge.index for edge in edges]
                cost += _LEFTWARDS * sum((edge.tail == right) / number for number, edge in enumerate(edges, start=1))
                blocks[-1][1] = place
            else:
                gaps.append(float(NODE_GAP))
                blocks.append([place, place])
        needed = [float(self.widths[node]) for node in row]
        for first, last in blocks:
            for place in range(first, last + 1):
                if row[place] in self.loops:
                    if first < place < last:
                        cost += _BUSY_SIDES
                        lower = max(lower, nodes[row[place]].height / 2 + CORNER_DEPTH)
                    else:
                        needed[place] += self.loops[row[place]]
        return RowGuess(
            sum(needed) + sum(gaps),
            upper + lower,
            tuple(gaps),
            tuple(zip(row, needed, (0.0, *gaps), strict=True)),
            frozenset(level),
            tuple((a, b) for a, b in blocks),
            cost,
        )

    def _structure(self, rows: Sequence[Sequence[int]], limit: float = math.inf) -> Guess | None:
        """Everything that does not depend on x: the rows and gaps with the room they need, and what that costs.

        None when it costs the limit or more, before the room is reckoned: about half of what a search tries.
        """
        infos = self._infos(rows)
        row_of = [-1] * len(self.widths)
        for number, row in enumerate(rows):
            for node in row:
                row_of[node] = number
        cost = self._direction(rows, row_of) + sum([info.cost for info in infos])
        if self.graph.lanes:
            cost += _LANE_BREAK * lane_breaks(rows, self.graph.lanes)
        crossing, turning = [], []
        for tail, head, index, weight, label_width, label_height, reach in self.parts:
            first, last = row_of[tail], row_of[head]
            if first == last:
                if first >= 0 and index not in infos[first].level:
                    turning.append(index)
                continue
            upper, lower = tail, head
            if first > last:
                cost += _UPWARDS
                first, last, upper, lower = last, first, head, tail
            if first < 0:
                continue
            if last > first + 1:
                cost += _LONG * (last - first - 1)
            cost += _STEP * weight
            crossing.append((upper, lower, first, last, weight, label_width, label_height, reach))
        for index in turning:
            cost += _TURNING * self.weights[index]
        if cost >= limit:
            return None
        guess = self._with_room(rows, infos, row_of, crossing, cost)
        for index in turning:
            self._add_turning(guess, index)
        return guess

    def _with_room(
        self,
        rows: Sequence[Sequence[int]],
        infos: list[RowGuess],
        row_of: list[int],
        crossing: Iterable[tuple[int, int, int, int, float, int, int, float]],
        cost: float,
    ) -> Guess:
        """The room that rows and gaps need for the edges that lead from row to row."""
        count = len(rows) + 1
        widths, gap_widths, gap_heights = [info.width for info in infos], [0.0] * count, [0.0] * count
        is_used = [False] * count
        ways: list[Way] = []
        for upper, lower, first, last, weight, label_width, label_height, reach in crossing:
            gap = first + 1
            if last > gap:
                choice = gap_widths[gap : last + 1]
                gap += choice.index(min(choice))
                for number in range(first + 1, last):
                    widths[number] += LINE_GAP
                    gap_widths[number + (number >= gap)] += LINE_GAP
                    is_used[number] = True
            is_used[last] = True
            ways.append((upper, lower, first, last, weight, gap, label_width, reach))
            gap_widths[gap] += label_width + _LABEL_ROOM
            if label_height > gap_heights[gap]:
                gap_heights[gap] = label_height
        x, is_placed = [0.0] * len(row_of), [False] * count
        return Guess(rows, infos, row_of, widths, gap_widths, gap_heights, is_used, ways, [], cost, x, is_placed)

    def _add_turning(self, guess: Guess, index: int) -> None:
        """The room of an edge within a row that leads round the boxes in between."""
        edge = self.graph.edges[index]
        row = guess.row_of[edge.tail]
        is_below = row + 1 < len(guess.rows) or row == 0
        gap = row + is_below
        guess.gap_widths[gap] += edge.label.width + _LABEL_ROOM + LINE_GAP
        guess.gap_heights[gap] = max(guess.gap_heights[gap], edge.label.height + SLOT)
        guess.turns.append((gap, is_below, edge.tail, edge.head))

    def _direction(self, rows: Sequence[Sequence[int]], row_of: Sequence[int]) -> float:
        """What the main path costs."""
        path = [(row_of[node], rows[row_of[node]].index(node)) for node in self.main_path if row_of[node] >= 0]
        if not path:
            return 0.0
        return path_cost(path, [row_of[node] for node in self.failures if row_of[node] >= 0])

    def _place(self, guess: Guess) -> None:
        """All nodes in their columns: the widest row is packed, the others move to their neighbours."""
        widths = guess.widths
        widest = max(range(len(widths)), key=widths.__getitem__)
        for number in (widest, *range(widest - 1, -1, -1), *range(widest + 1, len(widths))):
            self._place_row(guess, number, widths[widest] / 2, number == widest)

    def _place_row(self, guess: Guess, number: int, half: float, is_packed: bool) -> None:
        """The x of each node of a row: packed around 0, or at the mean of the neighbours that are placed already."""
        row, x, row_of, is_placed, shift = guess.rows[number], guess.x, guess.row_of, guess.is_placed, 0.0
        widths, neighbours = self.widths, self.neighbours
        free = -guess.widths[number] / 2
        for node, gap in zip(row, (0.0, *guess.infos[number].gaps), strict=True):
            half_width = widths[node] / 2
            least = wish = free + gap + half_width
            if not is_packed:
                known = [x[n] for n in neighbours[node] if is_placed[row_of[n]]]
                if known:
                    wish = sum(known) / len(known)
            place = wish if wish > least else least
            x[node] = place
            shift += wish - place
            free = place + half_width
        is_placed[number] = True
        if not is_packed:
            shift /= len(row)
            beyond = max(free + shift - half, 0.0)
            shift -= min(beyond, max(half * 2 - guess.widths[number], 0.0))
            for node in row:
                x[node] += shift

    def _ways_cost(self, guess: Guess) -> tuple[float, list[float], list[list[tuple[float, float]]]]:
        """What bends and sideways ways cost, the x of each line where it has its label, and the ends of the lines in
        each gap."""
        x, widths, cost = guess.x, self.widths, 0.0
        blocked: list[list[tuple[float, float]]] = []
        for nodes, info in zip(guess.rows, guess.infos, strict=True):
            ends = [(nodes[a], nodes[b]) for a, b in info.blocks]
            blocked.append([(x[a] - widths[a] / 2 - 7, x[b] + widths[b] / 2 + 7) for a, b in ends])
        gap_edges: list[list[tuple[float, float]]] = [[] for _ in guess.gap_widths]
        spans: dict[tuple[int, int], list[tuple[float, float]]] = {}
        lines: list[float] = []
        for upper, lower, first, last, weight, _, _, reach in guess.ways:
            above, below = x[upper], x[lower]
            distance = abs(above - below)
            line = (above + below) / 2
            if last > first + 1:
                blocks = spans.get((first, last))
                if blocks is None:
                    blocks = spans[first, last] = [block for row in blocked[first + 1 : last] for block in row]
                line, detour = passage(blocks, above, below)
                distance += 2 * detour
                for row in range(first + 1, last):
                    gap_edges[row].append((above, line))
                    above = line
            lines.append(line)
            gap_edges[last].append((above, below))
            if distance > reach:
                cost += _BENT * weight + (distance - reach) / _FAR
        cost += sum([abs(x[tail] - x[head]) for _, _, tail, head in guess.turns]) / _FAR
        if self.graph.lanes:
            cost += _LANE_BREAK * lane_gaps(
                guess.rows, self.graph.lanes, lambda node: (x[node] - widths[node] / 2, x[node] + widths[node] / 2)
            )
        return cost, lines, gap_edges

    def _width(self, guess: Guess, lines: Sequence[float]) -> float:
        """The width when all is pushed to the left in the order that it has: a line is at one place in all its rows."""
        x, count = guess.x, len(guess.rows)
        ends = [0.0] * (2 * count + 1)
        after_box = [False] * count
        parts: list[_Part] = []
        for line, (_, _, first, last, _, label_gap, label, _) in zip(lines, guess.ways, strict=True):
            passed = (*range(first + 1, last), *range(first + 1 + count, last + 1 + count)) if last > first + 1 else ()
            parts.append((line, -1, passed, label_gap + count, label, 0.0))
        for row, info in enumerate(guess.infos):
            parts += [(x[node], row, (), 0, width, gap) for node, width, gap in info.boxes]
        parts.sort()
        for _, row, passed, label_row, width, gap in parts:
            if row >= 0:
                ends[row] += width + (gap if after_box[row] else LINE_GAP)
                after_box[row] = True
                continue
            place = ends[label_row]
            for one in passed:
                if ends[one] > place:
                    place = ends[one]
            place += LINE_GAP
            for one in passed:
                ends[one] = place
                if one < count:
                    after_box[one] = False
            ends[label_row] = place + width + BEAD_ROOM + LABEL_GAP
        return max(ends) - LINE_GAP


def _level_height(edges: Sequence[Edge]) -> tuple[float, float]:
    """How far level arrows and their labels reach above and below the middle of their row."""
    offset = LEVEL_OFFSET if len(edges) > 1 else 0
    reach = [offset + LABEL_RISE + edge.label.height for edge in edges if not edge.label.is_empty]
    return (reach[0] if reach else 0.0, reach[1] if len(reach) > 1 else 0.0)


def _text_cost(width: float, height: float) -> float:
    """What it costs that text gets small when the whole is fitted into the figure."""
    scale = min(MAX_SCALE, TARGET_WIDTH / max(width, 1), TARGET_HEIGHT / max(height, 1))
    unreadable = max(READABLE_SCALE - scale, 0)
    return (
        _SMALL_TEXT * max(1 / scale - 1, 0)
        + _SMALLER_TEXT * (MAX_SCALE - scale)
        + _UNREADABLE * unreadable
        + _BARELY * min(unreadable, _SPAN)
    )
