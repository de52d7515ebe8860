"""The transition groups: the closer form of the list, in which each source stands once, before its targets.

Lengths are rem; the stylesheet (``column.css``) holds the same.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol, TypeVar

from arrowproof.model.record import record
from arrowproof.render.ruler import SLACK, Ruler
from arrowproof.render.text import tallness, text_width

BEAD = 1.15
"""The bead before a target, with the gap behind it."""

_SIZE = 0.94
_LINE, _TALL_LINE = 1.3, 1.75
_GAP = 1.2
"""Between the sources and the targets."""
_COMMA = ","
_NEXT = 0.36
"""Between a comma and the next target."""
_RULE = 0.07
_MOST = 0.42
"""The share of the width that the sources may take."""
_TALLEST = 2
"""Names so much taller than Latin ones would meet in lines as close as those."""


@record
class Row:
    """One transition as listed: both ends as an address names them and as people read them, and the arrow ids of its
    paths."""

    address: tuple[str, str]
    source: str
    target: str
    path: str

    @property
    def name(self) -> str:
        """The transition as people read it."""
        return f"{self.source} → {self.target}"


class Step(Protocol):
    """A transition as listed."""

    @property
    def address(self) -> tuple[str, str]:
        """Both ends as an address names them."""

    @property
    def source(self) -> str:
        """Where it begins, as people read it."""

    @property
    def target(self) -> str:
        """Where it ends, as people read it."""


Each = TypeVar("Each", bound=Step)


def by_source(rows: Sequence[Each]) -> tuple[tuple[Each, ...], ...]:
    """The rows of each source together, in the order in which the sources come."""
    groups: dict[str, list[Each]] = {}
    for row in rows:
        groups.setdefault(row.address[0], []).append(row)
    return tuple(map(tuple, groups.values()))


def are_tall(rows: Sequence[Step]) -> bool:
    """Whether the lines of a list of these are higher, since the letters of a name are."""
    return any(tallness(name) >= _TALLEST for row in rows for name in (row.source, row.target))


def line_height(rows: Sequence[Step]) -> float:
    """The height of a line in a list of these."""
    return _TALL_LINE if are_tall(rows) else _LINE


def source_width(rows: Sequence[Step], width: float) -> float:
    """The width of the sources with the gap behind them, in a column of this width."""
    widest = max((text_width(row.source, _SIZE) for row in rows), default=0.0)
    return min(widest / SLACK + _GAP, _MOST * width)


def groups_height(rows: Sequence[Step], width: float, padding: float, bead: float, ruler: Ruler) -> float:
    """The height of the groups in a column.

    Args:
        rows: the transitions.
        width: of the column.
        padding: above and below a group.
        bead: what stands before each target.
        ruler: what measures the names.
    """
    sources = source_width(rows, width)
    height, line = 0.0, line_height(rows)
    for group in by_source(rows):
        source = ruler.lines(group[0].source, sources - _GAP, _SIZE)
        height += line * max(source, _target_lines(group, width - sources, bead, ruler)) + 2 * padding + _RULE
    return height


def listed_lines(row: Row, width: float, shows_paths: bool, ruler: Ruler) -> int:
    """The lines of a transition in a plain list, with or without the arrows of its paths beside it."""
    if not shows_paths:
        return ruler.lines(row.name, width, _SIZE)
    path_width = min(text_width(row.path, 0.84, face="mono") / SLACK, width / 2)
    return max(
        ruler.lines(row.name, width - path_width - _GAP, _SIZE),
        ruler.lines(row.path, path_width + 0.1, 0.84, face="mono"),
    )


def _target_lines(group: Sequence[Step], width: float, bead: float, ruler: Ruler) -> int:
    """Targets follow each other like words; one that is wider than a line stands on lines of its own."""
    room = width * SLACK
    lines, free = 0, 0.0
    for row in group:
        name = row.target if row is group[-1] else row.target + _COMMA
        need = bead + text_width(name, _SIZE)
        if need > free:
            lines += ruler.lines(name, width - bead, _SIZE)
            free = room - need if need <= room else 0.0
        else:
            free -= need
        free -= _NEXT
    return lines
