"""Annealing: a placement is changed at random, and changes that make it worse become rarer from step to step.

What a placement costs is rugged: a search that only goes downhill ends in the first valley. The randomness is that of
a generator with a fixed seed, so that the same graph gives the same placement; the number of steps depends on the size
of the graph alone, never on a clock.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from random import Random

from arrowproof.render.layout.estimate import Estimate
from arrowproof.render.layout.grid import Placement

_NEAR_NEIGHBOUR, _ANYWHERE, _SWAP = 0.3, 0.72, 0.9
"""Up to these values of a random number a node goes near a neighbour, anywhere, or changes places with another."""
_TURNED, _ROWS_SWAPPED, _CUT = 0.94, 0.96, 0.98
"""And up to these a row is turned round, two rows change places, or a row is cut; beyond, its end joins the next."""
_UNKNOWN = (math.inf, -math.inf)
"""What is remembered of a placement that was not met yet: its cost, and the limit below which it was asked for."""
_SAME_ROW, _NEXT_ROW = 0.4, 0.9
"""Near a neighbour means in its row, in the row above or below, or in a new one."""


class Annealing:
    """A random search over placements of one graph, with one stream of random numbers.

    A changed placement shares the rows that stay as they are, and is looked up as it is: a step costs no more than the
    rows that it changes.
    """

    def __init__(self, estimate: Estimate, seed: int) -> None:
        self.estimate = estimate
        self.random = Random(seed).random
        self._known: dict[Placement, tuple[float, float]] = {}

    def anneal(self, rows: Placement, cost: float, steps: int, first: float, last: float) -> tuple[float, Placement]:
        """The best placement met, and its cost.

        Args:
            rows: where the search starts.
            cost: what the estimate says of it.
            steps: how many changes are tried.
            first: the temperature at the start, a cost by which a change may be worse.
            last: the temperature at the end.
        """
        best = (cost, rows)
        nodes = [node for row in rows for node in row]
        cooling = (last / first) ** (1 / max(steps, 1))
        temperature = first
        for _ in range(steps):
            temperature *= cooling
            changed = self._changed(rows, nodes)
            limit = cost - temperature * math.log(1 - self.random())
            found = self._cost(changed, limit)
            if found < limit:
                rows, cost = changed, found
                if cost < best[0]:
                    best = (cost, rows)
        return best

    def met(self, limit: float) -> dict[Placement, float]:
        """All placements below a cost that the search has met so far."""
        return {rows: cost for rows, (cost, _) in self._known.items() if cost < limit}

    def _cost(self, rows: Placement, limit: float) -> float:
        """What the estimate says, which is remembered: a search comes by the same placements again and again."""
        cost, asked = self._known.get(rows, _UNKNOWN)
        if cost == math.inf and asked < limit:
            cost = self.estimate.cost(rows, limit)
            self._known[rows] = (cost, limit)
        return cost

    def _changed(self, rows: Placement, nodes: Sequence[int]) -> Placement:
        kind = self.random()
        node = nodes[self._below(len(nodes))]
        if kind < _NEAR_NEIGHBOUR and self.estimate.neighbours[node]:
            return self._near_neighbour(rows, node)
        if kind < _ANYWHERE:
            return self._anywhere(rows, node)
        if kind < _SWAP:
            return _swapped(rows, node, nodes[self._below(len(nodes))])
        return self._rows_changed(rows, kind)

    def _near_neighbour(self, rows: Placement, node: int) -> Placement:
        neighbours = self.estimate.neighbours[node]
        neighbour = neighbours[self._below(len(neighbours))]
        changed = _without(rows, node)
        number = _row_with(changed, neighbour)
        where, is_after = self.random(), self.random() < 0.5
        if where < _SAME_ROW:
            row = changed[number]
            changed[number] = _inserted(row, row.index(neighbour) + is_after, node)
        elif where < _NEXT_ROW and 0 <= number + (1 if is_after else -1) < len(changed):
            number += 1 if is_after else -1
            row = changed[number]
            changed[number] = _inserted(row, self._below(len(row) + 1), node)
        else:
            changed.insert(number + is_after, (node,))
        return tuple([row for row in changed if row])

    def _anywhere(self, rows: Placement, node: int) -> Placement:
        changed = [row for row in _without(rows, node) if row]
        number = int(self.random() * (len(changed) + 0.5))
        if number >= len(changed):
            changed.insert(self._below(len(changed) + 1), (node,))
        else:
            changed[number] = _inserted(changed[number], self._below(len(changed[number]) + 1), node)
        return tuple(changed)

    def _rows_changed(self, rows: Placement, kind: float) -> Placement:
        number = self._below(len(rows))
        row = rows[number]
        if kind < _TURNED:
            return (*rows[:number], row[::-1], *rows[number + 1 :])
        if kind < _ROWS_SWAPPED:
            other = self._below(len(rows))
            swapped = list(rows)
            swapped[number], swapped[other] = rows[other], row
            return tuple(swapped)
        place = self._below(len(row))
        if kind < _CUT or number + 1 == len(rows):
            changed = (*rows[:number], row[:place], row[place:], *rows[number + 1 :])
        else:
            following = rows[number + 1]
            joined = (*following, *row[place:]) if self.random() < 0.5 else (*row[place:], *following)
            changed = (*rows[:number], row[:place], joined, *rows[number + 2 :])
        return tuple([row for row in changed if row])

    def _below(self, count: int) -> int:
        """A random whole number from 0 to ``count - 1``."""
        return int(self.random() * count)


def _row_with(rows: Sequence[Sequence[int]], node: int) -> int:
    """The number of the row in which a node stands."""
    number = 0
    while node not in rows[number]:
        number += 1
    return number


def _without(rows: Placement, node: int) -> list[tuple[int, ...]]:
    """The rows without a node, that of the node perhaps empty."""
    changed = list(rows)
    number = _row_with(rows, node)
    row = changed[number]
    place = row.index(node)
    changed[number] = row[:place] + row[place + 1 :]
    return changed


def _inserted(row: tuple[int, ...], place: int, node: int) -> tuple[int, ...]:
    return (*row[:place], node, *row[place:])


def _swapped(rows: Placement, node: int, other: int) -> Placement:
    """The rows with two nodes in the place of each other."""
    changed = list(rows)
    for number in {_row_with(rows, node), _row_with(rows, other)}:
        changed[number] = tuple([other if one == node else node if one == other else one for one in rows[number]])
    return tuple(changed)
