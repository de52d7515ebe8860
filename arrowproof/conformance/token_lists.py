"""Token lists: what stands between parentheses and commas in a definition."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from arrowproof.conformance.names import fold
from arrowproof.conformance.tokens import Token


def with_depth(tokens: Sequence[Token]) -> Iterator[tuple[int, Token, int]]:
    """Each token with its index and the number of parentheses around it."""
    depth = 0
    for index, token in enumerate(tokens):
        depth -= token.word == ")"
        yield index, token, depth
        depth += token.word == "("


def parenthesis(tokens: Sequence[Token], index: int) -> tuple[Sequence[Token], int]:
    """The tokens inside the parenthesis that opens at ``index``, and the index behind it."""
    for offset, token, depth in with_depth(tokens[index:]):
        if token.word == ")" and depth == 0:
            return tokens[index + 1 : index + offset], index + offset + 1
    return tokens[index + 1 :], len(tokens)


def split_commas(tokens: Sequence[Token]) -> Iterator[Sequence[Token]]:
    """The parts between the commas that no parenthesis encloses."""
    start = 0
    for index, token, depth in with_depth(tokens):
        if depth == 0 and token.word == ",":
            yield tokens[start:index]
            start = index + 1
    yield tokens[start:]


def names_in_parentheses(tokens: Sequence[Token], index: int) -> tuple[tuple[str, ...], int]:
    """The plain column names in the parenthesis at ``index``; none when one of them is an expression or is collated."""
    if index >= len(tokens) or tokens[index].word != "(":
        return (), index
    inner, after = parenthesis(tokens, index)
    names = []
    for part in split_commas(inner):
        plain = [token for token in part if token.word not in ("ASC", "DESC", "AUTOINCREMENT")]
        if len(plain) != 1 or plain[0].name is None:
            return (), after
        names.append(fold(plain[0].name or ""))
    return tuple(names), after
