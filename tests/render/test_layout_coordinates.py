from __future__ import annotations

import random
from itertools import pairwise

import pytest

from arrowproof.model.lifecycle import Arrow, Kind, Lifecycle, State
from arrowproof.render.layout.channels import assign_slots
from arrowproof.render.layout.coordinates import Columns, Jogs, assign_columns
from arrowproof.render.layout.graph import Graph, read_graph
from arrowproof.render.layout.grid import Placement, build_grid
from arrowproof.render.layout.heights import MAX_STRETCH, assign_lines
from arrowproof.render.layout.loops import RIGHT
from arrowproof.render.layout.order import order_elements
from arrowproof.render.layout.sizes import LEVEL_MARGIN, PORT_SPACING, LabelLimits
from arrowproof.render.quality import LEAST_STEP


def graph_of(states: str, *arrows: tuple[str, str, str | None]) -> Graph:
    boxes = tuple(State(name, Kind.ACTIVE, name, name) for name in states)
    drawn = tuple(Arrow(f"{number}", *arrow) for number, arrow in enumerate(arrows))
    return read_graph(Lifecycle("x", "X", boxes, drawn), {}, LabelLimits(130, 130))


def columns_of(graph: Graph, placement: Placement, forced: tuple[int, ...] = ()) -> Columns:
    grid = build_grid(graph, placement)
    return assign_columns(grid, order_elements(grid), 20, (), forced)


def test_a_single_arrow_downwards_is_straight_and_leaves_the_middle_of_its_box() -> None:
    columns = columns_of(graph_of("ab", ("a", "b", "go")), ((0,), (1,)))
    assert len(set(columns.pins.values())) == 1
    left, right = columns.boxes[0]
    assert columns.pins[0, 0] == (left + right) / 2


def test_the_gap_of_a_level_arrow_holds_its_label() -> None:
    graph = graph_of("ab", ("a", "b", "a rather long event"))
    columns = columns_of(graph, ((0, 1),))
    gap = columns.boxes[1][0] - columns.boxes[0][1]
    assert gap == graph.edges[0].label.width + 2 * LEVEL_MARGIN


def test_ports_keep_their_distance_and_off_the_corners() -> None:
    graph = graph_of("ab", *[("a", "b", f"event {number}") for number in range(6)])
    columns = columns_of(graph, ((0,), (1,)))
    left, right = columns.boxes[0]
    ports = sorted(columns.pins[2 * number, 0] for number in range(6))
    assert ports[0] - left >= graph.nodes[0].rim
    assert right - ports[-1] >= graph.nodes[0].rim
    assert all(b - a >= PORT_SPACING for a, b in pairwise(ports))


@pytest.mark.parametrize("forced", [(), (0, 1, 2, 3)])
def test_a_box_grows_only_so_far_to_straighten_its_arrows(forced: tuple[int, ...]) -> None:
    graph = graph_of("ab", ("a", "b", "one event of some width"), ("b", "a", "another event of some width"))
    columns = columns_of(graph, ((0,), (1,)), forced)
    for left, right in columns.boxes.values():
        assert right - left <= graph.nodes[0].width + 60


def test_links_forced_straight_are_straight() -> None:
    graph = graph_of("abc", ("a", "b", "event"), ("b", "a", "back again"), ("a", "c", "x"))
    bent = columns_of(graph, ((0,), (1, 2)))
    assert any(bent.pins[link, 0] != bent.pins[link, 1] for link in range(4))
    straight = columns_of(graph, ((0,), (1, 2)), (0, 1, 2, 3))
    assert all(straight.pins[link, 0] == straight.pins[link, 1] for link in range(4))


@pytest.mark.parametrize("seed", range(3))
def test_no_link_is_bent_by_a_hair_whatever_else_pulls_at_its_ends(seed: int) -> None:
    """A box that may grow no further for its arrows leaves one of them two units beside straight."""
    known = [("a", "b", "an event"), ("b", "a", "event"), ("a", "b", "changes requested")]
    chance = random.Random(seed)
    some = [(*chance.sample("abcde", 2), chance.choice(["x", "event", "a longer event", "go on"])) for _ in range(6)]
    for states, arrows, placement in (("abc", known, ((0, 2), (1,))), ("abcde", some, ((0, 3), (1, 4), (2,)))):
        graph = graph_of(states, *arrows)
        links = build_grid(graph, placement).links
        for forced in ((), tuple(link.index for link in links if not link.turns)):
            columns = columns_of(graph, placement, forced)
            bends = [abs(columns.pins[link.index, 0] - columns.pins[link.index, 1]) for link in links if not link.turns]
            assert not [bend for bend in bends if 0 < bend < 3]


def test_a_long_arrow_is_one_straight_line_between_its_ends() -> None:
    graph = graph_of("abcd", ("a", "b", "x"), ("b", "c", "y"), ("c", "d", "z"), ("a", "d", "all the way"))
    grid = build_grid(graph, ((0,), (1,), (2,), (3,)))
    columns = assign_columns(grid, order_elements(grid), 20)
    passed = {columns.lines[grid.links[index].last] for index in grid.routes[3][:-1]}
    assert len(passed) == 1


def test_spare_height_goes_to_the_channels_up_to_a_limit() -> None:
    grid = build_grid(graph_of("ab", ("a", "b", "go")), ((0,), (1,)))
    columns = assign_columns(grid, order_elements(grid), 20)
    channels = assign_slots(grid, columns)

    def height(target: float) -> float:
        return assign_lines(grid, columns, channels, target).height

    natural = height(10_000) - 2 * MAX_STRETCH
    assert height(natural + 50) == pytest.approx(natural + 50)
    assert height(20_000) == height(10_000)


def test_the_label_of_a_corner_loop_keeps_off_the_label_of_a_level_arrow() -> None:
    level = [("a", "b", "there"), ("b", "a", "and back"), ("b", "c", "there"), ("c", "b", "and back")]
    graph = graph_of("abc", *level, ("b", "b", "again and again"))
    placement = ((0, 1, 2),)
    columns = columns_of(graph, placement)
    (loop,) = build_grid(graph, placement).corners[1]
    label_end = columns.pins[loop.pin(0)] + loop.room
    assert label_end + 10 < columns.boxes[1][1] + LEVEL_MARGIN


def test_corner_loops_that_face_each_other_keep_their_labels_apart() -> None:
    level = [(a, b, None) for a, b in ("ab", "bc", "cd")]
    loops = [(name, name, f"{name} again, loop {number}") for name in "bc" for number in range(4)]
    graph = graph_of("abcd", *level, *loops)
    placement = ((0, 1, 2, 3),)
    columns = columns_of(graph, placement)
    corners = build_grid(graph, placement).corners
    facing = [(a, b) for a in corners[1] for b in corners[2] if a.is_below == b.is_below and a.hand > b.hand]
    assert len(facing) == 2
    for left, right in facing:
        gap = columns.pins[right.pin(0)] - columns.pins[left.pin(0)]
        assert gap >= left.room + right.room


def test_a_link_of_which_a_step_is_wanted_steps_aside_far_enough_to_be_seen() -> None:
    grid = build_grid(graph_of("ab", ("a", "b", "go")), ((0,), (1,)))
    columns = assign_columns(grid, order_elements(grid), 20, jogs=Jogs(steps=(((1, 0), (1, 1)),)))
    assert columns.pins[1, 1] - columns.pins[1, 0] >= LEAST_STEP


def test_the_label_of_a_corner_loop_is_no_word_of_the_label_beside_it() -> None:
    """Two level arrows hold each side of b, so that its own arrow stands at a corner, beside their labels."""
    graph = graph_of(
        "abc",
        *[(*ends, f"event {number}") for number, ends in enumerate([("a", "b"), ("b", "a"), ("b", "c"), ("c", "b")])],
        *[("b", "b", f"own event {number}") for number in range(4)],
    )
    grid = build_grid(graph, ((0, 1, 2),))
    columns = assign_columns(grid, order_elements(grid), 20)
    assert len(grid.corners[1]) == 4
    for loop in grid.corners[1]:
        outer = columns.pins[loop.pin(0)]
        pair = (1, 2) if loop.hand == RIGHT else (0, 1)
        middle = (columns.boxes[pair[0]][1] + columns.boxes[pair[1]][0]) / 2
        half = grid.levels[pair][loop.is_below].label.width / 2
        gap = middle - half - outer - loop.room if loop.hand == RIGHT else outer - loop.room - middle - half
        assert gap >= 20
