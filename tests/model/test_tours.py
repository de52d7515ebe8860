"""Tours: each arrow path of each transition, on the shortest way, or with as few rows as can be."""

from __future__ import annotations

from collections.abc import Callable
from itertools import pairwise
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from arrowproof.model.lifecycle import Arrow, Kind, Lifecycle, State
from arrowproof.model.tours import plan_cover, plan_tours
from arrowproof.model.transitions import derive_transitions

STATES = tuple(State(name, Kind.NEUTRAL, name, name) for name in "ABCDE")
ENDS = st.tuples(st.sampled_from([None, *"ABCDE"]), st.sampled_from([None, *"ABCDE"])).filter(any)


def make(ends: list[tuple[str | None, str | None]]) -> Lifecycle:
    arrows = tuple(Arrow(f"a{index}", source, target) for index, (source, target) in enumerate(ends))
    return Lifecycle("m", "M", STATES, arrows)


def distances(ends: list[tuple[str | None, str | None]]) -> dict[str | None, int]:
    """The fewest arrows from creation to each state, by relaxing until nothing changes."""
    found: dict[str | None, int] = {None: 0}
    for _ in STATES:
        for source, target in ends:
            if source in found and target is not None:
                found[target] = min(found.get(target, 99), found[source] + 1)
    return found


@given(st.lists(ENDS, max_size=12))
@settings(deadline=None)
def test_every_tour_is_joined_starts_at_creation_and_is_as_short_as_can_be(
    ends: list[tuple[str | None, str | None]],
) -> None:
    lifecycle, near = make(ends), distances(ends)
    plan = plan_tours(lifecycle)
    for tour in plan.tours:
        assert tour.steps[0].source is None
        assert all(left.target == right.source for left, right in pairwise(tour.steps))
        assert len(tour.steps) == near[tour.goal.source] + 1
        assert tour.goal_path in tour.goal.paths
    covered = [(tour.goal.pair, tour.goal_path) for tour in plan.tours]
    unreachable = [(transition.pair, path) for transition in plan.unreachable for path in transition.paths]
    everything = [(transition.pair, path) for transition in derive_transitions(lifecycle) for path in transition.paths]
    assert sorted(map(str, covered + unreachable)) == sorted(map(str, everything))
    assert all(transition.source not in near for transition in plan.unreachable)


def test_the_retry_job_has_a_tour_for_each_of_its_seven_transitions(
    job: dict[str, Any], parse: Callable[[Any], Lifecycle]
) -> None:
    plan = plan_tours(parse(job))
    assert [(" | ".join(step.name for step in tour.steps), tour.goal_path) for tour in plan.tours] == [
        ("created -> pending", ("accept",)),
        ("created -> pending | pending -> completed", ("pick", "succeed")),
        ("created -> pending | pending -> retry_wait", ("pick", "retry")),
        ("created -> pending | pending -> failed", ("pick", "exhaust")),
        ("created -> pending | pending -> retry_wait | retry_wait -> completed", ("due", "succeed")),
        ("created -> pending | pending -> retry_wait | retry_wait -> retry_wait", ("due", "retry")),
        ("created -> pending | pending -> retry_wait | retry_wait -> failed", ("due", "exhaust")),
    ]
    assert plan.unreachable == ()


def test_parallel_arrows_have_a_tour_each_so_that_every_arrow_can_be_covered() -> None:
    plan = plan_tours(make([(None, "A"), ("A", "B"), ("A", "B")]))
    assert [tour.goal_path for tour in plan.tours] == [("a0",), ("a1",), ("a2",)]


def test_of_two_shortest_ways_the_one_that_stands_first_in_the_file_is_taken() -> None:
    plan = plan_tours(make([(None, "A"), ("A", "C"), ("A", "B"), ("B", "D"), ("C", "D"), ("D", None)]))
    assert [step.name for step in plan.tours[-1].steps] == ["created -> A", "A -> C", "C -> D", "D -> removed"]


def test_what_no_row_can_come_to_is_told_apart() -> None:
    plan = plan_tours(make([(None, "A"), ("B", "C"), ("C", None)]))
    assert [tour.goal.name for tour in plan.tours] == ["created -> A"]
    assert [transition.name for transition in plan.unreachable] == ["B -> C", "C -> removed"]


def test_the_cover_of_the_retry_job_creates_four_rows_where_each_transition_alone_creates_seven(
    job: dict[str, Any], parse: Callable[[Any], Lifecycle]
) -> None:
    plan = plan_cover(parse(job))
    assert [[step.target for step in tour.steps] for tour in plan.tours] == [
        ["pending", "completed"],
        ["pending", "retry_wait", "completed"],
        ["pending", "retry_wait", "retry_wait", "failed"],
        ["pending", "failed"],
    ]
    assert plan.shortest == plan.alone == plan_tours(parse(job)).tours


@given(st.lists(ENDS, max_size=9), st.booleans())
@settings(deadline=None)
def test_every_step_of_a_cover_follows_the_one_before_and_every_arrow_path_is_taken_by_itself(
    ends: list[tuple[str | None, str | None]], pairs: bool
) -> None:
    plan, alone = plan_cover(make(ends), pairs=pairs), plan_tours(make(ends))
    assert plan.unreachable == alone.unreachable
    for tour in plan.tours:
        assert tour.steps[0].source is None
        assert all(left.target == right.source is not None for left, right in pairwise(tour.steps))
    alone_taken = [(step.pair, step.paths[0]) for tour in plan.tours for step in tour.steps if len(step.paths) == 1]
    assert set(alone_taken) >= {tour.path_goal for tour in alone.tours}
    assert len(plan.tours) <= len(alone.tours) or pairs


@given(st.lists(ENDS, max_size=8))
@settings(deadline=None)
def test_a_cover_of_pairs_takes_every_pair_that_can_be(
    ends: list[tuple[str | None, str | None]],
) -> None:
    plan = plan_cover(make(ends), pairs=True)
    goals = {tour.goal for tour in plan.alone}
    wanted = {(a.pair, b.pair) for a in goals for b in goals if a.target == b.source is not None}
    taken = {(a.pair, b.pair) for tour in plan.tours for a, b in pairwise(tour.steps)}
    assert taken == wanted
    assert {tuple(step.pair for step in tour.steps[-2:]) for tour in plan.pairs} == wanted


def test_a_step_that_was_taken_by_each_of_its_paths_may_be_taken_by_any() -> None:
    (first, second) = plan_cover(make([(None, "A"), ("A", "B"), ("A", "B"), ("B", "A"), ("B", None), ("A", "C")])).tours
    steps = [step for tour in (first, second) for step in tour.steps if step.pair == ("A", "B")]
    assert [step.paths for step in steps] == [(("a1",),), (("a2",),)]


def test_a_model_whose_fewest_tours_are_not_found_in_good_time_is_walked_by_the_shortest() -> None:
    names = [f"{kind}{number}" for kind in "sw" for number in range(110)]
    ends: list[tuple[str | None, str | None]] = [(None, f"s{number}") for number in range(110) for _ in range(2)]
    ends += [(f"s{number}", f"w{number}") for number in range(110)]
    ends += [(f"w{number}", None) for number in range(110) for _ in range(2)]
    arrows = tuple(Arrow(f"a{index}", source, target) for index, (source, target) in enumerate(ends))
    large = Lifecycle("m", "M", tuple(State(name, Kind.NEUTRAL, name, name) for name in names), arrows)
    plan = plan_cover(large)
    assert plan.tours == plan.shortest == plan_tours(large).tours


def test_there_is_one_tour_for_each_transition_whatever_its_paths_and_the_shorter_come_first() -> None:
    plan = plan_cover(make([(None, "A"), ("A", "B"), ("B", "C"), ("A", "C"), ("A", "C"), ("C", "D")]))
    assert {tour.goal.pair for tour in plan.one_each} == {tour.goal.pair for tour in plan.shortest}
    assert [len(tour.steps) for tour in plan.one_each] == [1, 2, 2, 3, 3]


def test_a_row_can_stand_by_in_each_state_that_a_transition_leaves() -> None:
    plan = plan_cover(make([(None, "A"), ("A", "B"), ("B", "C"), ("A", "C"), ("C", "D")]))
    assert [tour.goal.target for tour in plan.to_stand_by] == ["A", "B", "C"]
