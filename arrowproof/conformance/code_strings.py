"""Strings of code: what the program makes of each string of a file, with what its names stand for and what is added.

A name that is bound to one string where it is used stands for that string. A string that is used only as a part of
others, and is shared with no other file, is no statement by itself.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import replace

from arrowproof.conformance.brackets import Brackets
from arrowproof.conformance.code_names import Bound, CodeNames, bare
from arrowproof.conformance.heads import may_hold_statement
from arrowproof.conformance.languages import Language
from arrowproof.conformance.literals import LITERAL, Reading, mark_literals
from arrowproof.conformance.pieces import Chunk, added_later, chunks_of
from arrowproof.conformance.string_expressions import Expression, Expressions
from arrowproof.conformance.string_growth import MAX_BESIDE, goes_on, grown_name, grown_names, neighbour

MAX_BINDINGS = 10
"""Names within the values of names."""
MAX_WRAPPER = 60
"""Characters between the sign of an assignment and the string that is assigned."""
MAX_CHUNKS = 2_000
"""Stretches of one string with all that its names stand for."""

_WRAPPED = re.compile(
    r"\s*(?:\+|\(|String::from\(|String\.new\(|(?:[\w.]+::)?text\(|dedent\()?\s*(?:[A-Za-z_]\w{0,20})?\Z"
)
"""What may stand between the sign of an assignment and the string that is assigned."""
_ENDS = re.compile(
    r"[ \t]*(?:as\s+const\b|!+)?[ \t]*\)?(?:\.(?:to_string|to_owned|into|freeze|trim)\(?\)?)?[ \t]*"
    r"(?:[;,)\]}]|\Z|\r?\n(?!\s*(?:[.+&|?:]|<>)))"
)
"""Behind a string that is all of a value."""
_MEMBER = re.compile(r"(?:^|[{,\s])['\"]?(?P<name>[A-Za-z_]\w*)['\"]?\s*(?::|=>|=)\s*\Z")
"""Ahead of a string that is a member of a group: ``name: …``, ``name = …``."""
_GROUP = re.compile(
    r"\b(?:const|enum|object|class|interface|readonly|static|val|let|module)\s+(?:class\s+)?(?P<name>[A-Za-z_]\w*)"
    r"(?:\s*:\s*[^={\n]{1,80}|\s+(?:extends|implements)\s+[^={\n]{1,80})?\s*(?:=\s*)?(?:Object\.freeze\(\s*)?\{"
)
"""The head of a group whose members are strings, such as an enum or an object of constants."""
_DIRECT = re.compile(r"(?:#\s*define[ \t]+(?P<macro>\w+)|(?P<attribute>@\w+))[ \t]*\(?\s*\Z")
"""Ahead of a string that is bound without an assignment."""
_CAST = re.compile(r"\s*string\(\s*(?P<name>[\w.]+)\s*\)\s*")
"""A constant of a type of its own as the string that it is."""
_NAMES = re.compile(r"\{(?P<name>[A-Za-z_]\w*)(?::[^{}]*)?\}")
"""A placeholder that names what fills it."""


class CodeStrings:
    """The strings of one file, each with what its names stand for and with what is added to it."""

    def __init__(self, text: str, reading: Reading, language: Language) -> None:
        self.code = mark_literals(reading)
        self.language = language
        self.brackets = Brackets(self.code)
        self.expressions = Expressions(text, self.code, reading, language, self.brackets)
        self.found = list(self.expressions.all())
        self.by_start = {each.start: each for each in self.found}
        self.names: CodeNames | None = None
        self.grown = grown_names(self.code)
        self.members: Mapping[str, Expression] = {}
        self.parts: set[int] = set()
        """Where the values begin of those names that stand for a part of another string."""
        self.spans: set[int] = set()
        """Where the operands begin that were put into a string."""

    def all(self) -> Iterator[tuple[Expression, bool]]:
        """Each string that may be a statement or a part of one, and whether another was seen to take it up."""
        wanted = [each for each in self.found if self._may_matter(each)]
        if not wanted:
            return
        self._read_names()
        bases = self._bases(wanted)
        resolved = [(each, self._resolved(each)) for each in (*wanted, *self._of_names(bases))]
        for expression, chunks in resolved:
            if expression.start in bases and self._is_only_part(expression, bases[expression.start]):
                continue
            yield replace(expression, chunks=(*chunks, *self._added(expression))), expression.start in self.parts

    def _may_matter(self, expression: Expression) -> bool:
        return any(chunk.is_hole or may_hold_statement(chunk.text) or "=" in chunk.text for chunk in expression.chunks)

    # Names

    def _read_names(self) -> None:
        names = self.names = CodeNames(self.code, self.brackets, self.language)
        groups = [(match.end() - 1, match["name"]) for match in _GROUP.finditer(self.code)]
        members: dict[str, list[Expression]] = {}
        for expression in self.found:
            before = self.code[max(0, expression.start - MAX_BESIDE) : expression.start]
            is_member = before.rstrip()[-1:] in (":", "=", ">")
            member = _MEMBER.search(before) if is_member else None
            direct = _DIRECT.search(before) if not is_member else None
            if direct is not None:
                group = direct.lastgroup or ""
                position = expression.start - len(before) + direct.start(group)
                names.add(direct[group], position, expression.start)
            around = next((pair.start for pair in self.brackets.around(expression.start) if pair.sign == "{"), -1)
            owner = next((name for start, name in groups if start == around), None)
            if member is not None and owner is not None and self._is_whole(expression):
                members.setdefault(f"{owner}.{member['name']}", []).append(expression)
        self.members = {name: found[0] for name, found in members.items() if len(found) == 1}

    def _is_whole(self, expression: Expression) -> bool:
        """Whether an expression is all of the value that it begins."""
        return _ENDS.match(self.code, expression.end) is not None and not expression.is_built

    def _value(self, name: str, user: Expression) -> Expression | None:
        """The string that a name stands for in another one, None when that is not known, and in itself."""
        assert self.names is not None
        bound = self.names.lookup(name, user.start)
        expression = self._bound_to(bound) if bound is not None else None
        if expression is not None and expression.start == user.start:
            return None
        if expression is None:
            member = name.replace("::", ".")
            return None if self.names.is_bound_as_member(member.rpartition(".")[2]) else self.members.get(member)
        if bare(name) in self.grown:
            return None
        self.parts.add(expression.start)
        return expression

    def _bound_to(self, bound: Bound) -> Expression | None:
        if bound.value is None:
            return None
        start = next((at for at in range(bound.value, bound.value + MAX_WRAPPER) if at in self.by_start), None)
        if start is None or not _WRAPPED.match(self.code[bound.value : start]):
            return None
        expression = self.by_start[start]
        return expression if self._is_whole(expression) else None

    def _resolved(self, expression: Expression, depth: int = 0) -> list[Chunk]:
        """The chunks of an expression, in which each hole that is filled by a known string is its text."""
        found: list[Chunk] = []
        self.spans |= {start for start, _ in expression.operands}
        for chunk in expression.chunks:
            name = _NAMES.fullmatch(chunk.text) if self.language.fills_names and chunk.is_hole else None
            name = name or (_CAST.fullmatch(chunk.text) if self.language.types_follow else None)
            text = name["name"] if name is not None else chunk.text.strip()
            value = self._value(text, expression) if chunk.is_hole and depth < MAX_BINDINGS else None
            if value is None or len(found) > MAX_CHUNKS:
                found.append(chunk)
                continue
            for each in self._resolved(value, depth + 1):
                parts = [each] if each.is_hole else chunks_of(each.text, 0, 0)
                found += [replace(part, line=chunk.line, last_line=chunk.line) for part in parts]
        return found

    # Names that hold the beginning of a statement

    def _bases(self, wanted: list[Expression]) -> dict[int, tuple[str, Bound]]:
        """The names that are bound to a string with a verb, by where their values begin."""
        assert self.names is not None
        verbs = {each.start for each in wanted if any(may_hold_statement(chunk.text) for chunk in each.chunks)}
        found: dict[int, tuple[str, Bound]] = {}
        for name, bound in self.names.values():
            expression = self._bound_to(bound)
            if expression is not None and expression.start in verbs:
                found[expression.start] = (name, bound)
        return found

    def _of_names(self, bases: Mapping[int, tuple[str, Bound]]) -> Iterator[Expression]:
        """The strings that are joined of names alone, of which one holds a verb."""
        names = sorted({re.escape(name) for name, _ in bases.values()}, key=len, reverse=True)
        if not names or not (self.language.joint or self.language.has_macros):
            return
        self.spans |= {start for each in self.found for start, _ in each.operands}
        seen: set[int] = set()
        for match in re.finditer(rf"(?:[$@]|\b)(?:[\w$]+(?:\.|->|::))*\$?(?:{'|'.join(names)})\b", self.code):
            expression = self.expressions.of_name(match.start()) if match.start() not in self.spans else None
            if expression is not None and expression.start not in seen:
                seen.add(expression.start)
                self.spans |= {start for start, _ in expression.operands}
                yield expression

    def _is_only_part(self, expression: Expression, base: tuple[str, Bound]) -> bool:
        """Whether a string is used only as a part of others, so that it is no statement by itself."""
        name, bound = base
        if expression.start not in self.parts:
            return False
        line = self.code.rfind("\n", 0, bound.position) + 1
        is_shared = re.search(r"\b(?:export|public|pub|internal|protected)\b", self.code[line : bound.position])
        is_open = self.language.has_blocks is False and name.isupper()
        uses = [match.start() for match in re.finditer(rf"(?<!\w)[$@]?{re.escape(name)}\b", self.code)]
        alone = [each for each in uses if not self._is_in_operand(each, bound)]
        return not is_shared and not is_open and not alone

    def _is_in_operand(self, position: int, bound: Bound) -> bool:
        owner = re.search(r"(?:[\w$]+(?:\.|->|::))*\Z", self.code[max(0, position - MAX_BESIDE) : position])
        start = position - len(owner.group()) if owner is not None else position
        return start in self.spans or position <= bound.position <= position + 1

    # What is added later

    def _added(self, expression: Expression) -> list[Chunk]:
        """The chunks for what a string is given later, or elsewhere; none where nothing is added."""
        beside = neighbour(self.code, expression.end, self.by_start)
        if expression.is_built:
            grown = "the builder"
        elif beside is not None and goes_on("".join(chunk.text for chunk in self.by_start[beside].chunks[:1])):
            grown = "it by what stands beside it"
        elif self._begins_list(expression):
            grown = "the list"
        else:
            grown = grown_name(self.code, expression.start, expression.end, self.language)
        return added_later(grown, expression.last_line) if grown else []

    def _begins_list(self, expression: Expression) -> bool:
        """Elixir: whether a list begins with it that goes on with no literal, as one that is written piece by piece."""
        around = next(self.brackets.around(expression.start), None)
        if not self.language.writes_lists or around is None or around.sign != "[":
            return False
        is_first = not self.code[around.start + 1 : expression.start].strip()
        behind = re.compile(r"\s*,\s*").match(self.code, expression.end, around.end)
        return is_first and behind is not None and self.code[behind.end()] != LITERAL
