"""Proof heights: how high the parts of a proof column are, and as much of each panel as fits.

All lengths are rem. The numbers are those of ``proof.css``.
"""

from __future__ import annotations

from collections.abc import Iterable
from math import ceil

from arrowproof.render.concession import FOLD
from arrowproof.render.proof_column import ArrowHead, PanelMaker, ProofColumn, ProofRow
from arrowproof.render.proof_panel import LIMITS, KillTexts, ProofPanel, StatementTexts
from arrowproof.render.row_table import RowTable
from arrowproof.render.ruler import SLACK, Ruler, are_tall
from arrowproof.render.rung_lines import RungLine
from arrowproof.render.sneak_arrows import MANY
from arrowproof.render.text import text_width
from arrowproof.render.transition_groups import line_height, pair_lines

GAP = 0.75
"""The least gap between the parts of a panel; where there is room they stand further apart."""

_BACK = 1.35
_HEADING = 1.2 + 0.3
_HAIRLINE = 0.09
_WALKS, _KILLS, _BEAD = 3.6, 5.4, 1.35
_REASON, _TALL_REASON = 1.27, 1.7
_SNEAK_GAP = 1.2
"""Between two columns of sneak paths."""
_SNEAK_FOLD = 1.27 + 0.2
_RUNG_SIGN, _RUNG_WORD = 1.4, 5.2
_LINE_NUMBER = 3.4
_KILL_GAP = 1.0


def reasons_height(column: ProofColumn, width: float, most: int, ruler: Ruler) -> float:
    """The height of the reasons why the verdict is not better, 0 when there are none; ``most`` stand before a fold."""
    if not column.reasons:
        return 0.0
    shown = column.reasons[:most]
    line = _TALL_REASON if are_tall(column.reasons) else _REASON
    lines = sum(ruler.lines(reason, width, 0.9) for reason in shown)
    is_folded = len(shown) < len(column.reasons)
    words = column.folded_reasons[most - 1] if is_folded else column.more_reasons
    more = line * ruler.lines(words, width - (FOLD if is_folded else 0.0), 0.9) + 0.3 if words else 0.0
    return 1.3 + line * lines + 0.3 * len(shown) + more


def sneak_columns(column: ProofColumn, width: float, ruler: Ruler) -> int:
    """Two where there are many sneak paths and each stands on one line of half the width, else one."""
    half = (width - _SNEAK_GAP) / 2
    return 2 if len(column.sneaks) > MANY and max(_sneak_lines(column, half, ruler)) == 1 else 1


def sneaks_height(column: ProofColumn, width: float, padding: float, most: int, ruler: Ruler) -> float:
    """The height of the sneak paths above the transitions; ``padding`` is that above and below a row.

    ``most`` stand before a fold.
    """
    columns, shown = sneak_columns(column, width, ruler), len(column.sneaks[:most])
    lines = _sneak_lines(column, width, ruler)[:shown] if columns == 1 else [1] * ceil(shown / columns)
    fold = _SNEAK_FOLD if shown < len(column.sneaks) else 0.0
    more = 1.3 * ruler.lines(column.more_sneaks, width, 0.9) if column.more_sneaks else 0.0
    return line_height(column.sneaks) * sum(lines) + len(lines) * (2 * padding + _HAIRLINE) + fold + more


def _sneak_lines(column: ProofColumn, width: float, ruler: Ruler) -> list[int]:
    return [pair_lines(row, width - _BEAD - _fate_width(row), ruler, 500) for row in column.sneaks]


def row_lines(row: ProofRow, width: float, shows_tallies: bool, ruler: Ruler) -> int:
    """The lines of a transition in the list, with or without its walks and kills."""
    return pair_lines(row, width - _BEAD - (_WALKS + _KILLS if shows_tallies else 0.0), ruler)


def fitted_panels(
    column: ProofColumn, width: float, height: float, ruler: Ruler
) -> tuple[tuple[ProofPanel, ...], float]:
    """Every panel with as much in it as fits the height, and the height of the tallest one.

    A panel that does not fit with the least in it stands as it is, and is taller.
    """
    heads: dict[tuple[str, str], float] = {}
    for head in column.heads:
        for address, _ in head.choices:
            heads[address] = max(heads.get(address, 0.0), _head_height(head, width, ruler))
    found = [_fitted(make, heads, width, height, ruler) for make in column.panels]
    return tuple(panel for panel, _ in found), max((need for _, need in found), default=0.0)


def _fitted(
    make: PanelMaker, heads: dict[tuple[str, str], float], width: float, height: float, ruler: Ruler
) -> tuple[ProofPanel, float]:
    for limits in LIMITS:
        panel = make(limits)
        need = _panel_height(panel, heads.get(panel.address, 0.0), width, ruler)
        if need <= height:
            break
    return panel, need


def _panel_height(panel: ProofPanel, head: float, width: float, ruler: Ruler) -> float:
    parts = [
        _BACK,
        max(_title_height(panel, width, ruler), head),
        _rungs_height(panel.rungs, width, ruler)
        + _paragraph(panel.problem, width, ruler)
        + _paragraph(panel.way_out, width, ruler),
        _statement_height(panel.statement, width, ruler) + _paragraph(panel.no_statement, width, ruler),
    ]
    if panel.row is not None:
        parts.append(_row_height(panel.row, width, ruler))
    if panel.kills:
        parts.append(_kills_height(panel.kills, width, ruler))
    if panel.processes:
        more = 1.5 if panel.more_processes else 0.0
        lines = sum(_process_lines(process, width, ruler) for process in panel.processes)
        parts.append(_HEADING + 1.42 * lines + _HAIRLINE * len(panel.processes) + more)
    return sum(parts) + GAP * (len(parts) - 1)


def _fate_width(row: ProofRow) -> float:
    return text_width(row.kills, 0.86) / SLACK + 1.2 if row.kills else 0.0


def _paragraph(text: str, width: float, ruler: Ruler) -> float:
    return 1.27 * ruler.lines(text, width, 0.9) + 0.35 if text else 0.0


def _title_height(panel: ProofPanel, width: float, ruler: Ruler) -> float:
    ids = min(text_width(panel.arrows, 0.86, face="mono") / SLACK, width / 2)
    lines = max(
        ruler.lines(panel.label, width - ids - 1.0, 0.96),
        ruler.lines(panel.arrows, ids + 0.1, 0.86, face="mono"),
    )
    return _heading_height(panel.title, width, ruler) + 1.42 * lines


def _heading_height(title: tuple[str, str], width: float, ruler: Ruler) -> float:
    return 1.7 * ruler.lines(" → ".join(title), width, 1.36, 600)


def _head_height(head: ArrowHead, width: float, ruler: Ruler) -> float:
    ids = min(text_width(head.id, 0.86, face="mono") / SLACK, width / 2)
    lines = max(ruler.lines(head.label, width - ids - 1.0, 0.96), ruler.lines(head.id, ids + 0.1, 0.86, face="mono"))
    rows, free = 1, width
    for name in [name for _, name in head.choices] + ([head.more] if head.more else []):
        button = min(text_width(name, 0.86) / SLACK + 1.3 + 0.4, width)
        if button > free:
            rows, free = rows + 1, width
        free -= button
        rows += ruler.lines(name, width - 1.3, 0.86) - 1
    return _heading_height(head.title, width, ruler) + 1.42 * lines + 0.5 + 1.6 * rows + 0.35 * (rows - 1)


def _rungs_height(rungs: Iterable[RungLine], width: float, ruler: Ruler) -> float:
    room = width - _RUNG_SIGN - _RUNG_WORD
    return sum(max(1, ruler.lines(rung.fact, room, 0.92)) * 1.3 + 0.16 for rung in rungs)


def _statement_height(statement: StatementTexts | None, width: float, ruler: Ruler) -> float:
    if statement is None:
        return _HEADING
    place = ruler.lines(statement.place, width - 6.5, 0.84, face="mono")
    rows = sum(_code_rows(line.text, width - _LINE_NUMBER) for line in statement.lines)
    height = 1.2 * place + 0.3 + 0.8 + 1.26 * rows
    return height + sum(
        _paragraph(text, width, ruler) for text in (statement.more, statement.warning, statement.others)
    )


def _code_rows(text: str, width: float) -> int:
    """Rows of a line of code: it goes on in the next row where a word ends, or in a word wider than a row."""
    room, space = max(width * SLACK, 2.0), text_width(" ", 0.84, face="mono")
    rows, used = 1, 0.0
    for word in text.split(" "):
        size = text_width(word, 0.84, face="mono")
        if used and used + size > room:
            rows, used = rows + 1, 0.0
        rows += max(0, ceil(size / room) - 1)
        used += size % room + space
    return rows


def _row_height(row: RowTable, width: float, ruler: Ruler) -> float:
    name, value = 0.32 * width, 0.34 * width
    head = max(
        ruler.lines(row.heading, name - 0.6, 0.86, 500),
        ruler.lines(row.before, value - 0.6, 0.86, 500),
        ruler.lines(row.after, value, 0.86, 500),
    )
    lines = sum(
        max(
            ruler.lines(line.name.text, name - 0.6, 0.84, face="mono"),
            ruler.lines(line.before.text, value - 0.6, 0.84, face="mono"),
            ruler.lines(line.after.text, value, 0.84, 600, face="mono"),
        )
        for line in row.lines
    )
    more = 1.5 if row.more else 0.0
    return 1.42 * (head + lines) + _HAIRLINE * len(row.lines) + more


def _kills_height(kills: Iterable[KillTexts], width: float, ruler: Ruler) -> float:
    room = (width - _KILL_GAP) / 2 - 0.1
    tallest = max(
        1.24
        * (
            ruler.lines(side.heading, room, 0.86, 500)
            + sum(ruler.lines(line, room, 0.86) for line in side.lines)
            + (ruler.lines(side.problem, room, 0.86) if side.problem else 0)
        )
        for side in kills
    )
    return _HEADING + 0.35 + 0.6 + tallest


def _process_lines(process: tuple[str, str, str], width: float, ruler: Ruler) -> int:
    role, _, ended = process
    return max(ruler.lines(role, 0.4 * width - 0.6, 0.86), ruler.lines(ended, 0.4 * width, 0.86))
