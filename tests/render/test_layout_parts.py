from __future__ import annotations

from dataclasses import replace
from functools import cache
from itertools import permutations

import pytest

from arrowproof.model.lifecycle import Arrow, Lifecycle
from arrowproof.render.language import load_language
from arrowproof.render.layout.fold import fold_groups
from arrowproof.render.layout.parts import grouped_by, part_states
from arrowproof.render.quality import find_overlaps, is_read
from arrowproof.render.stage import Stage, set_stage
from tests.render.dense_models import dense
from tests.render.hub_models import hubs
from tests.render.pages import state

ENGLISH = load_language()
KINDS = [(1, 60, 200), (2, 100, 180), (4, 100, 160), (6, 120, 400)]
THICKET = hubs(6, 120, 400)


@cache
def thicket() -> Stage:
    return set_stage(THICKET, None, ENGLISH)


@pytest.mark.parametrize(("count", "states", "arrows"), KINDS)
def test_every_state_but_the_hubs_stands_in_exactly_one_part(count: int, states: int, arrows: int) -> None:
    lifecycle = hubs(count, states, arrows)
    inside = [each for part in part_states(lifecycle).values() for each in part]
    centers = {f"s{states * hub // count}" for hub in range(count)}
    assert inside == [each.id for each in lifecycle.states if each.id not in centers]


@pytest.mark.parametrize(("count", "states", "arrows"), KINDS)
def test_parts_are_of_even_length_and_leave_few_arrows_to_an_overview(count: int, states: int, arrows: int) -> None:
    lifecycle = hubs(count, states, arrows)
    parts = part_states(lifecycle)
    lengths = [len(part) for part in parts.values()]
    assert max(lengths) - min(lengths) <= 1
    folded = fold_groups(grouped_by(lifecycle, parts), dict.fromkeys(parts, ""), ENGLISH)
    assert len({(arrow.source, arrow.target) for arrow in folded.lifecycle.arrows}) <= 80


@pytest.mark.parametrize("count", range(1, 14))
def test_of_few_states_so_many_stand_in_parts_that_something_folds(count: int) -> None:
    states = tuple(state(f"s{number}") for number in range(count))
    ends = [pair for pair in permutations([each.id for each in states], 2) for _ in range(12)]
    arrows = tuple(Arrow(f"a{number}", *pair) for number, pair in enumerate(ends))
    lifecycle = Lifecycle("few", "Few", states, arrows)
    lengths = [len(part) for part in part_states(lifecycle).values()]
    assert max(lengths, default=0) >= (2 if count >= 6 else 0)
    assert sum(lengths) in ({0, count} if count < 6 else {count - hubs for hubs in range(7)})


def test_states_without_a_hub_all_stand_in_parts() -> None:
    lifecycle = dense("mesh", 120)
    assert sum(map(len, part_states(lifecycle).values())) == 120


def test_a_part_is_called_by_its_first_and_last_state_and_no_two_alike() -> None:
    lifecycle = hubs(1, 60, 100)
    assert next(iter(part_states(lifecycle))) == "Stage 1 … Stage 4"
    labels = {"s1": "A", "s4": "B … C", "s5": "A … B", "s9": "C"}
    states = tuple(replace(each, label=labels.get(each.id, each.label)) for each in lifecycle.states)
    names = list(part_states(replace(lifecycle, states=states)))
    assert names[:2] == ["A … B … C", "A … B … C (2)"]
    assert len(set(names)) == len(names) > 1


def test_parts_are_found_by_their_names_as_groups_are() -> None:
    names = thicket().names
    assert names is not None
    assert names["groups"] == [[part, part] for part in part_states(THICKET)]


def test_a_lifecycle_whose_lines_cannot_be_told_apart_opens_in_parts_and_everything_behind_can_be_read() -> None:
    first, *behind = thicket().scenes
    assert set(first.pages) == set(first.groups.values()) == set(part_states(THICKET))
    assert [scene.name for scene in behind if not is_read(scene.drawing)] == []
    assert find_overlaps(first.drawing) == ()
    assert {scene.address for scene in behind} >= {("group", part) for part in first.pages}
    assert {scene.focus for scene in behind} >= {each.id for each in THICKET.states}
