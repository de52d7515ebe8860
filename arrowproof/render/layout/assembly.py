"""The assembly: from a grid with columns and lines to a drawing."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import pairwise

from arrowproof.model.record import record
from arrowproof.render.drawing import ArrowPath, Box, Drawing, Mark, Point, StateBox
from arrowproof.render.layout.boxes import place_state, with_label
from arrowproof.render.layout.coordinates import Columns
from arrowproof.render.layout.graph import Edge, Node
from arrowproof.render.layout.grid import Grid
from arrowproof.render.layout.heights import Lines
from arrowproof.render.layout.loops import RIGHT, CornerLoop
from arrowproof.render.layout.sizes import (
    CORNER_DEPTH,
    CORNER_RISE,
    LABEL_GAP,
    LABEL_RISE,
    LEVEL_MARGIN,
    LEVEL_OFFSET,
    LOOP_HEIGHT,
    LOOP_REACH,
    MARK_RADIUS,
    LabelSize,
)

_STEM_SHIFT = 8
"""How far right of its middle the labels of a level cord stand, so that their stem has room left of them."""
_BEAD_EXTENT = 7.0


@record
class Assembly:
    """Everything that a drawing is made of."""

    grid: Grid
    columns: Columns
    lines: Lines

    def drawing(self) -> Drawing:
        """The drawing; its bounds hold everything, wherever they lie."""
        nodes = self.grid.graph.nodes
        arrows = {path.id: path for path in self._arrows()}
        places = sorted(place for edge in self.grid.graph.edges for place in zip(edge.places, edge.arrows, strict=True))
        drawing = Drawing(
            bounds=Box(0, 0, 0, 0),
            states=tuple(self._state(node) for node in nodes if node.is_state),
            arrows=tuple(arrows[arrow] for _, arrow in places),
            marks=tuple(self._mark(node) for node in nodes if not node.is_state),
        )
        return replace(drawing, bounds=bounds_of(drawing))

    def _arrows(self) -> Iterator[ArrowPath]:
        """All arrows, line by line."""
        for edges in self.grid.levels.values():
            for place, edge in enumerate(edges):
                yield from self._level_arrow(edge, place, len(edges))
        for node, loops in self.grid.loops.items():
            yield from self._loop_arrows(node, loops.side, loops.edges)
        for node, corners in self.grid.corners.items():
            for loop in corners:
                yield from self._corner_arrow(node, loop)
        for index, route in self.grid.routes.items():
            yield from self._routed_arrow(self.grid.graph.edges[index], route)

    def _box(self, node: int) -> Box:
        left, right = self.columns.boxes[node]
        height = self.grid.heights[node]
        return Box(left, self._middle(node) - height / 2, right - left, height)

    def _middle(self, element: int) -> float:
        return self.lines.middles[self.grid.elements[element].row]

    def _mark(self, node: Node) -> Mark:
        return Mark(node.id, node.kind, self._box(node.index).center, MARK_RADIUS)

    def _state(self, node: Node) -> StateBox:
        assert node.size is not None
        return place_state(node.id, node.size, self._box(node.index))

    def _level_arrow(self, edge: Edge, place: int, count: int) -> tuple[ArrowPath, ...]:
        tail, head = self._box(edge.tail), self._box(edge.head)
        y = self._middle(edge.tail) + (0 if count == 1 else LEVEL_OFFSET if place else -LEVEL_OFFSET)
        ends = (tail.right, head.x) if tail.x < head.x else (tail.x, head.right)
        middle = _level_middle(ends, edge.label.width, (tail, head))
        top = y + LABEL_RISE if place else y - LABEL_RISE - edge.label.height
        points = ((ends[0], y), (ends[1], y))
        if edge.is_cord:
            x = middle - edge.label.width / 2 + _STEM_SHIFT
            return _cord(edge, points, (x - LABEL_GAP, y), (x, top), RIGHT)
        return (_arrow(edge, points, (middle, y), (middle, top), "middle"),)

    def _loop_arrows(self, node: int, side: int, edges: Sequence[Edge]) -> Iterator[ArrowPath]:
        box = self._box(node)
        slots = self.grid.loops[node].slots
        y = box.center[1] - sum(slots) / 2
        near = box.right if side == RIGHT else box.x
        far = near + side * LOOP_REACH
        for edge, slot in zip(edges, slots, strict=True):
            middle, half = y + slot / 2, LOOP_HEIGHT / 2
            points = ((near, middle - half), (far, middle - half), (far, middle + half), (near, middle + half))
            place = (_beside(far, side, edge), middle - edge.label.height / 2)
            yield from _labelled(edge, points, (far, middle), place, side)
            y += slot

    def _corner_arrow(self, node: int, loop: CornerLoop) -> tuple[ArrowPath, ...]:
        box = self._box(node)
        out, back = (self.columns.pins[loop.pin(end)] for end in (0, 1))
        near, away = (box.bottom, 1) if loop.is_below else (box.y, -1)
        far = near + away * CORNER_DEPTH
        top = near + CORNER_RISE if loop.is_below else near - CORNER_RISE - loop.edge.label.height
        points = ((out, near), (out, far), (back, far), (back, near))
        bead = (out, near + away * CORNER_DEPTH / 2)
        return _labelled(loop.edge, points, bead, (_beside(out, loop.hand, loop.edge), top), loop.hand)

    def _routed_arrow(self, edge: Edge, route: Sequence[int]) -> tuple[ArrowPath, ...]:
        links = [self.grid.links[index] for index in route]
        tail, head = self._box(edge.tail), self._box(edge.head)
        points: list[Point] = [(self.columns.pins[route[0], 0], tail.bottom if links[0].first_above else tail.y)]
        for link in links:
            if link.index in self.lines.runs:
                y = self.lines.runs[link.index]
                points += [(self.columns.pins[link.index, 0], y), (self.columns.pins[link.index, 1], y)]
        points.append((self.columns.pins[route[-1], 1], head.bottom if links[-1].last_above else head.y))
        for link in links:
            element = self.grid.elements[link.last]
            if element.is_label:
                x, top = self.columns.lines[element.index], self.lines.tops[element.row]
                bead = (x, top + edge.label.first_line)
                return _labelled(edge, _simplified(points), bead, (x + LABEL_GAP, top), RIGHT)
        simplified = _simplified(points)
        return (_arrow(edge, simplified, _middle_of_longest(simplified), None, "start"),)


def _level_middle(ends: tuple[float, float], width: float, boxes: tuple[Box, Box]) -> float:
    """Where the bead and the label of a level arrow stand: in its middle, or as far off a box as a label must be.

    Only a label that reaches over the mark at one end is wider than the line leaves room for.
    """
    middle, room = sum(ends) / 2, (width + LEVEL_MARGIN) / 2
    over = max(0.0, room - abs(ends[0] - ends[1]) / 2)
    mark = min(boxes, key=lambda box: box.width)
    return middle + (over if mark.center[0] > middle else -over)


def _beside(x: float, side: int, edge: Edge) -> float:
    """The left end of a label that stands at the side of an upright line."""
    return x + LABEL_GAP if side == RIGHT else x - LABEL_GAP - edge.label.width


def _labelled(edge: Edge, points: tuple[Point, ...], bead: Point, place: Point, side: int) -> tuple[ArrowPath, ...]:
    """What runs along one line: an arrow with its label beside it, or a cord with its labels."""
    return _cord(edge, points, bead, place, side) if edge.is_cord else (_arrow(edge, points, bead, place, "start"),)


def _arrow(edge: Edge, points: tuple[Point, ...], bead: Point, place: Point | None, anchor: str) -> ArrowPath:
    """An arrow with its label: ``place`` is the label's top, at its left end or at its middle as ``anchor`` says."""
    path = ArrowPath(edge.arrow, points, bead)
    if edge.label.is_empty or place is None:
        return path
    left = place[0] - edge.label.width / 2 if anchor == "middle" else place[0]
    return with_label(path, edge.label, (left, place[1]), anchor)


def _cord(edge: Edge, points: tuple[Point, ...], root: Point, place: Point, side: int) -> tuple[ArrowPath, ...]:
    return cord_paths(edge.arrows, edge.label, points, root, place, side)


def cord_paths(
    arrows: Sequence[str], label: LabelSize, points: tuple[Point, ...], root: Point, place: Point, side: int
) -> tuple[ArrowPath, ...]:
    """The arrows on a cord, each with its bead at its label.

    Args:
        arrows: their ids.
        label: all their labels, below each other.
        points: the line that they share.
        root: its point at which the labels stand. Where beads stand off the line, a stem leads from there to the
            outermost ones.
        place: the upper left corner of all labels.
        side: of the stem on which these stand, ``RIGHT`` or the left one.
    """
    x, top = root[0], place[1]
    paths = []
    for arrow, size, below in zip(arrows, label.entries, label.tops, strict=True):
        left = place[0] if side == RIGHT else place[0] + label.width - size.width
        bead = (x, top + below + size.first_line)
        paths.append(with_label(ArrowPath(arrow, points, bead, cord=arrows[0]), size, (left, top + below), "start"))
    ends = [root[1], *(path.bead[1] for path in paths)]
    stem = ((x, min(ends)), (x, max(ends)))
    return paths[0] if _holds(points, *stem) else replace(paths[0], stem=stem), *paths[1:]


def _holds(points: Sequence[Point], upper: Point, lower: Point) -> bool:
    """Whether one leg of a line holds all that lies between two points above each other."""
    return any(
        a[0] == b[0] == upper[0] and min(a[1], b[1]) <= upper[1] and lower[1] <= max(a[1], b[1])
        for a, b in pairwise(points)
    )


def _simplified(points: Sequence[Point]) -> tuple[Point, ...]:
    """The polyline without repeated points and without corners that do not turn."""
    kept: list[Point] = []
    for point in points:
        if kept and kept[-1] == point:
            continue
        if len(kept) > 1 and (kept[-2][0] == kept[-1][0] == point[0] or kept[-2][1] == kept[-1][1] == point[1]):
            kept.pop()
        kept.append(point)
    return tuple(kept)


def _middle_of_longest(points: Sequence[Point]) -> Point:
    (ax, ay), (bx, by) = max(
        pairwise(points),
        key=lambda ends: abs(ends[0][0] - ends[1][0]) + abs(ends[0][1] - ends[1][1]),
    )
    return ((ax + bx) / 2, (ay + by) / 2)


def bounds_of(drawing: Drawing) -> Box:
    """The smallest box that holds boxes, marks, lines, beads and labels."""
    boxes = [state.box for state in drawing.states]
    boxes += [arrow.label_box for arrow in drawing.arrows if arrow.label_box is not None]
    boxes += [Box(x, y, 0, 0) for arrow in drawing.arrows for x, y in arrow.points]
    boxes += [_around(arrow.bead, _BEAD_EXTENT) for arrow in drawing.arrows]
    boxes += [Box(x, y, 0, 0) for arrow in drawing.arrows if arrow.stem is not None for x, y in arrow.stem]
    boxes += [_around(mark.center, mark.radius) for mark in drawing.marks]
    if not boxes:
        return Box(0, 0, 0, 0)
    left, top = min(box.x for box in boxes), min(box.y for box in boxes)
    return Box(left, top, max(box.right for box in boxes) - left, max(box.bottom for box in boxes) - top)


def _around(center: Point, radius: float) -> Box:
    return Box(center[0] - radius, center[1] - radius, 2 * radius, 2 * radius)
