"""Routines: the functions, procedures and DO blocks that sources define, and where the SQL in them stands."""

from __future__ import annotations

from collections.abc import Sequence

from arrowproof.conformance.names import fold
from arrowproof.conformance.tokens import Token, TokenKind, read_name, skip_words
from arrowproof.model.record import record

_COMPILED = frozenset({"c", "internal"})


@record
class Routine:
    """A stored routine: its name (None for a DO block), its language in lower case, and whether a trigger calls it."""

    name: str | None
    language: str
    returns_trigger: bool = False

    @property
    def is_compiled(self) -> bool:
        """Whether it has no body of SQL at all."""
        return self.language in _COMPILED

    @property
    def title(self) -> str:
        """How messages call it."""
        return f"the function {self.name}" if self.name is not None else "the DO block"


def read_routine(tokens: Sequence[Token]) -> Routine | None:
    """The routine that a statement defines, None when it is another statement."""
    words = [token.word for token in tokens]
    if words[:1] == ["DO"]:
        return Routine(None, _language(tokens) or "plpgsql")
    index = skip_words(tokens, 0, "CREATE")
    index = skip_words(tokens, index, "OR", "REPLACE")
    if index == 0 or words[index : index + 1] not in (["FUNCTION"], ["PROCEDURE"]):
        return None
    _, name, after = read_name(tokens, index + 1)
    body = next((at for at in range(after, len(tokens)) if words[at] in ("AS", "BEGIN")), len(tokens))
    returns = any(words[at : at + 2] == ["RETURNS", "TRIGGER"] for at in range(after, body))
    return Routine(name, _language(tokens) or "sql", returns)


def body_of(tokens: Sequence[Token]) -> Token | None:
    """The string that holds the body of a routine, None when it has none."""
    words = [token.word for token in tokens]
    for index, token in enumerate(tokens):
        before = words[index - 1] if index else ""
        is_body = before == "AS" or (words[0] == "DO" and before != "LANGUAGE")
        if token.kind is TokenKind.TEXT and is_body:
            return token
    return None


def _language(tokens: Sequence[Token]) -> str | None:
    for index, token in enumerate(tokens[:-1]):
        if token.word == "LANGUAGE":
            following = tokens[index + 1]
            return fold(following.name or following.value or "")
    return None
