from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from itertools import pairwise, permutations
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from arrowproof.model.lifecycle import Arrow, Lifecycle
from arrowproof.render.drawing import ArrowPath, Box, Drawing
from arrowproof.render.language import load_language
from arrowproof.render.layout import candidates, layout_lifecycle
from arrowproof.render.layout.boxes import with_label
from arrowproof.render.layout.candidates import Candidate, best_drawing
from arrowproof.render.layout.forms import PLAIN, Form, closer_forms, first_form, is_thicket
from arrowproof.render.layout.graph import Graph
from arrowproof.render.layout.grid import Placement
from arrowproof.render.layout.sizes import CAPTION_GAP, ENTRY_GAP, LabelLimits
from arrowproof.render.quality import count_crossings, fit_scale, is_read, measure_drawing
from arrowproof.render.stage import set_stage
from tests.render.extremes import dense, parallel, selves, wordy_parallel
from tests.render.pages import state
from tests.render.test_layout import assert_complete, lifecycles

PLACES = {arrow.id: place for place, arrow in enumerate(parallel().arrows, 1)}
CORDS, NUMBERS, CLOSEST = Form(12), Form(12, PLACES), Form(12, PLACES, has_notes=False)


def of_ends(*ends: tuple[str | None, str | None]) -> tuple[Arrow, ...]:
    return tuple(Arrow(str(number), *pair, f"event {number}") for number, pair in enumerate(ends))


def shared(form: Form, *ends: tuple[str | None, str | None]) -> list[str]:
    """The ids of the arrows on each line."""
    return ["".join(arrow.id for arrow in line) for line in form.lines(of_ends(*ends))]


def test_in_the_plain_form_every_arrow_has_a_line_of_its_own() -> None:
    assert shared(PLAIN, *[("a", "b")] * 5) == ["0", "1", "2", "3", "4"]


def test_more_than_two_arrows_with_the_same_ends_share_a_line_in_the_place_of_the_first() -> None:
    ends = [("a", "b"), ("b", "a"), ("a", "b"), ("a", "b"), ("b", "a")]
    assert shared(CORDS, *ends) == ["023", "1", "4"]


def test_so_many_that_one_line_would_be_too_high_are_spread_evenly_over_several() -> None:
    assert [len(line) for line in Form(12).lines(of_ends(*[("a", "b")] * 28))] == [9, 9, 10]


def test_self_arrows_share_one_line_however_many_they_are() -> None:
    assert [len(line) for line in Form(12).lines(of_ends(*[("a", "a")] * 28))] == [28]


def test_arrows_without_a_source_or_a_target_never_share_a_line_since_each_has_its_own_mark() -> None:
    assert shared(CORDS, *[(None, "a")] * 3, *[("a", None)] * 3) == ["0", "1", "2", "3", "4", "5"]


def test_numbers_stand_for_labels_only_where_that_is_allowed_and_notes_give_way_last() -> None:
    assert list(closer_forms(parallel(), PLACES)) == [Form(12), Form(6), NUMBERS, CLOSEST]
    assert list(closer_forms(parallel(), None)) == [Form(12), Form(6)]
    alone = Lifecycle("x", "X", (state("a"), state("b")), of_ends(("a", "b")))
    assert list(closer_forms(alone, {"0": 1})) == [Form(1, {"0": 1}), Form(1, {"0": 1}, has_notes=False)]


def test_shorter_cords_are_tried_only_where_they_are_other_ones() -> None:
    for count, forms in ((6, [Form(12)]), (7, [Form(12), Form(6)])):
        model = Lifecycle("x", "X", (state("a"), state("b")), of_ends(*[("a", "b")] * count))
        assert list(closer_forms(model, None)) == forms


@pytest.mark.parametrize(("states", "form"), [(24, PLAIN), (25, Form(12))])
def test_a_crowd_among_so_many_states_that_no_form_is_read_shares_its_lines_from_the_start(
    states: int, form: Form
) -> None:
    named = tuple(state(str(number)) for number in range(states))
    assert first_form(Lifecycle("x", "X", named, of_ends(*[("0", "1")] * 4))) == form
    assert first_form(Lifecycle("x", "X", named, of_ends(*[("0", "1")] * 3))) == PLAIN


@pytest.mark.parametrize(("gives_way", "most"), [(True, 1), (False, 3)])
def test_what_is_far_too_small_is_searched_once_where_a_closer_form_follows(
    monkeypatch: pytest.MonkeyPatch, gives_way: bool, most: int
) -> None:
    searched: list[int] = []
    drafts = candidates._drafts

    def counted(graph: Graph, earlier: Sequence[Placement], seed: int, is_hurried: bool) -> list[Candidate]:
        searched.append(seed)
        return drafts(graph, earlier, seed, is_hurried)

    monkeypatch.setattr(candidates, "_drafts", counted)
    best_drawing(wordy_parallel(), {}, gives_way=gives_way)
    assert searched == list(range(most))


def beads_on_line(arrow: ArrowPath, first: ArrowPath) -> bool:
    """Whether the bead of an arrow stands on an upright leg of its line, or on the stem."""
    legs = [*pairwise(first.points), *([first.stem] if first.stem else [])]
    x, y = arrow.bead
    return any(a[0] == b[0] == x and min(a[1], b[1]) <= y <= max(a[1], b[1]) for a, b in legs)


@pytest.mark.parametrize("model", [parallel(), selves()], ids=lambda model: model.id)
def test_every_arrow_on_a_cord_has_its_own_label_and_its_own_bead_on_the_line(model: Lifecycle) -> None:
    drawing = layout_lifecycle(model)
    paths = {path.id: path for path in drawing.arrows}
    assert [path.id for path in drawing.arrows] == [arrow.id for arrow in model.arrows]
    for arrow, path in zip(model.arrows, drawing.arrows, strict=True):
        assert path.cord is not None
        first = paths[path.cord]
        assert path.points == first.points
        assert beads_on_line(path, first)
        assert " ".join(line.text for line in path.label) == arrow.label
    assert len({path.bead for path in drawing.arrows}) == len(model.arrows)


def test_the_level_line_of_a_cord_has_a_stem_for_its_beads() -> None:
    states = (state("a"), state("b"), state("c"))
    model = Lifecycle("x", "X", states, of_ends(("a", "b"), ("a", "b"), ("a", "b"), ("b", "c")))
    drawing = best_drawing(model, {}, form=CORDS)
    first = drawing.arrows[0]
    assert first.cord == "0"
    assert all(beads_on_line(path, first) for path in drawing.arrows[:3])
    assert first.points[0][1] == first.points[-1][1]
    assert first.stem is not None
    assert first.stem[1] == (first.bead[0], first.points[0][1])


@pytest.mark.parametrize(("count", "shares"), [(10, False), (12, True)])
def test_a_crowd_that_can_be_read_shares_a_line_only_where_that_makes_the_drawing_clearly_larger(
    count: int, shares: bool
) -> None:
    model = Lifecycle("x", "X", (state("a"), state("b")), of_ends(*[("a", "b")] * count))
    assert is_read(best_drawing(model, {}))
    assert all((path.cord is not None) is shares for path in layout_lifecycle(model).arrows)


def test_labels_that_can_be_read_never_give_way_to_numbers_however_much_larger_these_would_be() -> None:
    ends = [pair for pair in (("a", "b"), ("b", "c"), ("c", "a")) for _ in range(5)]
    arrows = (replace(arrow, guard="guard is held", effect="much of it is written") for arrow in of_ends(*ends))
    model = Lifecycle("x", "X", (state("a"), state("b"), state("c")), tuple(arrows))
    numbers = {arrow.id: place for place, arrow in enumerate(model.arrows, 1)}
    whole, numbered = layout_lifecycle(model, None, numbers), best_drawing(model, {}, form=Form(12, numbers))
    assert fit_scale(numbered.bounds) > 1.1 * fit_scale(whole.bounds)
    assert not any(path.is_tag for path in whole.arrows)


def test_a_caption_on_a_cord_stands_behind_the_last_line_of_its_label() -> None:
    label = CORDS.label(of_ends(*[("a", "b")] * 3), {"0": "written"}, LabelLimits(20, 20))
    entry = label.entries[0]
    assert entry.text.lines == ("event", "0")
    path = with_label(ArrowPath("0", (), (0, 0)), entry, (100, 0), "start")
    assert path.caption is not None
    assert path.caption.x == 100 + entry.text.widths[-1] + CAPTION_GAP
    assert path.caption.baseline == path.label[-1].baseline


def test_labels_of_several_lines_stand_apart_on_a_cord_and_those_of_one_line_do_not() -> None:
    arrows = of_ends(*[("a", "b")] * 3)
    for limits, gap in ((LabelLimits(400, 400), 0), (LabelLimits(20, 20), ENTRY_GAP)):
        label = CORDS.label(arrows, {}, limits)
        assert label.tops[1] == label.entries[0].height + gap


def test_two_cords_that_cross_are_counted_as_one_crossing() -> None:
    def cord(points: tuple[tuple[float, float], ...], *ids: str) -> tuple[ArrowPath, ...]:
        return tuple(ArrowPath(id, points, points[0], cord=ids[0]) for id in ids)

    arrows = (*cord(((0, 5), (10, 5)), "a", "b", "c"), *cord(((5, 0), (5, 10)), "d", "e"))
    assert count_crossings(Drawing(Box(0, 0, 10, 10), (), arrows)) == 1


@settings(max_examples=40, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(lifecycles(most_states=5, most_arrows=24), st.sampled_from((CORDS, Form(6), NUMBERS, CLOSEST)), st.booleans())
def test_nothing_overlaps_in_any_form_of_any_lifecycle(model: Lifecycle, form: Form, has_captions: bool) -> None:
    captions = {arrow.id: "survived" for arrow in model.arrows} if has_captions else {}
    if model.states or model.arrows:
        drawing = best_drawing(model, captions, form=form)
        assert_complete(model, drawing)
        assert measure_drawing(drawing).overlaps == ()


def test_numbers_are_the_places_of_the_arrows_in_the_file() -> None:
    drawing = best_drawing(parallel(), {}, form=NUMBERS)
    assert [path.label[0].text for path in drawing.arrows] == [str(number) for number in range(1, 29)]
    assert all(path.is_tag for path in drawing.arrows)


def test_a_drawing_with_no_key_beside_it_has_whole_labels_however_small() -> None:
    drawing = layout_lifecycle(wordy_parallel())
    assert not any(path.is_tag for path in drawing.arrows)
    assert [path.label[0].text for path in drawing.arrows][:2] == ["operator confirms a0", "operator confirms a1"]


def test_a_drawing_in_haste_is_searched_once_and_one_that_lacks_something_more_often(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    seeds: list[int] = []
    search = candidates.find_placements

    def counted(graph: Graph, earlier: Sequence[Placement], seed: int, is_hurried: bool) -> dict[Placement, float]:
        seeds.append(seed)
        return search(graph, earlier, seed, is_hurried)

    monkeypatch.setattr(candidates, "find_placements", counted)
    layout_lifecycle(dense(), is_hurried=True)
    assert seeds == [0]
    layout_lifecycle(dense())
    assert seeds[1:] == [0, 1, 2]


def between(states: int, ends: Iterable[tuple[int, int]]) -> Lifecycle:
    """So many states and an arrow for each of these ends."""
    boxes = tuple(state(f"s{n}") for n in range(states))
    arrows = tuple(Arrow(f"a{n}", f"s{a}", f"s{b}", f"event {n}") for n, (a, b) in enumerate(ends))
    return Lifecycle("x", "X", boxes, arrows)


def test_a_thicket_is_told_by_its_lines_and_a_crowd_is_one_of_them() -> None:
    assert is_thicket(between(12, permutations(range(12), 2)))
    assert not is_thicket(between(10, permutations(range(10), 2)))
    assert not is_thicket(between(12, [(0, 1), (1, 0)] * 200))
    assert not is_thicket(between(30, list(permutations(range(30), 2))[:135]))
    assert is_thicket(between(30, list(permutations(range(30), 2))[:136]))


def test_the_whole_of_a_thicket_is_never_laid_out(monkeypatch: pytest.MonkeyPatch) -> None:
    """What is laid out is its overview in parts, and what stands behind that."""
    laid_out: list[int] = []
    draw = candidates.best_drawing

    def counted(lifecycle: Lifecycle, *values: Any, **options: Any) -> Drawing:
        laid_out.append(len(lifecycle.states))
        return draw(lifecycle, *values, **options)

    monkeypatch.setattr("arrowproof.render.layout.best_drawing", counted)
    set_stage(between(12, permutations(range(12), 2)), None, load_language())
    assert laid_out
    assert max(laid_out) < 12
