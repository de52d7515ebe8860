"""Strings of Python code: what an expression makes, as constant chunks and holes.

Literals, concatenation, f-strings, ``%``, ``format``, ``join`` and names bound once are followed; whatever else fills a
string is a hole. ``text("…")`` of SQLAlchemy and ``SQL("…")`` of psycopg are the string that they are given.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from string import Formatter

from arrowproof.conformance.pieces import Chunk, added_later, chunks_of
from arrowproof.conformance.python_scopes import Scope

MAX_DEPTH = 60
"""Names and expressions within each other that are followed; a deeper one is a hole."""
MAX_STEPS = 4_000
"""Expressions that are read for one string, each as often as the string has it; what comes after these is a hole."""
_WRAPPERS = frozenset({"text", "SQL", "dedent", "cleandoc", "sql_text", "TextClause", "str", "RawSQL", "LiteralString"})
_SAME = frozenset({"strip", "lstrip", "rstrip", "as_string", "__str__"})
_PERCENT = re.compile(r"%(?:\((?P<key>\w+)\)|(?P<percent>%))?(?(percent)|[-+ #0]*\d*(?:\.\d+)?[sdrfgixua])")


@dataclass
class Strings:
    """Reads the string expressions of one module. ``classes`` are what :func:`class_constants` gives."""

    classes: Mapping[str, ast.expr] = field(default_factory=dict)
    consumed: set[int] = field(default_factory=set)
    """The nodes that are part of a larger string, by identity."""
    steps: int = 0
    """Expressions that were read for the string that is being read."""

    def read(self, node: ast.expr, scope: Scope) -> list[Chunk] | None:
        """The chunks of an expression, None when it is no string that can be seen."""
        is_outermost = self.steps == 0
        try:
            return self._read(node, scope, 0)
        finally:
            self.steps = 0 if is_outermost else self.steps

    def constant(self, node: ast.expr, scope: Scope) -> str | None:
        """The text of an expression that has no holes, None when it has any."""
        chunks = self.read(node, scope)
        if chunks is None or any(each.is_hole and not each.text.startswith(("{", "%")) for each in chunks):
            return None
        return "".join(each.text for each in chunks)

    def _read(self, node: ast.expr, scope: Scope, depth: int) -> list[Chunk] | None:
        self.steps += 1
        if depth > MAX_DEPTH or self.steps > MAX_STEPS:
            return None
        match node:
            case ast.Constant(value=str(value)):
                self.consumed.add(id(node))
                return list(chunks_of(value, node.lineno, node.end_lineno or node.lineno))
            case ast.JoinedStr():
                self.consumed.add(id(node))
                return self._joined(node, scope, depth)
            case ast.BinOp(op=ast.Add()):
                return self._added(node, scope, depth)
            case ast.BinOp(op=ast.Mod()):
                return self._percent(node, scope, depth)
            case ast.Call():
                return self._call(node, scope, depth)
            case ast.Name() | ast.Attribute():
                return self._name(node, scope, depth)
            case ast.NamedExpr():
                return self._read(node.value, scope, depth + 1)
        return None

    def _hole(self, node: ast.expr) -> Chunk:
        return Chunk(ast.unparse(node), node.lineno, node.lineno, is_hole=True)

    def _or_hole(self, node: ast.expr, scope: Scope, depth: int) -> list[Chunk]:
        found = self._read(node, scope, depth + 1)
        number = self._number(node, scope) if found is None else None
        if number is not None:
            return [Chunk(number, node.lineno, node.lineno)]
        return [self._hole(node)] if found is None else found

    def _number(self, node: ast.expr, scope: Scope) -> str | None:
        """A number as text, also under a name that is bound once to one."""
        value: ast.expr | None = node
        if isinstance(node, ast.Attribute):
            value = self._attribute(node, scope)
        elif isinstance(node, ast.Name):
            binding = scope.find(node.id)
            value = binding.value if binding is not None and not binding.additions else None
        is_number = isinstance(value, ast.Constant) and type(value.value) in (int, float)
        return str(value.value) if is_number and isinstance(value, ast.Constant) else None

    def _joined(self, node: ast.JoinedStr, scope: Scope, depth: int) -> list[Chunk]:
        chunks: list[Chunk] = []
        line, last = node.lineno, node.end_lineno or node.lineno
        for part in node.values:
            if isinstance(part, ast.FormattedValue):
                filled = self._or_hole(part.value, scope, depth) if part.conversion in (-1, 115) else None
                chunks += [Chunk(each.text, line, line, each.is_hole) for each in filled or [self._hole(part.value)]]
            elif isinstance(part, ast.Constant):
                self.consumed.add(id(part))
                chunks += chunks_of(str(part.value), line, last)
                line = min(line + str(part.value).count("\n"), last)
        return chunks

    def _added(self, node: ast.BinOp, scope: Scope, depth: int) -> list[Chunk] | None:
        """A sum from the left, without descending into a long one: ``a + b + c + …``."""
        terms: list[ast.expr] = []
        left: ast.expr = node
        while isinstance(left, ast.BinOp) and isinstance(left.op, ast.Add):
            self.consumed.add(id(left))
            terms.append(left.right)
            left = left.left
        read = [(term, self._read(term, scope, depth + 1)) for term in (left, *reversed(terms))]
        if all(chunks is None for _, chunks in read):
            return None
        return [each for term, chunks in read for each in ([self._hole(term)] if chunks is None else chunks)]

    def _percent(self, node: ast.BinOp, scope: Scope, depth: int) -> list[Chunk] | None:
        """``"…" % values``: each placeholder is the text that fills it, when that can be seen."""
        left = self._read(node.left, scope, depth + 1)
        if left is None:
            return None
        self.consumed.add(id(node))
        values = list(node.right.elts) if isinstance(node.right, ast.Tuple) else [node.right]
        named = _dictionary(node.right)
        made: list[Chunk] = []
        for chunk in left:
            match = _PERCENT.fullmatch(chunk.text) if chunk.is_hole else None
            if match is None:
                made.append(chunk)
                continue
            value = named.get(match["key"]) if match["key"] else (values.pop(0) if values and not named else None)
            made += [chunk] if value is None else self._filled(value, chunk, scope, depth)
        return made

    def _filled(self, value: ast.expr, chunk: Chunk, scope: Scope, depth: int) -> list[Chunk]:
        return [Chunk(each.text, chunk.line, chunk.line, each.is_hole) for each in self._or_hole(value, scope, depth)]

    def _call(self, node: ast.Call, scope: Scope, depth: int) -> list[Chunk] | None:
        name = _last_name(node.func)
        if name in _WRAPPERS and len(node.args) == 1 and not isinstance(node.args[0], ast.Starred):
            self.consumed.add(id(node))
            return self._read(node.args[0], scope, depth + 1)
        if name == "Identifier" and node.args:
            parts = [self._read(each, scope, depth + 1) for each in node.args]
            if all(part is not None and not any(each.is_hole for each in part) for part in parts):
                quoted = ".".join('"' + "".join(each.text for each in part or ()) + '"' for part in parts)
                return [Chunk(quoted, node.lineno, node.lineno)]
            return [self._hole(node)]
        if not isinstance(node.func, ast.Attribute):
            return None
        if name == "join" and len(node.args) == 1:
            return self._join(node.func.value, node.args[0], scope, depth)
        if name == "replace" and len(node.args) == 2:
            return self._replaced(node, node.func.value, scope, depth)
        if name in _SAME or name == "format":
            chunks = self._read(node.func.value, scope, depth + 1)
            if chunks is not None:
                self.consumed.add(id(node))
            return self._format(chunks, node, scope, depth) if chunks is not None and name == "format" else chunks
        return None

    def _replaced(self, node: ast.Call, subject: ast.expr, scope: Scope, depth: int) -> list[Chunk] | None:
        """``"…".replace(old, new)`` where ``old`` is constant."""
        chunks, old = self._read(subject, scope, depth + 1), self.constant(node.args[0], scope)
        if chunks is None or not old:
            return None
        self.consumed.add(id(node))
        made: list[Chunk] = []
        for chunk in chunks:
            if chunk.text == old:
                made += self._filled(node.args[1], chunk, scope, depth)
                continue
            parts = [chunk.text] if chunk.is_hole else chunk.text.split(old)
            line = chunk.line
            for index, part in enumerate(parts):
                made += self._filled(node.args[1], Chunk("", line), scope, depth) if index else []
                made.append(Chunk(part, line, chunk.last_line, chunk.is_hole))
                line = min(line + part.count("\n"), max(line, chunk.last_line))
        return made

    def _format(self, chunks: Sequence[Chunk], node: ast.Call, scope: Scope, depth: int) -> list[Chunk]:
        named = {each.arg: each.value for each in node.keywords if each.arg is not None}
        made: list[Chunk] = []
        place = 0
        for chunk in chunks:
            if not chunk.is_hole or not chunk.text.startswith("{") or chunk.text.startswith("{{"):
                made.append(chunk)
                continue
            field_name = next((each[1] for each in _parsed(chunk.text) if each[1] is not None), "")
            value: ast.expr | None
            if field_name and not field_name.isdigit():
                value = named.get(field_name)
            else:
                index = int(field_name) if field_name else place
                place += 1
                value = (
                    node.args[index]
                    if index < len(node.args) and not isinstance(node.args[index], ast.Starred)
                    else None
                )
            made += [chunk] if value is None else self._filled(value, chunk, scope, depth)
        return made

    def _join(self, glue: ast.expr, parts: ast.expr, scope: Scope, depth: int) -> list[Chunk] | None:
        between = self._read(glue, scope, depth + 1)
        is_grown = False
        if isinstance(parts, ast.Name):
            binding = scope.find(parts.id)
            is_grown = binding is not None and (binding.is_grown or bool(binding.additions))
            parts = binding.value if binding is not None and binding.value is not None else parts
        if between is None:
            return None
        if not isinstance(parts, ast.List | ast.Tuple) or any(isinstance(each, ast.Starred) for each in parts.elts):
            return None
        made: list[Chunk] = []
        for index, part in enumerate(parts.elts):
            made += [*(between if index else ()), *self._or_hole(part, scope, depth)]
        return [*made, *between, Chunk("…", parts.lineno, parts.lineno, is_hole=True)] if is_grown else made

    def _name(self, node: ast.Name | ast.Attribute, scope: Scope, depth: int) -> list[Chunk] | None:
        """The string that a name was bound to once, with what ``+=`` always adds to it."""
        if isinstance(node, ast.Attribute):
            value = self._attribute(node, scope)
            return self._read(value, scope, depth + 1) if value is not None else None
        binding = scope.find(node.id)
        if binding is None or binding.value is None:
            return None
        chunks = self._read(binding.value, scope, depth + 1)
        if chunks is None:
            return None
        self.consumed.add(id(node))
        if not binding.is_straight:
            return [*chunks, *added_later(node.id, node.lineno)]
        for each in binding.additions:
            chunks = [*chunks, *self._or_hole(each, scope, depth)]
        return chunks

    def _attribute(self, node: ast.Attribute, scope: Scope) -> ast.expr | None:
        """``Class.NAME``, ``self.NAME``, and the ``.value`` of a member of an enum."""
        if node.attr == "value" and isinstance(node.value, ast.Attribute):
            return self._attribute(node.value, scope)
        if not isinstance(node.value, ast.Name):
            return None
        owner = f"{scope.class_name}.self" if node.value.id in ("self", "cls") else node.value.id
        return self.classes.get(f"{owner}.{node.attr}")


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
            bases.setdefault(node.name, set()).update(map(_last_name, node.bases))
            for each in node.body:
                target = each.targets[0] if isinstance(each, ast.Assign) else getattr(each, "target", None)
                value = each.value if isinstance(each, ast.Assign | ast.AnnAssign) else None
                if isinstance(target, ast.Name) and value is not None:
                    name = (node.name, target.id)
                    twice |= {name} & found.keys()
                    found[name] = value
        elif isinstance(node, ast.Attribute) and isinstance(node.ctx, ast.Store):
            assigned.add(node.attr)
    overridden = {(base, attribute) for owner, attribute in found for base in _ancestors(owner, bases)}
    constants = {name: value for name, value in found.items() if name not in twice and name[1] not in assigned}
    own = {
        f"{owner}.self.{each}": value for (owner, each), value in constants.items() if (owner, each) not in overridden
    }
    return {f"{owner}.{each}": value for (owner, each), value in constants.items()} | own


def _ancestors(name: str, bases: Mapping[str, set[str]]) -> set[str]:
    """The classes that one is derived from, as far as the module tells."""
    found: set[str] = set()
    left = [name]
    while left:
        new = bases.get(left.pop(), set()) - found
        found |= new
        left += new
    return found


def _last_name(node: ast.expr) -> str:
    if isinstance(node, ast.Attribute):
        return node.attr
    return node.id if isinstance(node, ast.Name) else ""


def _dictionary(node: ast.expr) -> dict[str, ast.expr]:
    if isinstance(node, ast.Dict):
        pairs = zip(node.keys, node.values, strict=True)
        return {str(key.value): value for key, value in pairs if isinstance(key, ast.Constant)}
    return {}


def _parsed(text: str) -> Iterable[tuple[str, str | None, str | None, str | None]]:
    try:
        return list(Formatter().parse(text))
    except ValueError:
        return []
