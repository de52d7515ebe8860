from __future__ import annotations

from random import Random

from arrowproof.model.lifecycle import Arrow, Kind, Lifecycle, State
from arrowproof.render.layout.candidates import assemble
from arrowproof.render.layout.graph import Graph, read_graph
from arrowproof.render.layout.grid import Placement, build_grid
from arrowproof.render.layout.order import WAY, best_pair, order_elements
from arrowproof.render.layout.sizes import LabelLimits
from arrowproof.render.quality import Quality, measure_drawing


def graph_of(states: str, *arrows: str) -> Graph:
    """One-letter states; each arrow is two letters."""
    boxes = tuple(State(name, Kind.ACTIVE, name, name) for name in states)
    drawn = tuple(Arrow(f"{number}", *ends, f"event {number}") for number, ends in enumerate(arrows))
    return read_graph(Lifecycle("x", "X", boxes, drawn), {}, LabelLimits(130, 130))


def drawn(graph: Graph, placement: Placement) -> Quality:
    grid = build_grid(graph, placement)
    return measure_drawing(assemble(grid, order_elements(grid), 700).drawing())


def test_labels_stand_in_the_order_of_the_boxes_they_lead_to() -> None:
    assert drawn(graph_of("abcd", "ab", "ac", "ad"), ((0,), (1, 2, 3))).crossings == 0
    assert drawn(graph_of("abcd", "ad", "ac", "ab"), ((0,), (1, 2, 3))).crossings == 0


def test_a_long_arrow_passes_on_the_side_where_it_crosses_nothing() -> None:
    """d is left of the middle, but there the way from b to c is closed."""
    quality = drawn(graph_of("abcde", "ab", "bc", "de", "ae"), ((0, 3), (1,), (2, 4)))
    assert quality.crossings == 0


def test_two_boxes_that_are_crossed_in_both_rows_cost_one_crossing() -> None:
    assert drawn(graph_of("abcd", "ad", "bc"), ((0, 1), (2, 3))).crossings == 1


def test_an_arrow_that_turns_round_goes_round_what_it_need_not_cross() -> None:
    quality = drawn(graph_of("abcd", "ab", "bc", "ac", "bd"), ((0, 1, 2), (3,)))
    assert quality.crossings <= 1
    assert quality.holds


def test_of_parallel_arrows_the_one_with_the_widest_label_stands_on_the_right() -> None:
    states = tuple(State(name, Kind.ACTIVE, name, name) for name in "ab")
    arrows = (Arrow("wide", "a", "b", "a rather long event"), Arrow("short", "b", "a", "go"))
    grid = build_grid(read_graph(Lifecycle("x", "X", states, arrows), {}, LabelLimits(130, 130)), ((0,), (1,)))
    (labels,) = (row for row, is_state in zip(order_elements(grid), grid.is_state_row, strict=True) if not is_state)
    assert [grid.graph.edges[grid.elements[label].edge or 0].arrow for label in labels] == ["short", "wide"]


def test_the_legs_of_a_turn_stand_where_no_other_pair_of_gaps_costs_less() -> None:
    random = Random(3)
    for _ in range(50):
        left, right = ([random.randrange(4) for _ in range(30)] for _ in range(2))
        here, there = ([random.random() * 8000 for _ in range(30)] for _ in range(2))
        costs = {
            (a, b): left[a] + right[b] + (here[a] + there[b]) * WAY for a in range(30) for b in range(30) if a <= b
        }
        assert best_pair(left, right, here, there) == min(costs, key=lambda pair: (costs[pair], pair))
