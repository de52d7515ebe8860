"""Placements: which node stands in which row, and in what order.

The main path (creation to success) is laid in one row, in two rows, and so on; each time the other nodes are put, one
by one, where the estimate is lowest, and then nodes move as long as that helps. The rows of dot make one more start.
The number of steps depends on the size of the model alone, never on a clock.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence
from itertools import combinations

from arrowproof.render.layout.dot import Distance, rank_nodes
from arrowproof.render.layout.estimate import Estimate
from arrowproof.render.layout.graph import Graph
from arrowproof.render.layout.grid import Placement

_MAX_MAIN_ROWS = 4
MANY_NODES, _TOO_MANY_NODES = 20, 45
"""A larger model gets fewer starts and fewer sweeps, and at last none: its text is too small to read in any case."""

_CLOSE = 2.5
"""The neighbours of the best placement are drawn too when the estimate cannot tell them from it."""
_MOST = 5
_GAIN = 1e-9

_Rows = list[list[int]]


def find_placements(graph: Graph) -> dict[Placement, float]:
    """Placements that promise a good drawing, each with its estimated cost, the most promising first."""
    estimate = Estimate(graph)
    ranked = [list(row) for row in ranked_placement(graph)]
    if len(graph.nodes) > _TOO_MANY_NODES:
        return {_frozen(ranked): estimate.cost(ranked)}
    is_large = len(graph.nodes) > MANY_NODES
    starts = [_completed(graph, estimate, rows) for rows in _main_rows(graph, 3 if is_large else 1)]
    starts.append(ranked)
    found: dict[Placement, float] = {}
    for start in starts:
        rows = _improved(estimate, start, 1 if is_large else 4)
        found[_frozen(rows)] = estimate.cost(rows)
    best = min(found, key=lambda placement: (found[placement], placement))
    if not is_large:
        for rows in _moves([list(row) for row in best]):
            found.setdefault(_frozen(rows), estimate.cost(rows, found[best] + _CLOSE))
    return dict(sorted(found.items(), key=lambda item: (item[1], item[0]))[:_MOST])


def ranked_placement(graph: Graph) -> Placement:
    """The rows of dot, one for each rank."""
    edges = [
        Distance(edge.tail, edge.head, 1, 10 if graph.nodes[edge.tail].kind == "start" else 1)
        for edge in graph.edges
        if not edge.is_loop
    ]
    ranks = rank_nodes(len(graph.nodes), edges)
    rows: _Rows = [[] for _ in range(max(ranks, default=-1) + 1)]
    for node, rank in enumerate(ranks):
        rows[rank].append(node)
    return tuple(tuple(row) for row in rows if row)


def _main_rows(graph: Graph, least: int) -> Iterator[_Rows]:
    """The main path cut into ``least`` rows, one more, and so on, each time into rows of about the same width."""
    main = graph.main_path
    widths = [graph.nodes[node].width + 100 for node in main]
    for count in range(min(least, len(main)), min(max(_MAX_MAIN_ROWS, least), len(main)) + 1):
        share = sum(widths) / count
        rows: _Rows = [[]]
        filled = 0.0
        for node, width in zip(main, widths, strict=True):
            if rows[-1] and filled + width / 2 > share * len(rows) and len(rows) < count:
                rows.append([])
            rows[-1].append(node)
            filled += width
        yield rows


def _completed(graph: Graph, estimate: Estimate, rows: _Rows) -> _Rows:
    """The rows with all other nodes put in, each where the estimate is lowest; neighbours of what stands come first."""
    placed = {node for row in rows for node in row}
    waiting = [node.index for node in graph.nodes if node.index not in placed]
    while waiting:
        ties = [sum(other in placed for other in estimate.neighbours[node]) for node in waiting]
        node = waiting.pop(ties.index(max(ties)))
        rows = _best(estimate, _insertions(rows, node))[1]
        placed.add(node)
    return rows


def _improved(estimate: Estimate, rows: _Rows, sweeps: int) -> _Rows:
    """The rows after moving one node at a time to its best place, until no move helps or the sweeps are over."""
    cost = estimate.cost(rows)
    for _ in range(sweeps):
        before = cost
        for node in sorted(node for row in rows for node in row):
            found, moved = _best(estimate, _insertions(_without(rows, node), node), cost)
            if found < cost - _GAIN:
                rows, cost = moved, found
        found, moved = _best(estimate, _rearranged(rows), cost)
        if found < cost - _GAIN:
            rows, cost = moved, found
        if cost == before:
            break
    return rows


def _best(estimate: Estimate, choices: Iterable[_Rows], limit: float = math.inf) -> tuple[float, _Rows]:
    """The cheapest of the choices and its cost, or the limit and no rows when none is cheaper than that."""
    best: _Rows = []
    for rows in choices:
        cost = estimate.cost(rows, limit)
        if cost < limit:
            best, limit = rows, cost
    return limit, best


def _rearranged(rows: _Rows) -> Iterator[_Rows]:
    """All placements in which two nodes have changed places, or a row is cut in two."""
    places = [(row, place) for row, nodes in enumerate(rows) for place in range(len(nodes))]
    for (row, place), (other_row, other_place) in combinations(places, 2):
        changed = [list(nodes) for nodes in rows]
        changed[row][place], changed[other_row][other_place] = rows[other_row][other_place], rows[row][place]
        yield changed
    for row, place in places:
        if place:
            yield [*rows[:row], rows[row][:place], rows[row][place:], *rows[row + 1 :]]


def _moves(rows: _Rows) -> Iterator[_Rows]:
    """All placements that differ in the place of one node."""
    for node in sorted(node for row in rows for node in row):
        yield from _insertions(_without(rows, node), node)


def _without(rows: _Rows, node: int) -> _Rows:
    rest = [[other for other in row if other != node] for row in rows]
    return [row for row in rest if row]


def _frozen(rows: _Rows) -> Placement:
    return tuple(map(tuple, rows))


def _insertions(rows: Sequence[list[int]], node: int) -> Iterator[_Rows]:
    for number, row in enumerate(rows):
        for place in range(len(row) + 1):
            yield [*rows[:number], [*row[:place], node, *row[place:]], *rows[number + 1 :]]
    for number in range(len(rows) + 1):
        yield [*rows[:number], [node], *rows[number:]]
