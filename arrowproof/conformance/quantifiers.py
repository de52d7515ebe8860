"""Quantifiers: the elements that ``ANY (…)``, ``SOME (…)`` and ``ALL (…)`` range over, where they can be seen."""

from __future__ import annotations

import re

from sqlglot import exp

from arrowproof.conformance.scopes import unwrap
from arrowproof.model.record import record

_PLAIN_ARRAY = re.compile(r"\{[\w\s,-]*\}")


@record
class Quantifier:
    """``elements`` are those of an array, None when they are not in the text; ``query`` gives them where one does."""

    is_all: bool
    elements: tuple[exp.Expr, ...] | None = None
    query: exp.Query | None = None


def read_quantifier(expression: exp.Expr) -> Quantifier | None:
    """The quantifier that an expression is, None when it is none."""
    if isinstance(expression, exp.Any):
        return _over(expression.this, is_all=False)
    name = expression.name.upper() if isinstance(expression, exp.Anonymous) else ""
    is_all = isinstance(expression, exp.All) or name == "ALL"
    if not is_all and name != "SOME":
        return None
    operands = expression.expressions or ([expression.this] if isinstance(expression, exp.All) else [])
    return _over(operands[0], is_all) if len(operands) == 1 else Quantifier(is_all)


def _over(operand: exp.Expr, is_all: bool) -> Quantifier:
    operand = unwrap(operand)
    while isinstance(operand, exp.Cast) and not isinstance(unwrap(operand.this), exp.Query):
        operand = unwrap(operand.this)
    if isinstance(operand, exp.Query):
        return Quantifier(is_all, query=operand)
    if isinstance(operand, exp.Array):
        inner = [unwrap(each) for each in operand.expressions]
        if len(inner) == 1 and isinstance(inner[0], exp.Query):
            return Quantifier(is_all, query=inner[0])
        return Quantifier(is_all, tuple(operand.expressions))
    if isinstance(operand, exp.Literal) and operand.is_string and _PLAIN_ARRAY.fullmatch(operand.this):
        names = [each.strip() for each in operand.this[1:-1].split(",")] if operand.this[1:-1].strip() else []
        return Quantifier(
            is_all, tuple(exp.Null() if each.upper() == "NULL" else exp.Literal.string(each) for each in names)
        )
    return Quantifier(is_all)
