"""Statements of MySQL that change rows in forms of its own, and those with bodies: undecided where they name the table.

``DELIMITER`` is a command of MySQL's shell: up to the next one its sign ends a statement as a semicolon does.
A body of a procedure, function, trigger or event is not followed.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from arrowproof.conformance.names import fold
from arrowproof.conformance.tokens import Token

_DELIMITER = re.compile(r"^[ \t]*DELIMITER[ \t]+(\S+)[ \t]*\r?$", re.MULTILINE | re.IGNORECASE)
_BODIES = frozenset({"PROCEDURE", "FUNCTION", "TRIGGER", "EVENT"})
_MODIFIERS = frozenset({"LOW_PRIORITY", "DELAYED", "HIGH_PRIORITY", "IGNORE", "QUICK"})
MAX_HEADER = 30
"""Tokens of a CREATE in which the word stands that says what it creates, behind its DEFINER."""


def without_delimiters(text: str) -> str:
    """The text, of the same length, in which a semicolon ends each statement that a sign of DELIMITER ends."""
    parts: list[str] = []
    position, sign = 0, ";"
    for match in (*_DELIMITER.finditer(text), None):
        end = match.start() if match is not None else len(text)
        parts.append(text[position:end].replace(sign, ";" + " " * (len(sign) - 1)))
        if match is not None:
            parts.append(" " * (match.end() - match.start()))
            position, sign = match.end(), match[1]
    return "".join(parts)


class Bodies:
    """Counts whether a statement stands inside of the body of a routine, so that a semicolon does not end it."""

    def __init__(self) -> None:
        self._counted = 0
        self._depth = 0
        self._has_body = False

    def is_open(self, tokens: Sequence[Token]) -> bool:
        """Whether the statement so far, to which tokens were only added since the last time, is not at its end."""
        if self._counted == 0:
            self._has_body = tokens[0].word == "CREATE" and any(each.word in _BODIES for each in tokens[:MAX_HEADER])
        for index in range(self._counted, len(tokens)):
            word, before = tokens[index].word, tokens[index - 1].word if index else ""
            following = tokens[index + 1].word if index + 1 < len(tokens) else ""
            self._depth += word == "BEGIN" or (word == "CASE" and before != "END")
            self._depth -= word == "END" and following not in ("IF", "LOOP", "WHILE", "REPEAT")
        self._counted = len(tokens)
        return self._has_body and self._depth > 0

    def end(self) -> None:
        """The statement is at its end."""
        self._counted = self._depth = 0


def judge_mysql(tokens: Sequence[Token], table: str) -> str | None:
    """Why a statement may change rows of a table in a form that is not followed, None when it is another."""
    words = [token.word for token in tokens]
    names = {fold(token.name or "") for token in tokens}
    if words[0] == "CREATE" and _BODIES & set(words[:MAX_HEADER]):
        kind = next(word for word in words if word in _BODIES).lower()
        if table in names or "PREPARE" in words:
            return f"the body of this {kind} is not followed: MySQL's routines and triggers are not read"
        return None
    at = next((index for index in range(1, len(words)) if words[index] not in _MODIFIERS), len(words))
    if table not in names or at == len(words):
        return None
    if words[0] in ("INSERT", "REPLACE") and words[at] != "INTO" and fold(tokens[at].name or "") == table:
        return (
            f"an {words[0]} without INTO: write INTO" if words[0] == "INSERT" else "a REPLACE without INTO: write INTO"
        )
    if words[0] == "DELETE" and (words[at] != "FROM" or "USING" in words):
        return "a DELETE that names several tables: write one for each table"
    if words[0] == "UPDATE" and {",", "JOIN"} & set(words[at : words.index("SET") if "SET" in words else len(words)]):
        return "an UPDATE of joined tables: write a sub-select in its WHERE"
    return None
