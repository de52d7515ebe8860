"""Tours: each arrow path of each transition, from creation, on the shortest way."""

from __future__ import annotations

from collections.abc import Callable
from itertools import pairwise
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from arrowproof.model.lifecycle import Arrow, Kind, Lifecycle, State
from arrowproof.model.tours import plan_tours
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
