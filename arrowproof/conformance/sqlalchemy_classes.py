"""Classes of SQLAlchemy: which table each one is mapped to, as its body says, or that of a class that it derives from.

A ``__tablename__`` may be a constant, a name bound to one, or made by a ``declared_attr`` of the class's own name.
Flask-SQLAlchemy and SQLModel name the table by the class where nothing else does.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator, Sequence
from enum import Enum

from arrowproof.conformance.names import fold
from arrowproof.conformance.python_constants import ClassConstants, Project, class_constants, last_name
from arrowproof.conformance.python_scopes import scope_of
from arrowproof.conformance.python_strings import Strings


class Unknown(Enum):
    """What is no table's name."""

    TABLE = "it is mapped to a table whose name is not known"


class ClassTables:
    """The classes of some modules, by their names."""

    def __init__(self, trees: Sequence[ast.Module]) -> None:
        self.classes: dict[str, list[ast.ClassDef]] = {}
        self.modules: dict[int, ast.Module] = {}
        for tree in trees:
            for node in ast.walk(tree):
                if isinstance(node, ast.ClassDef):
                    self.classes.setdefault(node.name, []).append(node)
                    self.modules[id(node)] = tree

    def bases_of(self, name: str) -> set[str]:
        """The classes of these modules that one is derived from directly."""
        bases = {last_name(_unsubscripted(base)) for node in self.classes.get(name, ()) for base in node.bases}
        return bases & self.classes.keys()

    def lineage(self, node: ast.ClassDef) -> Iterator[ast.ClassDef]:
        """A class and those that it is derived from, the nearest first."""
        seen: set[int] = set()
        todo = [node]
        while todo:
            each = todo.pop(0)
            if id(each) in seen:
                continue
            seen.add(id(each))
            yield each
            todo += [more for base in each.bases for more in self.classes.get(last_name(_unsubscripted(base)), ())]

    def has_column(self, name: str, column: str) -> bool:
        """Whether a class or one that it is derived from has an attribute or column of a name."""
        for node in self.classes.get(name, ()):
            for each in self.lineage(node):
                for part in each.body:
                    targets = part.targets if isinstance(part, ast.Assign) else [getattr(part, "target", None)]
                    if any(isinstance(target, ast.Name) and fold(target.id) == column for target in targets):
                        return True
        return False

    def table_of(self, node: ast.ClassDef) -> str | Unknown | None:
        """The table that a class is mapped to, None when it is mapped to none that can be seen."""
        for each in self.lineage(node):
            declared = _declaration(each)
            if declared is None:
                continue
            if isinstance(declared, ast.FunctionDef):
                return _computed(declared, node.name) or Unknown.TABLE
            if isinstance(declared, ast.Constant):
                return declared.value if isinstance(declared.value, str) else None
            tree = self.modules[id(each)]
            strings = Strings(ClassConstants("", Project(), class_constants(tree)))
            return strings.constant(declared, scope_of(tree, None)) or Unknown.TABLE
        return _implied(node)


def _declaration(node: ast.ClassDef) -> ast.expr | ast.FunctionDef | None:
    """What the body of a class says of its table."""
    for each in node.body:
        if isinstance(each, ast.FunctionDef) and each.name == "__tablename__":
            return each
        targets = each.targets if isinstance(each, ast.Assign) else [getattr(each, "target", None)]
        value = each.value if isinstance(each, ast.Assign | ast.AnnAssign) else None
        if value is not None and any(isinstance(each, ast.Name) and each.id == "__tablename__" for each in targets):
            return value
    return None


def _implied(node: ast.ClassDef) -> str | None:
    """The name that Flask-SQLAlchemy and SQLModel make of the name of a class."""
    bases = {last_name(base) for base in node.bases}
    is_table = any(
        each.arg == "table" and isinstance(each.value, ast.Constant) and each.value.value is True
        for each in node.keywords
    )
    if is_table:
        return node.name.lower()
    if "Model" in bases and any(isinstance(base, ast.Attribute) for base in node.bases):
        return re.sub(r"(?<=[a-z0-9])(?=[A-Z])|(?<!^)(?=[A-Z][a-z])", "_", node.name).lower()
    return None


def _computed(function: ast.FunctionDef, class_name: str) -> str | None:
    """What a ``declared_attr`` makes of the name of a class, None when that cannot be followed."""
    body = [each for each in function.body if not (isinstance(each, ast.Expr) and isinstance(each.value, ast.Constant))]
    if len(body) != 1 or not isinstance(body[0], ast.Return) or body[0].value is None:
        return None
    return _made_of(body[0].value, class_name)


def _made_of(node: ast.expr, class_name: str) -> str | None:
    match node:
        case ast.Constant(value=str(value)):
            return value
        case ast.Attribute(attr="__name__"):
            return class_name
        case ast.BinOp(op=ast.Add()):
            left, right = _made_of(node.left, class_name), _made_of(node.right, class_name)
            return left + right if left is not None and right is not None else None
        case ast.JoinedStr():
            parts = [_made_of(each.value if isinstance(each, ast.FormattedValue) else each, class_name)
                     for each in node.values]  # fmt: skip
            return "".join(part or "" for part in parts) if None not in parts else None
        case ast.Call(func=ast.Attribute(attr="lower" | "casefold"), args=[], keywords=[]):
            text = _made_of(node.func.value, class_name) if isinstance(node.func, ast.Attribute) else None
            return text.lower() if text is not None else None
    return None


def _unsubscripted(node: ast.expr) -> ast.expr:
    return node.value if isinstance(node, ast.Subscript) else node
