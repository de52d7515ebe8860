"""Graphviz' ``dot``, and the only place that knows it: ranks, order within rows, and least distances.

Nodes are numbers and carry no text, so dot loads no fonts and prints nothing. ``phase`` ends its work early: after the
ranks (1) or after the order (2), which is all that is asked of it. Rank assignment in dot is a network simplex (Gansner
et al., "A technique for drawing directed graphs", 1993) that minimises the weighted sum of edge lengths under least
lengths; :func:`solve_distances` uses that very solver for x coordinates.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from importlib.machinery import PathFinder
from importlib.util import module_from_spec
from itertools import pairwise
from typing import Any, NamedTuple

from arrowproof.errors import InternalError


def _library() -> Any:
    """The binding to Graphviz inside of pygraphviz, by itself: the package around it takes longer to import, and what
    it has is for graphs with names and attributes.
    """
    package = PathFinder.find_spec("pygraphviz")
    places = None if package is None else package.submodule_search_locations
    found = None if places is None else PathFinder.find_spec("_graphviz", list(places))
    if found is None or found.loader is None:
        raise ModuleNotFoundError("No module named 'pygraphviz'", name="pygraphviz")
    module = module_from_spec(found)
    found.loader.exec_module(module)
    return module


graphviz = _library()


class Distance(NamedTuple):
    """``after - before >= least``, and the cost of each unit of it."""

    before: int
    after: int
    least: int
    weight: int = 0


_NODES = {b"label": b"", b"shape": b"box", b"fixedsize": b"true", b"width": b"0.1", b"height": b"0.1"}
_GRAPH, _NODE, _EDGE = 0, 1, 2
"""How Graphviz tells apart what an attribute belongs to."""


def solve_distances(count: int, distances: Iterable[Distance]) -> list[int]:
    """Whole positions of ``count`` variables that hold all distances at the least weighted sum of them.

    The distances must have no cycle, and connect all variables.
    """
    with _graph(count, distances, {b"phase": b"1", b"searchsize": b"400"}) as graph:
        return _laid_out(graph, b"rank")


def rank_nodes(count: int, edges: Iterable[Distance]) -> list[int]:
    """A rank for each node such that edges lead downwards where they can; cycles are allowed here."""
    with _graph(count, edges, {b"phase": b"1"}) as graph:
        return _laid_out(graph, b"rank")


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
    spine = range(count, count + len(rows))
    edges = [Distance(a, b, 1, 0) for a, b in pairwise(spine)]
    edges += [Distance(link.before, link.after, 1, link.weight) for link in links]
    edges += [Distance(a, b, 1, 1) for sequence in fixed for a, b in pairwise(sequence)]
    with _graph(count + len(rows), edges, {b"phase": b"2", b"mclimit": b"2"}) as graph:
        for number, row in enumerate(rows):
            same = graphviz.agsubg(graph.handle, b"row%d" % number, 1)
            graphviz.agsafeset(same, b"rank", b"same", b"")
            for node in (*row, spine[number]):
                graphviz.agsubnode(same, graph.nodes[node], 1)
        order = _laid_out(graph, b"order")
    return [sorted(row, key=order.__getitem__) for row in rows]


class _Graph(NamedTuple):
    """Graphviz' handles of a graph and of its nodes."""

    handle: Any
    nodes: list[Any]


@contextmanager
def _graph(count: int, edges: Iterable[Distance], settings: Mapping[bytes, bytes]) -> Iterator[_Graph]:
    """A graph of ``count`` nodes. It is built call by call: to write it as text and have it parsed takes longer."""
    handle = graphviz.agopen(b"layout", graphviz.cvar.Agdirected, None)
    try:
        for key, value in settings.items():
            graphviz.agattr(handle, _GRAPH, key, value)
        for key, value in _NODES.items():
            graphviz.agattr(handle, _NODE, key, value)
        graphviz.agattr(handle, _EDGE, b"dir", b"none")
        least = graphviz.agattr(handle, _EDGE, b"minlen", b"0")
        weight = graphviz.agattr(handle, _EDGE, b"weight", b"0")
        nodes = [graphviz.agnode(handle, b"%d" % number, 1) for number in range(count)]
        for edge in edges:
            drawn = graphviz.agedge(handle, nodes[edge.before], nodes[edge.after], None, 1)
            if edge.least:
                graphviz.agxset(drawn, least, b"%d" % edge.least)
            if edge.weight:
                graphviz.agxset(drawn, weight, b"%d" % edge.weight)
        yield _Graph(handle, nodes)
    finally:
        graphviz.agclose(handle)


def _laid_out(graph: _Graph, attribute: bytes) -> list[int]:
    """What dot makes of a graph: this attribute of each node."""
    context = graphviz.gvContextWithBuiltins()
    try:
        if graphviz.gvLayout(context, graph.handle, b"dot") != 0:
            raise InternalError("Graphviz could not lay out a graph of the layout")
        symbol = graphviz.agattr(graph.handle, _NODE, attribute, None)
        return [int(graphviz.agxget(node, symbol)) for node in graph.nodes]
    finally:
        graphviz.gvFreeLayout(context, graph.handle)
        graphviz.gvFreeContext(context)
