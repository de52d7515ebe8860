"""Candidates: whole drawings of one lifecycle, of which the one that reads best is taken."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace

from arrowproof.errors import InternalError
from arrowproof.model.lifecycle import Lifecycle
from arrowproof.render.drawing import Drawing
from arrowproof.render.layout.assembly import Assembly
from arrowproof.render.layout.channels import assign_slots
from arrowproof.render.layout.coordinates import Columns, assign_columns
from arrowproof.render.layout.direction import direction_cost
from arrowproof.render.layout.graph import Graph, read_graph
from arrowproof.render.layout.grid import Grid, Placement, build_grid
from arrowproof.render.layout.heights import assign_lines
from arrowproof.render.layout.lanes import lane_numbers
from arrowproof.render.layout.order import Order, order_elements
from arrowproof.render.layout.placements import MANY_NODES, find_placements
from arrowproof.render.layout.sizes import LabelLimits
from arrowproof.render.layout.variables import Pin
from arrowproof.render.quality import (
    READABLE_SCALE,
    TARGET_HEIGHT,
    TARGET_WIDTH,
    Quality,
    fit_scale,
    measure_drawing,
)

_LABEL_LIMITS = (LabelLimits(136, 180), LabelLimits(130, 140), LabelLimits(104, 104), LabelLimits(82, 82))
"""How wide labels may be: for up to 8 arrows, for up to 14, for more, and for those that would come out too small."""
_NARROW, _LOOSE = 700, (160, 20)
"""What a unit of the drawing's width costs the solver, when the width decides the scale and when it does not."""


_POOR, _RANK = 14.0, 0.15
"""Placements that the estimate holds for so much worse than the best are not drawn; what a unit of it weighs."""
_NEAR, _FEW, _FINISHED_EDGES = 0.6, 2, 50
"""Drafts that come so near to the best are finished too: so many, or more while they have so few edges in all."""

_MOST_FORCED, _FAR = 12, 90
"""How many links of the best drawing are tried straight, and the bend beyond which that is hopeless."""


@dataclass(frozen=True)
class Candidate:
    """A drawing, how it was made, and its score; higher is better. ``malus`` is what the estimate takes off it."""

    placement: Placement
    order: Order
    assembly: Assembly
    drawing: Drawing
    width_cost: int
    malus: float
    score: float


def best_drawing(lifecycle: Lifecycle, captions: Mapping[str, str], keeps_lanes: bool = False) -> Drawing:
    """The best drawing of a lifecycle that was found; in all of them nothing overlaps.

    When its text comes out too small to read, all is done again with narrower labels, and the better one taken.
    """
    found: list[Candidate] = []
    for limits in _LABEL_LIMITS[(len(lifecycle.arrows) > 8) + (len(lifecycle.arrows) > 14) :]:
        graph = read_graph(lifecycle, captions, limits)
        if keeps_lanes:
            graph = replace(graph, lanes=lane_numbers(graph))
        drafts = _drafts(graph)
        found.append(_best_finished(graph, drafts))
        if len(graph.nodes) > MANY_NODES or fit_scale(found[-1].drawing.bounds) >= READABLE_SCALE:
            break
    return max(found, key=lambda candidate: candidate.score).drawing


def _drafts(graph: Graph) -> list[Candidate]:
    """What the most promising placements look like, the best first."""
    placements = find_placements(graph)
    least = min(placements.values())
    drafts: list[Candidate] = []
    for placement, cost in placements.items():
        if cost < least + _POOR:
            grid = build_grid(graph, placement)
            drafts += _candidates(placement, grid, order_elements(grid), _NARROW, _RANK * (cost - least))
    if not drafts:
        raise InternalError("no layout was found that keeps its parts apart")
    return sorted(drafts, key=lambda draft: -draft.score)


def _best_finished(graph: Graph, drafts: Sequence[Candidate]) -> Candidate:
    """The best of the drafts, each finished; of two that are equally good it is the one that the estimate prefers."""
    if len(graph.nodes) > MANY_NODES:
        return drafts[0]
    count = max(_FEW, _FINISHED_EDGES // max(len(graph.edges), 1))
    finalists = [draft for draft in drafts[:count] if draft.score > drafts[0].score - _NEAR]
    return max(map(_finished, finalists), key=lambda candidate: candidate.score)


def _finished(draft: Candidate) -> Candidate:
    """The draft with as much width as reads best, and its links straight."""
    grid = draft.assembly.grid
    ranking = [draft]
    for width_cost in _LOOSE:
        ranking += _candidates(draft.placement, grid, draft.order, width_cost, draft.malus)
    return _straightened(max(ranking, key=lambda candidate: candidate.score))


def _candidates(
    placement: Placement, grid: Grid, order: Order, width_cost: int, malus: float, forced: tuple[int, ...] = ()
) -> list[Candidate]:
    """The one candidate that these make, or none when something in it overlaps."""
    assembly = assemble(grid, order, width_cost, forced)
    drawing = assembly.drawing()
    quality = measure_drawing(drawing)
    if not quality.holds:
        return []
    value = score(quality) - 0.5 * direction_cost(grid.graph, placement) - malus
    return [Candidate(placement, order, assembly, drawing, width_cost, malus, value)]


def _straightened(candidate: Candidate) -> Candidate:
    """The candidate with bent links made straight, one after the other, where that is better.

    The shortest bend goes first, and what is straight already stays so: then boxes grow a little, if they may.
    """
    tried: set[int] = set()
    while len(tried) < _MOST_FORCED:
        bends = _bends(candidate)
        index = next((link for bend, link in bends if 0 < bend < _FAR and link not in tried), None)
        if index is None:
            break
        tried.add(index)
        forced = (*(link for bend, link in bends if bend == 0), index)
        changed = _candidates(
            candidate.placement,
            candidate.assembly.grid,
            candidate.order,
            candidate.width_cost,
            candidate.malus,
            forced,
        )
        candidate = max([candidate, *changed], key=lambda one: one.score)
    return candidate


def _bends(candidate: Candidate) -> list[tuple[int, int]]:
    """(bend, link index) of all links that do not turn, the straight ones first."""
    pins = candidate.assembly.columns.pins
    links = [link.index for link in candidate.assembly.grid.links if not link.turns]
    return sorted((abs(pins[link, 0] - pins[link, 1]), link) for link in links)


def score(quality: Quality) -> float:
    """How well a drawing reads; higher is better.

    Text counts most while it is small, then crossings, bends, and the length of the arrows.
    """
    return (
        16 * min(quality.scale, 0.95)
        - 40 * max(READABLE_SCALE - quality.scale, 0)
        + 2 * quality.scale
        - 1.0 * quality.crossings
        - 0.10 * quality.bends
        - 0.2 * quality.jogs
        - quality.length * quality.scale / 12000
    )


def assemble(grid: Grid, order: Order, width_cost: int, forced: Collection[int] = ()) -> Assembly:
    """A grid in this order with all its coordinates.

    Two legs that no order of slots keeps apart get columns of their own, and the columns are assigned anew. Every such
    rule goes from left to right as the columns stand, so the rules never contradict each other, and the loop ends:
    there are only so many pairs of legs.
    """
    separations: list[tuple[Pin, Pin]] = []
    columns: Columns | None = None
    while True:
        columns = assign_columns(grid, order, width_cost, separations, forced, columns)
        channels = assign_slots(grid, columns)
        clashes = [clash for channel in channels for clash in channel.clashes]
        if not clashes:
            break
        separations += clashes
    lines = assign_lines(grid, channels, TARGET_HEIGHT * columns.width / TARGET_WIDTH)
    return Assembly(grid, columns, lines)
