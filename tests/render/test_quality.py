from __future__ import annotations

from dataclasses import replace

import pytest

from arrowproof.render.drawing import ArrowPath, Box, Drawing, Mark, Point, StateBox, TextLine
from arrowproof.render.quality import Overlap, find_overlaps, fit_scale, measure_drawing

LEFT, RIGHT = StateBox("left", Box(0, 0, 100, 40), ()), StateBox("right", Box(300, 0, 100, 40), ())
BOUNDS = Box(0, -200, 400, 400)


def arrow(id: str, *points: Point, label: Box | None = None, bead: Point | None = None) -> ArrowPath:
    lines = (TextLine(id, label.x, label.bottom, label.width),) if label else ()
    return ArrowPath(id, points, bead or points[0], lines, label)


def drawing(*arrows: ArrowPath, states: tuple[StateBox, ...] = (LEFT, RIGHT), marks: tuple[Mark, ...] = ()) -> Drawing:
    return Drawing(BOUNDS, states, arrows, marks)


GO = arrow("go", (100, 20), (300, 20), label=Box(180, -10, 40, 16), bead=(200, 20))


def test_a_clean_drawing_holds() -> None:
    quality = measure_drawing(drawing(GO))
    assert quality.holds
    assert (quality.crossings, quality.bends, quality.jogs) == (0, 0, 0)


@pytest.mark.parametrize(
    ("kind", "broken"),
    [
        ("box-box", drawing(states=(LEFT, StateBox("over", Box(90, 30, 100, 40), ())))),
        ("box-box", drawing(states=(LEFT,), marks=(Mark("start:a", "start", (95, 20), 7),))),
        ("label-label", drawing(GO, arrow("back", (300, 100), (100, 100), label=Box(190, -8, 40, 16)))),
        ("label-box", drawing(arrow("go", (100, 20), (300, 20), label=Box(80, 10, 40, 16)))),
        ("label-arrow", drawing(GO, arrow("up", (200, 100), (200, -100)))),
        ("label-arrow", drawing(arrow("go", (100, 20), (300, 20), label=Box(180, 12, 40, 16)))),
        ("bead-arrow", drawing(GO, arrow("near", (203, 24), (203, 100)))),
        ("arrow-box", drawing(arrow("through", (-50, 20), (450, 20)))),
        ("arrow-box", drawing(arrow("inside", (50, 20), (300, 20)))),
        ("arrow-arrow", drawing(GO, arrow("same", (150, 21), (250, 21)))),
        ("arrow-arrow", drawing(arrow("a", (200, 60), (200, 150)), arrow("b", (202, 150), (202, 100)))),
        ("outside", drawing(arrow("far", (100, 20), (100, 900)))),
    ],
)
def test_each_kind_of_overlap_is_found(kind: str, broken: Drawing) -> None:
    assert kind in {overlap.kind for overlap in find_overlaps(broken)}
    assert not measure_drawing(broken).holds


def test_an_overlap_names_both_sides() -> None:
    (overlap,) = find_overlaps(drawing(arrow("go", (100, 20), (300, 20)), arrow("same", (150, 21), (250, 21))))
    assert (overlap.kind, overlap.first, overlap.second) == ("arrow-arrow", "go", "same")


def test_things_that_only_touch_do_not_overlap() -> None:
    touching = drawing(arrow("a", (100, 20), (300, 20)), arrow("b", (200, 20), (200, 100)))
    assert measure_drawing(touching).holds


def test_crossings_bends_and_jogs_are_counted() -> None:
    stair = arrow("stair", (50, 40), (50, 100), (60, 100), (60, 180))
    cross = arrow("cross", (0, 140), (400, 140))
    quality = measure_drawing(drawing(stair, cross))
    assert (quality.crossings, quality.bends, quality.jogs) == (1, 2, 1)


@pytest.mark.parametrize(("step", "jogs"), [(6, 1), (16, 1), (23.5, 1), (24, 0)])
def test_a_step_of_less_than_three_corner_radii_is_a_jog(step: float, jogs: int) -> None:
    stair = arrow("stair", (50, 40), (50, 100), (50 + step, 100), (50 + step, 180))
    assert measure_drawing(drawing(stair)).jogs == jogs


def test_a_line_that_turns_back_after_a_short_way_has_no_jog() -> None:
    loop = arrow("loop", (50, 40), (50, 80), (70, 80), (70, 40))
    assert measure_drawing(drawing(loop)).jogs == 0


def test_straight_arrows_are_counted() -> None:
    bent = arrow("bent", (50, 40), (50, 100), (350, 100), (350, 40))
    assert measure_drawing(drawing(GO, bent)).straight == 1


def test_the_room_of_a_box_is_what_its_widest_line_leaves_free() -> None:
    label, note = TextLine("a", 50, 15, 30, "middle"), TextLine("a note", 50, 32, 64, "middle")
    assert measure_drawing(drawing(states=(StateBox("a", Box(0, 0, 100, 40), (label,), (note,)),))).box_room == 36


def test_a_crossing_of_an_arrow_with_itself_does_not_count() -> None:
    loop = arrow("loop", (200, 60), (200, 150), (250, 150), (250, 100), (150, 100))
    assert measure_drawing(drawing(loop)).crossings == 0


def test_label_distance_is_the_gap_between_a_label_and_its_own_arrow() -> None:
    assert measure_drawing(drawing(GO)).label_distance == 14
    far = arrow("far", (200, 60), (200, 180), label=Box(260, 100, 40, 16))
    assert measure_drawing(drawing(far)).label_distance == 60


CORD = ((100.0, 20.0), (300.0, 20.0))
STEM = ((150.0, -60.0), (150.0, 20.0))


def on_cord(id: str, y: float) -> ArrowPath:
    """An arrow on a level cord, its bead at a height on the stem and its label beside that."""
    return replace(arrow(id, *CORD, label=Box(160, y - 8, 40, 16), bead=(150, y)), cord="one")


ONE, TWO = replace(on_cord("one", -60), stem=STEM), on_cord("two", -30)


def test_the_beads_of_a_cord_stand_on_its_line_and_its_labels_at_their_beads() -> None:
    quality = measure_drawing(drawing(ONE, TWO))
    assert quality.holds
    assert quality.label_distance == 10
    assert quality.straight == 1


def test_another_line_at_a_bead_or_a_label_of_a_cord_or_over_its_stem_is_found() -> None:
    near = arrow("near", (147, -32), (120, -32))
    assert ("bead-arrow", "two", "near") in {(each.kind, each.first, each.second) for each in overlaps(ONE, TWO, near)}
    over = arrow("over", (170, -100), (170, -20))
    assert {(each.kind, each.first) for each in overlaps(ONE, TWO, over)} == {
        ("label-arrow", "one"),
        ("label-arrow", "two"),
    }
    assert "arrow-arrow" in {each.kind for each in overlaps(ONE, TWO, arrow("along", (151, -50), (151, -10)))}


def overlaps(*arrows: ArrowPath) -> tuple[Overlap, ...]:
    return find_overlaps(drawing(*arrows))


def test_text_shrinks_with_the_drawing_and_is_not_blown_up() -> None:
    assert fit_scale(Box(0, 0, 1900, 100)) == pytest.approx(0.5)
    assert fit_scale(Box(0, 0, 100, 1240)) == pytest.approx(0.5)
    assert fit_scale(Box(0, 0, 100, 100)) == 1.25
    assert measure_drawing(drawing(GO), 200, 900).state_px == pytest.approx(7.5)
    assert measure_drawing(drawing(GO), 200, 900).label_px == pytest.approx(6.5)
    assert measure_drawing(drawing(GO), 400, 400).used_area == pytest.approx(1)
