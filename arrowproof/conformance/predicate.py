"""Predicates: for one source state, what an expression of a statement may come to.

The expression is a tree of sqlglot (SQLite dialect). A column resolves to the state only where SQLite would resolve it
to the state column of the row that is changed; every other column, parameter or function may be anything. A sub-select
counts where it must speak of the changed row itself: it is tied to it through a unique key, and SQLite evaluates the
whole WHERE before it writes, its writers being alone.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Mapping

from sqlglot import exp

from arrowproof.conformance.changed_row import Row
from arrowproof.conformance.names import fold
from arrowproof.conformance.picks import Picks
from arrowproof.conformance.quantifiers import Quantifier, read_quantifier
from arrowproof.conformance.scopes import (
    NOWHERE,
    Scope,
    SourceKind,
    unwrap,
)
from arrowproof.conformance.values import (
    ANYTHING,
    NOTHING,
    TRUE,
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


class Evaluator:
    """Evaluates expressions for one :class:`Row`. Sets only ever grow with ignorance, so nothing possible is lost."""

    def __init__(self, row: Row) -> None:
        self.row = row
        self.picks = Picks(row, self.truth)
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
                return self.picks.membership(key, query, scope)
        quantifier = read_quantifier(right)
        if quantifier is None:
            return self._compare_equal(left, right, scope)
        if quantifier.query is not None and not quantifier.is_all:
            return self.picks.membership(left, quantifier.query, scope)
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
            return self.picks.membership(unwrap(expression.this), unwrap(query), scope)
        if expression.args.get("field") is not None or expression.args.get("unnest") is not None:
            return UNKNOWN
        if any(isinstance(item, exp.Values) for item in expression.expressions):
            return UNKNOWN
        return disjoin(self._compare_equal(expression.this, item, scope) for item in expression.expressions)

    def _exists(self, expression: exp.Expr, scope: Scope) -> Truth:
        return self.picks.exists(unwrap(expression.this), scope)

    def may_change(self, where: exp.Expr | None, scope: Scope) -> bool:
        """Whether the changed row can pass the WHERE of its UPDATE or DELETE, the tables of a FROM clause included."""
        return self.picks.may_change(where, scope)

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
