"""Picks: which sub-selects, joins and table expressions of a statement can pick the changed row.

Such a part counts where it must speak of the changed row itself: it is tied to it through a unique key.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from sqlglot import exp

from arrowproof.conformance.changed_row import Row
from arrowproof.conformance.names import fold
from arrowproof.conformance.scopes import (
    RowSource,
    Scope,
    SourceKind,
    columns_of,
    conjuncts,
    scope_of_select,
    union_branches,
    unwrap,
)
from arrowproof.conformance.ties import Resolved, Ties
from arrowproof.conformance.values import FALSE, TRUE_OR_FALSE, UNKNOWN, Truth

MAX_LOOKS = 1_000
"""Queries looked into for one condition: table expressions that name each other twice double the work each time."""


class Picks:
    """Looks at what picks one :class:`Row`. ``truth`` is what a condition may come to in a scope."""

    def __init__(self, row: Row, truth: Callable[[exp.Expr | None, Scope], Truth]) -> None:
        self.row = row
        self.truth = truth
        self.looks = 0

    def may_change(self, where: exp.Expr | None, scope: Scope) -> bool:
        """Whether the changed row can pass the WHERE of its UPDATE or DELETE, the tables of a FROM clause included."""
        return self._may_hold(where, scope, self._ties(where, scope) if self.row.ties_subselects else Ties())

    def membership(self, key: exp.Expr, query: exp.Expr, scope: Scope) -> Truth:
        """``key IN (query)`` or ``key = (query)``: ruled out when no row of the query can be the changed row."""
        keys = key.expressions if isinstance(key, exp.Tuple) else [key]
        resolved = [self._resolve(unwrap(each), scope) for each in keys]
        is_row = all(kind is SourceKind.ROW for kind, _, _ in resolved)
        if not is_row or not self.row.ties_subselects or not isinstance(query, exp.Query):
            return UNKNOWN
        return UNKNOWN if self._may_pick(query, [name for _, _, name in resolved], scope) else frozenset({False, None})

    def _may_pick(self, query: exp.Query, names: Sequence[str], outer: Scope) -> bool:
        """Whether a query can return the values that the changed row holds in the columns ``names``."""
        self.looks += 1
        if self.looks > MAX_LOOKS:
            return True
        return any(self._branch_may_pick(branch, names, outer) for branch in union_branches(query))

    def _branch_may_pick(self, branch: exp.Expr, names: Sequence[str], outer: Scope) -> bool:
        if not isinstance(branch, exp.Select):
            return True
        inner = scope_of_select(branch, outer, self.row.table)
        picked = columns_of(branch)
        if picked is None or len(picked) != len(names):
            return True
        ties = Ties()
        for name, column in zip(names, picked, strict=True):
            ties.note(inner, self._resolve(column, inner), name)
        return self._may_hold(branch.args.get("where"), inner, ties)

    def _ties(self, where: exp.Expr | None, inner: Scope) -> Ties:
        """The columns that the conditions of a WHERE equate with columns of the changed row."""
        ties = Ties()
        for condition in conjuncts(where):
            if isinstance(condition, exp.EQ):
                sides = [self._resolve(unwrap(side), inner) for side in (condition.this, condition.expression)]
                for side, (kind, _, name) in (sides, reversed(sides)):
                    if kind is SourceKind.ROW:
                        ties.note(inner, side, name)
        return ties

    def _resolve(self, expression: exp.Expr, scope: Scope) -> Resolved:
        """The kind of source, its alias and the column's name, for a plain column."""
        if not isinstance(expression, exp.Column):
            return None, "", ""
        found = scope.resolve(expression)
        return (found.kind, found.alias, fold(expression.name)) if found is not None else (None, "", "")

    def _may_hold(self, where: exp.Expr | None, inner: Scope, ties: Ties) -> bool:
        """Whether a WHERE can hold, given that the tied sources of its scope look at the changed row."""
        rows = [
            alias
            for alias, names in ties.rows.items()
            if any(key <= names for key in self.row.table.keys) and self._is_current(inner.sources[alias])
        ]
        if where is not None and True not in self.truth(where.this, inner.with_rows(rows)):
            return False
        return all(self._derived_may_pick(inner.sources[alias], pairs) for alias, pairs in ties.derived.items())

    def _is_current(self, source: RowSource) -> bool:
        """Whether what is read from a source is still so when the row is written."""
        return source.is_locked or not self.row.in_race

    def _derived_may_pick(self, source: RowSource, pairs: Mapping[str, str]) -> bool:
        """The same for columns that come out of a sub-select in FROM, or of a common table expression."""
        select = source.select_columns(tuple(pairs))
        return select is None or source.scope is None or self._may_pick(select, list(pairs.values()), source.scope)

    def exists(self, query: exp.Expr, scope: Scope) -> Truth:
        """EXISTS: false for certain only when the rows asked for are the changed row itself and cannot be there."""
        if not isinstance(query, exp.Select) or not self.row.ties_subselects or _always_has_rows(query):
            return TRUE_OR_FALSE
        inner = scope_of_select(query, scope, self.row.table)
        where = query.args.get("where")
        return TRUE_OR_FALSE if self._may_hold(where, inner, self._ties(where, inner)) else FALSE


def _always_has_rows(query: exp.Select) -> bool:
    """Whether a select could answer with a row although no row passes its WHERE, as an aggregate does."""
    plain = all(isinstance(unwrap(each), exp.Star | exp.Literal | exp.Column | exp.Null) for each in query.expressions)
    return not plain or any(query.args.get(clause) is not None for clause in ("group", "having"))
