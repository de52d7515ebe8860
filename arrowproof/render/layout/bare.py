"""The bare drawing: states and lines without labels, for an overview whose labels could not be read anyway.

Labels take most of the room of a large drawing. Without them the states are much larger, and lines stand so far apart
that each of them is seen.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from arrowproof.model.lifecycle import Lifecycle
from arrowproof.model.record import record
from arrowproof.render.drawing import Drawing
from arrowproof.render.layout.candidates import Candidate, draft_placements
from arrowproof.render.layout.forms import Form
from arrowproof.render.layout.graph import Graph, read_graph
from arrowproof.render.layout.grid import Placement
from arrowproof.render.layout.placements import MOST_SEARCHED, find_placements, unlike_placements
from arrowproof.render.layout.seats import seat_nodes
from arrowproof.render.layout.sizes import LabelLimits
from arrowproof.render.quality import LABEL_TEXT, fit_scale

LEAST_LABEL = 7.0
"""Labels that come out smaller at 1440x900, in CSS px, are left out: their letters are no more than specks."""

_APART = (0, 16, 20, 24, 28, 32, 40)
"""The least distances of parallel lines that are tried, in units; 0 are the usual ones."""
_LEAST_APART = 4.8
"""In CSS px: lines that are nearer than this hide the ground between them."""
_HOPELESS = 2.4
"""In CSS px: where the usual lines are nearer than this, no least distance has brought them apart."""
_LOST = 1.6
"""In CSS px: where they are nearer than this in one drawing of very many states, no other rows are tried."""
_NO_LABELS = LabelLimits(0, 0)


def has_specks(drawing: Drawing) -> bool:
    """Whether the labels of a drawing come out too small to be worth their room."""
    return LABEL_TEXT * fit_scale(drawing.bounds) < LEAST_LABEL


@record
class Bare:
    """A drawing without labels, and whether its lines stand so far apart that each of them is seen."""

    drawing: Drawing
    is_apart: bool


def bare_drawing(lifecycle: Lifecycle, labelled: Drawing | None = None, has_notes: bool = False) -> Bare | None:
    """The drawing of a lifecycle without labels, None where none was found in which nothing overlaps.

    Args:
        lifecycle: any lifecycle that has states.
        labelled: its drawing with labels, if there is one, whose rows are tried too.
        has_notes: whether states have their notes.
    """
    best: Candidate | None = None
    for apart in _APART:
        graph = read_graph(lifecycle, {}, _NO_LABELS, Form(numbers={}, has_notes=has_notes, apart=apart))
        draft = _first(graph, labelled) if best is None else _best(graph, {best.placement: 0.0})
        if draft is not None and (best is None or _apart(draft) > _apart(best)):
            best = draft
        if best is not None and not _HOPELESS < _apart(best) < _LEAST_APART:
            break
    return None if best is None else Bare(best.drawing, _apart(best) >= _LEAST_APART)


def _first(graph: Graph, labelled: Drawing | None) -> Candidate | None:
    """The best drawing with the usual distances of lines, or one in which they are much too near to each other."""
    if labelled is not None:
        return _best(graph, dict.fromkeys((*_rows_of(labelled, graph), *seat_nodes(graph)), 0.0))
    if len(graph.nodes) <= MOST_SEARCHED:
        return _best(graph, find_placements(graph))
    best: Candidate | None = None
    for placement in unlike_placements(graph):
        draft = _best(graph, {placement: 0.0})
        if draft is not None and (best is None or draft.score > best.score):
            best = draft
        if best is not None and _apart(best) < _LOST:
            break
    return best


def _best(graph: Graph, placements: Mapping[Placement, float]) -> Candidate | None:
    return next(iter(draft_placements(graph, placements)), None)


def _rows_of(drawing: Drawing, graph: Graph) -> Iterator[Placement]:
    """The rows of a drawing, from top to bottom, as nodes of a graph; none where the drawing has not all of them."""
    centers = {state.id: state.box.center for state in drawing.states}
    centers |= {mark.id: mark.center for mark in drawing.marks}
    if any(node.id not in centers for node in graph.nodes):
        return
    rows: dict[int, list[int]] = {}
    for node in sorted(graph.nodes, key=lambda node: centers[node.id][0]):
        rows.setdefault(round(centers[node.id][1]), []).append(node.index)
    yield tuple(tuple(rows[y]) for y in sorted(rows))


def _apart(candidate: Candidate) -> float:
    """How far parallel lines stand apart in the figure of the page at 1440x900, in CSS px."""
    return candidate.assembly.grid.graph.slot * fit_scale(candidate.drawing.bounds)
