"""x coordinates: every box, line and port, so that arrows run straight where they can.

All rules are least distances between neighbours, and the cost is a weighted sum of distances, so that one run of a
network simplex finds the best x for everything (Gansner et al. 1993, section 4). The sum of distances does not see that
one long bend reads better than two short ones; a second run with weights that fall with the distance found (iteratively
reweighted least absolute values) does.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import pairwise

from arrowproof.render.layout.dot import Distance, solve_distances
from arrowproof.render.layout.grid import LEFT, Grid
from arrowproof.render.layout.order import Order
from arrowproof.render.layout.sizes import (
    BEAD_ROOM,
    LABEL_GAP,
    LEVEL_MARGIN,
    LINE_GAP,
    LOOP_REACH,
    NODE_GAP,
    PORT_SPACING,
)

Pin = tuple[int, int]
"""One end of a link: (link index, 0 or 1)."""

SEPARATION = 10
"""Between two pins that would lie on top of each other."""

_LEFT_WALL, _RIGHT_WALL = 0, 1
_STRAIGHT = (4, 6, 10)
"""What one unit of bend costs, by how many ends of the link are no nodes."""
_MAIN = 3
"""How much more that is on the main path."""
_TURN, _LEVEL, _CENTERED = 20, 30, 10
_ELASTIC, _RIGID = 110, 20000
"""What a unit costs by which a box is wider than it must be: a little may straighten an arrow, much may not."""
_FORCED = 3000
"""What a unit of bend costs in a link that is to be straight at any price but a box that grows too far."""
_MOST_GROWTH, _ROOM_OF_PORT = 60, 36
"""A box may grow by this much beyond what it needs, and to this much for each port on its busier side."""
_ROUNDS = 3
_SHORT = 14


@dataclass(frozen=True)
class Columns:
    """x of every box (left and right edge), of every other element, and of every pin."""

    boxes: Mapping[int, tuple[int, int]]
    lines: Mapping[int, int]
    pins: Mapping[Pin, int]
    width: int


def assign_columns(
    grid: Grid,
    order: Order,
    width_cost: int,
    separations: Collection[tuple[Pin, Pin]] = (),
    forced: Collection[int] = (),
) -> Columns:
    """The columns of a grid in this order.

    Args:
        grid: the topology.
        order: the rows of elements from left to right.
        width_cost: the cost of each unit of width; a unit of bend costs some 40 to 100.
        separations: pairs of pins of which the first must stand left of the second.
        forced: indexes of links that are to be straight where that is possible.
    """
    variables = _Variables(grid, order)
    rules = [Distance(_LEFT_WALL, _RIGHT_WALL, 1, width_cost)]
    rules += [*_row_rules(grid, order, variables), *_port_rules(grid, variables)]
    rules += [Distance(variables.pins[a], variables.pins[b], SEPARATION) for a, b in separations]
    factors = [10] * len(grid.links)
    rigid: dict[int, int] = {}
    x: list[int] = []
    rounds = 0
    while rounds < _ROUNDS or (grown := _grown_boxes(grid, variables, x)).keys() - rigid.keys():
        rigid |= grown if rounds >= _ROUNDS else {}
        costs, count = _costs(grid, variables, factors, forced)
        widths = [
            Distance(left, right, rigid.get(node, grid.widths[node]), _RIGID if node in rigid else _ELASTIC)
            for node, (left, right) in variables.boxes.items()
        ]
        x = solve_distances(count, [*rules, *widths, *costs])
        rounds += 1
        bends = [abs(x[variables.pins[link.index, 0]] - x[variables.pins[link.index, 1]]) for link in grid.links]
        factors = [_factor(bend) for bend in bends]
    return Columns(
        boxes={node: (x[a], x[b]) for node, (a, b) in variables.boxes.items()},
        lines={element: x[variable] for element, variable in variables.lines.items()},
        pins={pin: x[variable] for pin, variable in variables.pins.items()},
        width=x[_RIGHT_WALL] - x[_LEFT_WALL],
    )


def _factor(bend: int) -> int:
    """How much the next round minds a bend that this round left: short ones most, since they look like mistakes."""
    if bend == 0:
        return 10
    return 3 + (420 if bend < _SHORT else 140) // (bend + 4)


def _grown_boxes(grid: Grid, variables: _Variables, x: Sequence[int]) -> dict[int, int]:
    """The boxes that have become wider than they may, each with the most that it may be."""
    ports = dict.fromkeys(variables.boxes, 0)
    for (node, _), pins in variables.ports.items():
        ports[node] = max(ports[node], len(pins))
    most = {node: max(grid.widths[node] + _MOST_GROWTH, ports[node] * _ROOM_OF_PORT) for node in ports}
    return {node: most[node] for node, (left, right) in variables.boxes.items() if x[right] - x[left] > most[node]}


class _Variables:
    """Which unknown of the solver stands for what. Elements of one straight line share one."""

    def __init__(self, grid: Grid, order: Order) -> None:
        self.count = 2
        self.boxes = {node.index: (self.new(), self.new()) for node in grid.graph.nodes}
        self.lines = self._shared_lines(grid, order)
        self.pins: dict[Pin, int] = {}
        self.ports: dict[tuple[int, bool], list[Pin]] = {}
        place = {element: place for row in order for place, element in enumerate(row)}
        for link in grid.links:
            for end in (0, 1):
                element = link.element(end)
                if grid.elements[element].node is None:
                    self.pins[link.index, end] = self.lines[element]
                else:
                    self.pins[link.index, end] = self.new()
                    self.ports.setdefault((element, link.is_above(end)), []).append((link.index, end))
        for (node, _), pins in self.ports.items():
            pins.sort(key=partial(_port_key, grid, place, node))

    def new(self) -> int:
        """A fresh variable."""
        self.count += 1
        return self.count - 1

    def _shared_lines(self, grid: Grid, order: Order) -> dict[int, int]:
        """The variable of each element that is no node; along one arrow it is the same until the line must bend."""
        lines: dict[int, int] = {}
        cut = _crossing_links(grid, order)
        for link in grid.links:
            for element in (link.first, link.last):
                if grid.elements[element].node is None and element not in lines:
                    goes_on = element == link.last and link.first in lines and not link.turns and link.index not in cut
                    lines[element] = lines[link.first] if goes_on else self.new()
        return lines


def _crossing_links(grid: Grid, order: Order) -> set[int]:
    """Links between two lines that cross another such link: these two cannot both be straight."""
    place = {element: place for row in order for place, element in enumerate(row)}
    inner: dict[int, list[tuple[int, int, int]]] = {}
    for link in grid.links:
        if not link.turns and all(grid.elements[e].node is None for e in (link.first, link.last)):
            upper, lower = (link.first, link.last) if link.first_above else (link.last, link.first)
            inner.setdefault(link.channel, []).append((place[upper], place[lower], link.index))
    cut: set[int] = set()
    for links in inner.values():
        kept: list[tuple[int, int, int]] = []
        for upper, lower, index in sorted(links, key=lambda link: link[2]):
            if any((upper - u) * (lower - v) < 0 for u, v, _ in kept):
                cut.add(index)
            else:
                kept.append((upper, lower, index))
    return cut


def _port_key(grid: Grid, place: Mapping[int, int], node: int, pin: Pin) -> tuple[int, int, int]:
    """The order of ports on one side of a box: by what is at the other end of their links.

    Links that turn round to another box of the row stand outside, the nearest box outermost.
    """
    link = grid.links[pin[0]]
    other = link.element(1 - pin[1])
    if not link.turns:
        return (0, place[other], link.index)
    if other == node:
        return (1, 0, pin[1])
    return (1 if place[other] > place[node] else -1, -place[other], link.index)


def _row_rules(grid: Grid, order: Order, variables: _Variables) -> list[Distance]:
    """Neighbours in a row keep their distance, and everything stands between the walls."""
    rules = []
    for row in order:
        sides = [_sides(grid, element, variables) for element in row]
        if sides:
            rules.append(Distance(_LEFT_WALL, sides[0][0], sides[0][2]))
            rules.append(Distance(sides[-1][1], _RIGHT_WALL, sides[-1][3]))
        for (a, b), (_, before, _, after_room), (after, _, before_room, _) in zip(
            pairwise(row), sides, sides[1:], strict=False
        ):
            if (a, b) in grid.levels:
                widest = max(edge.label.width for edge in grid.levels[a, b])
                least = max(widest, 16) + 2 * LEVEL_MARGIN
                rules.append(Distance(before, after, least, _LEVEL))
            else:
                both = a in variables.boxes and b in variables.boxes
                gap = NODE_GAP if both else LINE_GAP
                rules.append(Distance(before, after, after_room + before_room + gap))
    return rules


def _sides(grid: Grid, element: int, variables: _Variables) -> tuple[int, int, int, int]:
    """The variables of the left and right side of an element, and the room it needs beyond them."""
    part = grid.elements[element]
    if part.node is not None:
        left, right = variables.boxes[part.node]
        room = {LEFT: 0, -LEFT: 0}
        if part.node in grid.loops:
            loops = grid.loops[part.node]
            widest = max(edge.label.width for edge in loops.edges)
            room[loops.side] = LOOP_REACH + (LABEL_GAP + widest if widest else BEAD_ROOM)
        return left, right, room[LEFT], room[-LEFT]
    line = variables.lines[element]
    if part.is_label and part.edge is not None:
        return line, line, BEAD_ROOM, LABEL_GAP + grid.graph.edges[part.edge].label.width
    return line, line, 0, 0


def _port_rules(grid: Grid, variables: _Variables) -> list[Distance]:
    """Ports keep off the corners of their box and off each other."""
    rules = []
    for (node, _), pins in variables.ports.items():
        left, right = variables.boxes[node]
        rim = grid.graph.nodes[node].rim
        rules.append(Distance(left, variables.pins[pins[0]], rim))
        rules.append(Distance(variables.pins[pins[-1]], right, rim))
        for a, b in pairwise(pins):
            rules.append(Distance(variables.pins[a], variables.pins[b], PORT_SPACING))
    return rules


def _costs(
    grid: Grid, variables: _Variables, factors: Sequence[int], forced: Collection[int]
) -> tuple[list[Distance], int]:
    """What the solver minimises, and the count of variables with its helpers: one for each absolute difference."""
    costs: list[Distance] = []
    count = variables.count

    def differ(a: int, b: int, weight: int, offset: int = 0) -> None:
        """Cost of |b - a - offset|: a helper below both ends."""
        nonlocal count
        helper, count = count, count + 1
        costs.append(Distance(helper, a, 0, weight))
        costs.append(Distance(helper, b, offset, weight))

    for link, factor in zip(grid.links, factors, strict=True):
        a, b = variables.pins[link.index, 0], variables.pins[link.index, 1]
        if a == b:
            continue
        free = sum(grid.elements[element].node is None for element in (link.first, link.last))
        edge = grid.graph.edges[link.edge]
        weight = _STRAIGHT[free] * factor * (_MAIN if (edge.tail, edge.head) in grid.graph.main_steps else 1)
        differ(a, b, _FORCED if link.index in forced else _TURN if link.turns else weight)
    for (node, _), pins in variables.ports.items():
        first = grid.widths[node] // 2 - (len(pins) - 1) * PORT_SPACING // 2
        for place, pin in enumerate(pins):
            differ(variables.boxes[node][0], variables.pins[pin], _CENTERED, first + place * PORT_SPACING)
    return costs, count
