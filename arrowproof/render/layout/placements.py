"""Placements: which node stands in which row, and in what order.

The main path (creation to success) is laid in one row, in two rows, and so on; each time the other nodes are put, one
by one, where the estimate is lowest. The ranks of dot make one more start. From there on the search is a race: all
starts are annealed for a while, the better half goes on, and so on. The nodes of a very large graph are seated at a
table instead (``seats``). The number of steps depends on the size of the model alone, never on a clock.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator

from arrowproof.render.layout.annealing import Annealing
from arrowproof.render.layout.dot import Distance, rank_nodes
from arrowproof.render.layout.estimate import CLOSE, Estimate
from arrowproof.render.layout.graph import Graph
from arrowproof.render.layout.grid import Placement
from arrowproof.render.layout.seats import seat_nodes

_MAX_MAIN_ROWS = 4
_MAIN_CUTS = (2, 3, 4, 5)
"""The main path is also cut into rows of so many nodes."""
MANY_NODES, MOST_SEARCHED = 20, 45
"""A larger model gets fewer steps for each node, and a still larger one is not searched by whole drawings."""

_SPARSE = 1.3
"""Of a very large graph with more arrows for each node, ranks are not drawn: what is no line or tree is not read so."""
_LEAST_ROWS = 3
"""Ranks of a larger model are not joined to fewer rows than this."""

_Stage = tuple[int, int, float, float]
_STAGES: tuple[_Stage, ...] = ((8, 8, 3.0, 1.5), (3, 28, 3.0, 1.0), (1, 64, 1.5, 0.2))
"""Of the race: how many placements take part, their steps for each node, and the temperature at start and end."""
_HURRIED_STAGES = ((2, 28, 3.0, 1.0), (1, 64, 1.5, 0.2))
"""The same for one of very many drawings."""
_FURTHER = 2
"""How much longer a further search goes on, which is made where the first one found nothing good."""
_MOST, _MOST_HURRIED = 5, 3
"""How many placements are drawn, and of one of very many drawings."""


def find_placements(
    graph: Graph, earlier: Iterable[Placement] = (), seed: int = 0, is_hurried: bool = False
) -> dict[Placement, float]:
    """Placements that promise a good drawing, each with its estimated cost, the most promising first.

    Args:
        graph: the graph to place.
        earlier: good placements of the same nodes with other sizes, to start from.
        seed: another number makes another search, a longer one.
        is_hurried: whether it is for one of very many drawings, which makes a shorter search.
    """
    estimate = Estimate(graph)
    if len(graph.nodes) > MOST_SEARCHED:
        return dict.fromkeys(unlike_placements(graph), 0.0)  # the estimate cannot compare such unlike ones
    starts = list(earlier)
    stages = _STAGES[1:] if starts or len(graph.nodes) > MANY_NODES else _STAGES
    annealing = Annealing(estimate, seed)
    stages = _HURRIED_STAGES if is_hurried else stages
    found = _raced(annealing, starts or _starts(graph, estimate), stages, 1 if seed == 0 else _FURTHER)
    if len(graph.nodes) <= MANY_NODES:
        # What the estimate cannot tell from the best is drawn too.
        found |= annealing.met(min(found.values()) + CLOSE)
    return dict(sorted(found.items(), key=lambda item: (item[1], item[0]))[: _MOST_HURRIED if is_hurried else _MOST])


def unlike_placements(graph: Graph) -> Iterator[Placement]:
    """The placements of a very large graph, each made when it is asked for: that takes its time."""
    yield from seat_nodes(graph)
    if len(graph.edges) <= _SPARSE * len(graph.nodes):
        yield min(_joined_ranks(ranked_placement(graph)), key=Estimate(graph).cost)


def _raced(
    annealing: Annealing, starts: Iterable[Placement], stages: Iterable[_Stage], effort: int
) -> dict[Placement, float]:
    """Every placement that a stage of the race ended with, and its cost, after so many times the usual steps."""
    estimate = annealing.estimate
    pool = {placement: estimate.cost(placement) for placement in starts}
    found = dict(pool)
    for count, steps, first, last in stages:
        chosen = sorted(pool, key=lambda placement: (pool[placement], placement))[:count]
        pool = {}
        for placement in chosen:
            steps_of_all = effort * steps * len(estimate.graph.nodes)
            cost, best = annealing.anneal(placement, found[placement], steps_of_all, first, last)
            pool[best] = cost
        found |= pool
    return found


def _starts(graph: Graph, estimate: Estimate) -> list[Placement]:
    """Where the search starts: the main path cut into rows in several ways, and the ranks of dot."""
    starts = [_completed(graph, estimate, rows) for rows in dict.fromkeys(_main_rows(graph))]
    return [*starts, ranked_placement(graph)]


def ranked_placement(graph: Graph) -> Placement:
    """The rows of dot, one for each rank."""
    edges = [
        Distance(edge.tail, edge.head, 1, 10 if graph.nodes[edge.tail].kind == "start" else 1)
        for edge in graph.edges
        if not edge.is_loop
    ]
    ranks = rank_nodes(len(graph.nodes), edges)
    rows: list[list[int]] = [[] for _ in range(max(ranks, default=-1) + 1)]
    for node, rank in enumerate(ranks):
        rows[rank].append(node)
    return tuple(tuple(row) for row in rows if row)


def _joined_ranks(ranks: Placement) -> Iterator[Placement]:
    """The ranks as they are, and so many of them in one row, one after the other: a long line is read like text."""
    yield ranks
    for count in range(2, len(ranks) // _LEAST_ROWS + 1):
        rows = (ranks[start : start + count] for start in range(0, len(ranks), count))
        yield tuple(tuple(node for rank in row for node in rank) for row in rows)


def _main_rows(graph: Graph) -> Iterator[Placement]:
    """The main path in one row, in two of about the same width, and so on; then in rows of equal count."""
    main = graph.main_path
    least = 3 if len(graph.nodes) > MANY_NODES else 1
    widths = [graph.nodes[node].width + 100 for node in main]
    for count in range(min(least, len(main)), min(max(_MAX_MAIN_ROWS, least), len(main)) + 1):
        share = sum(widths) / count
        rows: list[list[int]] = [[]]
        filled = 0.0
        for node, width in zip(main, widths, strict=True):
            if rows[-1] and filled + width / 2 > share * len(rows) and len(rows) < count:
                rows.append([])
            rows[-1].append(node)
            filled += width
        yield tuple(map(tuple, rows))
    for count in _MAIN_CUTS:
        if count < len(main):
            yield tuple(main[start : start + count] for start in range(0, len(main), count))


def _completed(graph: Graph, estimate: Estimate, rows: Placement) -> Placement:
    """The rows with all other nodes put in, each where the estimate is lowest; neighbours of what stands come first."""
    placed = {node for row in rows for node in row}
    waiting = [node.index for node in graph.nodes if node.index not in placed]
    while waiting:
        ties = [sum(other in placed for other in estimate.neighbours[node]) for node in waiting]
        node = waiting.pop(ties.index(max(ties)))
        rows = _best(estimate, _insertions(rows, node))[1]
        placed.add(node)
    return rows


def _best(estimate: Estimate, choices: Iterable[Placement], limit: float = math.inf) -> tuple[float, Placement]:
    """The cheapest of the choices and its cost, or the limit and no rows when none is cheaper than that."""
    best: Placement = ()
    for rows in choices:
        cost = estimate.cost(rows, limit)
        if cost < limit:
            best, limit = rows, cost
    return limit, best


def _insertions(rows: Placement, node: int) -> Iterator[Placement]:
    for number, row in enumerate(rows):
        for place in range(len(row) + 1):
            yield (*rows[:number], (*row[:place], node, *row[place:]), *rows[number + 1 :])
    for number in range(len(rows) + 1):
        yield (*rows[:number], (node,), *rows[number:])
