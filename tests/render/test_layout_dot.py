from __future__ import annotations

import pytest

from arrowproof.render.layout.dot import Distance, Solver, order_rows, rank_nodes


def test_least_distances_hold_at_the_least_cost() -> None:
    x = Solver().solve(4, [Distance(0, 1, 10), Distance(1, 3, 10), Distance(0, 2, 5), Distance(2, 3, 1, 100)])
    assert x[1] - x[0] >= 10
    assert x[3] - x[1] >= 10
    assert x[3] - x[2] == 1


def test_a_helper_below_two_variables_costs_their_difference() -> None:
    """Two variables that want to be equal are, however far the helper's other neighbours are."""
    helper = [Distance(4, 2, 0, 5), Distance(4, 3, 0, 5)]
    x = Solver().solve(5, [Distance(0, 1, 100), Distance(0, 2, 7), Distance(0, 3, 60), Distance(2, 1, 1), *helper])
    assert x[2] == x[3]


def test_a_solver_that_is_asked_again_answers_like_a_new_one() -> None:
    """With other numbers for the same distances, with these anew, and with a distance and a variable more."""
    first = [Distance(0, 1, 10), Distance(1, 3, 10), Distance(0, 2, 5), Distance(2, 3, 1, 100)]
    second = [Distance(0, 1, 30, 7), Distance(1, 3, 0), Distance(0, 2, 0, 5), Distance(2, 3, 4)]
    third = [*second, Distance(0, 4, 3, 1)]
    solver = Solver()
    for count, distances in ((4, first), (4, second), (5, third), (4, second), (4, first)):
        assert solver.solve(count, distances) == Solver().solve(count, distances)


@pytest.mark.parametrize("count", [1, 2])
def test_ranks_lead_downwards(count: int) -> None:
    edges = [Distance(number, number + 1, 1, 1) for number in range(count)]
    assert rank_nodes(count + 1, edges) == list(range(count + 1))


def test_ranks_of_a_cycle_exist() -> None:
    ranks = rank_nodes(3, [Distance(0, 1, 1, 10), Distance(1, 2, 1, 1), Distance(2, 0, 1, 1)])
    assert ranks[0] < ranks[1]


def test_order_avoids_a_crossing() -> None:
    upper, lower = order_rows([[0, 1], [2, 3]], [Distance(0, 3, 1, 1), Distance(1, 2, 1, 1)], [(0, 1)])
    assert upper == [0, 1]
    assert lower == [3, 2]
