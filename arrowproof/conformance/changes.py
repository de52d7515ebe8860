"""Changes: which statements change rows of which table, and which of the others could change the table behind our back.

The verb and the table are read from the tokens, so that a statement on another table need not be parsed, and one that
the parser misreads is still counted. :func:`classify` gives each statement one of three answers: it changes rows, it
cannot touch the bound table, or a reason why that cannot be said.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from enum import StrEnum
from functools import cached_property
from itertools import pairwise

from arrowproof.conformance.names import fold
from arrowproof.conformance.statements import SqlStatement
from arrowproof.conformance.tables import read_added_column
from arrowproof.conformance.tokens import Token, TokenKind, read_name, skip_words
from arrowproof.model.record import record

MAX_DEPTH = 60
"""Parentheses within parentheses; deeper statements are undecided rather than a strain on the parser."""


class Verb(StrEnum):
    """What a change does to rows. REPLACE is an INSERT with the resolution REPLACE."""

    INSERT = "INSERT"
    UPDATE = "UPDATE"
    DELETE = "DELETE"


@record
class Change:
    """A statement that changes rows of ``table``.

    ``resolution`` is the word behind OR (``REPLACE``, ``IGNORE``, …), empty when there is none. ``sql`` is the text in
    the form that the parser reads as SQLite does: without comments, names quoted, parameters as ``?``, without OR.
    """

    statement: SqlStatement
    verb: Verb
    schema: str | None
    table: str
    resolution: str
    sql: str

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


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


_HARMLESS = _words(
    """
    SELECT VALUES EXPLAIN PRAGMA ANALYZE BEGIN COMMIT END ROLLBACK SAVEPOINT RELEASE REINDEX VACUUM DETACH
    """
)
_SCHEMA_TABLES = frozenset({"sqlite_schema", "sqlite_master", "sqlite_temp_schema", "sqlite_temp_master"})

# The words that SQLite keeps for itself. Any other word is a name, and is quoted for the parser, which keeps more.
_KEYWORDS = _words(
    """
    ALL AND AS ASC BETWEEN BY CASE CAST COLLATE CONFLICT CROSS CURRENT_DATE CURRENT_TIME CURRENT_TIMESTAMP DEFAULT
    DELETE DESC DISTINCT DO ELSE END ESCAPE EXCEPT EXISTS FALSE FILTER FIRST FROM FULL GLOB GROUP HAVING IN INDEXED
    INNER INSERT INTERSECT INTO IS ISNULL JOIN LAST LEFT LIKE LIMIT MATCH MATERIALIZED NATURAL NOT NOTHING NOTNULL NULL
    NULLS OFFSET ON OR ORDER OUTER OVER PARTITION RECURSIVE REGEXP RETURNING RIGHT ROW ROWS RANGE SELECT SET THEN TRUE
    UNION UNIQUE UPDATE USING VALUES WHEN WHERE WINDOW WITH
    """
)
_COMPARISONS = _words(
    """
    = == <> != < <= > >= IS IN LIKE GLOB MATCH REGEXP BETWEEN ISNULL NOTNULL
    """
)
_BOUNDARIES = _words(
    """
    AND OR WHEN THEN ELSE WHERE SET FROM ON HAVING SELECT BY RETURNING LIMIT OFFSET VALUES USING DO ,
    """
)


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
        reason = _judge_definition(statement, fold(table))
    elif word == "ATTACH":
        reason = "ATTACH brings in another database, whose tables are not known"
    elif word == "PRAGMA" and any(fold(token.name or "") == "writable_schema" for token in statement.tokens):
        reason = "PRAGMA writable_schema lets the schema be rewritten"
    elif word in _HARMLESS or word == "WITH":
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
            case TokenKind.WORD if token.word not in _KEYWORDS and (following != "(" or not token.text.isascii()):
                yield _quote(token.text)
            case _:
                yield token.text


def _quote(name: str) -> str:
    return '"' + name.replace('"', '""') + '"'


def find_strain(change: Change) -> str | None:
    """Why the parser's tree of a change could not be trusted, None when it can.

    SQLite gives ``=``, ``IS``, ``IN``, ``LIKE`` and their kin one precedence and groups them from the left; the parser
    does not. Where two of them follow each other without parentheses or AND and OR between, the tree may be another.
    """
    frames = [_Frame()]
    before = ""
    for token in change.statement.tokens:
        word = token.word
        if word in ("(", "CASE"):
            frames.append(_Frame())
        elif word in (")", "END") and len(frames) > 1:
            frames.pop()
        elif word in _BOUNDARIES and not (word == "FROM" and before == "DISTINCT"):
            frames[-1].begin(word)
        elif word in _COMPARISONS or (word == "NULL" and before == "NOT"):
            frames[-1].comparisons += 1
        if frames[-1].comparisons > 1:
            return f"comparisons follow each other without parentheses in line {token.line}: add them"
        if len(frames) > MAX_DEPTH:
            return f"more than {MAX_DEPTH} parentheses within each other"
        before = "IS NOT" if (before, word) == ("IS", "NOT") else word
    return None


@dataclass
class _Frame:
    """What was seen between two parentheses: the comparisons of the expression, and whether it is a SET list."""

    comparisons: int = 0
    in_set: bool = False

    def begin(self, boundary: str) -> None:
        """An expression begins behind ``boundary``. In a SET list its first ``=`` assigns and does not compare."""
        self.in_set = boundary == "SET" or (self.in_set and boundary in (",", "AND", "OR"))
        self.comparisons = -1 if self.in_set and boundary in ("SET", ",") else 0


def _judge_definition(statement: SqlStatement, table: str) -> str | None:
    """Why a CREATE, ALTER or DROP could change rows of the bound table, or make it another table."""
    tokens = statement.tokens
    words = [token.word for token in tokens]
    kinds = [word for word in words[1:4] if word in ("TABLE", "VIEW", "TRIGGER", "INDEX")]
    kind = kinds[0] if kinds else ""
    is_temporary = words[1:2] in (["TEMP"], ["TEMPORARY"])
    at = words.index(kind) + 1 if kind else 0
    at = max(skip_words(tokens, at, "IF", "NOT", "EXISTS"), skip_words(tokens, at, "IF", "EXISTS"))
    schema, name, after = read_name(tokens, at)
    if kind == "TRIGGER" and words[0] == "CREATE":
        is_read = statement.trigger is not None and statement.trigger.table is not None
        return None if is_read else "the table of this trigger, or its BEGIN, cannot be read"
    if words[0] == "ALTER" and words[-2:-1] == ["TO"] and fold(tokens[-1].name or "") == table:
        return f"a table is renamed to {table}: what its rows were before is not known"
    if kind not in ("TABLE", "VIEW") or name is None or fold(name) != table:
        return None
    if words[0] == "DROP":
        return f"it drops the {kind.lower()} {table}, with every row"
    if words[0] == "ALTER":
        _, column = read_added_column(statement)
        return None if column is not None and "REFERENCES" not in words else f"it alters the table {table}"
    if kind == "VIEW" or "VIRTUAL" in words[:3]:
        return f"{table} is not an ordinary table"
    if is_temporary or fold(schema or "main") != "main":
        return f"it creates another table that is named {table}, beside the one in the main database"
    return None if words[after : after + 1] == ["("] else f"it creates {table} with rows"
