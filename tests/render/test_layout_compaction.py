from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from arrowproof.model.lifecycle import Arrow, Kind, Lifecycle, State
from arrowproof.render.drawing import Drawing
from arrowproof.render.layout.assembly import Assembly
from arrowproof.render.layout.candidates import assemble
from arrowproof.render.layout.channels import assign_slots
from arrowproof.render.layout.compaction import Part, Stack, build_stack, compacted
from arrowproof.render.layout.graph import read_graph
from arrowproof.render.layout.grid import build_grid
from arrowproof.render.layout.heights import assign_lines
from arrowproof.render.layout.order import order_elements
from arrowproof.render.layout.sizes import ARROW_ROOM, LabelLimits
from arrowproof.render.quality import measure_drawing
from tests.render.test_layout import lifecycles


def stack_of(*parts: Part) -> Stack:
    return Stack(tuple((part,) for part in parts), {}, {})


def box(left: float, right: float, room: float = 6) -> Part:
    return Part(left, right, -10, 10, room, room)


@st.composite
def assemblies(draw: st.DrawFn) -> tuple[Assembly, Assembly]:
    """Any lifecycle in any placement, once in bands and once compacted as far as it goes."""
    lifecycle: Lifecycle = draw(lifecycles(most_states=8, most_arrows=16))
    graph = read_graph(lifecycle, {}, LabelLimits(104, 104))
    rows: list[list[int]] = [[] for _ in range(draw(st.integers(1, 5)))]
    for node in draw(st.permutations(range(len(graph.nodes)))):
        rows[draw(st.integers(0, len(rows) - 1))].append(node)
    grid = build_grid(graph, tuple(tuple(row) for row in rows if row))
    banded = assemble(grid, order_elements(grid), 700)
    channels = assign_slots(grid, banded.columns)
    low = assign_lines(grid, banded.columns, channels, 0)
    high = assign_lines(grid, banded.columns, channels, 1e6)
    return replace(banded, lines=high), replace(banded, lines=low)


def legs_into_states(drawing: Drawing) -> list[float]:
    """The last upright leg of each arrow that has a corner before it."""
    return [
        abs(arrow.points[-1][1] - arrow.points[-2][1])
        for arrow in drawing.arrows
        if len(arrow.points) > 4 and arrow.points[-1][0] == arrow.points[-2][0]
    ]


@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(assemblies())
def test_what_is_compacted_overlaps_nowhere_and_crosses_as_often_as_before(pair: tuple[Assembly, Assembly]) -> None:
    banded, low = (assembly.drawing() for assembly in pair)
    before, after = measure_drawing(banded), measure_drawing(low)
    assert after.overlaps == ()
    assert (after.crossings, after.bends) == (before.crossings, before.bends)
    assert low.bounds.height <= banded.bounds.height
    assert after.label_distance <= 12
    assert all(leg >= ARROW_ROOM - 1e-6 for leg in legs_into_states(low))


def test_things_that_meet_from_left_to_right_keep_the_room_of_both() -> None:
    upper, lower = compacted(stack_of(box(0, 100, room=6), box(50, 150, room=16)))
    assert lower - upper == 10 + 6 + 16 + 10


def test_things_beside_each_other_need_no_height() -> None:
    beside, near = (compacted(stack_of(box(0, 100), box(left, left + 100))) for left in (120, 110))
    assert beside[0] == beside[1]
    assert near[1] - near[0] == 32


def test_what_has_room_to_move_stands_in_the_middle_of_it() -> None:
    upper, lower, free = compacted(stack_of(box(0, 100), box(0, 100), box(200, 300)))
    assert free == (upper + lower) / 2


def test_a_row_moves_as_one() -> None:
    stack = Stack(((box(0, 100),), (box(0, 100), box(200, 300))), {}, {})
    assert len(compacted(stack)) == 2
    (upper, lower) = compacted(stack)
    assert lower - upper == 32


def test_lines_between_bands_and_compaction_have_the_height_that_is_asked_for() -> None:
    states = tuple(State(name, Kind.ACTIVE, name, name) for name in "abcd")
    arrows = (Arrow("ab", "a", "b", "one " * 40), Arrow("cd", "c", "d", "x"), Arrow("ac", "a", "c", "y " * 40))
    graph = read_graph(Lifecycle("x", "X", states, arrows), {}, LabelLimits(104, 104))
    grid = build_grid(graph, ((0, 1), (2, 3)))
    columns = assemble(grid, order_elements(grid), 700).columns
    channels = assign_slots(grid, columns)
    lowest = assign_lines(grid, columns, channels, 0)
    stack = build_stack(grid, columns, channels)
    y = compacted(stack)
    assert lowest.middles == tuple(y[stack.rows[row]] for row in range(len(grid.rows)))
    least = lowest.height
    for target in (least + 1, least + 5):
        assert assign_lines(grid, columns, channels, target).height == pytest.approx(target)
