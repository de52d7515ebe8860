"""The graph that is laid out: states and marks as nodes, arrows as edges, all with their sizes.

Each creation arrow has a start mark of its own and each removal arrow a removal mark, so that these arrows stay short.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Mapping
from functools import cached_property
from itertools import pairwise

from arrowproof.model.lifecycle import Kind, Lifecycle, State
from arrowproof.model.record import record
from arrowproof.render.layout.forms import PLAIN, Form
from arrowproof.render.layout.sizes import (
    ARROW_ROOM,
    LINE_GAP,
    LINE_ROOM,
    MARK_RADIUS,
    PORT_SPACING,
    SLOT,
    BoxSize,
    LabelLimits,
    LabelSize,
    measure_state,
)


@record
class Node:
    """A state, or the mark of one creation or removal arrow. ``kind`` is ``state``, ``start`` or ``removal``."""

    index: int
    kind: str
    id: str
    width: int
    height: int
    rim: int
    size: BoxSize | None = None
    state: State | None = None

    @property
    def is_state(self) -> bool:
        """Whether this is a box and no mark."""
        return self.state is not None

    def kind_is(self, kind: Kind) -> bool:
        """Whether this is a state of that kind."""
        return self.state is not None and self.state.kind is kind


@record
class Edge:
    """One line between two nodes, by their indexes: an arrow, or a cord of several.

    ``places`` are those of the arrows in the file.
    """

    index: int
    arrows: tuple[str, ...]
    places: tuple[int, ...]
    tail: int
    head: int
    label: LabelSize

    @property
    def arrow(self) -> str:
        """The arrow, or the first on the cord."""
        return self.arrows[0]

    @property
    def is_cord(self) -> bool:
        """Whether several arrows share the line."""
        return len(self.arrows) > 1

    @property
    def is_loop(self) -> bool:
        """Whether it leads back to the state it leaves."""
        return self.tail == self.head


@record
class Graph:
    """Nodes and edges; an index is a place in its tuple. ``lanes`` numbers the lanes of the nodes, if any are kept.

    ``apart`` is the least distance of parallel lines, where the usual ones are not enough.
    """

    nodes: tuple[Node, ...]
    edges: tuple[Edge, ...]
    lanes: tuple[int, ...] = ()
    apart: int = 0

    @property
    def slot(self) -> int:
        """Between two arrows that run level in one channel."""
        return max(SLOT, self.apart)

    @property
    def port_spacing(self) -> int:
        """Between two arrows at one side of a box."""
        return max(PORT_SPACING, self.apart)

    @property
    def line_gap(self) -> int:
        """Between the line of an arrow that passes a row and what stands beside it."""
        return max(LINE_GAP, self.apart)

    @property
    def line_room(self) -> int:
        """Between the edge of a box and a level line."""
        return max(LINE_ROOM, self.apart)

    @property
    def arrow_room(self) -> int:
        """The same where an arrow points at the box, for its head."""
        return max(ARROW_ROOM, self.apart)

    @cached_property
    def main_path(self) -> tuple[int, ...]:
        """The shortest path from where rows are created to success, or to the last state found that is no failure.

        Without a creation arrow it starts at the first state that no other leads to, or else at the first state.
        """
        came_from = self._reached()
        goals = [node for node in came_from if self.nodes[node].kind_is(Kind.SUCCESS)]
        others = [
            node for node in came_from if self.nodes[node].is_state and not self.nodes[node].kind_is(Kind.FAILURE)
        ]
        path = [goals[0] if goals else (others or list(came_from))[-1]]
        while came_from[path[-1]] != path[-1]:
            path.append(came_from[path[-1]])
        return tuple(reversed(path))

    @cached_property
    def main_steps(self) -> frozenset[tuple[int, int]]:
        """The pairs (tail, head) of the main path."""
        return frozenset(pairwise(self.main_path))

    @cached_property
    def failures(self) -> tuple[int, ...]:
        """The states that are failures."""
        return tuple(node.index for node in self.nodes if node.kind_is(Kind.FAILURE))

    def _reached(self) -> dict[int, int]:
        """The nodes that a breadth-first walk reaches, in its order, each with the node it was reached from."""
        entered = {edge.head for edge in self.edges if not edge.is_loop}
        starts = [node.index for node in self.nodes if node.kind == "start"]
        starts += [node.index for node in self.nodes if node.is_state and node.index not in entered]
        came_from = {(starts or [0])[0]: (starts or [0])[0]}
        waiting = deque(came_from)
        while waiting:
            node = waiting.popleft()
            for edge in self.edges:
                if edge.tail == node and edge.head not in came_from:
                    came_from[edge.head] = node
                    waiting.append(edge.head)
        return came_from

    @cached_property
    def pairs(self) -> Mapping[tuple[int, int], tuple[Edge, ...]]:
        """The edges between each two different nodes, under (lower index, higher index)."""
        pairs: dict[tuple[int, int], list[Edge]] = {}
        for edge in self.edges:
            if not edge.is_loop:
                pairs.setdefault((min(edge.tail, edge.head), max(edge.tail, edge.head)), []).append(edge)
        return {pair: tuple(edges) for pair, edges in pairs.items()}

    @cached_property
    def loops(self) -> Mapping[int, tuple[Edge, ...]]:
        """The self arrows of each node that has any."""
        loops: dict[int, list[Edge]] = {}
        for edge in self.edges:
            if edge.is_loop:
                loops.setdefault(edge.tail, []).append(edge)
        return {node: tuple(edges) for node, edges in loops.items()}


def read_graph(lifecycle: Lifecycle, captions: Mapping[str, str], limits: LabelLimits, form: Form = PLAIN) -> Graph:
    """The graph of a lifecycle, its labels wrapped at the limits.

    Args:
        lifecycle: a lifecycle whose arrows name states that it has.
        captions: a short text under the label of an arrow, by arrow id.
        limits: the most that a line of a label may measure.
        form: which arrows share a line, and whether labels are numbers.
    """
    nodes = [_state_node(index, form.shown(state)) for index, state in enumerate(lifecycle.states)]
    index_of = {state.id: index for index, state in enumerate(lifecycle.states)}
    place_of = {arrow.id: place for place, arrow in enumerate(lifecycle.arrows)}
    edges: list[Edge] = []
    for arrows in form.lines(lifecycle.arrows):
        first = arrows[0]
        if first.source is None:
            nodes.append(_mark_node(len(nodes), "start", first.id))
        tail = len(nodes) - 1 if first.source is None else index_of[first.source]
        if first.target is None:
            nodes.append(_mark_node(len(nodes), "removal", first.id))
        head = len(nodes) - 1 if first.target is None else index_of[first.target]
        places = tuple(place_of[arrow.id] for arrow in arrows)
        label = form.label(arrows, captions, limits)
        edges.append(Edge(len(edges), tuple(arrow.id for arrow in arrows), places, tail, head, label))
    return Graph(tuple(nodes), tuple(edges), apart=form.apart)


def _state_node(index: int, state: State) -> Node:
    size = measure_state(state)
    return Node(index, "state", state.id, size.width, size.height, size.rim, size, state)


def _mark_node(index: int, kind: str, arrow_id: str) -> Node:
    return Node(index, kind, f"{kind}:{arrow_id}", 2 * MARK_RADIUS, 2 * MARK_RADIUS, MARK_RADIUS)
