"""Self arrows: small loops beside their box, or at its corners when level arrows hold both of its sides."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from arrowproof.model.record import record
from arrowproof.render.layout.graph import Edge, Graph
from arrowproof.render.layout.sizes import (
    BEAD_ROOM,
    CORNER_DEPTH,
    CORNER_RISE,
    LABEL_GAP,
    LOOP_HEIGHT,
    even,
)

LEFT, RIGHT = -1, 1


@record
class SideLoops:
    """The self arrows that stand beside a box, and on which side."""

    side: int
    edges: tuple[Edge, ...]

    @property
    def slots(self) -> tuple[int, ...]:
        """The height of each loop with its label."""
        return tuple(even(max(edge.label.height, LOOP_HEIGHT) + 6) for edge in self.edges)


@record
class CornerLoop:
    """A self arrow above or below its box, at the left or right end of that side, with its label beyond that end.

    Its line leaves at the pin next to the label and comes back at the other one.
    """

    edge: Edge
    is_below: bool
    hand: int

    def pin(self, end: int) -> tuple[int, int]:
        """The pin of end 0 or 1; pins of corner loops have negative link indexes."""
        return (-1 - self.edge.index, end)

    @property
    def pins(self) -> tuple[tuple[int, int], tuple[int, int]]:
        """Both pins, the left one first."""
        return (self.pin(1), self.pin(0)) if self.hand == RIGHT else (self.pin(0), self.pin(1))

    @property
    def room(self) -> int:
        """How far the label reaches beyond the outer pin."""
        return LABEL_GAP + self.edge.label.width if not self.edge.label.is_empty else BEAD_ROOM

    @property
    def depth(self) -> int:
        """How far line and label reach from the edge of the box."""
        return max(CORNER_DEPTH, CORNER_RISE + self.edge.label.height)


def side_loops(
    graph: Graph, placement: Sequence[Sequence[int]], levels: Mapping[tuple[int, int], Sequence[Edge]]
) -> dict[int, SideLoops]:
    """Self arrows stand on the right of their box, or on the left when a level arrow is on the right."""
    busy = {(left, RIGHT) for left, _ in levels} | {(right, LEFT) for _, right in levels}
    loops = {}
    for row in placement:
        for node in row:
            side = next((side for side in (RIGHT, LEFT) if (node, side) not in busy), None)
            if node in graph.loops and side is not None:
                loops[node] = SideLoops(side, graph.loops[node])
    return loops


def corner_loops(
    graph: Graph,
    row_of: Mapping[int, int],
    levels: Mapping[tuple[int, int], Sequence[Edge]],
    loops: Mapping[int, SideLoops],
) -> dict[int, tuple[CornerLoop, ...]]:
    """The self arrows of boxes with level arrows on both sides: one at each end of the upper and the lower side.

    They stand where the label of no level arrow is near, then on the side with fewer arrows. Those that find no place
    run through a channel.
    """
    labelled = set()
    for (left, right), edges in levels.items():
        for place, edge in enumerate(edges):
            if not edge.label.is_empty:
                labelled |= {(left, place == 1, RIGHT), (right, place == 1, LEFT)}
    corners = {}
    for node, own in graph.loops.items():
        if node in loops or node not in row_of:
            continue
        rows = [
            row_of[e.head if e.tail == node else e.tail] - row_of[node] for e in graph.edges if node in (e.tail, e.head)
        ]
        ports = {True: sum(row > 0 for row in rows), False: sum(row < 0 for row in rows)}
        places = [(is_below, hand) for hand in (RIGHT, LEFT) for is_below in (True, False)]
        places.sort(key=lambda place: ((node, *place) in labelled, ports[place[0]]))
        corners[node] = tuple(CornerLoop(edge, *place) for edge, place in zip(own, places, strict=False))
    return corners


def box_heights(graph: Graph, loops: Mapping[int, SideLoops]) -> dict[int, int]:
    """Boxes are as high as their texts, and as the self arrows beside them."""
    heights = {}
    for node in graph.nodes:
        heights[node.index] = node.height
        if node.index in loops:
            slots = loops[node.index].slots
            # The slots stand around the middle of the box, the first and last loop in the middle of theirs.
            between = sum(slots) - min(slots[0], slots[-1])
            heights[node.index] = max(node.height, even(between + LOOP_HEIGHT + 12))
    return heights
