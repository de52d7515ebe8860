"""Graphs of ids: what can be reached, and where one can go round.

Plain functions on mappings from a node to its successors. None recurses, so no model is too deep. All are linear in
nodes and edges, but for :func:`cycles`, which is so for each cycle that it finds. Order of input decides order of
output.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from itertools import pairwise

Successors = Mapping[str, Sequence[str]]

MAX_CYCLES = 100
"""Cycles that are looked for at most: nobody reads more of them at once, and each costs a walk over the whole graph."""


def reachable(starts: Iterable[str], successors: Successors) -> set[str]:
    """The nodes that can be reached from ``starts``, the starts among them."""
    found = set(starts)
    waiting = list(found)
    while waiting:
        for successor in successors.get(waiting.pop(), ()):
            if successor not in found:
                found.add(successor)
                waiting.append(successor)
    return found


def components(successors: Successors) -> list[list[str]]:
    """The strongly connected components, each before the components that lead to it (Tarjan 1972, without recursion).

    Successors that are no keys count as nodes without successors.
    """
    order: dict[str, int] = {}
    low: dict[str, int] = {}
    open_nodes: dict[str, None] = {}
    result: list[list[str]] = []
    for root in successors:
        if root in order:
            continue
        order[root] = low[root] = len(order)
        open_nodes[root] = None
        work = [(root, iter(successors[root]))]
        while work:
            node, rest = work[-1]
            for successor in rest:
                if successor not in order:
                    order[successor] = low[successor] = len(order)
                    open_nodes[successor] = None
                    work.append((successor, iter(successors.get(successor, ()))))
                    break
                if successor in open_nodes:
                    low[node] = min(low[node], order[successor])
            else:
                work.pop()
                if work:
                    low[work[-1][0]] = min(low[work[-1][0]], low[node])
                if low[node] == order[node]:
                    result.append(_close(node, open_nodes))
    return result


def cycles(successors: Successors) -> list[tuple[str, ...]]:
    """Cycles that together hold every edge on which one can go round, as ``(a, b, a)``, in the order of their edges.

    Each is a shortest one through an edge that is in none before it, and starts at the first of its nodes. There are
    at most :data:`MAX_CYCLES`.
    """
    rank = {node: index for index, node in enumerate(successors)}
    inside = {node: number for number, component in enumerate(components(successors)) for node in component}
    told: set[tuple[str, str]] = set()
    found: list[tuple[str, ...]] = []
    for node in successors:
        for successor in successors[node]:
            is_on_one = inside[node] == inside[successor]
            if is_on_one and (node, successor) not in told and len(found) < MAX_CYCLES:
                cycle = (node, *_shortest_way(successor, node, inside, successors))
                told.update(pairwise(cycle))
                first = min(range(len(cycle) - 1), key=lambda place: rank[cycle[place]])
                found.append((*cycle[first:-1], *cycle[: first + 1]))
    return sorted(found, key=lambda cycle: rank[cycle[0]])


def _close(node: str, open_nodes: dict[str, None]) -> list[str]:
    """Take the finished component of ``node`` off the open nodes."""
    component = []
    while True:
        member, _ = open_nodes.popitem()
        component.append(member)
        if member == node:
            return component[::-1]


def _shortest_way(start: str, end: str, inside: Mapping[str, int], successors: Successors) -> tuple[str, ...]:
    """A shortest way from ``start`` to ``end`` inside the component of both, both ends included."""
    came_from = {start: start}
    level = [start]
    while end not in came_from:
        following = []
        for node in level:
            for successor in successors[node]:
                if inside[successor] == inside[start] and successor not in came_from:
                    came_from[successor] = node
                    following.append(successor)
        level = following
    way = [end]
    while way[-1] != start:
        way.append(came_from[way[-1]])
    return tuple(reversed(way))
