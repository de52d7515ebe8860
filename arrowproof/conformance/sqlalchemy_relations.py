"""Relationships of SQLAlchemy whose cascade removes rows of the bound table along with the object that has them."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

from arrowproof.conformance.python_constants import last_name

_REMOVING = frozenset({"all", "delete", "delete-orphan"})


def removing_relations(tree: ast.Module, names: set[str]) -> Iterator[ast.Call]:
    """The calls that make a relationship to one of the mapped classes ``names`` which removes its rows."""
    annotations = {id(each.value): each.annotation for each in ast.walk(tree) if isinstance(each, ast.AnnAssign)}
    owners = {
        id(inner): each.name for each in ast.walk(tree) if isinstance(each, ast.ClassDef) for inner in ast.walk(each)
    }
    for node in ast.walk(tree):
        if not isinstance(node, ast.Call) or last_name(node.func).lower() not in ("relationship", "dynamic_loader"):
            continue
        if names & _targets(node, annotations.get(id(node))) and _removes(node):
            yield node
        for keyword in node.keywords:
            is_back = keyword.arg == "backref" and isinstance(keyword.value, ast.Call)
            if is_back and owners.get(id(node)) in names and isinstance(keyword.value, ast.Call):
                yield from [keyword.value] if _removes(keyword.value) else []


def _targets(call: ast.Call, annotation: ast.expr | None) -> set[str]:
    """The names of classes that a relationship may lead to: ``"app.Job"``, ``lambda: Job``, ``list["Job"]``."""
    named = [*call.args[:1], *(each.value for each in call.keywords if each.arg == "argument")]
    said: set[str] = set()
    for node in named or ([annotation] if annotation is not None else []):
        for each in ast.walk(node):
            said |= {last_name(each)} if isinstance(each, ast.Name | ast.Attribute) else set()
            if isinstance(each, ast.Constant) and isinstance(each.value, str):
                said.update(re.findall(r"\w+", each.value))
    return said


def _removes(call: ast.Call) -> bool:
    """Whether the cascade of a relationship removes rows; one that is not written out may."""
    keywords = {each.arg: each.value for each in call.keywords}
    more = keywords.get("sa_relationship_kwargs")
    if isinstance(more, ast.Dict):
        keywords |= {str(getattr(key, "value", "")): value for key, value in zip(more.keys, more.values, strict=True)}
    all_of_them = keywords.get("cascade_delete")
    if isinstance(all_of_them, ast.Constant) and all_of_them.value is True:
        return True
    cascade = keywords.get("cascade")
    if isinstance(cascade, ast.Constant) and isinstance(cascade.value, str):
        return bool(_REMOVING & {each.strip() for each in cascade.value.split(",")})
    return cascade is not None and not isinstance(cascade, ast.Constant)
