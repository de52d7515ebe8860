"""Column heights: how high the parts of the column are while nothing is chosen.

All lengths are rem. The numbers are those of ``column.css`` and ``proof.css``.
"""

from __future__ import annotations

from collections.abc import Iterator
from math import ceil
from typing import TYPE_CHECKING

from arrowproof.render.arrangement import Arrangement
from arrowproof.render.content import Content
from arrowproof.render.panel_heights import binding_height, panels_height
from arrowproof.render.ruler import Ruler
from arrowproof.render.transition_groups import BEAD, groups_height, listed_lines, pair_lines

if TYPE_CHECKING:
    from arrowproof.render.proof_column import ProofColumn

_HEADING = 1.7
_CAPTIONS = 1.95
_RULE = 0.07
_MORE, _BELOW_MORE = 1.27, 0.35
"""What stands in place of a list, and the padding below it."""
_LIST_GAP = 1.2


def column_height(content: Content, how: Arrangement, ruler: Ruler) -> float:
    """The height of the column without its key and its index."""
    parts = list(_parts(content, how, ruler))
    return sum(parts) + how.density.gap * (len(parts) - 1)


def kept_rows(content: Content, how: Arrangement, room: float, ruler: Ruler) -> tuple[int, float]:
    """How many of the transitions that do not hold stand in place of a list: those that must, and what has room.

    Also the height of the ones that have room.
    """
    if content.proof is None or how.is_listed:
        return 0, 0.0
    lines = _kept_lines(content.proof, how, ruler)
    count = least = min(how.concession.kept, len(lines))
    while count < len(lines) and _rows_height(lines[least : count + 1], content, how) <= room:
        count += 1
    return count, _rows_height(lines[least:count], content, how)


def _kept_lines(proof: ProofColumn, how: Arrangement, ruler: Ruler) -> list[int]:
    from arrowproof.render.proof_heights import row_lines

    return [row_lines(proof.rows[place], how.width, False, ruler) for place in proof.kept]


def _parts(content: Content, how: Arrangement, ruler: Ruler) -> Iterator[float]:
    given = how.concession
    if content.proof is not None:
        from arrowproof.render.proof_heights import reasons_height

        if reasons := reasons_height(content.proof, how.width, given.reasons, ruler):
            yield reasons
    yield _HEADING + _transitions(content, how, ruler)
    if content.facts:
        yield binding_height(content.facts, how.width, how.density.row, given.folds_binding, ruler)
    if content.panels and not how.panels_under:
        yield panels_height(content.panels, how.width, given.folds_panels, ruler)


def _transitions(content: Content, how: Arrangement, ruler: Ruler) -> float:
    """The height of the transitions, and of the sneak paths above them."""
    height = _CAPTIONS + _list(content, how, ruler) if how.is_listed else _short_list(content, how, ruler)
    if content.proof is not None:
        from arrowproof.render.proof_heights import sneaks_height

        height += sneaks_height(content.proof, how.width, how.density.row, how.concession.sneaks, ruler)
    return height


def _short_list(content: Content, how: Arrangement, ruler: Ruler) -> float:
    """What stands in place of a list: how many are listed, and these.

    They are those that do not hold, or one that is chosen: with a proof, what is chosen takes the place of the column.
    """
    if not content.rows:
        return 0.0
    if content.proof is None:
        lines = [pair_lines(content.longest, how.width, ruler)]
    else:
        lines = _kept_lines(content.proof, how, ruler)[: how.concession.kept]
    return _MORE + _BELOW_MORE + _rows_height(lines, content, how)


def _list(content: Content, how: Arrangement, ruler: Ruler) -> float:
    """The height of the list: rows of one grid line share the tallest one's height."""
    if how.is_grouped:
        bead = 0.0 if content.proof is None else BEAD
        return groups_height(content.rows, how.width, how.density.row, bead, ruler)
    count = how.list_columns
    each = (how.width - _LIST_GAP * (count - 1)) / count
    if content.proof is None:
        lines = [listed_lines(row, each, how.shows_paths, ruler) for row in content.rows]
    else:
        from arrowproof.render.proof_heights import row_lines

        lines = [row_lines(row, each, how.shows_paths, ruler) for row in content.proof.rows]
    per_column = ceil(len(lines) / count)
    return _rows_height([max(lines[start::per_column]) for start in range(per_column)], content, how)


def _rows_height(lines: list[int], content: Content, how: Arrangement) -> float:
    return content.row_line * sum(lines) + len(lines) * (2 * how.density.row + _RULE)
