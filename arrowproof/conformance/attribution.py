"""Attribution: which statement of the sources a journal row comes from, by what the client sent.

PostgreSQL keeps the client's string (``current_query()``). It is held against the statements that the scan found, token
by token: white space and comments do not count, nor does the case of words, and every manner to write a parameter is
the same. A statement that stands in the string as one of several, or in a CTE, is found there. What a function or a
trigger did inside of the database is attributed to nothing, since the string is that of its caller.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from functools import cached_property

from arrowproof.model.evidence import JournalRow, Place, Statement
from arrowproof.model.record import record

_TOKEN = re.compile(
    r"""--[^\n]* | /\*.*?(?:\*/|\Z)                                # comments
    | (?P<text>'(?:[^']|'')*' | "(?:[^"]|"")*")
    | (?P<parameter>\$\d+ | %\(\w+\)s | %s | \?\d* | (?<!:)[:@](?=\w)\w+ | \{\w*\})
    | (?P<word>\w+) | (?P<sign>::|[^\s\w])""",
    re.VERBOSE | re.DOTALL,
)
_PARAMETER = "?"
_BEFORE = ("", ";", "(")
_AFTER = ("", ";", ")", "returning")


@record
class Attribution:
    """The statements of the sources, by their tokens."""

    statements: tuple[Statement, ...]

    def place_of(self, query: str) -> Place | None:
        """Where the statement stands that ``query`` is, or has in it; the longest one, and None when there is none."""
        sent = ("", *comparable_tokens(query), "")
        return next((place for run, place in self._runs.items() if _holds(sent, run)), None)

    def attributed(self, rows: Iterable[JournalRow]) -> tuple[JournalRow, ...]:
        """The same rows, those with a query with the place of its statement where there is one."""
        return tuple(row if row.query is None else replace(row, written=self._place(row.query)) for row in rows)

    def _place(self, query: str) -> Place | None:
        if query not in self._known:
            self._known[query] = self.place_of(query)
        return self._known[query]

    @cached_property
    def _known(self) -> dict[str, Place | None]:
        return {}

    @cached_property
    def _runs(self) -> Mapping[tuple[str, ...], Place]:
        """The place of each run of tokens, the longest first; the first place of several."""
        runs: dict[tuple[str, ...], Place] = {}
        for statement in self.statements:
            runs.setdefault(comparable_tokens(statement.sql), statement.place)
        return dict(sorted(runs.items(), key=lambda item: -len(item[0])))


def comparable_tokens(sql: str) -> tuple[str, ...]:
    """The tokens of SQL that count: no comments, words in lower case, every parameter the same."""
    found = []
    for match in _TOKEN.finditer(sql):
        if match["parameter"]:
            found.append(_PARAMETER)
        elif match["text"] or match["sign"]:
            found.append(match[0])
        elif match["word"]:
            found.append(match[0].lower())
    while found and found[-1] == ";":
        found.pop()
    return tuple(found)


def _holds(sent: Sequence[str], run: Sequence[str]) -> bool:
    """Whether a run of tokens stands among those that were sent as a whole statement."""
    size = len(run)
    return size > 0 and any(
        sent[at] == run[0] and sent[at : at + size] == run and sent[at - 1] in _BEFORE and sent[at + size] in _AFTER
        for at in range(1, len(sent) - size)
    )
