"""The unknowns of the x coordinates: which number of the solver stands for what.

Each box has two, its left and its right edge; each port has one; and all elements of one arrow that lie on one straight
line share one, so that an arrow can bend only at its ends, or where two arrows must cross.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial

from arrowproof.render.layout.grid import Grid
from arrowproof.render.layout.loops import RIGHT, CornerLoop
from arrowproof.render.layout.order import Order

Pin = tuple[int, int]
"""One end of a link: (link index, 0 or 1). A corner loop has pins with a negative index."""

LEFT_WALL, RIGHT_WALL = 0, 1


class Variables:
    """The unknowns of one grid in one order.

    ``boxes`` holds (left, right) of each node, ``lines`` the one of each other element, ``pins`` the one of each end of
    a link. ``ports`` holds the pins on each side of a node, from left to right, under (node, is it the lower side).
    """

    def __init__(self, grid: Grid, order: Order) -> None:
        self.count = 2
        self.boxes = {node.index: (self.new(), self.new()) for node in grid.graph.nodes}
        self.lines = self._shared_lines(grid, order)
        self.pins: dict[Pin, int] = {}
        self.ports: dict[tuple[int, bool], list[Pin]] = {}
        place = {element: place for row in order for place, element in enumerate(row)}
        for link in grid.links:
            for end in (0, 1):
                element = link.element(end)
                if grid.elements[element].node is None:
                    self.pins[link.index, end] = self.lines[element]
                else:
                    self.pins[link.index, end] = self.new()
                    self.ports.setdefault((element, link.is_above(end)), []).append((link.index, end))
        for (node, _), pins in self.ports.items():
            pins.sort(key=partial(_port_key, grid, place, node))
        for node, loops in grid.corners.items():
            for loop in loops:
                self._add_corner_loop(node, loop)

    def _add_corner_loop(self, node: int, loop: CornerLoop) -> None:
        """The pins of a corner loop are the outermost ports of their side."""
        self.pins |= {pin: self.new() for pin in loop.pins}
        ports = self.ports.setdefault((node, loop.is_below), [])
        ports[:] = [*ports, *loop.pins] if loop.hand == RIGHT else [*loop.pins, *ports]

    def new(self) -> int:
        """A fresh variable."""
        self.count += 1
        return self.count - 1

    def _shared_lines(self, grid: Grid, order: Order) -> dict[int, int]:
        """The variable of each element that is no node; along one arrow it is the same until the line must bend."""
        lines: dict[int, int] = {}
        cut = _crossing_links(grid, order)
        for link in grid.links:
            for element in (link.first, link.last):
                if grid.elements[element].node is None and element not in lines:
                    goes_on = element == link.last and link.first in lines and not link.turns and link.index not in cut
                    lines[element] = lines[link.first] if goes_on else self.new()
        return lines


def _crossing_links(grid: Grid, order: Order) -> set[int]:
    """Links between two lines that cross another such link: these two cannot both be straight."""
    place = {element: place for row in order for place, element in enumerate(row)}
    inner: dict[int, list[tuple[int, int, int]]] = {}
    for link in grid.links:
        if not link.turns and all(grid.elements[e].node is None for e in (link.first, link.last)):
            upper, lower = (link.first, link.last) if link.first_above else (link.last, link.first)
            inner.setdefault(link.channel, []).append((place[upper], place[lower], link.index))
    cut: set[int] = set()
    for links in inner.values():
        kept: list[tuple[int, int, int]] = []
        for upper, lower, index in sorted(links, key=lambda link: link[2]):
            if any((upper - u) * (lower - v) < 0 for u, v, _ in kept):
                cut.add(index)
            else:
                kept.append((upper, lower, index))
    return cut


def _port_key(grid: Grid, place: Mapping[int, int], node: int, pin: Pin) -> tuple[int, int, int]:
    """The order of ports on one side of a box: by what is at the other end of their links.

    Links that turn round to another box of the row stand outside, the nearest box outermost.
    """
    link = grid.links[pin[0]]
    other = link.element(1 - pin[1])
    if not link.turns:
        return (0, place[other], link.index)
    if other == node:
        return (1, 0, pin[1])
    return (1 if place[other] > place[node] else -1, -place[other], link.index)
