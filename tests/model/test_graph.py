"""Graphs: reachability, components and cycles, against naive answers."""

from __future__ import annotations

from itertools import pairwise, product

from hypothesis import given, settings
from hypothesis import strategies as st

from arrowproof.model.graph import MAX_CYCLES, components, cycles, reachable

NODES = "abcdef"
GRAPHS = st.sets(st.tuples(st.sampled_from(NODES), st.sampled_from(NODES)), max_size=12).map(
    lambda edges: {node: [end for start, end in sorted(edges) if start == node] for node in NODES}
)


def closure(graph: dict[str, list[str]]) -> set[tuple[str, str]]:
    """All (start, end) with a way of at least one edge, by Warshall."""
    ways = {(start, end) for start, ends in graph.items() for end in ends}
    for middle, start, end in product(NODES, repeat=3):
        if (start, middle) in ways and (middle, end) in ways:
            ways.add((start, end))
    return ways


@given(GRAPHS)
@settings(deadline=None)
def test_what_is_reachable_is_what_the_closure_says(graph: dict[str, list[str]]) -> None:
    ways = closure(graph)
    for start in NODES:
        assert reachable([start], graph) == {start} | {end for end in NODES if (start, end) in ways}


@given(GRAPHS)
@settings(deadline=None)
def test_components_hold_the_nodes_that_reach_each_other_and_come_after_what_they_lead_to(
    graph: dict[str, list[str]],
) -> None:
    ways = closure(graph)
    found = components(graph)
    place = {node: index for index, component in enumerate(found) for node in component}
    assert sorted(place) == sorted(NODES)
    for start, end in product(NODES, repeat=2):
        together = start == end or ((start, end) in ways and (end, start) in ways)
        assert (place[start] == place[end]) == together
        if (start, end) in ways:
            assert place[end] <= place[start]


@given(GRAPHS)
@settings(deadline=None)
def test_each_component_with_a_cycle_gives_one_that_is_made_of_edges(graph: dict[str, list[str]]) -> None:
    ways = closure(graph)
    found = cycles(graph)
    for cycle in found:
        assert cycle[0] == cycle[-1]
        assert len(set(cycle)) == len(cycle) - 1
        assert all(end in graph[start] for start, end in pairwise(cycle))
    on_cycles = {node for node in NODES if (node, node) in ways}
    represented = {node for node in on_cycles for cycle in found if node == cycle[0] or (node, cycle[0]) in ways}
    assert represented == on_cycles
    assert all(set(cycle) <= on_cycles for cycle in found)


@given(GRAPHS)
@settings(deadline=None)
def test_every_edge_on_which_one_can_go_round_is_in_a_cycle_that_is_told(graph: dict[str, list[str]]) -> None:
    ways = closure(graph)
    round_trips = {(start, end) for start in NODES for end in graph[start] if start == end or (end, start) in ways}
    assert {edge for cycle in cycles(graph) for edge in pairwise(cycle)} == round_trips


def test_a_cycle_is_a_shortest_one_through_what_is_in_none_yet_and_starts_at_its_first_node() -> None:
    graph = {"a": ["b"], "b": ["c", "d"], "c": ["d"], "d": ["a"]}
    assert cycles(graph) == [("a", "b", "d", "a"), ("a", "b", "c", "d", "a")]


def test_of_more_cycles_than_anybody_reads_the_first_ones_are_told() -> None:
    graph = {"a": [str(node) for node in range(500)], **{str(node): ["a"] for node in range(500)}}
    found = cycles(graph)
    assert len(found) == MAX_CYCLES
    assert found[-1] == ("a", str(MAX_CYCLES - 1), "a")


def test_a_chain_of_twenty_thousand_nodes_needs_no_recursion() -> None:
    chain = {str(node): [str(node + 1)] for node in range(20_000)}
    chain["20000"] = ["0"]
    assert len(components(chain)) == 1
    assert len(cycles(chain)[0]) == 20_002
