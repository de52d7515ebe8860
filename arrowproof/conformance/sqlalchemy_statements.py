"""Statements that SQLAlchemy makes of Python code: Core and ORM updates, new objects, writes to attributes.

Each is rendered as the SQL that it comes to, with a hole for whatever cannot be seen; what is no more than a hole where
the syntax wants more is undecided, as in any other embedded SQL. Only the syntax tree is read. Source of the rules:
SQLAlchemy's documentation of DML statements and of the unit of work (an object that was changed is updated by its key).
"""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator, Sequence

from arrowproof.conformance.embedded import read_piece
from arrowproof.conformance.pieces import Chunk, Piece
from arrowproof.conformance.python_objects import classes_of_names, unpacked
from arrowproof.conformance.python_scopes import Scope, inner_nodes, scope_of
from arrowproof.conformance.python_constants import ClassConstants, Project, class_constants
from arrowproof.conformance.python_strings import Strings
from arrowproof.conformance.sqlalchemy_conditions import Conditions
from arrowproof.conformance.sqlalchemy_tables import MappedTable, last_name
from arrowproof.conformance.statements import SqlStatement
from arrowproof.conformance.tokens import Token, TokenKind
from arrowproof.model.evidence import Place
from arrowproof.model.lifecycle import Dialect

_ROOTS = frozenset({"update", "insert", "delete", "query"})
_FILTERS = frozenset({"where", "filter", "filter_by"})
_QUERIES = frozenset({"query", "join", "outerjoin", "order_by", "options", "with_for_update", *_FILTERS})
_SESSIONS = frozenset({"session", "db", "s", "sess", "Session", "async_session"})


def read_sqlalchemy(
    file: str, tree: ast.Module, mapped: MappedTable, values: frozenset[str], dialect: Dialect
) -> Iterator[SqlStatement]:
    """The statements on a mapped table that a module makes without writing them. ``values`` are those of the states."""
    reader = _Reader(tree, mapped, values)
    reader.run()
    for found in sorted(reader.found, key=lambda each: each[0]):
        line, chunks, problem = found
        if problem is None:
            yield from read_piece(file, Piece(tuple(chunks)), frozenset({mapped.table}), dialect)
        else:
            text = "".join(each.text for each in chunks)
            yield SqlStatement(
                Place(file, line),
                text,
                (Token(TokenKind.JUNK, text, 0, line),),
                problem=problem,
            )


class _Reader:
    """Goes through one module."""

    def __init__(self, tree: ast.Module, mapped: MappedTable, values: frozenset[str]) -> None:
        self.tree = tree
        self.mapped = mapped
        self.values = values
        self.strings = Strings(ClassConstants("", Project(), class_constants(tree)))
        self.names = _known_names(tree, mapped.names)
        self.found: list[tuple[int, list[Chunk], str | None]] = []
        self.seen: set[int] = set()
        self.queries = _names_of_queries(tree)
        imports = (each for each in ast.walk(tree) if isinstance(each, ast.ImportFrom))
        self.imported = {name.asname: name.name for each in imports for name in each.names if name.asname}

    def run(self) -> None:
        self._scope(self.tree, None, {})

    def _scope(self, node: ast.AST, parent: Scope | None, outer: dict[str, bool | None]) -> None:
        assert isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda)
        scope = scope_of(node, parent)
        body: list[ast.AST] = [node.body] if isinstance(node, ast.Lambda) else list(node.body)
        classes = {**outer, **classes_of_names(node, body, self.names, scope.class_name)}
        conditions = Conditions(self.mapped, self.names, self.strings, scope)
        for each in inner_nodes(body):
            if isinstance(each, ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda):
                self._scope(each, scope, classes)
            elif isinstance(each, ast.Call):
                self._call(each, conditions, classes)
            elif isinstance(each, ast.Assign | ast.AnnAssign | ast.AugAssign):
                targets = each.targets if isinstance(each, ast.Assign) else [each.target]
                assigned = None if isinstance(each, ast.AugAssign) else each.value
                for target, value in unpacked(targets, assigned) if each.value is not None else ():
                    if isinstance(target, ast.Attribute):
                        self._write(target.value, target.attr, value, each, conditions, classes)

    # Calls

    def _call(self, node: ast.Call, conditions: Conditions, classes: dict[str, bool | None]) -> None:
        if id(node) in self.seen:
            return
        name = last_name(node.func)
        if name == "setattr" and len(node.args) == 3:
            attribute = node.args[1]
            if isinstance(attribute, ast.Constant):
                self._write(node.args[0], str(attribute.value), node.args[2], node, conditions, classes)
            elif self.names:  # any attribute may be the state, in a module that knows the class
                self._write_state(node.args[0], node.args[2], node, conditions, classes)
        elif name in self.names and self._is_table(node.func) and name[:1].isupper():
            self._insert(node, [node], conditions)
        elif not self._chain(node, conditions, classes) and name == "delete" and isinstance(node.func, ast.Attribute):
            self._delete(node, classes)

    def _delete(self, node: ast.Call, classes: dict[str, bool | None]) -> None:
        """``session.delete(job)``."""
        if len(node.args) != 1 or not isinstance(node.args[0], ast.Name):
            return
        target = node.args[0]
        is_ours = classes.get(target.id)
        if is_ours:
            key = f"DELETE FROM {self._table()} WHERE {self.mapped.key} = "
            self._find(node, [_text(key, node), _hole(target)])
        elif is_ours is None and self.names and last_name(node.func.value) in _SESSIONS:  # type: ignore[attr-defined]
            reason = f"it may remove a row of {self.mapped.table}: the class of {target.id} is not known; annotate it"
            self.found.append((node.lineno, [_text(ast.unparse(node), node)], reason))

    def _chain(self, node: ast.Call, conditions: Conditions, classes: dict[str, bool | None]) -> bool:
        """``update(Job).where(…).values(…)`` and its kin: the calls from the root on."""
        calls: list[ast.Call] = []
        at: ast.expr | None = node
        while isinstance(at, ast.Call):
            calls.insert(0, at)
            receiver = at.func.value if isinstance(at.func, ast.Attribute) else None
            subject = at.args[0] if at.args else None
            root = self._root(at.func)
            if root in _ROOTS and any(map(self._is_table, filter(None, (subject, receiver)))):
                break
            at = receiver
        else:
            if not self._is_query(at, classes):
                return False
            root, calls = "query", [node, *calls]
        self.seen |= {id(each) for each in calls}
        rest = calls[1:]
        if root == "query":
            verb = last_name(rest[-1].func) if rest else ""
            if verb in ("update", "delete") and not (verb == "delete" and rest[-1].args):
                self._filtered(verb, node, rest[-1:], rest[:-1], conditions)
        elif root == "insert":
            self._insert(node, [each for each in calls if last_name(each.func) == "values"], conditions, rest)
        else:
            changes = [each for each in calls if last_name(each.func) in ("values", "ordered_values")]
            self._filtered(root, node, changes, calls, conditions)
        return True

    def _root(self, function: ast.expr) -> str:
        """The name of a function, that of SQLAlchemy where a module imports it under another one."""
        name = last_name(function)
        return self.imported.get(name, name) if isinstance(function, ast.Name) else name

    def _is_query(self, node: ast.expr | None, classes: dict[str, bool | None]) -> bool:
        """Whether what a chain of calls begins with is a query of the table: ``Job.query``, or a name bound to one."""
        if isinstance(node, ast.Attribute):
            return node.attr == "query" and self._is_table(node.value)
        return isinstance(node, ast.Name) and bool(classes.get(node.id)) and node.id in self.queries

    def _filtered(
        self, verb: str, node: ast.Call, changes: Sequence[ast.Call], calls: Sequence[ast.Call], conditions: Conditions
    ) -> None:
        """An UPDATE or DELETE with the conditions of the calls."""
        if verb == "update":
            assigned = list(self._assigned(changes, conditions))
            chunks = [_text(f"UPDATE {self._table()} SET ", node), *_listed(assigned)]
            if not assigned:
                chunks.append(_hole(node, "what it is executed with"))
        else:
            chunks = [_text(f"DELETE FROM {self._table()}", node)]
        terms = [term for call in calls if last_name(call.func) in _FILTERS for term in conditions.of_call(call)]
        for index, term in enumerate(terms):
            chunks += [_text(" AND " if index else " WHERE ", node), *term]
        self._find(node, chunks)

    def _assigned(self, calls: Sequence[ast.Call], conditions: Conditions) -> Iterator[list[Chunk]]:
        """``column = value`` for each column that the calls set, a hole for what cannot be seen."""
        for call in calls:
            for column, value in self._pairs(call):
                if column is None:
                    yield [_hole(value)]
                else:
                    yield [_text(f"{conditions.quoted(column)} = ", value), *conditions.value(value)]

    def _pairs(self, call: ast.Call) -> Iterator[tuple[str | None, ast.expr]]:
        """The columns that a call of ``values`` or ``update`` sets; None where its argument cannot be read."""
        for argument in call.args:
            if self._is_table(argument):
                continue
            if isinstance(argument, ast.Dict):
                yield from self._dictionary(argument)
            elif isinstance(argument, ast.Call) and last_name(argument.func) == "dict" and not argument.args:
                yield from self._keywords(argument)
            else:
                yield None, argument
        yield from self._keywords(call)

    def _dictionary(self, node: ast.Dict) -> Iterator[tuple[str | None, ast.expr]]:
        for key, value in zip(node.keys, node.values, strict=True):
            if isinstance(key, ast.Constant) and isinstance(key.value, str):
                yield self.mapped.column_of(key.value), value
            elif isinstance(key, ast.Attribute):
                yield self.mapped.column_of(key.attr), value
            else:
                yield None, value if key is None else key

    def _keywords(self, call: ast.Call) -> Iterator[tuple[str | None, ast.expr]]:
        for keyword in call.keywords:
            if keyword.arg not in ("synchronize_session", "update_args"):
                yield (self.mapped.column_of(keyword.arg) if keyword.arg else None), keyword.value

    # New rows

    def _insert(
        self, node: ast.Call, calls: Sequence[ast.Call], conditions: Conditions, rest: Sequence[ast.Call] = ()
    ) -> None:
        is_object = bool(calls) and calls[0] is node and last_name(node.func) in self.names
        pairs = [pair for call in calls for pair in (self._keywords(call) if is_object else self._pairs(call))]
        if any(column is None for column, _ in pairs) or not (pairs or is_object):
            shown = next((value for column, value in pairs if column is None), node)
            self._find(node, [_text(f"INSERT INTO {self._table()} ", node), _hole(shown)])
            return
        columns = {column: value for column, value in pairs if column is not None}
        state = next((column for column in columns if self.mapped.is_state(column)), None)
        if state is None and self.mapped.default is not None:
            columns[self.mapped.state_column] = self.mapped.default
        if not columns:
            self._find(node, [_text(f"INSERT INTO {self._table()} DEFAULT VALUES", node)])
            return
        names = ", ".join(map(conditions.quoted, columns))
        chunks = [_text(f"INSERT INTO {self._table()} ({names}) VALUES (", node)]
        chunks += [*_listed([conditions.value(value) for value in columns.values()]), _text(")", node)]
        for call in rest:
            chunks += self._conflict(call, conditions)
        self._find(node, chunks)

    def _conflict(self, call: ast.Call, conditions: Conditions) -> list[Chunk]:
        name = last_name(call.func)
        if name == "on_conflict_do_nothing":
            return [_text(" ON CONFLICT DO NOTHING", call)]
        if name == "on_duplicate_key_update":
            return [_text(" ON DUPLICATE KEY UPDATE ", call), *_listed(self._assigned([call], conditions))]
        if name != "on_conflict_do_update":
            return []
        keywords = {each.arg: each.value for each in call.keywords}
        assigned = ast.Call(call.func, [keywords["set_"]] if "set_" in keywords else [], [], lineno=call.lineno)
        chunks = [_text(f" ON CONFLICT ({self.mapped.key}) DO UPDATE SET ", call)]
        chunks += _listed(self._assigned([assigned], conditions))
        if "where" in keywords:
            chunks += [_text(" WHERE ", call), *conditions.condition(keywords["where"])]
        return chunks

    # Attributes

    def _write(
        self,
        target: ast.expr,
        attribute: str,
        value: ast.expr | None,
        node: ast.AST,
        conditions: Conditions,
        classes: dict[str, bool | None],
    ) -> None:
        """``job.status = value``: an update by the key, once the session is flushed."""
        if self.mapped.is_state(attribute):
            self._write_state(target, value, node, conditions, classes)

    def _write_state(
        self,
        target: ast.expr,
        value: ast.expr | None,
        node: ast.AST,
        conditions: Conditions,
        classes: dict[str, bool | None],
    ) -> None:
        assert isinstance(node, ast.stmt | ast.expr)
        stored = conditions.value(value) if value is not None else [_hole(target)]
        chunks = [_text(f"UPDATE {self._table()} SET {conditions.quoted(self.mapped.state_column)} = ", node), *stored]
        chunks += [_text(f" WHERE {self.mapped.key} = ", node), _hole(target)]
        is_ours = self._class_of(target, classes)
        if is_ours:
            self._find(node, chunks)
        elif is_ours is None and self._may_be_ours(stored):
            written = f"it may write the state of {self.mapped.table}"
            reason = f"{written}: the class of {ast.unparse(target)} is not known; annotate it"
            self.found.append((node.lineno, [_text(ast.unparse(node), node)], reason))

    def _class_of(self, target: ast.expr, classes: dict[str, bool | None]) -> bool | None:
        """Whether an expression is an object of the table, None when its class is not known."""
        if isinstance(target, ast.Name):
            return classes.get(target.id)
        if any(
            last_name(each) in self.names for each in ast.walk(target) if isinstance(each, ast.Name | ast.Attribute)
        ):
            return True
        return None

    def _may_be_ours(self, stored: Sequence[Chunk]) -> bool:
        """Whether a value that is written to an object of unknown class may be a state of this table."""
        text = "".join(each.text for each in stored if not each.is_hole).strip("'")
        is_constant = not any(each.is_hole for each in stored)
        return text in self.values if is_constant else bool(self.names)

    def _is_table(self, node: ast.expr) -> bool:
        """Whether an expression is the mapped class or the Table, under a name that this module knows it by."""
        if isinstance(node, ast.Name):
            return node.id in self.names
        return (
            isinstance(node, ast.Attribute)
            and node.attr in self.mapped.names | {"__table__"}
            and (node.attr != "__table__" or self._is_table(node.value))
        )

    def _table(self) -> str:
        return '"' + self.mapped.table.replace('"', '""') + '"'

    def _find(self, node: ast.AST, chunks: Iterable[Chunk]) -> None:
        assert isinstance(node, ast.stmt | ast.expr)
        self.found.append((node.lineno, list(chunks), None))


def _text(text: str, node: ast.AST) -> Chunk:
    line = getattr(node, "lineno", 1)
    return Chunk(text, line, line)


def _hole(node: ast.expr, text: str | None = None) -> Chunk:
    line = getattr(node, "lineno", 1)
    return Chunk(text or ast.unparse(node), line, line, is_hole=True)


def _listed(parts: Iterable[Sequence[Chunk]]) -> list[Chunk]:
    made: list[Chunk] = []
    for part in parts:
        made += [*([Chunk(", ", part[0].line, part[0].line)] if made and part else []), *part]
    return made


def _known_names(tree: ast.Module, names: set[str]) -> set[str]:
    """The names by which a module knows the table: those that it defines or imports, with their aliases."""
    known: set[str] = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom):
            known |= {each.asname or each.name for each in node.names if each.name in names}
            known |= names if any(each.name == "*" for each in node.names) else set()
        elif isinstance(node, ast.ClassDef) and node.name in names:
            known.add(node.name)
        elif isinstance(node, ast.Assign):
            known |= {each.id for each in node.targets if isinstance(each, ast.Name) and each.id in names
                      and isinstance(node.value, ast.Call | ast.Subscript)}  # fmt: skip
        elif isinstance(node, ast.Attribute) and node.attr in names and isinstance(node.value, ast.Name):
            known.add(node.attr)
    return known


def _names_of_queries(tree: ast.Module) -> set[str]:
    """The names that are bound to a query, and not to what it found."""
    return {
        each.targets[0].id
        for each in ast.walk(tree)
        if isinstance(each, ast.Assign) and isinstance(each.targets[0], ast.Name)
        and isinstance(each.value, ast.Call) and last_name(each.value.func) in _QUERIES
    }  # fmt: skip
