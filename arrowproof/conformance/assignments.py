"""Assignments: what a SET list gives to which column."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from sqlglot import exp

from arrowproof.conformance.names import fold
from arrowproof.conformance.syntax import MisreadError


class Assignments:
    """A SET list. Of a column that is set twice, SQLite takes the last assignment; PostgreSQL refuses it."""

    def __init__(self, assignments: Sequence[exp.Expr]) -> None:
        self.expressions: dict[str, exp.Expr | None] = {}
        for each in assignments:
            if not isinstance(each, exp.EQ):
                raise MisreadError("the parser does not see an assignment in the SET list")
            self.expressions.update(_assigned_columns(each.this, each.expression))

    def sets(self, column: str) -> bool:
        """Whether the list names a column."""
        return fold(column) in self.expressions

    def value_of(self, column: str) -> exp.Expr | None:
        """The expression that a column is set to, None when it is only a part of what the column is set to."""
        return self.expressions[fold(column)]


def _assigned_columns(target: exp.Expr, value: exp.Expr) -> Iterable[tuple[str, exp.Expr | None]]:
    """The columns that one assignment sets, with their expressions."""
    if isinstance(target, exp.Bracket | exp.Dot):
        # An element of an array or a field of a composite: the column is set, to something else than the value.
        while isinstance(target, exp.Bracket | exp.Dot):
            target = target.this
        value = exp.Null()
        names = [target.table or target.name] if isinstance(target, exp.Column) else []
        yield from ((fold(name), None) for name in names)
    elif isinstance(target, exp.Column) and not target.table:
        yield fold(target.name), value
    elif isinstance(target, exp.Tuple | exp.Paren):
        columns = target.expressions if isinstance(target, exp.Tuple) else [target.this]
        values = _row_values(value)
        for place, column in enumerate(columns):
            if not isinstance(column, exp.Column):
                raise MisreadError("a column of the SET list is not a plain name")
            yield fold(column.name), values[place] if values is not None and len(values) == len(columns) else None
    else:
        raise MisreadError("a column of the SET list is not a plain name")


def _row_values(value: exp.Expr) -> Sequence[exp.Expr] | None:
    """The values of ``(a, b)`` or ``ROW(a, b)``, None when they come out of a sub-select."""
    is_row = isinstance(value, exp.Anonymous) and value.name.upper() == "ROW"
    return value.expressions if isinstance(value, exp.Tuple) or is_row else None


def is_default(expression: exp.Expr | None) -> bool:
    """Whether an expression is the word DEFAULT."""
    if isinstance(expression, exp.Column) and isinstance(expression.this, exp.Identifier):
        return not expression.this.quoted and not expression.table and expression.name.upper() == "DEFAULT"
    return isinstance(expression, exp.Var) and expression.name.upper() == "DEFAULT"
