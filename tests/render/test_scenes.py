from __future__ import annotations

from dataclasses import replace
from functools import cache
from itertools import pairwise
from pathlib import Path
from unittest.mock import Mock

import pytest

from arrowproof.model.evidence import SneakPath
from arrowproof.model.lifecycle import Arrow, Kind, Lifecycle, State, View
from arrowproof.model.loader import load_lifecycle
from arrowproof.model.rung import Rung
from arrowproof.render import scenes
from arrowproof.render.language import load_language
from arrowproof.render.layout import layout_lifecycle
from arrowproof.render.layout.fold import fold_groups, foldable_groups
from arrowproof.render.proof import Proof, bring_proof
from arrowproof.render.quality import READABLE_SCALE, SMALL_ARROWS, fit_scale, measure_drawing
from arrowproof.render.scene import Scene
from arrowproof.render.scenes import MAX_VIEWS, plan_scenes
from arrowproof.render.stage import set_stage
from arrowproof.render.svg import render_scene
from arrowproof.render.views import list_views, noted_views
from tests.render.evidence_builder import build_evidence
from tests.render.hub_models import hubs
from tests.render.pages import BUNDLED, NOTES, grid_drawing

ROOT = Path(__file__).parents[2]
CASES = Path(__file__).parent / "cases"
ENGLISH = load_language()
ORDER = load_lifecycle(CASES / "order-groups.json")


def large(states: int = 200, arrows: int = 400, groups: int = 10) -> Lifecycle:
    """A long line with arrows to and fro over short distances, in groups of equal size."""
    made = tuple(
        State(f"s{n}", list(Kind)[n % 5], f"state_number_{n}", f"s{n}", group=f"Phase {n * groups // states + 1}")
        for n in range(states)
    )
    line = [Arrow(f"next{n}", f"s{n}", f"s{n + 1}", f"step {n} done") for n in range(states - 1)]
    rest = [
        Arrow(f"more{n}", f"s{(n * 37) % states}", f"s{min((n * 37) % states + n % 9, states - 1)}", "retry asked for")
        for n in range(arrows - len(line) - 1)
    ]
    return Lifecycle("large", "Large", made, (Arrow("new", None, "s0", "created"), *line, *rest))


def hub(incoming: int, groups: int) -> Lifecycle:
    """States in groups that all lead to one."""
    states = [State(f"s{n}", Kind.ACTIVE, f"state_{n}", f"s{n}", group=f"G{n % groups}") for n in range(incoming)]
    arrows = [Arrow(f"a{n}", f"s{n}", "end", "cancelled") for n in range(incoming)]
    return Lifecycle("hub", "Hub", (*states, State("end", Kind.FAILURE, "end", "end")), tuple(arrows))


SAYS_MUCH = "the operator confirms by hand that it may be sent"


def crowded(states: int, crowd: int, says: str) -> Lifecycle:
    """A line of states without groups, and so many arrows from the fourth to the fifth; each says this."""
    names = [f"s{number}" for number in range(states)]
    ends = [*pairwise(names), *[("s3", "s4")] * (crowd - 1)]
    arrows = tuple(Arrow(f"a{number}", *pair, f"{says} {number}") for number, pair in enumerate(ends))
    kinds = (Kind.WAITING, Kind.ACTIVE, Kind.NEUTRAL)
    made = (State(name, kinds[number % 3], f"Step {number}", name) for number, name in enumerate(names))
    return Lifecycle("crowded", "Crowded", tuple(made), arrows)


@cache
def proof() -> Proof:
    path = SneakPath("cancelled", "closed", possible=())
    rungs = {("pay_failed", "pay_pending"): "missing", ("transit", "lost"): "walked"}
    return bring_proof(ORDER, build_evidence(ORDER, rungs, sneak_paths=(path,)), "3ad814f6" * 8)


@cache
def scenes_of_order() -> tuple[Scene, ...]:
    return plan_scenes(ORDER, None, ENGLISH)


@cache
def scenes_of_proof() -> tuple[Scene, ...]:
    return plan_scenes(proof().lifecycle, None, ENGLISH, proof())


def test_a_lifecycle_that_is_read_as_a_whole_has_one_scene() -> None:
    (scene,) = set_stage(load_lifecycle(BUNDLED), None, ENGLISH).scenes
    assert (scene.name, scene.fragment, scene.is_overview) == ("whole", None, False)


def test_a_large_one_has_an_overview_a_scene_for_each_group_and_one_for_each_state() -> None:
    scenes = scenes_of_order()
    assert [scene.name for scene in scenes[:9]] == ["overview", *(f"g{n}" for n in range(7)), "s0"]
    assert [scene.title for scene in scenes[1:8]] == list(dict.fromkeys(state.group for state in ORDER.states))
    assert [scene.focus for scene in scenes[8:]] == [state.id for state in ORDER.states]
    assert scenes[8].fragment == "#state=cart"
    assert scenes[8].parent == "Basket"


def test_a_view_of_a_large_model_has_a_scene_with_nothing_but_what_is_in_it() -> None:
    views = (
        View("pay", "Paying", ("pay_pending", "authorized"), (), "How it is paid."),
        View("one", "One arrow", (), ("t13",)),
    )
    scenes = {scene.fragment: scene for scene in plan_scenes(replace(ORDER, views=views), None, ENGLISH)}
    pay, one = scenes["#view=pay"], scenes["#view=one"]
    assert pay.title == "Paying"
    assert {box.id for box in pay.drawing.states} == {"pay_pending", "authorized"}
    assert {end for arrow in pay.lifecycle.arrows for end in (arrow.source, arrow.target)} == {
        "pay_pending",
        "authorized",
    }
    assert [path.id for path in one.drawing.arrows] == ["t13"]
    assert {measure_drawing(scene.drawing).overlaps for scene in (pay, one)} == {()}


def test_a_view_that_could_not_be_read_has_no_scene_and_its_note_says_so() -> None:
    views = (
        View("all", "All", tuple(state.id for state in ORDER.states), (), "Everything."),
        View("pay", "Paying", ("pay_pending",), ()),
    )
    lifecycle = replace(ORDER, views=views)
    scenes = plan_scenes(lifecycle, None, ENGLISH)
    assert [scene.fragment for scene in scenes if scene.name.startswith("v")] == ["#view=pay"]
    notes = [view.note for view in noted_views(list_views(lifecycle), scenes, ENGLISH)]
    assert notes == [f"Everything. {ENGLISH('views.no_scene')}", ""]


def test_no_more_views_than_a_page_can_bear_have_scenes(monkeypatch: pytest.MonkeyPatch) -> None:
    views = tuple(View(f"v{number}", f"V{number}", ("cart",), ()) for number in range(MAX_VIEWS + 5))
    lifecycle = replace(ORDER, views=views)

    def count() -> int:
        return sum(scene.name.startswith("v") for scene in plan_scenes(lifecycle, None, ENGLISH))

    assert count() == MAX_VIEWS
    monkeypatch.setattr("arrowproof.render.scenes.MAX_SCENES", 1 + 7 + 30 + 3)
    assert count() == 3


def test_every_scene_of_a_large_model_is_read_and_nothing_in_it_overlaps() -> None:
    dense = plan_scenes(large(30, 58, 2), None, ENGLISH)
    for scene in (*scenes_of_order(), *scenes_of_proof(), *plan_scenes(large(), None, ENGLISH), *dense):
        quality = measure_drawing(scene.drawing)
        assert quality.overlaps == (), scene.name
        assert quality.scale >= READABLE_SCALE, scene.name


def test_a_large_one_without_groups_opens_with_the_whole_as_an_overview() -> None:
    states = tuple(replace(state, group=None) for state in ORDER.states)
    lifecycle = replace(ORDER, states=states)
    first, *others = plan_scenes(lifecycle, grid_drawing(lifecycle), ENGLISH)
    assert first.is_overview
    assert len(first.drawing.states) == 30
    assert len(others) == 30


def test_the_note_of_a_group_lists_in_japanese_as_japanese_does() -> None:
    overview = plan_scenes(proof().lifecycle, None, load_language("ja"), proof())[0]
    notes = {state.label: state.note for state in overview.lifecycle.states if state.id in overview.groups}
    assert notes["Payment"] == "内部に4 状態、6 矢印、欠落 1 / 6"


def test_a_crowd_is_drawn_in_full_in_an_overview_where_it_can_be_read_so() -> None:
    overview = set_stage(crowded(26, 40, "go"), None, ENGLISH).scenes[0]
    assert overview.bundles == {}
    assert fit_scale(overview.drawing.bounds) >= READABLE_SCALE


@pytest.mark.parametrize(("arrows", "is_tried"), [(240, True), (340, False)])
def test_a_whole_of_more_labels_than_a_screen_shows_is_not_laid_out_with_them(
    monkeypatch: pytest.MonkeyPatch, arrows: int, is_tried: bool
) -> None:
    model = hubs(3, 120, arrows)
    crowd = tuple(Arrow(f"more{n}", "s7", "s8", "go") for n in range(4))
    for name in ("layout_lifecycle", "bare_drawing"):
        monkeypatch.setattr(scenes, name, Mock(side_effect=NotImplementedError(name)))
    with pytest.raises(NotImplementedError, match="layout_lifecycle" if is_tried else "bare_drawing"):
        plan_scenes(replace(model, arrows=(*model.arrows, *crowd)), None, ENGLISH)


def test_a_crowd_is_one_arrow_in_an_overview_that_would_be_too_small_and_its_ends_show_all_of_it() -> None:
    model = crowded(26, 60, SAYS_MUCH)
    first, *others = set_stage(model, None, ENGLISH).scenes
    (members,) = first.bundles.values()
    assert len(members) == 60
    assert fit_scale(first.drawing.bounds) > 1.2 * fit_scale(layout_lifecycle(model).bounds)
    assert measure_drawing(first.drawing).overlaps == ()
    shown = {path.id for scene in others for path in scene.drawing.arrows}
    assert shown >= {arrow.id for arrow in model.arrows}


def test_one_group_that_holds_everything_is_not_folded() -> None:
    lifecycle = replace(ORDER, states=tuple(replace(state, group="all") for state in ORDER.states))
    first = plan_scenes(lifecycle, grid_drawing(lifecycle), ENGLISH)[0]
    assert first.name == "whole"


def test_a_group_too_large_to_be_drawn_is_a_catalog_of_its_states() -> None:
    scene = next(scene for scene in plan_scenes(large(), None, ENGLISH) if scene.title == "Phase 2")
    assert len(scene.drawing.states) == 20
    assert scene.drawing.arrows == ()
    assert [state.note for state in scene.lifecycle.states[:2]] == ["1 in, 2 out", "2 in, 2 out"]


def test_on_a_page_of_very_many_groups_no_scene_with_neighbours_is_larger_than_a_small_model_and_all_are_read() -> None:
    model = large(42, 260, 14)
    overview, *scenes = plan_scenes(model, None, ENGLISH)
    folded = fold_groups(model, dict.fromkeys(foldable_groups(model), ""), ENGLISH)
    assert len(overview.drawing.states) == len(folded.lifecycle.states) == 14
    assert {path.id for path in overview.drawing.arrows} == {arrow.id for arrow in folded.lifecycle.arrows}
    for scene in scenes:
        quality = measure_drawing(scene.drawing)
        assert quality.overlaps == (), scene.name
        assert quality.scale >= READABLE_SCALE, scene.name
    groups = [scene for scene in scenes if scene.name.startswith("g")]
    assert len(groups) == 14
    assert all(len(scene.drawing.arrows) <= SMALL_ARROWS for scene in groups if not scene.groups)


def test_a_state_with_very_many_neighbours_has_them_in_their_groups() -> None:
    lifecycle = hub(60, 5)
    scene = next(scene for scene in plan_scenes(lifecycle, None, ENGLISH) if scene.focus == "end")
    assert sorted(scene.groups.values()) == [f"G{n}" for n in range(5)]
    assert measure_drawing(scene.drawing).scale >= READABLE_SCALE


def test_a_bundle_stands_where_its_lowest_arrow_does_and_says_how_many_do() -> None:
    overview = scenes_of_proof()[0]
    assert overview.proof is not None
    name = next(name for name, members in overview.bundles.items() if "t38" in members)
    standing = overview.proof.standing.arrows[name]
    assert (standing.rung, standing.at, standing.over) == (Rung.WALKED, 1, 4)
    assert overview.proof.captions[name] == "walked 1 of 4"
    assert "Shipping to End: 4 arrows, walked 1 of 4" in render_scene(overview, proof().lifecycle)


def test_what_a_group_lacks_is_said_on_its_box() -> None:
    overview = scenes_of_proof()[0]
    notes = {state.label: state.note for state in overview.lifecycle.states}
    assert notes["Payment"] == "4 states, 6 arrows inside, missing 1 of 6"
    assert notes["Stock"] == "3 states, 3 arrows inside"
    assert overview.tones == {"Payment": "wrong"}
    assert 'class="state folded wrong"' in render_scene(overview, proof().lifecycle)


def test_a_sneak_path_is_drawn_in_the_overview_even_inside_a_group() -> None:
    (sneak,) = proof().sneak_paths
    for scene in scenes_of_proof():
        drawn = {path.id for path in scene.drawing.arrows}
        touches = scene.name == "overview" or scene.title == "End" or scene.focus in ("cancelled", "closed")
        assert (sneak in drawn) == touches, scene.name


def test_a_view_never_leaves_out_a_sneak_path_between_its_states() -> None:
    views = (View("end", "End", ("cancelled", "closed"), ()), View("some", "Some", ("closed", "cancelled"), ("t13",)))
    shown = replace(proof(), lifecycle=replace(proof().lifecycle, views=views))
    (sneak,) = shown.sneak_paths
    scenes = plan_scenes(shown.lifecycle, None, ENGLISH, shown)
    for scene in scenes:
        if scene.name.startswith("v"):
            assert sneak in {path.id for path in scene.drawing.arrows}
    place = [arrow.id for arrow in shown.lifecycle.arrows].index(sneak)
    for listed in list_views(shown.lifecycle, shown.sneak_paths):
        assert f"a{place}" in listed.members.split()


def test_a_large_one_without_arrows_is_drawn() -> None:
    states = tuple(State(f"s{number}", Kind.ACTIVE, f"Step {number}", f"s{number}") for number in range(61))
    assert len(plan_scenes(Lifecycle("apart", "Apart", states, ()), None, ENGLISH)) > 1


def test_a_state_with_very_many_self_arrows_and_no_neighbour_has_them_on_pages() -> None:
    arrows = tuple(Arrow(f"a{number}", "a", "a", f"ping number {number}", "when something") for number in range(48))
    shown = plan_scenes(Lifecycle("self", "Self", (State("a", Kind.ACTIVE, "a", "a"),), arrows), None, ENGLISH)
    assert {arrow.id for scene in shown for arrow in scene.lifecycle.arrows} >= {arrow.id for arrow in arrows}


def test_the_frame_of_a_page_holds_every_scene_but_a_small_overview() -> None:
    states = tuple(replace(state, group=None) for state in ORDER.states)
    lifecycle = replace(ORDER, states=states)
    stage = set_stage(lifecycle, grid_drawing(lifecycle), ENGLISH)
    assert stage.frame.width < stage.scenes[0].view.width
    assert all(scene.view.width <= stage.frame.width + 6.01 for scene in stage.scenes[1:])


def test_a_small_model_has_no_names_to_search_and_no_places() -> None:
    stage = set_stage(NOTES, grid_drawing(NOTES), ENGLISH)
    assert (stage.names, stage.places) == (None, ())


def test_places_say_the_way_from_the_overview() -> None:
    stage = set_stage(ORDER, None, ENGLISH)
    assert stage.places[0] == "Overview"
    assert "Overview › Payment" in stage.places
    assert "Overview › Payment › authorized" in stage.places
