from __future__ import annotations

from arrowproof.render.layout.tracks import depth, passage

BOXES = [(-100.0, -20.0), (20.0, 100.0)]


def test_a_line_passes_straight_where_no_box_is_in_its_way() -> None:
    assert passage(BOXES, 0, 60) == (0, 0)
    assert passage(BOXES, 60, 0) == (0, 0)


def test_a_line_that_must_go_round_a_box_takes_the_nearer_side() -> None:
    assert passage([(-100, 100)], 40, 80) == (100, 20)
    assert passage([(-100, 100)], -90, -40) == (-100, 10)


def test_a_line_between_two_boxes_needs_no_detour_when_its_ends_are_on_both_sides() -> None:
    assert passage(BOXES, -60, 60) == (-20, 0)


def test_a_line_keeps_off_the_boxes_of_every_row_it_passes() -> None:
    assert passage([(-50, 10), (0, 60)], 0, 5) == (-50, 50)


def test_level_runs_above_each_other_are_counted_where_most_are() -> None:
    assert depth([]) == 0
    assert depth([(0, 100), (200, 300)]) == 0
    assert depth([(0, 200), (100, 300), (150, 250), (400, 500)]) == 2


def test_ends_that_a_straight_line_can_join_need_no_run() -> None:
    assert depth([(0, 30), (10, 40), (20, 20)]) == 0
