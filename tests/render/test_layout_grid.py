from __future__ import annotations

from arrowproof.model.lifecycle import Arrow, Kind, Lifecycle, State
from arrowproof.render.layout.graph import Graph, read_graph
from arrowproof.render.layout.grid import build_grid
from arrowproof.render.layout.loops import LEFT, RIGHT
from arrowproof.render.layout.order import order_elements
from arrowproof.render.layout.sizes import LabelLimits


def graph_of(states: str, *arrows: tuple[str | None, str | None, str | None]) -> Graph:
    """A graph of one-letter states; arrows are (from, to, event)."""
    return read_graph(
        Lifecycle(
            "x",
            "X",
            tuple(State(name, Kind.ACTIVE, name, name) for name in states),
            tuple(Arrow(f"{number}", *arrow) for number, arrow in enumerate(arrows)),
        ),
        {},
        LabelLimits(130, 130),
    )


def test_neighbours_are_joined_by_at_most_two_level_arrows_the_upper_one_points_right() -> None:
    graph = graph_of("ab", ("b", "a", "back"), ("a", "b", "go"), ("a", "b", "go too"))
    grid = build_grid(graph, ((0, 1),))
    assert [edge.arrow for edge in grid.levels[0, 1]] == ["1", "0"]
    assert list(grid.routes) == [2]


def test_an_arrow_past_a_box_of_its_row_turns_round_outside_the_row() -> None:
    grid = build_grid(graph_of("abc", ("a", "c", "skip")), ((0, 1, 2),))
    assert not grid.levels
    out, turn, back = (grid.links[index] for index in grid.routes[0])
    assert (out.turns, turn.turns, back.turns) == (False, True, False)
    assert out.first == 0
    assert back.last == 2


def test_an_arrow_without_a_label_needs_no_row_for_one() -> None:
    grid = build_grid(graph_of("ab", ("a", "b", None)), ((0,), (1,)))
    assert grid.is_state_row == (True, True)
    assert len(grid.routes[0]) == 1


def test_a_long_arrow_passes_every_row_in_between() -> None:
    grid = build_grid(graph_of("abc", ("a", "b", "x"), ("b", "c", "y"), ("a", "c", "z")), ((0,), (1,), (2,)))
    assert grid.is_state_row == (True, False, True, False, True)
    passed = [grid.elements[grid.links[index].last].row for index in grid.routes[2]]
    assert passed == [1, 2, 3, 4]


def test_self_arrows_stand_on_a_free_side_and_the_box_grows_with_them() -> None:
    loops = [("a", "a", f"loop {number}") for number in range(3)]
    graph = graph_of("ab", ("a", "b", "go"), *loops)
    beside_left = build_grid(graph, ((1, 0),)).loops[0]
    beside_right = build_grid(graph, ((0, 1),)).loops[0]
    assert (beside_left.side, beside_right.side) == (RIGHT, LEFT)
    grid = build_grid(graph, ((0,), (1,)))
    assert grid.heights[0] > graph.nodes[0].height


def test_self_arrows_between_two_level_arrows_stand_at_the_corners_of_their_box() -> None:
    loops = [("b", "b", f"again {number}") for number in range(6)]
    graph = graph_of("abcd", ("a", "b", "x"), ("b", "c", "y"), ("b", "d", "z"), *loops)
    grid = build_grid(graph, ((0, 1, 2), (3,)))
    assert not grid.loops
    places = [(loop.is_below, loop.hand) for loop in grid.corners[1]]
    assert places == [(True, RIGHT), (True, LEFT), (False, RIGHT), (False, LEFT)], "free of level labels come first"
    routed = [grid.routes[edge.index] for edge in graph.loops[1][4:]]
    assert all(any(grid.links[index].turns for index in route) for route in routed)


def test_a_box_is_wide_enough_for_its_ports() -> None:
    graph = graph_of("ab", *[("a", "b", f"{number}") for number in range(12)])
    grid = build_grid(graph, ((0,), (1,)))
    assert grid.widths[0] == 11 * 16 + 2 * graph.nodes[0].rim


def test_nodes_keep_their_order_and_nothing_stands_between_level_neighbours() -> None:
    arrows = [("a", "b", "go"), ("d", "e", "1"), ("d", "e", "2"), ("b", "c", "on"), ("e", "d", "3")]
    graph = graph_of("abcde", *arrows)
    placement = ((3,), (0, 1, 2), (4,))
    for row in order_elements(build_grid(graph, placement)):
        nodes = [element for element in row if element < len(graph.nodes)]
        assert tuple(nodes) in (*placement, ())
        if len(nodes) == 3:
            assert row.index(2) - row.index(0) == 2
