"""Statements of SQLAlchemy that only begin under the name that they are bound to, and are executed as what they become.

``stmt = update(Job).where(…)`` with ``session.execute(stmt.values(…))`` further on is one statement, the second.
"""

from __future__ import annotations

import ast

from arrowproof.conformance.python_constants import Project
from arrowproof.conformance.python_scopes import FunctionNode, Scope, inner_nodes, scope_of

GROWING = frozenset(
    {"values", "ordered_values", "where", "filter", "filter_by", "returning", "from_select", "execution_options"}
    | {"on_conflict_do_update", "on_conflict_do_nothing", "on_duplicate_key_update", "prefix_with", "suffix_with"}
    | {"options", "correlate", "return_defaults", "with_dialect_options", "limit", "order_by", "add_cte"}
)
"""Methods of a statement that give another one, with more to it."""


def beginnings(tree: ast.Module, file: str = "", project: Project | None = None) -> set[int]:
    """The expressions, by identity, that are bound to names and go on wherever these are used.

    The names are of functions, or private to the module: what another file may import, or what is come to as an
    attribute or by its text, may be executed there as it is. ``file`` is the name of the module in its ``project``.
    """
    uses = _Uses(tree, file, project or Project())
    uses.look(tree, None)
    return uses.going_on - uses.used


class _Uses:
    """What is done to the expressions that names are bound to."""

    def __init__(self, tree: ast.Module, file: str, project: Project) -> None:
        self.file = file
        self.project = project
        self.going_on: set[int] = set()
        self.used: set[int] = set()
        """The expressions that are used in any other way, or may be."""
        self.attributes = {each.attr for each in ast.walk(tree) if isinstance(each, ast.Attribute)}
        self.texts = {each.value for each in ast.walk(tree) if isinstance(each, ast.Constant)}

    def look(self, node: ast.Module | ast.ClassDef | FunctionNode, parent: Scope | None) -> None:
        """Look at a scope and those inside it."""
        scope = scope_of(node, parent)
        if scope.is_module or scope.is_class:
            seen = (binding for name, binding in scope.names.items() if self._is_seen(name, scope))
            self.used |= {id(value) for binding in seen for value in binding.assigned}
        nodes = list(inner_nodes([node.body] if isinstance(node, ast.Lambda) else node.body))
        owners = {id(each.value) for each in nodes if isinstance(each, ast.Attribute)}
        methods = {
            id(each.func.value): each.func.attr
            for each in nodes
            if isinstance(each, ast.Call) and isinstance(each.func, ast.Attribute)
        }
        for each in nodes:
            if isinstance(each, ast.ClassDef | FunctionNode):
                self.look(each, scope)
            elif isinstance(each, ast.Name) and isinstance(each.ctx, ast.Load):
                self._use(each, scope, methods.get(id(each)), is_owner=id(each) in owners)

    def _is_seen(self, name: str, scope: Scope) -> bool:
        """Whether a name of a module or class may be used otherwise than as a bare name of this module."""
        is_named = name in self.texts or (scope.is_class and name in self.attributes)
        return is_named or not name.startswith("_") or self.project.mentions(self.file, name)

    def _use(self, name: ast.Name, scope: Scope, method: str | None, *, is_owner: bool) -> None:
        """Note one use of a name. ``is_owner``: of an attribute (``stmt.excluded``), which executes nothing."""
        binding, use = scope.place_of(name)
        if binding is None:
            return
        values = {id(binding.assigned[index]) for index in binding.reaching(use)}
        if method in GROWING and len(values) == 1 and not binding.is_bound_otherwise:
            self.going_on |= values
        elif method is not None or not is_owner:
            self.used |= values
