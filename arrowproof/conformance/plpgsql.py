"""The statements in a body of PL/pgSQL, among all that is not SQL: blocks, branches, loops, assignments.

Source of the rules: PostgreSQL's chapter on PL/pgSQL. A statement begins behind ``;``, BEGIN, THEN, ELSE, LOOP or a
label, at the query of a FOR loop, and behind RETURN QUERY and OPEN … FOR. What is no SQL is passed over, as it changes
no rows; that no data-changing word was passed over with it is for the reader of the statements to count.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from arrowproof.conformance.heads import find_heads
from arrowproof.conformance.tokens import Token, TokenKind
from arrowproof.model.record import record

QUERY_WORDS = frozenset({"SELECT", "WITH", "INSERT", "UPDATE", "DELETE", "MERGE", "VALUES", "TABLE"})
_STATEMENT_WORDS = QUERY_WORDS | frozenset({"TRUNCATE", "COPY", "CREATE", "ALTER", "DROP"})
_OPENING = frozenset({"BEGIN", "DECLARE", "EXCEPTION", "ELSE", "LOOP", "THEN"})
_BRANCHES = frozenset({"IF", "ELSIF", "ELSEIF", "CASE", "WHEN"})
_CHANGING = frozenset({"INSERT", "UPDATE", "DELETE", "MERGE", "TRUNCATE"})
_SAME_ROWS = ("NEW", "OLD", "NULL", "COALESCE ( NEW , OLD )", "COALESCE ( OLD , NEW )")


@record
class Piece:
    """A piece of a body. ``dynamic`` is the constant string that an EXECUTE runs in its stead, None when it runs none;
    ``problem`` says why it cannot be read. INTO and what it names are left out of the tokens."""

    tokens: tuple[Token, ...]
    problem: str | None = None
    dynamic: Token | None = None


def read_pieces(tokens: Sequence[Token], returns_trigger: bool = False) -> Iterator[Piece]:
    """The pieces of a body that can change rows, and those that hold a word which says so.

    In a trigger function that includes what is assigned to NEW, and a RETURN of another row than NEW or OLD.
    """
    return _Reader(tokens, returns_trigger).pieces()


class _Reader:
    """Walks the tokens of one body once."""

    def __init__(self, tokens: Sequence[Token], returns_trigger: bool) -> None:
        self.tokens = tokens
        self.returns_trigger = returns_trigger
        self.index = 0

    def pieces(self) -> Iterator[Piece]:
        while self.index < len(self.tokens):
            yield from self._next(self._word())

    def _next(self, word: str) -> Iterator[Piece]:
        """The pieces of what begins with the word at which the reader stands."""
        if word == "<<":
            self._take(">>", included=True)
        elif word in _OPENING or word == ";":
            self.index += 1
        elif word in _BRANCHES:
            self.index += 1
            yield from self._passed(self._take("THEN"))
        elif word == "WHILE":
            yield from self._passed(self._take("LOOP"))
        elif word in ("FOR", "FOREACH"):
            yield from self._for()
        else:
            yield from self._statement(word)

    def _word(self, ahead: int = 0) -> str:
        at = self.index + ahead
        return self.tokens[at].word if at < len(self.tokens) else ""

    def _take(self, *ends: str, included: bool = False) -> tuple[Token, ...]:
        """The tokens up to a word outside of parentheses and of CASE expressions, where the reader then stands."""
        begin, depth = self.index, 0
        while self.index < len(self.tokens):
            word = self._word()
            if depth == 0 and word in ends:
                self.index += included
                return tuple(self.tokens[begin : self.index])
            depth += (word in ("(", "[", "CASE")) - (word in (")", "]", "END"))
            self.index += 1
        return tuple(self.tokens[begin:])

    def _statement(self, word: str) -> Iterator[Piece]:
        if word == "RETURN" and self._word(1) == "QUERY":
            self.index += 2
            word = self._word()
        elif word == "OPEN":
            # OPEN cursor [NO SCROLL] FOR query
            self._take("FOR", ";", included=True)
            word = self._word()
        if word == "EXECUTE":
            yield _dynamic(self._take(";"))
        elif word in _STATEMENT_WORDS:
            yield from self._query(self._take(";"))
        elif word == "END":
            self._skip_end()
        else:
            yield from self._passed(self._take(";"), is_statement=True)

    def _skip_end(self) -> None:
        while self.index < len(self.tokens) and self._word() != ";":
            self.index += 1

    def _for(self) -> Iterator[Piece]:
        """A loop: over numbers, over an array, over the rows of a query, or of one that is made at run time."""
        head = self._take("IN", "LOOP", included=True)
        if head and head[-1].word != "IN":
            yield from self._passed(head)
        elif self._word() == "EXECUTE":
            yield _dynamic(self._take("LOOP"))
        elif self._word() in QUERY_WORDS:
            yield from self._query(self._take("LOOP"))
        else:
            yield from self._passed(self._take("LOOP"))

    def _query(self, tokens: tuple[Token, ...]) -> Iterator[Piece]:
        """An SQL statement without its INTO; what INTO stores in NEW is an assignment of its own."""
        kept, names = _without_into(tokens)
        yield Piece(kept)
        if self.returns_trigger:
            for name in names:
                if name[0].word == "NEW":
                    yield Piece(name)

    def _passed(self, tokens: tuple[Token, ...], *, is_statement: bool = False) -> Iterator[Piece]:
        """What is no SQL: kept where it gives the row of a trigger another value, holds a data-changing word, or gives
        a function a statement.

        A condition gives no value: ``IF NEW.a = 1`` compares.
        """
        words = [token.word for token in tokens]
        is_other_row = words[:1] == ["NEW"] or (words[:1] == ["RETURN"] and " ".join(words[1:]) not in _SAME_ROWS)
        is_row = is_statement and self.returns_trigger and is_other_row
        if is_row or _CHANGING.intersection(words) or _gives_statement(tokens):
            yield Piece(tokens)


_NO_CALLS = frozenset(
    {"IF", "IN", "ANY", "ALL", "SOME", "AND", "OR", "NOT", "WHEN", "THEN", "ROW", "RETURN", "WHILE", ""}
)
_MAKERS = frozenset({"FORMAT", "CONCAT", "CONCAT_WS", "REPLACE", "QUOTE_LITERAL", "QUOTE_NULLABLE", "LENGTH", "MD5"})
"""Functions that make a value of a string and run nothing; what they make is told where it is run."""


def _gives_statement(tokens: Sequence[Token]) -> bool:
    """Whether a function that may run it is given a string that begins as a statement which changes rows does."""
    calls: list[str] = []
    for index, token in enumerate(tokens):
        if token.word == "(":
            calls.append(tokens[index - 1].word if index and tokens[index - 1].name is not None else "")
        elif token.word == ")":
            calls = calls[:-1]
        elif token.kind is TokenKind.TEXT and any(call not in _NO_CALLS | _MAKERS for call in calls):
            text = token.value or token.text.partition("'")[2]
            if any(True for _ in find_heads(text)):
                return True
    return False


def _without_into(tokens: tuple[Token, ...]) -> tuple[tuple[Token, ...], list[tuple[Token, ...]]]:
    """A statement without ``INTO [STRICT] a, b.c``, and the names that stood there."""
    depth = 0
    for index, token in enumerate(tokens):
        depth += (token.word == "(") - (token.word == ")")
        if token.word == "INTO" and depth == 0 and index and tokens[index - 1].word not in ("INSERT", "MERGE"):
            end = index + 1 + (index + 1 < len(tokens) and tokens[index + 1].word == "STRICT")
            names: list[tuple[Token, ...]] = [()]
            while end < len(tokens) and (end == index + 1 or _continues(tokens[end - 1], tokens[end])):
                if tokens[end].word == ",":
                    names.append(())
                else:
                    names[-1] = (*names[-1], tokens[end])
                end += 1
            return tokens[:index] + tokens[end:], [name for name in names if name]
    return tokens, []


def _continues(before: Token, token: Token) -> bool:
    """Whether a list of names goes on: a name follows a comma or a dot, and only these follow a name."""
    if before.word in (",", ".", "STRICT", "INTO"):
        return token.name is not None
    return token.word in (",", ".")


_QUOTING = frozenset({"QUOTE_IDENT", "QUOTE_LITERAL", "QUOTE_NULLABLE"})
_FORMAT_SIGN = re.compile(r"%(?:\d+\$)?-?\d*(.)", re.DOTALL)
_NOT_IN_A_QUERY = re.compile(rf"(?i);|\b(?:{'|'.join(sorted(_CHANGING))})\b")


def _is_one_query(tokens: tuple[Token, ...]) -> bool:
    """Whether EXECUTE runs a SELECT that can change nothing, whatever fills it.

    So it is where all that is put between its constants is quoted by PostgreSQL, and they have no data-changing word.
    """
    words = [token.word for token in tokens]
    end = next((index for index, word in enumerate(words) if word in ("INTO", "USING")), len(tokens))
    parts = _split_at_joins(tokens[1:end])
    if len(parts) == 1 and words[1:3] == ["FORMAT", "("] and words[end - 1] == ")":
        pieces = _FORMAT_SIGN.split(parts[0][2].value or "")
        constants, is_quoted = pieces[::2], set(pieces[1::2]) <= set("%IL")
    else:
        others = [part for part in parts if not _is_quoted(part)]
        constants = [part[0].value or "" for part in others if part]
        is_quoted = all(len(part) == 1 and part[0].value is not None for part in others)
    text = " ".join(constants)
    return (
        is_quoted
        and text.lstrip().upper().startswith("SELECT ")
        and _NOT_IN_A_QUERY.search(text) is None
        and not any(constant.count(quote) % 2 for constant in constants for quote in "'\"")
    )


def _split_at_joins(tokens: Sequence[Token]) -> list[tuple[Token, ...]]:
    """What ``||`` joins, each part without it."""
    parts: list[tuple[Token, ...]] = [()]
    depth = 0
    for token in tokens:
        depth += (token.word == "(") - (token.word == ")")
        if token.word == "||" and depth == 0:
            parts.append(())
        else:
            parts[-1] = (*parts[-1], token)
    return parts


def _is_quoted(part: tuple[Token, ...]) -> bool:
    """Whether a part is a name or a literal as PostgreSQL quotes it: ``a::regclass``, ``quote_ident(a)``."""
    words = [token.word for token in part]
    is_call = words[1:2] == ["("] and words[0] in _QUOTING and words[2:].count(")") == 1 and words[-1] == ")"
    return is_call or words[1:] == ["::", "REGCLASS"]


_QUIET = frozenset({"NOTIFY", "LISTEN", "UNLISTEN", "ANALYZE", "LOCK", "SET", "COMMENT", "GRANT", "REVOKE", "VACUUM"})


def _dynamic(tokens: tuple[Token, ...]) -> Piece:
    """EXECUTE: of one constant it is what the constant says, of anything else it is not known."""
    words = [token.word for token in tokens]
    is_whole = len(tokens) == 2 or words[2:3] in (["USING"], ["INTO"])
    if is_whole and tokens[1].value is not None:
        return Piece(tokens, dynamic=tokens[1])
    first = next((token.value for token in tokens if token.kind is TokenKind.TEXT and token.value), "")
    begins = first.split(None, 1)[0].upper() if first.strip() else ""
    if begins in _QUIET or _is_one_query(tokens):
        return Piece(tokens)
    return Piece(tokens, problem="it runs a string that is put together at run time")
