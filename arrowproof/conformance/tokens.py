"""Tokens of SQL, each with its place in the text.

The scan splits, counts and names by these tokens rather than by a parser's tree, since they say what the database
itself reads: to SQLite block comments do not nest, a backslash in a string is a character, and ``[jobs]``, ```jobs```
and ``"jobs"`` are one name; to PostgreSQL block comments nest, and the body of a function is one dollar-quoted string.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from enum import StrEnum

from arrowproof.conformance.grammar import SQLITE, Grammar
from arrowproof.conformance.names import fold_keyword


class TokenKind(StrEnum):
    """What a piece of SQL text is. ``JUNK`` is what the database would not read.

    SQLite takes a ``STRING`` for a name where it needs one; a ``TEXT`` of the other dialects is never a name.
    """

    COMMENT = "comment"
    WORD = "word"
    QUOTED = "quoted"
    STRING = "string"
    TEXT = "text"
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
        if self.kind in (TokenKind.QUOTED, TokenKind.STRING) and self.text[0] in "\"'`":
            return self.text[1:-1].replace(self.text[0] * 2, self.text[0])
        return None

    @property
    def value(self) -> str | None:
        """The string that the token stands for; None when it is no string, or one with escapes."""
        if self.kind is TokenKind.TEXT and self.text[0] == "$":
            tag = self.text.index("$", 1) + 1
            return self.text[tag:-tag]
        if self.kind not in (TokenKind.STRING, TokenKind.TEXT):
            return None
        prefix, quote, content = self.text[:-1].partition(self.text[-1])
        has_escapes = self.kind is TokenKind.TEXT and ("&" in prefix or "\\" in content)
        return None if has_escapes else content.replace(quote * 2, quote)


MAX_UNCLOSED = 100
"""Dollar quotes without an end after which no end is looked for: each look reads to the end of the text."""


def tokenize(
    text: str, grammar: Grammar = SQLITE, start: int = 0, end: int | None = None, line: int = 1
) -> Iterator[Token]:
    """Yield every token of ``text`` in order, comments included and white space left out.

    With ``start`` and ``end`` only that part of the text is read, whose first line is ``line``. Where dollar quotes are
    no strings, a dollar-quoted body is one JUNK token, as is everything behind a quote that is never closed.
    """
    position, unclosed, stop = start, 0, len(text) if end is None else end
    dollar_kind = TokenKind.TEXT if "block" in grammar.pattern.groupindex else TokenKind.JUNK
    while (match := grammar.pattern.match(text, position, stop)) is not None:
        group, piece = match.lastgroup or "", match.group()
        kind = _KINDS.get(group)
        if group == "dollar":
            close = text.find(piece, match.end(), stop) if unclosed < MAX_UNCLOSED else -1
            unclosed += close < 0
            kind = dollar_kind if close >= 0 else TokenKind.JUNK
            piece = text[position : close + len(piece)] if close >= 0 else piece
        elif group == "block":
            piece = text[position : _nested_comment_end(text, position, stop)]
        if kind is not None:
            yield Token(kind, piece, position, line)
        line += piece.count("\n")
        position += len(piece)


_COMMENT_MARK = re.compile(r"/\*|\*/")
_KINDS = {each.value: each for each in TokenKind} | {"block": TokenKind.COMMENT, "unclosed": TokenKind.JUNK}


def _nested_comment_end(text: str, position: int, stop: int) -> int:
    """The offset behind a block comment, with the comments inside it; the end of the text when it is never closed."""
    depth = 0
    for mark in _COMMENT_MARK.finditer(text, position, stop):
        depth += 1 if mark.group() == "/*" else -1
        if depth == 0:
            return mark.end()
    return stop


def read_name(tokens: Sequence[Token], index: int) -> tuple[str | None, str | None, int]:
    """Read ``[schema.]name`` at ``index``: schema or None, name or None when no name stands there, and what follows."""
    first = tokens[index].name if index < len(tokens) else None
    if first is None:
        return None, None, index
    if index + 2 < len(tokens) and tokens[index + 1].word == "." and tokens[index + 2].name is not None:
        return first, tokens[index + 2].name, index + 3
    return None, first, index + 1


def skip_words(tokens: Sequence[Token], index: int, *words: str) -> int:
    """The index behind ``words`` when exactly they stand at ``index``, else ``index`` itself."""
    found = tuple(token.word for token in tokens[index : index + len(words)])
    return index + len(words) if found == words else index
