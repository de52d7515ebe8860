"""Subjects: what ``update(…)``, ``session.query(…)`` and their kin are done to, where that is no name of a table.

A repository or a helper function takes any class: ``update(self.model)``. It may be the class of the bound table unless
the code says that it is another one.
"""

from __future__ import annotations

import ast
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property

from arrowproof.conformance.python_constants import last_name
from arrowproof.conformance.python_scopes import FunctionNode, Scope
from arrowproof.conformance.python_strings import Strings
from arrowproof.conformance.python_text import shown

_ANY = frozenset(
    {"Any", "object", "Base", "DeclarativeBase", "Model", "SQLModel", "Table", "FromClause", "TableClause"}
)
_PLAIN = frozenset({"type", "Type", "Optional", "Union", "ClassVar", "None", "typing", "t", "sa", "sqlalchemy"})
_LIBRARIES = ("sqlalchemy", "sqlmodel", "flask_sqlalchemy", "advanced_alchemy")
_LOOKS = frozenset({"query", "select", "get", "update", "insert", "delete"})
MAX_STEPS = 20
"""Names that are followed to find out what a subject is."""


@dataclass
class Subjects:
    """The classes of one module. ``names`` stand for the table in it, ``ours`` are these and what they derive from."""

    tree: ast.Module
    names: set[str]
    ours: set[str]
    strings: Strings
    imported: set[str] = field(default_factory=set)
    libraries: set[str] = field(default_factory=set)
    """Names of SQLAlchemy's package and of its functions in this module."""
    defined: set[str] = field(default_factory=set)
    any_types: set[str] = field(default_factory=set)
    """Type variables, which stand for any class."""

    classes: set[str] = field(default_factory=set)
    """What is looked up in the database as a class and is no name of one: ``self.model``."""

    def __post_init__(self) -> None:
        for node in ast.walk(self.tree):
            if isinstance(node, ast.Call) and last_name(node.func) in _LOOKS and node.args:
                subject = node.args[0]
                is_own = isinstance(subject, ast.Attribute) and last_name(subject.value) in ("self", "cls")
                is_named = isinstance(subject, ast.Name) and subject.id in ("model", "model_class", "klass", "entity")
                self.classes |= {shown(subject)} if is_own or is_named else set()
        for node in ast.walk(self.tree):
            if isinstance(node, ast.ImportFrom):
                known = {each.asname or each.name for each in node.names}
                self.imported |= known
                self.libraries |= known if (node.module or "").startswith(_LIBRARIES) else set()
            elif isinstance(node, ast.Import):
                for each in node.names:
                    self.imported.add((each.asname or each.name).partition(".")[0])
                    if each.name.startswith(_LIBRARIES):
                        self.libraries.add((each.asname or each.name).partition(".")[0])
            elif isinstance(node, ast.ClassDef):
                self.defined.add(node.name)
            elif isinstance(node, ast.Assign) and last_name(getattr(node.value, "func", None)) == "TypeVar":
                self.any_types |= {each.id for each in node.targets if isinstance(each, ast.Name)}

    def is_function(self, function: ast.expr) -> bool:
        """Whether a function is one of SQLAlchemy's, by what the module imports."""
        if isinstance(function, ast.Name):
            return function.id in self.libraries or "*" in self.libraries
        owner = function.value if isinstance(function, ast.Attribute) else None
        is_db = isinstance(owner, ast.Name) and owner.id == "db" and last_name(function) != "delete"
        return is_db or (isinstance(owner, ast.Name) and owner.id in self.libraries)

    @cached_property
    def has_session(self) -> bool:
        """Whether the module works with the database by SQLAlchemy, as far as it shows."""
        attributes = (each.attr for each in ast.walk(self.tree) if isinstance(each, ast.Attribute))
        return bool(self.libraries) or any(each in ("flush", "commit", "add_all") for each in attributes)

    @cached_property
    def others(self) -> set[str]:
        """The classes that the module knows and that are not ours."""
        return {each for each in (self.imported | self.defined) - self.names if each[:1].isupper()}

    def is_any_class(self, node: ast.expr) -> bool:
        """Whether an expression is used as a class elsewhere in the module, without being the name of one."""
        return isinstance(node, ast.Name | ast.Attribute) and shown(node) in self.classes

    def is_own_class(self, subject: ast.expr, scope: Scope, *, is_made: bool = False) -> bool:
        """Whether it is the class whose method this is, and that class ours; one that an object is made of."""
        if is_made and isinstance(subject, ast.Name) and subject.id != "cls":
            return False
        if isinstance(subject, ast.Call) and last_name(subject.func) == "type" and subject.args:
            subject = subject.args[0]
        elif isinstance(subject, ast.Attribute) and subject.attr == "__class__":
            subject = subject.value
        return isinstance(subject, ast.Name) and subject.id in ("self", "cls") and scope.class_name in self.ours

    def class_of_query(self, node: ast.expr | None, scope: Scope, functions: Sequence[FunctionNode]) -> ast.expr | None:
        """The class of ``cls.query``, where it may be ours."""
        if not isinstance(node, ast.Attribute) or node.attr != "query":
            return None
        is_ours = self.may_be_ours(node.value, scope, functions)
        return node.value if is_ours and not isinstance(node.value, ast.Call) else None

    def mentions_any_class(self, name: str, scope: Scope) -> bool:
        """Whether a name is bound to something that is made of such a class, or is a parameter beside one."""
        binding = scope.find(name)
        if binding is None or not self.classes:
            return False
        parts = (part for each in binding.assigned for part in ast.walk(each))
        return binding.is_bound_otherwise or any(
            isinstance(each, ast.expr) and self.is_any_class(each) for each in parts
        )

    def may_be_ours(self, node: ast.expr, scope: Scope, functions: Sequence[FunctionNode], depth: int = 0) -> bool:
        """Whether an expression may be the class or table. ``functions`` are those around it, the inner ones last."""
        if depth > MAX_STEPS:
            return True
        match node:
            case ast.Name(id="self" | "cls") if scope.class_name:
                return scope.class_name in self.ours
            case ast.Name(id=name):
                return self._name(name, scope, functions, depth)
            case ast.Attribute():
                return self._attribute(node, scope, functions, depth)
            case ast.Call(args=[subject, *_]) if last_name(node.func) in ("aliased", "type"):
                return self.may_be_ours(subject, scope, functions, depth + 1)
            case ast.Call():
                return last_name(node.func) not in ("Table", "table", "select", "values", "text", "cte", "subquery")
            case ast.Subscript() | ast.IfExp() | ast.BoolOp() | ast.NamedExpr() | ast.Starred():
                return True
        return False

    def _name(self, name: str, scope: Scope, functions: Sequence[FunctionNode], depth: int) -> bool:
        if name in self.names:
            return True
        binding = scope.find(name)
        if binding is None or name in self.imported | self.defined:
            return False
        annotations = [annotation for each in functions if (annotation := _annotation(each, name)) is not None]
        if annotations:
            return self._may_mean(annotations[-1])
        if binding.assigned and not binding.is_bound_otherwise:
            return any(self.may_be_ours(each, scope, functions, depth + 1) for each in binding.assigned)
        return True

    def _attribute(self, node: ast.Attribute, scope: Scope, functions: Sequence[FunctionNode], depth: int) -> bool:
        if node.attr in self.names:
            return True
        if node.attr in ("__class__", "__table__"):
            return self.may_be_ours(node.value, scope, functions, depth + 1)
        value = self.strings.attribute(node, scope)
        if value is not None:
            return self.may_be_ours(value, scope, functions, depth + 1)
        root: ast.expr = node
        while isinstance(root, ast.Attribute):
            root = root.value
        if isinstance(root, ast.Name) and root.id not in ("self", "cls"):
            return root.id not in self.imported | self.defined and scope.find(root.id) is not None
        return True

    def _may_mean(self, annotation: ast.expr) -> bool:
        """Whether an annotation lets a value be the class: it names it, or nothing narrower than any class."""
        named: set[str] = set()
        for each in ast.walk(annotation):
            if isinstance(each, ast.Name | ast.Attribute):
                named.add(last_name(each))
            elif isinstance(each, ast.Constant) and isinstance(each.value, str):
                named |= {each.value.strip("[]").rpartition("[")[2].rpartition(".")[2]}
        others = named - _PLAIN
        return bool(named & (self.names | _ANY | self.any_types)) or not others or any(map(is_type_variable, others))


def is_type_variable(name: str) -> bool:
    """Whether a name in an annotation looks like that of a type variable, which stands for any class."""
    return len(name) <= 2 or name.endswith(("T", "Type", "T_co"))


def _annotation(node: FunctionNode, name: str) -> ast.expr | None:
    arguments = [*node.args.posonlyargs, *node.args.args, *node.args.kwonlyargs]
    return next((each.annotation for each in arguments if each.arg == name), None)


def named_like(node: ast.expr, names: set[str]) -> int:
    """How many letters of an expression's name are that of one of the classes: ``self.job`` of ``Job``."""
    said = _plain(last_name(node))
    plain = [_plain(name) for name in names]
    ends = [len(each) for each in plain if len(each) > 2 and said.endswith(each)]
    return max([*ends, *(len(said) for each in plain if len(said) > 2 and each.endswith(said))], default=0)


def is_named(node: ast.expr, names: set[str]) -> bool:
    """Whether an expression bears the name of one of the classes and nothing else."""
    return _plain(last_name(node)) in {_plain(name) for name in names}


def _plain(name: str) -> str:
    """A name in small letters alone, without what says only that it is a class of a model."""
    plain = name.lower().replace("_", "")
    return plain.removesuffix("model") or plain
