"""Predicates: for one source state, what an expression of a statement may come to.

The expression is a tree of sqlglot (SQLite dialect). A column resolves to the state only where SQLite would resolve it
to the state column of the row that is changed; every other column, parameter or function may be anything. A sub-select
counts where it must speak of the changed row itself: it is tied to it through a unique key, and SQLite evaluates the
whole WHERE before it writes, its writers being alone.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Mapping, Sequence

from sqlglot import exp

from arrowproof.conformance.changed_row import Row
from arrowproof.conformance.names import fold
from arrowproof.conformance.quantifiers import Quantifier, read_quantifier
from arrowproof.conformance.scopes import (
    NOWHERE,
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
from arrowproof.conformance.values import (
    ANYTHING,
    FALSE,
    NOTHING,
    TRUE,
    TRUE_OR_FALSE,
    UNKNOWN,
    Truth,
    Values,
    combine,
    compare,
    conjoin,
    disjoin,
    equality,
    negate,
    order,
    same,
    truth_of,
    value_of,
)

_ORDERS: Mapping[type[exp.Expr], Callable[[float, float], bool]] = {
    exp.LT: operator.lt,
    exp.LTE: operator.le,
    exp.GT: operator.gt,
    exp.GTE: operator.ge,
}
_KEPT: Mapping[str, type] = {"TEXT": str, "VARCHAR": str, "INT": int, "BIGINT": int}
_MOST_DIGITS = 15  # so many are exact, as an integer and as a float

MAX_LOOKS = 1_000
"""Queries looked into for one condition: table expressions that name each other twice double the work each time."""


class Evaluator:
    """Evaluates expressions for one :class:`Row`. Sets only ever grow with ignorance, so nothing possible is lost."""

    def __init__(self, row: Row) -> None:
        self.row = row
        self.looks = 0
        self.column = row.table.column(row.state_column)
        self.labels = self.column.labels
        self.equal = equality(self.column.collation)

    def truth(self, expression: exp.Expr | None, scope: Scope) -> Truth:
        """What a condition may come to; a condition that is not there holds."""
        if expression is None:
            return TRUE
        rule = _TRUTHS.get(type(expression))
        return rule(self, expression, scope) if rule is not None else truth_of(self.value(expression, scope))

    def value(self, expression: exp.Expr | None, scope: Scope) -> Values:
        """What an expression may come to; an expression that is not there is null."""
        if expression is None:
            return NOTHING
        rule = _VALUES.get(type(expression))
        if rule is not None:
            return rule(self, expression, scope)
        condition = _TRUTHS.get(type(expression))
        return value_of(condition(self, expression, scope)) if condition is not None else ANYTHING

    # Conditions

    def _and(self, expression: exp.Expr, scope: Scope) -> Truth:
        return conjoin(self.truth(each, scope) for each in expression.flatten())

    def _or(self, expression: exp.Expr, scope: Scope) -> Truth:
        return disjoin(self.truth(each, scope) for each in expression.flatten())

    def _not(self, expression: exp.Expr, scope: Scope) -> Truth:
        return negate(self.truth(expression.this, scope))

    def _paren(self, expression: exp.Expr, scope: Scope) -> Truth:
        return self.truth(expression.this, scope)

    def _equals(self, expression: exp.Expr, scope: Scope) -> Truth:
        left, right = unwrap(expression.this), unwrap(expression.expression)
        for key, query in ((left, right), (right, left)):
            if isinstance(query, exp.Query):
                return self._membership(key, query, scope)
        quantifier = read_quantifier(right)
        if quantifier is None:
            return self._compare_equal(left, right, scope)
        if quantifier.query is not None and not quantifier.is_all:
            return self._membership(left, quantifier.query, scope)
        return self._quantified(left, quantifier, lambda truth: truth, scope)

    def _differs(self, expression: exp.Expr, scope: Scope) -> Truth:
        quantifier = read_quantifier(unwrap(expression.expression))
        if quantifier is not None:
            return self._quantified(expression.this, quantifier, negate, scope)
        return negate(self._compare_equal(expression.this, expression.expression, scope))

    def _compare_equal(self, left: exp.Expr, right: exp.Expr, scope: Scope) -> Truth:
        """``=``, of whole rows column by column: ``(status, queue) = ('done', 'a')``."""
        rows = [each.expressions for each in (unwrap(left), unwrap(right)) if isinstance(each, exp.Tuple)]
        if len(rows) == 2:
            return conjoin(self._compare_equal(a, b, scope) for a, b in zip(rows[0], rows[1], strict=False))
        return compare(self.value(left, scope), self.value(right, scope), self.equal)

    def _quantified(
        self, left: exp.Expr, quantifier: Quantifier, outcome: Callable[[Truth], Truth], scope: Scope
    ) -> Truth:
        """``= ANY``, ``<> ALL`` and their kin over the elements of an array that can be seen."""
        if quantifier.elements is None:
            return UNKNOWN
        value = self.value(left, scope)
        truths = [outcome(compare(value, self.value(each, scope), self.equal)) for each in quantifier.elements]
        return conjoin(truths) if quantifier.is_all else disjoin(truths)

    def _ordered(self, expression: exp.Expr, scope: Scope) -> Truth:
        return self._compare_order(expression.this, expression.expression, type(expression), scope)

    def _between(self, expression: exp.Expr, scope: Scope) -> Truth:
        value, low, high = expression.this, expression.args["low"], expression.args["high"]

        def lies_within(low: exp.Expr, high: exp.Expr) -> Truth:
            bounds = ((low, exp.GTE), (high, exp.LTE))
            return conjoin(self._compare_order(value, bound, kind, scope) for bound, kind in bounds)

        within = lies_within(low, high)
        return disjoin((within, lies_within(high, low))) if expression.args.get("symmetric") else within

    def _compare_order(self, left: exp.Expr, right: exp.Expr, kind: type[exp.Expr], scope: Scope) -> Truth:
        labels = self.labels if self._is_enum(left, scope) and self._is_enum(right, scope) else ()
        return compare(self.value(left, scope), self.value(right, scope), order(_ORDERS[kind], labels))

    def _is_enum(self, expression: exp.Expr, scope: Scope) -> bool:
        """Whether one side of a comparison is of the state's enum, given that the other side is."""
        expression = unwrap(expression)
        if isinstance(expression, exp.Cast):
            named = str(expression.args["to"].args.get("kind") or "").rpartition(".")[2]
            return fold(named.strip('"')) == self.column.enum
        if isinstance(expression, exp.Column):
            found = scope.resolve(expression)
            return found is not None and found.table is not None and fold(expression.name) == self.column.name
        return isinstance(expression, exp.Literal)

    def _is(self, expression: exp.Expr, scope: Scope) -> Truth:
        """IS, which asks for truth ahead of TRUE and FALSE, and otherwise for sameness."""
        right = unwrap(expression.expression)
        if isinstance(right, exp.Boolean):
            wanted = bool(right.this)
            truth = frozenset[bool | None](each is wanted for each in self.truth(expression.this, scope))
        else:
            truth = same(self.value(expression.this, scope), self.value(right, scope), self.equal)
        return negate(truth) if expression.args.get("negate") else truth

    def _is_not(self, expression: exp.Expr, scope: Scope) -> Truth:
        return negate(self._is(expression, scope))

    def _in(self, expression: exp.Expr, scope: Scope) -> Truth:
        query = expression.args.get("query")
        if query is not None:
            return self._membership(unwrap(expression.this), unwrap(query), scope)
        if expression.args.get("field") is not None or expression.args.get("unnest") is not None:
            return UNKNOWN
        if any(isinstance(item, exp.Values) for item in expression.expressions):
            return UNKNOWN
        return disjoin(self._compare_equal(expression.this, item, scope) for item in expression.expressions)

    def _exists(self, expression: exp.Expr, scope: Scope) -> Truth:
        """EXISTS: false for certain only when the rows asked for are the changed row itself and cannot be there."""
        query = unwrap(expression.this)
        if not isinstance(query, exp.Select) or not self.row.ties_subselects or _always_has_rows(query):
            return TRUE_OR_FALSE
        inner = scope_of_select(query, scope, self.row.table)
        where = query.args.get("where")
        return TRUE_OR_FALSE if self._may_hold(where, inner, self._ties(where, inner)) else FALSE

    # Sub-selects and joins that pick the changed row

    def may_change(self, where: exp.Expr | None, scope: Scope) -> bool:
        """Whether the changed row can pass the WHERE of its UPDATE or DELETE, the tables of a FROM clause included."""
        return self._may_hold(where, scope, self._ties(where, scope) if self.row.ties_subselects else Ties())

    def _membership(self, key: exp.Expr, query: exp.Expr, scope: Scope) -> Truth:
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

    # Values

    def _column(self, expression: exp.Expr, scope: Scope) -> Values:
        assert isinstance(expression, exp.Column)
        name = fold(expression.name)
        found = scope.resolve(expression)
        if found is NOWHERE and not expression.table and expression.name in self.row.strings:
            return Values.of(expression.name)
        if found is None or found is NOWHERE or name != self.row.state_column:
            return ANYTHING
        if found.kind is SourceKind.EXCLUDED:
            return self.row.proposed
        return self.row.state if found.kind is SourceKind.ROW and self.row.state is not None else ANYTHING

    def _literal(self, expression: exp.Expr, _scope: Scope) -> Values:
        text = str(expression.this)
        if expression.args.get("is_string"):
            return Values.of(text)
        # A number with a point or an exponent is text of SQLite's own spelling once a text column holds it.
        return Values.of(int(text)) if text.isdecimal() and len(text) <= _MOST_DIGITS else ANYTHING

    def _boolean(self, expression: exp.Expr, _scope: Scope) -> Values:
        return Values.of(int(bool(expression.this)))

    def _null(self, _expression: exp.Expr, _scope: Scope) -> Values:
        return NOTHING

    def _inner(self, expression: exp.Expr, scope: Scope) -> Values:
        return self.value(expression.this, scope)

    def _arithmetic(self, expression: exp.Expr, scope: Scope) -> Values:
        function: Callable[[int, int], int] = operator.add if isinstance(expression, exp.Add) else operator.sub
        return combine(self.value(expression.this, scope), self.value(expression.expression, scope), function)

    def _negative(self, expression: exp.Expr, scope: Scope) -> Values:
        return combine(Values.of(0), self.value(expression.this, scope), operator.sub)

    def _case(self, expression: exp.Expr, scope: Scope) -> Values:
        """Every branch that can be reached, with its own value; the search ends at a branch that is certain."""
        operand = expression.args.get("this")
        subject = self.value(operand, scope) if operand is not None else None
        result = Values()
        for branch in expression.args["ifs"]:
            if subject is None:
                truth = self.truth(branch.this, scope)
            else:
                truth = compare(subject, self.value(branch.this, scope), self.equal)
            if True in truth:
                result |= self.value(branch.args["true"], scope)
            if truth == TRUE:
                return result
        return result | self.value(expression.args.get("default"), scope)

    def _iif(self, expression: exp.Expr, scope: Scope) -> Values:
        truth = self.truth(expression.this, scope)
        result = Values()
        if True in truth:
            result |= self.value(expression.args["true"], scope)
        if truth != TRUE:
            result |= self.value(expression.args.get("false"), scope)
        return result

    def _coalesce(self, expression: exp.Expr, scope: Scope) -> Values:
        result = Values()
        for each in (expression.this, *expression.expressions):
            value = self.value(each, scope)
            result |= value.without_null()
            if not value.may_be_null:
                return result
        return result | NOTHING

    def _nullif(self, expression: exp.Expr, scope: Scope) -> Values:
        value = self.value(expression.this, scope)
        truth = compare(value, self.value(expression.expression, scope), self.equal)
        kept = Values() if truth == TRUE else value
        return kept | NOTHING if True in truth else kept

    def _cast(self, expression: exp.Expr, scope: Scope) -> Values:
        """A cast that changes nothing: text as TEXT or as an enum, whole numbers as INTEGER."""
        value = self.value(expression.this, scope)
        kind = expression.args["to"]
        kept = _KEPT.get(kind.this.value) if not kind.expressions else None
        if kind.this is exp.DType.USERDEFINED and self.row.grammar.has_routines:
            kept = str
        unchanged = kept is not None and all(each is None or isinstance(each, kept) for each in value.constants)
        return value if unchanged else ANYTHING


def _always_has_rows(query: exp.Select) -> bool:
    """Whether a select could answer with a row although no row passes its WHERE, as an aggregate does."""
    plain = all(isinstance(unwrap(each), exp.Star | exp.Literal | exp.Column | exp.Null) for each in query.expressions)
    return not plain or any(query.args.get(clause) is not None for clause in ("group", "having"))


_Rule = Callable[[Evaluator, exp.Expr, Scope], Truth]
_ValueRule = Callable[[Evaluator, exp.Expr, Scope], Values]

_TRUTHS: Mapping[type[exp.Expr], _Rule] = {
    exp.And: Evaluator._and,
    exp.Or: Evaluator._or,
    exp.Not: Evaluator._not,
    exp.Paren: Evaluator._paren,
    exp.EQ: Evaluator._equals,
    exp.NEQ: Evaluator._differs,
    exp.LT: Evaluator._ordered,
    exp.LTE: Evaluator._ordered,
    exp.GT: Evaluator._ordered,
    exp.GTE: Evaluator._ordered,
    exp.Between: Evaluator._between,
    exp.Is: Evaluator._is,
    exp.NullSafeEQ: Evaluator._is,
    exp.NullSafeNEQ: Evaluator._is_not,
    exp.In: Evaluator._in,
    exp.Exists: Evaluator._exists,
}
_VALUES: Mapping[type[exp.Expr], _ValueRule] = {
    exp.Column: Evaluator._column,
    exp.Literal: Evaluator._literal,
    exp.Boolean: Evaluator._boolean,
    exp.Null: Evaluator._null,
    exp.Paren: Evaluator._inner,
    exp.Add: Evaluator._arithmetic,
    exp.Sub: Evaluator._arithmetic,
    exp.Neg: Evaluator._negative,
    exp.Case: Evaluator._case,
    exp.If: Evaluator._iif,
    exp.Coalesce: Evaluator._coalesce,
    exp.Nullif: Evaluator._nullif,
    exp.Cast: Evaluator._cast,
}
