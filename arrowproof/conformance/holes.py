"""Holes: which of them stand for more than the one value that they were taken for, told by what stands beside them."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace

from arrowproof.conformance.tokens import Token, TokenKind

_VALUE_FOLLOWS = frozenset(
    [
        "AND",
        "OR",
        "NOT",
        "WHERE",
        "IN",
        "LIKE",
        "ILIKE",
        "BETWEEN",
        "LIMIT",
        "OFFSET",
        "THEN",
        "ELSE",
        "WHEN",
        "CASE",
        "SELECT",
        "BY",
        "ON",
        "HAVING",
        "RETURNING",
        "IS",
        "FROM",
        "DISTINCT",
        "INTERVAL",
        "ESCAPE",
        "DEFAULT",
        "ANY",
        "ALL",
        "SOME",
        "GLOB",
        "REGEXP",
        "MATCH",
        "SIMILAR",
        "TO",
        "ARRAY",
        "ROW",
        "AS",
        "CAST",
        "DATE",
        "TIMESTAMP",
        "ONLY",
        "CALL",
        "PERFORM",
        "EXECUTE",
        "USING",
        "FIRST",
        "NEXT",
        "ZONE",
    ]
)
_FOLLOWS_VALUE = frozenset(
    [
        "AND",
        "OR",
        "THEN",
        "ELSE",
        "END",
        "WHEN",
        "WHERE",
        "FROM",
        "AS",
        "ORDER",
        "GROUP",
        "LIMIT",
        "RETURNING",
        "ON",
        "IS",
        "IN",
        "NOT",
        "LIKE",
        "ILIKE",
        "BETWEEN",
        "COLLATE",
        "OFFSET",
        "UNION",
        "EXCEPT",
        "INTERSECT",
        "SET",
        "USING",
        "ASC",
        "DESC",
        "FOR",
        "DO",
        "HAVING",
        "ISNULL",
        "NOTNULL",
        "GLOB",
        "REGEXP",
        "MATCH",
        "SIMILAR",
        "ESCAPE",
        "AT",
        "ROWS",
        "ROW",
        "NULLS",
        "WINDOW",
        "LOOP",
        "CONFLICT",
        "FETCH",
        "DAY",
        "HOUR",
        "MINUTE",
        "SECOND",
        "MONTH",
        "YEAR",
        "MICROSECOND",
        "VALUES",
        "SELECT",
        "SKIP",
        "NOWAIT",
    ]
)
_JOINED = frozenset({"AND", "OR", "NOT", "WHERE", "ON"})
_OPERANDS = frozenset(
    {TokenKind.STRING, TokenKind.TEXT, TokenKind.NUMBER, TokenKind.PARAMETER, TokenKind.QUOTED, TokenKind.BLOB}
)
_ENDS_A_CONDITION = frozenset({"", ")", "AND", "OR", "ORDER", "LIMIT", "RETURNING", "GROUP", "FOR", "THEN", "END"})


def misplaced_hole(tokens: Sequence[Token], values: Mapping[int, str]) -> str | None:
    """Why a hole among the tokens of a statement can be more than one value, None when none can.

    ``values`` are the holes as they are shown, by the offsets of their tokens.
    """
    if tokens[0].word in ("ALTER", "DROP"):
        return None
    for index, token in enumerate(tokens):
        shown = values.get(token.start)
        if shown is None or token.kind is not TokenKind.PARAMETER:
            continue
        before = tokens[index - 1] if index else None
        after = tokens[index + 1] if index + 1 < len(tokens) else None
        if _is_operand(before, _VALUE_FOLLOWS, ")") or _is_operand(after, _FOLLOWS_VALUE, "("):
            return f"{shown} stands for more than one value: write out what it adds, in one statement for each case"
        words = (before.word if before else "", after.word if after else "")
        if words[0] in _JOINED and words[1] in _ENDS_A_CONDITION and {"AND", "NOT"} & set(words):
            return f"{shown} stands for a condition, and an OR in it would undo the others: put it in parentheses"
    return None


def _is_operand(token: Token | None, keywords: frozenset[str], bracket: str) -> bool:
    """Whether a token beside a hole leaves no room for a value: a value itself, a name, or a bracket."""
    if token is None:
        return False
    if token.kind is TokenKind.WORD:
        return token.word not in keywords
    return token.kind in _OPERANDS or token.word == bracket


_PLACE = r"[$\#]\{[^{}\n]{1,100}\}|\{\{-?\s*[A-Za-z_][^{}\n]{0,100}\}\}|<%[^%\n]{1,100}%>|\$\(\w+\)"
_TEMPLATE = re.compile(rf"[A-Za-z]?['\"`\[][\w.:-]*(?:{_PLACE})\S*['\"`\]]")
"""A placeholder in quotes. What has white space around it may be a whole body of a function, and is left as it is."""
_QUOTED = frozenset({TokenKind.STRING, TokenKind.TEXT, TokenKind.QUOTED})


def open_templates(tokens: Iterable[Token]) -> Iterator[Token]:
    """The tokens of an SQL file, with a placeholder of a template in quotes as the parameter that it is.

    ``'${state}'`` may be any state and ``"{{ table }}"`` any table, and neither is the text that is written.
    """
    for token in tokens:
        is_open = token.kind in _QUOTED and _TEMPLATE.fullmatch(token.text) is not None
        yield replace(token, kind=TokenKind.PARAMETER) if is_open else token


def open_places(tokens: Sequence[Token]) -> Iterator[tuple[int, str]]:
    """The placeholders of templates outside of quotes, by offset, but for those that stand for a schema."""
    for index, token in enumerate(tokens):
        is_schema = index + 1 < len(tokens) and tokens[index + 1].word == "."
        if token.kind is TokenKind.PARAMETER and token.text.startswith(("${", "{")) and not is_schema:
            yield token.start, token.text
