"""The peer: a lifecycle as an ELK graph, and ELK's answer as a drawing, so that both are measured by the same code."""

from __future__ import annotations

import json
import select
import subprocess
from collections.abc import Mapping
from itertools import pairwise
from pathlib import Path
from typing import Any

from arrowproof.model.lifecycle import Lifecycle
from arrowproof.render.drawing import ArrowPath, Box, Drawing, Mark, Point, StateBox
from arrowproof.render.layout.assembly import bounds_of
from arrowproof.render.layout.graph import Edge, Graph, read_graph
from arrowproof.render.layout.sizes import MARK_RADIUS, LabelLimits
from arrowproof.render.quality import Quality, measure_drawing

SCRIPT = Path(__file__).with_name("elk.mjs")
DEADLINE = 20.0
"""Seconds after which ELK is held to be in a loop that never ends, as with some settings it is."""
_NEAR = 1.0
"""An end this near to the border of its box touches it."""


class Elk:
    """A node process that lays graphs out, one after the other; one that never answers is ended and started anew."""

    def __init__(self, folder: Path) -> None:
        self._command = ["node", str(SCRIPT), str(folder)]
        self._start()

    def _start(self) -> None:
        self._process = subprocess.Popen(self._command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)

    def __enter__(self) -> Elk:
        return self

    def __exit__(self, *_: object) -> None:
        self._process.kill()
        self._process.wait()

    def layout(self, graph: Mapping[str, Any]) -> dict[str, Any]:
        """ELK's answer: the graph with coordinates, or a dictionary with ``error``."""
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._process.stdin.write(json.dumps(graph) + "\n")
        self._process.stdin.flush()
        if not select.select([self._process.stdout], [], [], DEADLINE)[0]:
            self._process.kill()
            self._process.wait()
            self._start()
            return {"error": "no answer"}
        line = self._process.stdout.readline()
        if not line:
            raise SystemExit(f"node ended with status {self._process.wait()}; is elkjs installed in that folder?")
        answer = dict(json.loads(line))
        if any(not edge.get("sections") for edge in answer.get("edges", ())):
            return {"error": "an edge was not routed"}  # seen with some settings of wrapping
        return answer


def elk_graph(graph: Graph, options: Mapping[str, str], inline: bool) -> dict[str, Any]:
    """The graph as ELK reads it: boxes and labels have the sizes that our own layout gives them."""
    return {
        "id": "root",
        "layoutOptions": dict(options),
        "children": [_elk_node(node.id, node.width, node.height, node.is_state) for node in graph.nodes],
        "edges": [_elk_edge(graph, edge, inline) for edge in graph.edges],
    }


def _elk_node(name: str, width: int, height: int, grows: bool) -> dict[str, Any]:
    node: dict[str, Any] = {"id": f"node:{name}", "width": width, "height": height}
    if grows:  # a box may grow when its arrows need the room, as ours may
        constraints = {"elk.nodeSize.constraints": "PORTS MINIMUM_SIZE", "elk.nodeSize.minimum": f"({width},{height})"}
        node["layoutOptions"] = constraints
    return node


def _elk_edge(graph: Graph, edge: Edge, inline: bool) -> dict[str, Any]:
    elk_edge: dict[str, Any] = {
        "id": f"edge:{edge.arrow}",
        "sources": [f"node:{graph.nodes[edge.tail].id}"],
        "targets": [f"node:{graph.nodes[edge.head].id}"],
    }
    if not edge.label.is_empty:
        placement = {"elk.edgeLabels.placement": "CENTER", "elk.edgeLabels.inline": str(inline).lower()}
        size = {"width": edge.label.width, "height": edge.label.height}
        elk_edge["labels"] = [{"id": f"label:{edge.arrow}", "text": "x", **size, "layoutOptions": placement}]
    return elk_edge


def drawing_of(graph: Graph, answer: Mapping[str, Any]) -> Drawing:
    """ELK's answer as a drawing. The texts themselves are left out: only their boxes count."""
    places = {node["id"]: Box(node["x"], node["y"], node["width"], node["height"]) for node in answer["children"]}
    edges = {edge["id"]: edge for edge in answer["edges"]}
    states = [StateBox(node.id, places[f"node:{node.id}"], ()) for node in graph.nodes if node.is_state]
    marks = [
        Mark(node.id, node.kind, places[f"node:{node.id}"].center, MARK_RADIUS)
        for node in graph.nodes
        if not node.is_state
    ]
    arrows = [_arrow(edge.arrow, edges[f"edge:{edge.arrow}"]) for edge in graph.edges]
    drawing = Drawing(Box(0, 0, 0, 0), tuple(states), tuple(arrows), tuple(marks))
    return Drawing(bounds_of(drawing), drawing.states, drawing.arrows, drawing.marks)


def _arrow(name: str, edge: Mapping[str, Any]) -> ArrowPath:
    section = edge["sections"][0]
    corners = [section["startPoint"], *section.get("bendPoints", ()), section["endPoint"]]
    points = tuple((round(corner["x"], 2), round(corner["y"], 2)) for corner in corners)
    label = next(iter(edge.get("labels", ())), None)
    if label is None:
        return ArrowPath(name, points, points[0])
    box = Box(label["x"], label["y"], label["width"], label["height"])
    return ArrowPath(name, points, _nearest(points, box.center), label_box=box)


def _nearest(points: tuple[Point, ...], to: Point) -> Point:
    """The point of an orthogonal line that is nearest to another point."""
    feet = [
        (min(max(to[0], min(a[0], b[0])), max(a[0], b[0])), min(max(to[1], min(a[1], b[1])), max(a[1], b[1])))
        for a, b in pairwise(points)
    ]
    return min(feet, key=lambda foot: abs(foot[0] - to[0]) + abs(foot[1] - to[1]))


def find_faults(graph: Graph, drawing: Drawing) -> list[str]:
    """What makes ELK's drawing wrong, whatever its figures: a slanted line, or an end that is not at its box.

    Seen with some settings of wrapping and compaction.
    """
    boxes = {state.id: state.box for state in drawing.states}
    boxes |= {mark.id: _around(mark.center, mark.radius) for mark in drawing.marks}
    faults = []
    for edge, arrow in zip(graph.edges, drawing.arrows, strict=True):
        if any(a[0] != b[0] and a[1] != b[1] for a, b in pairwise(arrow.points)):
            faults.append(f"{arrow.id} is slanted")
        ends = (arrow.points[0], boxes[graph.nodes[edge.tail].id]), (arrow.points[-1], boxes[graph.nodes[edge.head].id])
        if not all(_is_on_border(point, box) for point, box in ends):
            faults.append(f"{arrow.id} is loose")
    return faults


def _around(center: Point, radius: float) -> Box:
    return Box(center[0] - radius, center[1] - radius, 2 * radius, 2 * radius)


def _is_on_border(point: Point, box: Box) -> bool:
    x, y = point
    near = box.x - _NEAR <= x <= box.right + _NEAR and box.y - _NEAR <= y <= box.bottom + _NEAR
    inside = box.x + _NEAR < x < box.right - _NEAR and box.y + _NEAR < y < box.bottom - _NEAR
    return near and not inside


def measure_peer(graph: Graph, answer: Mapping[str, Any], width: float, height: float) -> tuple[Quality, int]:
    """The quality of ELK's drawing, and the number of its overlaps and faults.

    Two kinds are forgiven: ELK draws no beads, and a label may stand in its own line, which a page would interrupt.
    """
    drawing = drawing_of(graph, answer)
    quality = measure_drawing(drawing, width, height)
    counted = [
        overlap
        for overlap in quality.overlaps
        if overlap.kind != "bead-arrow" and not (overlap.kind == "label-arrow" and overlap.first == overlap.second)
    ]
    return quality, len(counted) + len(find_faults(graph, drawing))


def graphs_by_limits(lifecycle: Lifecycle, limits: Mapping[str, LabelLimits]) -> dict[str, Graph]:
    """The graph of a lifecycle for each way to wrap its labels."""
    return {name: read_graph(lifecycle, {}, limit) for name, limit in limits.items()}
