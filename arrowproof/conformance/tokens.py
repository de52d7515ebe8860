"""Tokens of SQLite's SQL, each with its place in the text.

The scan splits, counts and names by these tokens rather than by a parser's tree, since they say what SQLite itself
reads: block comments do not nest, a backslash in a string is a character, and ``[jobs]``, ```jobs``` and ``"jobs"`` are
one name. Source of the rules: SQLite's documentation of its language and of parameters (``?1 :a @a $a``).
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from enum import StrEnum

from arrowproof.conformance.names import fold_keyword


class TokenKind(StrEnum):
    """What a piece of SQL text is. ``JUNK`` is what SQLite would not read."""

    COMMENT = "comment"
    WORD = "word"
    QUOTED = "quoted"
    STRING = "string"
    BLOB = "blob"
    NUMBER = "number"
    PARAMETER = "parameter"
    OPERATOR = "operator"
    JUNK = "junk"


@dataclass(frozen=True, slots=True)
class Token:
    """A piece of text with its kind, its offset in the text and its line (from 1)."""

    kind: TokenKind
    text: str
    start: int
    line: int

    @property
    def end(self) -> int:
        """The offset behind the token."""
        return self.start + len(self.text)

    @property
    def word(self) -> str:
        """The word in upper case; the sign itself for an operator; empty for everything that is quoted."""
        if self.kind is TokenKind.WORD:
            return fold_keyword(self.text)
        return self.text if self.kind is TokenKind.OPERATOR else ""

    @property
    def name(self) -> str | None:
        """The name that the token can stand for, without its quotes: SQLite takes a string as a name, too."""
        if self.kind is TokenKind.WORD:
            return self.text
        if self.kind is TokenKind.QUOTED and self.text[0] == "[":
            return self.text[1:-1]
        if self.kind in (TokenKind.QUOTED, TokenKind.STRING):
            return self.text[1:-1].replace(self.text[0] * 2, self.text[0])
        return None


_IDENTIFIER_START = r"A-Za-z_\u0080-\U0010ffff"
_IDENTIFIER = rf"{_IDENTIFIER_START}0-9$"

# Possessive repeats: a quote that is never closed must not be matched up to an earlier doubled quote instead.
_PATTERN = re.compile(
    rf"""
    (?P<space>[ \t\n\f\r][ \t\n\v\f\r]*|\ufeff)
  | (?P<comment>--[^\n]*|/\*(?s:.*?)(?:\*/|\Z))
  | (?P<blob>[xX]'[0-9A-Fa-f]*')
  | (?P<string>'(?:[^']|'')*+')
  | (?P<quoted>"(?:[^"]|"")*+"|`(?:[^`]|``)*+`|\[[^\]]*\])
  | (?P<dollar>\$(?:[A-Za-z_][A-Za-z0-9_]*)?\$)
  | (?P<parameter>\?[0-9]*|[$@:\#](?:[{_IDENTIFIER}]|::)+(?:\([^\s)]{{0,100}}\))?)
  | (?P<number>0[xX][0-9A-Fa-f]+|(?:[0-9][0-9_]*(?:\.[0-9_]*)?|\.[0-9][0-9_]*)(?:[eE][+-]?[0-9][0-9_]*)?)
  | (?P<word>[{_IDENTIFIER_START}][{_IDENTIFIER}]*)
  | (?P<operator>->>|->|<>|!=|==|<=|>=|<<|>>|\|\||[-+*/%&|~<>=(),;.])
  | (?P<unclosed>['"`\[](?s:.*))
  | (?P<junk>.)
    """,
    re.VERBOSE,
)


MAX_UNCLOSED = 100
"""Dollar quotes without an end after which no end is looked for: each look reads to the end of the text."""


def tokenize(text: str) -> Iterator[Token]:
    """Yield every token of ``text`` in order, comments included and white space left out.

    A dollar-quoted body (another dialect's) is one JUNK token, as is everything behind a quote that is never closed.
    """
    line, position, unclosed = 1, 0, 0
    while (match := _PATTERN.match(text, position)) is not None:
        group, piece = match.lastgroup or "", match.group()
        if group == "dollar" and unclosed < MAX_UNCLOSED:
            close = text.find(piece, match.end())
            unclosed += close < 0
            piece = text[position : close + len(piece)] if close >= 0 else piece
        if group != "space":
            kind = TokenKind.JUNK if group in ("dollar", "unclosed") else TokenKind(group)
            yield Token(kind, piece, position, line)
        line += piece.count("\n")
        position += len(piece)
