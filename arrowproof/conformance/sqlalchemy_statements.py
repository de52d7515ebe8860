"""Statements that SQLAlchemy makes of Python code: Core and ORM updates, new objects, writes to attributes.

Each is rendered as the SQL that it comes to, with a hole for whatever cannot be seen; what is no more than a hole where
the syntax wants more is undecided, as in any other embedded SQL. Only the syntax tree is read. Source of the rules:
SQLAlchemy's documentation of DML statements and of the unit of work (an object that was changed is updated by its key).
"""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence

from arrowproof.conformance.embedded import read_piece
from arrowproof.conformance.pieces import Chunk, Piece
from arrowproof.conformance.python_constants import ClassConstants, Project, class_constants, last_name
from arrowproof.conformance.python_objects import classes_of_names, unpacked
from arrowproof.conformance.python_scopes import Scope, inner_nodes, scope_of
from arrowproof.conformance.python_strings import Strings
from arrowproof.conformance.python_text import shown
from arrowproof.conformance.sqlalchemy_conditions import FILTERS, MAX_CALLS, Conditions
from arrowproof.conformance.sqlalchemy_growth import beginnings
from arrowproof.conformance.sqlalchemy_objects import ObjectChanges
from arrowproof.conformance.sqlalchemy_relations import removing_relations
from arrowproof.conformance.sqlalchemy_rows import Rows, hole_chunk, listed, text_chunk
from arrowproof.conformance.sqlalchemy_tables import MappedTable
from arrowproof.conformance.statements import SqlStatement
from arrowproof.conformance.tokens import Token, TokenKind
from arrowproof.model.evidence import Place
from arrowproof.model.lifecycle import Dialect

_ROOTS = frozenset({"update", "insert", "delete", "query"})
_VALUES = ("values", "ordered_values")
_ADDING = frozenset({*_VALUES, "on_conflict_do_update", "on_duplicate_key_update", "from_select"})
"""Methods of a statement that say what it writes."""
_NOT_FOLLOWED = frozenset({"prefix_with", "suffix_with"})
BULK = frozenset({"bulk_update_mappings", "bulk_insert_mappings", "bulk_insert", "merge"})
"""Methods of a session, and of Alembic's operations, that change rows without a statement."""
_EXECUTING = frozenset({"execute", "scalars", "scalar"})
_QUERIES = frozenset({"query", "join", "outerjoin", "order_by", "options", "with_for_update", *FILTERS})


def read_sqlalchemy(
    file: str,
    tree: ast.Module,
    mapped: MappedTable,
    values: frozenset[str],
    dialect: Dialect,
    project: Project | None = None,
) -> Iterator[SqlStatement]:
    """The statements on a mapped table that a module makes without writing them. ``values`` are those of the states."""
    strings = Strings(ClassConstants(file, project or Project(), class_constants(tree)))
    reader = _Reader(tree, mapped, values, strings)
    reader.run()
    for found in sorted(reader.found, key=lambda each: each[0]):
        line, chunks, problem = found
        problem = problem or mapped.doubt
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


class _Reader(ObjectChanges):
    """Goes through one module."""

    def __init__(self, tree: ast.Module, mapped: MappedTable, values: frozenset[str], strings: Strings) -> None:
        super().__init__(tree, mapped, values, strings)
        self.rows = Rows(mapped, self.is_table)
        self.seen: set[int] = set()
        self.queries = _names_of_queries(tree)
        imports = (each for each in ast.walk(tree) if isinstance(each, ast.ImportFrom))
        self.imported = {name.asname: name.name for each in imports for name in each.names if name.asname}
        self.beginnings = beginnings(tree, strings.constants.file, strings.constants.project)
        self.changing: set[str] = set()
        """The names that are bound to an UPDATE, INSERT or DELETE of the table."""
        self._find_changing()

    def run(self) -> None:
        self._scope(self.tree, None, {})
        self._on_update()
        for call in removing_relations(self.tree, self.mapped.names):
            key = text_chunk(f"DELETE FROM {self.mapped.quoted} WHERE {self.mapped.key} = ", call)
            self.find(call, [key, hole_chunk(call, "what it leads to")])

    def _on_update(self) -> None:
        """What the state column stores with every change that does not name it, where its declaration stands."""
        stored = self.mapped.onupdate
        if stored is not None and any(each is stored for each in ast.walk(self.tree)):
            conditions = Conditions(self.mapped, self.names, self.strings, scope_of(self.tree, None))
            column = conditions.quoted(self.mapped.state_column)
            ahead = text_chunk(f"UPDATE {self.mapped.quoted} SET {column} = ", stored)
            self.find(stored, [ahead, *conditions.value(stored)])

    def _scope(self, node: ast.AST, parent: Scope | None, outer: dict[str, bool | None]) -> None:
        assert isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda)
        scope = scope_of(node, parent)
        body: list[ast.AST] = [node.body] if isinstance(node, ast.Lambda) else list(node.body)
        classes = {**outer, **classes_of_names(node, body, self.names, scope.class_name, self.subjects.any_types)}
        if "self" in classes and scope.class_name in self.subjects.ours:
            classes["self"] = True
        own = {"cls"} if scope.class_name in self.subjects.ours else set()
        conditions = Conditions(self.mapped, self.names | own, self.strings, scope)
        around = self.functions
        if not isinstance(node, ast.Module | ast.ClassDef):
            self.functions = [*around, node]
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
                        self.write(target.value, target.attr, value, each, conditions, classes)
        self.functions = around

    # Calls

    def _call(self, node: ast.Call, conditions: Conditions, classes: dict[str, bool | None]) -> None:
        if id(node) in self.seen:
            return
        name = last_name(node.func)
        if name == "setattr" and len(node.args) == 3:
            attribute = node.args[1]
            if isinstance(attribute, ast.Constant):
                self.write(node.args[0], str(attribute.value), node.args[2], node, conditions, classes)
            else:  # any attribute may be the state
                self.write_state(node.args[0], node.args[2], node, conditions, classes)
        elif name in self.names and self.is_table(node.func) and name[:1].isupper():
            self._insert(node, [node], conditions)
        elif self.subjects.is_own_class(node.func, conditions.scope, is_made=True):
            self._insert(node, [node], conditions, is_object=True)
        elif self.subjects.is_any_class(node.func):
            self._any_class("insert", node, node.func, (), (), conditions)
        elif name in BULK and isinstance(node.func, ast.Attribute):
            self._bulk(name, node, conditions, classes)
        elif name in _EXECUTING and len(node.args) == 2 and self._executed(node, conditions, classes):
            return
        elif not self._chain(node, conditions, classes) and name == "delete" and isinstance(node.func, ast.Attribute):
            self.delete(node, conditions.scope, classes)

    def _bulk(self, name: str, node: ast.Call, conditions: Conditions, classes: dict[str, bool | None]) -> None:
        """Many rows at once, or one whatever its class: ``bulk_update_mappings``, ``bulk_insert``, ``merge``."""
        if not node.args:
            return
        subject = node.args[0]
        if name == "merge":
            if self.class_of(subject, classes) and not isinstance(subject, ast.Constant):
                self.merge(node, subject, conditions)
            return
        if not self.is_table(subject) and not self.subjects.may_be_ours(subject, conditions.scope, self.functions):
            return
        rows = self._written_rows(node.args[1], conditions.scope) if node.args[1:] else None
        for row in [node.args[-1]] if rows is None else rows:
            call = ast.Call(node.func, [row], [], lineno=row.lineno)
            if not self.is_table(subject):
                self._any_class("insert" if "insert" in name else "update", call, subject, [call], (), conditions)
            elif "insert" in name:
                self._insert(call, [call], conditions)
            else:
                key = [text_chunk(f" WHERE {self.mapped.key} = ", row), hole_chunk(row)]
                self._filtered("update", call, [call], (), conditions, key)

    def _executed(self, node: ast.Call, conditions: Conditions, classes: dict[str, bool | None]) -> bool:
        """``session.execute(insert(Job), [{…}, …])``: a statement with the values of each row that is written out."""
        statement, given = node.args
        rows = self._written_rows(given, conditions.scope)
        called = {last_name(each.func) for each in ast.walk(statement) if isinstance(each, ast.Call)}
        if rows is None or called & _ADDING or not called or not self._begins(statement):
            return False
        for row in rows:
            without = self.mapped.key if "update" in called else ""
            values = ast.Attribute(statement, "values", ast.Load())
            self._chain(ast.Call(values, [_without_key(row, without)], [], lineno=row.lineno), conditions, classes)
        return True

    def _written_rows(self, node: ast.expr, scope: Scope) -> list[ast.Dict] | None:
        """The rows of a list, each a dictionary that is written out; None where they are not."""
        listed: list[ast.expr] | None = [node]
        if not isinstance(node, ast.Dict):
            rows = self.strings.elements(node, scope)
            listed = [each for _, each in rows[0]] if rows is not None and not rows[1] else self._repeated(node, scope)
        found = [each for each in listed or () if isinstance(each, ast.Dict)]
        return found if found and len(found) == len(listed or ()) else None

    def _repeated(self, node: ast.expr, scope: Scope) -> list[ast.expr] | None:
        """The one form that all the rows of a comprehension have."""
        binding = scope.find(node.id) if isinstance(node, ast.Name) else None
        value = binding.value if binding is not None and not binding.additions else node
        is_whole = isinstance(value, ast.ListComp) and not (binding is not None and scope.is_grown(binding.name))
        return [value.elt] if is_whole and isinstance(value, ast.ListComp) else None

    def _chain(self, node: ast.Call, conditions: Conditions, classes: dict[str, bool | None]) -> bool:
        """``update(Job).where(…).values(…)`` and its kin: the calls from the root on."""
        calls: list[ast.Call] = []
        at: ast.expr | None = node
        unknown: ast.expr | None = None
        root = ""
        while isinstance(at, ast.Call):
            calls.insert(0, at)
            receiver = at.func.value if isinstance(at.func, ast.Attribute) else None
            root = self._root(at.func)
            subjects = (
                [*at.args, *filter(None, (receiver,))]
                if root == "query"
                else [*at.args[:1], *filter(None, (receiver,))]
            )
            if root in _ROOTS and any(map(self.is_table_or_column, subjects)):
                break
            unknown = self._unknown(root, at, calls, conditions)
            if unknown is not None:
                break
            at = self._bound(receiver, calls, conditions.scope)
        else:
            if not self._is_query(at, classes):
                unknown = self.subjects.class_of_query(at, conditions.scope, self.functions)
                if unknown is None:
                    return False
            root, calls = "query", [node, *calls]
        self.seen |= {id(each) for each in calls}
        if id(node) not in self.beginnings:
            self._made(root, node, calls, unknown, conditions)
        return True

    def _bound(self, receiver: ast.expr | None, calls: Sequence[ast.Call], scope: Scope) -> ast.expr | None:
        """What a call is done to; of a name the statement that it is bound to, where it can be only that one."""
        binding, use = scope.place_of(receiver) if isinstance(receiver, ast.Name) else (None, None)
        if binding is None:
            return receiver
        reaching = binding.reaching(use)
        values = [binding.assigned[index] for index in reaching if not binding.is_bound_otherwise]
        if len(values) == 1 and isinstance(values[0], ast.Call) and len(calls) <= MAX_CALLS:
            return values[0] if self._begins(values[0]) else receiver
        if last_name(calls[0].func) in _ADDING and any(map(self._begins, binding.assigned)):
            reason = f"it adds to a statement on {self.mapped.table}, and {binding.name} may be one of several"
            self.found.append((calls[0].lineno, [text_chunk(shown(calls[0]), calls[0])], reason))
        return receiver

    def _begins(self, node: ast.expr) -> bool:
        """Whether a chain of calls begins with a change of the table, or goes on with a name that may stand for one."""
        while isinstance(node, ast.Call):
            subjects = [*node.args[:1], *([node.func.value] if isinstance(node.func, ast.Attribute) else [])]
            if self._root(node.func) in _ROOTS - {"query"} and any(map(self.is_table_or_column, subjects)):
                return True
            node = node.func.value if isinstance(node.func, ast.Attribute) else node.func
        return isinstance(node, ast.Name) and node.id in self.changing

    def _find_changing(self) -> None:
        assigned = [each for each in ast.walk(self.tree) if isinstance(each, ast.Assign | ast.AnnAssign)]
        more = True
        while more:
            more = False
            for each in assigned:
                target = each.targets[0] if isinstance(each, ast.Assign) else each.target
                is_new = isinstance(target, ast.Name) and target.id not in self.changing
                if is_new and each.value is not None and self._begins(each.value):
                    self.changing.add(last_name(target))
                    more = True

    def _made(
        self, root: str, node: ast.Call, calls: list[ast.Call], unknown: ast.expr | None, conditions: Conditions
    ) -> None:
        """The statement that the calls make."""
        rest = calls[1:]
        verb, changes, filters = root, [each for each in calls if last_name(each.func) in _VALUES], calls
        if root == "query":
            verb = last_name(rest[-1].func) if rest else ""
            if verb not in ("update", "delete") or (verb == "delete" and rest[-1].args):
                return
            changes, filters = rest[-1:], rest[:-1]
        prefix = next((each for each in rest if last_name(each.func) in _NOT_FOLLOWED), None)
        if prefix is not None and verb in _ROOTS:
            reason = f"what {last_name(prefix.func)} puts into it is not followed"
            self.found.append((prefix.lineno, [text_chunk(shown(node), node)], reason))
        elif unknown is not None:
            self._any_class(verb, node, unknown, changes, filters, conditions)
        elif verb == "insert":
            self._insert(node, [each for each in changes if last_name(each.func) == "values"], conditions, rest)
        else:
            self._filtered(verb, node, changes, filters, conditions)

    def _unknown(self, root: str, call: ast.Call, calls: Sequence[ast.Call], conditions: Conditions) -> ast.expr | None:
        """What an UPDATE, INSERT, DELETE or query is done to, where it may be the class without being its name."""
        subject: ast.expr | None = None
        if (root in _ROOTS - {"query"} and call.args and self.subjects.is_function(call.func)) or (
            root == "query" and call.args and isinstance(call.func, ast.Attribute)
        ):
            subject = call.args[0]
        elif root in _ROOTS and not call.args and isinstance(call.func, ast.Attribute) and len(calls) > 1:
            is_table = last_name(calls[1].func) in (*_VALUES, "where", "returning")
            subject = call.func.value if is_table else None
        is_ours = subject is not None and self.subjects.may_be_ours(subject, conditions.scope, self.functions)
        return subject if is_ours else None

    def _any_class(
        self,
        verb: str,
        node: ast.Call,
        subject: ast.expr,
        changes: Sequence[ast.Call],
        filters: Sequence[ast.Call],
        conditions: Conditions,
    ) -> None:
        """A change of rows of a class that may be ours."""
        if self.subjects.is_own_class(subject, conditions.scope):
            if verb == "insert":
                self._insert(node, [each for each in changes if last_name(each.func) != verb], conditions)
            else:
                self._filtered(verb, node, changes, filters, conditions)
            return
        does = {"update": "write the state of", "insert": "make a row of", "delete": "remove a row of"}[verb]
        if verb == "update":
            pairs = [pair for call in changes for pair in self.rows.pairs(call)]
            written = [conditions.value(value) for column, value in pairs if column and self.mapped.is_state(column)]
            is_unseen = not pairs or any(column is None for column, _ in pairs)
            if not is_unseen and not any(map(self.may_be_state, written)):
                return
        reason = f"it may {does} {self.mapped.table}: which class {shown(subject)} is, is not known here"
        self.found.append((node.lineno, [text_chunk(shown(node), node)], reason))

    def _root(self, function: ast.expr) -> str:
        """The name of a function, that of SQLAlchemy where a module imports it under another one."""
        name = last_name(function)
        return self.imported.get(name, name) if isinstance(function, ast.Name) else name

    def _is_query(self, node: ast.expr | None, classes: dict[str, bool | None]) -> bool:
        """Whether what a chain of calls begins with is a query of the table: ``Job.query``, or a name bound to one."""
        if isinstance(node, ast.Attribute):
            return node.attr == "query" and self.is_table(node.value)
        return isinstance(node, ast.Name) and bool(classes.get(node.id)) and node.id in self.queries

    def _filtered(
        self,
        verb: str,
        node: ast.Call,
        changes: Sequence[ast.Call],
        calls: Sequence[ast.Call],
        conditions: Conditions,
        key: Sequence[Chunk] = (),
    ) -> None:
        """An UPDATE or DELETE with the conditions of the calls, or by the key that comes with the values."""
        if verb == "update":
            assigned = list(self.rows.assigned(changes, conditions, skips_key=bool(key)))
            chunks = [text_chunk(f"UPDATE {self.mapped.quoted} SET ", node), *listed(assigned)]
            if not assigned:
                chunks.append(hole_chunk(node, "what it is executed with"))
        else:
            chunks = [text_chunk(f"DELETE FROM {self.mapped.quoted}", node)]
        terms = [term for call in calls if last_name(call.func) in FILTERS for term in conditions.of_call(call)]
        for index, term in enumerate(terms):
            chunks += [text_chunk(" AND " if index else " WHERE ", node), *term]
        self.find(node, [*chunks, *key])

    def _insert(
        self,
        node: ast.Call,
        calls: Sequence[ast.Call],
        conditions: Conditions,
        rest: Sequence[ast.Call] = (),
        *,
        is_object: bool = False,
    ) -> None:
        is_object |= bool(calls) and calls[0] is node and last_name(node.func) in self.names
        self.find(node, self.rows.insert(node, calls, conditions, rest, is_object=is_object))


def _without_key(row: ast.Dict, key: str) -> ast.Dict:
    """A row without its key, by which an UPDATE finds it."""
    pairs = [
        (name, value)
        for name, value in zip(row.keys, row.values, strict=True)
        if not (isinstance(name, ast.Constant) and name.value == key)
    ]
    return ast.Dict([name for name, _ in pairs], [value for _, value in pairs], lineno=row.lineno)


def _names_of_queries(tree: ast.Module) -> set[str]:
    """The names that are bound to a query, and not to what it found."""
    return {
        each.targets[0].id
        for each in ast.walk(tree)
        if isinstance(each, ast.Assign) and isinstance(each.targets[0], ast.Name)
        and isinstance(each.value, ast.Call) and last_name(each.value.func) in _QUERIES
    }  # fmt: skip
