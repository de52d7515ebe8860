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
from arrowproof.render.layout.grid import MAX_LEVEL, Placement
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
_ROUNDING = 1e-6
"""Sums of the same numbers in another order may differ by less than this."""
_LABEL_ROOM = BEAD_ROOM + LABEL_GAP + LINE_GAP


_Part = tuple[float, int, tuple[int, ...], int, float, float]
"""What takes room in rows: (x, row, (), 0, width, gap before it when a box is there) is a box, and
(x, -1, rows passed, label row, label width, 0) a line. State rows come first, label rows after them."""


class Estimate:
    """Guesses the cost of placements of one graph. Lower is better; a crossing costs 6."""

    def __init__(self, graph: Graph) -> None:
        self.graph = graph
        self.widths = [node.width for node in graph.nodes]
        self.heights = [node.height for node in graph.nodes]
        self.loops = {
            node: max(edge.label.width for edge in edges) + LOOP_REACH + LABEL_GAP
            for node, edges in graph.loops.items()
        }
        self.joints = {
            ends: _joint(edges, ends[1]) for pair, edges in graph.pairs.items() for ends in (pair, pair[::-1])
        }
        self.edges = [edge for edge in graph.edges if not edge.is_loop]
        self.weights = [_MAIN if (e.tail, e.head) in graph.main_steps else 1.0 for e in graph.edges]
        self.ends = [(e.tail, e.head, e.index, _STEP * self.weights[e.index]) for e in self.edges]
        self.parts = [(self.weights[e.index], e.label.width, e.label.height, self._reach(e)) for e in graph.edges]
        self.neighbours: list[list[int]] = [[] for _ in graph.nodes]
        for edge in self.edges:
            self.neighbours[edge.tail].append(edge.head)
            self.neighbours[edge.head].append(edge.tail)
        self._known: dict[tuple[int, ...], RowGuess] = {}

    def cost(self, rows: Placement, limit: float = math.inf) -> float:
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
        least_text = _text_cost(widest_gap, _COMPACTED * height)
        if cost + least_text >= room + _ROUNDING:
            return math.inf
        crossings = _CROSSING * guessed_crossings(guess, gap_edges)
        # What costs a little more than the limit is worth knowing: it may be as good as the best.
        if cost + crossings >= room + CLOSE - least_text:
            return math.inf
        width = max(self._width(guess, lines), widest_gap)
        cost += _text_cost(width, _COMPACTED * (height + SLOT * sum(map(depth, gap_edges))))
        return math.inf if cost >= room else guess.cost + cost + crossings

    def columns(self, rows: Placement) -> dict[int, float]:
        """A guess of each node's middle."""
        guess = self._structure(rows)
        assert guess is not None  # without a limit
        self._place(guess)
        return guess.x

    def _reach(self, edge: Edge) -> float:
        return (self.widths[edge.tail] + self.widths[edge.head]) / 2 - 3 * PORT_SPACING

    def _infos(self, rows: Placement) -> list[RowGuess]:
        """What is known of each row; rows come back again and again during a search."""
        return [self._known.get(row) or self._new_row(row) for row in rows]

    def _new_row(self, row: tuple[int, ...]) -> RowGuess:
        """What is known of a row that is met for the first time, which is remembered."""
        upper = lower = max([self.heights[node] for node in row]) / 2
        cost, gaps, blocks, first = 0.0, [0.0], [], row[0]
        level: tuple[int, ...] = ()
        for left, right in pairwise(row):
            joint = self.joints.get((left, right))
            if joint is None:
                gaps.append(NODE_GAP)
                blocks.append((first, left))
                first = right
            else:
                gap, above, below, edges, leftwards = joint
                gaps.append(gap)
                upper, lower = max(upper, above), max(lower, below)
                level += edges
                cost += leftwards
        blocks.append((first, row[-1]))
        widths = [self.widths[node] for node in row]
        steps = tuple([(node, gap, width / 2) for node, gap, width in zip(row, gaps, widths, strict=True)])
        for place, node in enumerate(row) if self.loops else ():
            if node in self.loops:
                if any(node in ends for ends in blocks):
                    widths[place] += self.loops[node]
                else:
                    cost += _BUSY_SIDES
                    lower = max(lower, self.heights[node] / 2 + CORNER_DEPTH)
        boxes = tuple(zip(row, widths, gaps, strict=True))
        info = RowGuess(sum(widths) + sum(gaps), upper + lower, steps, boxes, level, tuple(blocks), cost)
        self._known[row] = info
        return info

    def _structure(self, rows: Placement, limit: float = math.inf) -> Guess | None:
        """Everything that does not depend on x: the rows and gaps with the room they need, and what that costs.

        None when it costs the limit or more, before the room is reckoned: about half of what a search tries.
        """
        infos = self._infos(rows)
        row_of = [-1] * len(self.widths)
        for number, row in enumerate(rows):
            for node in row:
                row_of[node] = number
        cost = path_cost(self.graph, rows, row_of) + sum([info.cost for info in infos])
        if self.graph.lanes:
            cost += _LANE_BREAK * lane_breaks(rows, self.graph.lanes)
        crossing, turning = [], []
        for tail, head, index, step in self.ends:
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
            cost += step
            crossing.append((upper, lower, first, last, index))
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
        rows: Placement,
        infos: list[RowGuess],
        row_of: list[int],
        crossing: Iterable[tuple[int, int, int, int, int]],
        cost: float,
    ) -> Guess:
        """The room that rows and gaps need for the edges that lead from row to row."""
        count = len(rows) + 1
        widths, gap_widths, gap_heights = [info.width for info in infos], [0.0] * count, [0.0] * count
        is_used = [False] * count
        ways: list[Way] = []
        for upper, lower, first, last, index in crossing:
            weight, label_width, label_height, reach = self.parts[index]
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
        return Guess(rows, infos, row_of, widths, gap_widths, gap_heights, is_used, ways, [], cost, {})

    def _add_turning(self, guess: Guess, index: int) -> None:
        """The room of an edge within a row that leads round the boxes in between."""
        edge = self.graph.edges[index]
        row = guess.row_of[edge.tail]
        is_below = row + 1 < len(guess.rows) or row == 0
        gap = row + is_below
        guess.gap_widths[gap] += edge.label.width + _LABEL_ROOM + LINE_GAP
        guess.gap_heights[gap] = max(guess.gap_heights[gap], edge.label.height + SLOT)
        guess.turns.append((gap, is_below, edge.tail, edge.head))

    def _place(self, guess: Guess) -> None:
        """All nodes in their columns: the widest row is packed, the others move to their neighbours."""
        widths = guess.widths
        widest = max(range(len(widths)), key=widths.__getitem__)
        for number in (widest, *range(widest - 1, -1, -1), *range(widest + 1, len(widths))):
            self._place_row(guess, number, widths[widest] / 2, number == widest)

    def _place_row(self, guess: Guess, number: int, half: float, is_packed: bool) -> None:
        """The x of each node of a row: packed around 0, or at the mean of the neighbours that are placed already."""
        x, shift = guess.x, 0.0
        free = -guess.widths[number] / 2
        places = []
        for node, gap, half_width in guess.infos[number].steps:
            least = wish = free + gap + half_width
            if not is_packed:
                known = [x[other] for other in self.neighbours[node] if other in x]
                if known:
                    wish = sum(known) / len(known)
            place = wish if wish > least else least
            places.append(place)
            shift += wish - place
            free = place + half_width
        if not is_packed:
            shift /= len(places)
            beyond = max(free + shift - half, 0.0)
            shift -= min(beyond, max(half * 2 - guess.widths[number], 0.0))
        for node, place in zip(guess.rows[number], places, strict=True):
            x[node] = place + shift

    def _ways_cost(self, guess: Guess) -> tuple[float, list[float], list[list[tuple[float, float]]]]:
        """What bends and sideways ways cost, the x of each line where it has its label, and the ends of the lines in
        each gap."""
        x, widths, cost = guess.x, self.widths, 0.0
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
                    blocks = spans[first, last] = [
                        (x[a] - widths[a] / 2 - 7, x[b] + widths[b] / 2 + 7)
                        for info in guess.infos[first + 1 : last]
                        for a, b in info.blocks
                    ]
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


_Joint = tuple[float, float, float, tuple[int, ...], float]
"""What joins two neighbours in a row: (gap, how far it reaches above and below the middle of the row, its level edges,
what it costs that some of them lead to the left)."""


def _joint(edges: Sequence[Edge], right: int) -> _Joint:
    """What these edges make of the gap between two nodes of which this one stands on the right."""
    gap = max(16, *(edge.label.width for edge in edges)) + 2 * LEVEL_MARGIN
    level = edges[:MAX_LEVEL]
    offset = LEVEL_OFFSET if len(level) > 1 else 0
    reach = [offset + LABEL_RISE + edge.label.height for edge in level if not edge.label.is_empty]
    above, below = reach[0] if reach else 0.0, reach[1] if len(reach) > 1 else 0.0
    leftwards = _LEFTWARDS * sum((edge.tail == right) / number for number, edge in enumerate(level, start=1))
    return gap, above, below, tuple(edge.index for edge in level), leftwards


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
