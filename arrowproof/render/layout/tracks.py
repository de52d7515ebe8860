"""Tracks: where lines run between and through rows, as far as a guess can tell."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence

_STRAIGHT = 40.0
"""Ends that are nearer than this can be joined by a straight line."""


def passage(rows: Sequence[Sequence[tuple[float, float]]], above: float, below: float) -> tuple[float, float]:
    """The x at which a line passes these rows without meeting a box, and how far that is out of its way."""
    blocks = rows[0] if len(rows) == 1 else [block for row in rows for block in row]
    for x in (above, below):
        for left, right in blocks:
            if left < x < right:
                break
        else:
            return x, 0.0
    low, high = (above, below) if above < below else (below, above)
    best, least = low, math.inf
    for block in blocks:
        for x in block:
            detour = low - x if x < low else x - high if x > high else 0.0
            if detour < least and not any(left < x < right for left, right in blocks):
                best, least = x, detour
    return best, least


def depth(edges: Iterable[tuple[float, float]]) -> int:
    """How many level runs of one gap lie above each other where most do, not counting the first."""
    ends: list[tuple[float, int]] = []
    for above, below in edges:
        if above + _STRAIGHT < below:
            ends += ((above, 1), (below, -1))
        elif below + _STRAIGHT < above:
            ends += ((below, 1), (above, -1))
    if len(ends) < 4:  # one run: no order of its ends says more
        return 0
    lines = most = 1
    for _, step in sorted(ends):
        lines += step
        most = max(most, lines)
    return max(most - 2, 0)
