"""Script tokens: JavaScript taken apart as far as it takes to write it in fewer characters.

Comments and white space are left out, but for the ends of lines, which can end a statement. Of numbers, words and signs
no more is known than where each ends.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from enum import Enum, auto
from typing import NamedTuple


class Sort(Enum):
    """What a token is: a text, a piece of a template or a regular expression all count as texts."""

    WORD = auto()
    TEXT = auto()
    SIGN = auto()
    LINE_END = auto()


class Token(NamedTuple):
    """One token as it is written."""

    sort: Sort
    text: str

    @property
    def is_name(self) -> bool:
        """Whether it may be the name of a variable or of a property."""
        return self.sort is Sort.WORD and self.text not in KEYWORDS and not self.text[0].isdigit()

    def is_sign(self, *signs: str) -> bool:
        """Whether it is one of these signs."""
        return self.sort is Sort.SIGN and self.text in signs

    @property
    def opens(self) -> bool:
        """Whether it is a bracket, or begins a value in a template, that has yet to be closed."""
        return self.sort is not Sort.WORD and (self.is_sign("(", "[", "{") or self.text.endswith("${"))

    @property
    def closes(self) -> bool:
        """Whether it closes what another token has opened."""
        return self.sort is not Sort.WORD and (self.is_sign(")", "]") or self.text.startswith("}"))


KEYWORDS = frozenset(
    re.findall(
        r"\w+",
        "as async await break case catch class const continue debugger default delete do else enum export extends false"
        " finally for function get if import in instanceof is let new null of return set static super switch this throw"
        " true try typeof undefined var void while with yield",
    )
)
"""Words that are never the name of a variable here, some of them only in some places."""

_TOKEN = re.compile(
    r"(?P<BLANK>[^\S\n]+|//[^\n]*|/\*[^\n]*?\*/)"
    r"|(?P<LINE_END>\n|/\*.*?\*/)"
    r'|(?P<TEXT>"(?:[^"\\\n]|\\.)*"|\'(?:[^\'\\\n]|\\.)*\')'
    r"|(?P<WORD>[\w$]+)"
    r"|(?P<SIGN>=>|\.\.\.|\?\.|[=!]==?|[<>]=|&&|\|\||\?\?|\+\+|--|[-+*/]=|[^\"'`])",
    re.DOTALL,
)
_TEMPLATE = re.compile(r"[`}](?:[^`\\$]|\\.|\$(?!\{))*(?:`|\$\{)", re.DOTALL)
"""A template, or its piece up to the next value or behind one."""
_EXPRESSION = re.compile(r"/(?:[^/\\\[\n]|\\.|\[(?:[^\]\\\n]|\\.)*\])+/[a-z]*")
_VALUE_ENDS = (")", "]", "}")


def script_tokens(source: str) -> Iterator[Token]:
    """The tokens of a script.

    Raises:
        ValueError: a template or a bracket is not closed.
    """
    place, before = 0, Token(Sort.SIGN, ";")
    open_braces: list[bool] = []  # whether each is that of a value in a template
    while place < len(source):
        match, sort = _match(source, place, before, open_braces)
        place = match.end()
        if sort is None:
            continue
        token = Token(sort, match[0])
        yield token
        if sort is not Sort.LINE_END:
            before = token
        if token.text.endswith("{"):
            open_braces.append(sort is Sort.TEXT)
    if open_braces:
        raise ValueError("a bracket of the script is not closed")


def _match(source: str, place: int, before: Token, open_braces: list[bool]) -> tuple[re.Match[str], Sort | None]:
    """What stands at a place, None for what is left out; a bracket that it closes is taken from the open ones."""
    sign = source[place]
    if sign == "`" or (sign == "}" and open_braces and open_braces.pop()):
        match, sort = _TEMPLATE.match(source, place), "TEXT"
    elif sign == "/" and source[place + 1] not in "/*" and not _ends_value(before):
        match, sort = _EXPRESSION.match(source, place), "TEXT"
    else:
        match = _TOKEN.match(source, place)
        sort = str(match and match.lastgroup)
    if match is None:
        raise ValueError(f"the script cannot be read at {source[place : place + 40]!r}")
    return match, None if sort == "BLANK" else Sort[sort]


def _ends_value(token: Token) -> bool:
    """Whether a stroke behind this token divides, rather than begins a regular expression."""
    if token.sort is Sort.WORD:
        return token.text not in KEYWORDS or token.text in ("this", "super", "null", "true", "false", "undefined")
    return token.sort is Sort.TEXT or token.is_sign(*_VALUE_ENDS)
