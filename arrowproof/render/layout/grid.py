"""The grid: how each arrow runs, before anything has a coordinate.

Rows of states and rows of labels lie on top of each other, with a channel above each row and one below the last.
Neighbours in a row of states are joined by *level* arrows. Every other arrow is a chain of links: each link crosses one
channel, or turns round in it, and between its links the arrow passes the rows in a straight vertical line.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from functools import cached_property
from itertools import pairwise

from arrowproof.model.record import record
from arrowproof.render.layout.dot import Solver
from arrowproof.render.layout.graph import Edge, Graph
from arrowproof.render.layout.loops import CornerLoop, SideLoops, box_heights, corner_loops, side_loops

MAX_LEVEL = 2
"""Level arrows between two neighbours; the rest of their arrows run through the channels."""

Placement = tuple[tuple[int, ...], ...]
"""Rows of node indexes, each row from left to right."""


@record
class Element:
    """Something that takes room in a row: a node, the label of an edge, or the line of an edge that passes."""

    index: int
    row: int
    node: int | None = None
    edge: int | None = None
    is_label: bool = False


@record
class Link:
    """The part of an edge in one channel, from element ``first`` to element ``last`` along the arrow.

    Channel ``c`` lies above row ``c``; an end is *above* when its element lies in row ``c - 1``.
    """

    index: int
    edge: int
    channel: int
    first: int
    last: int
    first_above: bool
    last_above: bool

    @property
    def turns(self) -> bool:
        """Whether it leaves the channel on the side it came from."""
        return self.first_above == self.last_above

    def element(self, end: int) -> int:
        """The element at end 0 or 1."""
        return self.last if end else self.first

    def is_above(self, end: int) -> bool:
        """Whether end 0 or 1 lies above the channel."""
        return self.last_above if end else self.first_above


@record
class Grid:
    """The whole topology. Rows hold element indexes, in no order that means anything."""

    graph: Graph
    elements: tuple[Element, ...]
    rows: tuple[tuple[int, ...], ...]
    is_state_row: tuple[bool, ...]
    links: tuple[Link, ...]
    routes: Mapping[int, tuple[int, ...]]
    levels: Mapping[tuple[int, int], tuple[Edge, ...]]
    loops: Mapping[int, SideLoops]
    corners: Mapping[int, tuple[CornerLoop, ...]]
    node_rows: tuple[tuple[int, ...], ...]
    widths: Mapping[int, int]
    heights: Mapping[int, int]

    @cached_property
    def solver(self) -> Solver:
        """The solver of all its columns: most of them ask for the same distances with other weights."""
        return Solver()


def build_grid(graph: Graph, placement: Placement) -> Grid:
    """The grid of a graph whose nodes are placed in rows. An element of a node has the node's index."""
    row_of = {node: row for row, nodes in enumerate(placement) for node in nodes}
    levels = _level_edges(graph, placement)
    loops = side_loops(graph, placement, levels)
    beside = {edge.index for edges in levels.values() for edge in edges}
    beside |= {edge.index for side in loops.values() for edge in side.edges}
    corners = corner_loops(graph, row_of, levels, loops)
    beside |= {loop.edge.index for own in corners.values() for loop in own}
    routed = [edge for edge in graph.edges if edge.index not in beside]
    label_rows = _choose_label_rows(routed, row_of, len(placement))
    builder = _Builder(graph, placement, set(label_rows.values()))
    for edge in routed:
        if row_of[edge.tail] == row_of[edge.head]:
            builder.add_turning(edge, label_rows.get(edge.index))
        else:
            builder.add_crossing(edge, label_rows.get(edge.index))
    return builder.grid(levels, loops, corners)


def _level_edges(graph: Graph, placement: Placement) -> dict[tuple[int, int], tuple[Edge, ...]]:
    """The level arrows under (left node, right node): the upper one first, which is one that points right."""
    levels = {}
    for row in placement:
        for left, right in pairwise(row):
            edges = graph.pairs.get((min(left, right), max(left, right)), ())
            if edges:
                rightwards = [edge for edge in edges if edge.tail == left]
                leftwards = [edge for edge in edges if edge.tail == right]
                chosen = [*rightwards[:1], *leftwards[:1], *rightwards[1:], *leftwards[1:]][:MAX_LEVEL]
                levels[left, right] = tuple(chosen)
    return levels


def _choose_label_rows(edges: Iterable[Edge], row_of: Mapping[int, int], count: int) -> dict[int, int]:
    """For each labelled edge the gap that holds its label: gap ``g`` lies above row of states ``g``.

    Short arrows have no choice and go first; a long one takes the gap with the least text, and of these the nearest
    to its source.
    """
    load = [0] * (count + 1)
    chosen = {}
    for edge in sorted(edges, key=lambda edge: (abs(row_of[edge.tail] - row_of[edge.head]), edge.index)):
        if edge.label.is_empty:
            continue
        tail, head = row_of[edge.tail], row_of[edge.head]
        if tail == head:
            gaps = [gap for gap in (tail + 1, tail) if 0 < gap < count] or [tail + 1]
        else:
            gaps = list(range(min(tail, head) + 1, max(tail, head) + 1))
        gap = min(gaps, key=lambda gap: (load[gap], abs(2 * gap - 1 - 2 * tail)))
        load[gap] += edge.label.width + 40
        chosen[edge.index] = gap
    return chosen


class _Builder:
    """Collects elements and links; nodes are elements from the start."""

    def __init__(self, graph: Graph, placement: Placement, gaps: set[int]) -> None:
        self.graph = graph
        self.placement = placement
        self.row_of_gap: dict[int, int] = {}
        self.row_of_states: dict[int, int] = {}
        self.is_state_row: list[bool] = []
        for gap in range(len(placement) + 1):
            if gap in gaps:
                self.row_of_gap[gap] = len(self.is_state_row)
                self.is_state_row.append(False)
            if gap < len(placement):
                self.row_of_states[gap] = len(self.is_state_row)
                self.is_state_row.append(True)
        rows = {node: self.row_of_states[row] for row, nodes in enumerate(placement) for node in nodes}
        self.elements = [Element(node.index, rows[node.index], node=node.index) for node in graph.nodes]
        self.links: list[Link] = []
        self.routes: dict[int, list[int]] = {}

    def add_crossing(self, edge: Edge, gap: int | None) -> None:
        """An edge between different rows: a chain through every row in between."""
        start, end = self.elements[edge.tail].row, self.elements[edge.head].row
        step = 1 if end > start else -1
        label_row = self.row_of_gap.get(gap) if gap is not None else None
        previous = edge.tail
        for row in range(start + step, end, step):
            element = self._add_element(row, edge, is_label=row == label_row)
            self._add_link(edge, previous, element, downwards=step > 0)
            previous = element
        self._add_link(edge, previous, edge.head, downwards=step > 0)

    def add_turning(self, edge: Edge, gap: int | None) -> None:
        """An edge within one row: out on one side of the row, and back on the same side.

        The label stands on the left leg, so that its text lies within the turn.
        """
        row = self.elements[edge.tail].row
        if gap is None:
            is_below = row < len(self.is_state_row) - 1 or row == 0
            self._link(edge, row + 1 if is_below else row, edge.tail, edge.head, is_below, is_below)
            return
        label_row = self.row_of_gap[gap]
        is_below = label_row > row
        order = {node: place for nodes in self.placement for place, node in enumerate(nodes)}
        on_tail = order[edge.tail] < order[edge.head]
        out = self._add_element(label_row, edge, is_label=on_tail)
        back = self._add_element(label_row, edge, is_label=not on_tail)
        self._add_link(edge, edge.tail, out, downwards=is_below)
        self._link(edge, label_row + 1 if is_below else label_row, out, back, is_below, is_below)
        self._add_link(edge, back, edge.head, downwards=not is_below)

    def grid(
        self,
        levels: Mapping[tuple[int, int], tuple[Edge, ...]],
        loops: Mapping[int, SideLoops],
        corners: Mapping[int, tuple[CornerLoop, ...]],
    ) -> Grid:
        """The finished grid."""
        rows: list[list[int]] = [[] for _ in self.is_state_row]
        for element in self.elements:
            rows[element.row].append(element.index)
        return Grid(
            graph=self.graph,
            elements=tuple(self.elements),
            rows=tuple(map(tuple, rows)),
            is_state_row=tuple(self.is_state_row),
            links=tuple(self.links),
            routes={edge: tuple(links) for edge, links in self.routes.items()},
            levels=levels,
            loops=loops,
            corners=corners,
            node_rows=self.placement,
            widths=self._box_widths(corners),
            heights=box_heights(self.graph, loops),
        )

    def _add_element(self, row: int, edge: Edge, is_label: bool) -> int:
        element = Element(len(self.elements), row, edge=edge.index, is_label=is_label)
        self.elements.append(element)
        return element.index

    def _add_link(self, edge: Edge, first: int, last: int, downwards: bool) -> None:
        rows = self.elements[first].row, self.elements[last].row
        self._link(edge, max(rows), first, last, downwards, not downwards)

    def _link(self, edge: Edge, channel: int, first: int, last: int, first_above: bool, last_above: bool) -> None:
        link = Link(len(self.links), edge.index, channel, first, last, first_above, last_above)
        self.links.append(link)
        self.routes.setdefault(edge.index, []).append(link.index)

    def _box_widths(self, corners: Mapping[int, tuple[CornerLoop, ...]]) -> dict[int, int]:
        """Boxes are as wide as their texts, and as the ports on their busier side."""
        ports: dict[tuple[int, bool], int] = {}
        for owner, loops in corners.items():
            for loop in loops:
                ports[owner, loop.is_below] = ports.get((owner, loop.is_below), 0) + 2
        for link in self.links:
            for end in (0, 1):
                if self.elements[link.element(end)].node is not None:
                    side = (link.element(end), link.is_above(end))
                    ports[side] = ports.get(side, 0) + 1
        widths = {}
        for node in self.graph.nodes:
            most = max(ports.get((node.index, above), 0) for above in (True, False))
            widths[node.index] = max(node.width, (most - 1) * self.graph.port_spacing + 2 * node.rim)
        return widths
