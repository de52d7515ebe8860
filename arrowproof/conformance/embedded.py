"""Embedded SQL: pieces of SQL that were found in code, cut into statements that know their place in the file.

A piece is constant text with holes that are filled when the program runs. A hole is a parameter where a value can
stand, and also where it stands inside of a literal, since ``'{state}'`` may be any state. A hole that hides the schema
of a table hides nothing; one that hides the table, a column, or part of the syntax is a reason for *undecided*.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterator, Sequence
from dataclasses import field, replace
from functools import cached_property
from itertools import accumulate
from sys import maxsize

from arrowproof.conformance.display import one_line
from arrowproof.conformance.heads import HOLE, find_heads, may_name
from arrowproof.conformance.names import fold
from arrowproof.conformance.statements import SqlStatement, split_statements
from arrowproof.conformance.tokens import Token, TokenKind
from arrowproof.model.evidence import Place
from arrowproof.model.lifecycle import Dialect
from arrowproof.model.record import record

MAX_SHOWN = 60
"""Characters of the expression in a hole that are shown."""


@record
class Chunk:
    """A stretch of a piece: text, or the expression that fills a hole. Its lines are those of the file, from 1.

    The text has more lines than the stretch of the file where they are written as escapes; they are the last one then.
    """

    text: str
    line: int
    last_line: int = 0
    is_hole: bool = False


@record
class Piece:
    """A string of a program that may be SQL. ``is_prose``: nothing but a reader takes it up, as a docstring."""

    chunks: tuple[Chunk, ...]
    is_prose: bool = False

    @cached_property
    def marked(self) -> str:
        """The text, with one character for each hole."""
        return "".join(HOLE if each.is_hole else each.text.replace(HOLE, " ") for each in self.chunks)

    @cached_property
    def _starts(self) -> list[int]:
        lengths = (1 if each.is_hole else len(each.text) for each in self.chunks)
        return list(accumulate(lengths, initial=0))[:-1]

    def line_at(self, offset: int) -> int:
        """The line of the file on which a character of the marked text stands."""
        index = max(0, bisect_right(self._starts, offset) - 1)
        chunk = self.chunks[index]
        newlines = 0 if chunk.is_hole else chunk.text.count("\n", 0, offset - self._starts[index])
        return min(chunk.line + newlines, max(chunk.line, chunk.last_line))

    def shown(self, start: int, end: int) -> str:
        """Part of the marked text as a person reads it, holes as ``{expression}``."""
        holes = iter([each.text for start_of, each in zip(self._starts, self.chunks, strict=True)
                      if each.is_hole and start <= start_of < end])  # fmt: skip
        return re.sub(HOLE, lambda _: shown_hole(next(holes)), self.marked[start:end])

    def hole_at(self, offset: int) -> str:
        """The hole at or behind a character of the marked text, as it is shown."""
        at = self.marked.find(HOLE, offset)
        return self.shown(at, at + 1) if at >= 0 else "{…}"


def shown_hole(expression: str) -> str:
    """The expression of a hole in braces; a placeholder of a driver as it is."""
    text = one_line(expression, MAX_SHOWN)
    return text if text[:1] in ("%", "{") else f"{{{text}}}"


def added_later(name: str, line: int) -> list[Chunk]:
    """The chunks for what the program may add to a string once it is bound to ``name``."""
    return [Chunk(" ", line, line), Chunk(f"what is added to {name}", line, line, is_hole=True)]


_PLACEHOLDER = re.compile(
    r"%(?:\(\w{1,100}\)|\d+\$|\[\d+\])?[+#]?[sdvqrfibtw]\b|\{\{[^{}\n]{0,100}\}\}|\{(?:[\w.!:#?\[\]()-]{0,100})\}"
)


def chunks_of(text: str, line: int, last_line: int) -> Iterator[Chunk]:
    """The chunks of constant text, in which the placeholders of formatting (``%s``, ``{name}``) are holes."""
    position = 0
    for match in _PLACEHOLDER.finditer(text) if "%" in text or "{" in text else ():
        before = text[position : match.start()]
        if before:
            yield Chunk(before, line, last_line)
        line = min(line + before.count("\n"), last_line)
        yield Chunk(match.group(), line, line, is_hole=True)
        position = match.end()
    if position < len(text) or not text:
        yield Chunk(text[position:], line, last_line)


def read_piece(file: str, piece: Piece, words: frozenset[str], dialect: Dialect) -> Iterator[SqlStatement]:
    """The statements of a piece that concern one of the tables ``words`` (folded), or may do so behind a hole."""
    heads = list(find_heads(piece.marked))
    if not heads or not (any(may_name(head.table, words) for head in heads) or _names(piece.marked, words)):
        return
    rendered = _Renderer(piece, words, dialect).render()
    for statement in split_statements(file, rendered.text, dialect):
        tokens = statement.tokens
        hidden = next((rendered.hidden[each.start] for each in tokens if each.start in rendered.hidden), None)
        if hidden is None and not _concerns(statement, words):
            continue
        start, end = rendered.marked_offset(tokens[0].start), rendered.marked_offset(tokens[-1].end)
        place = Place(file, piece.line_at(start), statement.place.name)
        problem = statement.problem or hidden or _misplaced_hole(tokens, rendered)
        yield replace(statement, place=place, sql=piece.shown(start, end), problem=problem)


def _names(marked: str, words: frozenset[str]) -> bool:
    text = fold(marked)
    return any(word in text for word in words)


def _concerns(statement: SqlStatement, words: frozenset[str]) -> bool:
    """Whether a statement, or the trigger that it stands in, names one of the tables."""
    if statement.trigger is not None and fold(statement.trigger.table or "") in words:
        return True
    return any(fold(token.name or token.value or "") in words for token in statement.tokens)


# How a piece is written for the splitter


@record
class Rendered:
    """The text of a piece for the splitter.

    ``values`` are the offsets at which a hole stands for a value, with the hole as it is shown; ``hidden`` those of the
    tables that a hole hides, with the reason for *undecided*.
    """

    text: str
    offsets: tuple[tuple[int, int], ...]
    values: dict[int, str] = field(default_factory=dict)
    hidden: dict[int, str] = field(default_factory=dict)

    def marked_offset(self, offset: int) -> int:
        """Where in the marked text a character of the rendered one comes from."""
        index = bisect_right(self.offsets, (offset, maxsize)) - 1
        rendered, marked = self.offsets[index]
        following = self.offsets[index + 1][1] if index + 1 < len(self.offsets) else marked + offset - rendered
        return min(marked + offset - rendered, following)


_PART = rf"(?:[\w$#{HOLE}]+|\"[^\"]*\"|`[^`]*`|\[[^\]\n]*\])"
_LEXEME = re.compile(
    rf"""
    (?P<comment>--[^\n]*|/\*(?s:.*?)(?:\*/|\Z))
  | (?P<string>[A-Za-z]?'(?:[^'\\]|''|\\(?s:.))*+')
  | (?P<path>{_PART}(?:\s*\.\s*{_PART})*)
  | (?P<sign>\S)
    """,
    re.VERBOSE,
)
_BEFORE_A_TABLE = frozenset(
    ["UPDATE", "INTO", "FROM", "JOIN", "ONLY", "TABLE", "USING", "TRUNCATE", "COPY", "REFERENCES", "EXISTS", "ON"]
)
_DEFINING = frozenset({"CREATE", "ALTER", "DROP"})
_DOT = re.compile(r"\s*\.\s*")
_HIDING = frozenset(["UPDATE", "INTO", "ONLY", "TRUNCATE", "COPY"])


class _Renderer:
    """Writes a piece anew, each hole as what it can be at its place."""

    def __init__(self, piece: Piece, words: frozenset[str], dialect: Dialect) -> None:
        self.piece = piece
        self.words = words
        self.parameter = "?" if dialect is Dialect.MYSQL else "$1"
        self.text: list[str] = []
        self.length = 0
        self.offsets: list[tuple[int, int]] = [(0, 0)]
        self.values: dict[int, str] = {}
        self.hidden: dict[int, str] = {}

    def render(self) -> Rendered:
        marked, position, before, verb = self.piece.marked, 0, ("", ""), ""
        for match in _LEXEME.finditer(marked):
            lexeme = match.group()
            verb = "" if lexeme == ";" else verb or lexeme.upper()
            if HOLE in lexeme:
                self._put(marked[position : match.start()], position)
                self._put_hole(match, before, verb)
                position = match.end()
            if match.lastgroup != "comment":
                before = (before[1], lexeme.upper())
        self._put(marked[position:], position)
        return Rendered("".join(self.text), tuple(self.offsets), self.values, self.hidden)

    def _put(self, text: str, marked: int) -> None:
        if text:
            self.offsets.append((self.length, marked))
            self.text.append(text)
            self.length += len(text)

    def _put_hole(self, match: re.Match[str], before: tuple[str, str], verb: str) -> None:
        lexeme, start = match.group(), match.start()
        shown = self.piece.shown(start, match.end())
        last = _DOT.split(lexeme)[-1]
        if match.lastgroup == "comment":
            text = lexeme.replace(HOLE, " ")
        elif match.lastgroup == "path" and before[1] in _BEFORE_A_TABLE:
            text = self._table(last, before, shown)
        elif match.lastgroup == "path" and HOLE not in last and self._is_name(match, before[1], verb):
            text = last
        elif match.lastgroup == "sign":
            text = " "
        else:
            self.values[self.length] = shown
            text = self.parameter
        self._put(text, start)
        self.offsets.append((self.length, match.end()))

    def _is_name(self, match: re.Match[str], before: str, verb: str) -> bool:
        """Whether a path with a hole for its schema names a function, a type, or what a definition speaks of."""
        is_called = self.piece.marked[match.end() : match.end() + 20].lstrip().startswith("(")
        return is_called or before == ":" or verb in _DEFINING

    def _table(self, last: str, before: tuple[str, str], shown: str) -> str:
        """A table whose schema or name has holes, as a name: its own, or that of a table that nobody has."""
        if HOLE not in last:
            return last
        changes = before[1] in _HIDING or before[0] in ("DELETE", "DROP", "ALTER", "TRUNCATE")
        if changes and may_name(last, self.words):
            self.hidden[self.length] = (
                f"its table is {shown}, which only the running program knows:"
                " write the name out, or bind a constant to it"
            )
        return '"' + re.sub(r"[\"`\[\]]", "", last).replace(HOLE, "{}") + '"'


# Holes that stand for more than a value

_VALUE_FOLLOWS = frozenset(
    [
        "AND",
        "OR",
        "NOT",
        "WHERE",
        "IN",
        "LIKE",
        "ILIKE",
        "BETWEEN",
        "LIMIT",
        "OFFSET",
        "THEN",
        "ELSE",
        "WHEN",
        "CASE",
        "SELECT",
        "BY",
        "ON",
        "HAVING",
        "RETURNING",
        "IS",
        "FROM",
        "DISTINCT",
        "INTERVAL",
        "ESCAPE",
        "DEFAULT",
        "ANY",
        "ALL",
        "SOME",
        "GLOB",
        "REGEXP",
        "MATCH",
        "SIMILAR",
        "TO",
        "ARRAY",
        "ROW",
        "AS",
        "CAST",
        "DATE",
        "TIMESTAMP",
        "ONLY",
        "CALL",
        "PERFORM",
        "EXECUTE",
        "USING",
        "FIRST",
        "NEXT",
        "ZONE",
    ]
)
_FOLLOWS_VALUE = frozenset(
    [
        "AND",
        "OR",
        "THEN",
        "ELSE",
        "END",
        "WHEN",
        "WHERE",
        "FROM",
        "AS",
        "ORDER",
        "GROUP",
        "LIMIT",
        "RETURNING",
        "ON",
        "IS",
        "IN",
        "NOT",
        "LIKE",
        "ILIKE",
        "BETWEEN",
        "COLLATE",
        "OFFSET",
        "UNION",
        "EXCEPT",
        "INTERSECT",
        "SET",
        "USING",
        "ASC",
        "DESC",
        "FOR",
        "DO",
        "HAVING",
        "ISNULL",
        "NOTNULL",
        "GLOB",
        "REGEXP",
        "MATCH",
        "SIMILAR",
        "ESCAPE",
        "AT",
        "ROWS",
        "ROW",
        "NULLS",
        "WINDOW",
        "LOOP",
        "CONFLICT",
        "FETCH",
        "DAY",
        "HOUR",
        "MINUTE",
        "SECOND",
        "MONTH",
        "YEAR",
        "MICROSECOND",
        "VALUES",
        "SELECT",
        "SKIP",
        "NOWAIT",
    ]
)
_JOINED = frozenset({"AND", "OR", "NOT", "WHERE", "ON"})
_OPERANDS = frozenset(
    {TokenKind.STRING, TokenKind.TEXT, TokenKind.NUMBER, TokenKind.PARAMETER, TokenKind.QUOTED, TokenKind.BLOB}
)
_ENDS_A_CONDITION = frozenset({"", ")", "AND", "OR", "ORDER", "LIMIT", "RETURNING", "GROUP", "FOR", "THEN", "END"})


def _misplaced_hole(tokens: Sequence[Token], rendered: Rendered) -> str | None:
    """Why a hole among these tokens can be more than one value, None when none can."""
    if tokens[0].word in ("ALTER", "DROP"):
        return None
    for index, token in enumerate(tokens):
        shown = rendered.values.get(token.start)
        if shown is None or token.kind is not TokenKind.PARAMETER:
            continue
        before = tokens[index - 1] if index else None
        after = tokens[index + 1] if index + 1 < len(tokens) else None
        if _is_operand(before, _VALUE_FOLLOWS, ")") or _is_operand(after, _FOLLOWS_VALUE, "("):
            return f"{shown} stands for more than one value: write out what it adds, in one statement for each case"
        words = (before.word if before else "", after.word if after else "")
        if words[0] in _JOINED and words[1] in _ENDS_A_CONDITION and {"AND", "NOT"} & set(words):
            return f"{shown} stands for a condition, and an OR in it would undo the others: put it in parentheses"
    return None


def _is_operand(token: Token | None, keywords: frozenset[str], bracket: str) -> bool:
    """Whether a token beside a hole leaves no room for a value: a value itself, a name, or a bracket."""
    if token is None:
        return False
    if token.kind is TokenKind.WORD:
        return token.word not in keywords
    return token.kind in _OPERANDS or token.word == bracket
