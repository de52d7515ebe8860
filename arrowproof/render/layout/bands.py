"""Bands: where a lane goes over from one row of its group to the next, so that no two lanes come too near.

A band is a stack of slabs, one for each row of a group, joined at a *seam* between two rows. A seam would best lie half
way between its rows. Where the band beside it comes in below or moves out above, it lies higher or lower, so that the
two keep apart at their corners too.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

from arrowproof.render.drawing import Box

LANE_GAP = 8.0
"""Between two lanes, at their corners too, and between a name and another lane."""

_Edge = tuple[int, int]
"""A level edge of a band: (band, place), 0 is its top, and edge n lies above row n."""


def joined_bands(bands: Sequence[Sequence[Box]]) -> list[list[Box]]:
    """The bands with each row reaching to the seams above and below it; none when two bands cannot keep apart.

    Args:
        bands: the rows of each group with the room around their boxes, from top to bottom.
    """
    edges: dict[_Edge, tuple[float, float]] = {}
    for band, rows in enumerate(bands):
        edges[band, 0] = (rows[0].y, rows[0].y)
        edges |= {(band, row): (above.bottom, below.y) for row, (above, below) in enumerate(pairwise(rows), start=1)}
        edges[band, len(rows)] = (rows[-1].bottom, rows[-1].bottom)
    found = _settled(edges, _orders(bands))
    return [
        [Box(row.x, found[band, n], row.width, found[band, n + 1] - found[band, n]) for n, row in enumerate(rows)]
        for band, rows in enumerate(bands)
        if found
    ]


def _orders(bands: Sequence[Sequence[Box]]) -> list[tuple[_Edge, _Edge]]:
    """Pairs of edges of two bands of which the first must lie above the second, because their rows meet in x."""
    rows = sorted(
        ((box.center[1], (band, n), box) for band, own in enumerate(bands) for n, box in enumerate(own)),
        key=lambda row: row[:2],
    )
    return [
        ((upper[0], upper[1] + 1), lower)
        for place, (middle, upper, above) in enumerate(rows)
        for below_middle, lower, below in rows[place + 1 :]
        if upper[0] != lower[0] and below_middle > middle
        if above.x - LANE_GAP < below.right and below.x - LANE_GAP < above.right
    ]


def _settled(edges: dict[_Edge, tuple[float, float]], orders: Sequence[tuple[_Edge, _Edge]]) -> dict[_Edge, float]:
    """The y of each edge within its bounds, near their middle; none when the orders cannot hold."""
    least = {edge: low for edge, (low, _) in edges.items()}
    most = {edge: high for edge, (_, high) in edges.items()}
    for _ in edges:
        for upper, lower in orders:
            least[lower] = max(least[lower], least[upper] + LANE_GAP)
            most[upper] = min(most[upper], most[lower] - LANE_GAP)
    if any(least[edge] > most[edge] for edge in edges):
        return {}
    found: dict[_Edge, float] = {}
    for edge in sorted(edges, key=lambda edge: (least[edge] + most[edge], edge)):
        above = [found[upper] + LANE_GAP for upper, lower in orders if lower == edge and upper in found]
        found[edge] = max([(least[edge] + most[edge]) / 2, *above])
    return found
