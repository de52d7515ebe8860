"""Candidates: whole drawings of one lifecycle, of which the one that reads best is taken."""

from __future__ import annotations

import math
from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace

from arrowproof.errors import InternalError
from arrowproof.model.lifecycle import Lifecycle
from arrowproof.model.record import record
from arrowproof.render.drawing import Drawing
from arrowproof.render.layout.assembly import Assembly
from arrowproof.render.layout.channels import assign_slots
from arrowproof.render.layout.coordinates import Columns, Jogs, assign_columns
from arrowproof.render.layout.direction import bent_steps, direction_cost
from arrowproof.render.layout.forms import PLAIN, Form
from arrowproof.render.layout.graph import Graph, read_graph
from arrowproof.render.layout.grid import Grid, Placement, build_grid
from arrowproof.render.layout.heights import assign_lines
from arrowproof.render.layout.label_rooms import with_roomy_labels
from arrowproof.render.layout.lanes import add_lanes, lane_breaks, lane_gaps, lane_numbers
from arrowproof.render.layout.order import Order, order_elements
from arrowproof.render.layout.placements import MANY_NODES, MOST_SEARCHED, find_placements
from arrowproof.render.layout.sizes import LabelLimits
from arrowproof.render.layout.variables import Pin
from arrowproof.render.quality import (
    LEAST_STEP,
    READABLE_SCALE,
    TARGET_HEIGHT,
    TARGET_WIDTH,
    Quality,
    count_crossings,
    find_overlaps,
    fit_scale,
    measure_unchecked,
)

_LABEL_LIMITS = (LabelLimits(136, 180), LabelLimits(130, 140), LabelLimits(104, 104), LabelLimits(82, 82))
"""How wide labels may be: for up to 8 arrows, for up to 14, for more, and for those that would come out too small."""
_MOST_ATTEMPTS, _ATTEMPTED_ARROWS = 3, 140
"""How often a drawing is searched for, fewer times when it has many arrows."""
_FEW_CROSSINGS, _ABOUT = 1, 0.2
"""What is enough after the second search; scores that are about as good."""
_HOPELESS = 0.62
"""A drawing that comes out smaller than this is not made readable by narrower labels."""
_TOO_SMALL = 0.95 * READABLE_SCALE
"""Where no draft comes out larger than this, none is read when it is finished: that gives a drawing some hundredths."""
_FAR_TOO_SMALL = 0.65
"""What comes out smaller than this is drawn in a closer form, if there is one."""
_NARROW, _LOOSE = 700, (160, 20)
"""What a unit of the drawing's width costs the solver, when the width decides the scale and when it does not."""


_POOR, _RANK = 14.0, 0.15
"""Placements that the estimate holds for so much worse than the best are not drawn; what a unit of it weighs."""
_FEW, _FINISHED_EDGES = 2, 50
"""How many drafts are finished: so many, or more while they have so few edges in all."""
_CROSSING, _DIRECTION, _BEND, _JOG = 3.0, 0.5, 0.1, 0.03
"""What each weighs in the score; a jog little, since the last look at the best drawing mends almost every one."""
_JOG_ROUNDS, _EYESORE = 4, 2.0
"""How often the jogs of the best drawing are looked for, and what each of them weighs there."""
_MAIN_BENT = 0.3
"""A step of the main path without a straight arrow, where no lanes are kept: worth a sixtieth of the text size."""
_LANE_BREAK = 3.0
"""Of the score, where lanes are kept: a group that is torn apart has none."""

_MOST_FORCED, _FORCED_EDGES, _FAR = 12, 300, 90
"""How many links of a drawing are tried straight, fewer when it has many edges; the bend beyond which that is hopeless.
"""


@record
class Candidate:
    """A drawing, how it was made, and its score; higher is better. ``malus`` is what the estimate takes off it."""

    placement: Placement
    order: Order
    assembly: Assembly
    drawing: Drawing
    quality: Quality
    width_cost: int
    malus: float
    score: float


def best_drawing(
    lifecycle: Lifecycle,
    captions: Mapping[str, str],
    form: Form = PLAIN,
    without_lanes: Drawing | None = None,
    gives_way: bool = False,
    is_hurried: bool = False,
    must_be_read: bool = False,
) -> Drawing:
    """The best drawing of a lifecycle that was found; in all of them nothing overlaps.

    When its text comes out too small to read, or lines cross, all is done again with narrower labels, which leave more
    room; where it could be read, the search starts anew. The best of all is taken, and the first of those that are
    about as good.

    Args:
        lifecycle: any lifecycle that has a state or an arrow.
        captions: a short text under the label of an arrow, by arrow id.
        form: how lines and labels are shared.
        without_lanes: the best drawing, where one that can have lanes is looked for: such a one goes before any other,
            and the search starts anew while lines cross more often than they do here.
        gives_way: whether a closer form is drawn where this one is far too large; then it is searched only once.
        is_hurried: whether it is searched only once in any case, and for a shorter time if it must be read.
        must_be_read: whether a drawing that is too small to read is of no use; then it is not finished.
    """
    keeps_lanes = without_lanes is not None
    least = count_crossings(without_lanes) if without_lanes is not None else 0
    pools: list[list[Candidate]] = []
    drafts: list[Candidate] = []
    limits = list(_LABEL_LIMITS[(len(lifecycle.arrows) > 8) + (len(lifecycle.arrows) > 14) :])
    for attempt in range(_attempts(lifecycle)):
        graph = read_graph(lifecycle, captions, limits[0], form)
        if keeps_lanes:
            graph = replace(graph, lanes=lane_numbers(graph))
        drafts = _drafts(graph, [draft.placement for draft in drafts], attempt, is_hurried and must_be_read)
        pools.append(drafts)
        scale = fit_scale(drafts[0].drawing.bounds)
        is_torn = keeps_lanes and not add_lanes(drafts[0].drawing, lifecycle).lanes
        crosses = drafts[0].quality.crossings > (least if keeps_lanes else _FEW_CROSSINGS * attempt)
        is_given_up = is_hurried or (gives_way and attempt == 0 and scale < _FAR_TOO_SMALL)
        if is_given_up or (scale >= READABLE_SCALE and not crosses and not is_torn):
            break
        if not _HOPELESS < scale < READABLE_SCALE or len(limits) == 1 or (keeps_lanes and crosses):
            drafts = []
        limits = limits[1:] or limits
    if must_be_read and all(fit_scale(draft.drawing.bounds) < _TOO_SMALL for pool in pools for draft in pool):
        return _best_pool(pools)[0].drawing
    if not keeps_lanes:
        best = _without_jogs(_best_finished(_best_pool(pools)))
        return _with_roomy_labels(best, lifecycle, captions, form) or best.drawing
    laned = [[draft for draft in pool if add_lanes(draft.drawing, lifecycle).lanes] for pool in pools]
    pool = _best_pool([pool for pool in laned if pool] or pools)
    finished = _best_finished(pool)
    for candidate in (_without_jogs(finished), finished):
        for drawing in (_with_roomy_labels(candidate, lifecycle, captions, form), candidate.drawing):
            if drawing is not None and add_lanes(drawing, lifecycle).lanes:
                return drawing
    return pool[0].drawing


def _best_pool(pools: Sequence[list[Candidate]]) -> list[Candidate]:
    """The drafts of the best attempt; of attempts that are about as good, the first."""
    best = max(pool[0].score for pool in pools)
    return next(pool for pool in pools if pool[0].score > best - _ABOUT)


def _attempts(lifecycle: Lifecycle) -> int:
    """How often the search may be made: fewer times when the lifecycle has many arrows."""
    return max(1, min(_MOST_ATTEMPTS, _ATTEMPTED_ARROWS // max(len(lifecycle.arrows), 1)))


def _drafts(graph: Graph, earlier: Sequence[Placement], seed: int, is_hurried: bool) -> list[Candidate]:
    """What the most promising placements look like, the best first."""
    drafts = draft_placements(graph, find_placements(graph, earlier, seed, is_hurried))
    if not drafts:
        raise InternalError("no layout was found that keeps its parts apart")
    return drafts


def draft_placements(graph: Graph, placements: Mapping[Placement, float]) -> list[Candidate]:
    """What placements with these estimated costs look like, the best first; none in which something overlaps."""
    least = min(placements.values())
    drafts: list[Candidate] = []
    for placement, cost in placements.items():
        if cost < least + _POOR:
            grid = build_grid(graph, placement)
            drafts += _candidates(placement, grid, order_elements(grid), _NARROW, _RANK * (cost - least))
    return sorted(drafts, key=lambda draft: -draft.score)


def _best_finished(drafts: Sequence[Candidate]) -> Candidate:
    """The best of the drafts, each finished; of two that are equally good it is the one that the estimate prefers."""
    graph = drafts[0].assembly.grid.graph
    if len(graph.nodes) > MANY_NODES:
        return drafts[0]
    best = _finished(drafts[0])
    for draft in drafts[1 : max(_FEW, _FINISHED_EDGES // max(len(graph.edges), 1))]:
        if _promise(draft) > best.score:
            best = max(best, _finished(draft), key=lambda candidate: candidate.score)
    return best


def _promise(draft: Candidate) -> float:
    """The score that a draft would have without any bend: more cannot come of it."""
    return draft.score + _BEND * draft.quality.bends + _JOG * draft.quality.jogs


def _finished(draft: Candidate) -> Candidate:
    """The draft with as much width as reads best, and its links straight."""
    if not draft.quality.bends:
        return draft
    grid = draft.assembly.grid
    best = draft
    for width_cost in _LOOSE:
        for better in _candidates(draft.placement, grid, draft.order, width_cost, draft.malus, floor=best.score):
            best = better
    return _straightened(best)


def _candidates(
    placement: Placement,
    grid: Grid,
    order: Order,
    width_cost: int,
    malus: float,
    forced: tuple[int, ...] = (),
    start: Columns | None = None,
    jogs: Jogs | None = None,
    floor: float = -math.inf,
) -> list[Candidate]:
    """The one candidate that these make, or none when something in it overlaps, or its score is not above the floor."""
    assembly = assemble(grid, order, width_cost, forced, start, jogs)
    drawing = assembly.drawing()
    quality = measure_unchecked(drawing)
    value = score(quality, _CROSSING / _many(grid.graph, len(grid.graph.edges))) - malus
    value -= _DIRECTION * direction_cost(grid.graph, placement) / _many(grid.graph, len(grid.graph.main_path))
    if grid.graph.lanes:
        torn = lane_breaks(placement, grid.graph.lanes)
        torn += lane_gaps(placement, grid.graph.lanes, assembly.columns.boxes.__getitem__)
        value -= _LANE_BREAK * torn
    else:
        value -= _MAIN_BENT * bent_steps(grid.graph, drawing) / _many(grid.graph, len(grid.graph.main_path))
    # Overlaps come last: to look for them is dear, and most of what is changed in a drawing makes it worse anyhow.
    if value <= floor or find_overlaps(drawing):
        return []
    return [Candidate(placement, order, assembly, drawing, quality, width_cost, malus, value)]


def _straightened(candidate: Candidate) -> Candidate:
    """The candidate with bent links made straight, one after the other, where that is better.

    The shortest bend goes first, and what is straight already stays so: then boxes grow a little, if they may.
    """
    tried: set[int] = set()
    most = min(_MOST_FORCED, _FORCED_EDGES // max(len(candidate.assembly.grid.graph.edges), 1))
    while len(tried) < most:
        bends = _bends(candidate)
        index = next((link for bend, link in bends if 0 < bend < _FAR and link not in tried), None)
        if index is None:
            break
        tried.add(index)
        forced = (*(link for bend, link in bends if bend == 0), index)
        for better in _changed(candidate, forced, floor=candidate.score):
            candidate = better
    return candidate


def _without_jogs(candidate: Candidate) -> Candidate:
    """The candidate with each jog straight, or else wide enough to be seen as a step, where no line crosses for it.

    A step stays on the side on which its jog was, so the rules for them never contradict each other.
    """
    steps: tuple[tuple[Pin, Pin], ...] = ()
    for _ in range(_JOG_ROUNDS):
        bends = _bends(candidate)
        found = tuple(link for bend, link in bends if 0 < bend < LEAST_STEP)
        if not found:
            break
        straight = tuple(link for bend, link in bends if bend == 0)
        wide = (*steps, *(_left_first(candidate, link) for link in found))
        options = [(candidate, steps)]
        floor = candidate.score - _EYESORE * candidate.quality.jogs  # what is not above it is not better without a jog
        for jogs in (Jogs((*straight, *found), steps), Jogs((), wide)):
            options += [(changed, jogs.steps) for changed in _changed(candidate, straight, jogs, floor)]
        options = [option for option in options if option[0].quality.crossings <= candidate.quality.crossings]
        best, steps = max(options, key=lambda option: option[0].score - _EYESORE * option[0].quality.jogs)
        if best is candidate:
            break
        candidate = best
    return candidate


def _with_roomy_labels(
    candidate: Candidate, lifecycle: Lifecycle, captions: Mapping[str, str], form: Form
) -> Drawing | None:
    """The drawing with each label on as few lines as its room allows; none where that changes or spoils something."""
    grid = with_roomy_labels(candidate.assembly, candidate.order, lifecycle, captions, form)
    if grid is None:
        return None
    columns = candidate.assembly.columns
    lines = assign_lines(grid, columns, assign_slots(grid, columns), _target_height(columns))
    drawing = Assembly(grid, columns, lines).drawing()
    is_smaller = fit_scale(drawing.bounds) < fit_scale(candidate.drawing.bounds)
    return None if is_smaller or find_overlaps(drawing) else drawing


def _left_first(candidate: Candidate, link: int) -> tuple[Pin, Pin]:
    """Both pins of a link."""
    ends = ((link, 0), (link, 1))
    pins = candidate.assembly.columns.pins
    return ends if pins[ends[0]] < pins[ends[1]] else (ends[1], ends[0])


def _changed(
    candidate: Candidate, forced: tuple[int, ...], jogs: Jogs | None = None, floor: float = -math.inf
) -> list[Candidate]:
    """The candidate with these links straight, if nothing in it overlaps and its score is above the floor."""
    grid, columns = candidate.assembly.grid, candidate.assembly.columns
    return _candidates(
        candidate.placement, grid, candidate.order, candidate.width_cost, candidate.malus, forced, columns, jogs, floor
    )


def _bends(candidate: Candidate) -> list[tuple[int, int]]:
    """(bend, link index) of all links that do not turn, the straight ones first."""
    pins = candidate.assembly.columns.pins
    links = [link.index for link in candidate.assembly.grid.links if not link.turns]
    return sorted((abs(pins[link, 0] - pins[link, 1]), link) for link in links)


def _many(graph: Graph, count: int) -> int:
    """What divides a fault that any of so many arrows may have: in a very large graph its share is what counts."""
    return max(1, count) if len(graph.nodes) > MOST_SEARCHED else 1


def score(quality: Quality, crossing_cost: float = _CROSSING) -> float:
    """How well a drawing reads; higher is better.

    Text counts most while it is small, then crossings, bends, and the length of the arrows.
    """
    return (
        16 * min(quality.scale, 0.95)
        - 40 * max(READABLE_SCALE - quality.scale, 0)
        - 60 * min(max(READABLE_SCALE - quality.scale, 0), 0.1)
        + 2 * quality.scale
        - crossing_cost * quality.crossings
        - _BEND * quality.bends
        - _JOG * quality.jogs
        - quality.length * quality.scale / 12000
    )


def assemble(
    grid: Grid,
    order: Order,
    width_cost: int,
    forced: Collection[int] = (),
    start: Columns | None = None,
    jogs: Jogs | None = None,
) -> Assembly:
    """A grid in this order with all its coordinates.

    Two legs that no order of slots keeps apart get columns of their own, and the columns are assigned anew. Every such
    rule goes from left to right as the columns stand, so the rules never contradict each other, and the loop ends:
    there are only so many pairs of legs.
    """
    separations: list[tuple[Pin, Pin]] = []
    columns = start
    while True:
        columns = assign_columns(grid, order, width_cost, separations, forced, columns, jogs)
        channels = assign_slots(grid, columns)
        clashes = [clash for channel in channels for clash in channel.clashes]
        if not clashes:
            break
        separations += clashes
    return Assembly(grid, columns, assign_lines(grid, columns, channels, _target_height(columns)))


def _target_height(columns: Columns) -> float:
    """The height at which a drawing of these columns fills its figure."""
    return TARGET_HEIGHT * columns.width / TARGET_WIDTH
