"""Statements in Python code: its strings, read from the syntax tree; nothing of the code is imported or run.

A docstring is read by people alone: it counts only where all of it is a statement that the parser takes. A string that
is only ever a part of larger ones counts as these.
"""

from __future__ import annotations

import ast
import re
import warnings
from collections.abc import Iterator

from arrowproof.conformance.embedded import read_piece
from arrowproof.conformance.pieces import Chunk, Piece, added_later
from arrowproof.conformance.python_scopes import Binding, Scope, scope_of
from arrowproof.conformance.python_strings import Strings, class_constants
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


def read_python(file: str, tree: ast.Module, words: frozenset[str], dialect: Dialect) -> Iterator[SqlStatement]:
    """The statements in the strings of a module that concern one of the tables ``words`` (folded)."""
    walker = _Walker(tree)
    walker.walk()
    for piece in walker.pieces:
        found = list(read_piece(file, piece, words, dialect))
        if not piece.is_prose or all(map(_is_whole, found)):
            yield from found


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

    def __init__(self, tree: ast.Module) -> None:
        self.tree = tree
        self.strings = Strings(class_constants(tree))
        self.pieces: list[Piece] = []
        self.later: list[tuple[ast.expr, Binding, Scope]] = []
        self.lists: list[tuple[ast.List | ast.Tuple, Scope]] = []
        """What is bound to names is looked at once it is known which of it is part of something larger."""

    def walk(self) -> None:
        self._scope(self.tree, None)
        for listed, scope in self.lists:
            for each in listed.elts:
                self._visit(each, scope, {}, set())
        alone = {each.id for each in self._loads() if id(each) not in self.strings.consumed}
        for value, binding, scope in self.later:
            is_local = not (scope.is_module or scope.is_class) or binding.name.startswith("_")
            if not is_local or binding.name in alone or id(value) not in self.strings.consumed:
                self._bound_piece(value, binding, scope)
        self.pieces.sort(key=lambda piece: piece.chunks[0].line if piece.chunks else 0)

    def _loads(self) -> Iterator[ast.Name]:
        return (each for each in ast.walk(self.tree) if isinstance(each, ast.Name) and isinstance(each.ctx, ast.Load))

    def _scope(
        self,
        node: ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda,
        parent: Scope | None,
    ) -> None:
        scope = scope_of(node, parent)
        bindings = {id(each): binding for binding in scope.names.values() for each in binding.assigned}
        additions = {id(each) for binding in scope.names.values() for each in binding.additions}
        body = [node.body] if isinstance(node, ast.Lambda) else node.body
        for each in body:
            self._visit(each, scope, bindings, additions)

    def _visit(self, node: ast.AST, scope: Scope, bindings: dict[int, Binding], additions: set[int]) -> None:
        todo = [node]
        while todo:
            each = todo.pop()
            if isinstance(each, ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda):
                self._scope(each, scope)
                todo += each.decorator_list if not isinstance(each, ast.Lambda) else []
                continue
            if isinstance(each, ast.Expr) and isinstance(each.value, ast.Constant):
                self._add(self.strings.read(each.value, scope), is_prose=True)
                continue
            if isinstance(each, ast.expr) and id(each) not in self.strings.consumed:
                if id(each) in bindings and isinstance(each, ast.List | ast.Tuple):
                    self.lists.append((each, scope))
                    continue
                if id(each) in bindings:
                    self.later.append((each, bindings[id(each)], scope))
                    self.strings.read(each, scope)  # its parts are no strings by themselves
                elif id(each) in additions:
                    self.strings.read(each, scope)
                elif isinstance(each, ast.Constant | ast.JoinedStr | ast.BinOp | ast.Call):
                    self._add(self.strings.read(each, scope))
            todo += list(ast.iter_child_nodes(each))[::-1]

    def _bound_piece(self, value: ast.expr, binding: Binding, scope: Scope) -> None:
        chunks = self.strings.read(value, scope)
        if chunks is None:
            return
        if binding.is_straight:
            for each in binding.additions:
                more = self.strings.read(each, scope)
                chunks += more if more is not None else [Chunk(ast.unparse(each), each.lineno, each.lineno, True)]
        elif binding.additions:
            chunks += added_later(binding.name, value.lineno)
        self._add(chunks)

    def _add(self, chunks: list[Chunk] | None, is_prose: bool = False) -> None:
        if chunks:
            self.pieces.append(Piece(tuple(chunks), is_prose))
