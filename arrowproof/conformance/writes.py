"""Writes: the changes that a statement of any dialect makes, each data-changing part of it by itself.

To PostgreSQL one statement may change rows in several places: each table expression that changes data is a part, and so
are the tables of a TRUNCATE. The parts are found by their tokens; that the parser sees the same ones is checked where
its tree is used, so that none is lost to a misreading. SQLite has one change a statement, which
:func:`arrowproof.conformance.changes.classify` reads.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from dataclasses import replace

from arrowproof.conformance.changes import Assignment, Change, Opaque, Verb, classify
from arrowproof.conformance.definitions import judge_server_definition
from arrowproof.conformance.grammar import Grammar
from arrowproof.conformance.heads import find_heads, may_name
from arrowproof.conformance.holes import misplaced_hole, open_places
from arrowproof.conformance.mysql_statements import judge_mysql
from arrowproof.conformance.names import fold
from arrowproof.conformance.statements import SqlStatement
from arrowproof.conformance.token_lists import split_commas
from arrowproof.conformance.tokens import Token, TokenKind, read_name, skip_words
from arrowproof.model.lifecycle import Dialect
from arrowproof.model.record import record

Answer = Change | Assignment | Opaque

_BEGINNINGS = frozenset({"WITH", "INSERT", "UPDATE", "DELETE", "MERGE", "REPLACE", "SELECT", "VALUES", "COPY"})


def changes_of(statement: SqlStatement, table: str, columns: Collection[str] = ()) -> tuple[Answer, ...]:
    """What a statement does to rows, part by part; empty when it cannot touch the bound table ``table``.

    ``columns`` are those of the bound table whose type matters: its key and its state.
    """
    if statement.grammar.quotes_names:
        answer = classify(statement, table)
        answers: tuple[Answer, ...] = (answer,) if answer is not None else ()
    elif statement.problem is not None:
        return (Opaque(statement, statement.problem),)
    else:
        answers = tuple(_server_changes(_without_prefix(statement), fold(table), columns))
    is_bound = any(isinstance(each, Change) and each.table == fold(table) for each in answers)
    places = dict(open_places(statement.tokens)) if is_bound else {}
    reason = misplaced_hole(statement.tokens, places) if places else None
    return answers if reason is None else (Opaque(statement, reason),)


def _without_prefix(statement: SqlStatement) -> SqlStatement:
    """The statement that PREPARE … AS keeps, or EXPLAIN ANALYZE runs; one that is cut off ahead of it, as it is."""
    words = [token.word for token in statement.tokens]
    at = 0
    if words[:1] == ["PREPARE"]:
        at = next((index + 1 for index, word in enumerate(words) if word == "AS"), 0)
    elif words[:1] == ["EXPLAIN"] and {"ANALYZE", "ANALYSE"} & set(words[1:6]):
        at = next((index for index, word in enumerate(words) if word in _BEGINNINGS), 0)
    return _cut(statement, at, len(words)) or statement


def _cut(statement: SqlStatement, start: int, end: int) -> SqlStatement | None:
    """The part of a statement between two of its tokens, at its own line; None when nothing stands there."""
    if start >= end:
        return None
    if start == 0 and end == len(statement.tokens):
        return statement
    return replace(_at_line(statement, statement.tokens[start].line), tokens=statement.tokens[start:end])


def _server_changes(statement: SqlStatement, table: str, columns: Collection[str]) -> Iterator[Answer]:
    grammar, word = statement.grammar, statement.word(0)
    reason = _judge_rare(statement, table)
    if reason is not None:
        yield Opaque(statement, reason)
    elif statement.routine is not None and statement.routine.returns_trigger and word in ("NEW", "RETURN"):
        yield from _assignment(statement)
    elif word in grammar.definitions:
        yield from _defined(statement, table, columns)
    elif word == "TRUNCATE":
        yield from _truncated(statement)
    elif word != "EXPLAIN":  # without ANALYZE, which runs what it explains
        yield from _row_changes(statement, table)


def _defined(statement: SqlStatement, table: str, columns: Collection[str]) -> Iterator[Answer]:
    """What a definition does to the table; of CREATE TABLE … AS also what its query changes while it is read."""
    reason = judge_server_definition(statement, table, columns)
    if reason is not None:
        yield Opaque(statement, reason)
    query = _query_of_table(statement)
    if query is not None:
        reason = _judge_rare(query, table)
        yield from _changed_parts(query, list(_parts(query.tokens))) if reason is None else [Opaque(query, reason)]


def _query_of_table(statement: SqlStatement) -> SqlStatement | None:
    """The query of ``CREATE TABLE … AS``; None for any other definition, without a query and for WITH NO DATA."""
    words = [token.word for token in statement.tokens]
    if words[0] != "CREATE" or "TABLE" not in words[1:5] or words[-3:] == ["WITH", "NO", "DATA"]:
        return None
    depth = 0
    for index, word in enumerate(words):
        depth += (word == "(") - (word == ")")
        if word == "AS" and depth == 0:
            return _cut(statement, index + 1, len(words) - 2 * (words[-2:] == ["WITH", "DATA"]))
    return None


def _row_changes(statement: SqlStatement, table: str) -> Iterator[Answer]:
    """What a statement that is no definition does to rows, or why that is not known."""
    grammar, word = statement.grammar, statement.word(0)
    parts = list(_parts(statement.tokens))
    if word == "COPY" and not parts:
        if _copies_into(statement.tokens, table):
            yield Opaque(statement, "COPY brings in rows whose states are not in the statement")
    elif parts and word in _BEGINNINGS:
        yield from _changed_parts(statement, parts)
    elif parts:
        yield Opaque(statement, f"{len(parts)} data-changing keywords, and no statement that {grammar.title} would run")
    elif word == "SELECT" and _makes_table(statement.tokens, table):
        yield Opaque(statement, f"it creates {table} with rows")
    elif statement.routine is None and word not in grammar.harmless | _BEGINNINGS | {"EXECUTE", "("}:
        yield Opaque(statement, f"not a statement of {grammar.title}: it begins with {statement.tokens[0].text[:20]!r}")


def _changed_parts(statement: SqlStatement, parts: Sequence[_Part]) -> Iterator[Answer]:
    """Each part as a change of its own, at its own line."""
    sql = render(statement.tokens, statement.grammar)
    for number, part in enumerate(parts):
        if part.table is None:
            yield Opaque(statement, f"the table of this {part.verb} is not named")
            continue
        schema = fold(part.schema) if part.schema else None
        own = _at_line(statement, part.line)
        yield Change(own, part.verb, schema, fold(part.table), part.resolution, sql, number, len(parts))


def _copies_into(tokens: Sequence[Token], table: str) -> bool:
    """Whether a COPY brings rows into the table."""
    _, copied, after = read_name(tokens, 1)
    return fold(copied or "") == table and any(token.word == "FROM" for token in tokens[after:])


_OF_SQL = _BEGINNINGS | {"CREATE", "ALTER", "DROP", "TRUNCATE", "EXECUTE", "COMMENT"}
"""The words that begin a statement of SQL in a body; what begins with another one is an expression of PL/pgSQL."""
_MAY_RUN_STRINGS = frozenset({"SELECT", "CALL", "PERFORM", "WITH", "VALUES"})
_OFF = frozenset({"off", "false", "0", "no"})


def _judge_rare(statement: SqlStatement, table: str) -> str | None:
    """Why a statement may change rows in a form that is rare: through a string, or in MySQL's own manner."""
    tokens = statement.tokens
    if statement.grammar.dialect is Dialect.MYSQL:
        return judge_mysql(tokens, table)
    if any(fold(token.name or "") == "standard_conforming_strings" for token in tokens):
        values = {fold(token.name or token.value or token.text) for token in tokens}
        return "from here on backslashes in strings are escapes, which is not followed" if values & _OFF else None
    is_expression = statement.routine is not None and tokens[0].word not in _OF_SQL
    if tokens[0].word in _MAY_RUN_STRINGS or is_expression:
        for token in tokens:
            if token.kind is TokenKind.TEXT and _holds_change(token, table):
                return f"a string in it is a statement on {table}, which a function may run"
    return None


def _holds_change(token: Token, table: str) -> bool:
    text = token.value
    if text is None:  # with escapes, of which only those of white space matter here
        text = token.text.partition("'")[2].replace("\\n", " ").replace("\\t", " ").replace("\\'", "'")
    heads = find_heads(text.replace("''", "'"))
    return any(not (head.is_cut or head.is_definition) and may_name(head.table, frozenset({table})) for head in heads)


def _at_line(statement: SqlStatement, line: int) -> SqlStatement:
    """The statement with the line of one of its parts; its tokens count lines from where the text was found."""
    place = statement.place
    return replace(statement, place=replace(place, line=place.line + line - statement.tokens[0].line))


def _makes_table(tokens: Sequence[Token], table: str) -> bool:
    """Whether a SELECT … INTO makes the table."""
    for index, token in enumerate(tokens):
        if token.word == "INTO":
            at = index + 1
            while at < len(tokens) and tokens[at].word in ("TEMP", "TEMPORARY", "UNLOGGED", "TABLE"):
                at += 1
            return fold(read_name(tokens, at)[1] or "") == table
    return False


@record
class _Part:
    verb: Verb
    schema: str | None
    table: str | None
    line: int
    resolution: str = ""


def _parts(tokens: Sequence[Token]) -> Iterator[_Part]:
    """Each place at which a statement changes rows, by its verb and the words that must follow it."""
    for index, token in enumerate(tokens):
        word = token.word
        before = tokens[index - 1].word if index else ""
        if word not in ("INSERT", "UPDATE", "DELETE", "MERGE", "REPLACE") or before in (".", "ON", "FOR", "KEY", "DO"):
            continue
        at = index + 1
        while at < len(tokens) and tokens[at].word in ("LOW_PRIORITY", "IGNORE", "DELAYED", "QUICK"):
            at += 1
        preposition = {"UPDATE": "ONLY", "DELETE": "FROM"}.get(word, "INTO")
        after = skip_words(tokens, at, preposition)
        if word != "UPDATE" and after == at:
            continue
        at = skip_words(tokens, after, "ONLY")
        # {schema}.jobs is the table of that name, in whichever schema it stands.
        at += 2 if _is_parameter(tokens, at) and skip_words(tokens, at + 1, ".") > at + 1 else 0
        schema, table, end = read_name(tokens, at)
        if word == "UPDATE" and (skip_words(tokens, after, "SET") > after or not _has_set(tokens, end)):
            continue
        verb = Verb.INSERT if word == "REPLACE" else Verb(word)
        yield _Part(verb, schema, table, token.line, "REPLACE" if word == "REPLACE" else "")


def _is_parameter(tokens: Sequence[Token], index: int) -> bool:
    return index < len(tokens) and tokens[index].kind is TokenKind.PARAMETER


def _has_set(tokens: Sequence[Token], index: int) -> bool:
    """Whether SET follows the table of an UPDATE, behind its alias or the tables that are joined to it."""
    depth = 0
    for token in tokens[index:]:
        depth += (token.word == "(") - (token.word == ")")
        if depth < 0 or token.word == ";":
            return False
        if depth == 0 and token.word == "SET":
            return True
    return False


def _truncated(statement: SqlStatement) -> Iterator[Answer]:
    """The tables that a TRUNCATE empties."""
    at = skip_words(statement.tokens, 1, "TABLE")
    lists = list(split_commas(statement.tokens[at:]))
    for number, named in enumerate(lists):
        schema, name, _ = read_name(named, skip_words(named, 0, "ONLY"))
        if name is not None:
            folded = fold(schema) if schema else None
            yield Change(statement, Verb.TRUNCATE, folded, fold(name), "", "", number, len(lists))


def _assignment(statement: SqlStatement) -> Iterator[Assignment]:
    """``NEW.column := value`` in a trigger function, or another row in the place of NEW."""
    words = [token.word for token in statement.tokens]
    if words[:2] != ["NEW", "."] or len(words) < 3:
        yield Assignment(statement, None, None)
    elif len(words) == 3 or words[3] not in (":=", "="):
        yield Assignment(statement, fold(statement.tokens[2].name or ""), None)
    else:
        value = render(statement.tokens[4:], statement.grammar)
        yield Assignment(statement, fold(statement.tokens[2].name or ""), value)


def assigned_changes(assignment: Assignment, table: str, events: Collection[str]) -> Iterator[Change]:
    """An assignment to NEW as the changes that it makes of every write of the table, for INSERT and for UPDATE."""
    statement, column = assignment.statement, fold(assignment.column or "")
    tokens = statement.tokens[4:]
    # A variable of the function may bear the name of the column, and only a qualified name means a row.
    is_open = assignment.sql is None or any(
        fold(token.name or "") == column and tokens[index - 1].word != "." for index, token in enumerate(tokens)
    )
    value = "$1" if is_open else assignment.sql
    named, target = (_quoted(name) for name in (column, table))
    if "INSERT" in events:
        sql = f"INSERT INTO {target} ({named}) VALUES ({value})"
        yield Change(statement, Verb.INSERT, None, table, "", sql)
    if "UPDATE" in events:
        yield Change(statement, Verb.UPDATE, None, table, "", f"UPDATE {target} SET {named} = {value}")


def _quoted(name: str) -> str:
    return '"' + name.replace('"', '""') + '"'


def render(tokens: Sequence[Token], grammar: Grammar) -> str:
    """The tokens as the parser shall read them: parameters in one form, strings without escapes."""
    parameter = "$1" if grammar.dialect is Dialect.POSTGRESQL else "?"
    pieces: list[str] = []
    index = 0
    while index < len(tokens):
        token = tokens[index]
        overriding = tokens[index + 1].word if index + 2 < len(tokens) and token.word == "OVERRIDING" else ""
        if overriding in ("SYSTEM", "USER"):
            index += 3
            continue
        if token.word == "CURRENT" and skip_words(tokens, index, "CURRENT", "OF") > index:
            pieces.append("TRUE")
            index += 3
            continue
        if token.kind is TokenKind.PARAMETER and skip_words(tokens, index + 1, ".") > index + 1:
            index += 2
            continue
        if token.kind is TokenKind.PARAMETER:
            pieces.append(parameter)
        elif token.kind is TokenKind.TEXT:
            pieces.append(parameter if token.value is None else "'" + token.value.replace("'", "''") + "'")
        elif token.kind is TokenKind.NUMBER:
            pieces.append(token.text.replace("_", ""))
        else:
            pieces.append(token.text)
        index += 1
    return " ".join(pieces)
