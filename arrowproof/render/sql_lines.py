"""SQL lines: a statement as a panel or a report shows it, with what makes its transition told apart from other text.

The statement is not parsed, that was the work of the scan: it is cut into tokens, and the clause in which a literal
stands says what it is. The literal of the target state is marked where a value is given to the state column, the
literals of source states where rows are picked, and those apart that let rows in which the model does not. What cannot
be told stays unmarked.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from math import ceil

from arrowproof.model.evidence import Statement
from arrowproof.model.lifecycle import Lifecycle
from arrowproof.model.record import record
from arrowproof.render.text import clean_code

MAX_CHARACTERS = 10_000
"""Of one statement; the rest is not looked at, and its lines are only counted."""

ROW_CHARACTERS = 40
"""About as many characters stand in one row of a panel, where a longer line goes on in the next row."""

MAX_LINE = 160
"""Characters of one line; a longer one ends in an ellipsis."""

_TOKEN = re.compile(
    r"(?P<comment>--[^\n]*|/\*.*?(?:\*/|\Z))"
    r"|(?P<literal>'(?:[^']|'')*(?:'|\Z)|\d+)"
    r"|(?P<name>\"[^\"]*(?:\"|\Z)|`[^`]*(?:`|\Z)|[^\W\d]\w*)"
    r"|(?P<sign>[^\s\w])",
    re.DOTALL,
)
_TARGET_CLAUSES = frozenset({"SET", "VALUES"})
_SOURCE_CLAUSES = frozenset({"WHERE", "ON", "HAVING", "USING"})
_OTHER_CLAUSES = frozenset({"FROM", "ORDER", "GROUP", "LIMIT", "RETURNING"})


@record
class Span:
    """A part of a line; ``role`` is ``target``, ``source`` or ``wrong``, and empty for other text."""

    text: str
    role: str = ""


@record
class SqlLine:
    """A line of a statement with its number in the file."""

    number: int
    spans: tuple[Span, ...]

    @property
    def text(self) -> str:
        """The whole line."""
        return "".join(span.text for span in self.spans)


@record
class Roles:
    """Which values play a part in a statement: the target's, and those of source states that are meant or wrong.

    ``column`` is the state column in small letters, None when it is not known.
    """

    target: str | None
    sources: frozenset[str] = frozenset()
    wrong: frozenset[str] = frozenset()
    column: str | None = None


def sql_lines(statement: Statement, roles: Roles, rows: int) -> tuple[tuple[SqlLine, ...], int]:
    """The lines of a statement that fit in so many rows of a panel, in order, and how many others there are.

    When not all fit, those with something marked and the first come before the others; one line always stands.
    """
    lines = _panel_lines(statement, roles)
    order = sorted(range(len(lines)), key=lambda at: (not _is_marked(lines[at]) and at != 0, at))
    kept: list[int] = []
    for at in order:
        rows -= max(1, ceil(len(lines[at].text) / ROW_CHARACTERS))
        if rows < 0 and kept:
            break
        kept.append(at)
    return tuple(lines[at] for at in sorted(kept)), statement.sql.rstrip().count("\n") + 1 - len(kept)


def _is_marked(line: SqlLine) -> bool:
    return any(span.role for span in line.spans)


def marked_lines(text: str, roles: Roles, first: int) -> list[SqlLine]:
    """All lines of a statement, each with its marks.

    Args:
        text: the statement, as it may be shown.
        roles: what is marked in it.
        first: the number of its first line in the file.
    """
    marks = list(_Reader(roles).marks(text))
    lines, start = [], 0
    for number, line in enumerate(text.split("\n"), start=first):
        lines.append(SqlLine(number, tuple(_spans(line, start, marks))))
        start += len(line) + 1
    return lines


def roles_in_sql(
    lifecycle: Lifecycle, target: str | None, sources: Iterable[str | None], wrong: Iterable[str | None] = ()
) -> Roles:
    """The roles of states in a statement, by what the state column holds in them.

    Args:
        lifecycle: whose states they are; an id that it does not have is a value of no state, and is the value itself.
        target: the state that the transition leads to, None when it removes the row.
        sources: the states that it may leave; None, for creation, has no value, and neither has NULL.
        wrong: those that it may leave against the model.
    """
    column = lifecycle.binding.state if lifecycle.binding is not None else None
    return Roles(
        target=_value(lifecycle, target),
        sources=frozenset(value for each in sources if (value := _value(lifecycle, each)) is not None),
        wrong=frozenset(value for each in wrong if (value := _value(lifecycle, each)) is not None),
        column=None if column is None else column.lower(),
    )


def _value(lifecycle: Lifecycle, state_id: str | None) -> str | None:
    """What the state column holds in a state, as text; None for no state and for NULL."""
    state = lifecycle.states_by_id.get(state_id or "")
    if state is None:
        return state_id
    return None if state.value is None else str(state.value)


@lru_cache(maxsize=64)
def _panel_lines(statement: Statement, roles: Roles) -> Sequence[SqlLine]:
    text = _set_in(clean_code(statement.sql[:MAX_CHARACTERS])).rstrip()
    lines = marked_lines(text, roles, statement.place.line)
    return [SqlLine(line.number, tuple(_bounded(line.spans))) for line in lines]


def _set_in(text: str) -> str:
    """The text with its lines moved to the left where all but the first stand far in, as in a program's string."""
    first, *others = text.split("\n")
    indents = [len(line) - len(line.lstrip()) for line in others if line.strip()]
    shift = max(0, min(indents, default=0) - 2)
    return "\n".join([first, *(line[shift:] for line in others)]) if shift > 1 else text


def _spans(line: str, start: int, marks: Sequence[tuple[int, int, str]]) -> Iterator[Span]:
    at = 0
    for begin, end, role in marks:
        first, last = max(begin - start, at), min(end - start, len(line))
        if first < last:
            if at < first:
                yield Span(line[at:first])
            yield Span(line[first:last], role)
            at = last
    if at < len(line):
        yield Span(line[at:])


def _bounded(spans: Iterable[Span]) -> Iterator[Span]:
    free = MAX_LINE
    for span in spans:
        if len(span.text) > free:
            yield Span(f"{span.text[:free]}…", span.role)
            return
        yield span
        free -= len(span.text)


@dataclass
class _Reader:
    """Reads the tokens of a statement once and keeps in mind in which clause it is."""

    roles: Roles
    clause: str = ""
    assigned: str | None = None
    name: str = ""
    is_insert: bool = False
    outer: list[str] = field(default_factory=list)

    def marks(self, text: str) -> Iterator[tuple[int, int, str]]:
        """Start, end and role of each literal that plays a part."""
        for match in _TOKEN.finditer(text):
            token = match.group()
            if match.lastgroup == "literal":
                role = self._role(token)
                if role:
                    yield match.start(), match.end(), role
            elif match.lastgroup == "name":
                self._enter(token.upper())
                self.name = token.strip('"`').lower()
            elif match.lastgroup == "sign":
                self._step(token)

    def _enter(self, word: str) -> None:
        if word in ("INSERT", "REPLACE"):
            self.is_insert = True
        elif word in _TARGET_CLAUSES or (word == "SELECT" and self.is_insert and not self.outer):
            self.clause, self.assigned = "target", None
        elif word in _SOURCE_CLAUSES:
            self.clause = "source"
        elif word in _OTHER_CLAUSES:
            self.clause = ""
        elif word == "CASE":
            self.outer.append(self.clause)
        elif word == "WHEN" and self.outer:
            self.clause = "source"
        elif word in ("THEN", "ELSE") and self.outer:
            self.clause = self.outer[-1]
        elif word == "END" and self.outer:
            self.clause = self.outer.pop()

    def _step(self, sign: str) -> None:
        if sign == "(":
            self.outer.append(self.clause)
        elif sign == ")" and self.outer:
            self.clause = self.outer.pop()
        elif sign == "=" and self.clause == "target":
            self.assigned = self.name

    def _role(self, literal: str) -> str:
        value = literal[1:-1].replace("''", "'") if literal.startswith("'") else literal
        if self.clause == "target":
            is_state = self.assigned is None or self.roles.column in (None, self.assigned)
            return "target" if value == self.roles.target and is_state else ""
        if self.clause == "source":
            return "wrong" if value in self.roles.wrong else "source" if value in self.roles.sources else ""
        return ""
