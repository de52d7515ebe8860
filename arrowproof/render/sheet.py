"""The sheet: how the parts of a page share one screen.

Everything on a page is sized in rem, and one rem grows with the smaller side of the screen, so that 1440 by 900 is the
tightest screen of those that a page must fit. The sheet is planned for that one: it measures the text of each part,
tries a fixed list of arrangements and takes the one that leaves the drawing largest while the column still fits. What
fits in no arrangement makes the page taller than the screen, which the fit check reports; nothing is cut.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import cache, cached_property, partial
from itertools import product
from math import ceil
from typing import TYPE_CHECKING

from arrowproof.model.lifecycle import Panel
from arrowproof.render.bar import Bar, bar_height
from arrowproof.render.density import DENSITIES, Density
from arrowproof.render.drawing import Box
from arrowproof.render.index import Index, fit_index
from arrowproof.render.key import Key, fit_key
from arrowproof.render.legend import legend_height
from arrowproof.render.quality import READABLE_SCALE
from arrowproof.render.ruler import SLACK, Ruler
from arrowproof.render.text import text_width
from arrowproof.render.transition_groups import BEAD, Row, groups_height, source_width

if TYPE_CHECKING:
    from arrowproof.render.proof_column import ProofColumn
    from arrowproof.render.proof_panel import ProofPanel

    PanelFit = Callable[[float, float], tuple[tuple[ProofPanel, ...], float]]

REM = 14.0
"""CSS px of one rem at 1440 by 900."""

SCREEN_WIDTH = 1440 / REM
SCREEN_HEIGHT = 900 / REM

UNIT = 0.107
"""The most rem that one drawing unit may take: a small drawing does not shout, its states stay below the title."""

SMALLEST_SCALE = 0.93
"""CSS px to the drawing unit at which the smallest text of a drawing, 13 units, has 12 px and reads well."""

MIN_DRAWING = 18.0
"""The least height in rem that a drawing gets, whatever stands around it; the stylesheet holds the same."""

MAX_LISTED = 60
"""More transitions than this are counted, not listed."""

COLUMN = 26.0
"""The width in rem at which the column reads well; a narrower one is for drawings that need the room."""
PROOF_COLUMN = 28.0
"""The same for a column with panels of a proof, whose statements should not break at every second word."""
_COLUMNS = (22.0, 24.0, COLUMN, 28.0, 31.0, 35.0, 40.0, 46.0)

_WIDEST = 31.0
"""The width in rem that the column grows to where the drawing leaves the room."""
_SIDES = 4.0 + 2.0
"""Both page margins and the gap between drawing and column."""
_EDGES = 1.15 + 1.3 + 1.95 + 1.07
"""Page padding, the run line without its text, and the padding of main."""
_LEGEND = 1.67
"""The gap above the legend, its rule and its padding."""
_RUN_LINE = 1.25
_TITLE_SIZES = (2.05, 1.6, 1.22)
_COLUMN_PADDING = 2.1


@dataclass(frozen=True)
class Content:
    """The texts that take room on a page.

    ``captions`` stand under the counts, or under the ``numbers`` of a proof, which also has a ``verdict`` (the word and
    the line under it), an ``origin`` in the run line, and the sentences that say why it is ``stale``. ``legend`` is the
    width of each item, by group, ``facts`` are name and value, and ``bar`` stands above the drawing. ``proof`` is what
    evidence adds to the column, and takes the place of the rows; ``index`` takes what room is left there.
    """

    id: str
    title: str
    summary: str
    captions: tuple[str, ...]
    rows: tuple[Row, ...]
    facts: tuple[tuple[str, str], ...]
    panels: tuple[Panel, ...]
    bounds: Box
    bar: Bar = field(default_factory=Bar)
    proof: ProofColumn | None = None
    index: Index = field(default_factory=Index)
    key: Key = field(default_factory=Key)
    legend: tuple[tuple[tuple[float, ...], ...], ...] = ()
    numbers: tuple[str, ...] = ()
    verdict: tuple[str, str] | None = None
    origin: tuple[str, ...] = ()
    stale: tuple[str, ...] = ()

    @cached_property
    def longest(self) -> str:
        """The longest name of a transition."""
        return max((row.name for row in self.rows), key=len, default="")


@dataclass(frozen=True)
class Sheet:
    """A planned page. Lengths are rem; ``fixed`` is the height of everything above and below the drawing.

    The transitions are listed, by their source where ``is_grouped``, or only counted. ``spare`` is the height that is
    left free, in the column or above the least height of the drawing, whichever is less; it is negative when the page
    will be taller than the screen.
    ``scale`` is CSS px to the drawing unit at 1440 by 900. ``panels`` are those of the proof, with as much as fits, and
    ``index`` is what there is room for in the ``column_room``, the height that nothing else in the column takes.
    """

    title_step: int
    aside: float
    density: Density
    list_columns: int
    list_rows: int
    lists_transitions: bool
    shows_paths: bool
    is_grouped: bool
    source_width: float
    panels_under: bool
    panel_columns: int
    fixed: float
    spare: float
    scale: float
    column_room: float = 0.0
    panels: tuple[ProofPanel, ...] = ()
    index: Index = field(default_factory=Index)
    key: Key = field(default_factory=Key)
    sneak_columns: int = 1

    @property
    def merit(self) -> tuple[bool, float]:
        """What the best arrangement has most of: a column that fits, then a large drawing in a calm setting."""
        legible = min(self.scale, 1.0) - 3 * max(0.0, SMALLEST_SCALE - self.scale) + max(0.0, self.scale - 1.0) / 4
        legible -= 20 * max(0.0, READABLE_SCALE - self.scale)
        costs = self.density.cost + (0.0 if self.shows_paths else 0.08) + (0.05 if self._is_bare else 0.0)
        costs += 0.0 if self.lists_transitions else 0.3
        costs += 0.5 * self.key.lacking
        costs += 0.06 if self.is_grouped else 0.0
        if self.aside < (PROOF_COLUMN if self.panels else COLUMN):
            costs += 0.04
        lacking = max(0.0, -self.spare)
        return (self.spare >= 0, legible - costs - lacking)

    @property
    def _is_bare(self) -> bool:
        """Whether the column would stand mostly empty while panels could fill it."""
        return self.panels_under and self.spare > 0.5 * SCREEN_HEIGHT


@dataclass(frozen=True)
class _Arrangement:
    aside: float
    density: Density
    list_columns: int
    shows_paths: bool
    is_listed: bool
    is_grouped: bool
    panels_under: bool


def plan_sheet(content: Content) -> Sheet:
    """The arrangement of a page that leaves its drawing largest while everything fits, the first of equals."""
    ruler = Ruler()
    panels = cache(partial(_panels_of_proof, content, ruler))  # the same for every arrangement of one width
    sheets = (_arranged(content, how, ruler, panels) for how in _arrangements(content))
    best = max(sheets, key=lambda sheet: sheet.merit)
    room = best.column_room - best.density.gap
    return replace(best, index=fit_index(content.index, best.aside - _COLUMN_PADDING, room, best.density.row, ruler))


def _arrangements(content: Content) -> Iterator[_Arrangement]:
    lists = [(1, True, True, False)]
    if len(content.rows) > 12:
        # What a proof says of a transition stands where there is one column; arrow paths may be left out there too.
        without_paths = (2, 3) if content.proof is not None else (1, 2, 3)
        lists += [(count, False, True, False) for count in without_paths]
        lists += [(1, False, True, True), (1, False, False, False)]
    under = (False, True) if content.panels else (False,)
    for density, (count, shows_paths, is_listed, is_grouped), is_under, aside in product(
        DENSITIES, lists, under, _COLUMNS
    ):
        if aside / count >= 12:
            yield _Arrangement(aside, density, count, shows_paths, is_listed, is_grouped, is_under)


def _arranged(content: Content, how: _Arrangement, ruler: Ruler, fit: PanelFit) -> Sheet:
    title_step, header = _header(content, ruler)
    main = SCREEN_HEIGHT - header
    figure = SCREEN_WIDTH - _SIDES - how.aside
    room = _room(content, how, main, figure, ruler)
    # The column takes the width that the drawing leaves, and what stands around the drawing has less of it then.
    shown = _shown_width(content.bounds, how.aside, max(room, MIN_DRAWING))
    room = min(room, _room(content, how, main, shown, ruler))
    draw = max(room, MIN_DRAWING)
    scale = min(figure / (content.bounds.width + 6), draw / (content.bounds.height + 6), UNIT)
    lists = how.is_listed and 0 < len(content.rows) <= MAX_LISTED
    panels, tallest = fit(how.aside, main)
    column = _column(content, how, lists, ruler)
    left = main - column - how.density.gap
    key = fit_key(content.key, how.aside - _COLUMN_PADDING, left, how.density.row, ruler)
    column += how.density.gap + key.height if key.rows else 0.0
    return Sheet(
        title_step=title_step,
        aside=how.aside,
        density=how.density,
        list_columns=how.list_columns,
        list_rows=max(1, ceil(len(content.rows) / how.list_columns)),
        lists_transitions=lists,
        shows_paths=lists and how.shows_paths,
        is_grouped=lists and how.is_grouped,
        source_width=source_width(content.rows, how.aside - _COLUMN_PADDING),
        panels_under=how.panels_under,
        panel_columns=_panel_columns(content),
        fixed=SCREEN_HEIGHT - draw,
        spare=min(main - max(column, tallest), room - MIN_DRAWING),
        scale=scale * REM,
        column_room=main - column,
        panels=panels,
        key=key,
        sneak_columns=_sneak_columns(content, how.aside - _COLUMN_PADDING, ruler),
    )


def _room(content: Content, how: _Arrangement, main: float, figure: float, ruler: Ruler) -> float:
    """The height that is left for the drawing in a figure of this width."""
    under = _panels_under(content.panels, figure, _panel_columns(content), ruler) if how.panels_under else 0.0
    return main - _LEGEND - legend_height(content.legend, figure) - under - bar_height(content.bar, figure, ruler)


def _panel_columns(content: Content) -> int:
    return min(len(content.panels), 3) or 1


def _shown_width(bounds: Box, aside: float, draw: float) -> float:
    """The width of the figure beside a column of at least ``aside``, as the stylesheet divides it."""
    wide, high = bounds.width + 6, bounds.height + 6
    rest = SCREEN_WIDTH - _SIDES - min(wide / high * draw, wide * UNIT)
    return SCREEN_WIDTH - _SIDES - min(max(aside, rest), max(aside, _WIDEST))


def _header(content: Content, ruler: Ruler) -> tuple[int, float]:
    """The step of the title's size and the height of everything above and below main."""
    width = SCREEN_WIDTH - 4.0 - 2.5 - _figures(content)
    heights = [ruler.lines(content.title, width, size, 600) for size in _TITLE_SIZES]
    step = next((number for number, lines in enumerate(heights) if lines == 1), len(heights) - 1)
    names = heights[step] * _TITLE_SIZES[step] * 1.15
    if content.summary:
        names += 0.15 + 1.4 * ruler.lines(content.summary, width, 1.0)
    origin = sum(text_width(text, 0.86) / SLACK + 1.15 for text in content.origin)
    run = _RUN_LINE * ruler.lines(content.id, SCREEN_WIDTH - 4.0 - 37.0 - origin, 0.83, face="mono")
    return step, _EDGES + run + 1.7 + max(3.4, names) + _stale(content, ruler)


def _figures(content: Content) -> float:
    """The width of the counts at the right of the title, with the verdict before them."""
    sizes = [text_width(caption, 0.86) for caption in content.captions]
    if content.verdict is None:
        return sum(max(size, 2.5) + 2.5 for size in sizes)
    word, share = content.verdict
    verdict = max(text_width(word, 1.72, 600) + 1.9, text_width(share, 0.96, 600))
    numbers = [text_width(number, 1.22, 600) for number in content.numbers]
    return verdict + 1.25 + sum(max(pair) + 2.5 for pair in zip(sizes, numbers, strict=True))


def _stale(content: Content, ruler: Ruler) -> float:
    """The height of the band that says that a proof is stale, with the gap below it."""
    if not content.stale:
        return 0.0
    return 1.4 * ruler.lines(" ".join(content.stale), SCREEN_WIDTH - 4.0 - 2.0, 1.0, 600) + 0.9 + 0.8


def _panels_of_proof(
    content: Content, ruler: Ruler, aside: float, height: float
) -> tuple[tuple[ProofPanel, ...], float]:
    """The panels of the proof as they fit the column, and the height of the tallest one."""
    if content.proof is None:
        return (), 0.0
    from arrowproof.render.proof_heights import fitted_panels

    return fitted_panels(content.proof, aside - _COLUMN_PADDING, height, ruler)


def _column(content: Content, how: _Arrangement, lists: bool, ruler: Ruler) -> float:
    """The height of the column while nothing is chosen."""
    width = how.aside - _COLUMN_PADDING
    parts = [*_reasons(content, width, ruler), _transitions(content, how, width, lists, ruler)]
    if content.facts:
        lines = sum(ruler.lines(value, width - 5.6, 0.84, face="mono") for _, value in content.facts)
        parts.append(1.45 + 1.3 * lines + len(content.facts) * (2 * how.density.row + 0.07))
    if content.panels and not how.panels_under:
        parts.append(
            0.97 + sum(_panel(panel, width, ruler) for panel in content.panels) + 0.9 * len(content.panels[1:])
        )
    return sum(parts) + how.density.gap * (len(parts) - 1)


def _reasons(content: Content, width: float, ruler: Ruler) -> Sequence[float]:
    """The height of what keeps a proof from being better, if there is any of it."""
    if content.proof is None:
        return ()
    from arrowproof.render.proof_heights import reasons_height

    height = reasons_height(content.proof, width, ruler)
    return (height,) if height else ()


def _sneak_columns(content: Content, width: float, ruler: Ruler) -> int:
    """The columns in which the sneak paths of a proof stand."""
    if content.proof is None:
        return 1
    from arrowproof.render.proof_heights import sneak_columns

    return sneak_columns(content.proof, width, ruler)


def _transitions(content: Content, how: _Arrangement, width: float, lists: bool, ruler: Ruler) -> float:
    """The height of the transitions with their heading, and of the sneak paths above them."""
    height = 1.7
    if content.rows and not lists:
        height += _folded(content, how, width, ruler)
    if lists:
        height += 1.95 + _list(content, how, width, ruler)
    if content.proof is not None:
        from arrowproof.render.proof_heights import row_lines, sneaks_height

        height += sneaks_height(content.proof, width, how.density.row, ruler)
        if not lists:
            kept = [row_lines(content.proof.rows[place], width, False, ruler) for place in content.proof.kept]
            height += 1.3 * sum(kept) + len(kept) * (2 * how.density.row + 0.07)
    return height


def _folded(content: Content, how: _Arrangement, width: float, ruler: Ruler) -> float:
    """What stands in place of a list: that it has no room, or how many are listed and one that is chosen."""
    row = 1.3 * ruler.lines(content.longest, width, 0.94) + 2 * how.density.row + 0.07
    return 1.27 + max(1.27, row) + 0.35


def _list(content: Content, how: _Arrangement, width: float, ruler: Ruler) -> float:
    """The height of the list: rows of one grid line share the tallest one's height."""
    if how.is_grouped:
        bead = 0.0 if content.proof is None else BEAD
        return groups_height(content.rows, width, how.density.row, bead, ruler)
    count = how.list_columns
    each = (width - 1.2 * (count - 1)) / count
    if content.proof is None:
        heights = [_row_lines(row, each, how.shows_paths, ruler) for row in content.rows]
    else:
        from arrowproof.render.proof_heights import row_lines

        heights = [row_lines(row, each, how.shows_paths, ruler) for row in content.proof.rows]
    per_column = ceil(len(heights) / count)
    lines = sum(max(heights[start::per_column]) for start in range(per_column))
    return 1.3 * lines + per_column * (2 * how.density.row + 0.07)


def _row_lines(row: Row, width: float, shows_paths: bool, ruler: Ruler) -> int:
    if not shows_paths:
        return ruler.lines(row.name, width, 0.94)
    path_width = min(text_width(row.path, 0.84, face="mono") / SLACK, width / 2)
    return max(
        ruler.lines(row.name, width - path_width - 1.2, 0.94),
        ruler.lines(row.path, path_width + 0.1, 0.84, face="mono"),
    )


def _panels_under(panels: Sequence[Panel], width: float, count: int, ruler: Ruler) -> float:
    each = (width - 2.0 * (count - 1)) / count
    heights = [_panel(panel, each, ruler) for panel in panels]
    lines = [max(heights[start : start + count]) for start in range(0, len(heights), count)]
    return 0.9 + 0.97 + sum(lines) + 0.7 * (len(lines) - 1)


def _panel(panel: Panel, width: float, ruler: Ruler) -> float:
    title = 1.3 * ruler.lines(panel.title, width, 0.94, 600)
    lines = 1.27 * sum(ruler.lines(line, width, 0.9) for line in panel.lines)
    return title + lines + 0.9 * 0.35 * len(panel.lines[1:])
