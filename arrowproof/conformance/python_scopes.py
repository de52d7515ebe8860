"""Scopes of Python code: what a name is bound to, and which of it can be its value where it is used.

Read from the syntax tree alone; nothing of the code is imported or run.
"""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from enum import StrEnum

from arrowproof.conformance.python_flow import Block, Spot, reaching, shared_blocks, spot_of, with_blocks
from arrowproof.model.record import record

FunctionNode = ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda
_GROWING = frozenset({"append", "extend", "insert", "update", "setdefault", "add", "appendleft", "__setitem__"})


class When(StrEnum):
    """Whether what is added to a string is there where the string is used."""

    ALWAYS = "always"
    PERHAPS = "perhaps"
    SOMEHOW = "somehow"
    """In a loop or by a function, so that nobody can tell how often and in which order."""


@record
class Addition:
    """What is added to a name. ``blocks`` are those that it takes to come to it, from the outermost one: the branches
    of ``if`` and ``else`` alone; none where others stand among them, out of which an error may lead."""

    value: ast.expr
    when: When
    blocks: tuple[Block, ...] = ()


def _perhaps(value: ast.expr, spot: Spot, start: Spot, use: Spot | None) -> Addition:
    """An addition that stands in blocks in which neither the value that it is added to nor the use of it stands."""
    shared = max(shared_blocks(spot, start), shared_blocks(spot, use) if use is not None else 0)
    blocks = spot.blocks[shared:]
    return Addition(value, When.PERHAPS, blocks if all(block.is_either_or for block in blocks) else ())


@dataclass
class Binding:
    """What a name is bound to: every expression that is assigned to it, and what is added to it later.

    ``spots`` say where; an addition knows whether it is ``+=``. ``is_bound_otherwise``: by a loop, an import, a
    parameter; ``is_imported``: by imports alone; ``is_scattered``: by a function that calls it global too.
    """

    name: str
    assigned: list[ast.expr] = field(default_factory=list)
    spots: list[Spot] = field(default_factory=list)
    additions: list[tuple[ast.expr, Spot, bool]] = field(default_factory=list)
    is_bound_otherwise: bool = False
    is_scattered: bool = False
    is_imported: bool = False

    @property
    def value(self) -> ast.expr | None:
        """The expression that it is bound to once, None when there is none."""
        return self.assigned[0] if len(self.assigned) == 1 and not self.is_bound_otherwise else None

    def reaching(self, use: Spot | None) -> list[int]:
        """The assignments, by index, whose values it may have at a place of its own scope, or anywhere else (None)."""
        if use is None or self.is_scattered:
            return list(range(len(self.assigned)))
        return reaching(self.spots, use)

    def added_to(self, index: int | None, use: Spot | None) -> list[Addition]:
        """What is added to one of its values until it is used at a place of its own scope, or anywhere else (None)."""
        start = self.spots[index] if index is not None else Spot((), (0, 0))
        found: list[Addition] = []
        for each, spot, is_sum in self.additions:
            if not start.may_precede(spot) or not (use is None or self.is_scattered or spot.may_precede(use)):
                continue
            if any(start.is_ahead_of(other) and other.is_ahead_of(spot) for other in self.spots if other is not start):
                continue
            is_repeated = any(block.is_loop and block not in start.blocks for block in spot.blocks)
            is_behind = start.at < spot.at and (use is None or spot.at < use.at)
            if self.is_scattered or is_repeated or not is_behind or not is_sum:
                found.append(Addition(each, When.SOMEHOW))
            else:
                is_always = spot.blocks == start.blocks or (use is not None and spot.is_ahead_of(use))
                found.append(Addition(each, When.ALWAYS) if is_always else _perhaps(each, spot, start, use))
        return found


@dataclass
class Scope:
    """The names of a module, class or function, and the scope around it. A class is no scope to its functions.

    ``places`` are the spots of the uses of names that are bound more than once or added to, by their nodes' identity.
    """

    names: dict[str, Binding]
    parent: Scope | None = None
    is_class: bool = False
    is_module: bool = False
    class_name: str = ""
    outer: frozenset[str] = frozenset()
    places: Mapping[int, Spot] = field(default_factory=dict)
    shares_names: bool = False
    """Whether any function of the module calls a name global or nonlocal."""
    grown: frozenset[str] = frozenset()
    """The names of lists and dictionaries that something is added to, anywhere in the module."""

    def is_grown(self, name: str) -> bool:
        """Whether a method or an item adds to a list or dictionary of this name (``append``, ``x[1] = …``)."""
        return name in self.grown

    def find(self, name: str) -> Binding | None:
        """The binding that a bare name means here, None when there is none."""
        return self.owner(name)[0]

    def owner(self, name: str) -> tuple[Binding | None, Scope | None]:
        """The binding that a bare name means here, and the scope that it belongs to."""
        scope: Scope | None = self
        is_global = False
        while scope is not None:
            is_global |= name in scope.outer
            is_seen = scope.is_module or not is_global
            if is_seen and name in scope.names and (scope is self or not scope.is_class):
                return scope.names[name], scope
            scope = scope.parent
        return None, None

    def place_of(self, node: ast.Name) -> tuple[Binding | None, Spot | None]:
        """What a use of a name means, and where it stands in the scope of the binding; None when in one inside it."""
        binding, owner = self.owner(node.id)
        return binding, (self.places.get(id(node)) if owner is self else None)


def scope_of(node: ast.Module | ast.ClassDef | FunctionNode, parent: Scope | None) -> Scope:
    """The scope that a node opens."""
    names: dict[str, Binding] = {}
    if isinstance(node, FunctionNode):
        _bind_parameters(node.args, names)
    body = [node.body] if isinstance(node, ast.Lambda) else node.body
    outer, inner, places = _bind(body, names)
    for name in outer | inner:
        names.pop(name, None)
    if parent is None:
        shares_names, grown = _look_over(node)
    else:
        shares_names, grown = parent.shares_names, parent.grown
    if shares_names and not isinstance(node, ast.ClassDef):
        _bind_from_inside(body, names, isinstance(node, ast.Module))
    is_class = isinstance(node, ast.ClassDef)
    name = node.name if isinstance(node, ast.ClassDef) else (parent.class_name if parent else "")
    is_module = isinstance(node, ast.Module)
    return Scope(names, parent, is_class, is_module, name, outer, places, shares_names, grown)


def _look_over(tree: ast.AST) -> tuple[bool, frozenset[str]]:
    """Whether names are shared between the functions of a module, and which lists are added to."""
    shares_names = False
    grown = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Subscript | ast.Call):
            grown.add(_grown_name(node))
        else:
            shares_names |= isinstance(node, ast.Global | ast.Nonlocal)
    return shares_names, frozenset(each for each in grown if each is not None)


def inner_nodes(nodes: Iterable[ast.AST]) -> Iterator[ast.AST]:
    """The nodes of a scope in the order of the text, without those of the scopes inside it."""
    return (node for node, _ in with_blocks(nodes))


def _bind_parameters(arguments: ast.arguments, names: dict[str, Binding]) -> None:
    """The parameters: whatever a caller gives, or the default."""
    every = [*arguments.posonlyargs, *arguments.args]
    defaults: list[ast.expr | None] = [None] * (len(every) - len(arguments.defaults)) + [*arguments.defaults]
    every += arguments.kwonlyargs
    defaults += arguments.kw_defaults
    start = Spot((), (0, 0))
    for each, default in zip(every, defaults, strict=True):
        given = [] if default is None else [default]
        names[each.arg] = Binding(each.arg, given, [start for _ in given], is_bound_otherwise=True)
    for rest in (arguments.vararg, arguments.kwarg):
        if rest is not None:
            names[rest.arg] = Binding(rest.arg, is_bound_otherwise=True)


def _bind(
    body: Iterable[ast.AST], names: dict[str, Binding]
) -> tuple[frozenset[str], frozenset[str], Mapping[int, Spot]]:
    """Bind the names of a scope. Which it calls global and nonlocal, and the places of what uses them."""
    uses: list[tuple[ast.Name, tuple[Block, ...]]] = []
    outer: dict[type[ast.AST], set[str]] = {ast.Global: set(), ast.Nonlocal: set()}
    for node, blocks in with_blocks(body):
        if isinstance(node, ast.Name):
            uses.append((node, blocks))
        if not isinstance(node, _BINDING):
            continue
        if isinstance(node, ast.Global | ast.Nonlocal):
            outer[type(node)].update(node.names)
        for target, value in _assigned_values(node):
            binding = names.setdefault(target, Binding(target))
            binding.is_imported = False
            spot = spot_of(node, blocks, is_end=True)
            # A loop that binds a name to what it was and more adds to it; elsewhere it is one more value.
            is_in_loop = any(block.is_loop for block in blocks)
            if isinstance(node, ast.AugAssign) or (is_in_loop and _uses(value, target)):
                is_sum = isinstance(node, ast.AugAssign) and isinstance(node.op, ast.Add)
                binding.additions.append((value, spot, is_sum))
            else:
                binding.assigned.append(value)
                binding.spots.append(spot)
        for name in _other_names(node):
            is_first = name not in names
            binding = names.setdefault(name, Binding(name))
            binding.is_bound_otherwise = True
            binding.is_imported = isinstance(node, ast.alias) and (is_first or binding.is_imported)
    moving = {name for name, binding in names.items() if len(binding.assigned) > 1 or binding.additions}
    places = {id(each): spot_of(each, blocks) for each, blocks in uses if each.id in moving}
    return frozenset(outer[ast.Global]), frozenset(outer[ast.Nonlocal]), places


def _uses(value: ast.AST, name: str) -> bool:
    return any(isinstance(each, ast.Name) and each.id == name for each in ast.walk(value))


_BINDING = (
    *(ast.Global, ast.Nonlocal, ast.Assign, ast.AnnAssign, ast.AugAssign, ast.NamedExpr, ast.For, ast.AsyncFor),
    *(ast.comprehension, ast.withitem, ast.Delete, ast.ExceptHandler, ast.MatchAs, ast.MatchStar, ast.MatchMapping),
    *(ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef, ast.alias),
)
"""The nodes that bind a name."""


def _bind_from_inside(body: Iterable[ast.AST], names: dict[str, Binding], is_module: bool) -> None:
    """What functions inside a scope bind to its names, which they call global or nonlocal."""
    kind = ast.Global if is_module else ast.Nonlocal
    for node in (inner for each in body for inner in ast.walk(each)):
        if not isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            continue
        shared = {name for each in inner_nodes(node.body) if isinstance(each, kind) for name in each.names}
        if not shared:
            continue
        found: dict[str, Binding] = {}
        _bind(node.body, found)
        for name in shared & found.keys() & (names.keys() if not is_module else shared):
            binding, more = names.setdefault(name, Binding(name)), found[name]
            binding.assigned += more.assigned
            binding.spots += more.spots
            binding.additions += more.additions
            binding.is_scattered = True
            is_only_called_so = not (more.assigned or more.additions)
            binding.is_bound_otherwise |= more.is_bound_otherwise and not is_only_called_so


def _assigned_values(node: ast.AST) -> Iterator[tuple[str, ast.expr]]:
    """The names that an assignment binds or adds to, with the value of each: ``a = b = value``, ``a, b = 1, 2``."""
    targets: list[ast.expr] = []
    if isinstance(node, ast.Assign):
        targets = node.targets
    elif isinstance(node, ast.AnnAssign | ast.AugAssign | ast.NamedExpr):
        targets = [node.target]
    value = getattr(node, "value", None)
    for target in targets if isinstance(value, ast.expr) else ():
        assert isinstance(value, ast.expr)
        if isinstance(target, ast.Name):
            yield target.id, value
        else:
            yield from _paired(target, value)


def _paired(target: ast.expr, value: ast.expr) -> list[tuple[str, ast.expr]]:
    """The names of ``a, b = "x", "y"``, each with its constant; none where anything else is bound or given."""
    if not isinstance(target, ast.Tuple | ast.List) or not isinstance(value, ast.Tuple | ast.List):
        return []
    names = [each.id for each in target.elts if isinstance(each, ast.Name)]
    constants = [each for each in value.elts if isinstance(each, ast.Constant)]
    is_plain = len(target.elts) == len(value.elts) == len(names) == len(constants)
    return list(zip(names, constants, strict=True)) if is_plain else []


def _other_names(node: ast.AST) -> Iterator[str]:
    """The names that a node binds otherwise than by an assignment to one name."""
    targets: list[ast.expr] = []
    match node:
        case ast.Assign():
            unpacked = [each for each in node.targets if isinstance(each, ast.Tuple | ast.List | ast.Starred)]
            targets = [each for each in unpacked if not _paired(each, node.value)]
        case ast.For() | ast.AsyncFor() | ast.comprehension():
            targets = [node.target]
        case ast.withitem(optional_vars=ast.expr() as variables):
            targets = [variables]
        case ast.Delete():
            targets = node.targets
        case ast.ExceptHandler(name=str(name)) | ast.MatchAs(name=str(name)) | ast.MatchStar(name=str(name)):
            yield name
        case ast.MatchMapping(rest=str(name)):
            yield name
        case ast.FunctionDef(name=name) | ast.AsyncFunctionDef(name=name) | ast.ClassDef(name=name):
            yield name
        case ast.alias():
            yield (node.asname or node.name).partition(".")[0]
    for target in targets:
        yield from (
            each.id for each in ast.walk(target) if isinstance(each, ast.Name) and not isinstance(each.ctx, ast.Load)
        )


def _grown_name(node: ast.AST) -> str | None:
    """The list or dictionary that a node adds to."""
    if isinstance(node, ast.Subscript) and isinstance(node.ctx, ast.Store) and isinstance(node.value, ast.Name):
        return node.value.id
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and isinstance(node.func.value, ast.Name):
        return node.func.value.id if node.func.attr in _GROWING else None
    return None
