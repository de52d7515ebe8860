"""Scopes of Python code: what a name is bound to, when it is bound once and to an expression that can be read.

Read from the syntax tree alone; nothing of the code is imported or run.
"""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field

FunctionNode = ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda
_SCOPES = (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda, ast.ClassDef)


@dataclass
class Binding:
    """What a name is bound to: every expression that is assigned to it, and what is added to it later.

    ``is_straight`` says that the additions are always made, one after the other, in the block of the binding;
    ``is_grown`` that a method adds to it (``append``, ``extend``, ``insert``). ``is_bound_otherwise``: by a loop, an
    import, a parameter, and then its value is not known.
    """

    name: str
    assigned: list[ast.expr] = field(default_factory=list)
    additions: list[ast.expr] = field(default_factory=list)
    is_straight: bool = True
    is_grown: bool = False
    is_bound_otherwise: bool = False

    @property
    def value(self) -> ast.expr | None:
        """The expression that it is bound to once, None when there is none."""
        return self.assigned[0] if len(self.assigned) == 1 and not self.is_bound_otherwise else None


@dataclass
class Scope:
    """The names of a module, class or function, and the scope around it. A class is no scope to its functions."""

    names: dict[str, Binding]
    parent: Scope | None = None
    is_class: bool = False
    is_module: bool = False
    class_name: str = ""

    def find(self, name: str) -> Binding | None:
        """The binding that a bare name means here, None when there is none."""
        scope: Scope | None = self
        while scope is not None:
            if name in scope.names and (scope is self or not scope.is_class):
                return scope.names[name]
            scope = scope.parent
        return None


def scope_of(node: ast.Module | ast.ClassDef | FunctionNode, parent: Scope | None) -> Scope:
    """The scope that a node opens."""
    names: dict[str, Binding] = {}
    if isinstance(node, FunctionNode):
        arguments = node.args
        every = [*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs, arguments.vararg, arguments.kwarg]
        names.update({each.arg: Binding(each.arg, is_bound_otherwise=True) for each in every if each is not None})
    body = [node.body] if isinstance(node, ast.Lambda) else node.body
    _bind(body, names)
    is_class = isinstance(node, ast.ClassDef)
    name = node.name if isinstance(node, ast.ClassDef) else (parent.class_name if parent else "")
    return Scope(names, parent, is_class, isinstance(node, ast.Module), name)


def inner_nodes(nodes: Iterable[ast.AST]) -> Iterator[ast.AST]:
    """The nodes of a scope in the order of the text, without those of the scopes inside it."""
    todo = list(nodes)[::-1]
    while todo:
        node = todo.pop()
        yield node
        if not isinstance(node, _SCOPES):
            todo += list(ast.iter_child_nodes(node))[::-1]


def _bind(body: Iterable[ast.AST], names: dict[str, Binding]) -> None:
    blocks: dict[str, int] = {}
    for node, block in _with_blocks(body):
        target = _assigned_name(node)
        value = getattr(node, "value", None)
        if target is not None and value is not None:
            binding = names.setdefault(target, Binding(target))
            adds_to_itself = any(isinstance(each, ast.Name) and each.id == target for each in ast.walk(value))
            if isinstance(node, ast.AugAssign) or (adds_to_itself and binding.assigned):
                binding.additions.append(value)
                is_plus = isinstance(node, ast.AugAssign) and isinstance(node.op, ast.Add)
                binding.is_straight &= is_plus and blocks.get(target) == block
            else:
                binding.assigned.append(value)
                binding.is_straight &= len(binding.assigned) == 1
                blocks[target] = block
        for name in _other_names(node):
            names.setdefault(name, Binding(name)).is_bound_otherwise = True
        grown = _grown_name(node)
        if grown in names:
            names[grown].is_grown = True


def _assigned_name(node: ast.AST) -> str | None:
    """The one name that an assignment binds or adds to."""
    target: ast.expr | None = None
    if isinstance(node, ast.Assign) and len(node.targets) == 1:
        target = node.targets[0]
    elif isinstance(node, ast.AnnAssign | ast.AugAssign):
        target = node.target
    return target.id if isinstance(target, ast.Name) else None


def _with_blocks(body: Iterable[ast.AST]) -> Iterator[tuple[ast.AST, int]]:
    """The nodes of a scope, each with a number of the block of statements that it stands in."""
    todo: list[tuple[ast.AST, int]] = [(node, 0) for node in body][::-1]
    blocks = 0
    while todo:
        node, block = todo.pop()
        yield node, block
        if isinstance(node, _SCOPES):
            continue
        children: list[tuple[ast.AST, int]] = []
        for _, value in ast.iter_fields(node):
            if isinstance(value, list):
                blocks += 1
                children += [(each, blocks) for each in value if isinstance(each, ast.AST)]
            elif isinstance(value, ast.AST):
                children.append((value, block))
        todo += children[::-1]


def _other_names(node: ast.AST) -> Iterator[str]:
    """The names that a node binds otherwise than by an assignment to one name."""
    targets: list[ast.expr] = []
    match node:
        case ast.Assign():
            targets = node.targets if _assigned_name(node) is None else []
        case ast.For() | ast.AsyncFor() | ast.comprehension() | ast.NamedExpr():
            targets = [node.target]
        case ast.withitem(optional_vars=ast.expr() as variables):
            targets = [variables]
        case ast.Delete():
            targets = node.targets
        case ast.ExceptHandler(name=str(name)) | ast.MatchAs(name=str(name)) | ast.MatchStar(name=str(name)):
            yield name
        case ast.FunctionDef(name=name) | ast.AsyncFunctionDef(name=name) | ast.ClassDef(name=name):
            yield name
        case ast.alias():
            yield (node.asname or node.name).partition(".")[0]
        case ast.Global() | ast.Nonlocal():
            yield from node.names
    for target in targets:
        yield from (each.id for each in ast.walk(target) if isinstance(each, ast.Name))


def _grown_name(node: ast.AST) -> str | None:
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and isinstance(node.func.value, ast.Name):
        return node.func.value.id if node.func.attr in ("append", "extend", "insert") else None
    return None
