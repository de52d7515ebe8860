"""Lanes: the states of a group stand next to each other, in rows below each other, with a faint line around them.

Lanes are quiet: arrows cross them, and they are left out where they would make the text too small to read, or where a
name finds no place that is free. The search keeps the groups together (:func:`lane_breaks` is what a placement is
charged for), and :func:`add_lanes` draws the lines round what it has found.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from itertools import groupby, pairwise

from arrowproof.model.lifecycle import Lifecycle
from arrowproof.render.drawing import Box, Drawing, Lane, Point
from arrowproof.render.layout.bands import LANE_GAP, joined_bands
from arrowproof.render.layout.boxes import place_lines
from arrowproof.render.layout.graph import Graph
from arrowproof.render.layout.sizes import TextBlock, measure_text
from arrowproof.render.quality import MANY_STATES

NAME_SIZE, NAME_WEIGHT, NAME_LINE = 13, 500, 17
_MAX_NAME = 180
_PAD = 9.0
"""Between a lane's outline and the boxes in it; boxes that are no neighbours keep more than twice that apart."""
_AIR, _SIDE = 3.0, 6.0
"""The room of a name above and below it, and on both sides."""
_STEP, _NOTCH = 6.0, 18.0
"""From one place that is tried for a name to the next, and from a corner to the first that is not right at it."""

FREE, APART = -1, -2
"""In place of a group's number: a mark, which may stand in any lane, and a state of no group, which stands in none."""


def has_lanes(lifecycle: Lifecycle) -> bool:
    """Whether there are two groups or more of two states or more, in a lifecycle that may be read as a whole."""
    return len(_groups(lifecycle)) > 1 and len(lifecycle.states) <= MANY_STATES


def lane_numbers(graph: Graph) -> tuple[int, ...]:
    """The number of each node's group, FREE or APART."""
    counts = Counter(node.state.group for node in graph.nodes if node.state is not None)
    numbers = {group: number for number, group in enumerate(counts) if group is not None and counts[group] > 1}
    return tuple(numbers.get(node.state.group or "", APART) if node.state is not None else FREE for node in graph.nodes)


def lane_breaks(rows: Iterable[Sequence[int]], numbers: Sequence[int]) -> int:
    """How often a placement tears a group apart: by what stands between its states in a row, or by rows between."""
    breaks = 0
    seen: set[int] = set()
    before: set[int] = set()
    for row in rows:
        runs = [number for number, _ in groupby(numbers[node] for node in row if numbers[node] != FREE)]
        here = set(runs) - {APART}
        breaks += sum(number != APART for number in runs) - len(here) + len((here & seen) - before)
        # A row of marks alone lies inside whatever goes on below it.
        before = here if runs else before
        seen |= here
    return breaks


def lane_gaps(
    rows: Iterable[Sequence[int]], numbers: Sequence[int], extent: Callable[[int], tuple[float, float]]
) -> int:
    """How often a group goes on in the next row beside the part above, so that no outline can join the two.

    ``extent`` gives the left and right edge of a node.
    """
    gaps = 0
    above: dict[int, tuple[float, float]] = {}
    for row in rows:
        here: dict[int, tuple[float, float]] = {}
        for node in row:
            if numbers[node] not in (FREE, APART):
                left, right = extent(node)
                known = here.get(numbers[node], (left, right))
                here[numbers[node]] = (min(left, known[0]), max(right, known[1]))
        for number, (left, right) in here.items():
            if number in above and min(right, above[number][1]) - max(left, above[number][0]) < _PAD:
                gaps += 1
        above = here or above
    return gaps


def add_lanes(drawing: Drawing, lifecycle: Lifecycle) -> Drawing:
    """The drawing with its lanes; as it is when a group is torn apart, or lanes or a name find no place."""
    groups = _groups(lifecycle)
    bands = _bands(drawing, lifecycle, groups)
    if not bands:
        return drawing
    lanes: list[Lane] = []
    tabs: list[Box] = []
    for number, group in enumerate(groups):
        outline = _outline(bands[number])
        name = measure_text(group, _MAX_NAME, NAME_SIZE, NAME_WEIGHT)
        others = [_grown(slab, LANE_GAP) for band in (*bands[:number], *bands[number + 1 :]) for slab in band]
        tab = _tab(drawing, outline, name, [*(_grown(tab, LANE_GAP) for tab in tabs), *others])
        if tab is None:
            return drawing
        tabs.append(tab)
        lines = place_lines(name, tab.x + _SIDE, tab.y + _AIR, NAME_LINE, "start")
        lanes.append(Lane(group, _with_tab(outline, tab), lines))
    points = [point for lane in lanes for point in lane.outline]
    points += [(drawing.bounds.x, drawing.bounds.y), (drawing.bounds.right, drawing.bounds.bottom)]
    left, top = min(x for x, _ in points), min(y for _, y in points)
    bounds = Box(left, top, max(x for x, _ in points) - left, max(y for _, y in points) - top)
    return replace(drawing, bounds=bounds, lanes=tuple(lanes))


def _groups(lifecycle: Lifecycle) -> list[str]:
    counts = Counter(state.group for state in lifecycle.states if state.group is not None)
    return [group for group, count in counts.items() if count > 1]


def _bands(drawing: Drawing, lifecycle: Lifecycle, groups: Sequence[str]) -> list[list[Box]]:
    """The part of the plane that each group takes, one slab for each of its rows, from top to bottom.

    None at all when something else stands in one, or when two of them cannot keep apart.
    """
    owners = [(lifecycle.states_by_id[state.id].group, state.box) for state in drawing.states]
    bands = []
    for group in groups:
        inside = sorted((box for owner, box in owners if owner == group), key=lambda box: box.center[1])
        rows = [_around(list(boxes)) for _, boxes in groupby(inside, key=lambda box: round(box.center[1]))]
        if any(min(above.right, below.right) - max(above.x, below.x) < _PAD for above, below in pairwise(rows)):
            return []
        bands.append(rows)
    bands = joined_bands(bands)
    is_free = all(
        not _touch(slab, box)
        for group, band in zip(groups, bands, strict=False)
        for slab in band
        for owner, box in owners
        if owner != group
    )
    return bands if is_free else []


def _around(boxes: Sequence[Box]) -> Box:
    left, top = min(box.x for box in boxes) - _PAD, min(box.y for box in boxes) - _PAD
    right, bottom = max(box.right for box in boxes) + _PAD, max(box.bottom for box in boxes) + _PAD
    return Box(left, top, right - left, bottom - top)


def _outline(slabs: Sequence[Box]) -> tuple[Point, ...]:
    """The line round the slabs: down on the right, up on the left."""
    if not slabs:
        return ()
    right: list[Point] = [(slabs[0].right, slabs[0].y)]
    left: list[Point] = [(slabs[0].x, slabs[0].y)]
    for above, below in pairwise(slabs):
        right += [(above.right, below.y), (below.right, below.y)] if above.right != below.right else []
        left += [(above.x, below.y), (below.x, below.y)] if above.x != below.x else []
    right.append((slabs[-1].right, slabs[-1].bottom))
    left.append((slabs[-1].x, slabs[-1].bottom))
    return (*right, *reversed(left))


def _tab(drawing: Drawing, outline: Sequence[Point], name: TextBlock, taken: Sequence[Box]) -> Box | None:
    """The first free place for a name with its room: on the upper edge of a lane or under its lower one, from the left.

    A place that makes the drawing no higher comes first.
    """
    width, height = name.width + 2 * _SIDE, name.height(NAME_LINE) + 2 * _AIR
    top, bottom = min(y for _, y in outline), max(y for _, y in outline)
    places = [(top, top - height), (bottom, bottom)]
    if places[0][1] < drawing.bounds.y:
        places.reverse()
    obstacles = [*_obstacles(drawing), *taken]
    for edge, y in places:
        ends = [x for x, at in outline if at == edge]
        x, step = min(ends), _NOTCH
        while x + width <= max(ends):
            tab = Box(x, y, width, height)
            if not any(_touch(tab, box) for box in obstacles):
                return tab
            x, step = x + step, _STEP
    return None


def _with_tab(outline: Sequence[Point], tab: Box) -> tuple[Point, ...]:
    """The outline round a lane and the tab that stands on its upper edge or hangs on its lower one."""
    edge = tab.bottom if min(y for _, y in outline) == tab.bottom else tab.y
    far = tab.y if edge == tab.bottom else tab.bottom
    corners = ((tab.x, edge), (tab.x, far), (tab.right, far), (tab.right, edge))
    if edge == tab.bottom:
        return _without_idle_points((*outline, *corners))
    place = next(n for n, (_, y) in enumerate(outline) if y == edge) + 1
    return _without_idle_points((*outline[:place], *reversed(corners), *outline[place:]))


def _without_idle_points(outline: Sequence[Point]) -> tuple[Point, ...]:
    """The closed line without the points at which it does not turn."""
    distinct = [point for before, point in pairwise((outline[-1], *outline)) if point != before]
    around = zip((distinct[-1], *distinct), distinct, (*distinct[1:], distinct[0]), strict=False)
    return tuple(b for a, b, c in around if not (a[0] == b[0] == c[0] or a[1] == b[1] == c[1]))


def _obstacles(drawing: Drawing) -> Iterator[Box]:
    """Everything that a name must not stand on."""
    yield from (state.box for state in drawing.states)
    yield from (arrow.label_box for arrow in drawing.arrows if arrow.label_box is not None)
    yield from (Box(m.center[0] - m.radius, m.center[1] - m.radius, 2 * m.radius, 2 * m.radius) for m in drawing.marks)
    for arrow in drawing.arrows:
        for (ax, ay), (bx, by) in pairwise(arrow.points):
            yield Box(min(ax, bx) - 1, min(ay, by) - 1, abs(ax - bx) + 2, abs(ay - by) + 2)


def _grown(box: Box, by: float) -> Box:
    return Box(box.x - by, box.y - by, box.width + 2 * by, box.height + 2 * by)


def _touch(a: Box, b: Box) -> bool:
    return a.x < b.right and b.x < a.right and a.y < b.bottom and b.y < a.bottom
