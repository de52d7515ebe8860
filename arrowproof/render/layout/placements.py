"""Placements: which node stands in which row, and in what order."""

from __future__ import annotations

from arrowproof.render.layout.dot import Distance, order_rows, rank_nodes
from arrowproof.render.layout.graph import Graph
from arrowproof.render.layout.grid import Placement


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
