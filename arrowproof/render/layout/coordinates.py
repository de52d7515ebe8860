"""x coordinates: every box, line and port, so that arrows run straight where they can.

All rules are least distances between neighbours, and the cost is a weighted sum of distances, so that one run of a
network simplex finds the best x for everything (Gansner et al. 1993, section 4). The sum of distances does not see that
one long bend reads better than two short ones; further runs do, whose weights fall with the distance that was found
(iteratively reweighted least absolute values).
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from itertools import pairwise

from arrowproof.model.record import record
from arrowproof.render.layout.dot import Distance
from arrowproof.render.layout.grid import Grid
from arrowproof.render.layout.loops import LEFT, RIGHT, CornerLoop
from arrowproof.render.layout.order import Order
from arrowproof.render.layout.sizes import (
    BEAD_ROOM,
    CORNER_WIDTH,
    LABEL_APART,
    LABEL_GAP,
    LEVEL_MARGIN,
    LOOP_REACH,
    NODE_GAP,
)
from arrowproof.render.layout.variables import LEFT_WALL, RIGHT_WALL, Pin, Variables
from arrowproof.render.quality import LEAST_STEP

SEPARATION = 10
"""Between two pins that would lie on top of each other."""

_STRAIGHT = (4, 6, 10)
"""What one unit of bend costs, by how many ends of the link are no nodes."""
_MAIN = 3
"""How much more that is on the main path."""
_TURN, _LEVEL, _CENTERED = 20, 30, 10
_ELASTIC, _RIGID = 110, 20000
"""What a unit costs by which a box is wider than it must be: a little may straighten an arrow, much may not."""
_FORCED = 3000
"""What a unit of bend costs in a link that is to be straight at any price but a box that grows too far."""
_MOST_GROWTH = 1.45
"""A box may grow to this many times its own width, or to the width that its ports need: more looks important."""
_HAIR, _HAIR_COST = 3, 50_000
"""A bend shorter than this is a mistake, whatever it costs: a box may grow by a hair more than it may for others."""
_ROUNDS, _FIRST_FACTOR, _SHORT = 3, 10, 14


@record
class Columns:
    """x of every box (left and right edge), of every other element, and of every pin."""

    boxes: Mapping[int, tuple[int, int]]
    lines: Mapping[int, int]
    pins: Mapping[Pin, int]
    width: int
    factors: tuple[int, ...] = ()
    """How much the last round minded a bend of each link."""


@record
class Jogs:
    """What becomes of links that step aside by too little to look meant.

    ``straight`` ones get a box that grows further than it may for others; ``steps`` are the pins, the left one first,
    of those that step aside far enough.
    """

    straight: tuple[int, ...] = ()
    steps: tuple[tuple[Pin, Pin], ...] = ()


def assign_columns(
    grid: Grid,
    order: Order,
    width_cost: int,
    separations: Collection[tuple[Pin, Pin]] = (),
    forced: Collection[int] = (),
    start: Columns | None = None,
    jogs: Jogs | None = None,
) -> Columns:
    """The columns of a grid in this order.

    Args:
        grid: the topology.
        order: the rows of elements from left to right.
        width_cost: the cost of each unit of width; a unit of bend costs some 40 to 100.
        separations: pairs of pins of which the first must stand left of the second.
        forced: indexes of links that are to be straight where that is possible.
        start: columns that are almost right: one round makes them new.
        jogs: what becomes of jogs.
    """
    variables = Variables(grid, order)
    rules = [Distance(LEFT_WALL, RIGHT_WALL, 1, width_cost)]
    rules += [*_row_rules(grid, order, variables), *_port_rules(grid, variables)]
    rules += _corner_rules(grid, order, variables)
    rules += [Distance(variables.pins[a], variables.pins[b], max(SEPARATION, grid.graph.apart)) for a, b in separations]
    jogs = jogs or Jogs()
    rules += [Distance(variables.pins[a], variables.pins[b], LEAST_STEP) for a, b in jogs.steps]
    factors = start.factors if start else (_FIRST_FACTOR,) * len(grid.links)
    x, factors = _solved(grid, variables, rules, (forced, jogs.straight), factors, 1 if start else _ROUNDS)
    return Columns(
        boxes={node: (x[a], x[b]) for node, (a, b) in variables.boxes.items()},
        lines={element: x[variable] for element, variable in variables.lines.items()},
        pins={pin: x[variable] for pin, variable in variables.pins.items()},
        width=x[RIGHT_WALL] - x[LEFT_WALL],
        factors=factors,
    )


def _solved(
    grid: Grid,
    variables: Variables,
    rules: Sequence[Distance],
    wanted: tuple[Collection[int], Collection[int]],
    factors: tuple[int, ...],
    least_rounds: int,
) -> tuple[list[int], tuple[int, ...]]:
    """The value of each variable after all rounds, and after more of them while boxes are wider than they may be.

    With them the factors of the last round. ``wanted`` are the links that are to be straight where that is possible,
    and those for which a box may even grow further than for others.
    """
    rigid: dict[int, int] = {}
    rounds = 0
    while True:
        x = _solve(grid, variables, rules, rigid, _costs(grid, variables, factors, *wanted))
        rounds += 1
        grown = _grown_boxes(grid, variables, x) if rounds >= least_rounds else {}
        bends = [abs(x[variables.pins[link.index, 0]] - x[variables.pins[link.index, 1]]) for link in grid.links]
        if rounds >= least_rounds and not grown.keys() - rigid.keys():
            break
        rigid |= grown
        factors = tuple(map(_factor, bends))
    straight = [link.index for link, bend in zip(grid.links, bends, strict=True) if bend < _HAIR and not link.turns]
    if any(bends[index] for index in straight):
        x = _solve(grid, variables, rules, rigid, _costs(grid, variables, factors, wanted[0], {*wanted[1], *straight}))
    return x, factors


def _solve(
    grid: Grid,
    variables: Variables,
    rules: Sequence[Distance],
    rigid: Mapping[int, int],
    costs: tuple[Sequence[Distance], int],
) -> list[int]:
    """The value of each variable at these costs; ``rigid`` holds the width of each box that must not grow further."""
    widths = [
        Distance(left, right, rigid.get(node, grid.widths[node]), _RIGID if node in rigid else _ELASTIC)
        for node, (left, right) in variables.boxes.items()
    ]
    return grid.solver.solve(costs[1], [*rules, *widths, *costs[0]])


def _factor(bend: int) -> int:
    """How much the next round minds a bend that this round left: short ones most, since they look like mistakes."""
    if bend == 0:
        return _FIRST_FACTOR
    return 3 + (420 if bend < _SHORT else 140) // (bend + 4)


def _grown_boxes(grid: Grid, variables: Variables, x: Sequence[int]) -> dict[int, int]:
    """The boxes that have become wider than they may, each with the most that it may be."""
    most = {node.index: max(int(node.width * _MOST_GROWTH), grid.widths[node.index]) for node in grid.graph.nodes}
    return {node: most[node] for node, (left, right) in variables.boxes.items() if x[right] - x[left] > most[node]}


def _row_rules(grid: Grid, order: Order, variables: Variables) -> list[Distance]:
    """Neighbours in a row keep their distance, and everything stands between the walls."""
    rules = []
    for row in order:
        sides = [_sides(grid, element, variables) for element in row]
        if sides:
            rules.append(Distance(LEFT_WALL, sides[0][0], sides[0][2]))
            rules.append(Distance(sides[-1][1], RIGHT_WALL, sides[-1][3]))
        for (a, b), (_, before, _, after_room), (after, _, before_room, _) in zip(
            pairwise(row), sides, sides[1:], strict=False
        ):
            if (a, b) in grid.levels:
                widest = max(edge.label.width for edge in grid.levels[a, b])
                least = max(widest, 16) + 2 * LEVEL_MARGIN
                rules.append(Distance(before, after, least, _LEVEL))
            else:
                both = a in variables.boxes and b in variables.boxes
                gap = NODE_GAP if both else grid.graph.line_gap
                rules.append(Distance(before, after, after_room + before_room + gap))
    return rules


def _sides(grid: Grid, element: int, variables: Variables) -> tuple[int, int, int, int]:
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


def _port_rules(grid: Grid, variables: Variables) -> list[Distance]:
    """Ports keep off the corners of their box and off each other."""
    rules = []
    for (node, _), pins in variables.ports.items():
        left, right = variables.boxes[node]
        rim = grid.graph.nodes[node].rim
        rules.append(Distance(left, variables.pins[pins[0]], rim))
        rules.append(Distance(variables.pins[pins[-1]], right, rim))
        for a, b in pairwise(pins):
            spacing = CORNER_WIDTH if a[0] == b[0] < 0 else grid.graph.port_spacing
            rules.append(Distance(variables.pins[a], variables.pins[b], spacing))
    return rules


def _corner_rules(grid: Grid, order: Order, variables: Variables) -> list[Distance]:
    """The labels of corner loops keep off what stands beside their box, and off the labels of each other."""
    if not grid.corners:
        return []
    rules = []
    for row in order:
        sides = [(LEFT_WALL, LEFT_WALL, 0, 0), *(_sides(grid, one, variables) for one in row)]
        sides.append((RIGHT_WALL, RIGHT_WALL, 0, 0))
        for place, element in enumerate(row, start=1):
            for loop in grid.corners.get(element, ()):
                outer = variables.pins[loop.pin(0)]
                left, right, _, _ = sides[place]
                before, after = sides[place - 1], sides[place + 1]
                if _is_beside_level_label(grid, row, place - 1, loop):
                    ends = (outer, right) if loop.hand == RIGHT else (left, outer)
                    rules.append(Distance(*ends, loop.room - LEVEL_MARGIN + LABEL_APART))
                elif loop.hand == RIGHT:
                    rules.append(Distance(outer, after[0], loop.room + grid.graph.line_gap + after[2]))
                else:
                    rules.append(Distance(before[1], outer, loop.room + grid.graph.line_gap + before[3]))
        for a, b in pairwise(row):
            for first in grid.corners.get(a, ()):
                for second in grid.corners.get(b, ()):
                    if first.hand == RIGHT and second.hand == LEFT and first.is_below == second.is_below:
                        ends = (variables.pins[first.pin(0)], variables.pins[second.pin(0)])
                        rules.append(Distance(*ends, first.room + second.room + LABEL_APART))
    return rules


def _is_beside_level_label(grid: Grid, row: Sequence[int], place: int, loop: CornerLoop) -> bool:
    """Whether a level arrow on that side of the box has its label at the height of the loop's label."""
    first = place if loop.hand == RIGHT else place - 1
    pair = row[first : first + 2] if first >= 0 else ()
    edges = grid.levels.get((pair[0], pair[1]), ()) if len(pair) == 2 else ()
    return any(not edge.label.is_empty for edge in (edges[1:2] if loop.is_below else edges[:1]))


def _costs(
    grid: Grid,
    variables: Variables,
    factors: Sequence[int],
    forced: Collection[int],
    straight: Collection[int] = (),
) -> tuple[list[Distance], int]:
    """What the solver minimises, and the count of variables with its helpers: one for each absolute difference.

    ``straight`` are the links that are straight but for a hair, or must be.
    """
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
        dear = _HAIR_COST if link.index in straight else _FORCED if link.index in forced else None
        differ(a, b, dear or (_TURN if link.turns else weight))
    for (node, _), pins in variables.ports.items():
        spacing = grid.graph.port_spacing
        first = grid.widths[node] // 2 - (len(pins) - 1) * spacing // 2
        for place, pin in enumerate(pins):
            differ(variables.boxes[node][0], variables.pins[pin], _CENTERED, first + place * spacing)
    return costs, count
