"""Covers: the fewest walks from one start that take every edge of a graph, and of those the shortest together.

Each walk begins at the start and ends where it likes. This is the directed postman's problem with free ends, solved
as a flow: every edge is taken at least so often as is asked, and what is taken more is chosen so that few walks are
begun and few edges added. A vertex that more edges enter than leave has walks to spare, which may end there; one that
more leave than enter wants walks, by the nearest that is to spare, or else by one more from the start. The edges, each
as often as it is taken, and a way back from every end make a round tour (Euler), which is cut at the start.
"""

from __future__ import annotations

from collections import Counter, defaultdict, deque
from collections.abc import Hashable, Iterable, Iterator, Mapping, Sequence

from arrowproof.model.record import record

MAX_WORK = 1_000_000
"""Vertices with walks to spare, times those that want some, times walks wanted: up to here a cover takes a second."""

Vertex = Hashable
_Ways = Mapping[Vertex, tuple[int, ...]]


@record
class Edge:
    """An edge that has to be taken at least ``times``."""

    source: Vertex
    target: Vertex
    times: int = 1


def cover(edges: Sequence[Edge], start: Vertex) -> tuple[tuple[int, ...], ...] | None:
    """The walks, each as the indexes of its edges; None where the search would take too long.

    Args:
        edges: all edges; each can be reached from the start, and none enters it.
        start: where every walk begins.
    """
    balance: Counter[Vertex] = Counter()
    for edge in edges:
        balance[edge.target] += edge.times
        balance[edge.source] -= edge.times
    del balance[start]
    wanted = {vertex: -count for vertex, count in balance.items() if count < 0}
    spare = {vertex: count for vertex, count in balance.items() if count > 0}
    if len(spare) * len(wanted) * sum(wanted.values()) > MAX_WORK:
        return None
    taken = Counter({number: edge.times for number, edge in enumerate(edges)})
    for way, count in _added(edges, start, spare, wanted):
        for number in way:
            taken[number] += count
    return tuple(_cut(edges, start, taken))


def _added(
    edges: Sequence[Edge], start: Vertex, spare: Mapping[Vertex, int], wanted: Mapping[Vertex, int]
) -> Iterator[tuple[tuple[int, ...], int]]:
    """The ways that are taken besides, and how often: from vertices with walks to spare, or from the start."""
    ways = {vertex: _shortest_ways(edges, vertex) for vertex in (*spare, start)}
    dear = 1 + sum(wanted.values()) * len(edges)  # one walk more outweighs any number of steps
    costs = {
        (source, target): len(way) + (dear if source == start else 0)
        for source in ways
        for target in wanted
        if (way := ways[source].get(target)) is not None
    }
    for (source, target), count in _transported(costs, {**spare, start: sum(wanted.values())}, wanted).items():
        yield ways[source][target], count


def _transported(
    costs: Mapping[tuple[Vertex, Vertex], int], spare: Mapping[Vertex, int], wanted: Mapping[Vertex, int]
) -> Counter[tuple[Vertex, Vertex]]:
    """What goes from where to where at the least cost, so that all that is wanted comes (successive shortest paths)."""
    sent: Counter[tuple[Vertex, Vertex]] = Counter()
    left, missing = dict(spare), dict(wanted)
    while any(missing.values()):
        source, path = _cheapest(costs, sent, left, missing)
        forth = list(zip(path[::2], path[1::2], strict=True))
        back = list(zip(path[2::2], path[1::2], strict=False))
        count = min([left[source], missing[path[-1]], *(sent[pair] for pair in back)])
        left[source] -= count
        missing[path[-1]] -= count
        for pair in forth:
            sent[pair] += count
        for pair in back:
            sent[pair] -= count
    return +sent


def _cheapest(
    costs: Mapping[tuple[Vertex, Vertex], int],
    sent: Counter[tuple[Vertex, Vertex]],
    left: Mapping[Vertex, int],
    missing: Mapping[Vertex, int],
) -> tuple[Vertex, tuple[Vertex, ...]]:
    """The cheapest path from one that has something left to one that misses something, by turns: from, to, from, to.

    What was sent before may be sent elsewhere instead, which gives its cost back (Bellman and Ford).
    """
    forth: dict[Vertex, tuple[int, tuple[Vertex, ...]]] = {
        vertex: (0, (vertex,)) for vertex, count in left.items() if count
    }
    back: dict[Vertex, tuple[int, tuple[Vertex, ...]]] = {}
    is_changed = True
    while is_changed:
        is_changed = False
        for (source, target), cost in costs.items():
            if source in forth and (target not in back or forth[source][0] + cost < back[target][0]):
                back[target] = (forth[source][0] + cost, (*forth[source][1], target))
                is_changed = True
            if (
                sent[source, target]
                and target in back
                and (source not in forth or back[target][0] - cost < forth[source][0])
            ):
                forth[source] = (back[target][0] - cost, (*back[target][1], source))
                is_changed = True
    _, path = min((back[vertex] for vertex, count in missing.items() if count), key=lambda found: found[0])
    return path[0], path


def _shortest_ways(edges: Sequence[Edge], start: Vertex) -> _Ways:
    """For each vertex that can be reached, the fewest edges to it; ties go to the earlier ones."""
    leaving = _leaving(edges, range(len(edges)))
    ways: dict[Vertex, tuple[int, ...]] = {start: ()}
    waiting = deque([start])
    while waiting:
        vertex = waiting.popleft()
        for number in leaving[vertex]:
            target = edges[number].target
            if target not in ways:
                ways[target] = (*ways[vertex], number)
                waiting.append(target)
    return ways


def _cut(edges: Sequence[Edge], start: Vertex, taken: Counter[int]) -> Iterator[tuple[int, ...]]:
    """A round tour over the edges, each as often as it is taken, cut wherever a walk ends (Hierholzer)."""
    leaving = {vertex: deque(numbers) for vertex, numbers in _leaving(edges, taken.elements()).items()}
    ends: Counter[Vertex] = Counter()
    for number, count in taken.items():
        ends[edges[number].target] += count
        ends[edges[number].source] -= count
    stack: list[tuple[Vertex, int | None]] = [(start, None)]
    tour: list[int | None] = []
    while stack:
        vertex, step = stack[-1]
        if leaving.get(vertex):
            following = leaving[vertex].popleft()
            stack.append((edges[following].target, following))
        elif ends[vertex] > 0:
            ends[vertex] -= 1
            stack.append((start, None))
        else:
            tour.append(step)
            stack.pop()
    walk: list[int] = []
    for step in reversed(tour):
        if step is not None:
            walk.append(step)
        elif walk:
            yield tuple(walk)
            walk = []
    if walk:
        yield tuple(walk)


def _leaving(edges: Sequence[Edge], numbers: Iterable[int]) -> defaultdict[Vertex, list[int]]:
    leaving: defaultdict[Vertex, list[int]] = defaultdict(list)
    for number in numbers:
        leaving[edges[number].source].append(number)
    return leaving
