"""The sheet: how the parts of a page share one screen.

Everything on a page is sized in rem, and the sheet is planned for the tightest screen of those that a page must fit: it
measures the text of each part, tries a fixed list of arrangements and takes the one that leaves the drawing largest
while the column still fits. Where the drawing would be too small to be read, the column gives way. What fits in no
arrangement makes the page taller than the screen, which the fit check reports; nothing is cut.
"""

from __future__ import annotations

from dataclasses import field, replace
from functools import cached_property
from math import ceil
from typing import TYPE_CHECKING

from arrowproof.model.record import record
from arrowproof.render.arrangement import (
    COLUMN,
    COLUMN_PADDING,
    PROOF_COLUMN,
    Arrangement,
    arrangements,
    possible_concessions,
)
from arrowproof.render.bar import bar_height
from arrowproof.render.column_heights import column_height, kept_rows
from arrowproof.render.concession import NONE, Concession
from arrowproof.render.content import Content
from arrowproof.render.density import Density
from arrowproof.render.drawing import Box
from arrowproof.render.index import Index, fit_index
from arrowproof.render.key import Key, KeySettings
from arrowproof.render.legend import legend_height
from arrowproof.render.masthead import Masthead, masthead
from arrowproof.render.panel_heights import panels_height_under
from arrowproof.render.quality import READABLE_SCALE
from arrowproof.render.ruler import Ruler
from arrowproof.render.screen import EDGES, MARGINS, REM, SCREEN_HEIGHT, SCREEN_WIDTH
from arrowproof.render.transition_groups import source_width

if TYPE_CHECKING:
    from arrowproof.render.proof_panel import ProofPanel

UNIT = 0.107
"""The most rem that one drawing unit may take: a small drawing does not shout, its states stay below the title."""

SMALLEST_SCALE = 0.93
"""CSS px to the drawing unit at which the smallest text of a drawing, 13 units, has 12 px and reads well."""

LEAST_SCALE = 0.86
"""The same at which notes of states, 14 units, have 12 px with a hair to spare, and so all text is read."""

MIN_DRAWING = 18.0
"""The least height in rem that a drawing gets, whatever stands around it; the stylesheet holds the same."""

WIDEST = 31.0
"""The width in rem that the column grows to where the drawing leaves the room."""
_SIDES = MARGINS + 2.0
"""Both page margins and the gap between drawing and column."""
_LEGEND = 1.67
"""The gap above the legend, its rule and its padding."""
_ROUNDING = 0.15
"""Of the height of the column: what its lines may be off by, which a browser sets on whole pixels."""


@record
class Sheet:
    """A planned page. Lengths are rem; ``fixed`` is the height of everything above and below the drawing.

    The column is ``aside`` wide, and grows to ``widest`` where the drawing leaves the room. The transitions are listed,
    by their source where ``is_grouped``, or only counted. ``bar`` is the height of the bar, which it keeps whatever
    stands in it. ``spare`` is the height that is left free, in the column or above the least height of the drawing,
    whichever is less; it is negative when the page will be taller than the screen.
    ``scale`` is CSS px to the drawing unit at 1440 by 900. ``panels`` are those of the proof, with as much as fits, and
    ``index`` is what there is room for in the ``column_room``, the height that nothing else in the column takes. Of a
    list that has no room the first ``kept`` of the transitions that do not hold stand there.
    """

    title_step: int
    aside: float
    widest: float
    density: Density
    list_columns: int
    list_rows: int
    lists_transitions: bool
    shows_paths: bool
    is_grouped: bool
    source_width: float
    panels_under: bool
    panel_columns: int
    bar: float
    fixed: float
    spare: float
    scale: float
    column_room: float = 0.0
    panels: tuple[ProofPanel, ...] = ()
    index: Index = field(default_factory=Index)
    key: Key = field(default_factory=Key)
    kept: int = 0
    sneak_columns: int = 1
    concession: Concession = NONE

    @property
    def is_read(self) -> bool:
        """Whether all of it fits and the text of the drawing is large enough."""
        return self.spare >= 0 and self.scale >= LEAST_SCALE

    @property
    def is_whole(self) -> bool:
        """Whether the list and the key have all that they have to have."""
        return not self.key.left_out and (self.lists_transitions or self.concession.may_be_short)

    @property
    def merit(self) -> tuple[bool, float]:
        """What the best arrangement has most of: a column that fits, then a large drawing in a calm setting."""
        legible = min(self.scale, 1.0) - 3 * max(0.0, SMALLEST_SCALE - self.scale) + max(0.0, self.scale - 1.0) / 4
        legible -= 20 * max(0.0, READABLE_SCALE - self.scale)
        costs = self.density.cost + (0.0 if self.shows_paths else 0.08) + self._under_cost
        costs += 0.0 if self.lists_transitions else 0.3
        costs += 0.5 * self.key.lacking
        costs += 0.06 if self.is_grouped else 0.0
        if self.aside < (PROOF_COLUMN if self.panels else COLUMN):
            costs += 0.04
        lacking = max(0.0, -self.spare)
        return (self.spare >= 0, legible - costs - lacking)

    @property
    def _under_cost(self) -> float:
        """What panels under the drawing cost beside its height: two places to read at, and a column that ends early."""
        if not self.panels_under:
            return 0.0
        return 0.05 + (0.05 if self.spare > 0.5 * SCREEN_HEIGHT else 0.0)


def plan_sheet(content: Content) -> Sheet:
    """The arrangement of a page that leaves its drawing largest while everything fits, the first of equals."""
    ruler = Ruler()
    best = _best_sheet(_Plan(content, ruler))
    room = best.column_room - best.density.gap
    return replace(best, index=fit_index(content.index, best.aside - COLUMN_PADDING, room, best.density.row, ruler))


def _best_sheet(plan: _Plan) -> Sheet:
    """The best arrangement under the least concession that lets the drawing be read beside all of the rest.

    Where none does, it is one with the drawing read and the fewest rows of the key left out. For a drawing that is too
    large to be read beside any column only so much is conceded that the page fits.
    """
    found: list[Sheet] = []
    for concession in possible_concessions(plan.content):
        sheets = [plan.arranged(how) for how in arrangements(plan.content, concession)]
        best = max(sheets, key=lambda sheet: sheet.merit)
        found.append(best)
        is_too_large = all(sheet.scale < LEAST_SCALE for sheet in sheets)
        if best.spare >= 0 and (is_too_large or (best.is_read and best.is_whole)):
            return best
    read = [sheet for sheet in found if sheet.is_read]
    return min(read, key=lambda sheet: sheet.key.left_out) if read else max(found, key=lambda sheet: sheet.merit)


@record
class _Figure:
    """The drawing beside a column that grows to ``widest``: its ``room``, and its ``scale`` in rem to the unit."""

    widest: float
    bar: float
    room: float
    scale: float


@record
class _Plan:
    """What every arrangement of one page is made of, each part measured once."""

    content: Content
    ruler: Ruler
    fitted: dict[float, tuple[tuple[ProofPanel, ...], float]] = field(default_factory=dict)
    figures: dict[tuple[float, bool], _Figure] = field(default_factory=dict)
    rooms: dict[tuple[float, bool], tuple[float, float]] = field(default_factory=dict)

    @cached_property
    def masthead(self) -> Masthead:
        return masthead(self.content, self.ruler)

    @cached_property
    def main(self) -> float:
        """The height of the column, and of the figure."""
        return SCREEN_HEIGHT - EDGES - self.masthead.height

    @cached_property
    def _key(self) -> KeySettings:
        return KeySettings(self.content.key, self.ruler)

    def _panels(self, width: float) -> tuple[tuple[ProofPanel, ...], float]:
        """The panels of the proof as they fit a column, and the height of the tallest one."""
        if self.content.proof is None:
            return (), 0.0
        from arrowproof.render.proof_heights import fitted_panels  # a page without evidence need not pay for it

        if width not in self.fitted:
            self.fitted[width] = fitted_panels(self.content.proof, width, self.main, self.ruler)
        return self.fitted[width]

    def arranged(self, how: Arrangement) -> Sheet:
        content, figure = self.content, self._figure(how.aside, how.panels_under)
        draw = max(figure.room, MIN_DRAWING)
        panels, tallest = self._panels(how.width)
        column = column_height(content, how, self.ruler) + _ROUNDING
        key = self._key.fit(how.width, self.main - column - how.density.gap, how.density.row)
        column += how.density.gap + key.height if key.rows else 0.0
        kept, kept_height = kept_rows(content, how, self.main - column, self.ruler)
        column += kept_height
        return Sheet(
            title_step=self.masthead.title_step,
            aside=how.aside,
            widest=figure.widest,
            density=how.density,
            list_columns=how.list_columns,
            list_rows=max(1, ceil(len(content.rows) / how.list_columns)),
            lists_transitions=how.is_listed,
            shows_paths=how.shows_paths,
            is_grouped=how.is_grouped,
            source_width=source_width(content.rows, how.width),
            panels_under=how.panels_under,
            panel_columns=content.panel_columns,
            bar=figure.bar,
            fixed=SCREEN_HEIGHT - draw,
            spare=min(self.main - max(column, tallest), figure.room - MIN_DRAWING),
            scale=figure.scale * REM,
            column_room=self.main - column,
            panels=panels,
            key=key,
            kept=kept,
            sneak_columns=self._sneak_columns(how.width),
            concession=how.concession,
        )

    def _figure(self, aside: float, panels_under: bool) -> _Figure:
        """The figure beside a column that grows, or where the drawing would not be read beside that, does not."""
        if (aside, panels_under) not in self.figures:
            grows, stays = (self._figure_beside(aside, widest, panels_under) for widest in (max(aside, WIDEST), aside))
            is_better = grows.scale * REM < LEAST_SCALE and stays.scale > grows.scale
            self.figures[aside, panels_under] = stays if is_better else grows
        return self.figures[aside, panels_under]

    def _figure_beside(self, aside: float, widest: float, panels_under: bool) -> _Figure:
        """The figure beside a column that takes the width that the drawing leaves.

        What stands around the drawing has less of the width then.
        """
        bounds, width = self.content.bounds, SCREEN_WIDTH - _SIDES - aside
        bar, room = self._around(width, panels_under)
        shown_bar, shown_room = self._around(_shown_width(bounds, aside, widest, room), panels_under)
        room = min(room, shown_room)
        draw = max(room, MIN_DRAWING)
        scale = min(width / (bounds.width + 6), draw / (bounds.height + 6), UNIT)
        return _Figure(widest, max(bar, shown_bar), room, scale)

    def _around(self, width: float, panels_under: bool) -> tuple[float, float]:
        """The height of the bar in a figure of some width, and what is left for the drawing."""
        content = self.content
        if (width, panels_under) not in self.rooms:
            bar = bar_height(content.bar, width, self.ruler)
            under = panels_height_under(content.panels, width, content.panel_columns, self.ruler) if panels_under else 0
            room = self.main - _LEGEND - legend_height(content.legend, width) - under - bar
            self.rooms[width, panels_under] = bar, room
        return self.rooms[width, panels_under]

    def _sneak_columns(self, width: float) -> int:
        """The columns in which the sneak paths of a proof stand."""
        if self.content.proof is None:
            return 1
        from arrowproof.render.proof_heights import sneak_columns

        return sneak_columns(self.content.proof, width, self.ruler)


def _shown_width(bounds: Box, aside: float, widest: float, room: float) -> float:
    """The width of the figure beside a column of ``aside`` that grows to ``widest``, as the stylesheet divides it."""
    wide, high = bounds.width + 6, bounds.height + 6
    rest = SCREEN_WIDTH - _SIDES - min(wide / high * max(room, MIN_DRAWING), wide * UNIT)
    return SCREEN_WIDTH - _SIDES - min(max(aside, rest), widest)
