from __future__ import annotations

import pytest

from arrowproof.model.lifecycle import Arrow, Kind, Lifecycle, State
from arrowproof.render.layout.candidates import assemble
from arrowproof.render.layout.channels import assign_slots
from arrowproof.render.layout.coordinates import Columns, assign_columns
from arrowproof.render.layout.graph import read_graph
from arrowproof.render.layout.grid import Grid, build_grid
from arrowproof.render.layout.order import order_elements
from arrowproof.render.layout.sizes import LabelLimits
from arrowproof.render.quality import find_overlaps


def crossed_grid() -> Grid:
    """a and b over c and d, with arrows a -> d and b -> c that need no labels: one channel, two links."""
    states = tuple(State(name, Kind.ACTIVE, name, name) for name in "abcd")
    arrows = (Arrow("ad", "a", "d"), Arrow("bc", "b", "c"))
    graph = read_graph(Lifecycle("x", "X", states, arrows), {}, LabelLimits(130, 130))
    return build_grid(graph, ((0, 1), (2, 3)))


def columns(ad: tuple[int, int], bc: tuple[int, int]) -> Columns:
    boxes = {0: (0, 200), 1: (300, 500), 2: (0, 200), 3: (300, 500)}
    return Columns(boxes, {}, {(0, 0): ad[0], (0, 1): ad[1], (1, 0): bc[0], (1, 1): bc[1]}, 500)


def test_straight_links_need_no_slot() -> None:
    channel = assign_slots(crossed_grid(), columns((100, 100), (400, 400)))[1]
    assert (channel.count, channel.clashes) == (0, ())


def test_runs_that_come_near_each_other_get_different_slots() -> None:
    channel = assign_slots(crossed_grid(), columns((50, 400), (450, 150)))[1]
    assert channel.count == 2
    assert len(set(channel.slots.values())) == 2


def test_runs_far_apart_share_a_slot() -> None:
    channel = assign_slots(crossed_grid(), columns((50, 100), (350, 400)))[1]
    assert channel.count == 1


def test_the_order_of_runs_keeps_legs_off_each_other() -> None:
    """The leg of bc comes down at 400, where the leg of ad goes on down: bc must turn first."""
    channel = assign_slots(crossed_grid(), columns((50, 400), (400, 150)))[1]
    assert channel.slots[1] < channel.slots[0]
    assert channel.clashes == ()


def test_legs_that_no_order_keeps_apart_are_reported_left_one_first() -> None:
    channel = assign_slots(crossed_grid(), columns((100, 398), (400, 102)))[1]
    assert channel.clashes
    left, right = channel.clashes[0]
    assert {left, right} in ({(0, 0), (1, 1)}, {(0, 1), (1, 0)})


def test_reported_legs_get_columns_of_their_own() -> None:
    grid = crossed_grid()
    order = order_elements(grid)
    left, right = ((0, 1), (1, 0))
    apart = assign_columns(grid, order, 20, [(left, right)])
    assert apart.pins[right] - apart.pins[left] >= 10


def test_without_the_rule_the_drawing_would_overlap(monkeypatch: pytest.MonkeyPatch) -> None:
    """The same columns with the slots turned upside down: legs lie on each other, and the quality check sees it."""
    grid = crossed_grid()
    order = order_elements(grid)
    assert find_overlaps(assemble(grid, order, 20).drawing()) == ()
    clashing = columns((50, 400), (400, 150))
    good = assign_slots(grid, clashing)
    monkeypatch.setattr("arrowproof.render.layout.candidates.assign_columns", lambda *_: clashing)
    assert find_overlaps(assemble(grid, order, 20).drawing()) == ()
    upside_down = [
        type(channel)({link: channel.count - 1 - slot for link, slot in channel.slots.items()}, channel.count, ())
        for channel in good
    ]
    monkeypatch.setattr("arrowproof.render.layout.candidates.assign_slots", lambda *_: upside_down)
    assert {overlap.kind for overlap in find_overlaps(assemble(grid, order, 20).drawing())} == {"arrow-arrow"}
