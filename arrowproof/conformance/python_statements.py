"""Statements in Python code: its strings, read from the syntax tree; nothing of the code is imported or run.

A docstring is read by people alone: it counts only where all of it is a statement that the parser takes. A string that
is only ever a part of larger ones counts as these.
"""

from __future__ import annotations

import ast
import re
import warnings
from collections.abc import Iterable, Iterator, Sequence
from functools import lru_cache

from arrowproof.conformance.embedded import read_piece
from arrowproof.conformance.heads import HOLE, find_heads, find_written, may_hold_statement, may_name
from arrowproof.conformance.names import fold
from arrowproof.conformance.pieces import Chunk, Piece, added_later
from arrowproof.conformance.python_constants import ClassConstants, Project, class_constants, last_name
from arrowproof.conformance.python_flow import given_at_definition
from arrowproof.conformance.python_scopes import Binding, Scope, scope_of
from arrowproof.conformance.python_strings import Doubt, Strings
from arrowproof.conformance.python_text import MAX_SHOWN, shown
from arrowproof.conformance.statements import SqlStatement
from arrowproof.conformance.tokens import Token, TokenKind
from arrowproof.model.evidence import Place
from arrowproof.model.lifecycle import Dialect


def parse_python(text: str) -> ast.Module | str:
    """The syntax tree of Python code, or the reason why there is none."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # an invalid escape is the code's affair
            try:
                return ast.parse(text)
            except SyntaxError:
                return ast.parse(_without_type_parameters(text))
    except SyntaxError as error:
        return f"it is not Python as this version reads it: {error.msg} in line {error.lineno}"
    except (ValueError, RecursionError, MemoryError) as error:
        return f"it cannot be read as Python: {error}"


_TYPE_PARAMETERS = re.compile(
    r"^([ \t]*(?:async[ \t]+)?(?:def|class)[ \t]+\w+)\[[^\]\n]*\](?=[ \t]*[(:])", re.MULTILINE
)
_TYPE_STATEMENT = re.compile(r"^([ \t]*)type[ \t]+(\w+)(?:\[[^\]\n]*\])?[ \t]*=", re.MULTILINE)


def _without_type_parameters(text: str) -> str:
    """Code with ``class A[T]`` and ``type A = B`` of Python 3.12 as earlier versions read it, with the same lines."""
    return _TYPE_STATEMENT.sub(r"\1\2 =", _TYPE_PARAMETERS.sub(r"\1", text))


def unread_module(file: str, reason: str) -> SqlStatement:
    """What stands for a module that cannot be read."""
    return SqlStatement(Place(file, 1), "", (Token(TokenKind.JUNK, "", 0, 1),), problem=reason)


def read_python(
    file: str,
    tree: ast.Module,
    words: frozenset[str],
    dialect: Dialect,
    project: Project | None = None,
    state: str | None = None,
) -> Iterator[SqlStatement]:
    """The statements in the strings of a module that concern one of the tables ``words`` (folded).

    ``state`` is the column of the bound one, for what sets it in a statement that begins elsewhere.
    """
    walker = _Walker(tree, Strings(ClassConstants(file, project or Project(), class_constants(tree))))
    walker.walk()
    for piece in walker.pieces:
        problem = _unread(piece, words, state)
        found = [_doubtful(file, piece, problem)] if problem else list(read_piece(file, piece, words, dialect))
        if not piece.is_prose or all(map(_is_whole, found)):
            yield from found
    for doubt in walker.strings.doubts.values():
        piece = Piece(doubt.chunks)
        if _may_concern(piece.marked, words, is_any_table=doubt.is_any_table):
            yield _doubtful(file, piece, doubt.reason, doubt.line)


def _doubtful(file: str, piece: Piece, reason: str, line: int = 0) -> SqlStatement:
    """What stands for a string that may be a statement and is not read as one."""
    text = piece.shown(0, min(len(piece.marked), MAX_SHOWN))
    line = line or piece.line_at(0)
    return SqlStatement(Place(file, line), text, (Token(TokenKind.JUNK, text, 0, line),), problem=reason)


def _unread(piece: Piece, words: frozenset[str], state: str | None) -> str | None:
    """Why a string is not read although it may concern one of the tables, None when it is read."""
    if len(piece.marked) > MAX_PIECE and _may_concern(piece.marked, words, is_any_table=False):
        return f"it has {len(piece.marked)} characters, of which at most {MAX_PIECE} are read: make it shorter"
    if state is not None and piece.marked[:1] == HOLE and _goes_on(state).match(piece.marked) is not None:
        return f"it goes on with what {piece.hole_at(0)} begins, which is not known here"
    return None


@lru_cache
def _goes_on(state: str) -> re.Pattern[str]:
    """What follows a hole and sets the state column in the statement that the hole begins."""
    name = rf"[\"`\[]?{re.escape(state)}[\"`\]]?"
    return re.compile(rf"[\s{HOLE}]*(?:,|\bSET\b)\s*(?:[\w\"`.]+\s*=\s*[^,=]{{0,200}},\s*)*{name}\s*=", re.IGNORECASE)


MAX_PIECE = 1_000_000
"""Characters of a string that are read as SQL."""


def _may_concern(marked: str, words: frozenset[str], *, is_any_table: bool) -> bool:
    """Whether a text may become a statement on one of the tables, or on any, wherever in it the statement begins."""
    text = fold(marked)
    if _CHANGES.search(text) is not None and any(word in text for word in words):
        return True
    heads = [each for each in (*find_heads(marked), *find_written(marked)) if not each.is_definition]
    return any(is_any_table or may_name(head.table, words) for head in heads)


_CHANGES = re.compile(r"\b(?:update|insert|delete|replace|merge|truncate|copy)\b")


def _is_whole(statement: SqlStatement) -> bool:
    """Whether the parser takes a statement: prose that begins like one it does not."""
    from sqlglot import parse_one  # late: it takes longer than all else here
    from sqlglot.errors import SqlglotError

    try:
        parse_one(statement.sql, dialect=statement.grammar.parser)
    except (SqlglotError, RecursionError):
        return False
    return statement.problem is None


class _Walker:
    """Goes through a module once and gathers its strings, the larger ones first."""

    def __init__(self, tree: ast.Module, strings: Strings) -> None:
        self.tree = tree
        self.strings = strings
        self.pieces: list[Piece] = []
        self.later: list[tuple[ast.expr, Binding, Scope]] = []
        self.lists: list[tuple[ast.expr, Scope]] = []
        """What is bound to names is looked at once it is known which of it is part of something larger."""
        self.loads: list[tuple[ast.Name, Scope]] = []
        self.attributes: list[ast.Attribute] = []
        self.moving: dict[int, tuple[Binding, Scope]] = {}
        """The bindings whose names stand for one string here and for another one there."""
        self.defaults: set[int] = set()
        additions = (each.target for each in ast.walk(tree) if isinstance(each, ast.AugAssign))
        self.growing = {each.attr for each in additions if isinstance(each, ast.Attribute)}
        """The attributes that something is added to."""

    def walk(self) -> None:
        self._scope(self.tree, None)
        for listed, scope in self.lists:
            for each in ast.iter_child_nodes(listed):
                self._visit(each, scope, {}, set())
        alone = [(each, scope) for each, scope in self.loads if id(each) not in self.strings.consumed]
        names = {each.id for each, _ in alone}
        names |= {each.attr for each in self.attributes if id(each) not in self.strings.consumed}
        parts: list[list[Chunk]] = []
        for value, binding, scope in self.later:
            if id(binding) in self.moving:
                continue
            is_part = id(value) in self.strings.taken and binding.name not in names
            is_circular = id(binding) in self.strings.circular  # it is filled with itself, and so is nowhere else
            is_filled = is_part and id(value) in self.strings.templates and not is_circular
            if not is_part or not (self._is_local(binding, scope) or (is_filled and self._is_own(binding))):
                self._add_each(self.strings.variants(value, scope))
            elif not is_filled:
                parts += self.strings.variants(value, scope)
        self._add_moving(alone)
        self._add_unused(parts)
        unique = {(piece.chunks, piece.is_prose): piece for piece in self.pieces}
        self.pieces = sorted(unique.values(), key=lambda piece: piece.chunks[0].line)

    def _is_local(self, binding: Binding, scope: Scope) -> bool:
        """Whether a name is a function's own, or private and in no other file of the sources."""
        if not (scope.is_module or scope.is_class):
            return True
        constants = self.strings.constants
        return binding.name.startswith("_") and not constants.project.mentions(constants.file, binding.name)

    def _is_own(self, binding: Binding) -> bool:
        """Whether no other file of the sources has the name, and none of this one looks names up by their text."""
        constants = self.strings.constants
        looks_up = any(each.id in _LOOKING_UP for each, _ in self.loads)
        return not looks_up and not constants.project.mentions(constants.file, binding.name)

    def _add_unused(self, parts: Iterable[list[Chunk]]) -> None:
        """The parts of others that no statement has: only a log or an error takes them up."""
        statements = [piece.marked for piece in self.pieces if any(True for _ in find_heads(piece.marked))]
        for chunks in parts:
            marked = Piece(tuple(chunks)).marked
            if may_hold_statement(marked) and not any(marked in each for each in statements):
                self._add(chunks)

    def _add_moving(self, alone: Sequence[tuple[ast.Name, Scope]]) -> None:
        """What names stand for that are bound more than once or added to: at each use, or in the end without one."""
        used: set[int] = {id(scope.find(each.id)) for each, scope in self.loads}
        for each, scope in alone:
            binding, use = scope.place_of(each)
            if binding is None or id(binding) not in self.moving:
                continue
            variants = self.strings.variants(each, scope)
            self._add_each(variants)
            if not variants:  # too many to be followed: none of them is all that there is
                values = [self.strings.read(binding.assigned[index], scope) for index in binding.reaching(use)]
                later = added_later(binding.name, each.lineno)
                self._add_each([*chunks, *later] for chunks in values if chunks is not None)
        for binding, scope in self.moving.values():
            if id(binding) not in used:
                for index in range(len(binding.assigned)):
                    self._add(self.strings.value_of(binding, index, None, scope))
            for value, spot, is_sum in binding.additions:
                if spot.blocks or not is_sum:  # by itself, as it need not come behind what is known
                    later = added_later(binding.name, value.lineno)
                    self._add_each([*chunks, *later] for chunks in self.strings.variants(value, scope))

    def _scope(
        self,
        node: ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda,
        parent: Scope | None,
    ) -> None:
        scope = scope_of(node, parent)
        bindings = {id(each): binding for binding in scope.names.values() for each in binding.assigned}
        additions = {id(each) for binding in scope.names.values() for each, _, _ in binding.additions}
        for binding in scope.names.values():
            if len(binding.assigned) > 1 or binding.additions:
                self.moving[id(binding)] = (binding, scope)
        if not isinstance(node, ast.Module | ast.ClassDef):
            for each in (*node.args.defaults, *node.args.kw_defaults):
                if isinstance(each, ast.Constant):
                    self.defaults.add(id(each))
                    self.later.append((each, bindings[id(each)], scope))
        body = [node.body] if isinstance(node, ast.Lambda) else node.body
        for part in body:
            self._visit(part, scope, bindings, additions)

    def _visit(self, node: ast.AST, scope: Scope, bindings: dict[int, Binding], additions: set[int]) -> None:
        todo = [node]
        while todo:
            each = todo.pop()
            if isinstance(each, ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda):
                self._scope(each, scope)
                todo += [given for given in given_at_definition(each) if id(given) not in self.defaults]
                continue
            if isinstance(each, ast.Expr) and isinstance(each.value, ast.Constant):
                self._add(self.strings.read(each.value, scope), is_prose=True)
                continue
            if isinstance(each, ast.Name) and isinstance(each.ctx, ast.Load):
                self.loads.append((each, scope))
            if isinstance(each, ast.Attribute) and isinstance(each.ctx, ast.Load):
                self.attributes.append(each)
            if isinstance(each, ast.Assign | ast.AugAssign) and id(each.value) not in self.strings.consumed:
                self._attribute(each, scope)
            if isinstance(each, ast.Call) and last_name(each.func) in _COPIES:
                self._copy(each, scope)
            if isinstance(each, ast.Dict):
                self._made_class(each, scope)
            if isinstance(each, ast.Call | ast.Raise):
                self.strings.consumed.update(map(id, _parts_for_a_reader(each)))
            # What a name stands for was read already where the name is used ahead of it.
            is_read_ahead = id(each) in bindings and id(each) in self.strings.taken
            if isinstance(each, ast.expr) and (is_read_ahead or id(each) not in self.strings.consumed):
                if id(each) in bindings and isinstance(each, ast.List | ast.Tuple | ast.Dict):
                    self.lists.append((each, scope))
                    continue
                if id(each) in bindings:
                    self.later.append((each, bindings[id(each)], scope))
                    self.strings.variants(each, scope)  # its parts are no strings by themselves
                elif id(each) in additions:
                    self.strings.variants(each, scope)
                elif isinstance(each, _STRINGS):
                    self._add_each(self.strings.variants(each, scope))
            todo += list(ast.iter_child_nodes(each))[::-1]

    def _attribute(self, node: ast.Assign | ast.AugAssign, scope: Scope) -> None:
        """``self.sql += "…"``: what is added, and what it is added to, go on elsewhere."""
        target = node.target if isinstance(node, ast.AugAssign) else node.targets[0]
        if not isinstance(target, ast.Attribute | ast.Subscript):
            return
        name = shown(target)
        if isinstance(node, ast.AugAssign):
            ahead, later = [Chunk(name, node.lineno, node.lineno, is_hole=True)], added_later(name, node.lineno)
            self._add_each([*ahead, *chunks, *later] for chunks in self.strings.variants(node.value, scope))
        elif isinstance(target, ast.Attribute) and target.attr in self.growing:
            later = added_later(name, node.lineno)
            self._add_each([*chunks, *later] for chunks in self.strings.variants(node.value, scope))

    def _copy(self, node: ast.Call, scope: Scope) -> None:
        """``copy_records_to_table("jobs", …)`` and its kin, which write rows without a statement."""
        given = [*node.args[:2], *(each.value for each in node.keywords if each.arg in ("name", "table_name", "table"))]
        for each in given:
            text = self.strings.constant(each, scope)
            if text is not None and text.isascii() and len(text) <= MAX_SHOWN:
                chunks = (Chunk(f"COPY {text} FROM", node.lineno, node.lineno),)
                reason = f"{last_name(node.func)} puts rows into it as a whole: their state is not known"
                self.strings.doubts[id(each)] = Doubt(chunks, node.lineno, reason)

    def _made_class(self, node: ast.Dict, scope: Scope) -> None:
        """``type("Job", (Base,), {"__tablename__": …})``: a mapped class that has no name in the code."""
        for key, value in zip(node.keys, node.values, strict=True):
            if isinstance(key, ast.Constant) and key.value == "__tablename__":
                table = self.strings.constant(value, scope)
                chunks = (Chunk(f"COPY {table or 'some_table'} FROM", node.lineno, node.lineno),)
                reason = "it makes a class of a table when the program runs, and what that class does is not followed"
                self.strings.doubts[id(node)] = Doubt(chunks, node.lineno, reason, is_any_table=table is None)

    def _add_each(self, variants: Iterable[list[Chunk]]) -> None:
        for chunks in variants:
            self._add(chunks)

    def _add(self, chunks: list[Chunk] | None, is_prose: bool = False) -> None:
        if chunks:
            self.pieces.append(Piece(tuple(chunks), is_prose))


_LOOKING_UP = frozenset({"getattr", "globals", "locals", "vars"})
_STRINGS = (ast.Constant, ast.JoinedStr, ast.BinOp, ast.Call, ast.IfExp, ast.BoolOp, ast.Subscript)
_COPIES = frozenset({"copy_records_to_table", "copy_to_table", "copy_from", "to_sql"})
"""Methods of asyncpg, psycopg2 and pandas that write rows of a table that they are given by name."""
_LOGS = frozenset(
    {"debug", "info", "warning", "warn", "error", "exception", "critical", "log", "print", "set_attribute"}
)


def _parts_for_a_reader(node: ast.Call | ast.Raise) -> Iterator[ast.Subscript]:
    """The parts of strings that are taken for a log or an error, which nobody runs."""
    if isinstance(node, ast.Raise) or last_name(node.func) in _LOGS:
        yield from (each for each in ast.walk(node) if isinstance(each, ast.Subscript))
