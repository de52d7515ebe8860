"""Statements in the text of code, in any language whose string literals can be told.

A statement is looked for in each string expression, with what it is joined to. Names that are bound to one string where
they are used stand for it. What looks like a statement on the bound table and is in no literal that was found, and what
looks like a part of one that was put to no statement, is undecided.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace

from arrowproof.conformance.code_strings import CodeStrings
from arrowproof.conformance.embedded import CUT, read_piece
from arrowproof.conformance.heads import HOLE, Head, find_heads, find_written, may_hold_statement, may_name
from arrowproof.conformance.languages import language_of
from arrowproof.conformance.literals import Reading, read_literals
from arrowproof.conformance.pieces import ADDED, Chunk, Piece, masked
from arrowproof.conformance.statements import SqlStatement
from arrowproof.conformance.tokens import Token, TokenKind
from arrowproof.model.evidence import Place
from arrowproof.model.lifecycle import Dialect

MAX_SHOWN = 200
"""Characters of a line that are shown where a statement cannot be told from what surrounds it."""


def read_text(
    file: str, text: str, words: frozenset[str], dialect: Dialect, column: str | None = None
) -> Iterator[SqlStatement]:
    """The statements in a file of code that concern one of the tables ``words`` (folded).

    ``column`` is the state column, by which parts of a statement are known that were put to none.
    """
    language = language_of(file)
    if language is None:
        for head in _concerning(find_written(_unescaped(masked(text))), words):
            yield _unread(
                file, text, head.start, "the literals of this kind of file are not known: put the SQL into a .sql file"
            )
        return
    reading = read_literals(text, language)
    loose: list[SqlStatement] = []
    is_open = False
    for expression, is_part in CodeStrings(text, reading, language).all():
        piece = Piece(expression.chunks)
        statements = list(read_piece(file, piece, words, dialect))
        yield from statements
        is_open |= any(each.problem == CUT or ADDED in each.sql for each in statements)
        if not statements and not is_part and column is not None and _is_loose(piece.marked, column):
            shown = " ".join(piece.shown(0, len(piece.marked)).split())[:MAX_SHOWN]
            loose.append(_undecided(Place(file, piece.line_at(0)), shown, LOOSE))
    yield from () if is_open else loose
    for chunk in _expressions(reading):
        for each in read_text(file, chunk.text, words, dialect, column):
            yield replace(each, place=replace(each.place, line=each.place.line + chunk.line - 1))
    for head in _concerning(find_written(reading.code), words):
        yield _unread(
            file,
            text,
            head.start,
            "it stands in no string literal that was found: put it into one, or into a .sql file",
        )


LOOSE = "it looks like a part of a statement that is put together elsewhere: write the statement out in one string"
"""Why a part of a statement is undecided."""


def _expressions(reading: Reading) -> Iterator[Chunk]:
    """What fills the holes of literals and may hold literals of its own: ``"$(psql -c "DELETE …")"``."""
    for literal in reading.literals:
        for each in literal.chunks:
            if each.is_hole and _QUOTE.search(each.text) and may_hold_statement(each.text):
                yield each


_QUOTE = re.compile(r"[\"'`]|<<")


def _unescaped(text: str) -> str:
    """Text of any kind with the escapes of white space and quotes as these, of the same length."""
    if "\\" not in text:
        return text
    return _ESCAPE.sub("  ", _ESCAPED_QUOTE.sub('" ', _OPENING_QUOTE.sub(' "', text)))


_ESCAPE = re.compile(r"\\[nrt\n]")
_OPENING_QUOTE = re.compile(r"\\\"(?=\w)")
_ESCAPED_QUOTE = re.compile(r"\\\"")


def _concerning(heads: Iterator[Head], words: frozenset[str]) -> Iterator[Head]:
    return (head for head in heads if may_name(head.table, words))


def _unread(file: str, text: str, start: int, reason: str) -> SqlStatement:
    shown = text[start : start + MAX_SHOWN].partition("\n")[0].rstrip()
    return _undecided(Place(file, text.count("\n", 0, start) + 1), shown, reason)


def _undecided(place: Place, shown: str, reason: str) -> SqlStatement:
    return SqlStatement(place, shown, (Token(TokenKind.JUNK, shown, 0, place.line),), problem=reason)


def _is_loose(marked: str, column: str) -> bool:
    """Whether a string without a verb assigns the state: ``SET status = …``, or ``, status = 'done'`` of a list."""
    if column.lower() not in marked.lower() or any(True for _ in find_heads(marked)):
        return False
    if re.search(r"(?<!\bdo )\bupdate\b", marked, re.IGNORECASE):
        return False  # told by its own head, or prose
    name = rf"(?:[\"`\[]?\w+[\"`\]]?\.)?[\"`\[]?{re.escape(column)}[\"`\]]?\s*=\s*"
    others = r"(?:[^'\";]{0,200},\s*)?"
    placeholder = r"(?:'|\?|\$\d|:\w|@\w)"
    forms = (
        rf"\A[\s{HOLE}]*,\s*{name}{placeholder}",
        rf"(?:\A|\W)(?-i:SET)\s+{others}{name}(?:{placeholder}|%|{HOLE}|CASE\b|NULL\b|\d)",
        rf"\A\s*set\s+{others}{name}'",
    )
    return any(re.search(form, marked, re.IGNORECASE) for form in forms)
