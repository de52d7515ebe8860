from __future__ import annotations

import random
from itertools import pairwise

import pytest

from arrowproof.model.lifecycle import Arrow, Kind, Lifecycle, State
from arrowproof.render.layout.candidates import assemble, draft_placements, score
from arrowproof.render.layout.direction import direction_cost
from arrowproof.render.layout.estimate import Estimate
from arrowproof.render.layout.graph import Graph, read_graph
from arrowproof.render.layout.grid import Placement, build_grid
from arrowproof.render.layout.order import order_elements
from arrowproof.render.layout.placements import find_placements
from arrowproof.render.layout.sizes import LabelLimits
from arrowproof.render.quality import Quality, find_overlaps


def graph_of(kinds: dict[str, Kind], arrows: list[tuple[str | None, str | None]]) -> Graph:
    states = tuple(State(name, kind, name, name) for name, kind in kinds.items())
    drawn = tuple(Arrow(f"{number}", source, target, "event") for number, (source, target) in enumerate(arrows))
    return read_graph(Lifecycle("x", "X", states, drawn), {}, LabelLimits(130, 130))


JOB = graph_of(
    {"new": Kind.WAITING, "bad": Kind.FAILURE, "busy": Kind.ACTIVE, "done": Kind.SUCCESS},
    [(None, "new"), ("new", "busy"), ("busy", "done"), ("busy", "bad"), ("busy", "new")],
)


def test_the_main_path_leads_from_creation_to_success() -> None:
    assert [JOB.nodes[node].id for node in JOB.main_path] == ["start:0", "new", "busy", "done"]


def test_without_success_the_main_path_leads_to_the_last_state_that_is_no_failure() -> None:
    graph = graph_of({"a": Kind.ACTIVE, "f": Kind.FAILURE, "b": Kind.ACTIVE}, [("a", "f"), ("a", "b")])
    assert [graph.nodes[node].id for node in graph.main_path] == ["a", "b"]


def test_a_lifecycle_that_is_one_cycle_has_a_main_path() -> None:
    graph = graph_of({"a": Kind.ACTIVE, "b": Kind.ACTIVE}, [("a", "b"), ("b", "a")])
    assert graph.main_path == (0, 1)


def test_every_placement_holds_every_node_once() -> None:
    for placement in find_placements(JOB):
        assert sorted(node for row in placement for node in row) == list(range(len(JOB.nodes)))
        assert all(placement)


def test_the_best_placement_lays_the_main_path_level() -> None:
    best = next(iter(find_placements(JOB)))
    assert JOB.main_path in best


def test_a_path_that_leads_backwards_or_turns_costs_more() -> None:
    level, reversed_, bent = ((4, 0, 2, 3), (1,)), ((3, 2, 0, 4), (1,)), ((4, 0), (2, 3), (1,))
    assert direction_cost(JOB, level) < direction_cost(JOB, bent) < direction_cost(JOB, reversed_)


def test_a_cost_above_the_limit_is_infinite_and_one_below_is_exact() -> None:
    estimate = Estimate(JOB)
    rows = ((4, 0), (2, 3), (1,))
    cost = estimate.cost(rows)
    assert estimate.cost(rows, cost + 0.01) == cost
    assert estimate.cost(rows, cost - 0.01) == float("inf")


def test_small_text_crossings_and_bends_lower_the_score() -> None:
    good = Quality(0, 2, 0, 3, (), 12.0, 60.0, 1000.0, 1.0, 15.0, 13.0, 0.8)
    for worse in ({"scale": 0.7}, {"crossings": 1}, {"bends": 6}, {"jogs": 2}, {"length": 5000.0}):
        assert score(Quality(**{**vars(good), **worse})) < score(good)


def test_a_line_of_very_many_states_is_cut_into_rows_and_read_like_text() -> None:
    names = {f"s{number}": Kind.ACTIVE for number in range(60)}
    graph = graph_of(names, [*pairwise(names), ("s9", "s9")])
    placement = draft_placements(graph, find_placements(graph))[0].placement
    assert [node for row in placement for node in row] == list(range(60))
    assert 4 <= len(placement) <= 12


@pytest.mark.parametrize("seed", range(40))
def test_nothing_overlaps_however_the_nodes_are_placed(seed: int) -> None:
    """The search may come to any placement, so every placement must hold, the silliest too."""
    chance = random.Random(seed)
    names = {f"s{number}": chance.choice(list(Kind)) for number in range(chance.choice([1, 2, 4, 8, 14]))}
    ends = [None, *names, *names, *names]
    pairs = [(chance.choice(ends), chance.choice(ends)) for _ in range(chance.choice([1, 6, 18, 36]))]
    graph = graph_of(names, [pair for pair in pairs if any(pair)])
    grid = build_grid(graph, shuffled(graph, chance))
    assert find_overlaps(assemble(grid, order_elements(grid), chance.choice([20, 160])).drawing()) == ()


def shuffled(graph: Graph, chance: random.Random) -> Placement:
    rows: list[list[int]] = [[] for _ in range(chance.randint(1, 6))]
    for node in chance.sample(range(len(graph.nodes)), len(graph.nodes)):
        chance.choice(rows).append(node)
    return tuple(tuple(row) for row in rows if row)
