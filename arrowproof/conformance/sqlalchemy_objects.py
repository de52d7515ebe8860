"""Objects of a mapped class: what is written to their attributes, and what a session is told to do with them.

SQLAlchemy updates an object that was changed by its key once the session is flushed.
"""

from __future__ import annotations

import ast
from collections import Counter
from collections.abc import Iterable, Sequence

from arrowproof.conformance.pieces import Chunk
from arrowproof.conformance.python_constants import last_name
from arrowproof.conformance.python_scopes import FunctionNode, Scope
from arrowproof.conformance.python_strings import Strings
from arrowproof.conformance.python_text import shown
from arrowproof.conformance.sqlalchemy_conditions import Conditions
from arrowproof.conformance.sqlalchemy_rows import hole_chunk, keyword_pairs, text_chunk
from arrowproof.conformance.sqlalchemy_subjects import Subjects, is_named, named_like
from arrowproof.conformance.sqlalchemy_tables import MappedTable, is_table_call

_SESSIONS = frozenset({"session", "db", "s", "sess", "Session", "async_session"})


class ObjectChanges:
    """What one module does to objects of the table, as chunks of SQL by their lines, or with the reason why not."""

    def __init__(self, tree: ast.Module, mapped: MappedTable, values: frozenset[str], strings: Strings) -> None:
        self.tree = tree
        self.mapped = mapped
        self.values = values
        self.strings = strings
        namesakes = _namesakes(tree, mapped)
        self.names = _known_names(tree, mapped.names) - namesakes
        self.subjects = Subjects(tree, self.names, (mapped.names | mapped.bases) - namesakes, strings)
        self.found: list[tuple[int, list[Chunk], str | None]] = []
        self.functions: list[FunctionNode] = []
        """The functions around what is being read, the inner ones last."""

    def delete(self, node: ast.Call, scope: Scope, classes: dict[str, bool | None]) -> None:
        """``session.delete(job)``."""
        if len(node.args) != 1 or not isinstance(node.args[0], ast.Name):
            return
        target = node.args[0]
        is_ours = classes.get(target.id)
        if is_ours:
            key = f"DELETE FROM {self.mapped.quoted} WHERE {self.mapped.key} = "
            self.find(node, [text_chunk(key, node), hole_chunk(target)])
        elif is_ours is None and isinstance(node.func, ast.Attribute) and last_name(node.func.value) in _SESSIONS:
            is_alike = named_like(target, self.mapped.names) > 0 and not self._is_named_otherwise(target)
            if not (self.names or is_alike or self.subjects.mentions_any_class(target.id, scope)):
                return
            reason = f"it may remove a row of {self.mapped.table}: the class of {target.id} is not known; annotate it"
            self.found.append((node.lineno, [text_chunk(shown(node), node)], reason))

    def merge(self, node: ast.Call, subject: ast.expr, conditions: Conditions) -> None:
        """``session.merge(job)`` writes what the object holds over the row, if there is one."""
        made = subject if isinstance(subject, ast.Call) and self.is_table(subject.func) else None
        given = (
            [value for column, value in keyword_pairs(made, self.mapped) if column and self.mapped.is_state(column)]
            if made
            else []
        )
        stored = conditions.value(given[0]) if given else [hole_chunk(subject)]
        column = conditions.quoted(self.mapped.state_column)
        is_unset = made is not None and not given and all(each.arg for each in made.keywords)
        if not is_unset:
            key = [text_chunk(f" WHERE {self.mapped.key} = ", node), hole_chunk(subject)]
            self.find(node, [text_chunk(f"UPDATE {self.mapped.quoted} SET {column} = ", node), *stored, *key])

    def write(
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
            self.write_state(target, value, node, conditions, classes)

    def write_state(
        self,
        target: ast.expr,
        value: ast.expr | None,
        node: ast.AST,
        conditions: Conditions,
        classes: dict[str, bool | None],
    ) -> None:
        """The state of an object is written, whatever the attribute is called."""
        assert isinstance(node, ast.stmt | ast.expr)
        stored = conditions.value(value) if value is not None else [hole_chunk(target)]
        chunks = [
            text_chunk(f"UPDATE {self.mapped.quoted} SET {conditions.quoted(self.mapped.state_column)} = ", node),
            *stored,
        ]
        chunks += [text_chunk(f" WHERE {self.mapped.key} = ", node), hole_chunk(target)]
        is_ours = self.class_of(target, classes)
        if is_ours and self._is_new(target):
            column = conditions.quoted(self.mapped.state_column)
            self.find(
                node,
                [
                    text_chunk(f"INSERT INTO {self.mapped.quoted} ({column}) VALUES (", node),
                    *stored,
                    text_chunk(")", node),
                ],
            )
        elif is_ours:
            self.find(node, chunks)
        elif is_ours is None and (self._may_be_ours(stored) or self._is_alike(target, node, stored)):
            written = f"it may write the state of {self.mapped.table}"
            reason = f"{written}: the class of {shown(target)} is not known; annotate it"
            self.found.append((node.lineno, [text_chunk(shown(node), node)], reason))

    def class_of(self, target: ast.expr, classes: dict[str, bool | None]) -> bool | None:
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

    def may_be_state(self, stored: Sequence[Chunk]) -> bool:
        """Whether a value may be a state of this table."""
        text = "".join(each.text for each in stored if not each.is_hole).strip("'")
        return any(each.is_hole for each in stored) or text in self.values

    def _is_alike(self, target: ast.expr, node: ast.AST, stored: Sequence[Chunk]) -> bool:
        """Whether an object of unknown class may be ours by its name, or as one of which any attribute is set."""
        is_self = isinstance(target, ast.Name) and target.id in ("self", "cls")
        if is_self or not self.may_be_state(stored) or self._is_named_otherwise(target):
            return False
        sets_any = isinstance(node, ast.Call) and not isinstance(node.args[1], ast.Constant)
        is_worked_on = self.subjects.has_session and (sets_any or named_like(target, self.mapped.names) > 0)
        return is_worked_on or is_named(target, self.mapped.names)

    def _is_named_otherwise(self, target: ast.expr) -> bool:
        """Whether an object bears the name of another class more than of ours: ``user`` of ``User``."""
        ours, others = named_like(target, self.mapped.names), named_like(target, self.subjects.others)
        return others > ours or (others == ours > 0 and not self.names)

    def _is_new(self, target: ast.expr) -> bool:
        """Whether an object is being made: it is ``self`` in an ``__init__``."""
        function = self.functions[-1] if self.functions else None
        name = function.name if isinstance(function, ast.FunctionDef) else ""
        return name == "__init__" and isinstance(target, ast.Name) and target.id == "self"

    def is_table_or_column(self, node: ast.expr) -> bool:
        """Whether an expression is the table, or a column of it."""
        return self.is_table(node) or (isinstance(node, ast.Attribute) and self.is_table(node.value))

    def is_table(self, node: ast.expr) -> bool:
        """Whether an expression is the mapped class or the Table, under a name that this module knows it by."""
        if isinstance(node, ast.Call | ast.Subscript):
            return is_table_call(node, self.mapped.table)
        if isinstance(node, ast.Name):
            return node.id in self.names
        return (
            isinstance(node, ast.Attribute)
            and node.attr in self.mapped.names | {"__table__"}
            and (node.attr != "__table__" or self.is_table(node.value))
        )

    def find(self, node: ast.AST, chunks: Iterable[Chunk]) -> None:
        """Remember a statement on the line of a node."""
        assert isinstance(node, ast.stmt | ast.expr)
        self.found.append((node.lineno, list(chunks), None))


def _namesakes(tree: ast.Module, mapped: MappedTable) -> set[str]:
    """The classes that a module defines by the name of a mapped one, and which are another."""
    classes = [each for each in ast.walk(tree) if isinstance(each, ast.ClassDef) and each.name in mapped.names]
    ours = {each.name for each in classes if id(each) in mapped.nodes or _derives(each, mapped)}
    return {each.name for each in classes} - ours


def _derives(node: ast.ClassDef, mapped: MappedTable) -> bool:
    return any(last_name(base) in mapped.names for base in node.bases)


def _known_names(tree: ast.Module, names: set[str]) -> set[str]:
    """The names by which a module knows the table: those that it defines or imports, with their aliases."""
    known: set[str] = set()
    aliases: list[tuple[str, str]] = []
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom):
            known |= {each.asname or each.name for each in node.names if each.name in names}
            known |= names if any(each.name == "*" for each in node.names) else set()
        elif isinstance(node, ast.ClassDef) and node.name in names:
            known.add(node.name)
        elif isinstance(node, ast.Assign):
            bound = [each.id for each in node.targets if isinstance(each, ast.Name)]
            aliases += [
                (each, last_name(node.value)) for each in bound if isinstance(node.value, ast.Name | ast.Attribute)
            ]
            known |= {each for each in bound if each in names and isinstance(node.value, ast.Call | ast.Subscript)}
        elif isinstance(node, ast.Attribute) and node.attr in names and isinstance(node.value, ast.Name):
            known.add(node.attr)
    while more := {alias for alias, name in aliases if name in known and name[:1].isupper()} - known:
        known |= more  # ``J = Job`` is the class too
    return known | _names_of_tables(tree, known)


def _names_of_tables(tree: ast.Module, classes: set[str]) -> set[str]:
    """The names that a module binds to ``Job.__table__`` and to nothing else."""
    bound: Counter[str] = Counter()
    stored: Counter[str] = Counter()
    for node in ast.walk(tree):
        if isinstance(node, ast.Name) and not isinstance(node.ctx, ast.Load):
            stored[node.id] += 1
        elif isinstance(node, ast.arg):
            stored[node.arg] += 1
        elif isinstance(node, ast.Assign) and isinstance(node.value, ast.Attribute):
            is_ours = node.value.attr == "__table__" and last_name(node.value.value) in classes
            bound.update(each.id for each in node.targets if isinstance(each, ast.Name) and is_ours)
    return {name for name, times in bound.items() if stored[name] == times}
