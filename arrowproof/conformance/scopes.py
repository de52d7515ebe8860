"""Scopes: which table a column in a statement belongs to, by SQLite's rules of name resolution.

A scope holds the row sources of one SELECT, UPDATE or DELETE under their aliases and knows the scope around it. Where
the sources do not say which of them has a column, the answer is "not known", and the column may be anything.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import field, replace
from enum import StrEnum
from types import MappingProxyType

from sqlglot import exp

from arrowproof.conformance.names import fold
from arrowproof.conformance.tables import Table
from arrowproof.model.record import record


class SourceKind(StrEnum):
    """What a row source is: the changed row, another look at the bound table, an upsert's proposed row, or else."""

    ROW = "row"
    TABLE = "table"
    EXCLUDED = "excluded"
    DERIVED = "derived"
    OTHER = "other"


@record
class RowSource:
    """One source of rows under its alias (lower case). ``query`` and ``scope`` are those of a derived table."""

    kind: SourceKind
    alias: str
    table: Table | None = None
    query: exp.Query | None = None
    scope: Scope | None = None
    names: tuple[str, ...] = ()
    is_locked: bool = False
    """Whether the rows that are read from it stay as they are until the transaction ends."""

    def owns(self, name: str) -> bool | None:
        """Whether the source has a column of that name, None when that is not known."""
        if self.kind in (SourceKind.ROW, SourceKind.TABLE, SourceKind.EXCLUDED) and self.table is not None:
            return self.table.owns(name)
        return None if self.output_names is None else name in self.output_names

    @property
    def output_names(self) -> tuple[str, ...] | None:
        """The names of a derived table's columns, None when they are not plain to see."""
        if self.names:
            return self.names
        first = next(union_branches(self.query), None) if self.query is not None else None
        if not isinstance(first, exp.Select):
            return None
        if columns_of(first) is None:
            return self._names_of_star(first)
        return tuple(fold(each.alias_or_name) for each in first.expressions)

    def _names_of_star(self, select: exp.Select) -> tuple[str, ...] | None:
        """The names of a star that stands alone and means the columns of one source."""
        item = _starred(select)
        if item is None or self.scope is None or self.table is None:
            return None
        source = _named_source(item, fold(item.alias_or_name), self.scope, self.table)
        if source.kind is SourceKind.TABLE:
            return tuple(column.name for column in self.table.columns) or None
        return source.output_names

    def select_columns(self, names: Sequence[str]) -> exp.Query | None:
        """The derived table's query cut down to the columns ``names``, None when it cannot be."""
        starred = self._select_from_star(names)
        if starred is not None:
            return starred
        outputs = self.output_names
        if self.query is None or outputs is None or any(outputs.count(name) != 1 for name in names):
            return None
        places = [outputs.index(name) for name in names]
        query = self.query.copy()
        for branch in union_branches(query):
            picked = columns_of(branch) if isinstance(branch, exp.Select) else None
            if picked is None or len(picked) != len(outputs):
                return None
            branch.set("expressions", [branch.expressions[place] for place in places])
        return query

    def _select_from_star(self, names: Sequence[str]) -> exp.Query | None:
        """The same for a query that returns every column of one of its sources, under their own names."""
        item = _starred(self.query) if isinstance(self.query, exp.Select) and not self.names else None
        if item is None or not isinstance(self.query, exp.Select):
            return None
        query = self.query.copy()
        query.set("expressions", [exp.column(name, table=item.alias_or_name, quoted=True) for name in names])
        return query


NOWHERE = RowSource(SourceKind.OTHER, "")
"""No source has the column, for certain."""


@record
class Scope:
    """The sources that a name can mean. ``is_blurred``: a join merges columns, so that a bare name is not certain."""

    sources: Mapping[str, RowSource] = field(default_factory=lambda: MappingProxyType({}))
    parent: Scope | None = None
    expressions: Mapping[str, RowSource] = field(default_factory=lambda: MappingProxyType({}))
    is_blurred: bool = False
    is_select: bool = False

    def resolve(self, column: exp.Column) -> RowSource | None:
        """The source of a column, None when that is not certain, :data:`NOWHERE` when there is none."""
        qualifier, name = fold(column.table), fold(column.name)
        scope: Scope | None = self
        in_select = False
        while scope is not None:
            if qualifier and qualifier in scope.sources:
                return scope.sources[qualifier]
            if not qualifier and scope.sources:
                owned = {alias: source.owns(name) for alias, source in scope.sources.items()}
                certain = [scope.sources[alias] for alias, owns in owned.items() if owns]
                if certain:
                    return certain[0] if len(certain) == 1 and not scope.is_blurred else None
                if None in owned.values():
                    return None
            in_select = in_select or scope.is_select
            scope = scope.parent
        return None if qualifier or in_select else NOWHERE

    def with_rows(self, aliases: Sequence[str]) -> Scope:
        """The same scope in which these sources are the changed row."""
        tied = {alias: replace(self.sources[alias], kind=SourceKind.ROW) for alias in aliases}
        return replace(self, sources={**self.sources, **tied})

    def with_expressions(self, statement: exp.Expr) -> Scope:
        """The same scope, in which the common table expressions of a statement are known by their names."""
        clause = statement.args.get("with_")
        if clause is None:
            return self
        # One that is recursive, or that names itself or a later one, is known by name only.
        known = dict(self.expressions)
        known.update((fold(each.alias), RowSource(SourceKind.OTHER, fold(each.alias))) for each in clause.expressions)
        for each in clause.expressions:
            if isinstance(each.this, exp.Query) and not clause.args.get("recursive"):
                alias = fold(each.alias)
                names = tuple(fold(name.name) for name in each.args["alias"].args.get("columns") or ())
                scope = Scope(expressions=dict(known), is_select=True)
                known[alias] = RowSource(SourceKind.DERIVED, alias, query=each.this, scope=scope, names=names)
        return replace(self, expressions=known)


def scope_of_select(select: exp.Select, outer: Scope, table: Table) -> Scope:
    """The scope inside a SELECT that stands in the scope ``outer``."""
    scope = Scope(parent=outer, expressions=outer.expressions, is_select=True).with_expressions(select)
    scope = add_sources(scope, select.args.get("from_"), select.args.get("joins") or (), table)
    locks = select.args.get("locks") or ()
    locked = {alias: replace(each, is_locked=_locks(locks, alias)) for alias, each in scope.sources.items()}
    return replace(scope, sources=locked) if locks else scope


def _locks(locks: Sequence[exp.Expr], alias: str) -> bool:
    """Whether FOR UPDATE, NO KEY UPDATE or SHARE locks the rows of a source; FOR KEY SHARE lets them be updated."""
    for lock in locks:
        only_key = not lock.args.get("update") and lock.args.get("key")
        named = [fold(each.name) for each in lock.expressions or ()]
        if not only_key and (not named or alias in named):
            return True
    return False


def add_sources(scope: Scope, clause: exp.Expr | None, joins: Sequence[exp.Join], table: Table) -> Scope:
    """The scope with the sources of a FROM clause and its joins. An alias that is taken twice means neither."""
    item = clause.this if isinstance(clause, exp.From) else clause
    found = list(_sources_in(item, scope, table)) if item is not None else []
    every_join = [*joins, *(clause.find_all(exp.Join) if clause is not None else ())]
    for join in joins:
        found += _sources_in(join.this, scope, table)
    sources = dict(scope.sources)
    for source in found:
        taken = source.alias in sources
        sources[source.alias] = RowSource(SourceKind.OTHER, source.alias) if taken else source
    merges = any(
        join.args.get("using") or join.method == "NATURAL" or join.side in ("RIGHT", "FULL") for join in every_join
    )
    return replace(scope, sources=sources, is_blurred=scope.is_blurred or merges)


def _sources_in(item: exp.Expr, scope: Scope, table: Table) -> Iterator[RowSource]:
    """The sources that one item of a FROM clause stands for, with those that are joined to it."""
    alias = fold(item.alias_or_name)
    inner = unwrap(item)
    if isinstance(item, exp.Table) and isinstance(item.this, exp.Identifier):
        yield _named_source(item, alias, scope, table)
    elif isinstance(item, exp.Subquery) and isinstance(inner, exp.Query) and alias:
        columns = item.args["alias"].args.get("columns") or ()
        names = tuple(fold(name.name) for name in columns)
        outer = Scope(expressions=scope.expressions, is_select=True)
        yield RowSource(SourceKind.DERIVED, alias, table, query=inner, scope=outer, names=names)
    else:
        yield RowSource(SourceKind.OTHER, alias or f"({id(item)})")
    for join in item.args.get("joins") or ():
        yield from _sources_in(join.this, scope, table)


def _named_source(item: exp.Table, alias: str, scope: Scope, table: Table) -> RowSource:
    name, schema = fold(item.name), fold(item.db)
    expression = scope.expressions.get(name) if not schema else None
    alias_clause = item.args.get("alias")
    if alias_clause is not None and alias_clause.args.get("columns"):
        return RowSource(SourceKind.OTHER, alias)  # its columns have other names here
    if expression is not None:
        return replace(expression, alias=alias, table=table)
    if name == table.name and schema in table.schemas:
        return RowSource(SourceKind.TABLE, alias, table)
    return RowSource(SourceKind.OTHER, alias)


def _starred(select: exp.Select) -> exp.Table | None:
    """The one table whose columns a select returns, as ``*`` or ``alias.*``; None when it returns anything else."""
    clause = select.args.get("from_")
    if clause is None or len(select.expressions) != 1 or select.args.get("with_"):
        return None
    star = select.expressions[0]
    items = [clause.this, *(join.this for join in select.args.get("joins") or ())]
    items += [join.this for join in clause.find_all(exp.Join)]
    tables = [each for each in items if isinstance(each, exp.Table) and isinstance(each.this, exp.Identifier)]
    if isinstance(star, exp.Column) and isinstance(star.this, exp.Star):
        named = [each for each in tables if fold(each.alias_or_name) == fold(star.table)]
        return named[0] if len(named) == 1 else None
    return tables[0] if isinstance(star, exp.Star) and len(items) == 1 and tables else None


def unwrap(expression: exp.Expr) -> exp.Expr:
    """The expression without the parentheses and aliases around it."""
    while isinstance(expression, exp.Paren | exp.Alias) or (
        isinstance(expression, exp.Subquery) and not expression.args.get("with_")
    ):
        expression = expression.this
    return expression


def conjuncts(where: exp.Expr | None) -> Iterator[exp.Expr]:
    """The conditions that a WHERE joins with AND."""
    todo = [where.this] if where is not None else []
    while todo:
        each = todo.pop()
        if isinstance(each, exp.Paren):
            todo.append(each.this)
        elif isinstance(each, exp.And):
            todo += [each.expression, each.this]
        else:
            yield each


def union_branches(query: exp.Expr) -> Iterator[exp.Expr]:
    """The selects whose rows a query is made of; of EXCEPT and INTERSECT, those on the left."""
    query = unwrap(query)
    if isinstance(query, exp.SetOperation) and not query.args.get("with_"):
        yield from union_branches(query.this)
        if isinstance(query, exp.Union):
            yield from union_branches(query.expression)
    else:
        yield query


def columns_of(select: exp.Select) -> list[exp.Expr] | None:
    """The expressions that a select returns, None when a star hides how many there are."""
    columns = [unwrap(each) for each in select.expressions]
    return None if any(each.is_star for each in columns) else columns
