"""Sample values: texts that PostgreSQL takes for a value of a type, three that differ, for rows that a bench makes.

What no text is known for gets letters and digits; a key of such a type is an error that names it.
"""

from __future__ import annotations

import re
import secrets
from collections.abc import Iterator, Mapping
from uuid import uuid4

_NUMBERED: Mapping[str, str] = {
    "bit varying": "{:04b}",
    "cidr": "10.0.0.{}",
    "inet": "10.0.0.{}",
    "int4range": "[{0},{0}]",
    "int8range": "[{0},{0}]",
    "interval": "{} seconds",
    "json": '"arrowproof {}"',
    "jsonb": '"arrowproof {}"',
    "macaddr": "02:00:00:00:00:0{}",
    "macaddr8": "02:00:00:00:00:00:00:0{}",
    "numrange": "[{0},{0}]",
    "pg_lsn": "0/{}",
    "time with time zone": "00:00:0{}+00",
    "time without time zone": "00:00:0{}",
    "xid8": "{}",
    "xml": "<arrowproof>{}</arrowproof>",
}
"""Texts by the type, as ``format_type`` has it without what stands in brackets; the number of the row goes into it."""

_NUMBER, _DATE, _BOOLEAN = "N", "D", "B"
"""Categories, as ``pg_type.typcategory`` has them."""

NUMBERS = frozenset({"bigint", "double precision", "integer", "numeric", "oid", "real", "smallint"})
"""The numbers whose highest value in a table can be asked for."""


def bare_type(kind: str) -> str:
    """The type without a length or precision: ``time(3) without time zone`` is ``time without time zone``."""
    return re.sub(r"\(.*?\)", "", kind)


def sample_values(kind: str, category: str, *, labels: tuple[str, ...] = (), above: int = 0) -> Iterator[str]:
    """Three texts of a type, in order.

    Args:
        kind: the type, as ``format_type`` has it.
        category: its category, as ``pg_type`` has it.
        labels: those of an enum.
        above: for a number, what no value may come up to.
    """
    return (_sample(kind, category, labels, above, row) for row in range(1, 4))


def _sample(kind: str, category: str, labels: tuple[str, ...], above: int, row: int) -> str:
    """The text of one row, by its number from 1."""
    bare = bare_type(kind)
    if bare.endswith("[]"):
        element = _sample(bare[:-2], _NUMBER if bare[:-2] in NUMBERS else "S", (), 0, row)
        return '{"' + element.replace('"', '\\"') + '"}'
    if labels:
        return labels[min(row, len(labels)) - 1]
    if bits := re.fullmatch(r"bit\((\d+)\)", kind):
        return f"{row:b}".zfill(int(bits[1]))[-int(bits[1]) :]
    if bare in _NUMBERED:
        return _NUMBERED[bare].format(row)
    if category == _NUMBER:
        return str(above + row)
    if category == _DATE:
        return f"2000-01-0{row}"
    if category == _BOOLEAN:
        return "false"
    return str(uuid4()) if kind == "uuid" else f"{secrets.token_hex(3)}{row - 1}"
