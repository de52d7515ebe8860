from __future__ import annotations

from itertools import pairwise

import pytest

from arrowproof.model.lifecycle import Arrow, Kind, Lifecycle, State
from arrowproof.render.layout.annealing import Annealing
from arrowproof.render.layout.estimate import Estimate
from arrowproof.render.layout.graph import Graph, read_graph
from arrowproof.render.layout.grid import Placement
from arrowproof.render.layout.sizes import LabelLimits

PATH = "abcdefg"


def chain() -> Graph:
    states = tuple(State(name, Kind.ACTIVE, name, name) for name in PATH)
    arrows = tuple(Arrow(f"{a}{b}", a, b, "event") for a, b in pairwise(PATH))
    return read_graph(Lifecycle("x", "X", states, arrows), {}, LabelLimits(130, 130))


def annealed(seed: int, steps: int = 600) -> tuple[float, Placement]:
    estimate = Estimate(chain())
    rows = ((6, 0, 3), (5, 1), (2, 4))
    return Annealing(estimate, seed).anneal(rows, estimate.cost(rows), steps, 4.0, 0.1)


@pytest.mark.parametrize("seed", range(5))
def test_a_bad_placement_becomes_a_good_one_and_keeps_every_node(seed: int) -> None:
    cost, rows = annealed(seed)
    assert sorted(node for row in rows for node in row) == list(range(len(PATH)))
    assert all(rows)
    assert cost == Estimate(chain()).cost(rows)
    assert cost < Estimate(chain()).cost(((6, 0, 3), (5, 1), (2, 4))) / 2


def test_the_same_seed_makes_the_same_search_and_another_one_another() -> None:
    assert annealed(1, 40) == annealed(1, 40)
    assert len({annealed(seed, 40)[0] for seed in range(6)}) > 1


def test_no_step_changes_nothing() -> None:
    assert annealed(0, 0)[1] == ((6, 0, 3), (5, 1), (2, 4))


def test_placements_that_were_met_are_remembered_with_their_cost() -> None:
    estimate = Estimate(chain())
    annealing = Annealing(estimate, 0)
    best, _ = annealing.anneal(((0, 1, 2), (3, 4, 5, 6)), 1000.0, 200, 4.0, 0.1)
    met = annealing.met(best + 2)
    assert min(met.values()) == best
    assert all(cost == pytest.approx(estimate.cost(rows)) and cost < best + 2 for rows, cost in met.items())
