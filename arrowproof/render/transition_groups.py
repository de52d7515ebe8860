"""The transition groups: the closer form of the list, in which each source stands once, before its targets.

Lengths are rem; the stylesheet (``column.css``) holds the same.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol, TypeVar

from arrowproof.model.record import record
from arrowproof.render.ruler import SLACK, Ruler, are_tall
from arrowproof.render.text import text_width

BEAD = 1.15
"""The bead before a target, with the gap behind it."""

_SIZE = 0.94
_LEAST_PAIR, _BOLDEST = 8.6, 500
"""No transition of a list has less width, beside the arrows of its paths in the narrowest column; the most weight."""
_LINE, _TALL_LINE = 1.3, 1.75
_GAP = 1.2
"""Between the sources and the targets."""
_COMMA = ","
_NEXT = 0.36
"""Between a comma and the next target."""
_RULE = 0.07
_MOST = 0.42
"""The share of the width that the sources may take."""


@record
class Row:
    """One transition as listed: both ends as an address names them and as people read them, and the arrow ids of its
    paths."""

    address: tuple[str, str]
    source: str
    target: str
    path: str


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


def list_is_tall(rows: Sequence[Step]) -> bool:
    """Whether the lines of a list of these are higher, since the letters of a name are."""
    return are_tall(name for row in rows for name in (row.source, row.target))


def line_height(rows: Sequence[Step]) -> float:
    """The height of a line in a list of these."""
    return _TALL_LINE if list_is_tall(rows) else _LINE


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
        return pair_lines(row, width, ruler)
    path_width = min(text_width(row.path, 0.84, face="mono") / SLACK, width / 2)
    return max(
        pair_lines(row, width - path_width - _GAP, ruler),
        ruler.lines(row.path, path_width + 0.1, 0.84, face="mono"),
    )


def arrow_leads(row: Step) -> bool:
    """Whether the arrow stands before the target where both ends do not fit on one line.

    It does unless a word of the target may be too long to share a line with it: then it would have one for itself.
    """
    return max(text_width(f"→ {word}", _SIZE, _BOLDEST) for word in row.target.split(" ")) <= _LEAST_PAIR * SLACK


def pair_lines(row: Step, width: float, ruler: Ruler, weight: int = 400) -> int:
    """The lines of both ends of a transition, of which the second may begin with the arrow."""
    target = f"→ {row.target}"
    whole = ruler.lines(f"{row.source} {target}", width, _SIZE, weight)
    if whole == 1 or not arrow_leads(row):
        return whole
    return ruler.lines(row.source, width, _SIZE, weight) + ruler.lines(target, width, _SIZE, weight)


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
