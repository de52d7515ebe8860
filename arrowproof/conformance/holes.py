"""Holes: which of them stand for more than the one value that they were taken for, told by what stands beside them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

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
