"""Proposals: what the rows that a statement inserts hold in the state column."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from sqlglot import exp

from arrowproof.conformance.assignments import is_default
from arrowproof.conformance.names import fold
from arrowproof.conformance.predicate import Evaluator
from arrowproof.conformance.scopes import Scope, columns_of, union_branches
from arrowproof.conformance.syntax import MisreadError
from arrowproof.conformance.tables import Table
from arrowproof.conformance.values import ANYTHING, Constant, Values


def proposed_state(tree: exp.Expr, evaluator: Evaluator) -> Values:
    """What the rows that an INSERT proposes hold in the state column.

    Raises:
        MisreadError: the parser does not see the rows or the columns.
    """
    default = evaluator.row.table.column(evaluator.row.state_column).default
    if tree.args.get("default"):
        return default
    source = tree.args.get("expression")
    if not isinstance(source, exp.Values | exp.Query | exp.Tuple):
        raise MisreadError("the parser does not see what it inserts")
    places, width = _places(tree, evaluator.row.table, evaluator.row.state_column)
    if not places:
        return default if places is not None else ANYTHING
    scope = Scope().with_expressions(tree)
    found: list[Values] = []
    for row, inner in _rows_of(source, scope):
        if row is None or (width is not None and len(row) != width):
            return ANYTHING
        found += [default if is_default(row[place]) else evaluator.value(row[place], inner) for place in places]
    constants = frozenset[Constant]().union(*(each.constants for each in found))
    return Values(constants, any(each.open for each in found))


def unnamed_reason(tree: exp.Expr, table: Table, state_column: str) -> str | None:
    """Why the state of a new row is not known though no value of the statement hides it; None when one does."""
    places, _ = ([], None) if tree.args.get("default") else _places(tree, table, state_column)
    unknown = "no CREATE TABLE in the sources says"
    if table.statement is not None and not table.is_known:
        unknown = "the CREATE TABLEs in the sources differ on"
    if places is None and not table.is_known:
        return f"the INSERT names no columns, and {unknown} their order"
    if places == [] and not table.is_known:
        return f"the column is not given, and {unknown} its default"
    if places == []:
        return "the column is not given, and its default is not a constant: give it as a literal"
    return None


def _places(tree: exp.Expr, table: Table, wanted: str) -> tuple[list[int] | None, int | None]:
    """Where in a row to be inserted the state stands (None: not known), and how wide the row must be."""
    target = tree.this
    if isinstance(target, exp.Schema | exp.Tuple):
        names = []
        for each in target.expressions:
            if not isinstance(each, exp.Identifier | exp.Column):
                raise MisreadError("a column of the INSERT is not a plain name")
            names.append(fold(each.name))
        return [place for place, name in enumerate(names) if name == wanted], len(names)
    columns = table.columns
    if not columns or any(column.is_generated for column in columns):
        return None, None
    return [place for place, column in enumerate(columns) if column.name == wanted], len(columns)


def _rows_of(source: exp.Expr, scope: Scope) -> Iterable[tuple[Sequence[exp.Expr] | None, Scope]]:
    """The rows that an INSERT takes from VALUES or a query, as expressions; None for a row that cannot be seen."""
    if isinstance(source, exp.Tuple):
        yield source.expressions, scope
        return
    if isinstance(source, exp.Values):
        for row in source.expressions:
            yield (row.expressions if isinstance(row, exp.Tuple) else [row]), scope
        return
    for branch in union_branches(source):
        columns = columns_of(branch) if isinstance(branch, exp.Select) else None
        # Any column of a query may hold anything: no scope is known in which it could mean the changed row.
        yield columns, Scope(is_select=True)
