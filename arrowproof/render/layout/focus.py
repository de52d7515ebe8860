"""The focus view: one state in the middle, what leads to it on the left, what it leads to on the right.

It is for models that are too large to be read as a whole. All arrows are level and straight, so that nothing crosses,
and text keeps its full size. A neighbour with arrows to and fro stands once, on one side.
No search and no solver: a view takes a few milliseconds, so that a page can hold one for each state.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from functools import cached_property
from itertools import pairwise

from arrowproof.model.lifecycle import Arrow, Kind, Lifecycle, State
from arrowproof.model.record import record
from arrowproof.render.drawing import ArrowPath, Box, Drawing, Mark, Point, StateBox
from arrowproof.render.layout.assembly import bounds_of, cord_paths
from arrowproof.render.layout.boxes import place_state, with_label
from arrowproof.render.layout.forms import Form
from arrowproof.render.layout.sizes import (
    ICON_ROOM,
    LOOP_HEIGHT,
    LOOP_REACH,
    MARK_RADIUS,
    STATE_LINE,
    STATE_SIZE,
    STATE_WEIGHT,
    BoxSize,
    LabelLimits,
    LabelSize,
    TextBlock,
    even,
    measure_cord,
    measure_label,
    measure_state,
    measure_text,
)
from arrowproof.render.quality import fit_scale, is_read
from arrowproof.render.text import clean_text

LEFT, RIGHT = -1, 1

_LABEL_RISE = 2
"""Between a line and the label above it, which starts right of the bead."""
_BEAD_ROOM = 8
"""What a line needs below it: half of a bead and a little air."""
_LEAD, _BEAD_GAP, _TRAIL = 24, 12, 22
"""From the box on the left to the bead, from the bead to the label, and from the label to the box on the right: there
is room for a head at both ends."""
_RIM = 14
"""Between the outermost line and the corner of the box that it meets."""
_PADDING_X = 16
_LEAST_GAP = 110.0
"""Columns stand this far apart even when no arrow has a label."""
_CORDS = Form(most=100)
"""Where arrows with the same ends share a line, all of them do: a line of its own is what takes room here."""
_CALM_SCALE = 1.0
"""A view that is shown this large need not be set closer."""


@record
class _Setting:
    """How closely a view is set: the widest label and name, the room around a name, the gaps, and where captions stand:
    ``beside`` the last line of their label or under it."""

    label: float
    name: float
    padding: int
    box_gap: int
    row_gap: int
    beside: bool


_SETTINGS = (
    _Setting(label=180, name=200, padding=11, box_gap=30, row_gap=12, beside=False),
    _Setting(label=180, name=160, padding=8, box_gap=14, row_gap=6, beside=False),
    _Setting(label=150, name=130, padding=8, box_gap=12, row_gap=4, beside=False),
    _Setting(label=240, name=180, padding=1, box_gap=6, row_gap=0, beside=True),
    _Setting(label=170, name=140, padding=1, box_gap=6, row_gap=0, beside=True),
    _Setting(label=120, name=110, padding=1, box_gap=6, row_gap=0, beside=True),
)
"""From calm to close; the first that is large enough is taken, else the one that comes out largest."""


@record
class _Row:
    """One line: an arrow with its label, or a cord of several with theirs.

    ``above`` and ``below`` are what it needs on either side.
    """

    arrows: tuple[Arrow, ...]
    label: LabelSize

    @property
    def is_loop(self) -> bool:
        return self.arrows[0].source == self.arrows[0].target

    @property
    def above(self) -> float:
        if self.is_loop:
            return max(self.label.height, LOOP_HEIGHT) / 2 + 2
        return max(self.label.height + _LABEL_RISE, _BEAD_ROOM)

    @property
    def below(self) -> float:
        return max(self.label.height, LOOP_HEIGHT) / 2 + 2 if self.is_loop else _BEAD_ROOM


@record
class _Block:
    """A neighbour with its arrows: a state, or a mark when ``size`` is None, or the self arrows when ``id`` is None.

    ``lines`` are the places of its arrows, and box and rows reach from ``-`` to ``+`` around the middle of these.
    """

    id: str | None
    size: BoxSize | None
    rows: tuple[_Row, ...]
    lines: tuple[float, ...]

    @property
    def half(self) -> float:
        """Half of the height of the box."""
        if self.id is None:
            return 0.0
        if self.size is None:
            return MARK_RADIUS
        inner = (self.lines[-1] - self.lines[0]) / 2 + _RIM if len(self.lines) > 1 else 0.0
        return max(self.size.height / 2, inner)

    @property
    def above(self) -> float:
        """How far the first label reaches above the middle."""
        return self.rows[0].above - self.lines[0]

    @property
    def below(self) -> float:
        return self.rows[-1].below + self.lines[-1]


@record
class _Stack:
    """All that stands on one side; ``middles`` are the blocks' places, the outermost lines as far up as down."""

    side: int
    blocks: tuple[_Block, ...]
    middles: tuple[float, ...]

    @cached_property
    def lines(self) -> tuple[float, ...]:
        return tuple(
            middle + line for middle, block in zip(self.middles, self.blocks, strict=True) for line in block.lines
        )

    @property
    def reach(self) -> float:
        """How far the outermost self arrow or line stands from the middle."""
        edges = [0.0]
        for middle, block in zip(self.middles, self.blocks, strict=True):
            for line, row in zip(block.lines, block.rows, strict=True):
                extent = LOOP_HEIGHT / 2 if row.is_loop else 0.0
                edges += [abs(middle + line) + extent]
        return max(edges)

    @property
    def gap(self) -> float:
        """The width between the box in the middle and the neighbours."""
        widths = [
            (LOOP_REACH if row.is_loop else _LEAD) + _BEAD_GAP + row.label.width + _TRAIL
            for block in self.blocks
            for row in block.rows
        ]
        return even(max([*widths, _LEAST_GAP])) if self.blocks else 0.0

    @property
    def box_width(self) -> float:
        return max((block.size.width for block in self.blocks if block.size is not None), default=0)


def focus_drawing(lifecycle: Lifecycle, state_id: str, captions: Mapping[str, str] | None = None) -> Drawing:
    """The focus view of one state: the state, its arrows, and their other ends; nothing in it overlaps.

    Args:
        lifecycle: any lifecycle whose arrows name states that it has.
        state_id: one of its states.
        captions: a short text beside the label of an arrow (its rung, for example), by arrow id.
    """
    part = _part(lifecycle, state_id)
    view = _View(part, part.states_by_id[state_id], captions or {})
    largest: Drawing | None = None
    for form in view.forms():
        drawing = _best(form)
        if is_read(drawing):
            return drawing
        if largest is None or fit_scale(drawing.bounds) > fit_scale(largest.bounds):
            largest = drawing
    assert largest is not None
    return largest


def _part(lifecycle: Lifecycle, state_id: str) -> Lifecycle:
    """The state with its arrows and their ends: all that there is to draw, however large the lifecycle is."""
    arrows = tuple(arrow for arrow in lifecycle.arrows if state_id in (arrow.source, arrow.target))
    ends = {state_id}.union(*({arrow.source, arrow.target} for arrow in arrows))
    return replace(lifecycle, states=tuple(state for state in lifecycle.states if state.id in ends), arrows=arrows)


def _best(view: _View) -> Drawing:
    """The calmest drawing that is large enough, or the largest of them."""
    drawings: list[Drawing] = []
    for setting in _SETTINGS:
        drawings.append(view.drawing(setting))
        if fit_scale(drawings[-1].bounds) >= _CALM_SCALE:
            return drawings[-1]
    return max(drawings, key=lambda drawing: fit_scale(drawing.bounds))


@record
class _View:
    """What is drawn: a state in a lifecycle that has its arrows and no others.

    ``is_spread`` takes both sides for whatever there is too much of, and ``has_cords`` draws arrows with the same ends
    as one line.
    """

    lifecycle: Lifecycle
    state: State
    captions: Mapping[str, str]
    is_spread: bool = False
    has_cords: bool = False

    def forms(self) -> Iterator[_View]:
        """The ways to draw it, from the one that says each arrow most clearly to the closest one."""
        yield self
        yield replace(self, is_spread=True)
        if any(len(row) > 1 for arrows in (*self.ends.values(), self.loops) for row in _CORDS.lines(arrows)):
            yield replace(self, has_cords=True)
            yield replace(self, has_cords=True, is_spread=True)

    @cached_property
    def ends(self) -> Mapping[str, tuple[Arrow, ...]]:
        """The arrows to and from each neighbour; a mark is named like its arrow, behind its kind and a colon."""
        ends: dict[str, list[Arrow]] = {}
        for arrow in self.lifecycle.arrows:
            if arrow.source != arrow.target:
                other = arrow.source if arrow.target == self.state.id else arrow.target
                mark = f"{'start' if arrow.source is None else 'removal'}:{arrow.id}"
                ends.setdefault(f"state:{other}" if other is not None else mark, []).append(arrow)
        return {name: tuple(arrows) for name, arrows in ends.items()}

    @cached_property
    def loops(self) -> tuple[Arrow, ...]:
        return tuple(arrow for arrow in self.lifecycle.arrows if arrow.source == arrow.target)

    @cached_property
    def order(self) -> Mapping[str, int]:
        return {state.id: number for number, state in enumerate(self.lifecycle.states)}

    def side(self, name: str) -> int:
        """Left for what leads here more often than not; what goes both ways alike stands where the file has it."""
        incoming = sum(arrow.target == self.state.id for arrow in self.ends[name])
        outgoing = len(self.ends[name]) - incoming
        if incoming != outgoing:
            return LEFT if incoming > outgoing else RIGHT
        return LEFT if self.order[name.removeprefix("state:")] < self.order[self.state.id] else RIGHT

    def drawing(self, setting: _Setting) -> Drawing:
        left, right = (self._blocks(side, setting) for side in (LEFT, RIGHT))
        if self.is_spread:
            left, right = _balanced(left, right)
        if self.loops:
            loops = _block(None, None, self._rows(self.loops, setting), setting)
            shorter = left if _stacked(LEFT, left, setting).reach <= _stacked(RIGHT, right, setting).reach else right
            shorter.append(loops)
        stacks = (_stacked(LEFT, left, setting), _stacked(RIGHT, right, setting))
        size = measure_state(self.state)
        half = max([size.height / 2, *(stack.reach + _RIM for stack in stacks if stack.blocks)])
        center = Box(-size.width / 2, -half, size.width, 2 * half)
        return _drawn(self, center, place_state(self.state.id, size, center), stacks)

    def _blocks(self, side: int, setting: _Setting) -> list[_Block]:
        blocks = []
        for name, arrows in self.ends.items():
            if self.side(name) == side:
                kind, _, rest = name.partition(":")
                size = _name_size(self.lifecycle.states_by_id[rest], setting) if kind == "state" else None
                identity = rest if kind == "state" else name
                blocks.append(_block(identity, size, self._rows(arrows, setting), setting))
        return blocks

    def _rows(self, arrows: Sequence[Arrow], setting: _Setting) -> list[_Row]:
        limits = LabelLimits(setting.label, setting.label)
        rows = _CORDS.lines(arrows) if self.has_cords else ((arrow,) for arrow in arrows)
        return [_Row(row, self._label(row, limits, setting.beside)) for row in rows]

    def _label(self, arrows: Sequence[Arrow], limits: LabelLimits, is_beside: bool) -> LabelSize:
        labels = [measure_label(each, self.captions.get(each.id, ""), limits, is_beside) for each in arrows]
        return labels[0] if len(labels) == 1 else measure_cord(labels)


def _balanced(left: list[_Block], right: list[_Block]) -> tuple[list[_Block], list[_Block]]:
    """The blocks with as many on one side as on the other; the last of the longer side move."""
    surplus = (len(left) - len(right)) // 2
    if surplus > 0:
        return left[:-surplus], right + left[-surplus:]
    return (left + right[surplus:], right[:surplus]) if surplus < 0 else (left, right)


def _name_size(state: State, setting: _Setting) -> BoxSize:
    """The box of a neighbour: its name without its note."""
    is_passing = state.kind is Kind.PASSING
    name = state.label if clean_text(state.label) else state.id
    label = measure_text(name, setting.name, STATE_SIZE, STATE_WEIGHT)
    height = 2 * setting.padding + label.height(STATE_LINE)
    sides = height // 2 if is_passing else ICON_ROOM
    width = even(label.width + sides + 2 * _PADDING_X)
    return BoxSize(width, height, _RIM, label, TextBlock((), ()), has_icon=not is_passing)


def _block(name: str | None, size: BoxSize | None, rows: Sequence[_Row], setting: _Setting) -> _Block:
    lines = [0.0]
    for before, row in pairwise(rows):
        lines.append(lines[-1] + before.below + setting.row_gap + row.above)
    middle = lines[-1] / 2
    return _Block(name, size, tuple(rows), tuple(line - middle for line in lines))


def _stacked(side: int, blocks: Sequence[_Block], setting: _Setting) -> _Stack:
    """The blocks below each other: boxes keep apart, and so do the labels beside them."""
    if not blocks:
        return _Stack(side, (), ())
    middles = [0.0]
    for before, block in pairwise(blocks):
        boxes = before.half + setting.box_gap + block.half if before.half and block.half else 0.0
        middles.append(middles[-1] + max(boxes, before.below + setting.row_gap + block.above))
    shift = (middles[0] + blocks[0].lines[0] + middles[-1] + blocks[-1].lines[-1]) / 2
    return _Stack(side, tuple(blocks), tuple(middle - shift for middle in middles))


def _drawn(view: _View, center: Box, focus: StateBox, stacks: Sequence[_Stack]) -> Drawing:
    states: list[StateBox] = [focus]
    marks: list[Mark] = []
    arrows: dict[str, ArrowPath] = {}
    for stack in stacks:
        near = center.x if stack.side == LEFT else center.right
        far = near + stack.side * stack.gap
        for middle, block in zip(stack.middles, stack.blocks, strict=True):
            if block.size is not None and block.id is not None:
                left = far if stack.side == RIGHT else far - stack.box_width
                states.append(
                    place_state(block.id, block.size, Box(left, middle - block.half, stack.box_width, 2 * block.half))
                )
            elif block.id is not None:
                kind = block.id.partition(":")[0]
                marks.append(Mark(block.id, kind, (far + stack.side * MARK_RADIUS, middle), MARK_RADIUS))
            for line, row in zip(block.lines, block.rows, strict=True):
                draw = _loop if row.is_loop else _level
                arrows |= {path.id: path for path in draw(row, near, far, middle + line, view.state.id)}
    places = {state.id: state for state in states}
    drawing = Drawing(
        Box(0, 0, 0, 0),
        tuple(places[state.id] for state in view.lifecycle.states),
        tuple(arrows[arrow.id] for arrow in view.lifecycle.arrows),
        tuple(marks),
    )
    return replace(drawing, bounds=bounds_of(drawing))


def _level(row: _Row, near: float, far: float, y: float, focus: str) -> Sequence[ArrowPath]:
    leaves = row.arrows[0].source == focus
    ends = (near, far) if leaves else (far, near)
    bead = min(near, far) + _LEAD
    corner = (bead + _BEAD_GAP, y - _LABEL_RISE - row.label.height)
    return _labelled(row, ((ends[0], y), (ends[1], y)), (bead, y), corner, RIGHT)


def _loop(row: _Row, near: float, far: float, y: float, _focus: str) -> Sequence[ArrowPath]:
    side = RIGHT if far > near else LEFT
    out, half = near + side * LOOP_REACH, LOOP_HEIGHT / 2
    points = ((near, y - half), (out, y - half), (out, y + half), (near, y + half))
    x = out + _BEAD_GAP if side == RIGHT else out - _BEAD_GAP - row.label.width
    return _labelled(row, points, (out, y), (x, y - row.label.height / 2), side)


def _labelled(row: _Row, points: tuple[Point, ...], bead: Point, corner: Point, side: int) -> Sequence[ArrowPath]:
    if len(row.arrows) > 1:
        return cord_paths([arrow.id for arrow in row.arrows], row.label, points, bead, corner, side)
    return (with_label(ArrowPath(row.arrows[0].id, points, bead), row.label, corner, "start"),)
