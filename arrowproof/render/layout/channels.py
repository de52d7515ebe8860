"""Channels: in which order the level runs of one channel lie above each other.

Two runs that come near each other get different slots. The order is improved by moving one run at a time, while that
saves crossings. Where the vertical leg of one run would lie on the leg of another, the order must keep them apart; when
no order can, the two pins are reported, so that they can be given different columns.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import accumulate

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
    numbers = range(len(runs))
    starts = (
        sorted(numbers, key=lambda one: (runs[one].left, runs[one].right, runs[one].link)),
        sorted(numbers, key=lambda one: (-runs[one].left, runs[one].right, runs[one].link)),
        sorted(numbers, key=lambda one: (runs[one].left - runs[one].right, runs[one].link)),
    )
    costs = {
        (one, other): _cost(runs[one], runs[other], touch)
        for one in numbers
        for other in numbers
        if one != other and _is_near(runs[one], runs[other], near)
    }
    # How much more each run costs below another one than above it.
    saved = [[costs.get((other, one), 0) - costs.get((one, other), 0) for other in numbers] for one in numbers]
    order = min((_improved(start, saved) for start in starts), key=lambda order: _total(order, costs))
    slots: dict[int, int] = {}
    for place, run in enumerate(order):
        above = [slots[other] for other in order[:place] if (other, run) in costs]
        slots[run] = max(above, default=-1) + 1
    clashes = [
        clash
        for place, run in enumerate(order)
        for other in order[place + 1 :]
        if costs.get((run, other), 0) >= _HARD
        for clash in _clashes(runs[run], runs[other], touch)
    ]
    by_link = {runs[run].link: slot for run, slot in slots.items()}
    return Channel(by_link, max(slots.values(), default=-1) + 1, tuple(clashes))


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


def _improved(start: Sequence[int], saved: Sequence[Sequence[int]]) -> list[int]:
    """Move one run at a time to the place that saves most, as long as that saves something."""
    order = list(start)
    for _ in range(_MOVES):
        moved = False
        for run in list(order):
            place = order.index(run)
            rest = order[:place] + order[place + 1 :]
            # What the run costs at every place among the rest, compared with the first one.
            found = list(accumulate(map(saved[run].__getitem__, rest), initial=0))
            best = found.index(min(found))
            if found[best] < found[place]:
                rest.insert(best, run)
                order, moved = rest, True
        if not moved:
            break
    return order


def _total(order: Sequence[int], costs: Mapping[tuple[int, int], int]) -> int:
    return sum(costs.get((run, other), 0) for place, run in enumerate(order) for other in order[place + 1 :])
