"""Growth: which strings of code are given more text by what stands elsewhere, told by how they are written.

Such a string has a hole at its end: what is added is not followed, since a branch or a loop may add it or not.
"""

from __future__ import annotations

import re
from collections.abc import Collection

from arrowproof.conformance.languages import Language

MAX_BESIDE = 200
"""Characters of code ahead of a string that say what it is bound to, or added to."""

_ASSIGNED = re.compile(
    r"(?P<name>[$@]?\w+)(?:\s*:\s*[\w<>&' ]{1,40})?\s*:?=\s*"
    r"(?:\+|\(|new\s+String(?:Builder|Buffer)\s*\(|String(?:::from|\.new)\s*\(|[\[{]|[\w.]{1,40}[(\[{])?\s*\Z"
)
"""Ahead of a string that is bound to a name, alone or as the first of a list or a builder."""
_TYPED = re.compile(r"\bvar\s+(?P<name>\w+)\s+[\w.]+\s*=\s*\Z")
"""The same with a type behind the name."""
_PUSHED = re.compile(
    r"(?P<name>[$@]?\w+)\s*(?:(?:\.|->)\s*(?:push|add|unshift|append|Add|push_back)\s*\(|<<|\[\]\s*="
    r"|=\s*append\(\s*\w+\s*,|\+=|\.=)\s*\Z"
    r"|\bs?n?printf\s*\(\s*(?P<buffer>\w+)\s*,[^\"()]{0,60}\Z|\bstrn?c(?:py|at)\s*\(\s*(?P<copied>\w+)\s*,\s*\Z"
)
"""Ahead of a string that is added to what a name stands for."""
_STREAMED = re.compile(r"[\w)]\s*<<\s*\Z")
"""Ahead of a string that is written to a stream of C++."""
_CALLS = r"append\w*|push_str|push|concat|insert|add|unshift|prepend|write_str|WriteString|Append\w*|Add"
_GROWING = re.compile(
    rf"(?<![\w.@$])[$@]?(\w+)\s*(?:\.|->)\s*(?:{_CALLS}|replace!|gsub!|sub!|squish!)\s*!?\(|\bstrn?cat\s*\(\s*(\w+)"
)
"""A call that gives more text to what a name stands for."""


def grown_names(code: str) -> frozenset[str]:
    """The names that a call gives more text, in whichever scope."""
    return frozenset(match[1] or match[2] for match in _GROWING.finditer(code))


def grown_name(code: str, start: int, end: int, language: Language) -> str:
    """What the string from ``start`` to ``end`` is put into and is added to later, empty when nothing is."""
    before = code[max(0, start - MAX_BESIDE) : start]
    if language.has_macros and _STREAMED.search(before):
        return "the builder"
    pushed = _PUSHED.search(before)
    if pushed is not None:
        name = pushed["name"] or pushed["buffer"] or pushed["copied"]
        return name if len(_more(name).findall(code)) > (pushed["name"] is not None) else ""
    assigned = (_TYPED.search(before) if language.types_follow else None) or _ASSIGNED.search(before)
    return assigned["name"] if assigned is not None and _adds(assigned["name"], language).search(code, end) else ""


def _more(name: str) -> re.Pattern[str]:
    """What adds to a list or buffer, or makes one string of it."""
    escaped = re.escape(name)
    return re.compile(
        rf"(?<![\w$@.]){escaped}\s*(?:(?:\.|->)\s*(?:push|add|append|Add|join\w*|mkString)\b|<<|\[\]\s*=|\+=|\.="
        rf"|=\s*append\()|\bstrn?cat\s*\(\s*{escaped}\b"
        rf"|(?:[Jj]oin|implode|concat)\s*\([^;\n]{{0,80}}(?<!\w){escaped}\b"
    )


def _adds(name: str, language: Language) -> re.Pattern[str]:
    """What adds to a string, or to a list of strings, that is bound to a name."""
    escaped, joint = re.escape(name), language.joint or r"\+"
    return re.compile(
        rf"(?<![\w$@.]){escaped}\s*(?:(?:{joint})=|<<\s|(?:\.|->)\s*(?:{_CALLS})!?\(|\[\]\s*="
        rf"|=\s*{escaped}\s*(?:{joint})|=\s*append\(\s*{escaped}\b)|\bstrn?cat\s*\(\s*{escaped}\b"
    )


_GOES_ON = re.compile(
    r"\s*(?:,\s*[\"`\[]?\w|(?i:SET|WHERE|VALUES|RETURNING|ON\s+CONFLICT)[\s(]|(?:AND|OR|FROM|USING|LIMIT|ORDER\s+BY)\s)"
)


def goes_on(text: str) -> bool:
    """Whether a string that stands beside another, behind a comma, reads as what a statement goes on with."""
    return _GOES_ON.match(text) is not None


def neighbour(code: str, end: int, starts: Collection[int]) -> int | None:
    """Where the string begins that stands behind a comma from ``end`` on, None when none does."""
    comma = re.compile(r"\s*,\s*").match(code, end)
    return comma.end() if comma is not None and comma.end() in starts else None
