"""The order of all elements in each row, from left to right, once the order of the nodes is known.

The chains of elements are put between the nodes one after the other, short ones first, each on the way that crosses
least of what stands already, and of these ways on the straightest. Then each is taken out and put in anew, while that
saves something. The best way of one chain is found exactly, row by row (dynamic programming over the places of a row).
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Iterator, Mapping, Sequence
from itertools import accumulate
from operator import add
from typing import NamedTuple

from arrowproof.render.layout.dot import Distance, order_rows
from arrowproof.render.layout.estimate import Estimate
from arrowproof.render.layout.grid import Grid, Link

Order = tuple[tuple[int, ...], ...]
"""Rows of element indexes, each row from left to right."""

MOST_ELEMENTS = 700
"""A larger grid is ordered by dot: exact ways would take too long."""

_WEIGHTS = (1, 3, 9)
"""A link weighs by how many of its ends are no nodes, which keeps long arrows straight."""
_ROUNDS = 3
WAY = 1 / 4000
"""What a unit of sideways way costs; a crossing costs 1."""
_ROUNDING = 1e-6
"""Sums of the same numbers in another order may differ by less than this."""


def order_elements(grid: Grid) -> Order:
    """Every row of the grid in its final order. Nodes keep the order of the grid's placement."""
    if len(grid.elements) > MOST_ELEMENTS:
        return _order_by_dot(grid)
    return _Arrangement(grid, Estimate(grid.graph).columns(grid.node_rows)).order()


class _Place(NamedTuple):
    """A place in a row: what has a lower index than ``low`` is left of it, what has ``high`` or more is right of it.

    The two are equal for a gap between elements, and differ by one for an element that stands there already.
    """

    low: int
    high: int
    x: float
    cost: float = 0.0


class _Arrangement:
    """Rows that fill up chain by chain."""

    def __init__(self, grid: Grid, columns: Mapping[int, float]) -> None:
        self.grid = grid
        self.x = dict(columns)
        self.half = {node: width / 2 for node, width in grid.widths.items()}
        self.rows = _node_rows(grid)
        self.links: list[list[Link]] = [[] for _ in range(len(grid.rows) + 1)]
        self.turns: list[list[Link]] = [[] for _ in range(len(grid.rows) + 1)]
        self.chains: dict[int, list[Link]] = {
            edge: [grid.links[index] for index in route] for edge, route in grid.routes.items()
        }

    def order(self) -> Order:
        """All rows in order."""
        chains = sorted(self.chains, key=self._precedence)
        for edge in chains:
            self._insert(edge)
        for _ in range(_ROUNDS):
            before = [list(row) for row in self.rows]
            for edge in chains:
                self._remove(edge)
                self._insert(edge)
            if before == self.rows:
                break
        return tuple(map(tuple, self.rows))

    def _precedence(self, edge: int) -> tuple[int, int, int, int]:
        """Short chains first. Of arrows between the same two boxes the one with the widest label comes first.

        The next one then goes to its left, and the widest label stands on the right, where it may reach beyond the box.
        """
        graph = self.grid.graph
        one = graph.edges[edge]
        pair = graph.pairs.get((min(one.tail, one.head), max(one.tail, one.head)), (one,))
        return len(self.chains[edge]), pair[0].index, -one.label.width, edge

    def _insert(self, edge: int) -> None:
        links = self.chains[edge]
        turn = next((link for link in links if link.turns), None)
        if turn is None:
            self._insert_way(links)
        elif len(links) > 1:
            self._insert_turn(links[0], turn, links[-1])
        for link in links:
            (self.turns if link.turns else self.links)[link.channel].append(link)

    def _remove(self, edge: int) -> None:
        for link in self.chains[edge]:
            (self.turns if link.turns else self.links)[link.channel].remove(link)
            element = self.grid.elements[link.last]
            if element.node is None:
                self.rows[element.row].remove(element.index)

    def _insert_way(self, links: Sequence[Link]) -> None:
        """Put a chain in on the cheapest way from its first node to its last."""
        start = self.x[links[0].first]
        passed = [link.last for link in links[:-1]]
        places = [[self._node_place(links[0].first)]]
        places += [self._gaps(self.grid.elements[element].row, start) for element in passed]
        places.append([self._node_place(links[-1].last)])
        costs = [0.0]
        came_from: list[list[int]] = []
        for link, here, there in zip(links, places, places[1:], strict=False):
            costs, best = self._step(link, costs, here, there)
            came_from.append(best)
        choice = 0
        chosen = []
        for best in reversed(came_from):
            choice = best[choice]
            chosen.append(choice)
        for element, options, choice in zip(passed, places[1:], reversed(chosen[:-1]), strict=False):
            self._put(element, options[choice])

    def _step(
        self, link: Link, costs: Sequence[float], here: Sequence[_Place], there: Sequence[_Place]
    ) -> tuple[list[float], list[int]]:
        """The least cost of coming to each place of the next row, and the place that it is reached from.

        A way of any length costs little beside a crossing, so that few places are looked at with theirs.
        """
        if len(here) == 1:
            ways = self._crossings(link, here[0], there)
            start, cost = here[0].x, costs[0]
            one_row = zip(there, ways, strict=True)
            return [cost + cut + abs(start - place.x) * WAY + place.cost for place, cut in one_row], [0] * len(there)
        starts = [place.x for place in here]
        found, best = [], []
        for place, crossed in zip(there, self._crossed(link, here, there), strict=True):
            end = place.x
            without_way = list(map(add, costs, crossed))
            likely = without_way.index(min(without_way))
            most = without_way[likely] + abs(starts[likely] - end) * WAY
            rows = [row for row, cost in enumerate(without_way) if cost <= most]
            least, row = min([(without_way[row] + abs(starts[row] - end) * WAY, row) for row in rows])
            found.append(least + place.cost)
            best.append(row)
        return found, best

    def _crossed(self, link: Link, here: Sequence[_Place], there: Sequence[_Place]) -> Iterator[Sequence[int]]:
        """For each place there, how many links of its channel a link would cross from each of several places here.

        From one gap to the next one there, only the links that end between the two count in another way.
        """
        if len(there) == 1:  # the only one that may be a node
            yield self._crossings(link, there[0], here, is_turned=True)
            return
        starts = [place.low for place in here]
        ends = sorted((b, bisect_right(starts, a)) for a, b in self._places_of_links(link, is_turned=False))
        # Left of all ends there, a link crosses all those that begin to the left of it.
        befores = sorted(before for _, before in ends)
        crossed = [bisect_right(befores, row) for row in range(len(starts))]
        one_more = [1] * len(starts) + [-1] * len(starts)
        passed = 0
        for place in there:
            while passed < len(ends) and ends[passed][0] < place.low:
                turn = len(starts) - ends[passed][1]
                crossed = list(map(add, crossed, one_more[turn : turn + len(starts)]))
                passed += 1
            yield crossed

    def _insert_turn(self, out: Link, turn: Link, back: Link) -> None:
        """Put in both legs of an arrow that turns round, the one with the label on the left."""
        label_left = self.grid.elements[out.last].is_label
        left, right = (out, back) if label_left else (back, out)
        left_node, right_node = (link.first if link is out else link.last for link in (left, right))
        left_leg, right_leg = (link.last if link is out else link.first for link in (left, right))
        row = self.grid.elements[left_leg].row
        gaps = self._gaps(row, self.x[left_node])
        left_costs = self._crossings(left, self._node_place(left_node), gaps, is_turned=left is back)
        right_costs = self._crossings(right, self._node_place(right_node), gaps, is_turned=right is back)
        far = turn.channel
        ends = {end for link in self.links[far] for end in (link.first, link.last)}
        passed = list(accumulate((element in ends for element in self.rows[row]), initial=0))
        left_ways = [abs(gap.x - self.x[left_node]) for gap in gaps]
        right_ways = [abs(gap.x - self.x[right_node]) for gap in gaps]
        left_costs = [cost - passed[gap.low] for cost, gap in zip(left_costs, gaps, strict=True)]
        right_costs = [cost + passed[gap.low] for cost, gap in zip(right_costs, gaps, strict=True)]
        chosen = best_pair(left_costs, right_costs, left_ways, right_ways)
        self._put(right_leg, gaps[chosen[1]])
        self._put(left_leg, gaps[chosen[0]])

    def _put(self, element: int, place: _Place) -> None:
        self.rows[self.grid.elements[element].row].insert(place.low, element)
        self.x[element] = place.x

    def _node_place(self, node: int) -> _Place:
        place = self.rows[self.grid.elements[node].row].index(node)
        return _Place(place, place + 1, self.x[node])

    def _gaps(self, row: int, start: float) -> list[_Place]:
        """The gaps of a row that a line may take, each with the x in it that is nearest to where the line comes from.

        A gap inside a turn costs what its line would cross.
        """
        elements = self.rows[row]
        turned = list(accumulate(self._turn_ends(row), initial=0))
        gaps = []
        for gap in range(len(elements) + 1):
            left = elements[gap - 1] if gap else None
            right = elements[gap] if gap < len(elements) else None
            if left is not None and right is not None and (left, right) in self.grid.levels:
                continue
            least = -float("inf") if left is None else self.x[left] + self.half.get(left, 0.0)
            most = float("inf") if right is None else self.x[right] - self.half.get(right, 0.0)
            gaps.append(_Place(gap, gap, max(least, min(most, start)), turned[gap]))
        return gaps

    def _turn_ends(self, row: int) -> list[int]:
        """For each element of a row how many turns begin there, less those that end there, from left to right."""
        ends = [0] * len(self.rows[row])
        turns = [turn for turn in (*self.turns[row], *self.turns[row + 1]) if self.grid.elements[turn.first].row == row]
        place_of = {element: place for place, element in enumerate(self.rows[row])} if turns else {}
        for turn in turns:
            first, last = sorted((place_of[turn.first], place_of[turn.last]))
            ends[first] += 1
            ends[last] -= 1
        return ends

    def _crossings(self, link: Link, here: _Place, there: Sequence[_Place], is_turned: bool = False) -> list[int]:
        """How many links of its channel a link would cross from a place here to each place there.

        ``here`` is in the row of the link's first end, or of its last when it is turned.
        """
        ends = self._places_of_links(link, is_turned)
        left = sorted([b for a, b in ends if a < here.low])
        right = sorted([b for a, b in ends if a >= here.high])
        count = len(left)
        return [count - bisect_left(left, end.high) + bisect_left(right, end.low) for end in there]

    def _places_of_links(self, link: Link, is_turned: bool) -> list[tuple[int, int]]:
        """(place here, place there) of each other link in the channel."""
        near, far = (link.last, link.first) if is_turned else (link.first, link.last)
        elements = self.grid.elements
        here = {element: place for place, element in enumerate(self.rows[elements[near].row])}
        there = {element: place for place, element in enumerate(self.rows[elements[far].row])}
        return [
            (here[one.first], there[one.last]) if one.first in here else (here[one.last], there[one.first])
            for one in self.links[link.channel]
        ]


def best_pair(
    left_costs: Sequence[int], right_costs: Sequence[int], left_ways: Sequence[float], right_ways: Sequence[float]
) -> tuple[int, int]:
    """The gaps of both legs of a turn, the left one first, at which crossings and ways cost least.

    What the legs cost by themselves tells all but a few pairs apart; only the rest are added up exactly.
    """
    left = [cost + way * WAY for cost, way in zip(left_costs, left_ways, strict=True)]
    right = [cost + way * WAY for cost, way in zip(right_costs, right_ways, strict=True)]
    least = list(accumulate(reversed(right), min))[::-1]
    limit = min(map(add, left, least)) + _ROUNDING
    return min(
        (left_costs[a] + right_costs[b] + (left_ways[a] + right_ways[b]) * WAY, (a, b))
        for a, cost in enumerate(left)
        if cost + least[a] <= limit
        for b in range(a, len(right))
        if cost + right[b] <= limit
    )[1]


def _node_rows(grid: Grid) -> list[list[int]]:
    """The rows with nodes only, in the order of the placement."""
    rows: list[list[int]] = [[] for _ in grid.rows]
    for nodes in grid.node_rows:
        rows[grid.elements[nodes[0]].row] = list(nodes)
    return rows


def _order_by_dot(grid: Grid) -> Order:
    """The order that dot finds; then what stands between two neighbours that a level arrow joins moves out."""
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
