"""Channels: in which order the level runs of one channel lie above each other.

Two runs that come near each other get different slots. The order is improved by moving one run at a time, while that
saves crossings. Where the vertical leg of one run would lie on the leg of another, the order must keep them apart; when
no order can, the two pins are reported, so that they can be given different columns.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from arrowproof.model.record import record
from arrowproof.render.layout.coordinates import Columns
from arrowproof.render.layout.grid import Grid, Link
from arrowproof.render.layout.variables import Pin

_NEAR = 12
"""Runs that end closer than this to each other do not share a slot."""
_TOUCH = 8
"""Legs closer than this look like one."""
_HARD = 1000
_MOVES = 60


@record
class Run:
    """The level run of one link: its extent, and the x of its legs to the upper and to the lower side."""

    link: int
    left: int
    right: int
    up: tuple[tuple[int, Pin], ...]
    down: tuple[tuple[int, Pin], ...]


@record
class Channel:
    """The slot of each link with a level run, 0 is uppermost; how many slots; and pins that no order keeps apart."""

    slots: Mapping[int, int]
    count: int
    clashes: tuple[tuple[Pin, Pin], ...]


def assign_slots(grid: Grid, columns: Columns) -> tuple[Channel, ...]:
    """The channels of a grid whose columns are known, from the top to the bottom: one more than there are rows."""
    runs: list[list[Run]] = [[] for _ in range(len(grid.rows) + 1)]
    for link in grid.links:
        if columns.pins[link.index, 0] != columns.pins[link.index, 1] or link.turns:
            runs[link.channel].append(_run(link, columns))
    return tuple(_channel(channel, grid.graph.apart) for channel in runs)


def _run(link: Link, columns: Columns) -> Run:
    ends = [(columns.pins[link.index, end], (link.index, end)) for end in (0, 1)]
    return Run(
        link.index,
        min(x for x, _ in ends),
        max(x for x, _ in ends),
        tuple(end for end in ends if link.is_above(end[1][1])),
        tuple(end for end in ends if not link.is_above(end[1][1])),
    )


def _channel(runs: Sequence[Run], apart: int) -> Channel:
    near, touch = max(_NEAR, apart), max(_TOUCH, apart)
    starts = (
        sorted(runs, key=lambda run: (run.left, run.right, run.link)),
        sorted(runs, key=lambda run: (-run.left, run.right, run.link)),
        sorted(runs, key=lambda run: (run.left - run.right, run.link)),
    )
    costs = {(a.link, b.link): _cost(a, b, touch) for a in runs for b in runs if a is not b and _is_near(a, b, near)}
    order = min((_improved(start, costs) for start in starts), key=lambda order: _total(order, costs))
    slots: dict[int, int] = {}
    for place, run in enumerate(order):
        above = [slots[other.link] for other in order[:place] if (other.link, run.link) in costs]
        slots[run.link] = max(above, default=-1) + 1
    clashes = [
        clash
        for place, run in enumerate(order)
        for other in order[place + 1 :]
        if costs.get((run.link, other.link), 0) >= _HARD
        for clash in _clashes(run, other, touch)
    ]
    return Channel(slots, max(slots.values(), default=-1) + 1, tuple(clashes))


def _is_near(a: Run, b: Run, near: int) -> bool:
    return a.left - near < b.right and b.left - near < a.right


def _cost(upper: Run, lower: Run, touch: int) -> int:
    """Crossings when ``upper`` lies above ``lower``; legs on top of each other cost more than any crossing."""
    crossings = sum(upper.left < x < upper.right for x, _ in lower.up)
    crossings += sum(lower.left < x < lower.right for x, _ in upper.down)
    return crossings + _HARD * len(_clashes(upper, lower, touch))


def _clashes(upper: Run, lower: Run, touch: int) -> list[tuple[Pin, Pin]]:
    """Pairs of pins, left one first, whose legs would touch."""
    return [
        (pin, other) if (x, pin) < (y, other) else (other, pin)
        for x, pin in upper.down
        for y, other in lower.up
        if abs(x - y) < touch
    ]


def _improved(start: Sequence[Run], costs: Mapping[tuple[int, int], int]) -> list[Run]:
    """Move one run at a time to the place that saves most, as long as that saves something."""
    order = list(start)
    for _ in range(_MOVES):
        moved = False
        for run in list(order):
            place = order.index(run)
            rest = order[:place] + order[place + 1 :]
            found = _insertion_costs(run, rest, costs)
            best = min(range(len(found)), key=found.__getitem__)
            if found[best] < found[place]:
                rest.insert(best, run)
                order, moved = rest, True
        if not moved:
            break
    return order


def _insertion_costs(run: Run, rest: Sequence[Run], costs: Mapping[tuple[int, int], int]) -> list[int]:
    """The cost of the run at every place among the rest."""
    cost = sum(costs.get((run.link, other.link), 0) for other in rest)
    found = [cost]
    for other in rest:
        cost += costs.get((other.link, run.link), 0) - costs.get((run.link, other.link), 0)
        found.append(cost)
    return found


def _total(order: Sequence[Run], costs: Mapping[tuple[int, int], int]) -> int:
    return sum(costs.get((run.link, other.link), 0) for place, run in enumerate(order) for other in order[place + 1 :])
