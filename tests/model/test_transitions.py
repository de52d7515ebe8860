"""Transitions: what a database can witness, against a naive enumeration."""

from __future__ import annotations

from itertools import pairwise

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from arrowproof.errors import ModelError
from arrowproof.model.lifecycle import Arrow, Kind, Lifecycle, State
from arrowproof.model.transitions import MAX_PATHS, MAX_STEPS, derive_transitions, transition_map, transition_name

Ends = tuple[str | None, str | None]


def make(stored: str, passing: list[str], ends: list[Ends]) -> Lifecycle:
    """A lifecycle of one-letter stored states, passing states, and arrows named after their place: a0, a1, …"""
    states = [State(name, Kind.NEUTRAL, name, name) for name in stored]
    states += [State(name, Kind.PASSING, name, None) for name in passing]
    arrows = [Arrow(f"a{index}", source, target) for index, (source, target) in enumerate(ends)]
    return Lifecycle("m", "M", tuple(states), tuple(arrows))


def naive_walks(lifecycle: Lifecycle) -> list[tuple[Arrow, ...]]:
    """All sequences of joined arrows up to the number of passing states + 1, kept when they are walks."""
    passing = {state.id for state in lifecycle.states if state.kind is Kind.PASSING}
    walks: list[tuple[Arrow, ...]] = [(arrow,) for arrow in lifecycle.arrows]
    for _ in passing:
        longer = [
            (*walk, arrow) for walk in walks for arrow in lifecycle.arrows if walk[-1].target == arrow.source in passing
        ]
        walks += [walk for walk in longer if walk not in walks]
    return [walk for walk in walks if walk[0].source not in passing and walk[-1].target not in passing]


# Passing states are joined in alphabetical order only, so that there is no cycle.
ENDS = st.tuples(
    st.sampled_from([None, "A", "B", "p", "q", "r"]), st.sampled_from([None, "A", "B", "p", "q", "r"])
).filter(
    lambda ends: (
        ends != (None, None) and not (all(end in ("p", "q", "r") for end in ends) and str(ends[0]) >= str(ends[1]))
    )
)


@given(st.lists(ENDS, max_size=9))
@settings(deadline=None, max_examples=150)
def test_transitions_are_all_walks_through_passing_states_and_nothing_else(ends: list[Ends]) -> None:
    lifecycle = make("AB", ["p", "q", "r"], ends)
    rank = {arrow.id: index for index, arrow in enumerate(lifecycle.arrows)}
    wanted: dict[Ends, list[tuple[str, ...]]] = {}
    for walk in sorted(naive_walks(lifecycle), key=lambda walk: [rank[arrow.id] for arrow in walk]):
        wanted.setdefault((walk[0].source, walk[-1].target), []).append(tuple(arrow.id for arrow in walk))
    found = {transition.pair: list(transition.paths) for transition in derive_transitions(lifecycle)}
    assert list(found.items()) == list(wanted.items())


def test_a_walk_through_a_passing_state_is_one_transition_over_two_arrows() -> None:
    lifecycle = make("AB", ["p"], [(None, "A"), ("A", "p"), ("p", "B"), ("p", "A"), ("B", None)])
    assert [(transition.name, transition.paths) for transition in derive_transitions(lifecycle)] == [
        ("created -> A", (("a0",),)),
        ("A -> B", (("a1", "a2"),)),
        ("A -> A", (("a1", "a3"),)),
        ("B -> removed", (("a4",),)),
    ]


def test_a_transition_lists_every_arrow_path_that_makes_it() -> None:
    lifecycle = make("AB", ["p"], [(None, "A"), ("A", "B"), ("A", "p"), ("p", "B"), ("A", "B")])
    assert transition_map(lifecycle)["A", "B"].paths == (("a1",), ("a2", "a3"), ("a4",))


def test_the_name_says_creation_and_removal() -> None:
    assert transition_name(None, "A") == "created -> A"
    assert transition_name("A", None) == "A -> removed"


def test_the_name_tells_a_state_called_created_or_removed_from_creation_and_removal() -> None:
    assert transition_name(None, "created") == 'created -> "created"'
    assert transition_name("created", "removed") == '"created" -> "removed"'
    assert transition_name("removed", None) == '"removed" -> removed'


def test_a_cycle_of_passing_states_is_an_error_that_shows_the_cycle() -> None:
    lifecycle = make("A", ["p", "q"], [(None, "A"), ("A", "p"), ("p", "q"), ("q", "p"), ("q", "A")])
    with pytest.raises(ModelError) as caught:
        derive_transitions(lifecycle)
    assert 'passing states form a cycle, "p" -> "q" -> "p"' in str(caught.value)


def test_a_passing_state_that_leads_to_itself_is_a_cycle() -> None:
    with pytest.raises(ModelError, match='"p" -> "p"'):
        derive_transitions(make("A", ["p"], [(None, "A"), ("A", "p"), ("p", "p"), ("p", "A")]))


def ladder(rungs: int) -> tuple[list[str], list[Ends]]:
    """Passing states in a row with two arrows between neighbours: 2 ** rungs paths from the first to the last."""
    names = [f"p{index}" for index in range(rungs + 1)]
    return names, [(left, right) for left, right in pairwise(names) for _ in range(2)]


def test_layers_of_passing_states_are_counted_and_refused_and_never_walked() -> None:
    names, ends = ladder(200)
    with pytest.raises(ModelError, match=f"multiply to more than {MAX_PATHS} arrow paths"):
        derive_transitions(make("A", names, [(None, "A"), ("A", "p0"), *ends, ("p200", "A")]))


@pytest.mark.timeout(60)
def test_layers_before_a_long_chain_are_refused_and_never_walked() -> None:
    names, ends = ladder(13)
    chain = [f"q{index}" for index in range(800)]
    links = list(pairwise([names[-1], *chain]))
    with pytest.raises(ModelError, match=f"to arrow paths of more than {MAX_STEPS} arrows in all"):
        derive_transitions(make("A", [*names, *chain], [("A", "p0"), *ends, *links, (chain[-1], "A")]))


def test_a_long_chain_alone_is_derived() -> None:
    chain = [f"q{index}" for index in range(900)]
    ends = list(pairwise(["A", *chain, "A"]))
    (transition,) = derive_transitions(make("A", chain, ends))
    assert [len(path) for path in transition.paths] == [901]


def test_as_many_paths_as_are_allowed_are_derived() -> None:
    names, ends = ladder(13)
    transition = transition_map(make("A", names, [("A", "p0"), *ends, ("p13", "A")]))["A", "A"]
    assert len(transition.paths) == len(set(transition.paths)) == 2**13 <= MAX_PATHS


def test_layers_that_lead_nowhere_cost_nothing() -> None:
    names, ends = ladder(200)
    lifecycle = make("A", [*names, "q"], [(None, "A"), ("A", "q"), ("q", "p0"), *ends, ("q", None)])
    assert [transition.name for transition in derive_transitions(lifecycle)] == ["created -> A", "A -> removed"]


def test_a_chain_of_a_thousand_passing_states_is_one_path() -> None:
    names = [f"p{index}" for index in range(999)]
    lifecycle = make("A", names, [("A", "p0"), *pairwise(names), ("p998", "A")])
    (transition,) = derive_transitions(lifecycle)
    assert len(transition.paths[0]) == 1000


def test_the_largest_lifecycle_without_passing_states_is_derived() -> None:
    states = [f"s{index}" for index in range(1000)]
    ends: list[Ends] = [(states[index % 1000], states[(index * 7 + index // 1000) % 1000]) for index in range(5000)]
    lifecycle = Lifecycle("m", "M", tuple(State(s, Kind.NEUTRAL, s, s) for s in states), make("", [], ends).arrows)
    assert sum(len(transition.paths) for transition in derive_transitions(lifecycle)) == 5000
