"""What the trigger of a guard looks at: whether its answer depends on more than the row that is written.

A trigger that asks another table, another row, a setting or the clock refuses here and may let through in production.
Such a trigger is credited with nothing by a proof, however much it refused. What is known to look at the row alone is a
list of words: whatever is not on it counts against the trigger, since a list of what is wrong would never be whole.

The state may be looked at anywhere, the key and watched columns where OLD and NEW are compared, and every column in the
message of a refusal. A guard that :mod:`arrowproof.conformance.guard` makes reads its shadow table as well; it is known
by being the very one that this lifecycle gives, and is not judged here.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from arrowproof.conformance.display import one_line
from arrowproof.conformance.grammar import SQLITE, Grammar
from arrowproof.conformance.guard import PREFIX
from arrowproof.conformance.names import fold
from arrowproof.conformance.tokens import Token, TokenKind, tokenize
from arrowproof.model.lifecycle import Binding
from arrowproof.model.record import record


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


_WORDS = _words(
    "BEGIN END IF THEN ELSE ELSIF ELSEIF CASE WHEN RETURN NULL SELECT WHERE AND OR NOT IN IS DISTINCT ISNULL NOTNULL "
    "BETWEEN TRUE FALSE ANY ARRAY TG_OP COALESCE NULLIF CAST AS TEXT VARCHAR CHARACTER VARYING INTEGER INT SMALLINT "
    "BIGINT LOWER UPPER COLLATE"
)
"""What a condition on the row is made of, in either dialect."""
_OF_SQLITE = _words("IFNULL IIF TYPEOF QUOTE PRINTF")
"""Functions of SQLite; to PostgreSQL whoever makes one of that name says what it does."""
_MESSAGE_WORDS = _WORDS | _words(
    "ABORT FAIL ROLLBACK IGNORE EXCEPTION NOTICE WARNING DEBUG LOG INFO USING ERRCODE MESSAGE DETAIL HINT FORMAT "
    "CONCAT QUOTE_LITERAL QUOTE_NULLABLE LEFT SUBSTR SUBSTRING TG_TABLE_NAME TG_NAME CHECK_VIOLATION RAISE_EXCEPTION"
)
"""What a message may have besides."""
_STAMP_WORDS = _MESSAGE_WORDS | _words("NOW CLOCK_TIMESTAMP STATEMENT_TIMESTAMP CURRENT_TIMESTAMP CURRENT_DATE")
"""What the value of a column may have that is neither state nor key: it decides nothing."""
_ROWS = ("OLD", "NEW")
_COMPARED = frozenset({"=", "==", "<>", "!=", "IS", "NOT", "DISTINCT", "FROM"})
_OPENS_STATEMENT = frozenset({";", "BEGIN", "THEN", "ELSE"})
_LITERALS = frozenset({TokenKind.STRING, TokenKind.TEXT, TokenKind.NUMBER})


def tokens_of(sql: str, grammar: Grammar) -> tuple[Token, ...]:
    """The tokens of a trigger or a function without its comments."""
    return tuple(token for token in tokenize(sql, grammar) if token.kind is not TokenKind.COMMENT)


def same_text(one: str, other: str, grammar: Grammar) -> bool:
    """Whether two definitions are one but for white space and comments."""
    return [each.text for each in tokens_of(one, grammar)] == [each.text for each in tokens_of(other, grammar)]


def told_aside(beyond: Mapping[str, str]) -> tuple[str, ...]:
    """Triggers that are set aside, by what each looks at, in words: ``strict looks at the table settings``."""
    words = (_STALE if name.startswith(PREFIX) else f"{one_line(name, 80)} looks at {beyond[name]}" for name in beyond)
    return tuple(dict.fromkeys(words))


_STALE = "the guard there is not the one that this lifecycle gives: write it with `arrowproof guard`, and run it again"


def beyond_the_row(condition: str, body: str, binding: Binding, grammar: Grammar) -> str | None:
    """What a trigger looks at besides the row, such as ``the table settings``; None when it is the row alone.

    Args:
        condition: its WHEN, with that word or empty.
        body: what it runs.
        binding: which columns are state, key and watched ones.
        grammar: SQLite's or PostgreSQL's.
    """
    for text in (condition, body):
        found = _Reader(tokens_of(text, grammar), binding, grammar).first_beyond()
        if found is not None:
            return found
    return None


def sqlite_trigger_beyond(sql: str, binding: Binding) -> str | None:
    """The same for a trigger of SQLite by its whole definition; also where it does not wait for the state."""
    tokens = tokens_of(sql, SQLITE)
    words = [token.word for token in tokens]
    begin = words.index("BEGIN") if "BEGIN" in words else len(words)
    starts = [index for index in range(begin) if words[index] in ("INSERT", "UPDATE", "DELETE")]
    on = next((index for index in range(starts[0] if starts else begin, begin) if words[index] == "ON"), begin)
    if on == begin:
        return "what cannot be read"
    named = tokens[starts[0] + 1 : on]
    if named and not any(_is_state(token, binding, SQLITE) for token in named):
        return "updates that name other columns than the state"
    when = words.index("WHEN", on) if "WHEN" in words[on:begin] else begin
    found = _Reader(tokens[when:begin], binding, SQLITE).first_beyond()
    return found or _Reader(tokens[begin:], binding, SQLITE).first_beyond()


def skips_what_follows(sql: str) -> bool:
    """Whether a trigger of SQLite fires AFTER a change and may end all other triggers: by RAISE(IGNORE)."""
    words = [token.word for token in tokens_of(sql, SQLITE)]
    head = words[: words.index("BEGIN")] if "BEGIN" in words else words
    ignores = any(words[at : at + 3] == ["RAISE", "(", "IGNORE"] for at in range(len(words)))
    return ignores and "AFTER" in head


@record
class _Reader:
    tokens: Sequence[Token]
    binding: Binding
    grammar: Grammar

    def first_beyond(self) -> str | None:
        """What is not known to be of the row: a table where there is one, else the first such thing."""
        at = 0
        while at < len(self.tokens):
            found, at = self._step(at)
            if found is not None:
                return self._first_table() or found
        return None

    def _first_table(self) -> str | None:
        for at, token in enumerate(self.tokens[:-1]):
            before = self._word(at - 1)
            is_read = token.word in ("FROM", "JOIN", "UPDATE") or (token.word == "INTO" and before == "INSERT")
            name = self.tokens[at + 1].name
            if is_read and before != "DISTINCT" and name is not None:
                return f"the table {one_line(name, 60)}"
        return None

    def _step(self, at: int) -> tuple[str | None, int]:
        """What is beyond the row at a place, and where to read on."""
        word = self._word(at)
        if word == "RAISE":
            end = self._end_of_raise(at)
            return self._beyond_words(self.tokens[at + 1 : end], _MESSAGE_WORDS), end
        if word in _ROWS and self._word(at + 1) == ".":
            return self._column(at)
        if word in _ROWS:
            return (None if self._word(at - 1) == "RETURN" else "the whole row"), at + 1
        if word == "FROM" and self._word(at - 1) == "DISTINCT":
            return None, at + 1
        if self._word(at - 1) == "::":  # a type: 'done'::mood
            return None, at + (3 if self._word(at + 1) == "." else 1)
        if self._word(at - 1) == "COLLATE":
            return None, at + 1
        if self._word(at - 1) == "IN" and word != "(":  # SQLite's IN takes a table
            return f"the table {_shown(self.tokens[at])}", at + 1
        return self._beyond(self.tokens[at], _WORDS), at + 1

    def _column(self, at: int) -> tuple[str | None, int]:
        """A column of OLD or NEW: the state, one that is compared with its other self, or one that is stamped."""
        if at + 2 >= len(self.tokens):
            return "what cannot be read", at + 3
        column = self.tokens[at + 2]
        if self._is_assigned(at):
            if self._is_bound(column):
                return f"how it changes the column {_shown(column)}", at + 3
            end = self._find(";", at)
            return self._beyond_words(self.tokens[at + 4 : end], _STAMP_WORDS), end
        if _is_state(column, self.binding, self.grammar):
            return None, at + 3
        after = at + 3
        while self._word(after) in _COMPARED:
            after += 1
        other = "NEW" if self._word(at) == "OLD" else "OLD"
        is_compared = after > at + 3 and (self._word(after), self._word(after + 1)) == (other, ".")
        if is_compared and after + 2 < len(self.tokens) and self._is_bound(column):
            same = _name(self.tokens[after + 2], self.grammar) == _name(column, self.grammar)
            if same:
                return None, after + 3
        return f"the column {_shown(column)}", at + 3

    def _is_assigned(self, at: int) -> bool:
        """Whether a statement of PL/pgSQL begins here that gives a column a value.

        Not where there is a CASE: what follows its THEN may be a comparison.
        """
        has_case = any(token.word == "CASE" for token in self.tokens)
        opens = self._word(at - 1) in _OPENS_STATEMENT and self.grammar is not SQLITE
        return opens and not has_case and self._word(at + 3) in (":=", "=")

    def _beyond_words(self, tokens: Sequence[Token], words: frozenset[str]) -> str | None:
        """The same inside a message or a stamp, where any column of the row may stand."""
        at = 0
        while at < len(tokens):
            if tokens[at].word in _ROWS and at + 2 < len(tokens) and tokens[at + 1].word == ".":
                at += 3
                continue
            found = self._beyond(tokens[at], words)
            if found is not None:
                return found
            at += 1
        return None

    def _beyond(self, token: Token, words: frozenset[str]) -> str | None:
        if token.kind in _LITERALS or token.kind is TokenKind.OPERATOR or token.word in words:
            return None
        if self.grammar is SQLITE and token.word in _OF_SQLITE:
            return None
        return one_line(token.text, 60)

    def _end_of_raise(self, at: int) -> int:
        """Where a refusal ends: at its closing bracket in SQLite, at the end of the statement in PL/pgSQL."""
        if self.grammar is not SQLITE:
            return self._find(";", at)
        depth = 0
        for index in range(at + 1, len(self.tokens)):
            depth += {"(": 1, ")": -1}.get(self._word(index), 0)
            if depth == 0:
                return index + 1
        return len(self.tokens)

    def _find(self, word: str, at: int) -> int:
        return next((index for index in range(at, len(self.tokens)) if self._word(index) == word), len(self.tokens))

    def _word(self, at: int) -> str:
        return self.tokens[at].word if 0 <= at < len(self.tokens) else ""

    def _is_bound(self, column: Token) -> bool:
        bound: Iterable[str] = (*self.binding.key, *self.binding.watch, self.binding.state or "")
        return _name(column, self.grammar) in {_folded(each, self.grammar) for each in bound}


def _is_state(token: Token, binding: Binding, grammar: Grammar) -> bool:
    return binding.state is not None and _name(token, grammar) == _folded(binding.state, grammar)


def _name(token: Token, grammar: Grammar) -> str | None:
    """A column as its dialect compares it: PostgreSQL folds what is not quoted, SQLite everything."""
    if token.name is None:
        return None
    is_folded = grammar is SQLITE or token.kind is TokenKind.WORD
    return fold(token.name) if is_folded else token.name


def _folded(name: str, grammar: Grammar) -> str:
    return fold(name) if grammar is SQLITE else name


def _shown(token: Token) -> str:
    return one_line(token.name or token.text, 60)
