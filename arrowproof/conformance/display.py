"""Display: texts and values of untrusted origin, made fit to be read.

Models, SQL files and database contents may hold anything: control characters that drive a terminal, marks that turn
the reading direction, megabytes in one column. What a report shows of them is bounded, says that it is, and holds no
character that acts instead of being read. Escaping for HTML is the template's work, not done here.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Iterable

from arrowproof.model.evidence import Place, Row, Scalar

LINE_LIMIT = 300
"""Characters that one line of free text may have."""
VALUE_LIMIT = 80
"""Characters that one column's value may have."""
BLOCK_LIMIT = 6_000
"""Characters that one block, such as a statement, may have."""

_UNREADABLE = frozenset({"Cc", "Cf", "Co", "Cs", "Zl", "Zp"})
_JOINERS = frozenset("\u200c\u200d")  # words in Persian and several Indian scripts are misspelt without them


def one_line(text: str, limit: int = LINE_LIMIT) -> str:
    """``text`` on one line: white space is collapsed, unreadable characters become ``<U+001B>``, length is bounded."""
    return _bounded(_readable(" ".join(_cut(text, limit).split())), text, limit)


def block(text: str, limit: int = BLOCK_LIMIT) -> str:
    """``text`` with its lines kept, tabs as four spaces, unreadable characters spelled out, length bounded."""
    lines = _cut(text, limit).expandtabs(4).replace("\r\n", "\n").split("\n")
    return _bounded("\n".join(_readable(line) for line in lines), text, limit)


def value_text(value: Scalar) -> str:
    """A column's value as a person reads it: ``null`` for NULL, numbers as they are, text bounded."""
    if value is None:
        return "null"
    return one_line(value, VALUE_LIMIT) if isinstance(value, str) else str(value)


def row_text(row: Row | None) -> str:
    """A row on one line: ``status=pending, attempts=0``; ``no row`` when there is none."""
    if row is None:
        return "no row"
    return ", ".join(f"{one_line(column, VALUE_LIMIT)}={value_text(value)}" for column, value in row)


def places_text(places: Iterable[Place], limit: int = 4) -> str:
    """Places in one phrase, each as ``file:line``: ``a.sql:3, a.sql:9 and 2 more``."""
    names = [one_line(str(place)) for place in dict.fromkeys(places)]
    more = len(names) - limit
    return ", ".join(names[:limit]) + (f" and {more} more" if more > 0 else "")


def _cut(text: str, limit: int) -> str:
    """The part worth looking at: a little over the limit, so that the bound is seen, and never a megabyte."""
    return text[: 2 * limit + 1]


def _readable(text: str) -> str:
    if text.isascii() and text.isprintable():
        return text
    return "".join(
        f"<U+{ord(char):04X}>" if unicodedata.category(char) in _UNREADABLE and char not in _JOINERS else char
        for char in text
    )


def _bounded(shown: str, text: str, limit: int) -> str:
    if len(shown) <= limit and len(text) <= 2 * limit:
        return shown
    return f"{shown[:limit]}… ({len(text):,} characters)"
