"""Graphviz' ``dot``, and the only place that knows it: ranks, order within rows, and least distances.

Nodes are numbers and carry no text, so dot loads no fonts and prints nothing. ``phase`` ends its work early: after the
ranks (1) or after the order (2), which is all that is asked of it. Rank assignment in dot is a network simplex (Gansner
et al., "A technique for drawing directed graphs", 1993) that minimises the weighted sum of edge lengths under least
lengths; :func:`solve_distances` uses that very solver for x coordinates.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import pairwise
from typing import NamedTuple

from pygraphviz import AGraph


class Distance(NamedTuple):
    """``after - before >= least``, and the cost of each unit of it."""

    before: int
    after: int
    least: int
    weight: int = 0


_NODE = 'node[label="" shape=box fixedsize=true width=0.1 height=0.1] edge[dir=none]'


def solve_distances(count: int, distances: Iterable[Distance]) -> list[int]:
    """Whole positions of ``count`` variables that hold all distances at the least weighted sum of them.

    The distances must have no cycle, and connect all variables.
    """
    lines = [f"{d.before}->{d.after}[minlen={d.least},weight={d.weight}]" for d in distances]
    return _solved(count, "phase=1 searchsize=400", lines, "rank")


def rank_nodes(count: int, edges: Iterable[Distance]) -> list[int]:
    """A rank for each node such that edges lead downwards where they can; cycles are allowed here."""
    lines = [f"{e.before}->{e.after}[minlen={e.least},weight={e.weight}]" for e in edges]
    return _solved(count, "phase=1", lines, "rank")


def order_rows(
    rows: Sequence[Sequence[int]], links: Iterable[Distance], fixed: Iterable[Sequence[int]]
) -> list[list[int]]:
    """Each row in an order with few crossings.

    Args:
        rows: node numbers, row by row, each number once, none missing from 0 on.
        links: edges between neighbouring rows, from the upper to the lower; ``least`` does not matter.
        fixed: sequences of nodes of one row that must stay in this order from left to right.
    """
    count = sum(map(len, rows))
    spine = [count + row for row in range(len(rows))]
    lines = [f"{a}->{b}[weight=0]" for a, b in pairwise(spine)]
    for row, anchor in zip(rows, spine, strict=True):
        lines.append("{rank=same " + " ".join(map(str, [*row, anchor])) + "}")
    lines += [f"{link.before}->{link.after}[weight={link.weight}]" for link in links]
    lines += [f"{a}->{b}[weight=1]" for sequence in fixed for a, b in pairwise(sequence)]
    order = _solved(count + len(rows), "phase=2 mclimit=2", lines, "order")
    return [sorted(row, key=order.__getitem__) for row in rows]


def _solved(count: int, settings: str, lines: Sequence[str], attribute: str) -> list[int]:
    names = " ".join(map(str, range(count)))
    graph = AGraph(string=f"digraph{{{settings} {_NODE} {names} {' '.join(lines)}}}")
    try:
        graph.layout("dot")
        return [int(graph.get_node(number).attr[attribute]) for number in range(count)]
    finally:
        graph.close()
