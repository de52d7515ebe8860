"""Graphviz' ``dot``, and the only place that knows it: ranks, order within rows, and least distances.

Nodes are numbers and carry no text, so dot loads no fonts and prints nothing. ``phase`` ends its work early: after the
ranks (1) or after the order (2), which is all that is asked of it. Rank assignment in dot is a network simplex (Gansner
et al., "A technique for drawing directed graphs", 1993) that minimises the weighted sum of edge lengths under least
lengths; :class:`Solver` uses that very solver for x coordinates.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from importlib.machinery import PathFinder
from importlib.util import module_from_spec
from itertools import pairwise
from typing import Any, NamedTuple
from weakref import finalize

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


_NODES = {b"label": b"", b"shape": b"point"}
"""A point is the shape that Graphviz is done with soonest; nothing that is asked of it depends on sizes."""
_GRAPH, _NODE, _EDGE = 0, 1, 2
"""How Graphviz tells apart what an attribute belongs to."""


class Solver:
    """Finds positions that hold distances, again and again.

    Half of the time of a solution goes into building the graph for Graphviz. What is asked next differs from what was
    asked last in its numbers alone, nearly always; then the graph stays, and only these are changed.
    """

    def __init__(self) -> None:
        self._ends: tuple[int, list[tuple[int, int]]] | None = None
        self._graph: _Graph | None = None

    def solve(self, count: int, distances: Sequence[Distance]) -> list[int]:
        """Whole positions of ``count`` variables that hold all distances at the least weighted sum of them.

        The distances must have no cycle, and connect all variables.
        """
        ends = (count, [distance[:2] for distance in distances])
        if self._graph is None or self._ends != ends:
            self._graph, self._ends = _Graph(count, distances, {b"phase": b"1", b"searchsize": b"400"}), ends
        else:
            self._graph.change(distances)
        return self._graph.laid_out(b"rank")


def rank_nodes(count: int, edges: Sequence[Distance]) -> list[int]:
    """A rank for each node such that edges lead downwards where they can; cycles are allowed here."""
    return _Graph(count, edges, {b"phase": b"1"}).laid_out(b"rank")


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
    graph = _Graph(count + len(rows), edges, {b"phase": b"2", b"mclimit": b"2"})
    for number, row in enumerate(rows):
        graph.put_on_one_rank((*row, spine[number]))
    order = graph.laid_out(b"order")
    return [sorted(row, key=order.__getitem__) for row in rows]


class _Graph:
    """A graph of ``count`` nodes that Graphviz holds, and frees when nobody has this object any more.

    It is built call by call: to write it as text and have it parsed takes longer.
    """

    def __init__(self, count: int, edges: Sequence[Distance], settings: Mapping[bytes, bytes]) -> None:
        handle = graphviz.agopen(b"layout", graphviz.cvar.Agdirected, None)
        self._handle, self._context = handle, graphviz.gvContextWithBuiltins()
        finalize(self, _free, handle, self._context)
        for key, value in settings.items():
            graphviz.agattr(handle, _GRAPH, key, value)
        for key, value in _NODES.items():
            graphviz.agattr(handle, _NODE, key, value)
        graphviz.agattr(handle, _EDGE, b"dir", b"none")
        self._least = graphviz.agattr(handle, _EDGE, b"minlen", b"0")
        self._weight = graphviz.agattr(handle, _EDGE, b"weight", b"0")
        nodes = self._nodes = [graphviz.agnode(handle, b"%d" % number, 1) for number in range(count)]
        self._edges = [graphviz.agedge(handle, nodes[edge.before], nodes[edge.after], None, 1) for edge in edges]
        self._numbers = [(0, 0)] * len(edges)
        self._ranks = 0
        self.change(edges)

    def change(self, edges: Sequence[Distance]) -> None:
        """Give the edges other least lengths and weights; a call to Graphviz is dear, so only where they are other."""
        for drawn, (_, _, least, weight), (old_least, old_weight) in zip(
            self._edges, edges, self._numbers, strict=True
        ):
            if least != old_least:
                graphviz.agxset(drawn, self._least, b"%d" % least)
            if weight != old_weight:
                graphviz.agxset(drawn, self._weight, b"%d" % weight)
        self._numbers = [edge[2:] for edge in edges]

    def put_on_one_rank(self, nodes: Iterable[int]) -> None:
        """Keep these nodes at one height."""
        same = graphviz.agsubg(self._handle, b"row%d" % self._ranks, 1)
        self._ranks += 1
        graphviz.agsafeset(same, b"rank", b"same", b"")
        for node in nodes:
            graphviz.agsubnode(same, self._nodes[node], 1)

    def laid_out(self, attribute: bytes) -> list[int]:
        """What dot makes of the graph: this attribute of each node."""
        try:
            if graphviz.gvLayout(self._context, self._handle, b"dot") != 0:
                raise InternalError("Graphviz could not lay out a graph of the layout")
            symbol = graphviz.agattr(self._handle, _NODE, attribute, None)
            return [int(graphviz.agxget(node, symbol)) for node in self._nodes]
        finally:
            graphviz.gvFreeLayout(self._context, self._handle)


def _free(handle: Any, context: Any) -> None:
    graphviz.agclose(handle)
    graphviz.gvFreeContext(context)
