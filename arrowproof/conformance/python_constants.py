"""Constants of Python code that other code may bind anew: attributes of classes, and names of modules.

What one file cannot show is asked of the text of the others: whether one of them binds ``module.NAME``, or derives a
class that binds the name for itself.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import PurePosixPath

from arrowproof.conformance.python_scopes import Scope, scope_of


@dataclass
class Module:
    """A file of the project, as far as its constants matter to others."""

    file: str
    tree: ast.Module

    @cached_property
    def scope(self) -> Scope:
        """The names that it binds."""
        return scope_of(self.tree, None)

    @cached_property
    def classes(self) -> Mapping[str, ast.expr]:
        """What its classes bind once, as :func:`class_constants` says it."""
        return class_constants(self.tree)


@dataclass
class Project:
    """The Python files of a project by name, as far as they can change each other's constants."""

    texts: Mapping[str, str] = field(default_factory=dict)
    _rebound: dict[tuple[str, str], bool] = field(default_factory=dict)
    _modules: dict[str, Module | None] = field(default_factory=dict)

    def module(self, file: str) -> Module | None:
        """One of its files, None when it cannot be read."""
        if file not in self._modules:
            try:
                self._modules[file] = Module(file, ast.parse(self.texts[file]))
            except (KeyError, SyntaxError, ValueError, RecursionError, MemoryError):
                self._modules[file] = None
        return self._modules[file]

    @cached_property
    def _classes(self) -> dict[str, list[tuple[str, str]]]:
        return {file: _CLASS.findall(text) for file, text in self.texts.items()}

    @cached_property
    def _defined(self) -> dict[str, set[str]]:
        """The names of the derived classes of each file."""
        return {file: {name for name, _ in classes} for file, classes in self._classes.items()}

    @cached_property
    def _bases(self) -> dict[str, set[str]]:
        """The classes of all files by name, with the last names of what they are derived from."""
        found: dict[str, set[str]] = {}
        for classes in self._classes.values():
            for name, bases in classes:
                found.setdefault(name, set()).update(re.findall(r"(\w+)\s*(?=[,)\[]|$)", bases))
        return found

    def bases_of(self, name: str) -> set[str]:
        """What a class is derived from, as far as a file of the project defines that."""
        return {each for each in self._bases.get(name, ()) if each in self._bases or self.defines(each)}

    def defines(self, name: str) -> bool:
        """Whether a file defines a class of that name."""
        return any(f"class {name}" in text for text in self.texts.values())

    def derived_from(self, name: str) -> set[str]:
        """The classes of all files that are derived from one, through others too."""
        found: set[str] = set()
        more = {name}
        while more:
            more = {each for each, bases in self._bases.items() if bases & more} - found
            found |= more
        return found

    def mentions(self, file: str, name: str) -> bool:
        """Whether a word stands in another file, and not only as a name that this file binds for itself."""
        word = re.escape(name)
        stands = re.compile(rf"\b{word}\b")
        is_own = re.compile(rf"^[ \t]*{word}[ \t]*{_BINDS}", re.MULTILINE)
        is_taken = re.compile(rf"[.\"']{word}\b|\bimport\b(?:[ \t]*\*|(?:[ \t]*\([^)]*|[^\n(]*)\b{word}\b)")
        return any(
            other != file
            and name in text
            and stands.search(text)
            and (is_taken.search(text) or not is_own.search(text))
            for other, text in self.texts.items()
        )

    def rebinds(self, file: str, name: str) -> bool:
        """Whether another file binds a name of the module that ``file`` holds."""
        if (file, name) not in self._rebound:
            self._rebound[file, name] = self._rebinds(file, name)
        return self._rebound[file, name]

    def _rebinds(self, file: str, name: str) -> bool:
        path = PurePosixPath(file)
        module = path.parent.name if path.stem == "__init__" else path.stem
        bound = re.escape(name)
        pattern = re.compile(rf"\b(\w+)\.{bound}\s*{_BINDS}|setattr\(\s*(?:\w+\.)*(\w+)\s*,\s*[\"']{bound}[\"']")
        for other, text in self.texts.items():
            if other == file or name not in text or module not in text:
                continue
            for match in pattern.finditer(text):
                owner = match[1] or match[2]
                if owner == module or re.search(rf"\b{re.escape(module)}\s+as\s+{owner}\b", text):
                    return True
        return False

    def overrides(self, file: str, class_name: str, attribute: str, *, is_self: bool) -> bool:
        """Whether another file binds an attribute of a class of ``file``, or, for ``self``, derives one that has it."""
        derived = self.derived_from(class_name) if is_self else set()
        files = [
            other
            for other, text in self.texts.items()
            if other != file and attribute in text and (derived or f"{class_name}.{attribute}" in text)
        ]
        bound = re.compile(
            rf"\b(?:{'|'.join(map(re.escape, sorted({class_name, *derived})))})\.{re.escape(attribute)}\s*{_BINDS}"
        )
        own = re.compile(rf"(?:^[ \t]+|\bself\.|\bcls\.){re.escape(attribute)}[ \t]*{_BINDS}", re.MULTILINE)
        return any(
            bound.search(self.texts[other]) or (self._defined[other] & derived and own.search(self.texts[other]))
            for other in files
        )


_CLASS = re.compile(r"^[ \t]*class[ \t]+(\w+)(?:\[[^\]\n]*\])?[ \t]*\(([^()]*(?:\([^()]*\)[^()]*)*)\)", re.MULTILINE)


_BINDS = r"(?:[-+*/%|&]?=(?!=)|:[^=\n]*=)"


@dataclass
class ClassConstants:
    """What the classes of one module bind once in their bodies, unless something else assigns it."""

    file: str = ""
    project: Project = field(default_factory=Project)
    values: Mapping[str, ast.expr] = field(default_factory=dict)
    known: dict[str, ast.expr | None] = field(default_factory=dict)

    def of(self, owner: str, attribute: str, *, is_self: bool) -> ast.expr | None:
        """The value of ``Class.NAME``, or of ``self.NAME`` in a class, None when it may have several."""
        key = f"{owner}.self.{attribute}" if is_self else f"{owner}.{attribute}"
        value = self.values.get(key)
        if value is None:
            return None
        if key not in self.known:
            is_overridden = self.project.overrides(self.file, owner, attribute, is_self=is_self)
            self.known[key] = None if is_overridden else value
        return self.known[key]


def class_constants(tree: ast.Module) -> dict[str, ast.expr]:
    """What the classes of a module bind once in their bodies, by ``Class.NAME``, unless something else assigns it.

    By ``Class.self.NAME`` once more what no class of the module that is derived from it binds as well: ``self`` may be
    one of these.
    """
    found: dict[tuple[str, str], ast.expr] = {}
    twice: set[tuple[str, str]] = set()
    assigned: set[str] = set()
    bases: dict[str, set[str]] = {}
    for node in ast.walk(tree):
        if isinstance(node, ast.ClassDef):
            bases.setdefault(node.name, set()).update(map(last_name, node.bases))
            for name, value in _bound_in(node):
                twice |= {(node.name, name)} & found.keys()
                found[node.name, name] = value
        elif isinstance(node, ast.Attribute) and isinstance(node.ctx, ast.Store):
            assigned.add(node.attr)
    overridden = {(base, attribute) for owner, attribute in found for base in _ancestors(owner, bases)}
    constants = {name: value for name, value in found.items() if name not in twice and name[1] not in assigned}
    own = {
        f"{owner}.self.{each}": value for (owner, each), value in constants.items() if (owner, each) not in overridden
    }
    return {f"{owner}.{each}": value for (owner, each), value in constants.items()} | own


def _bound_in(node: ast.ClassDef) -> Sequence[tuple[str, ast.expr]]:
    """The names that the body of a class binds, blocks within it too."""
    found = []
    todo: list[ast.AST] = list(node.body)
    while todo:
        each = todo.pop(0)
        targets = each.targets if isinstance(each, ast.Assign) else [getattr(each, "target", None)]
        value = each.value if isinstance(each, ast.Assign | ast.AnnAssign | ast.AugAssign) else None
        found += [(target.id, value) for target in targets if isinstance(target, ast.Name) and value is not None]
        if isinstance(each, ast.If | ast.Try | ast.With | ast.For | ast.While):
            todo += [*each.body, *getattr(each, "orelse", ())]
    return found


def _ancestors(name: str, bases: Mapping[str, set[str]]) -> set[str]:
    """The classes that one is derived from, as far as the module tells."""
    found: set[str] = set()
    left = [name]
    while left:
        new = bases.get(left.pop(), set()) - found
        found |= new
        left += new
    return found


def last_name(node: ast.expr | None) -> str:
    """The last name of ``a.b.c``, empty for anything else."""
    if isinstance(node, ast.Attribute):
        return node.attr
    return node.id if isinstance(node, ast.Name) else ""
