"""Changes: which statements change rows of which table, and which of the others could change the table behind our back.

The verb and the table are read from the tokens, so that a statement on another table need not be parsed, and one that
the parser misreads is still counted. :func:`classify` gives each statement one of three answers: it changes rows, it
cannot touch the bound table, or a reason why that cannot be said.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from enum import StrEnum
from functools import cached_property
from itertools import pairwise

from arrowproof.conformance.definitions import judge_definition
from arrowproof.conformance.grammar import SQLITE
from arrowproof.conformance.names import fold
from arrowproof.conformance.statements import SqlStatement
from arrowproof.conformance.tokens import Token, TokenKind, read_name, skip_words
from arrowproof.model.record import record


class Verb(StrEnum):
    """What a change does to rows. REPLACE is an INSERT with the resolution REPLACE."""

    INSERT = "INSERT"
    UPDATE = "UPDATE"
    DELETE = "DELETE"
    MERGE = "MERGE"
    TRUNCATE = "TRUNCATE"


@record
class Change:
    """A statement that changes rows of ``table``.

    ``resolution`` is the word behind OR (``REPLACE``, ``IGNORE``, …), empty when there is none. ``sql`` is the text in
    the form that the parser reads as the database does: without comments, parameters in one form, without OR, and for
    SQLite with names quoted. Where a statement changes rows in several ``parts``, as in its table expressions, each is
    a change of its own that knows which ``part`` it is.
    """

    statement: SqlStatement
    verb: Verb
    schema: str | None
    table: str
    resolution: str
    sql: str
    part: int = 0
    parts: int = 1

    @property
    def is_upsert(self) -> bool:
        """Whether an INSERT updates the row in its way."""
        words = [token.word for token in self.statement.tokens]
        return any(pair == ("DO", "UPDATE") for pair in pairwise(words))

    @cached_property
    def double_quoted(self) -> frozenset[str]:
        """The names in double quotes, which SQLite reads as strings where no column bears them."""
        tokens = self.statement.tokens
        return frozenset(token.name or "" for token in tokens if token.text[:1] == '"')


@record
class Opaque:
    """A statement of which the scan cannot say what it does to the bound table, and why."""

    statement: SqlStatement
    reason: str


@record
class Assignment:
    """What a trigger function gives the row that is written: ``column`` is set to ``sql``.

    ``column`` is None when the whole row is another one, and ``sql`` None when the value is not in the text.
    """

    statement: SqlStatement
    column: str | None
    sql: str | None


_SCHEMA_TABLES = frozenset({"sqlite_schema", "sqlite_master", "sqlite_temp_schema", "sqlite_temp_master"})


def classify(statement: SqlStatement, table: str) -> Change | Opaque | None:
    """What a statement does to rows: a change (of any table), a reason for not knowing, or None for nothing.

    ``table`` is the bound table; only what could touch it is worth a reason.
    """
    if statement.problem is not None:
        return Opaque(statement, statement.problem)
    word = statement.word(0)
    index, main = _main_verb(statement.tokens)
    verbs = 0 if word in ("EXPLAIN", "CREATE", "ALTER", "DROP") else _count_verbs(statement.tokens)
    if main is not None and word != "EXPLAIN" and word in ("WITH", "INSERT", "UPDATE", "DELETE", "REPLACE"):
        change = _read_change(statement, index, main)
        if isinstance(change, Change) and verbs != 1:
            return Opaque(statement, f"{verbs} data-changing keywords in one statement: a semicolon may be missing")
        return change
    if word in ("CREATE", "ALTER", "DROP"):
        reason = judge_definition(statement, fold(table))
    elif word == "ATTACH":
        reason = "ATTACH brings in another database, whose tables are not known"
    elif word == "PRAGMA" and any(fold(token.name or "") == "writable_schema" for token in statement.tokens):
        reason = "PRAGMA writable_schema lets the schema be rewritten"
    elif word in statement.grammar.harmless or word == "WITH":
        reason = f"{verbs} data-changing keywords, and no statement that SQLite would run" if verbs else None
    else:
        reason = f"not a statement of SQLite: it begins with {statement.tokens[0].text[:20]!r}"
    return None if reason is None else Opaque(statement, reason)


def _main_verb(tokens: Sequence[Token]) -> tuple[int, Verb | None]:
    """The first verb outside of all parentheses: a WITH clause keeps its own in parentheses."""
    depth = 0
    for index, token in enumerate(tokens):
        depth += (token.word == "(") - (token.word == ")")
        following = tokens[index + 1].word if index + 1 < len(tokens) else ""
        if depth == 0 and token.word == "REPLACE" and following == "INTO":
            return index, Verb.INSERT
        if depth == 0 and token.word in ("INSERT", "UPDATE", "DELETE"):
            return index, Verb(token.word)
        if depth == 0 and token.word in ("SELECT", "VALUES"):
            break
    return 0, None


def _count_verbs(tokens: Sequence[Token]) -> int:
    """How many data-changing keywords stand in a statement, as clauses such as ON DELETE and DO UPDATE do not count."""
    count = 0
    for index, token in enumerate(tokens):
        before = tokens[index - 1].word if index else ""
        following = tokens[index + 1].word if index + 1 < len(tokens) else ""
        match token.word:
            case "INSERT" | "DELETE" | "UPDATE":
                count += before not in ("ON", "DO", ".")
            case "REPLACE" | "MERGE":
                count += following == "INTO" and before not in ("OR", ".")
    return count


def _read_change(statement: SqlStatement, index: int, verb: Verb) -> Change | Opaque:
    """The change whose verb stands at ``index``."""
    tokens = statement.tokens
    at = index + 1
    resolution = "REPLACE" if tokens[index].word == "REPLACE" else ""
    if statement.word(at) == "OR":
        resolution = statement.word(at + 1)
        at += 2
    preposition = {Verb.INSERT: ["INTO"], Verb.DELETE: ["FROM"]}.get(verb, [])
    at = skip_words(tokens, at, *preposition)
    schema, table, after = read_name(tokens, at)
    if table is None:
        return Opaque(statement, f"the table of this {verb} is not named")
    if fold(table) in _SCHEMA_TABLES:
        return Opaque(statement, f"it writes {table}, the schema itself")
    head = [verb.value, *preposition, _quote(table)]
    sql = " ".join([*_normalise(tokens[:index]), *head, *_normalise(tokens[after:])])
    return Change(statement, verb, fold(schema) if schema else None, fold(table), resolution, sql)


def _normalise(tokens: Sequence[Token]) -> Iterator[str]:
    """The tokens as the parser shall read them."""
    for index, token in enumerate(tokens):
        following = tokens[index + 1].word if index + 1 < len(tokens) else ""
        match token.kind:
            case TokenKind.PARAMETER:
                yield "?"
            case TokenKind.NUMBER:
                yield token.text.replace("_", "")
            case TokenKind.QUOTED:
                yield _quote(token.name or "")
            case TokenKind.WORD if token.word not in SQLITE.keywords and (following != "(" or not token.text.isascii()):
                yield _quote(token.text)
            case _:
                yield token.text


def _quote(name: str) -> str:
    return '"' + name.replace('"', '""') + '"'
