"""Statements in the text of code, in any language whose string literals can be told.

A statement is looked for in each literal, with what it is joined to. Names that are bound once in the file to a literal
stand for it. What looks like a statement on the bound table and is in no literal that was found is undecided: it may be
in a form of literal that is not known.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import replace

from arrowproof.conformance.embedded import Chunk, Piece, added_later, chunks_of, read_piece
from arrowproof.conformance.heads import Head, find_written, may_name
from arrowproof.conformance.languages import Language, language_of
from arrowproof.conformance.literals import Reading, joined, read_literals
from arrowproof.conformance.statements import SqlStatement
from arrowproof.conformance.tokens import Token, TokenKind
from arrowproof.model.evidence import Place
from arrowproof.model.lifecycle import Dialect

MAX_SHOWN = 200
"""Characters of a line that are shown where a statement cannot be told from what surrounds it."""
MAX_CONSTANTS = 2_000


def read_text(file: str, text: str, words: frozenset[str], dialect: Dialect) -> Iterator[SqlStatement]:
    """The statements in a file of code that concern one of the tables ``words`` (folded)."""
    language = language_of(file)
    if language is None:
        for head in _concerning(find_written(text), words):
            yield _unread(
                file, text, head, "the literals of this kind of file are not known: put the SQL into a .sql file"
            )
        return
    reading = read_literals(text, language)
    constants = _constants(reading, language)
    for piece in _pieces(text, reading, language, constants):
        yield from read_piece(file, piece, words, dialect)
    for head in _concerning(find_written(reading.code), words):
        yield _unread(
            file, text, head, "it stands in no string literal that was found: put it into one, or into a .sql file"
        )


def _concerning(heads: Iterator[Head], words: frozenset[str]) -> Iterator[Head]:
    return (head for head in heads if may_name(head.table, words))


def _unread(file: str, text: str, head: Head, reason: str) -> SqlStatement:
    line = text.count("\n", 0, head.start) + 1
    shown = text[head.start : head.start + MAX_SHOWN].partition("\n")[0].rstrip()
    return SqlStatement(Place(file, line), shown, (Token(TokenKind.JUNK, shown, head.start, line),), problem=reason)


# Pieces: literals, what they are joined to, and what is added to them later


def _pieces(text: str, reading: Reading, language: Language, constants: Mapping[str, str]) -> Iterator[Piece]:
    for start, end, chunks in joined(reading, language):
        before, after = reading.code[max(0, start - 200) : start], reading.code[end : end + 200]
        line = text.count("\n", 0, start) + 1
        ahead, behind = _joined_name(before, after, language)
        last = chunks[-1].last_line if chunks else line
        grown = "" if behind else _grown_name(before, reading.code, end, language)
        whole = [*_hole(ahead, line), *chunks, *_hole(behind, last), *(added_later(grown, last) if grown else ())]
        yield Piece(tuple(_resolved(whole, constants)))


def _hole(expression: str, line: int) -> list[Chunk]:
    return [Chunk(expression, line, line, is_hole=True)] if expression else []


def _joined_name(before: str, after: str, language: Language) -> tuple[str, str]:
    """The expressions that a literal is joined to on either side, empty when it is not."""
    if not language.joint:
        return "", ""
    ahead = re.search(rf"([\w$.>\])-]{{1,80}})\s*(?:{language.joint})\s*\Z", before)
    behind = re.match(rf"\s*(?:{language.joint})\s*([\w$.@:>(-]{{1,80}})", after)
    return (ahead[1] if ahead else ""), (behind[1] if behind else "")


_APPENDED = re.compile(
    r"(?:\b|\.)(?:append|appendLine|appendln|writeString|write_str|push_str|concat)!?\s*\(\s*\Z", re.I
)
_ASSIGNED = re.compile(r"([$@]?\w+)(?:\s*:\s*[\w<>&' ]{1,40})?\s*:?=\s*\(?\s*\Z")


def _grown_name(before: str, code: str, end: int, language: Language) -> str:
    """The variable or builder that a literal is put into and that is added to later, empty when nothing is."""
    if _APPENDED.search(before):
        return "the builder"
    assigned = _ASSIGNED.search(before)
    if assigned is None:
        return ""
    name, joint = re.escape(assigned[1]), language.joint or r"\+"
    adds = (
        rf"(?<![\w$@.]){name}\s*(?:(?:{joint})=|<<\s|\.(?:concat|append|push_str|push|\+=)\(|=\s*{name}\s*(?:{joint}))"
    )
    return assigned[1] if re.compile(adds).search(code, end) else ""


def _resolved(chunks: list[Chunk], constants: Mapping[str, str]) -> Iterator[Chunk]:
    """The chunks, in which each hole that is filled by a constant of the file is its text."""
    for chunk in chunks:
        constant = constants.get(chunk.text.strip()) if chunk.is_hole else None
        if constant is None:
            yield chunk
        else:
            yield from (replace(each, line=chunk.line, last_line=chunk.line) for each in chunks_of(constant, 0, 0))


# Constants

_BOUND = re.compile(
    r"(?:^|[\s;{(])(?:(?P<keyword>const|final|val|readonly|define|static|let|public|private|protected|internal|export)\s+"
    r"(?:[\w<>:&']+\s+){0,3})?(?P<name>[@$]?[A-Za-z_]\w*)(?:\s*:\s*[\w<>&' .\[\]]{1,60}?)?\s*(?::?=|,)\s*\Z"
)
_MEMBER = re.compile(r"(?:^|[{,\s])['\"]?(?P<name>[A-Za-z_]\w*)['\"]?\s*(?::|=>|=)\s*\Z")
_GROUP = re.compile(
    r"\b(?:const|enum|object|class|readonly|static|val|let)\s+(?:class\s+)?(?P<name>[A-Za-z_]\w*)(?:\s*:\s*[^={\n]{1,80})?"
    r"\s*(?:=\s*)?(?:Object\.freeze\(\s*)?\{"
)


def _constants(reading: Reading, language: Language) -> dict[str, str]:
    """The names that a file binds once, and to a literal: ``TABLE``, and ``States.DONE`` of an object or enum."""
    found: dict[str, str] = {}
    counts: dict[str, int] = {}
    groups = [
        (match.end(), _closing(reading.code, match.end()), match["name"]) for match in _GROUP.finditer(reading.code)
    ]
    for literal in reading.literals[:MAX_CONSTANTS]:
        before = reading.code[max(0, literal.start - 160) : literal.start]
        if any(chunk.is_hole for chunk in literal.chunks) or not _ends_here(reading.code, literal.end, language):
            continue
        value = "".join(chunk.text for chunk in literal.chunks)
        bound = _BOUND.search(before)
        if bound is not None and (bound["keyword"] or bound["name"].isupper() or bound["name"][0] == "@"):
            found[bound["name"]] = value
            counts[bound["name"]] = len(
                re.findall(rf"(?<![\w.]){re.escape(bound['name'])}\s*(?::[^=\n]{{1,60}})?:?=(?!=)", reading.code)
            )
        member = _MEMBER.search(before)
        group = next((name for start, end, name in groups if start <= literal.start < end), None)
        if member is not None and group is not None:
            name = f"{group}.{member['name']}"
            counts[name] = counts.get(name, 0) + 1
            found[name] = value
    return {name: value for name, value in found.items() if counts[name] <= 1}


def _closing(code: str, start: int) -> int:
    """The offset of the brace that closes the one ahead of ``start``."""
    level = 1
    for match in re.compile(r"[{}]").finditer(code, start):
        level += 1 if match.group() == "{" else -1
        if level == 0:
            return match.start()
    return len(code)


def _ends_here(code: str, end: int, language: Language) -> bool:
    """Whether a literal is the whole value that it is part of."""
    following = code[end : end + 40].lstrip(" \t")
    return not (language.joint and re.match(rf"\s*(?:{language.joint})", following)) and not following.startswith(
        ("+", ".")
    )
