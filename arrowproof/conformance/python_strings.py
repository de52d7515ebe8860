"""Strings of Python code: what an expression makes, as constant chunks and holes.

Literals, concatenation, f-strings, ``%``, methods of strings and names are followed; whatever else fills a string is a
hole. Where a string may be one of several (a name that is bound twice, ``a if b else c``, an item of a list), it is
read in each way. ``text("…")`` of SQLAlchemy and ``SQL("…")`` of psycopg are the string that they are given. What is
done to a string that may be SQL and cannot be followed is a :class:`Doubt`.
"""

from __future__ import annotations

import ast
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property

from arrowproof.conformance.pieces import Chunk, added_later, chunks_of
from arrowproof.conformance.python_choices import Choices
from arrowproof.conformance.python_constants import ClassConstants
from arrowproof.conformance.python_flow import Spot
from arrowproof.conformance.python_imports import Imports
from arrowproof.conformance.python_methods import parts_of, read_call, read_percent
from arrowproof.conformance.python_scopes import Addition, Binding, Scope, When
from arrowproof.conformance.python_text import MAX_TEXT, number_of, shown, slice_of, written_text
from arrowproof.model.record import record

MAX_DEPTH = 60
"""Names and expressions within each other that are followed; a deeper one is a hole."""
MAX_STEPS = 4_000
"""Expressions that are read for one string, each as often as the string has it; what comes after these is a hole."""


@record
class Doubt:
    """A string to which something is done that is not followed, where it is done, and why that matters.

    ``is_any_table``: what is done may put another table into it.
    """

    chunks: tuple[Chunk, ...]
    line: int
    reason: str
    is_any_table: bool = False


@dataclass
class Strings:
    """Reads the string expressions of one module."""

    constants: ClassConstants = field(default_factory=ClassConstants)
    consumed: set[int] = field(default_factory=set)
    """The nodes that are part of a larger string, or one by themselves, by identity."""
    taken: set[int] = field(default_factory=set)
    """The values of names that were read where the name stands, by identity."""
    templates: set[int] = field(default_factory=set)
    """The values of names that are filled where the name stands: by ``format``, ``replace``, ``%``."""
    doubts: dict[int, Doubt] = field(default_factory=dict)
    steps: int = 0
    """Expressions that were read for the string that is being read."""
    choices: Choices = field(default_factory=Choices)
    active: list[tuple[int, int | None]] = field(default_factory=list)
    """The values of bindings that are being read, which would begin anew without an end."""
    circular: set[int] = field(default_factory=set)
    """The bindings, by identity, of which a value is made of itself, through others too."""
    is_final: bool = False
    """Whether what is read is what will be listed, so that what is not followed in it has to be said."""

    def read(self, node: ast.expr, scope: Scope) -> list[Chunk] | None:
        """The chunks of an expression, None when it is no string that can be seen, or one of several."""
        is_outermost = self.steps == 0
        try:
            return self.chunks(node, scope, 0)
        finally:
            self.steps = 0 if is_outermost else self.steps

    def variants(self, node: ast.expr, scope: Scope) -> list[list[Chunk]]:
        """The chunks of an expression in each way in which it can be read; none when it is no string.

        Where there are too many ways, what they differ in is a hole, or, where it is all, left to be read in parts.
        """
        consumed, taken = set(self.consumed), set(self.taken)
        self.is_final = True
        try:
            made = self.choices.ways(lambda: self.read(node, scope))
            if made is None:
                self.consumed, self.taken = consumed, taken
                made = [self.read(node, scope)]
        finally:
            self.is_final = False
        return list({tuple(each): each for each in made if each}.values())

    def constant(self, node: ast.expr, scope: Scope) -> str | None:
        """The text of an expression that has no holes, None when it has any."""
        return written_text(self.read(node, scope))

    def chunks(self, node: ast.expr, scope: Scope, depth: int) -> list[Chunk] | None:
        """What :meth:`read` gives, at a depth."""
        self.steps += 1
        if depth > MAX_DEPTH or self.steps > MAX_STEPS:
            return None
        found = self._chunks(node, scope, depth)
        if found is not None and isinstance(node, ast.IfExp | ast.BoolOp | ast.Subscript | ast.Call):
            self.consumed.add(id(node))
        return found

    def _chunks(self, node: ast.expr, scope: Scope, depth: int) -> list[Chunk] | None:
        match node:
            case ast.Constant(value=str() | bytes()):
                self.consumed.add(id(node))
                value = node.value
                text = value.decode("utf-8", "replace") if isinstance(value, bytes) else str(value)
                return list(chunks_of(text, node.lineno, node.end_lineno or node.lineno))
            case ast.JoinedStr():
                self.consumed.add(id(node))
                return self._joined(node, scope, depth)
            case ast.BinOp(op=ast.Add()):
                return self._added(node, scope, depth)
            case ast.BinOp(op=ast.Mod()):
                self.is_filled(node.left, scope)
                return read_percent(self, node, scope, depth)
            case ast.BinOp(op=ast.Mult()):
                return self._times(node, scope, depth)
            case ast.Call():
                return read_call(self, node, scope, depth)
            case ast.Name() | ast.Attribute():
                return self._name(node, scope, depth)
            case ast.NamedExpr() | ast.Await():
                return self.chunks(node.value, scope, depth + 1)
            case ast.IfExp():
                return self.one_of(id(node), [node.body, node.orelse], scope, depth)
            case ast.BoolOp():
                return self.one_of(id(node), node.values, scope, depth)
            case ast.Subscript():
                return self._subscript(node, scope, depth)
        return None

    def is_filled(self, node: ast.expr, scope: Scope) -> None:
        """Remember that what an expression names is filled with values, and is a statement only then."""
        if isinstance(node, ast.Name):
            binding = scope.find(node.id)
            self.templates |= {id(value) for value in binding.assigned} if binding is not None else set()
        elif isinstance(node, ast.Attribute) and (value := self.attribute(node, scope)) is not None:
            self.templates.add(id(value))

    def hole(self, node: ast.expr) -> Chunk:
        """A hole that an expression fills."""
        return Chunk(shown(node), node.lineno, node.lineno, is_hole=True)

    def or_hole(self, node: ast.expr, scope: Scope, depth: int) -> list[Chunk]:
        """The chunks of an expression, a number as its text, and a hole for anything else."""
        found = self.chunks(node, scope, depth + 1)
        number = self._number(node, scope) if found is None else None
        if number is not None:
            return [Chunk(number, node.lineno, node.lineno)]
        return [self.hole(node)] if found is None else found

    def filled(self, value: ast.expr, chunk: Chunk, scope: Scope, depth: int) -> list[Chunk]:
        """What fills a place, on the lines of the place."""
        return [Chunk(each.text, chunk.line, chunk.line, each.is_hole) for each in self.or_hole(value, scope, depth)]

    def doubt(self, node: ast.expr, chunks: Sequence[Chunk], reason: str, *, is_any_table: bool = False) -> None:
        """Remember that something is done to a string that is not followed."""
        self.consumed.add(id(node))
        if self.is_final:
            self.doubts[id(node)] = Doubt(tuple(chunks), node.lineno, reason, is_any_table)

    def elements(self, node: ast.expr, scope: Scope) -> tuple[list[tuple[ast.expr | None, ast.expr]], bool] | None:
        """The items of a list or dictionary that is written out, with their keys, and whether more may be added."""
        is_grown = False
        if isinstance(node, ast.Name):
            binding = scope.find(node.id)
            if binding is None or binding.value is None or self._is_bound_elsewhere(binding, scope):
                return None
            is_grown, node = scope.is_grown(binding.name) or bool(binding.additions), binding.value
        elif isinstance(node, ast.Attribute) and (value := self.attribute(node, scope)) is not None:
            is_grown, node = True, value
        if isinstance(node, ast.Dict):
            is_grown |= None in node.keys
            return [(key, value) for key, value in zip(node.keys, node.values, strict=True) if key], is_grown
        if isinstance(node, ast.List | ast.Tuple | ast.Set):
            return [(None, each) for each in node.elts], is_grown
        return None

    def attribute(self, node: ast.Attribute, scope: Scope) -> ast.expr | None:
        """The value of ``Class.NAME``, ``self.NAME``, and of the ``.value`` of a member of an enum."""
        if node.attr == "value" and isinstance(node.value, ast.Attribute):
            return self.attribute(node.value, scope)
        if not isinstance(node.value, ast.Name):
            return None
        is_self = node.value.id in ("self", "cls")
        return self.constants.of(scope.class_name if is_self else node.value.id, node.attr, is_self=is_self)

    def value_of(
        self, binding: Binding, index: int | None, use: Spot | None, scope: Scope, depth: int = 0
    ) -> list[Chunk] | None:
        """One value of a name (None: one that is not written out), with what is added to it until it is used."""
        key = (id(binding), index)
        if key in self.active:
            self.circular.update(each for each, _ in self.active[self.active.index(key) :])
            return None
        self.active.append(key)
        try:
            value = binding.assigned[index] if index is not None else None
            chunks = self.chunks(value, scope, depth + 1) if value is not None else None
            is_string = chunks is not None
            for each in binding.added_to(index, use):
                line = each.value.lineno
                more, is_read = self._addition(binding, each, scope, depth)
                chunks = [*(chunks or [Chunk(binding.name, line, line, is_hole=True)]), *more]
                is_string |= is_read
            return chunks if is_string else None
        finally:
            self.active.pop()

    def _addition(self, binding: Binding, addition: Addition, scope: Scope, depth: int) -> tuple[list[Chunk], bool]:
        """What an addition comes to, and whether it is a string."""
        value = addition.value
        read = self.chunks(value, scope, depth + 1)
        is_made = self._is_made(binding, addition)
        if addition.when is When.SOMEHOW or is_made is None:
            return added_later(binding.name, value.lineno), read is not None
        if not is_made:
            return [], read is not None
        return (self.or_hole(value, scope, depth) if read is None else read), read is not None

    def _is_made(self, binding: Binding, addition: Addition) -> bool | None:
        """Whether an addition is made on this way, None when that is not told. Of ``if`` and ``else`` one is taken."""
        if addition.when is not When.PERHAPS:
            return True
        if not addition.blocks:
            index = self.choices.choose(("added", id(addition.value)), 2)
            return None if index is None else index == 0
        for block in addition.blocks:
            index = self.choices.choose(("branch", id(binding), block.owner), 2)
            if index is None or index != (block.field != "body"):
                return None if index is None else False
        return True

    def one_of(self, place: int, options: Sequence[ast.expr | None], scope: Scope, depth: int) -> list[Chunk] | None:
        """The string that is one of several, None where it is one that cannot be seen."""
        index = self.choices.choose(place, len(options))
        option = options[index] if index is not None else None
        return self.chunks(option, scope, depth + 1) if option is not None else None

    def _number(self, node: ast.expr, scope: Scope) -> str | None:
        """A number as text, also under a name that is bound once to one."""
        value: ast.expr | None = node
        if isinstance(node, ast.Attribute):
            value = self.attribute(node, scope)
        elif isinstance(node, ast.Name):
            binding = scope.find(node.id)
            is_sure = binding is not None and not binding.additions and not self._is_bound_elsewhere(binding, scope)
            value = binding.value if is_sure and binding is not None else None
        is_number = isinstance(value, ast.Constant) and type(value.value) in (int, float)
        return shown(value) if is_number and isinstance(value, ast.Constant) else None

    def _joined(self, node: ast.JoinedStr, scope: Scope, depth: int) -> list[Chunk]:
        chunks: list[Chunk] = []
        line, last = node.lineno, node.end_lineno or node.lineno
        for part in node.values:
            if isinstance(part, ast.FormattedValue):
                is_plain = part.conversion in (-1, 115) and part.format_spec is None
                filled = self.or_hole(part.value, scope, depth) if is_plain else None
                chunks += [Chunk(each.text, line, line, each.is_hole) for each in filled or [self.hole(part.value)]]
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
        read = [(term, self.chunks(term, scope, depth + 1)) for term in (left, *reversed(terms))]
        if all(chunks is None for _, chunks in read):
            return None
        return [each for term, chunks in read for each in ([self.hole(term)] if chunks is None else chunks)]

    def _times(self, node: ast.BinOp, scope: Scope, depth: int) -> list[Chunk] | None:
        """``"…" * 3``."""
        for text, count in ((node.left, node.right), (node.right, node.left)):
            if isinstance(text, ast.Constant | ast.JoinedStr | ast.Name) and isinstance(count, ast.expr):
                chunks = self.chunks(text, scope, depth + 1)
                if chunks is None:
                    continue
                times = count.value if isinstance(count, ast.Constant) and type(count.value) is int else None
                if times is None or times * sum(len(each.text) for each in chunks) > MAX_TEXT:
                    self.doubt(node, chunks, f"how often it is repeated is not known: {shown(count)}")
                    return None
                self.consumed.add(id(node))
                return chunks * max(times, 0)
        return None

    def _name(self, node: ast.Name | ast.Attribute, scope: Scope, depth: int) -> list[Chunk] | None:
        """A string that a name is bound to, with what is added to it before it is used."""
        if isinstance(node, ast.Attribute):
            value = self.attribute(node, scope)
            chunks = self.chunks(value, scope, depth + 1) if value is not None else self._imported(node, scope)
            if chunks is not None:
                self.consumed.add(id(node))
                self.taken.add(id(value))
            return chunks
        binding, use = scope.place_of(node)
        if binding is None or binding.is_imported:
            return self._imported(node, scope)
        options: list[int | None] = [*binding.reaching(use)]
        if binding.is_bound_otherwise or self._is_bound_elsewhere(binding, scope) or not options:
            options.append(None)
        rounds = sum(each == id(binding) for each, _ in self.active)
        chosen = self.choices.choose((id(binding), rounds, tuple(options)), len(options))
        if chosen is None:
            return None
        index = options[chosen]
        chunks = self.value_of(binding, index, use, scope, depth)
        if chunks is not None:
            self.consumed.add(id(node))
            self.taken |= {id(binding.assigned[index])} if index is not None else set()
        return chunks

    def _imported(self, node: ast.Name | ast.Attribute, scope: Scope) -> list[Chunk] | None:
        """The string of another file that an imported name stands for."""
        root: ast.expr = node
        while isinstance(root, ast.Attribute):
            root = root.value
        binding = scope.find(root.id) if isinstance(root, ast.Name) else None
        text = self.imports.constant(node) if binding is not None and binding.is_imported else None
        if text is None:
            return None
        self.consumed.add(id(node))
        return list(chunks_of(text, node.lineno, node.lineno))

    @cached_property
    def imports(self) -> Imports:
        """What the names stand for that the module imports."""
        return Imports(self.constants.file, self.constants.project)

    def _is_bound_elsewhere(self, binding: Binding, scope: Scope) -> bool:
        """Whether another file may bind a name of this module."""
        _, owner = scope.owner(binding.name)
        is_ours = owner is not None and owner.is_module
        return is_ours and self.constants.project.rebinds(self.constants.file, binding.name)

    def _subscript(self, node: ast.Subscript, scope: Scope, depth: int) -> list[Chunk] | None:
        """An item of what is written out, or a part of a string."""
        elements = self.elements(node.value, scope)
        if elements is not None and not isinstance(node.slice, ast.Slice):
            return self._item(node, *elements, scope, depth)
        if isinstance(node.value, ast.Call) and (parts := parts_of(self, node.value, scope, depth)) is not None:
            self.consumed |= {id(node), id(node.value)}
            index = number_of(node.slice)
            chosen = index if index is not None else self.choices.choose(id(node), len(parts))
            return parts[chosen] if chosen is not None and -len(parts) <= chosen < len(parts) else None
        chunks = self.chunks(node.value, scope, depth + 1)
        if chunks is None:
            return None
        self.consumed.add(id(node))
        text, limits = written_text(chunks), slice_of(node.slice)
        if text is None or limits is None:
            self.doubt(node, chunks, f"which part of it is taken is not known: [{shown(node.slice)}]")
            return None
        first, last = chunks[0].line, max(chunks[-1].line, chunks[-1].last_line)
        return list(chunks_of(text[limits], first, last))

    def _item(
        self,
        node: ast.Subscript,
        elements: Sequence[tuple[ast.expr | None, ast.expr]],
        is_grown: bool,
        scope: Scope,
        depth: int,
    ) -> list[Chunk] | None:
        options: list[ast.expr | None] = [value for _, value in elements]
        if isinstance(node.slice, ast.Constant) and not is_grown:
            wanted = node.slice.value
            keys = [key.value if isinstance(key, ast.Constant) else None for key, _ in elements]
            has_keys = any(key is not None for key, _ in elements)
            if has_keys and all(isinstance(key, ast.Constant) for key, _ in elements):
                options = [each for key, each in zip(keys, options, strict=True) if key == wanted][-1:]
            elif not has_keys and isinstance(wanted, int):
                options = options[wanted : wanted + 1] if wanted >= 0 else options[wanted:][:1]
        options += [None] if is_grown else []
        return self.one_of(id(node), options, scope, depth) if options else None
