"""The guess: what is known of one placement while its cost is added up, and what follows from that alone.

See :mod:`arrowproof.render.layout.estimate`, which makes it.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

from arrowproof.render.layout.sizes import ARROW_ROOM, LINE_ROOM


class RowGuess(NamedTuple):
    """What is known of a row whatever the others are: its size, its nodes, level edges, and its blocks.

    ``steps`` has (node, gap before it, half its width), and ``boxes`` (node, the room that it needs, gap before it),
    from left to right. A block is a run of nodes that level arrows join, under (first node, last node): no line passes
    between them.
    """

    width: float
    height: float
    steps: tuple[tuple[int, float, float], ...]
    boxes: tuple[tuple[int, float, float], ...]
    level: tuple[int, ...]
    blocks: tuple[tuple[int, int], ...]
    cost: float


Way = tuple[int, int, int, int, float, int, int, float]
"""An edge between two rows: (upper node, lower node, upper row, lower row, weight, gap of its label, label width,
reach). It is straight when the middles of its ends lie no further apart than its reach."""


@dataclass
class Guess:
    """What is known of one placement while its cost is added up. Gap ``g`` lies above row ``g``.

    A gap is used when lines cross it. ``x`` has the middle of each node whose row is placed.
    """

    rows: Sequence[Sequence[int]]
    infos: list[RowGuess]
    row_of: list[int]
    widths: list[float]
    gap_widths: list[float]
    gap_heights: list[float]
    is_used: list[bool]
    ways: list[Way]
    turns: list[tuple[int, bool, int, int]]
    cost: float
    x: dict[int, float]


def guessed_height(guess: Guess) -> float:
    """The height of the whole but for what level runs need that lie above each other."""
    height = sum([info.height for info in guess.infos]) + sum(guess.gap_heights)
    for gap, is_used in enumerate(guess.is_used):
        if is_used or guess.gap_heights[gap]:
            height += 2 * ARROW_ROOM + 2 * LINE_ROOM
        elif 0 < gap < len(guess.rows):
            height += 2 * LINE_ROOM
    return height


def guessed_crossings(guess: Guess, gap_edges: Sequence[Sequence[tuple[float, float]]]) -> int:
    """Pairs of edges whose ends stand in opposite order, and edges that lead into a turn of another."""
    count = 0
    for edges in gap_edges:
        seen: list[float] = []
        for _, below in sorted(edges):
            place = bisect_right(seen, below)
            count += len(seen) - place
            seen.insert(place, below)
    for gap, is_above, tail, head in guess.turns:
        left, right = sorted((guess.x[tail], guess.x[head]))
        count += sum([left < ends[not is_above] < right for ends in gap_edges[gap]])
    return count
