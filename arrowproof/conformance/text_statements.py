"""Statements in the text of code, in any language whose string literals can be told.

A statement is looked for in each literal, with what it is joined to. Names that are bound once in the file to a literal
stand for it. What looks like a statement on the bound table and is in no literal that was found is undecided: it may be
in a form of literal that is not known.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Mapping
from dataclasses import replace

from arrowproof.conformance.embedded import read_piece
from arrowproof.conformance.heads import Head, find_written, may_hold_statement, may_name
from arrowproof.conformance.languages import Language, language_of
from arrowproof.conformance.literals import Reading, joined, read_literals
from arrowproof.conformance.pieces import Chunk, Piece, added_later, chunks_of
from arrowproof.conformance.statements import SqlStatement
from arrowproof.conformance.tokens import Token, TokenKind
from arrowproof.model.evidence import Place
from arrowproof.model.lifecycle import Dialect

MAX_SHOWN = 200
"""Characters of a line that are shown where a statement cannot be told from what surrounds it."""
MAX_BESIDE = 200
"""Characters of code beside a literal that say what it is joined to, or bound to."""


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
    strings = list(_strings(reading, language))
    wanted = {chunk.text.strip() for chunks in strings for chunk in chunks if chunk.is_hole}
    constants = _constants(reading, language, wanted) if wanted else {}
    for chunks in strings:
        yield from read_piece(file, Piece(tuple(_resolved(chunks, constants))), words, dialect)
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


def _strings(reading: Reading, language: Language) -> Iterator[list[Chunk]]:
    """What the program makes of each literal that may be a statement, with what is joined or added to it."""
    for start, end, chunks in joined(reading, language):
        if not any(may_hold_statement(chunk.text) or chunk.is_hole for chunk in chunks):
            continue
        before, after = reading.code[max(0, start - MAX_BESIDE) : start], reading.code[end : end + MAX_BESIDE]
        ahead, behind = _joined_name(before, after, language)
        last = max(chunks[-1].line, chunks[-1].last_line)
        grown = "" if behind else _grown_name(before, reading.code, end, language)
        added = added_later(grown, last) if grown else ()
        yield [*_hole(ahead, chunks[0].line), *chunks, *_hole(behind, last), *added]


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


def _constants(reading: Reading, language: Language, wanted: Collection[str]) -> dict[str, str]:
    """Those of the names ``wanted`` that a file binds once, and to a literal: ``TABLE``, ``States.DONE`` of an enum."""
    found: dict[str, list[str]] = {}
    code = reading.code
    groups = [(match.end(), _closing(code, match.end()), match["name"]) for match in _GROUP.finditer(code)]
    last_names = {name.rpartition(".")[2] for name in wanted}
    for literal in reading.literals:
        before = code[max(0, literal.start - MAX_BESIDE) : literal.start]
        is_plain = not any(chunk.is_hole for chunk in literal.chunks) and _ends_here(code, literal.end, language)
        if not is_plain or not any(name in before for name in last_names):
            continue
        value = "".join(chunk.text for chunk in literal.chunks)
        bound, member = _BOUND.search(before), _MEMBER.search(before)
        if bound is not None and (bound["keyword"] or bound["name"].isupper() or bound["name"][0] == "@"):
            found.setdefault(bound["name"], []).extend([value] * _times_bound(bound["name"], code))
        group = next((name for start, end, name in groups if start <= literal.start < end), None)
        if member is not None and group is not None:
            found.setdefault(f"{group}.{member['name']}", []).append(value)
    return {name: values[0] for name, values in found.items() if len(values) == 1 and name in wanted}


def _times_bound(name: str, code: str) -> int:
    return len(re.findall(rf"(?<![\w.]){re.escape(name)}\s*(?::[^=\n]{{1,60}})?:?=(?![=>])", code)) or 1


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
