"""Definitions: which CREATE, ALTER or DROP could change rows of the bound table, or make it another table."""

from __future__ import annotations

from collections.abc import Collection, Sequence

from arrowproof.conformance.names import fold
from arrowproof.conformance.statements import SqlStatement
from arrowproof.conformance.tables import read_added_column
from arrowproof.conformance.token_lists import split_commas
from arrowproof.conformance.tokens import Token, read_name, skip_words


def judge_definition(statement: SqlStatement, table: str) -> str | None:
    """Why a definition of SQLite could change rows of the bound table, or make it another one; None when it cannot."""
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


_KINDS = frozenset(
    {"TABLE", "VIEW", "TRIGGER", "INDEX", "RULE", "FUNCTION", "PROCEDURE", "TYPE", "SCHEMA", "DOMAIN", "DATABASE"}
)
_PREFIXES = frozenset(
    {"OR", "REPLACE", "TEMP", "TEMPORARY", "GLOBAL", "LOCAL", "UNLOGGED", "MATERIALIZED", "RECURSIVE", "UNIQUE"}
    | {"CONSTRAINT", "FOREIGN", "EVENT"}
)


def judge_server_definition(statement: SqlStatement, table: str, columns: Collection[str]) -> str | None:
    """The same for a definition of PostgreSQL or MySQL. ``columns`` are those whose type matters: key and state."""
    tokens = statement.tokens
    words = [token.word for token in tokens]
    at = next((index for index in range(1, len(words)) if words[index] not in _PREFIXES), len(words))
    kind = words[at] if at < len(words) and words[at] in _KINDS else ""
    named = skip_words(tokens, at + 1, "CONCURRENTLY")
    named = max(skip_words(tokens, named, "IF", "NOT", "EXISTS"), skip_words(tokens, named, "IF", "EXISTS"))
    named = skip_words(tokens, named, "ONLY")
    _, name, after = read_name(tokens, named)
    if words[0] == "DROP":
        return _judge_drop(kind, tokens[named:], table)
    if kind == "RULE" and any(fold(token.name or "") == table for token in tokens):
        return f"a rule rewrites statements on {table}"
    if kind not in ("TABLE", "VIEW") or name is None:
        return None
    if words[0] == "ALTER":
        return _judge_alter(tokens, after, fold(name), table, columns)
    if fold(name) != table:
        return None
    if kind == "VIEW" or "FOREIGN" in words[:at]:
        return f"{table} is not an ordinary table"
    if {"TEMP", "TEMPORARY"} & set(words[:at]):
        return f"it creates another table that is named {table}, for one session"
    return None if words[after : after + 1] == ["("] and "AS" not in words[-1:] else f"it creates {table} with rows"


def _judge_drop(kind: str, named: Sequence[Token], table: str) -> str | None:
    if kind in ("SCHEMA", "DATABASE") and any(token.word == "CASCADE" for token in named):
        return f"it drops a {kind.lower()}, with every table in it"
    parts = [_without_cascade(part) for part in split_commas(named)]
    dropped = {fold(part[-1].name or "") for part in parts if part}
    return f"it drops the {kind.lower()} {table}, with every row" if kind == "TABLE" and table in dropped else None


def _without_cascade(part: Sequence[Token]) -> Sequence[Token]:
    return part[:-1] if part and part[-1].word in ("CASCADE", "RESTRICT") else part


_HARMLESS_ACTIONS = (
    "ADD CONSTRAINT|ADD PRIMARY|ADD UNIQUE|ADD FOREIGN|ADD CHECK|ADD EXCLUDE|ADD INDEX|ADD KEY|OWNER TO"
    "|ENABLE ROW|DISABLE ROW|FORCE ROW|NO FORCE|SET|RESET|VALIDATE CONSTRAINT|DROP CONSTRAINT|CLUSTER ON"
    "|REPLICA IDENTITY|ENABLE TRIGGER|ENABLE ALWAYS|RENAME CONSTRAINT"
)
_HARMLESS_WORDS = tuple(each.split() for each in _HARMLESS_ACTIONS.split("|"))


def _judge_alter(tokens: Sequence[Token], after: int, altered: str, table: str, columns: Collection[str]) -> str | None:
    """Why an ALTER TABLE could change rows; of another table, only where it takes the name or the rows of this one."""
    words = [token.word for token in tokens]
    others = {fold(token.name or "") for token in tokens[after:]}
    if altered != table:
        if "RENAME" in words and words[-2:-1] == ["TO"] and fold(tokens[-1].name or "") == table:
            return f"a table is renamed to {table}: what its rows were before is not known"
        return f"it makes {altered} a part of {table}" if "INHERIT" in words and table in others else None
    for action in split_commas(tokens[after:]):
        if not _is_harmless(action, columns):
            return f"it alters the table {table}"
    return None


def _is_harmless(action: Sequence[Token], columns: Collection[str]) -> bool:
    """Whether one action of an ALTER TABLE leaves every row and the meaning of the columns as they are."""
    words = [token.word for token in action]
    if any(words[: len(each)] == each for each in _HARMLESS_WORDS):
        return True
    at = skip_words(action, 1, "COLUMN")
    at = max(skip_words(action, at, "IF", "NOT", "EXISTS"), skip_words(action, at, "IF", "EXISTS"))
    column = fold(action[at].name or "") if at < len(action) else ""
    if words[:1] == ["ADD"]:
        return bool(column)
    if words[:1] == ["DROP"]:
        return bool(column) and column not in columns
    if words[:1] == ["ALTER"] and column:
        changes_type = "TYPE" in words[at + 1 : at + 4]
        return not changes_type or column not in columns
    return False
