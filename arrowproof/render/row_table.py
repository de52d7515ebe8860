"""Row tables: a row before and after a step, column by column, with what changed first."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace

from arrowproof.model.evidence import Row, Scalar
from arrowproof.model.record import record
from arrowproof.render.language import Language
from arrowproof.render.text import clean_text

MAX_NAME = 28
MAX_VALUE = 30
"""Characters of a column's name and of its value; what is cut stands whole in ``Value.whole``, within MAX_WHOLE."""

MAX_WHOLE = 400

NOTHING = "–"
"""Stands for a column of a row that is not there."""

_TIME = re.compile(r"(\d{4}-\d\d-\d\d)[T ](\d\d:\d\d:\d\d)(\.\d{1,6})?(?:Z|\+00:00)", re.ASCII)


@record
class Value:
    """A value as it is shown. ``whole`` is all of it where something was cut, else empty."""

    text: str
    whole: str = ""

    def within(self, most: int) -> Value:
        """The same with so many characters of the whole; with none where these say no more than what is shown."""
        if len(self.whole) <= most:
            return self
        return replace(self, whole=f"{self.whole[: most - 1]}…" if most > len(self.text) else "")


@record
class RowLine:
    """One column of a row, before and after."""

    name: Value
    before: Value
    after: Value
    is_changed: bool


@record
class RowTable:
    """A row before and after. The headings say so where there is no row on one side."""

    heading: str
    before: str
    after: str
    lines: tuple[RowLine, ...]
    more: str

    def within(self, most: int) -> RowTable:
        """The same with so many characters of each value that is cut."""
        lines = (
            RowLine(line.name.within(most), line.before.within(most), line.after.within(most), line.is_changed)
            for line in self.lines
        )
        return replace(self, lines=tuple(lines))


def row_table(
    before: Row | None, after: Row | None, language: Language, *, table: str, first: str | None, day: str, columns: int
) -> RowTable | None:
    """The table of a row, None when it is on neither side.

    Args:
        before: the row ahead of the step, None when there was none; ``after`` likewise.
        language: of the headings.
        table: the name of its table, empty when it is not known.
        first: the column that stands first, whether it changed or not.
        day: the date (YYYY-MM-DD) of which times are shown without their date; both sides of a column are shown alike.
        columns: how many columns are shown, those that changed before others; the rest is counted.
    """
    if before is None and after is None:
        return None
    old, new = dict(before or ()), dict(after or ())
    is_changed = changed_columns(before, after)
    names = sorted(is_changed, key=lambda name: (name != first, not is_changed[name]))
    hidden = len(names) - columns
    return RowTable(
        heading=language("proof.row_in", table=table) if table else language("proof.row"),
        before=language("proof.before" if before is not None else "proof.no_row_before"),
        after=language("proof.after" if after is not None else "proof.no_row_after"),
        lines=tuple(
            RowLine(_cut(name, MAX_NAME), *_cells(old, new, name, day), is_changed[name]) for name in names[:columns]
        ),
        more=language.count("proof.more_columns", hidden) if hidden > 0 else "",
    )


def changed_columns(before: Row | None, after: Row | None) -> dict[str, bool]:
    """Every column that a row has on either side of a step, in column order, and whether it changed.

    A column changed when its value or the type of its value did, or when there is none on one side.
    """
    old, new = dict(before or ()), dict(after or ())
    return {name: _differs(old, new, name) for name in [*old, *new]}


def shown_value(value: Scalar, skipped: int = 0) -> Value:
    """A value of a column: ``null`` for NULL, a time without so many ``skipped`` characters of its date.

    With its date a time is told to the second, without it to the millisecond.
    """
    if not isinstance(value, str):
        return Value("null" if value is None else str(value).lower() if isinstance(value, bool) else str(value))
    time = _TIME.fullmatch(value)
    if time is not None:
        date, clock, fraction = time.groups()
        precise = f"{clock}{(fraction or '')[:4]}"
        return Value(precise if skipped > len(date) else f"{date} {clock}"[skipped:], value)
    return _cut(value, MAX_VALUE) if value else Value("''")


def _cells(old: dict[str, Scalar], new: dict[str, Scalar], name: str, day: str) -> tuple[Value, Value]:
    """A column before and after. Of times that are all of one day, or of its year, what they share is not said."""
    sides = [row.get(name) for row in (old, new)]
    dates = [time[1] for side in sides if isinstance(side, str) and (time := _TIME.fullmatch(side))]
    skipped = next((size for size in (len(f"{day} "), len("2030-")) if _begin_like(day, dates, size)), 0)
    before, after = (shown_value(row[name], skipped) if name in row else Value(NOTHING) for row in (old, new))
    return before, after


def _begin_like(day: str, dates: Sequence[str], size: int) -> bool:
    return bool(day) and all(date[:size] == day[:size] for date in dates)


def _cut(text: str, limit: int) -> Value:
    whole = clean_text(text[:MAX_WHOLE])
    return Value(whole) if len(whole) <= limit else Value(f"{whole[: limit - 1]}…", whole)


def _differs(old: dict[str, Scalar], new: dict[str, Scalar], name: str) -> bool:
    if name not in old or name not in new:
        return True
    return old[name] != new[name] or type(old[name]) is not type(new[name])
