"""Embedded SQL: the statements of a piece of SQL that was found in code, with their places in the file.

A hole that hides a table, a column, or part of the syntax is a reason for *undecided*.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace

from arrowproof.conformance.heads import find_heads, find_hidden_verbs, may_name
from arrowproof.conformance.holes import misplaced_hole
from arrowproof.conformance.names import fold
from arrowproof.conformance.pieces import Piece
from arrowproof.conformance.rendering import render_piece
from arrowproof.conformance.statements import SqlStatement, split_statements
from arrowproof.conformance.tokens import Token, TokenKind
from arrowproof.model.evidence import Place
from arrowproof.model.lifecycle import Dialect

CUT = "what stands behind it is put to it elsewhere: write the statement out in one string"
"""Why a statement is undecided that ends ahead of what it does."""

HIDDEN_VERB = "its verb is {}, which only the running program knows: write one statement for each verb"
"""Why a statement is undecided that begins with a hole."""

IN_A_COMMAND = "a command of the database's shell runs it: put it into a file, or into a string by itself"
"""Why a statement is undecided that stands in quotes in a command: ``"psql -c 'DELETE FROM jobs'"``."""

_SHELL = re.compile(r"\b(?:psql|sqlite3|mysql)\b")
_QUOTED = re.compile(r"([\"'])(.*?)\1", re.DOTALL)


def read_piece(file: str, piece: Piece, words: frozenset[str], dialect: Dialect) -> Iterator[SqlStatement]:
    """The statements of a piece that concern one of the tables ``words`` (folded), or may do so behind a hole."""
    yield from _in_commands(file, piece, words)
    heads = list(find_heads(piece.marked))
    verbless = [head for head in find_hidden_verbs(piece.marked) if may_name(head.table, words)]
    is_named = bool(heads) and _names(piece.marked, words)
    if not (verbless or is_named or any(may_name(head.table, words) for head in heads)):
        return
    rendered = render_piece(piece, words, dialect)
    for statement in split_statements(file, rendered.text, dialect):
        tokens = statement.tokens
        hidden = next((rendered.hidden[each.start] for each in tokens if each.start in rendered.hidden), None)
        if hidden is None and not _concerns(statement, words):
            continue
        first = tokens[0].start
        start, end = (rendered.marked_offset(each) for each in (first, max(tokens[-1].end, first + len(statement.sql))))
        place = Place(file, piece.line_at(start), statement.place.name)
        verb = next((piece.hole_at(head.start) for head in verbless if start <= head.start < end), None)
        problem = HIDDEN_VERB.format(verb) if verb is not None else None
        problem = problem or statement.problem or hidden or misplaced_hole(tokens, rendered.values)
        if problem is None and any(head.is_cut and start <= head.start < end for head in heads):
            problem = CUT
        yield replace(statement, place=place, sql=piece.shown(start, end), problem=problem)


def _in_commands(file: str, piece: Piece, words: frozenset[str]) -> Iterator[SqlStatement]:
    """The statements in quotes behind the name of a database's shell."""
    shell = _SHELL.search(piece.marked) if "sql" in piece.marked else None
    for match in _QUOTED.finditer(piece.marked, shell.end()) if shell is not None else ():
        heads = [each for each in find_heads(match[2]) if not each.is_definition and may_name(each.table, words)]
        if heads:
            line = piece.line_at(match.start(2))
            token = Token(TokenKind.JUNK, match[2], 0, line)
            text = piece.shown(match.start(2), match.end(2))
            yield SqlStatement(Place(file, line), text, (token,), problem=IN_A_COMMAND)


def _names(marked: str, words: frozenset[str]) -> bool:
    text = fold(marked)
    return any(word in text for word in words)


def _concerns(statement: SqlStatement, words: frozenset[str]) -> bool:
    """Whether a statement, or the trigger that it stands in, names one of the tables."""
    if statement.problem is not None and _names(statement.sql, words):
        return True
    if statement.trigger is not None and fold(statement.trigger.table or "") in words:
        return True
    return any(fold(token.name or token.value or "") in words for token in statement.tokens)
