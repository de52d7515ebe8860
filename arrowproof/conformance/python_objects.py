"""Objects: which names of a scope in Python code are objects of a mapped class, and what an assignment gives to each.

Told by annotations, and by what a name is bound to. What is neither is not known, and what may be the object is not
called another one.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence

from arrowproof.conformance.python_constants import last_name
from arrowproof.conformance.python_scopes import inner_nodes

_ANY_CLASS = {"Any", "object", "Base", "DeclarativeBase", "Model", "SQLModel"}
"""Annotations that any mapped object has."""


def classes_of_names(
    node: ast.AST, body: Sequence[ast.AST], names: set[str], class_name: str, any_types: set[str] | None = None
) -> dict[str, bool | None]:
    """Of each name of a scope, whether it is an object of the table; None when that is not known.

    ``any_types`` are the type variables of the module.
    """
    any_class = _ANY_CLASS | (any_types or set())
    said: dict[str, list[bool | None]] = {}
    if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
        arguments = [*node.args.posonlyargs, *node.args.args, *node.args.kwonlyargs]
        for argument in arguments:
            said[argument.arg] = [_class_of_annotation(argument.annotation, names, any_class)]
        if arguments and arguments[0].arg == "self" and class_name:
            said["self"] = [class_name in names]
    for each in inner_nodes(body):
        if isinstance(each, ast.Assign) and isinstance(each.targets[0], ast.Name):
            said.setdefault(each.targets[0].id, []).append(_class_of_value(each.value, names))
        elif isinstance(each, ast.AnnAssign) and isinstance(each.target, ast.Name):
            said.setdefault(each.target.id, []).append(_class_of_annotation(each.annotation, names, any_class))
        elif isinstance(each, ast.For | ast.AsyncFor | ast.comprehension) and isinstance(each.target, ast.Name):
            said.setdefault(each.target.id, []).append(True if _mentions(each.iter, names) else None)
    return {name: True if True in found else (None if None in found else False) for name, found in said.items()}


def _class_of_annotation(annotation: ast.expr | None, names: set[str], any_class: set[str]) -> bool | None:
    if annotation is None or _mentions(annotation, names):
        return None if annotation is None else True
    if isinstance(annotation, ast.Name) and annotation.id.endswith(("T", "Type")):
        return None
    return None if _mentions(annotation, any_class) else False


def unpacked(targets: Sequence[ast.expr], value: ast.expr | None) -> Iterator[tuple[ast.expr, ast.expr | None]]:
    """Each single target of an assignment with its value, None where that is not written out."""
    for target in targets:
        if not isinstance(target, ast.Tuple | ast.List):
            yield target, value
            continue
        values: Sequence[ast.expr | None] = [None] * len(target.elts)
        if isinstance(value, ast.Tuple | ast.List) and len(value.elts) == len(target.elts):
            values = value.elts
        for part, given in zip(target.elts, values, strict=True):
            yield from unpacked([part.value if isinstance(part, ast.Starred) else part], given)


def _class_of_value(value: ast.expr, names: set[str]) -> bool | None:
    if _mentions(value, names):
        return True
    if isinstance(value, ast.Call) and (last_name(value.func)[:1].isupper() or _looks_up_another(value)):
        return False
    return False if isinstance(value, ast.Constant | ast.Dict | ast.List) else None


def _looks_up_another(value: ast.expr) -> bool:
    """Whether a value is looked up by a class: ``session.get(User, 1)``. That it is not ours is known already."""
    for each in ast.walk(value):
        if isinstance(each, ast.Call) and last_name(each.func) in ("query", "get", "select") and each.args:
            name = last_name(each.args[0])
            return name[:1].isupper() and not name.isupper() and len(name) > 2
    return False


def _mentions(node: ast.AST | None, names: set[str]) -> bool:
    for each in ast.walk(node) if node is not None else ():
        if isinstance(each, ast.Name | ast.Attribute) and last_name(each) in names:
            return True
        if isinstance(each, ast.Constant) and isinstance(each.value, str) and any(name in each.value for name in names):
            return True
    return False
