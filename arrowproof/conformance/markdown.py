"""Markdown: texts of untrusted origin as GitHub shows them, saying what they say and doing nothing.

The rules are those of GitHub Flavored Markdown and of what GitHub does to the page afterwards: a name behind ``@``
becomes a mention or an address, a number behind ``#`` or ``GH-`` a link to an issue, a word between colons a picture,
a bare address a link. Against the former a sign is escaped, or given by its number; the latter is kept apart by a space
of no width. Code is left alone by all of it, so that names, places and values stand as code.

Texts are those of :mod:`arrowproof.conformance.display`: on one line, readable, of bounded length.
"""

from __future__ import annotations

import re

NO_SPACE = "&#8203;"
"""A space of no width, between what would mean something together."""

_PLAIN_CODE = re.compile(r"[^`|\\\s](?:[^`|\\\n]*[^`|\\\s])?")
_SIGNS = re.compile(r"[^\w\s]|_", re.ASCII)
_MARKUP = re.compile(r"[\\`*\[\]~$#|]|(?<!\w)_|_(?!\w)")
_ENTITY_OR_TAG = re.compile(r"[<&]")
_LEADING = re.compile(r"^(?:[-+=>]|\d{1,9}(?=[.)]))")
_MEANING = re.compile(r"(@(?=\S)|#(?=\d)|\bGH(?=-\d)|\bwww(?=\.)|:(?=//)|:(?=[\w+-]+:))", re.IGNORECASE)


def code(text: str) -> str:
    """A text as code: it may stand in a sentence, in a heading and in the cell of a table."""
    if _PLAIN_CODE.fullmatch(text):
        return f"`{text}`"
    return f"<code>{_SIGNS.sub(lambda sign: f'&#{ord(sign[0])};' + _apart(sign[0]), text)}</code>" if text else ""


def prose(text: str) -> str:
    """A text as words: it may stand in a sentence, at the start of a list's item, and in the cell of a table."""
    told_apart = _MEANING.sub(lambda found: f"{found[0]}\0", text)
    escaped = _ENTITY_OR_TAG.sub(lambda sign: "&lt;" if sign[0] == "<" else "&amp;", told_apart)
    escaped = _MARKUP.sub(lambda sign: "&#124;" if sign[0] == "|" else f"\\{sign[0]}", escaped)
    return _LEADING.sub(_lead, escaped).replace("\0", NO_SPACE)


def _apart(sign: str) -> str:
    return NO_SPACE if sign in "@:" else ""


def _lead(found: re.Match[str]) -> str:
    """What would begin a list, a quotation or a heading at the start of a line."""
    return f"{found[0]}\\" if found[0].isdigit() else f"\\{found[0]}"
