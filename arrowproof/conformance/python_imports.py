"""Imports of Python code: which constant of another file a name stands for.

``from app.states import DONE``, ``states.DONE`` and ``State.DONE.value`` stand for a string that the project binds
once, in a module or in the body of a class. A module is a file of the project below the same root as the file that
imports it; nothing is looked for elsewhere, and nothing is imported or run.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import PurePosixPath

from arrowproof.conformance.python_constants import Module, Project

MAX_HOPS = 8
"""Modules that hand a name on to each other."""


@dataclass
class Imports:
    """What the names that a file imports stand for, as far as the project shows it."""

    file: str = ""
    project: Project = field(default_factory=Project)
    _found: dict[str, frozenset[_Import]] = field(default_factory=dict)

    def constant(self, node: ast.Name | ast.Attribute) -> str | None:
        """The string that a name of the file stands for whose first part is imported, None when that is not known."""
        names = _names(node)
        value = self._of_module(self.file, names, 0) if names is not None else None
        return value.value if isinstance(value, ast.Constant) and isinstance(value.value, str) else None

    def _of_module(self, file: str, names: Sequence[str], hops: int) -> ast.expr | None:
        """What ``names``, the first of which is a name of a file's module, stand for."""
        module = self.project.module(file)
        binding = module.scope.names.get(names[0]) if module is not None else None
        if module is None or hops > MAX_HOPS or self.project.rebinds(file, names[0]):
            return None
        if binding is None or binding.is_imported or hops == 0:
            return self._imported(module, names, hops)
        rest = [name for name in names[1:] if name != "value"]
        if not rest:
            return binding.value if not binding.additions and len(names) == 1 else None
        is_overridden = len(rest) > 1 or self.project.overrides(file, names[0], rest[0], is_self=False)
        return None if is_overridden else module.classes.get(f"{names[0]}.{rest[0]}")

    def _imported(self, module: Module, names: Sequence[str], hops: int) -> ast.expr | None:
        """What ``names`` stand for, the first of which a module imports."""
        if module.file not in self._found:
            self._found[module.file] = frozenset(_imports(module.tree))
        found = {each for each in self._found[module.file] if each.name == names[0]}
        imported = found.pop() if len(found) == 1 else None
        path = self._path(module.file, imported) if imported is not None else None
        if imported is None or path is None:
            return None
        rest = [imported.attribute, *names[1:]] if imported.attribute else list(names[1:])
        while rest:
            submodule = str(PurePosixPath(path, rest[0]))
            file = self._file(path)
            if file is not None and (rest[0] in self._bound(file) or self._file(submodule) is None):
                return self._of_module(file, rest, hops + 1)
            if self._file(submodule) is None and not self._is_folder(submodule):
                return None
            path, rest = submodule, rest[1:]
        return None

    def _bound(self, file: str) -> set[str]:
        module = self.project.module(file)
        return set(module.scope.names) if module is not None else set()

    def _path(self, file: str, found: _Import) -> str | None:
        """The path of the imported module without its suffix, None where no file or more than one may be meant."""
        own = PurePosixPath(file).parent
        if found.level:
            base = own
            for _ in range(found.level - 1):
                base = base.parent
            return str(base / found.module) if found.module else str(base)
        roots = [own, *own.parents]
        paths = [
            str(root / found.module) for root in roots if f"{root}/__init__.py".removeprefix("./") not in self._files
        ]
        known = [path for path in paths if self._file(path) is not None or self._is_folder(path)]
        return known[0] if len(known) == 1 else None

    @cached_property
    def _files(self) -> frozenset[str]:
        return frozenset(self.project.texts)

    @cached_property
    def _folders(self) -> frozenset[str]:
        return frozenset(str(parent) for file in self._files for parent in PurePosixPath(file).parents)

    def _is_folder(self, path: str) -> bool:
        return path in self._folders

    def _file(self, path: str) -> str | None:
        names = (f"{path}.py", "__init__.py" if path == "." else f"{path}/__init__.py")
        return next((name for name in names if name in self._files), None)


@dataclass(frozen=True)
class _Import:
    """That ``name`` stands for a module, or an ``attribute`` of one. ``level``: the dots ahead of a relative one."""

    name: str
    module: str
    attribute: str = ""
    level: int = 0


def _imports(tree: ast.Module) -> Iterator[_Import]:
    """The imports of a module, those in its functions too."""
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom):
            module = (node.module or "").replace(".", "/")
            yield from (_Import(each.asname or each.name, module, each.name, node.level) for each in node.names)
        elif isinstance(node, ast.Import):
            for each in node.names:
                path = each.name if each.asname else each.name.partition(".")[0]
                yield _Import(each.asname or path, path.replace(".", "/"))


def _names(node: ast.expr) -> list[str] | None:
    """``a.b.c`` as its names, None for anything else."""
    names: list[str] = []
    while isinstance(node, ast.Attribute):
        names.append(node.attr)
        node = node.value
    return [node.id, *reversed(names)] if isinstance(node, ast.Name) else None
