"""Statements: the text of an SQL file cut where the database would cut it, each with its line and its query's name.

A statement ends at a semicolon, or where a ``-- name: xyz`` comment begins the next query. A name is that of the
statement behind it, a whole trigger included, and of no later one. The statements in the body of a trigger, function,
procedure or DO block are statements of their own, which know where they stand. Nothing is dropped: text that cannot be
read stays in a statement with a problem.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import field, replace
from itertools import pairwise, takewhile

from arrowproof.conformance.grammar import SQLITE, Grammar, grammar_of
from arrowproof.conformance.holes import open_templates
from arrowproof.conformance.mysql_statements import Bodies, without_delimiters
from arrowproof.conformance.plpgsql import Piece, read_pieces
from arrowproof.conformance.routines import Routine, body_of, read_routine
from arrowproof.conformance.tokens import Token, TokenKind, read_name, skip_words, tokenize
from arrowproof.model.evidence import Place
from arrowproof.model.lifecycle import Dialect
from arrowproof.model.record import record

MAX_INDENT = 200
"""Characters of white space ahead of a comment or shell command that still stands first in its line."""

MAX_BODIES = 8
"""Bodies within bodies, as a function that makes a function has them; a deeper one is not read."""

_SENDING = re.compile(r"\\(?:;|(?:g(?:exec|x|set|desc)?|watch|crosstabview)\b[^\n]*)")
_QUERY_NAME = re.compile(r"--\s*(?::name\s|name\s*:)\s*([^\s!^<>#$:*]+)")
_FRAMED_NAME = re.compile(
    r"--\s*(\w+)\s+--[ \t]*$(?=\s*(?:--[^\n]*\s*)*(?:SELECT|INSERT|UPDATE|DELETE|WITH|MERGE|REPLACE|LISTEN)\b)",
    re.MULTILINE | re.IGNORECASE,
)


@record
class Trigger:
    """The trigger that a statement stands in: its name and the table it fires on, None when they cannot be read."""

    name: str | None
    table: str | None


@record
class SqlStatement:
    """One statement: its place, its text as written, its tokens without comments.

    ``trigger`` is set on the statements of a trigger's body and on the CREATE TRIGGER itself, whose text ends at its
    BEGIN; ``routine`` on those of a stored routine's body and on its header. ``problem`` says why the text cannot be
    what the database reads, None when it can.
    """

    place: Place
    sql: str
    tokens: tuple[Token, ...] = field(repr=False)
    trigger: Trigger | None = None
    problem: str | None = None
    routine: Routine | None = None
    grammar: Grammar = field(default=SQLITE, repr=False, compare=False)

    def word(self, index: int) -> str:
        """The upper-case word or sign at ``index``, empty when there is none."""
        return self.tokens[index].word if 0 <= index < len(self.tokens) else ""


def split_statements(file: str, text: str, dialect: Dialect = Dialect.SQLITE) -> tuple[SqlStatement, ...]:
    """Cut ``text`` into its statements, in order. ``file`` is the name that their places bear."""
    if dialect is Dialect.MYSQL and "delimiter" in text.lower():
        text = without_delimiters(text)
    splitter = _Splitter(file, text, grammar_of(dialect), _Body())
    return tuple(splitter.statements())


@record
class _Body:
    """The part of a text that a routine's body takes up, or the whole text."""

    start: int = 0
    end: int | None = None
    line: int = 1
    routine: Routine | None = None
    name: str | None = None
    depth: int = 0


class _Splitter:
    """Walks the tokens of one file, or of one body, once."""

    def __init__(self, file: str, text: str, grammar: Grammar, body: _Body) -> None:
        self.file = file
        self.text = text
        self.grammar = grammar
        self.body = body
        self.query: str | None = None
        self.pending: list[Token] = []
        self.trigger: Trigger | None = None
        self.routine: Routine | None = None
        self.bodies = Bodies() if grammar.dialect is Dialect.MYSQL else None

    @property
    def is_inside(self) -> bool:
        """Whether the reader stands in a body between BEGIN and END."""
        return self.trigger is not None or self.routine is not None

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
        if self.is_inside:
            self.pending = self.pending or [Token(TokenKind.JUNK, "", len(self.text), self.text.count("\n") + 1)]
            kind = "trigger" if self.trigger is not None else "routine"
            yield from self._flush(problem=f"the file ends inside a {kind}: its END is missing")
        yield from self._flush()

    def _without_shell_commands(self) -> Iterator[Token | SqlStatement]:
        """The tokens, with each line that the database's shell would take for itself as a whole statement."""
        start, line, reads_rows = self.body.start, self.body.line, False
        while True:
            for token in tokenize(self.text, self.grammar, start, self.body.end, line):
                sending = self._sending(token)
                if sending is not None:
                    start = sending.end()
                    runs = "what it returns is run as SQL" if "exec" in sending.group() else None
                    yield from self._flush(problem=runs)
                    break
                if self._is_shell_command(token):
                    start = self._end_of_line(token.start)
                    yield from self._shell_command(token, self.text[token.start : start].rstrip())
                    break
                yield token
                if token.word == ";" and reads_rows:
                    # The rows of a dump follow its COPY, up to a line that holds \\. alone.
                    close = self.text.find("\n\\.", token.start)
                    start = self._end_of_line(close + 1) if close >= 0 else len(self.text)
                    break
                reads_rows = self._reads_rows()
            else:
                return
            line = token.line + self.text.count("\n", token.start, start)

    def _is_shell_command(self, token: Token) -> bool:
        """Whether a line begins here that the database's shell takes for itself."""
        is_marked = token.word == self.grammar.shell_mark != ""
        return is_marked and not self.pending and self._stands_first(token)

    def _sending(self, token: Token) -> re.Match[str] | None:
        """The command of psql behind a statement that ends it, as a semicolon would: ``\\g``, ``\\gexec``."""
        if token.word != "\\" or self.grammar.shell_mark != "\\" or not self.pending or self.is_inside:
            return None
        return _SENDING.match(self.text, token.start) if self.body.depth == 0 else None

    def _end_of_line(self, position: int) -> int:
        newline = self.text.find("\n", position)
        return len(self.text) if newline < 0 else newline

    def _shell_command(self, token: Token, line: str) -> Iterator[SqlStatement]:
        if line.split()[0] not in self.grammar.shell_commands:
            yield self._statement((token,), line, f"a command of the {self.grammar.shell} shell, not SQL")
        self.query = None

    def _reads_rows(self) -> bool:
        """Whether the statement so far is a COPY whose rows follow it in the file."""
        if not self.pending or self.pending[0].word != "COPY":
            return False
        return ("FROM", "STDIN") in pairwise(token.word for token in self.pending)

    def _query_name(self, comment: Token) -> str | None:
        """The query that a comment on its own line names; inside a body a comment names nothing."""
        match = _QUERY_NAME.match(comment.text) or self._framed_name(comment)
        is_plain = not self.is_inside and self.body.depth == 0
        return match.group(1) if match and is_plain and self._stands_first(comment) else None

    def _framed_name(self, comment: Token) -> re.Match[str] | None:
        """``-- name --`` ahead of a statement, outside of all parentheses."""
        match = _FRAMED_NAME.match(self.text, comment.start)
        depth = sum((token.word == "(") - (token.word == ")") for token in self.pending) if match is not None else 0
        return match if depth == 0 else None

    def _stands_first(self, token: Token) -> bool:
        """Whether nothing but white space stands ahead of a token in its line."""
        before = self.text[max(0, token.start - MAX_INDENT) : token.start]
        return not before.rpartition("\n")[2].strip() and ("\n" in before or token.start <= MAX_INDENT)

    def _semicolon(self) -> Iterator[SqlStatement]:
        if self.bodies is not None and self.pending and self.bodies.is_open(self.pending):
            return
        if self.is_inside and [token.word for token in self.pending] == ["END"]:
            self._leave_body()
        else:
            yield from self._flush()

    def _enter_body(self) -> Iterator[SqlStatement]:
        """At the BEGIN of a trigger or of an SQL routine: its header is a statement, and up to END follows its body."""
        if self.is_inside or self.pending[-1].word not in ("BEGIN", "ATOMIC"):
            return
        query, trigger = self.query, None
        if self.pending[-1].word == "BEGIN":
            trigger = _read_trigger(self.pending) if not self.grammar.has_routines else None
            if trigger is None:
                return
        routine = read_routine(self.pending) if trigger is None and self.grammar.has_routines else None
        if trigger is not None or routine is not None:
            header = [replace(each, trigger=trigger, routine=routine) for each in self._flush(is_header=True)]
            yield from header
            self.trigger, self.routine = trigger, routine
            self.query = query if routine is None else routine.name

    def _flush(self, problem: str | None = None, is_header: bool = False) -> Iterator[SqlStatement]:
        tokens, self.pending = tuple(self.pending), []
        if self.bodies is not None:
            self.bodies.end()
        if self.is_inside and [token.word for token in tokens] == ["END"]:
            self._leave_body()
        elif tokens:
            routine = read_routine(tokens) if self.grammar.has_routines and not is_header else None
            statement = self._statement(tokens, self.text[tokens[0].start : tokens[-1].end], problem)
            if routine is None:
                yield statement
            else:
                yield from self._routine(replace(statement, routine=routine), routine)
            if not self.is_inside:
                self.query = None

    def _statement(self, tokens: tuple[Token, ...], sql: str, problem: str | None = None) -> SqlStatement:
        place = Place(self.file, tokens[0].line, self.query or self.body.name)
        tokens = tuple(open_templates(tokens))
        problem = problem or _find_problem(tokens, self.grammar)
        routine = self.routine or self.body.routine
        return SqlStatement(place, sql, tokens, self.trigger, problem, routine, self.grammar)

    def _leave_body(self) -> None:
        self.pending, self.trigger, self.routine, self.query = [], None, None, None

    # Bodies that stand in a string

    def _routine(self, header: SqlStatement, routine: Routine) -> Iterator[SqlStatement]:
        """The header of a routine, then the statements in the string that holds its body."""
        token = body_of(header.tokens)
        if token is None or routine.is_compiled:
            yield header
            return
        body = self._body_in(token, routine)
        if body is None:
            yield replace(header, problem=f"the body of {routine.title} cannot be read in this form: put it between $$")
        elif routine.language == "sql":
            yield header
            yield from _Splitter(self.file, self.text, self.grammar, body).statements()
        elif routine.language == "plpgsql":
            yield header
            yield from self._pieces(body, routine)
        else:
            yield replace(header, problem=f"the body of {routine.title} is written in {routine.language}")

    def _body_in(self, token: Token, routine: Routine | None) -> _Body | None:
        """The part of the text that a string takes up, None when its quotes hide what the text is."""
        content, name = token.value, routine.name if routine is not None else self.body.name
        place = token.text.find(content) if content else -1
        if content == "" or (place < 0 and content is not None and "'" not in content):
            return _Body(token.end, token.end, token.line, routine, name, self.body.depth + 1)
        if content is None or place < 0 or self.body.depth >= MAX_BODIES:
            return None
        start = token.start + place
        line = token.line + token.text[:place].count("\n")
        return _Body(start, start + len(content), line, routine, name, self.body.depth + 1)

    def _pieces(self, body: _Body, routine: Routine) -> Iterator[SqlStatement]:
        """The statements of a PL/pgSQL body; of an EXECUTE, those in the constant that it runs."""
        inner = _Splitter(self.file, self.text, self.grammar, body)
        found = tokenize(self.text, self.grammar, body.start, body.end, body.line)
        tokens = [token for token in found if token.kind is not TokenKind.COMMENT]
        if any(token.word == "USE_VARIABLE" for token in tokens):
            problem = "a variable of this function hides a column of the same name (use_variable)"
            yield inner._statement((tokens[0],), tokens[0].text, problem)
        for piece in read_pieces(tokens, routine.returns_trigger):
            yield from inner._piece(piece)

    def _piece(self, piece: Piece) -> Iterator[SqlStatement]:
        first, last = piece.tokens[0], piece.tokens[-1]
        body = self._body_in(piece.dynamic, self.body.routine) if piece.dynamic is not None else None
        if body is not None:
            yield from _Splitter(self.file, self.text, self.grammar, body).statements()
            return
        problem = piece.problem
        if piece.dynamic is not None:
            problem = "the string that it runs has quotes in it: put it between $$"
        yield self._statement(piece.tokens, self.text[first.start : last.end], problem)


def _find_problem(tokens: Sequence[Token], grammar: Grammar) -> str | None:
    """What in a statement the database cannot read."""
    for token in tokens:
        if token.kind is TokenKind.JUNK:
            return f"{grammar.title} cannot read {token.text[:20]!r} in line {token.line}"
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
