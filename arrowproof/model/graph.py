"""Graphs of ids: what can be reached, and where one can go round.

Plain functions on mappings from a node to its successors. None recurses, so no model is too deep, and all are linear
in nodes and edges. Order of input decides order of output.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

Successors = Mapping[str, Sequence[str]]


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
    """One shortest cycle for each component that has any, as ``(a, b, a)``, from the component's first node on."""
    rank = {node: index for index, node in enumerate(successors)}
    found = []
    for component in components(successors):
        start = min(component, key=lambda node: rank.get(node, len(rank)))
        if len(component) > 1 or start in successors.get(start, ()):
            found.append(_shortest_cycle(start, set(component), successors))
    return sorted(found, key=lambda cycle: rank[cycle[0]])


def _close(node: str, open_nodes: dict[str, None]) -> list[str]:
    """Take the finished component of ``node`` off the open nodes."""
    component = []
    while True:
        member, _ = open_nodes.popitem()
        component.append(member)
        if member == node:
            return component[::-1]


def _shortest_cycle(start: str, component: set[str], successors: Successors) -> tuple[str, ...]:
    """A shortest way inside ``component`` from ``start`` back to itself."""
    came_from: dict[str, str] = {}
    level = [start]
    while start not in came_from:
        following = []
        for node in level:
            for successor in successors.get(node, ()):
                if successor in component and successor not in came_from:
                    came_from[successor] = node
                    following.append(successor)
        level = following
    way = [start]
    while len(way) == 1 or way[-1] != start:
        way.append(came_from[way[-1]])
    return tuple(reversed(way))
