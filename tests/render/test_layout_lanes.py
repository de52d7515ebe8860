from __future__ import annotations

import math
from dataclasses import replace
from itertools import combinations, pairwise
from pathlib import Path

import pytest
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st

from arrowproof.model.lifecycle import Arrow, Kind, Lifecycle, State
from arrowproof.model.loader import load_lifecycle
from arrowproof.render.drawing import Box, Drawing, Point
from arrowproof.render.layout import layout_lifecycle
from arrowproof.render.layout.bands import LANE_GAP
from arrowproof.render.layout.lanes import APART, FREE, add_lanes, has_lanes, lane_breaks
from arrowproof.render.layout.sizes import measure_text
from arrowproof.render.quality import find_overlaps, measure_drawing
from tests.render.test_layout import lifecycles, path_model

GALLERY = Path(__file__).parents[2] / "examples" / "gallery"


def in_groups(*groups: str | None) -> Lifecycle:
    """A line of states, each in its group, in which every third may be given up."""
    states = tuple(
        State(f"s{number}", Kind.ACTIVE, f"state_{number}", f"s{number}", group=group)
        for number, group in enumerate(groups)
    )
    arrows = [Arrow(f"a{n}", f"s{n}", f"s{n + 1}", "goes on") for n in range(len(groups) - 1)]
    return Lifecycle("line", "Line", states, (Arrow("new", None, "s0", "created"), *arrows))


def is_inside(point: Point, outline: tuple[Point, ...]) -> bool:
    """Whether a point lies within a closed orthogonal line, by the upright parts to its right."""
    x, y = point
    crossed = 0
    for (ax, ay), (bx, by) in pairwise((*outline, outline[0])):
        if ax == bx and ax > x and min(ay, by) <= y < max(ay, by):
            crossed += 1
    return crossed % 2 == 1


def corners(box: Box) -> tuple[Point, ...]:
    return ((box.x, box.y), (box.right, box.y), (box.x, box.bottom), (box.right, box.bottom))


def assert_lanes_hold_their_states(drawing: Drawing, lifecycle: Lifecycle) -> None:
    for lane in drawing.lanes:
        for (ax, ay), (bx, by) in pairwise((*lane.outline, lane.outline[0])):
            assert (ax == bx) != (ay == by), "lines are level or upright, and have a length"
        for drawn in drawing.states:
            member = lifecycle.states_by_id[drawn.id].group == lane.group
            assert all(is_inside(corner, lane.outline) == member for corner in corners(drawn.box)), drawn.id


def distance(a: tuple[Point, Point], b: tuple[Point, Point]) -> float:
    """Between two level or upright lines, or a line and a box that is given by two corners."""
    gaps = [
        max(
            min(a[0][axis], a[1][axis]) - max(b[0][axis], b[1][axis]),
            min(b[0][axis], b[1][axis]) - max(a[0][axis], a[1][axis]),
            0,
        )
        for axis in (0, 1)
    ]
    return math.hypot(*gaps)


def assert_lanes_keep_apart(drawing: Drawing) -> None:
    """Two outlines, at their corners too; and each name is at its own lane."""
    sides = {lane.group: tuple(pairwise((*lane.outline, lane.outline[0]))) for lane in drawing.lanes}
    for one, other in combinations(sides.values(), 2):
        assert min(distance(a, b) for a in one for b in other) >= LANE_GAP - 1e-6
    for lane in drawing.lanes:
        first, last = lane.name[0], lane.name[-1]
        name = ((first.x, first.baseline - 12), (first.x + max(line.width for line in lane.name), last.baseline + 4))
        near = {group: min(distance(name, side) for side in own) for group, own in sides.items()}
        assert near.pop(lane.group) < 8 <= min(near.values())


def assert_names_are_free(drawing: Drawing) -> None:
    """A name is a label like any other: as that of an arrow it overlaps nothing."""
    assert measure_drawing(drawing).overlaps == ()
    for lane in drawing.lanes:
        block = measure_text(lane.group, 180, 13, 500)
        first = lane.name[0]
        box = Box(first.x, first.baseline - 12, block.width, 17 * len(lane.name))
        host = drawing.arrows[0]
        named = replace(host, label=lane.name, label_box=box, points=((9e5, 9e5), (9e5, 9e5 + 1)), bead=(9e5, 9e5))
        others = tuple(arrow for arrow in drawing.arrows if arrow is not host)
        overlaps = find_overlaps(replace(drawing, arrows=(named, *others)))
        assert [each for each in overlaps if each.kind != "outside"] == [], lane.group


def test_groups_that_follow_each_other_have_lanes() -> None:
    lifecycle = in_groups("first", "first", "first", "second", "second", "second")
    drawing = layout_lifecycle(lifecycle)
    assert [lane.group for lane in drawing.lanes] == ["first", "second"]
    assert_lanes_hold_their_states(drawing, lifecycle)
    assert_names_are_free(drawing)


@pytest.mark.parametrize(("name", "cost"), [("parcel", 1), ("kubernetes-pod", 0), ("order", 0)])
def test_lanes_of_a_real_lifecycle_hold_its_groups_and_cost_little(name: str, cost: int) -> None:
    """``cost`` is how many more crossings there are than without lanes."""
    lifecycle = load_lifecycle(GALLERY / f"{name}.lifecycle.json")
    alone = replace(lifecycle, states=tuple(replace(state, group=None) for state in lifecycle.states))
    drawing = layout_lifecycle(lifecycle)
    laned, without = measure_drawing(drawing), measure_drawing(layout_lifecycle(alone))
    assert laned.scale >= 0.95 * without.scale
    assert laned.crossings <= without.crossings + cost
    assert_lanes_hold_their_states(drawing, lifecycle)
    assert_lanes_keep_apart(drawing)
    assert_names_are_free(drawing)


def test_a_real_lifecycle_has_a_lane_for_each_of_its_groups() -> None:
    drawing = layout_lifecycle(load_lifecycle(GALLERY / "parcel.lifecycle.json"))
    assert sorted(lane.group for lane in drawing.lanes) == ["Border", "Delivery", "Origin"]


@pytest.mark.parametrize("seed", [3, 11, 17, 29, 35])
def test_lanes_of_a_model_that_nobody_tuned_for_keep_apart_at_their_corners_too(seed: int) -> None:
    """All but the first would touch if each seam lay half way between its rows."""
    plain = path_model(seed, 4 + seed % 12, round(1.8 * (4 + seed % 12)))
    count, parts = len(plain.states), 2 + seed % 2
    states = tuple(
        replace(state, group=f"Group {number * parts // count}") for number, state in enumerate(plain.states)
    )
    drawing = layout_lifecycle(replace(plain, states=states))
    assert len(drawing.lanes) == parts
    assert_lanes_keep_apart(drawing)


@settings(
    max_examples=25,
    deadline=None,
    phases=(Phase.explicit, Phase.reuse, Phase.generate),
    suppress_health_check=[HealthCheck.too_slow],
)
@given(
    lifecycles(most_states=8, most_arrows=12),
    st.lists(st.sampled_from(["one", "two", None]), min_size=8, max_size=8),
)
def test_a_lane_holds_the_states_of_its_group_and_no_others(lifecycle: Lifecycle, groups: list[str | None]) -> None:
    states = tuple(replace(state, group=group) for state, group in zip(lifecycle.states, groups, strict=False))
    lifecycle = replace(lifecycle, states=states)
    drawing = layout_lifecycle(lifecycle)
    assert measure_drawing(drawing).overlaps == ()
    assert_lanes_hold_their_states(drawing, lifecycle)
    assert_lanes_keep_apart(drawing)
    if drawing.arrows:
        assert_names_are_free(drawing)


@pytest.mark.parametrize("name", ["parcel", "kubernetes-pod", "order"])
def test_the_name_of_a_lane_stands_inside_it_with_room_around(name: str) -> None:
    for lane in layout_lifecycle(load_lifecycle(GALLERY / f"{name}.lifecycle.json")).lanes:
        first, last = lane.name[0], lane.name[-1]
        right = first.x + max(line.width for line in lane.name)
        for x in (first.x - 5, right + 5):
            assert all(is_inside((x, y), lane.outline) for y in (first.baseline - 12, last.baseline + 4))


def test_a_lifecycle_without_two_groups_of_two_states_has_no_lanes() -> None:
    assert not has_lanes(in_groups("a", "a", None, None))
    assert not has_lanes(in_groups("a", "a", "b", None))
    assert has_lanes(in_groups("a", "a", "b", "b"))
    assert not has_lanes(in_groups(*["a", "b"] * 13))


def test_groups_that_are_torn_apart_are_drawn_without_lanes() -> None:
    lifecycle = in_groups("a", "b", "a", "b")
    plain = layout_lifecycle(replace(lifecycle, states=tuple(replace(each, group=None) for each in lifecycle.states)))
    in_one_row = len({state.box.center[1] for state in plain.states}) == 1
    assert in_one_row
    assert add_lanes(plain, lifecycle) is plain


@pytest.mark.parametrize(
    ("rows", "breaks"),
    [
        (((0, 1), (2, 3)), 0),
        (((0, 2), (1, 3)), 0),
        (((0, 2, 1), (3,)), 1),
        (((0, 4, 1), (2, 3)), 1),
        (((0,), (2, 3), (1,)), 1),
        (((0,), (4,), (1,)), 1),
        (((0, 5, 1), (2, 3)), 0),
        (((0,), (5,), (1,)), 0),
    ],
)
def test_what_stands_between_states_of_a_group_breaks_its_lane_unless_it_is_a_mark(
    rows: tuple[tuple[int, ...], ...], breaks: int
) -> None:
    assert lane_breaks(rows, (0, 0, 1, 1, APART, FREE)) == breaks


def test_a_scene_of_one_group_has_no_lanes() -> None:
    from arrowproof.render.language import load_language
    from arrowproof.render.layout.fold import open_group

    lifecycle = load_lifecycle(Path(__file__).parent / "cases" / "order-groups.json")
    assert not has_lanes(open_group(lifecycle, "End", load_language()).lifecycle)
