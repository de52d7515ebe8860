"""Literals: the string literals of a file of code, each as chunks that know their lines, and the comments beside them.

A literal is read without its escapes, since these are what the database gets to see. An expression inside of one is a
hole. What is written one behind the other and joined (``"a" + "b"``) is one literal.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from functools import lru_cache

from arrowproof.conformance.languages import Language, Quote
from arrowproof.conformance.pieces import Chunk, chunks_of
from arrowproof.model.record import record

LITERAL = "\ufdd1"
"""Stands for each character of a literal in marked code. Unicode keeps it free of any meaning."""
MAX_HOLE = 4_000
"""Characters of an expression inside of a literal; behind them the literal is taken to be read wrongly."""
MAX_NESTING = 20
"""Literals within the expressions of literals."""
MAX_UNCLOSED = 100
"""Literals and holes without an end after which no end is looked for: each look may read to the end of the text."""


@record
class Literal:
    """A string literal from ``start`` to ``end`` of the file and what it holds. Of a heredoc these are the places of
    its announcement, and ``behind`` is where the code goes on behind its body."""

    start: int
    end: int
    chunks: tuple[Chunk, ...]
    behind: int | None = None


@record
class Reading:
    """What a file falls into. ``code`` is its text with comments and literals as white space, of the same length."""

    literals: tuple[Literal, ...]
    code: str


def read_literals(text: str, language: Language) -> Reading:
    """The literals of a text, in order."""
    reader = _Reader(text, language)
    reader.run()
    return Reading(tuple(reader.literals), reader.code())


@lru_cache
def _opening_pattern(language: Language) -> re.Pattern[str]:
    quotes = "|".join(f"(?P<q{index}>{_unnumbered(quote.opening)})" for index, quote in enumerate(language.quotes))
    regex = r"|(?P<slash>/)" if language.has_regexes else ""
    return re.compile(f"(?P<comment>{language.comments})|{quotes}{regex}", re.MULTILINE)


def _unnumbered(pattern: str) -> str:
    """The pattern without groups of its own: the opening is matched once more, alone, for what they hold."""
    return re.sub(r"(?<!\\)\((?!\?)", "(?:", pattern)


_REGEX = re.compile(r"/(?![*/])(?:[^\\/\[\n]|\\.|\[(?:[^\]\\\n]|\\.)*\])+/[a-z]*")
_AHEAD_OF_REGEX = re.compile(r"(?:[(,=:\[!&|?{};+\-*%~^<>\n]|\b(?:return|typeof|case|in|of|do|else))\s*\Z")
_ESCAPES = {"n": "\n", "t": "\t", "r": "\r", "\n": "", "0": "\0"}
_NAME = re.compile(r"[A-Za-z_]\w*(?:->\w+|\.\w+(?=\W)(?!\.?\s*(?:=|set\b)))*")
_NAME_OR_PLACE = re.compile(r"[A-Za-z_]\w*|\d|[@*#?]")
_CODE_POINT = re.compile(r"x([0-9A-Fa-f]{2})|u([0-9A-Fa-f]{4})|u\{([0-9A-Fa-f]{1,6})\}")


@dataclass
class _Reader:
    """Walks a text once."""

    text: str
    language: Language
    literals: list[Literal] = field(default_factory=list)
    blanks: list[tuple[int, int]] = field(default_factory=list)
    line: int = 1
    counted: int = 0
    """The offset up to which ``line`` counts."""
    unclosed: int = 0

    def run(self) -> None:
        pattern, position, heredocs = _opening_pattern(self.language), 0, list[tuple[Quote, re.Match[str], int]]()
        while (match := pattern.search(self.text, position)) is not None:
            newline = self.text.find("\n", position, match.start())
            if heredocs and newline >= 0:
                position = self._heredocs(heredocs, newline + 1)
                continue
            position = self._step(match, heredocs)
        if heredocs:
            newline = self.text.find("\n", position)
            self._heredocs(heredocs, newline + 1 if newline >= 0 else len(self.text))

    def _step(self, match: re.Match[str], heredocs: list[tuple[Quote, re.Match[str], int]]) -> int:
        """Take what begins at ``match``; the offset behind it. A heredoc begins on the line below."""
        if match.lastgroup == "comment":
            self.blanks.append(match.span())
            return match.end()
        if match.lastgroup == "slash":
            regex = _REGEX.match(self.text, match.start())
            before = self.text[max(0, match.start() - 20) : match.start()]
            if regex is None or (before and not _AHEAD_OF_REGEX.search(before)):
                return match.end()
            self.blanks.append(regex.span())
            return regex.end()
        quote = self.language.quotes[int((match.lastgroup or "q0")[1:])]
        opening = re.compile(quote.opening).match(self.text, match.start())
        assert opening is not None
        if quote.is_heredoc:
            heredocs.append((quote, opening, match.start()))
            return match.end()
        if quote.is_multiline and self.unclosed >= MAX_UNCLOSED:
            return match.end()
        closing = (
            quote.closing.format(*(each or "" for each in opening.groups()))
            if "{0}" in quote.closing
            else quote.closing
        )
        end, chunks = self._content(quote, closing, match.end())
        if end < 0:
            self.unclosed += quote.is_multiline
            return match.end()
        if quote.is_string:
            self.literals.append(Literal(match.start(), end, tuple(chunks)))
        self.blanks.append((match.start(), end))
        return end

    def _heredocs(self, heredocs: list[tuple[Quote, re.Match[str], int]], position: int) -> int:
        """Read the bodies that were announced on the line above ``position``; the offset behind them."""
        for index, (quote, opening, start) in enumerate(heredocs):
            position += bool(index) and self.text[position : position + 1] == "\n"
            tag = next((each for each in opening.groups() if each), "")
            close = re.compile(rf"^[ \t]*{re.escape(tag)}\b", re.MULTILINE).search(self.text, position)
            stop = close.start() if close is not None else len(self.text)
            end, chunks = self._content(quote, None, position, stop)
            behind = close.end() if close is not None else None
            self.literals.append(Literal(start, opening.end(), tuple(chunks), behind))
            self.blanks += [(start, opening.end()), (position, end)]
            position = close.end() if close is not None else stop
        heredocs.clear()
        return position

    def _content(
        self, quote: Quote, closing: str | None, start: int, stop: int | None = None, depth: int = 0
    ) -> tuple[int, list[Chunk]]:
        """What a literal holds from ``start``: the offset behind its end (-1 when it has none) and its chunks."""
        chunks: list[Chunk] = []
        held: list[str] = []
        begin = position = start
        stop = len(self.text) if stop is None else stop
        pattern = _content_pattern(quote, closing)

        def flush(end: int) -> None:
            if held:
                first = self._line_of(begin)
                chunks.extend(chunks_of("".join(held), first, self._line_of(end)))
                held.clear()

        while (match := pattern.search(self.text, position, stop)) is not None:
            held.append(self.text[position : match.start()])
            if match.lastgroup == "close":
                flush(match.start())
                return match.end(), chunks
            if match.lastgroup == "newline":
                return -1, []
            if match.lastgroup == "escape":
                text, position = self._escaped(match, quote)
                held.append(text)
                continue
            end, expression = self._hole(match, depth) if self.unclosed < MAX_UNCLOSED else (-1, "")
            if end < 0 and depth and match.group() != "$":
                return -1, []
            if end < 0:
                position = match.end() + (match.group() == "{" == self.text[match.end() : match.end() + 1])
                held.append(self.text[match.start() : position])
                continue
            flush(match.start())
            line = self._line_of(match.start())
            chunks.append(Chunk(expression, line, line, is_hole=True))
            begin = position = end
        if closing is not None:
            return -1, []
        held.append(self.text[position:stop])
        flush(stop)
        return stop, chunks

    def _escaped(self, match: re.Match[str], quote: Quote) -> tuple[str, int]:
        """What an escape stands for, and the offset behind it."""
        char = self.text[match.start() + len(quote.escape) : match.start() + len(quote.escape) + 1]
        if quote.escape == quote.closing:
            return quote.closing, match.end()
        point = _CODE_POINT.match(self.text, match.start() + 1)
        if point is not None:
            number = int(next(each for each in point.groups() if each), 16)
            return (chr(number) if number < 0x110000 else "\ufffd"), point.end()
        return _ESCAPES.get(char, char), match.start() + len(quote.escape) + 1

    def _hole(self, match: re.Match[str], depth: int) -> tuple[int, str]:
        """The end of the hole that begins at ``match`` (-1 when none does) and the expression in it."""
        opening = match.group()
        if opening == "$":
            name = (_NAME_OR_PLACE if self.language.has_positions else _NAME).match(self.text, match.end())
            if name is None:
                return -1, ""
            end = name.end()
            index = re.compile(self.language.indexes).match(self.text, end) if self.language.indexes else None
            end = index.end() if index is not None else end
            return end, self.text[match.end() : end]
        if opening == "{" and self.text[match.end() : match.end() + 1] == "{":
            return -1, ""
        end = self._expression_end(match.end(), ")" if opening[-1] == "(" else "}", depth)
        inside = self.text[match.end() : end - 1] if end >= 0 else ""
        return end, ("$" if opening == "{$" else "") + inside.strip()

    def _expression_end(self, start: int, closing: str, depth: int) -> int:
        """The offset behind the bracket that closes an expression, over the brackets and literals inside; -1: none."""
        level, position, limit = 1, start, min(len(self.text), start + MAX_HOLE)
        brackets = re.compile(r"[{}()\[\]\"'`]")
        open_of = {"}": "{", ")": "("}[closing]
        while (match := brackets.search(self.text, position, limit)) is not None:
            char, position = match.group(), match.end()
            level += (char == open_of) - (char == closing)
            if level == 0:
                return position
            if char in "\"'`" and depth < MAX_NESTING:
                quote = Quote(char, char, is_multiline=char == "`", holes=("${",) if char == "`" else ())
                position, _ = self._content(quote, char, position, limit, depth + 1)
                if position < 0:
                    break
        self.unclosed += depth == 0
        return -1

    def _line_of(self, offset: int) -> int:
        if offset < self.counted:
            return self.line - self.text.count("\n", offset, self.counted)
        self.line += self.text.count("\n", self.counted, offset)
        self.counted = offset
        return self.line

    def code(self) -> str:
        parts, position = [], 0
        for start, end in sorted(self.blanks):
            if start >= position:
                parts += [self.text[position:start], re.sub(r"[^\n]", " ", self.text[start:end])]
                position = end
        return "".join(parts) + self.text[position:]


@lru_cache(maxsize=200)
def _content_pattern(quote: Quote, closing: str | None) -> re.Pattern[str]:
    """What interrupts the text of a literal: its end, an escape, a hole, a line that it may not leave."""
    parts = []
    holes = "|".join(map(re.escape, sorted(quote.holes, key=len, reverse=True)))
    if holes and quote.escape:
        parts.append(rf"(?P<hole>{holes})")
    if quote.escape == closing:
        parts.append(rf"(?P<escape>{re.escape(closing * 2)})" if closing else "")
    elif quote.escape:
        parts.append(rf"(?P<escape>{re.escape(quote.escape)}(?s:.))")
    if holes and not quote.escape:
        parts.append(rf"(?P<hole>{holes})")
    if closing is not None:
        parts.append(rf"(?P<close>{re.escape(closing)})" if closing else r"(?P<close>)")
    if not quote.is_multiline:
        parts.append(r"(?P<newline>\n)")
    return re.compile("|".join(filter(None, parts)) or r"(?!)")


def mark_literals(reading: Reading) -> str:
    """The code of a reading with :data:`LITERAL` in the place of its string literals."""
    parts, position = list[str](), 0
    for literal in reading.literals:
        if literal.start >= position:
            parts += [reading.code[position : literal.start], LITERAL * (literal.end - literal.start)]
            position = literal.end
    return "".join(parts) + reading.code[position:]
