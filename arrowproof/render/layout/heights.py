"""y coordinates: the middle of every row, and the y of every level run.

A drawing that is wider than its figure is stretched: the spare height goes to the channels, evenly and up to a limit,
so that the lines breathe and labels of one row stay on one line.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from arrowproof.model.record import record
from arrowproof.render.layout.channels import Channel
from arrowproof.render.layout.compaction import Stack, build_stack, compacted
from arrowproof.render.layout.coordinates import Columns
from arrowproof.render.layout.grid import Grid
from arrowproof.render.layout.sizes import LABEL_RISE, LEVEL_OFFSET

MAX_STRETCH = 44
"""The most that a channel gains."""


@record
class Lines:
    """For each row the y of its top and its middle, the y of each link's level run, and the whole height.

    The middle of a row of labels is its top.
    """

    tops: tuple[float, ...]
    middles: tuple[float, ...]
    runs: Mapping[int, float]
    height: float


def assign_lines(grid: Grid, columns: Columns, channels: Sequence[Channel], target: float) -> Lines:
    """The lines of a grid, stretched towards the height ``target`` when there is room, compacted when there is not."""
    lines = _banded_lines(grid, channels, target)
    if lines.height <= target:
        return lines
    stack = build_stack(grid, columns, channels)
    return _between(grid, lines, stack, target)


def _between(grid: Grid, lines: Lines, stack: Stack, target: float) -> Lines:
    """The lines at the height ``target``, or compacted as far as they go.

    What lies between two sets of lines in which all distances hold has all distances too.
    """
    y = compacted(stack)
    least = max(place + part.bottom for place, parts in zip(y, stack.parts, strict=True) for part in parts)
    share = max(0.0, (target - least) / (lines.height - least)) if lines.height > least else 1.0

    def mixed(banded: float, unknown: int) -> float:
        return y[unknown] + share * (banded - y[unknown])

    middles = [mixed(lines.middles[row], stack.rows[row]) for row in range(len(grid.rows))]
    tops = [
        middle if not is_state else lines.tops[row] + middle - lines.middles[row]
        for row, (middle, is_state) in enumerate(zip(middles, grid.is_state_row, strict=True))
    ]
    runs = {link: mixed(lines.runs[link], unknown) for link, unknown in stack.runs.items()}
    return Lines(tuple(tops), tuple(middles), runs, least + share * (lines.height - least))


def _banded_lines(grid: Grid, channels: Sequence[Channel], target: float) -> Lines:
    """The lines with a band for every row and every channel, stretched where there is room."""
    rooms = [_room(grid, channel, index) for index, channel in enumerate(channels)]
    extents = [_extent(grid, row) for row in range(len(grid.rows))]
    slot_room = grid.graph.slot
    natural = sum(upper + lower for upper, lower in extents) + sum(
        upper + lower + max(channel.count - 1, 0) * slot_room
        for channel, (upper, lower) in zip(channels, rooms, strict=True)
    )
    growing = max(len(channels) - 2, 1)
    extra = min(max(target - natural, 0) / growing, MAX_STRETCH)
    y = 0.0
    tops, middles, runs = [], [], {}
    for index, (channel, (upper, lower)) in enumerate(zip(channels, rooms, strict=True)):
        inner = 0 < index < len(channels) - 1
        spare = extra if inner else 0.0
        spacing = slot_room + (min(spare / 2 / (channel.count - 1), slot_room * 0.6) if channel.count > 1 else 0.0)
        used = max(channel.count - 1, 0) * spacing
        size = upper + lower + max(channel.count - 1, 0) * slot_room + spare
        start = y + upper + (size - used - upper - lower) / 2
        runs.update({link: start + slot * spacing for link, slot in channel.slots.items()})
        y += size
        if index < len(grid.rows):
            tops.append(y)
            middles.append(y + extents[index][0])
            y += sum(extents[index])
    return Lines(tuple(tops), tuple(middles), runs, y)


def _room(grid: Grid, channel: Channel, index: int) -> tuple[float, float]:
    """The room above and below the level runs of a channel: more where an arrow points at a box."""
    room = grid.graph.arrow_room
    if index == 0 or index == len(grid.rows):
        return (0.0, 0.0) if not channel.count else (room, 0.0) if index else (0.0, room)
    above = below = grid.graph.line_room
    for link in grid.links:
        if link.channel == index and grid.elements[link.last].node is not None:
            if link.last_above:
                above = room
            else:
                below = room
    return (above, below)


def _extent(grid: Grid, row: int) -> tuple[float, float]:
    """How far a row reaches above and below its middle."""
    if not grid.is_state_row[row]:
        labels = [grid.elements[index] for index in grid.rows[row]]
        heights = [
            grid.graph.edges[part.edge].label.height for part in labels if part.is_label and part.edge is not None
        ]
        return (0.0, max(heights, default=0))
    upper = lower = 0.0
    for index in grid.rows[row]:
        node = grid.elements[index].node
        if node is None:
            continue
        half = grid.heights[node] / 2
        if node in grid.loops:
            slots = grid.loops[node].slots
            half = max(half, sum(slots) / 2)
        upper, lower = max(upper, half), max(lower, half)
        for loop in grid.corners.get(node, ()):
            far = grid.heights[node] / 2 + loop.depth
            upper, lower = (upper, max(lower, far)) if loop.is_below else (max(upper, far), lower)
    for (left, _), edges in grid.levels.items():
        if grid.elements[left].row == row:
            offset = LEVEL_OFFSET if len(edges) > 1 else 0
            reach = [offset + LABEL_RISE + edge.label.height if not edge.label.is_empty else 0 for edge in edges]
            upper = max(upper, reach[0])
            lower = max(lower, *reach[1:]) if len(reach) > 1 else lower
    return (upper, lower)
