"""Rendering: a piece written as the SQL that the splitter reads, each hole as what it can be at its place.

A hole is a parameter where a value can stand, and also where it stands inside of a literal, since ``'{state}'`` may be
any state. One that hides the schema of a table hides nothing; one that hides the table itself is told with its place.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from dataclasses import field
from sys import maxsize

from arrowproof.conformance.heads import HOLE, may_name
from arrowproof.conformance.pieces import Piece
from arrowproof.model.lifecycle import Dialect
from arrowproof.model.record import record


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


def render_piece(piece: Piece, words: frozenset[str], dialect: Dialect) -> Rendered:
    """Write a piece for the splitter. ``words`` are the tables (folded) that matter where a hole hides one."""
    return _Renderer(piece, words, dialect).render()


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
_NO_TABLE_FOLLOWS = frozenset((word, "UPDATE") for word in ("FOR", "KEY", "DO", "ON"))
_DEFINING = frozenset({"CREATE", "ALTER", "DROP"})
_DOT = re.compile(r"\s*\.\s*")
_HIDING = frozenset(["UPDATE", "INTO", "ONLY", "TRUNCATE", "COPY"])


def _is_glued(lexeme: str, before: str) -> bool:
    """Whether a hole stands right beside other text: ``1{more}``, and not ``${number}`` or ``:id{number}``."""
    is_quoted = lexeme[0] in '"`['
    return not is_quoted and lexeme.lstrip("$#") != HOLE and before not in (":", "@", "?")


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
        text = ""
        if match.lastgroup == "comment":
            text = lexeme.replace(HOLE, " ")
        elif match.lastgroup == "path" and before[1] in _BEFORE_A_TABLE and before not in _NO_TABLE_FOLLOWS:
            text = self._table(last, before, shown)
        elif match.lastgroup == "path" and HOLE not in last and self._is_name(match, before[1], verb):
            text = last
        elif match.lastgroup == "sign":
            text = " "
        elif match.lastgroup == "path" and _is_glued(lexeme, before[1]):
            self._put_parts(lexeme, start, shown)
        else:
            self.values[self.length] = shown
            text = self.parameter
        self._put(text, start)
        self.offsets.append((self.length, match.end()))

    def _put_parts(self, lexeme: str, start: int, shown: str) -> None:
        """What stands beside a hole, and the hole behind it, which may go on as it likes."""
        for part in re.split(f"({HOLE})", lexeme):
            if part == HOLE:
                self._put(" ", start)
                self.values[self.length] = shown
            self._put(f"{self.parameter} " if part == HOLE else part, start)

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
