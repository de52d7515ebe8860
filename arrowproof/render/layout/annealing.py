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

Rows = list[list[int]]

_NEAR_NEIGHBOUR, _ANYWHERE, _SWAP = 0.3, 0.72, 0.9
"""Up to these values of a random number a node goes near a neighbour, anywhere, or changes places with another."""
_TURNED, _ROWS_SWAPPED, _CUT = 0.94, 0.96, 0.98
"""And up to these a row is turned round, two rows change places, or a row is cut; beyond, its end joins the next."""
_SAME_ROW, _NEXT_ROW = 0.4, 0.9
"""Near a neighbour means in its row, in the row above or below, or in a new one."""


class Annealing:
    """A random search over placements of one graph, with one stream of random numbers."""

    def __init__(self, estimate: Estimate, seed: int) -> None:
        self.estimate = estimate
        self.random = Random(seed).random
        self._known: dict[tuple[tuple[int, ...], ...], tuple[float, float]] = {}

    def anneal(self, rows: Rows, cost: float, steps: int, first: float, last: float) -> tuple[float, Rows]:
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

    def met(self, limit: float) -> dict[tuple[tuple[int, ...], ...], float]:
        """All placements below a cost that the search has met so far."""
        return {rows: cost for rows, (cost, _) in self._known.items() if cost < limit}

    def _cost(self, rows: Rows, limit: float) -> float:
        """What the estimate says, which is remembered: a search comes by the same placements again and again."""
        key = tuple(map(tuple, rows))
        cost, asked = self._known.get(key, (math.inf, -math.inf))
        if cost == math.inf and asked < limit:
            cost = self.estimate.cost(key, limit)
            self._known[key] = (cost, limit)
        return cost

    def _changed(self, rows: Rows, nodes: Sequence[int]) -> Rows:
        kind = self.random()
        node = nodes[self._below(len(nodes))]
        if kind < _NEAR_NEIGHBOUR and self.estimate.neighbours[node]:
            return self._near_neighbour(rows, node)
        if kind < _ANYWHERE:
            return self._anywhere(rows, node)
        if kind < _SWAP:
            other = nodes[self._below(len(nodes))]
            return [[other if one == node else node if one == other else one for one in row] for row in rows]
        return self._rows_changed(rows, kind)

    def _near_neighbour(self, rows: Rows, node: int) -> Rows:
        neighbours = self.estimate.neighbours[node]
        neighbour = neighbours[self._below(len(neighbours))]
        changed = [[one for one in row if one != node] for row in rows]
        number = next(number for number, row in enumerate(changed) if neighbour in row)
        where, is_after = self.random(), self.random() < 0.5
        if where < _SAME_ROW:
            row = changed[number]
            row.insert(row.index(neighbour) + is_after, node)
        elif where < _NEXT_ROW and 0 <= number + (1 if is_after else -1) < len(changed):
            row = changed[number + (1 if is_after else -1)]
            row.insert(self._below(len(row) + 1), node)
        else:
            changed.insert(number + is_after, [node])
        return [row for row in changed if row]

    def _anywhere(self, rows: Rows, node: int) -> Rows:
        changed = [[one for one in row if one != node] for row in rows]
        changed = [row for row in changed if row]
        number = int(self.random() * (len(changed) + 0.5))
        if number >= len(changed):
            changed.insert(self._below(len(changed) + 1), [node])
        else:
            changed[number].insert(self._below(len(changed[number]) + 1), node)
        return changed

    def _rows_changed(self, rows: Rows, kind: float) -> Rows:
        number = self._below(len(rows))
        row = rows[number]
        if kind < _TURNED:
            return [*rows[:number], row[::-1], *rows[number + 1 :]]
        if kind < _ROWS_SWAPPED:
            other = self._below(len(rows))
            changed = list(rows)
            changed[number], changed[other] = rows[other], row
            return changed
        place = self._below(len(row))
        if kind < _CUT or number + 1 == len(rows):
            changed = [*rows[:number], row[:place], row[place:], *rows[number + 1 :]]
        else:
            following = rows[number + 1]
            joined = [*following, *row[place:]] if self.random() < 0.5 else [*row[place:], *following]
            changed = [*rows[:number], row[:place], joined, *rows[number + 2 :]]
        return [row for row in changed if row]

    def _below(self, count: int) -> int:
        """A random whole number from 0 to ``count - 1``."""
        return int(self.random() * count)
