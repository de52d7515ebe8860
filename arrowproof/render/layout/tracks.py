"""Tracks: where lines run between and through rows, as far as a guess can tell."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence

_STRAIGHT = 40.0
"""Ends that are nearer than this can be joined by a straight line."""


def passage(blocks: Sequence[tuple[float, float]], above: float, below: float) -> tuple[float, float]:
    """The x at which a line passes rows without meeting a block in them, and how far that is out of its way."""
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
            if detour < least:
                for left, right in blocks:
                    if left < x < right:
                        break
                else:
                    best, least = x, detour
    return best, least


def depth(edges: Iterable[tuple[float, float]]) -> int:
    """How many level runs of one gap lie above each other where most do, not counting the first."""
    starts, ends = [], []
    for above, below in edges:
        if above + _STRAIGHT < below:
            starts.append(above)
            ends.append(below)
        elif below + _STRAIGHT < above:
            starts.append(below)
            ends.append(above)
    if len(starts) < 2:
        return 0
    starts.sort()
    ends.sort()
    most = over = 0
    for begun, start in enumerate(starts, start=1):
        while ends[over] <= start:
            over += 1
        most = max(most, begun - over)
    return most - 1
