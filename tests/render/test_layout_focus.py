from __future__ import annotations

from itertools import pairwise
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from arrowproof.model.lifecycle import Arrow, Kind, Lifecycle, State
from arrowproof.model.loader import load_lifecycle
from arrowproof.render.drawing import Drawing
from arrowproof.render.layout.focus import focus_drawing
from arrowproof.render.quality import READABLE_SCALE, measure_drawing
from tests.render.test_layout import lifecycles

ORDER = load_lifecycle(Path(__file__).parent / "cases" / "order.json")


def hub(incoming: int, outgoing: int, label: str = "cancelled by the customer") -> Lifecycle:
    """One state between others, each arrow with its own neighbour."""
    others = [State(f"s{number}", Kind.ACTIVE, f"state_number_{number}", f"s{number}") for number in range(60)]
    states = (State("hub", Kind.WAITING, "hub", "hub", note="where all meet"), *others[: incoming + outgoing])
    arrows = [Arrow(f"in{n}", f"s{n}", "hub", label) for n in range(incoming)]
    arrows += [Arrow(f"out{n}", "hub", f"s{incoming + n}", label) for n in range(outgoing)]
    return Lifecycle("hub", "Hub", states, tuple(arrows))


@settings(max_examples=150, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(lifecycles(most_states=12, most_arrows=40), st.booleans())
def test_nothing_overlaps_or_crosses_in_the_focus_view_of_any_state(lifecycle: Lifecycle, has_captions: bool) -> None:
    captions = {arrow.id: "survived" for arrow in lifecycle.arrows} if has_captions else {}
    for state in lifecycle.states:
        quality = measure_drawing(focus_drawing(lifecycle, state.id, captions))
        assert quality.overlaps == ()
        assert quality.crossings == 0


@given(lifecycles())
@settings(max_examples=40, deadline=None, suppress_health_check=[HealthCheck.too_slow])
def test_a_focus_view_holds_the_arrows_of_its_state_and_their_ends_and_no_others(lifecycle: Lifecycle) -> None:
    focus = lifecycle.states[0].id
    drawing = focus_drawing(lifecycle, focus)
    arrows = [arrow for arrow in lifecycle.arrows if focus in (arrow.source, arrow.target)]
    ends = {end for arrow in arrows for end in (arrow.source, arrow.target)} - {None} | {focus}
    assert [arrow.id for arrow in drawing.arrows] == [arrow.id for arrow in arrows]
    assert [state.id for state in drawing.states] == [state.id for state in lifecycle.states if state.id in ends]
    assert len(drawing.marks) == sum(None in (arrow.source, arrow.target) for arrow in arrows)


def test_what_leads_to_a_state_stands_left_of_it_and_what_it_leads_to_right() -> None:
    drawing = focus_drawing(ORDER, "authorized")
    center = {state.id: state.box.center[0] for state in drawing.states}
    left, right = {"pay_pending", "pay_review"}, {"allocating", "cancelled"}
    assert all(center[name] < center["authorized"] for name in left)
    assert all(center[name] > center["authorized"] for name in right)


def test_every_arrow_to_a_neighbour_is_one_level_line() -> None:
    for state in ORDER.states:
        for path in focus_drawing(ORDER, state.id).arrows:
            arrow = ORDER.arrows_by_id[path.id]
            if arrow.source != arrow.target:
                (_, start), (_, end) = path.points
                assert start == end


def test_a_neighbour_with_arrows_to_and_fro_stands_there_once() -> None:
    drawing = focus_drawing(ORDER, "pick_exc")
    assert [state.id for state in drawing.states].count("picking") == 1
    ends = {path.id: path.points for path in drawing.arrows}
    assert ends["t22"][0][0] == ends["t23"][-1][0]


@pytest.mark.parametrize("case", sorted((Path(__file__).parent / "cases").glob("*.json")), ids=lambda path: path.stem)
def test_every_focus_view_of_every_case_is_read_with_ease(case: Path) -> None:
    lifecycle = load_lifecycle(case)
    captions = {arrow.id: "not survived" for arrow in lifecycle.arrows}
    for state in lifecycle.states:
        for captioned in ({}, captions):
            quality = measure_drawing(focus_drawing(lifecycle, state.id, captioned))
            assert quality.overlaps == ()
            assert quality.scale >= READABLE_SCALE, state.id


@pytest.mark.parametrize(("incoming", "outgoing"), [(25, 1), (1, 25), (25, 25), (25, 0)])
def test_twenty_five_arrows_on_a_side_are_still_read(incoming: int, outgoing: int) -> None:
    lifecycle = hub(incoming, outgoing)
    captions = {arrow.id: "survived" for arrow in lifecycle.arrows}
    assert measure_drawing(focus_drawing(lifecycle, "hub", captions)).scale >= READABLE_SCALE


def test_neighbours_that_are_set_close_stand_so_far_apart_that_the_ground_is_seen_between_their_edges() -> None:
    boxes = sorted((each.box for each in focus_drawing(hub(0, 25), "hub").states[1:]), key=lambda box: box.y)
    assert min(below.y - above.bottom for above, below in pairwise(boxes)) >= 6


def test_a_state_without_arrows_stands_alone() -> None:
    drawing = focus_drawing(hub(0, 0), "hub")
    assert [state.id for state in drawing.states] == ["hub"]
    assert drawing.arrows == ()
    assert drawing.bounds.width == drawing.states[0].box.width


def test_self_arrows_stand_below_each_other_on_the_emptier_side() -> None:
    lifecycle = Lifecycle(
        "loops",
        "Loops",
        (State("a", Kind.ACTIVE, "a", "a"), State("b", Kind.ACTIVE, "b", "b")),
        (Arrow("one", "a", "a", "first"), Arrow("go", "a", "b", "go"), Arrow("two", "a", "a", "second")),
    )
    drawing = focus_drawing(lifecycle, "a")
    paths = {path.id: path for path in drawing.arrows}
    box = drawing.states[0].box
    assert paths["one"].points[0][0] == paths["two"].points[0][0] == box.x
    assert paths["one"].points[-1][1] < paths["two"].points[0][1]


@pytest.mark.parametrize("incoming", [40, 48])
def test_what_is_too_much_for_one_side_takes_both(incoming: int) -> None:
    drawing = focus_drawing(hub(incoming, 0), "hub")
    center = next(state.box.center[0] for state in drawing.states if state.id == "hub")
    left = sum(state.box.center[0] < center for state in drawing.states)
    assert left == incoming / 2
    assert measure_drawing(drawing).scale >= READABLE_SCALE


@pytest.mark.parametrize("ends", [("a", "b"), ("b", "a"), ("a", "a")])
def test_many_arrows_with_the_same_ends_share_a_line_where_they_could_not_be_read_otherwise(
    ends: tuple[str, str],
) -> None:
    def drawn(count: int) -> Drawing:
        states = (State("a", Kind.ACTIVE, "a", "a"), State("b", Kind.ACTIVE, "b", "b"))
        return focus_drawing(
            Lifecycle("c", "C", states, tuple(Arrow(f"n{n}", *ends, f"go {n}") for n in range(count))), "a"
        )

    assert {path.cord for path in drawn(10).arrows} == {None}
    cord = drawn(40)
    assert {path.cord for path in cord.arrows} == {"n0"}
    quality = measure_drawing(cord)
    assert quality.overlaps == ()
    assert quality.scale >= READABLE_SCALE
    assert len({path.bead for path in cord.arrows}) == 40
