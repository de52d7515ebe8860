"""Statements: the text of an SQL file cut where SQLite would cut it, each with its line and the name of its query.

A statement ends at a semicolon, or where a ``-- name: xyz`` comment begins the next query. A name is that of the
statement behind it, a whole trigger included, and of no later one. The statements in the body
of a trigger are statements of their own, which know their trigger. Nothing is dropped: text that cannot be read stays
in a statement with a problem.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import field, replace
from itertools import takewhile

from arrowproof.conformance.tokens import Token, TokenKind, tokenize
from arrowproof.model.evidence import Place
from arrowproof.model.record import record

MAX_INDENT = 200
"""Characters of white space ahead of a comment or shell command that still stands first in its line."""

_QUERY_NAME = re.compile(r"--\s*name\s*:\s*([^\s!^<>#$:*]+)")


@record
class Trigger:
    """The trigger that a statement stands in: its name and the table it fires on, None when they cannot be read."""

    name: str | None
    table: str | None


@record
class SqlStatement:
    """One statement: its place, its text as written, its tokens without comments.

    ``trigger`` is set on the statements of a trigger's body and on the CREATE TRIGGER itself, whose text ends at its
    BEGIN. ``problem`` says why the text cannot be what SQLite reads, None when it can.
    """

    place: Place
    sql: str
    tokens: tuple[Token, ...] = field(repr=False)
    trigger: Trigger | None = None
    problem: str | None = None

    def word(self, index: int) -> str:
        """The upper-case word or sign at ``index``, empty when there is none."""
        return self.tokens[index].word if 0 <= index < len(self.tokens) else ""


def split_statements(file: str, text: str) -> tuple[SqlStatement, ...]:
    """Cut ``text`` into its statements, in order. ``file`` is the name that their places bear."""
    splitter = _Splitter(file, text)
    return tuple(splitter.statements())


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


class _Splitter:
    """Walks the tokens of one file once."""

    def __init__(self, file: str, text: str) -> None:
        self.file = file
        self.text = text
        self.query: str | None = None
        self.pending: list[Token] = []
        self.trigger: Trigger | None = None

    def statements(self) -> Iterator[SqlStatement]:
        for token in self._without_shell_commands():
            if isinstance(token, SqlStatement):
                yield token
            elif token.kind is TokenKind.COMMENT:
                name = self._query_name(token)
                if name is not None:
                    yield from self._flush()
                    self.query = name
            elif token.word == ";":
                yield from self._semicolon()
            else:
                self.pending.append(token)
                yield from self._enter_body()
        if self.trigger is not None:
            self.pending = self.pending or [Token(TokenKind.JUNK, "", len(self.text), self.text.count("\n") + 1)]
            yield from self._flush(problem="the file ends inside a trigger: its END is missing")
        yield from self._flush()

    def _without_shell_commands(self) -> Iterator[Token | SqlStatement]:
        """The tokens, with each line that the sqlite3 shell would take for itself (``.read``) as a whole statement."""
        command_end = -1
        for token in tokenize(self.text):
            if token.start < command_end:
                continue
            if token.word == "." and not self.pending and self._stands_first(token):
                newline = self.text.find("\n", token.start)
                command_end = len(self.text) if newline < 0 else newline
                line = self.text[token.start : command_end].rstrip()
                place = Place(self.file, token.line, self.query)
                self.query = None
                yield SqlStatement(place, line, (token,), problem="a command of the sqlite3 shell, not SQL")
            else:
                yield token

    def _query_name(self, comment: Token) -> str | None:
        """The query that a comment on its own line names; inside a trigger a comment names nothing."""
        match = _QUERY_NAME.match(comment.text)
        return match.group(1) if match and self.trigger is None and self._stands_first(comment) else None

    def _stands_first(self, token: Token) -> bool:
        """Whether nothing but white space stands ahead of a token in its line."""
        before = self.text[max(0, token.start - MAX_INDENT) : token.start]
        return not before.rpartition("\n")[2].strip() and ("\n" in before or token.start <= MAX_INDENT)

    def _semicolon(self) -> Iterator[SqlStatement]:
        if self.trigger is not None and [token.word for token in self.pending] == ["END"]:
            self._end_trigger()
        else:
            yield from self._flush()

    def _enter_body(self) -> Iterator[SqlStatement]:
        """At the BEGIN of a trigger: its header is a statement, and what follows up to END its body."""
        if self.trigger is None and self.pending[-1].word == "BEGIN":
            trigger = _read_trigger(self.pending)
            if trigger is not None:
                query = self.query
                yield from (replace(header, trigger=trigger) for header in self._flush())
                self.trigger, self.query = trigger, query

    def _flush(self, problem: str | None = None) -> Iterator[SqlStatement]:
        tokens, self.pending = tuple(self.pending), []
        if self.trigger is not None and [token.word for token in tokens] == ["END"]:
            self._end_trigger()
        elif tokens:
            place = Place(self.file, tokens[0].line, self.query)
            sql = self.text[tokens[0].start : tokens[-1].end]
            statement = SqlStatement(place, sql, tokens, self.trigger, problem or _find_problem(tokens))
            if self.trigger is None:
                self.query = None
            yield statement

    def _end_trigger(self) -> None:
        self.pending, self.trigger, self.query = [], None, None


def _find_problem(tokens: Sequence[Token]) -> str | None:
    """What in a statement SQLite cannot read."""
    for token in tokens:
        if token.kind is TokenKind.JUNK:
            return f"SQLite cannot read {token.text[:20]!r} in line {token.line}"
    return None


def _read_trigger(header: Sequence[Token]) -> Trigger | None:
    """The trigger whose CREATE stands in ``header``, None when it is another statement."""
    index = skip_words(header, 0, "CREATE")
    index = max(skip_words(header, index, "TEMP"), skip_words(header, index, "TEMPORARY"))
    if index == 0 or header[index].word != "TRIGGER":
        return None
    index = skip_words(header, index + 1, "IF", "NOT", "EXISTS")
    _, name, index = read_name(header, index)
    index += sum(1 for _ in takewhile(lambda token: token.word != "ON", header[index:]))
    _, table, _ = read_name(header, index + 1)
    return Trigger(name, table)
