"""Conditions and values of SQLAlchemy expressions, as SQL: ``Job.status == "done"`` is ``status = 'done'``.

What is not understood is a hole, and as a condition one in parentheses: it may come out true or not.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from arrowproof.conformance.pieces import Chunk
from arrowproof.conformance.python_constants import last_name
from arrowproof.conformance.python_scopes import Scope
from arrowproof.conformance.python_strings import Strings
from arrowproof.conformance.python_text import UNSHOWN, shown
from arrowproof.conformance.sqlalchemy_tables import MappedTable, Members

_SIGNS: dict[type[ast.cmpop], str] = {
    ast.Eq: "=",
    ast.NotEq: "<>",
    ast.Lt: "<",
    ast.LtE: "<=",
    ast.Gt: ">",
    ast.GtE: ">=",
}
_NULLS = {ast.Eq: "IS NULL", ast.NotEq: "IS NOT NULL"}
_LISTS = {"in_": "IN", "notin_": "NOT IN", "not_in": "NOT IN"}
_IS = {
    "is_": "IS",
    "is_not": "IS NOT",
    "isnot": "IS NOT",
    "is_distinct_from": "IS DISTINCT FROM",
    "is_not_distinct_from": "IS NOT DISTINCT FROM",
    "isnot_distinct_from": "IS NOT DISTINCT FROM",
}


FILTERS = frozenset({"where", "filter", "filter_by"})
_LIMITS = frozenset({"limit", "offset", "fetch", "slice"})
_PICKING = FILTERS | _LIMITS | {"with_for_update", "order_by", "scalar_subquery", "as_scalar", "execution_options"}
"""Methods of a SELECT that pick rows among those of the table, and what only puts them in order."""
MAX_CALLS = 200
"""Calls of one statement, with those of what its names stand for."""


def _locks(call: ast.Call) -> bool:
    """Whether a call locks the rows that a SELECT picks until they are written: ``with_for_update()``."""
    is_plain = all(each.arg in ("skip_locked", "nowait", "key_share") for each in call.keywords)
    return last_name(call.func) == "with_for_update" and is_plain and not call.args


@dataclass
class Conditions:
    """Writes the expressions of one scope. ``names`` are those by which the module knows the table."""

    mapped: MappedTable
    names: set[str]
    strings: Strings
    scope: Scope
    active: set[int] = field(default_factory=set)
    """The conditions of names that are being written, by identity."""

    def of_call(self, call: ast.Call) -> Iterator[list[Chunk]]:
        """The conditions that a call of ``where``, ``filter`` or ``filter_by`` adds, each in parentheses."""
        for argument in call.args:
            yield self.condition(argument)
        for keyword in call.keywords:
            if keyword.arg is None:
                yield self._unknown(keyword.value)
            else:
                compared = self._compared(self.quoted(self.mapped.column_of(keyword.arg)), ast.Eq, keyword.value)
                yield self._in_brackets(compared)

    def condition(self, node: ast.expr) -> list[Chunk]:
        """A condition in parentheses."""
        match node:
            case ast.Compare(ops=[operator], comparators=[right]):
                left = self._column(node.left)
                if left is not None and type(operator) in _SIGNS:
                    return self._in_brackets(self._compared(left, type(operator), right))
            case ast.BinOp(op=ast.BitAnd() | ast.BitOr()):
                word = "AND" if isinstance(node.op, ast.BitAnd) else "OR"
                return self._joined(word, [node.left, node.right])
            case ast.UnaryOp(op=ast.Invert()):
                return self._in_brackets([self._text("NOT ", node), *self.condition(node.operand)])
            case ast.Call():
                return self._call(node)
            case ast.Name(id=name):
                binding = self.scope.find(name)
                value = binding.value if binding is not None and not binding.additions else None
                if value is not None and id(value) not in self.active:
                    return self._named(value)
        return self._unknown(node)

    def _named(self, value: ast.expr) -> list[Chunk]:
        """The condition that a name is bound to, which may name itself."""
        self.active.add(id(value))
        try:
            return self.condition(value)
        finally:
            self.active.remove(id(value))

    def _call(self, node: ast.Call) -> list[Chunk]:
        name = last_name(node.func)
        if name in ("and_", "or_") and node.args and not node.keywords:
            return self._joined("AND" if name == "and_" else "OR", node.args)
        if name == "not_" and len(node.args) == 1:
            return self._in_brackets([self._text("NOT ", node), *self.condition(node.args[0])])
        column = self._column(node.func.value) if isinstance(node.func, ast.Attribute) else None
        if column is None:
            return self._unknown(node)
        picked = self._picked(node.args[0]) if name in _LISTS and len(node.args) == 1 else None
        if picked is not None:
            return self._in_brackets([self._text(f"{column} {_LISTS[name]} ", node), *picked])
        elements = self.strings.elements(node.args[0], self.scope) if name in _LISTS and len(node.args) == 1 else None
        if elements is not None and not elements[1]:
            values = [self.value(each) for key, each in elements[0] if key is None]
            chunks = [self._text(f"{column} {_LISTS[name]} (", node)]
            for index, value in enumerate(values):
                chunks += [*([self._text(", ", node)] if index else []), *value]
            return self._in_brackets([*chunks, self._text(")", node)]) if values else self._unknown(node)
        if name in _IS and len(node.args) == 1:
            return self._in_brackets([self._text(f"{column} {_IS[name]} ", node), *self.value(node.args[0])])
        if name == "between" and len(node.args) == 2:
            low, high = map(self.value, node.args)
            return self._in_brackets([self._text(f"{column} BETWEEN ", node), *low, self._text(" AND ", node), *high])
        return self._unknown(node)

    def _joined(self, word: str, nodes: Sequence[ast.expr]) -> list[Chunk]:
        chunks: list[Chunk] = []
        for node in nodes:
            chunks += [*([self._text(f" {word} ", node)] if chunks else []), *self.condition(node)]
        return self._in_brackets(chunks)

    def _compared(self, column: str, operator: type[ast.cmpop], right: ast.expr) -> list[Chunk]:
        if isinstance(right, ast.Constant) and right.value is None and operator in _NULLS:
            return [self._text(f"{column} {_NULLS[operator]}", right)]
        picked = self._picked(right) if operator is ast.Eq else None
        return [self._text(f"{column} {_SIGNS[operator]} ", right), *(self.value(right) if picked is None else picked)]

    def _picked(self, node: ast.expr) -> list[Chunk] | None:
        """``select(Job.id).where(…)``, of one column of the table, as a sub-select; None for any other expression."""
        root, rest = self._select_of(node)
        column = self._column(root.args[0]) if root is not None and len(root.args) == 1 else None
        if column is None or any(last_name(each.func) not in _PICKING for each in rest):
            return None
        chunks = [self._text(f"(SELECT {column} FROM {self.mapped.quoted}", node)]
        terms = [term for each in rest if last_name(each.func) in FILTERS for term in self.of_call(each)]
        for index, term in enumerate(terms):
            chunks += [self._text(" AND " if index else " WHERE ", node), *term]
        chunks += [self._text(" LIMIT 1", node)] if any(last_name(each.func) in _LIMITS for each in rest) else []
        chunks += [self._text(" FOR UPDATE", node)] if self.mapped.has_locks and any(map(_locks, rest)) else []
        return [*chunks, self._text(")", node)]

    def _select_of(self, node: ast.expr) -> tuple[ast.Call | None, list[ast.Call]]:
        """The call of ``select`` or ``query`` that an expression begins with, and those behind it."""
        rest: list[ast.Call] = []
        at: ast.expr | None = node
        while len(rest) < MAX_CALLS:
            if isinstance(at, ast.Name):
                binding = self.scope.find(at.id)
                at = binding.value if binding is not None and not binding.additions else None
            if not isinstance(at, ast.Call):
                break
            if last_name(at.func) in ("select", "query"):
                return at, rest
            rest.insert(0, at)
            at = at.func.value if isinstance(at.func, ast.Attribute) else None
        return None, []

    def _column(self, node: ast.expr) -> str | None:
        """The column of the table that an expression is: ``Job.status``, ``jobs.c.status``, ``jobs.c["status"]``."""
        if isinstance(node, ast.Subscript) and isinstance(node.slice, ast.Constant):
            attribute, owner = str(node.slice.value), node.value
        elif isinstance(node, ast.Attribute):
            attribute, owner = node.attr, node.value
        else:
            return None
        if last_name(owner) in ("c", "columns") and isinstance(owner, ast.Attribute):
            owner = owner.value
        if last_name(owner) == "__table__" and isinstance(owner, ast.Attribute):
            owner = owner.value
        if last_name(owner) == "excluded":
            return f"excluded.{self.quoted(self.mapped.column_of(attribute))}"
        if last_name(owner) not in self.names:
            return None
        return self.quoted(self.mapped.column_of(attribute))

    def value(self, node: ast.expr) -> list[Chunk]:
        """A value: a literal, a column, or a hole."""
        literal = self._literal(node)
        if literal is not None:
            return [self._text(literal, node)]
        column = self._column(node)
        if column is not None:
            return [self._text(column, node)]
        if isinstance(node, ast.Call) and last_name(node.func) == "case" and (branches := _branches(node)):
            return self._case(node, branches)
        return [Chunk(shown(node), getattr(node, "lineno", 1), 0, is_hole=True)]

    def _case(self, node: ast.Call, branches: Sequence[tuple[ast.expr, ast.expr]]) -> list[Chunk]:
        chunks = [self._text("CASE", node)]
        for condition, value in branches:
            chunks += [self._text(" WHEN ", node), *self.condition(condition), self._text(" THEN ", node)]
            chunks += self.value(value)
        for keyword in node.keywords:
            if keyword.arg == "else_":
                chunks += [self._text(" ELSE ", node), *self.value(keyword.value)]
        return [*chunks, self._text(" END", node)]

    def _literal(self, node: ast.expr) -> str | None:
        """A constant as SQL: a literal, a name bound to one, a member of an enum as the state column stores it."""
        match node:
            case ast.Constant(value=None):
                return "NULL"
            case ast.Constant(value=bool(value)):
                return "TRUE" if value else "FALSE"
            case ast.Constant(value=int()):
                return number if (number := shown(node)) != UNSHOWN else None
            case ast.Call() if last_name(node.func) in ("literal", "bindparam") and len(node.args) == 1:
                return self._literal(node.args[0]) if last_name(node.func) == "literal" else None
        text = self.strings.constant(node, self.scope)
        if text is None:
            return None
        if (
            isinstance(node, ast.Attribute)
            and node.attr != "value"
            and self.strings.attribute(node, self.scope) is None
        ):
            # Imported: a member of an enum, or a constant of a module.
            return None if self.mapped.members is not Members.VALUE and text != node.attr else _quoted(text)
        if isinstance(node, ast.Attribute) and node.attr != "value" and isinstance(node.value, ast.Name):
            is_member = node.value.id not in ("self", "cls")
            if is_member and self.mapped.members is Members.NAME:
                text = node.attr
            elif is_member and self.mapped.members is Members.UNKNOWN and text != node.attr:
                return None
        return _quoted(text)

    def quoted(self, column: str) -> str:
        """A column's name as SQL."""
        return column if column.isidentifier() and column.islower() else '"' + column.replace('"', '""') + '"'

    def _unknown(self, node: ast.expr) -> list[Chunk]:
        line = getattr(node, "lineno", 1)
        return self._in_brackets([Chunk(shown(node), line, line, is_hole=True)])

    def _in_brackets(self, chunks: list[Chunk]) -> list[Chunk]:
        line = chunks[0].line if chunks else 1
        return [Chunk("(", line, line), *chunks, Chunk(")", line, line)]

    def _text(self, text: str, node: ast.AST) -> Chunk:
        line = getattr(node, "lineno", 1)
        return Chunk(text, line, line)


def _quoted(text: str) -> str:
    return "'" + text.replace("'", "''") + "'"


def _branches(node: ast.Call) -> list[tuple[ast.expr, ast.expr]]:
    """The pairs of condition and value of ``case((…, …), …)``, none where one of them is not written out."""
    pairs = [(each.elts[0], each.elts[1]) for each in node.args if isinstance(each, ast.Tuple) and len(each.elts) == 2]
    known = len(pairs) == len(node.args) and all(each.arg == "else_" for each in node.keywords)
    return pairs if known else []
