"""The assembly: from a grid with columns and lines to a drawing."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise

from arrowproof.render.drawing import ArrowPath, Box, Drawing, Mark, Point, StateBox
from arrowproof.render.layout.boxes import place_lines, place_state
from arrowproof.render.layout.coordinates import Columns
from arrowproof.render.layout.graph import Edge, Node
from arrowproof.render.layout.grid import Grid
from arrowproof.render.layout.heights import Lines
from arrowproof.render.layout.loops import RIGHT, CornerLoop
from arrowproof.render.layout.sizes import (
    CAPTION_LINE,
    CORNER_DEPTH,
    CORNER_RISE,
    LABEL_GAP,
    LABEL_LINE,
    LABEL_RISE,
    LEVEL_OFFSET,
    LOOP_HEIGHT,
    LOOP_REACH,
    MARK_RADIUS,
)

_FIRST_LINE = LABEL_LINE / 2
_BEAD_EXTENT = 7.0


@dataclass(frozen=True)
class Assembly:
    """Everything that a drawing is made of."""

    grid: Grid
    columns: Columns
    lines: Lines

    def drawing(self) -> Drawing:
        """The drawing; its bounds hold everything, wherever they lie."""
        nodes = self.grid.graph.nodes
        arrows = {}
        for edges in self.grid.levels.values():
            for place, edge in enumerate(edges):
                arrows[edge.index] = self._level_arrow(edge, place, len(edges))
        for node, loops in self.grid.loops.items():
            arrows |= self._loop_arrows(node, loops.side, loops.edges)
        for node, corners in self.grid.corners.items():
            arrows |= {loop.edge.index: self._corner_arrow(node, loop) for loop in corners}
        for index, route in self.grid.routes.items():
            arrows[index] = self._routed_arrow(self.grid.graph.edges[index], route)
        drawing = Drawing(
            bounds=Box(0, 0, 0, 0),
            states=tuple(self._state(node) for node in nodes if node.is_state),
            arrows=tuple(arrows[edge.index] for edge in self.grid.graph.edges),
            marks=tuple(self._mark(node) for node in nodes if not node.is_state),
        )
        return replace(drawing, bounds=bounds_of(drawing))

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

    def _level_arrow(self, edge: Edge, place: int, count: int) -> ArrowPath:
        tail, head = self._box(edge.tail), self._box(edge.head)
        y = self._middle(edge.tail) + (0 if count == 1 else LEVEL_OFFSET if place else -LEVEL_OFFSET)
        ends = (tail.right, head.x) if tail.x < head.x else (tail.x, head.right)
        middle = sum(ends) / 2
        top = y + LABEL_RISE if place else y - LABEL_RISE - edge.label.height
        return _arrow(edge, ((ends[0], y), (ends[1], y)), (middle, y), (middle, top), "middle")

    def _loop_arrows(self, node: int, side: int, edges: Sequence[Edge]) -> dict[int, ArrowPath]:
        box = self._box(node)
        slots = self.grid.loops[node].slots
        y = box.center[1] - sum(slots) / 2
        near = box.right if side == RIGHT else box.x
        far = near + side * LOOP_REACH
        arrows = {}
        for edge, slot in zip(edges, slots, strict=True):
            middle, half = y + slot / 2, LOOP_HEIGHT / 2
            points = ((near, middle - half), (far, middle - half), (far, middle + half), (near, middle + half))
            x = far + LABEL_GAP if side == RIGHT else far - LABEL_GAP - edge.label.width
            arrows[edge.index] = _arrow(edge, points, (far, middle), (x, middle - edge.label.height / 2), "start")
            y += slot
        return arrows

    def _corner_arrow(self, node: int, loop: CornerLoop) -> ArrowPath:
        box = self._box(node)
        out, back = (self.columns.pins[loop.pin(end)] for end in (0, 1))
        near, away = (box.bottom, 1) if loop.is_below else (box.y, -1)
        far = near + away * CORNER_DEPTH
        top = near + CORNER_RISE if loop.is_below else near - CORNER_RISE - loop.edge.label.height
        x = out + LABEL_GAP if loop.hand == RIGHT else out - LABEL_GAP - loop.edge.label.width
        points = ((out, near), (out, far), (back, far), (back, near))
        return _arrow(loop.edge, points, (out, near + away * CORNER_DEPTH / 2), (x, top), "start")

    def _routed_arrow(self, edge: Edge, route: Sequence[int]) -> ArrowPath:
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
                return _arrow(edge, _simplified(points), (x, top + _FIRST_LINE), (x + LABEL_GAP, top), "start")
        simplified = _simplified(points)
        return _arrow(edge, simplified, _middle_of_longest(simplified), None, "start")


def _arrow(edge: Edge, points: Iterable[Point], bead: Point, place: Point | None, anchor: str) -> ArrowPath:
    """An arrow with its label: ``place`` is the label's top, at its left end or at its middle as ``anchor`` says."""
    size = edge.label
    if size.is_empty or place is None:
        return ArrowPath(edge.arrow, tuple(points), bead)
    x, top = place
    lines = place_lines(size.text, x, top, LABEL_LINE, anchor)
    caption = place_lines(size.caption, x, top + LABEL_LINE * len(size.text.lines), CAPTION_LINE, anchor)
    left = x - size.width / 2 if anchor == "middle" else x
    return ArrowPath(
        edge.arrow, tuple(points), bead, lines, Box(left, top, size.width, size.height), caption[0] if caption else None
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
    boxes += [_around(mark.center, mark.radius) for mark in drawing.marks]
    if not boxes:
        return Box(0, 0, 0, 0)
    left, top = min(box.x for box in boxes), min(box.y for box in boxes)
    return Box(left, top, max(box.right for box in boxes) - left, max(box.bottom for box in boxes) - top)


def _around(center: Point, radius: float) -> Box:
    return Box(center[0] - radius, center[1] - radius, 2 * radius, 2 * radius)
