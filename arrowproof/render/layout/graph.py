"""The graph that is laid out: states and marks as nodes, arrows as edges, all with their sizes.

Each creation arrow has a start mark of its own and each removal arrow a removal mark, so that these arrows stay short.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property

from arrowproof.model.lifecycle import Kind, Lifecycle, State
from arrowproof.render.layout.sizes import MARK_RADIUS, BoxSize, LabelSize, measure_label, measure_state


@dataclass(frozen=True)
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

    @property
    def is_success(self) -> bool:
        """Whether a row that comes here has succeeded."""
        return self.state is not None and self.state.kind is Kind.SUCCESS


@dataclass(frozen=True)
class Edge:
    """An arrow between two nodes, by their indexes."""

    index: int
    arrow: str
    tail: int
    head: int
    label: LabelSize

    @property
    def is_loop(self) -> bool:
        """Whether it leads back to the state it leaves."""
        return self.tail == self.head


@dataclass(frozen=True)
class Graph:
    """Nodes and edges; an index is a place in its tuple."""

    nodes: tuple[Node, ...]
    edges: tuple[Edge, ...]

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


def read_graph(lifecycle: Lifecycle, captions: Mapping[str, str], label_limit: float) -> Graph:
    """The graph of a lifecycle, its labels wrapped at ``label_limit``.

    Args:
        lifecycle: a lifecycle whose arrows name states that it has.
        captions: a short text under the label of an arrow, by arrow id.
        label_limit: the most that a line of a label may measure.
    """
    nodes = [_state_node(index, state) for index, state in enumerate(lifecycle.states)]
    index_of = {state.id: index for index, state in enumerate(lifecycle.states)}
    edges: list[Edge] = []
    for arrow in lifecycle.arrows:
        if arrow.source is None:
            nodes.append(_mark_node(len(nodes), "start", arrow.id))
        tail = len(nodes) - 1 if arrow.source is None else index_of[arrow.source]
        if arrow.target is None:
            nodes.append(_mark_node(len(nodes), "removal", arrow.id))
        head = len(nodes) - 1 if arrow.target is None else index_of[arrow.target]
        label = measure_label(arrow, captions.get(arrow.id, ""), label_limit)
        edges.append(Edge(len(edges), arrow.id, tail, head, label))
    return Graph(tuple(nodes), tuple(edges))


def _state_node(index: int, state: State) -> Node:
    size = measure_state(state)
    return Node(index, "state", state.id, size.width, size.height, size.rim, size, state)


def _mark_node(index: int, kind: str, arrow_id: str) -> Node:
    return Node(index, kind, f"{kind}:{arrow_id}", 2 * MARK_RADIUS, 2 * MARK_RADIUS, MARK_RADIUS)
