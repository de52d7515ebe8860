"""Strain: why the parser's tree of a change could not be trusted, though the parser made one."""

from __future__ import annotations

from dataclasses import dataclass

from arrowproof.conformance.changes import Change

MAX_DEPTH = 60
"""Parentheses within parentheses; deeper statements are undecided rather than a strain on the parser."""

MAX_TOKENS = 50_000
"""Tokens of one statement; a longer one takes the parser more than some seconds."""


def find_strain(change: Change) -> str | None:
    """Why the parser's tree of a change could not be trusted, None when it can.

    SQLite gives ``=``, ``IS``, ``IN``, ``LIKE`` and their kin one precedence and groups them from the left, and
    PostgreSQL gives them four; the parser does neither. Where two of them follow each other without parentheses or AND
    and OR between, the tree may be another.
    """
    if len(change.statement.tokens) > MAX_TOKENS:
        return f"it has more than {MAX_TOKENS} words and signs: write it as several statements"
    grammar = change.statement.grammar
    frames = [_Frame()]
    before = ""
    for token in change.statement.tokens:
        word = token.word
        if word in ("(", "CASE"):
            frames.append(_Frame())
        elif word in (")", "END") and len(frames) > 1:
            frames.pop()
        elif word in grammar.boundaries and not (word == "FROM" and before == "DISTINCT"):
            frames[-1].begin(word)
        elif word in grammar.comparisons or (word == "NULL" and before == "NOT"):
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
