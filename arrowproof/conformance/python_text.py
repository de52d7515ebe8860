"""Text of Python code: expressions as a reader sees them, and chunks as the text that they were written as."""

from __future__ import annotations

import ast
from collections.abc import Sequence

from arrowproof.conformance.pieces import Chunk

MAX_TEXT = 200_000
"""Characters of a string that is multiplied, cut, or replaced as a whole."""
MAX_SHOWN = 2_000
"""Characters of an expression that fills a hole."""
UNSHOWN = "…"
"""What stands for an expression that cannot be written."""
_WRITTEN = ("{", "%", "$", "#", "?")
"""How the placeholders begin that are holes of constant text."""


def written_text(chunks: Sequence[Chunk] | None) -> str | None:
    """The text of chunks that have no holes but the placeholders that are written in it, None when they have any."""
    if chunks is None or any(each.is_hole and not each.text.startswith(_WRITTEN) for each in chunks):
        return None
    return "".join(each.text for each in chunks)


def shown(node: ast.expr | ast.stmt) -> str:
    """Code as it is written, cut where it is long; one that cannot be written, as a huge number, is dots."""
    try:
        text = ast.unparse(node)
    except (ValueError, RecursionError, MemoryError):
        return UNSHOWN
    return text if len(text) <= MAX_SHOWN else text[:MAX_SHOWN] + "…"


def slice_of(node: ast.expr) -> slice | None:
    """The limits of a part that is taken of something, None when they are not written out."""
    if not isinstance(node, ast.Slice):
        return None
    limits = (node.lower, node.upper, node.step)
    found = [number_of(each) if each is not None else None for each in limits]
    is_known = all(number is not None or each is None for each, number in zip(limits, found, strict=True))
    return slice(*found) if is_known and found[2] != 0 else None


def number_of(node: ast.expr) -> int | None:
    """A whole number that is written out, None for anything else."""
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub):
        number = number_of(node.operand)
        return -number if number is not None else None
    return node.value if isinstance(node, ast.Constant) and type(node.value) is int else None
