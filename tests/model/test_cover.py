"""Covers are as small as can be: a search through everything finds none with fewer walks, nor a shorter one."""

from __future__ import annotations

from heapq import heappop, heappush
from itertools import pairwise

from hypothesis import given, settings
from hypothesis import strategies as st

from arrowproof.model.cover import Edge, cover

START = "start"
EDGES = st.lists(st.tuples(st.sampled_from([START, *"ABC"]), st.sampled_from([*"ABC", "end"])), max_size=9)


def reachable(ends: list[tuple[str, str]]) -> list[Edge]:
    """The edges that a walk from the start can come to; none leaves the end."""
    near = {START}
    for _ in ends:
        near |= {target for source, target in ends if source in near}
    return [Edge(source, target) for source, target in ends if source in near]


def fewest(edges: list[Edge]) -> tuple[int, int]:
    """The fewest walks that take all edges, and the fewest steps of so many, by trying everything (Dijkstra)."""
    everything = (1 << len(edges)) - 1
    waiting, seen = [(0, 0, "end", 0)], set()
    while True:
        walks, steps, vertex, taken = heappop(waiting)
        if taken == everything:
            return walks, steps
        if (vertex, taken) in seen:
            continue
        seen.add((vertex, taken))
        heappush(waiting, (walks + 1, steps, START, taken)) if vertex != START else None
        for number, edge in enumerate(edges):
            if edge.source == vertex:
                heappush(waiting, (walks, steps + 1, str(edge.target), taken | 1 << number))


@given(EDGES)
@settings(deadline=None, max_examples=300)
def test_no_cover_has_fewer_walks_nor_as_many_with_fewer_steps(ends: list[tuple[str, str]]) -> None:
    edges = reachable(ends)
    walks = cover(edges, START)
    assert walks is not None
    assert {number for walk in walks for number in walk} == set(range(len(edges)))
    for walk in walks:
        assert edges[walk[0]].source == START
        assert all(edges[left].target == edges[right].source for left, right in pairwise(walk))
    assert (len(walks), sum(map(len, walks))) == fewest(edges)


def test_an_edge_is_taken_as_often_as_is_asked() -> None:
    walks = cover([Edge(START, "A"), Edge("A", "B", 3), Edge("B", "A")], START)
    assert walks is not None
    assert sorted(number for walk in walks for number in walk) == [0, 1, 1, 1, 2, 2]
    assert len(walks) == 1


def test_a_cover_that_would_take_too_long_is_none() -> None:
    spare = [Edge(START, f"spare{number}", 2) for number in range(110)]
    between = [Edge(f"spare{number}", f"wanting{number}") for number in range(110)]
    wanting = [Edge(f"wanting{number}", "end", 2) for number in range(110)]
    assert cover([*spare, *between, *wanting], START) is None
    assert cover([*spare[:20], *between[:20], *wanting[:20]], START) is not None


def test_a_walk_that_is_to_spare_gives_way_to_one_that_can_go_nowhere_else() -> None:
    # By the nearest first, x would go on to u, and v could be had by one more walk alone, since y does not come to it.
    starts = [Edge(START, "x", 3), Edge(START, "y", 2)]
    between = [Edge("x", "u"), Edge("x", "a"), Edge("a", "v"), Edge("y", "b"), Edge("b", "u")]
    walks = cover([*starts, *between, Edge("u", "end", 3), Edge("v", "end", 2)], START)
    assert walks is not None
    assert (len(walks), sum(map(len, walks))) == (5, 15 + len("xav") - 1 + len("ybu") - 1)
