"""JSON text to plain data that remembers where everything stands.

The standard library's scanner forgets positions and repeated keys, and accepts ``NaN``; a message about line 40 of a
lifecycle needs all three. This scanner reads JSON as RFC 8259 defines it, and nothing more. What it accepts, it reads
as ``json.loads`` does. Offsets count characters from 0; :mod:`arrowproof.model.document` turns them into lines.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

MAX_DEPTH = 32
"""Arrays and objects inside each other; a lifecycle needs 5 and evidence 9, so more is a mistake or an attack."""

INTEGER_RANGE = range(-(2**63), 2**63)
"""What a database column can hold as an integer."""

JsonPath = tuple[str | int, ...]
"""The way to a value: member names and array indexes, from the top."""

_SPACE = re.compile(r"[ \t\n\r]*")
_NUMBER = re.compile(r"-?(?:0|[1-9][0-9]*)(?P<fraction>\.[0-9]+)?(?P<exponent>[eE][-+]?[0-9]+)?")
_STRING = re.compile(r'"[^"\\\x00-\x1f]*(?:\\(?:["\\/bfnrt]|u[0-9a-fA-F]{4})[^"\\\x00-\x1f]*)*"')
_WORD = re.compile(r"[-+.\w]{1,40}")
_CONSTANTS = {"true": True, "false": False, "null": None}
_NOT_FINITE = {"NaN", "Infinity", "-Infinity", "+Infinity", "nan", "inf", "-inf"}


class Place(NamedTuple):
    """Where a value stands, and where its members do. A scalar has no members."""

    offset: int
    members: Mapping[str, Member] | None = None
    items: Sequence[Place] | None = None


class Member(NamedTuple):
    """Where a member's name stands, and the place of its value."""

    key_offset: int
    place: Place


class Duplicate(NamedTuple):
    """A member name that its object already had: its path, and the offsets of the first name and of this one."""

    path: JsonPath
    first: int
    offset: int


class Scan(NamedTuple):
    """The data (of a repeated name the last value), the places, and every repeated name."""

    data: Any
    place: Place
    duplicates: tuple[Duplicate, ...]


class ScanError(Exception):
    """The text is no JSON from ``offset`` on; ``rule`` and ``fix`` are what a Problem needs."""

    def __init__(self, offset: int, message: str, fix: str, *, rule: str = "syntax", path: JsonPath = ()) -> None:
        super().__init__(message)
        self.offset, self.message, self.fix, self.rule, self.path = offset, message, fix, rule, path


def scan(text: str) -> Scan:
    """Read one JSON text.

    Raises:
        ScanError: the text is not JSON, nests deeper than MAX_DEPTH, holds a number that no column can hold, or a
            string that no encoding can.
    """
    scanner = _Scanner(text)
    data, place = scanner.document()
    return Scan(data, place, tuple(scanner.duplicates))


class _Scanner:
    """One pass over one text. Recursion is bounded by MAX_DEPTH."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.at = 0
        self.path: list[str | int] = []
        self.duplicates: list[Duplicate] = []

    def document(self) -> tuple[Any, Place]:
        self._skip_space()
        if self.at == len(self.text):
            raise self._error(
                0,
                "the file is empty",
                "Write a JSON object; `arrowproof init` makes a starter lifecycle.",
                rule="empty-file",
            )
        result = self._value()
        self._skip_space()
        if self.at < len(self.text):
            fix = "Remove what follows the end of the document, or the bracket that ends it too early."
            raise self._error(self.at, f"expected the end of the file, found {self._found()}", fix)
        return result

    def _value(self) -> tuple[Any, Place]:
        start, text = self.at, self.text
        character = text[start : start + 1]
        if character == "{":
            return self._object()
        if character == "[":
            return self._array()
        if character == '"':
            return self._string(), Place(start)
        number = _NUMBER.match(text, start)
        word = _WORD.match(text, start)
        if number and word and word.end() <= number.end():
            self.at = number.end()
            return self._number(number), Place(start)
        if word and word.group() in _CONSTANTS:
            self.at = word.end()
            return _CONSTANTS[word.group()], Place(start)
        raise self._no_value()

    def _object(self) -> tuple[dict[str, Any], Place]:
        start = self._enter()
        data: dict[str, Any] = {}
        members: dict[str, Member] = {}
        while self._more("}", first=not members):
            key_offset = self.at
            if self.text[key_offset : key_offset + 1] != '"':
                fix = "Write the field's name in double quotes." + self._hint()
                raise self._error(key_offset, f"expected a field name, found {self._found()}", fix)
            key = self._string()
            self.path.append(key)
            if key in members:
                self.duplicates.append(Duplicate(tuple(self.path), members[key].key_offset, key_offset))
            self._skip_space()
            if self.text[self.at : self.at + 1] != ":":
                fix = "Put a colon between the name and the value." + self._hint()
                raise self._error(self.at, f"expected ':', found {self._found()}", fix)
            self.at += 1
            self._skip_space()
            data[key], place = self._value()
            members[key] = Member(key_offset, place)
            self.path.pop()
        return data, Place(start, members=members)

    def _array(self) -> tuple[list[Any], Place]:
        start = self._enter()
        data: list[Any] = []
        items: list[Place] = []
        while self._more("]", first=not items):
            self.path.append(len(items))
            value, place = self._value()
            self.path.pop()
            data.append(value)
            items.append(place)
        return data, Place(start, items=items)

    def _enter(self) -> int:
        """Step over an opening bracket and push a level; give its offset."""
        if len(self.path) == MAX_DEPTH:
            fix = "No such file needs more than ten; look for brackets that were not closed."
            raise self._error(self.at, f"nested deeper than {MAX_DEPTH} levels", fix, rule="too-deep")
        self.at += 1
        return self.at - 1

    def _more(self, closing: str, *, first: bool) -> bool:
        """Whether another member follows; steps over the comma, or over the closing bracket."""
        self._skip_space()
        here = self.text[self.at : self.at + 1]
        if here == closing:
            self.at += 1
            return False
        if first:
            return True
        if here != ",":
            fix = f"Put a comma between two entries, or {closing} after the last." + self._hint()
            raise self._error(self.at, f"expected ',' or '{closing}', found {self._found()}", fix)
        comma = self.at
        self.at += 1
        self._skip_space()
        if self.text[self.at : self.at + 1] == closing:
            fix = "JSON has no comma after the last entry: remove it."
            raise self._error(comma, f"expected another entry after ',', found '{closing}'", fix)
        return True

    def _string(self) -> str:
        start = self.at
        match = _STRING.match(self.text, start)
        if match is None:
            raise self._bad_string()
        self.at = match.end()
        literal = match.group()
        if "\\" not in literal:
            return literal[1:-1]
        text: str = json.loads(literal)
        if any("\ud800" <= character <= "\udfff" for character in text):
            fix = "Write both halves of the pair, or the character itself."
            raise self._error(start, "half of a surrogate pair, which is no character", fix, rule="lone-surrogate")
        return text

    def _number(self, match: re.Match[str]) -> int | float:
        literal = match.group()
        if match["fraction"] or match["exponent"]:
            number = float(literal)
            if math.isfinite(number):
                return number
        elif len(literal) <= 20 and int(literal) in INTEGER_RANGE:  # 20: the longest 64-bit integer with its sign
            return int(literal)
        fix = "A column holds integers of 64 bits; write it as a string if it is a name."
        raise self._error(match.start(), f"the number {literal[:24]}… is too large", fix, rule="number-too-large")

    def _skip_space(self) -> None:
        match = _SPACE.match(self.text, self.at)
        if match:
            self.at = match.end()

    def _error(self, offset: int, message: str, fix: str, *, rule: str = "syntax") -> ScanError:
        return ScanError(offset, message, fix, rule=rule, path=tuple(self.path))

    def _found(self) -> str:
        """What stands here, for a message."""
        if self.at >= len(self.text):
            return "the end of the file"
        word = _WORD.match(self.text, self.at)
        found = word.group() if word else self.text[self.at]
        return f"'{found}'" if found.isprintable() else f"the character U+{ord(found[0]):04X}"

    def _hint(self) -> str:
        """What people put here that JSON does not have."""
        rest = self.text[self.at : self.at + 2]
        if rest[:1] == "#" or rest in ("//", "/*"):
            return " JSON has no comments: use `note` or `summary`."
        if rest[:1] in ("'", "‘", "’", "“", "”"):
            return ' JSON strings stand in straight double quotes (").'
        return ""

    def _no_value(self) -> ScanError:
        word = _WORD.match(self.text, self.at)
        found = word.group() if word else ""
        if found in _NOT_FINITE:
            fix = "JSON has no such number: write a finite one, or null."
            return self._error(self.at, f"{found} is no JSON number", fix, rule="not-finite")
        if found.lower() in {*_CONSTANTS, "none", "undefined"}:
            fix = "JSON writes true, false and null."
        elif self.text.lstrip()[:1] == "<":
            fix = "A page or a drawing is made from a lifecycle: name that JSON file."
        elif found[:1] in ("+", "-", ".") or found[:1].isdigit():
            fix = "A JSON number has no plus sign and no leading zero, and digits on both sides of its point."
        else:
            fix = "Write a string in double quotes, a number, true, false, null, an array or an object." + self._hint()
        return self._error(self.at, f"expected a value, found {self._found()}", fix)

    def _bad_string(self) -> ScanError:
        """Say why the string that starts here does not end well."""
        match = re.compile(r'"(?:[^"\\\x00-\x1f]|\\(?:["\\/bfnrt]|u[0-9a-fA-F]{4}))*').match(self.text, self.at)
        stop = match.end() if match else self.at
        here = self.text[stop : stop + 1]
        if here == "\\":
            fix = r"JSON knows \" \\ \/ \b \f \n \r \t and \u with four hexadecimal digits; write \\ for a backslash."
            return self._error(stop, "unknown escape in a string", fix)
        if here == "":
            fix = "Close it with a double quote."
            return self._error(self.at, "a string that the file ends in", fix)
        if here == "\n":
            fix = r"Close the string before the line ends, or write the line break as \n."
            return self._error(stop, "a line break inside a string", fix)
        spelt = r"\t" if here == "\t" else rf"\u{ord(here):04x}"
        fix = f"Write it as {spelt}, or remove it."
        return self._error(stop, f"the control character U+{ord(here):04X} inside a string", fix)
