"""The content: the texts that take room on a page, whatever its arrangement."""

from __future__ import annotations

from dataclasses import field
from functools import cached_property
from typing import TYPE_CHECKING

from arrowproof.model.lifecycle import Panel
from arrowproof.model.record import record
from arrowproof.render.bar import Bar
from arrowproof.render.drawing import Box
from arrowproof.render.index import Index
from arrowproof.render.key import Key
from arrowproof.render.transition_groups import Row, line_height

if TYPE_CHECKING:
    from arrowproof.render.proof_column import ProofColumn

MAX_LISTED = 60
"""More transitions than this are counted, not listed."""


@record
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
    def longest(self) -> Row:
        """The transition with the longest names, where there is any."""
        return max(self.rows, key=lambda row: len(row.source) + len(row.target))

    @cached_property
    def row_line(self) -> float:
        """The height in rem of a line in the list of transitions."""
        return line_height(self.rows)

    @property
    def panel_columns(self) -> int:
        """The columns of the panels under a drawing."""
        return min(len(self.panels), 3) or 1

    @property
    def can_list(self) -> bool:
        """Whether there are transitions, and few enough to be listed."""
        return 0 < len(self.rows) <= MAX_LISTED
