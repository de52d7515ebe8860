"""Compaction: rows and level runs move towards each other where nothing stands between them.

Rows that keep to bands of their own waste height: a label of four lines makes its whole row high, and a level run takes
a slot where there is nothing below it. Here each row of states, each row of labels and each run has one unknown y, and
two of them keep a distance only where they meet from left to right. Everything is moved up as far as it goes, then down
as far as it goes; the middle of the two holds all distances too, since each of them is a least difference.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

from arrowproof.model.record import record
from arrowproof.render.layout.channels import Channel
from arrowproof.render.layout.coordinates import Columns
from arrowproof.render.layout.grid import Grid
from arrowproof.render.layout.loops import RIGHT
from arrowproof.render.layout.sizes import (
    BEAD_ROOM,
    LABEL_GAP,
    LABEL_LINE,
    LABEL_RISE,
    LEVEL_OFFSET,
    LINE_ROOM,
    LOOP_REACH,
    SLOT,
)

_BESIDE = 12
"""Things that are nearer than this from left to right keep their distance from top to bottom."""


class Part(NamedTuple):
    """A rectangle that moves with its row or run: its sides, and its top and bottom below the unknown y.

    ``room_above`` and ``room_below`` are what a level run keeps off it; more where an arrow points at it.
    """

    left: float
    right: float
    top: float
    bottom: float
    room_above: float
    room_below: float


@record
class Stack:
    """The unknowns from top to bottom, each with its parts: a run is one part without height.

    ``rows`` and ``runs`` tell which unknown belongs to a row and to a link.
    """

    parts: tuple[tuple[Part, ...], ...]
    rows: Mapping[int, int]
    runs: Mapping[int, int]


def build_stack(grid: Grid, columns: Columns, channels: Sequence[Channel]) -> Stack:
    """The unknowns of a grid: the runs of a channel in the order of their slots, then the row below it."""
    parts: list[tuple[Part, ...]] = []
    rows: dict[int, int] = {}
    runs: dict[int, int] = {}
    for index, channel in enumerate(channels):
        for link in sorted(channel.slots, key=lambda link: (channel.slots[link], link)):
            ends = columns.pins[link, 0], columns.pins[link, 1]
            runs[link] = len(parts)
            parts.append((Part(min(ends), max(ends), 0, 0, grid.graph.slot / 2, grid.graph.slot / 2),))
        if 0 < index < len(grid.rows) and grid.is_state_row[index - 1] and grid.is_state_row[index]:
            parts.append((_core(0, 0, LINE_ROOM / 2),))
        if index < len(grid.rows):
            rows[index] = len(parts)
            parts.append(tuple(_row_parts(grid, columns, index)))
    return Stack(tuple(parts), rows, runs)


def compacted(stack: Stack) -> list[float]:
    """The y of each unknown in the least height; the topmost thing is at 0."""
    down = _packed(stack.parts)
    turned = [tuple(_turned(part) for part in parts) for parts in reversed(stack.parts)]
    up = [-y for y in reversed(_packed(turned))]
    height = max(y + part.bottom for y, parts in zip(down, stack.parts, strict=True) for part in parts)
    return [(a + b + height) / 2 for a, b in zip(down, up, strict=True)]


def _turned(part: Part) -> Part:
    """The part upside down."""
    return Part(part.left, part.right, -part.bottom, -part.top, part.room_below, part.room_above)


def _packed(stack: Iterable[Sequence[Part]]) -> list[float]:
    """The least y of each unknown when all of them are pushed up in this order."""
    placed: list[tuple[float, float, float, float]] = []
    found = []
    for parts in stack:
        y = max(-part.top for part in parts)
        for part in parts:
            left, right = part.left - _BESIDE, part.right + _BESIDE
            for a, b, bottom, room in placed:
                if a < right and left < b:
                    least = bottom + room + part.room_above - part.top
                    if least > y:
                        y = least
        found.append(y)
        placed += [(part.left, part.right, y + part.bottom, part.room_below) for part in parts]
    return found


def _row_parts(grid: Grid, columns: Columns, row: int) -> Iterable[Part]:
    """What takes room in a row, around the middle of its states or below the top of its labels."""
    if not grid.is_state_row[row]:
        yield _core(0, LABEL_LINE, 0)
        for index in grid.rows[row]:
            part = grid.elements[index]
            if part.is_label and part.edge is not None:
                x, size = columns.lines[index], grid.graph.edges[part.edge].label
                yield _plain(x - BEAD_ROOM, x + LABEL_GAP + size.width, 0, size.height)
        return
    nodes = [index for index in grid.rows[row] if grid.elements[index].node is not None]
    halves = [grid.heights[node] / 2 for node in nodes if grid.graph.nodes[node].is_state] or [0.0]
    yield _core(-min(halves), min(halves), LINE_ROOM / 2)
    for node in nodes:
        yield from _node_parts(grid, columns, node)
    for (left, right), edges in grid.levels.items():
        if grid.elements[left].row == row:
            middle = (columns.boxes[left][1] + columns.boxes[right][0]) / 2
            offset = LEVEL_OFFSET if len(edges) > 1 else 0
            for place, edge in enumerate(edges):
                near, far = offset + LABEL_RISE, offset + LABEL_RISE + edge.label.height
                top, bottom = (near, far) if place else (-far, -near)
                if not edge.label.is_empty:
                    yield _plain(middle - edge.label.width / 2, middle + edge.label.width / 2, top, bottom)


def _node_parts(grid: Grid, columns: Columns, node: int) -> Iterable[Part]:
    """A box or a mark, and its self arrows."""
    left, right = columns.boxes[node]
    half = grid.heights[node] / 2
    heads = {link.last_above for link in grid.links if link.last == node}
    graph = grid.graph
    above, below = (graph.arrow_room if side in heads else graph.line_room for side in (False, True))
    yield Part(left, right, -half, half, above - graph.slot / 2, below - graph.slot / 2)
    if node in grid.loops:
        loops = grid.loops[node]
        reach = LOOP_REACH + LABEL_GAP + max(edge.label.width for edge in loops.edges)
        ends = (left, right + reach) if loops.side == RIGHT else (left - reach, right)
        yield _plain(*ends, -sum(loops.slots) / 2, sum(loops.slots) / 2)
    for loop in grid.corners.get(node, ()):
        pins = [columns.pins[pin] for pin in loop.pins]
        ends = (pins[0], pins[1] + loop.room) if loop.hand == RIGHT else (pins[0] - loop.room, pins[1])
        yield _plain(*ends, *((half, half + loop.depth) if loop.is_below else (-half - loop.depth, -half)))


def _plain(left: float, right: float, top: float, bottom: float) -> Part:
    return Part(left, right, top, bottom, LINE_ROOM - SLOT / 2, LINE_ROOM - SLOT / 2)


def _core(top: float, bottom: float, room: float) -> Part:
    """What keeps a row in its order among the others, wherever it stands."""
    return Part(-math.inf, math.inf, top, bottom, room, room)
