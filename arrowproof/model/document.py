"""A JSON file in memory: its data, and the line and column of everything in it.

Lines and columns count from 1; a column counts characters, and a line ends at a line feed. A JSON path is written
``$.states[2].kind``, and ``$["odd name"]`` where the name is no plain word.
"""

from __future__ import annotations

import json
import re
from bisect import bisect_right
from collections.abc import Iterator, Sequence
from typing import Any

from arrowproof.errors import ModelError, Problem
from arrowproof.model.record import record
from arrowproof.model.scanner import JsonPath, Place, ScanError, scan

MAX_BYTES = 1024 * 1024
"""The largest lifecycle file; 1000 states and 5000 arrows take about half of it."""

MAX_PROBLEMS = 1000
"""More problems of one kind than this are not collected: a file with more has one cause, not a thousand."""

MAX_PATH = 200
"""The longest JSON path in a message, in characters."""

_PLAIN_NAME = re.compile(r"[A-Za-z_$][A-Za-z0-9_$]*")
_BYTE_ORDER_MARKS = (
    (b"\xff\xfe\x00\x00", "UTF-32"),
    (b"\x00\x00\xfe\xff", "UTF-32"),
    (b"\xff\xfe", "UTF-16"),
    (b"\xfe\xff", "UTF-16"),
)


@record
class Document:
    """One JSON text. ``problems`` holds what is wrong with it although it could be read: repeated names."""

    data: Any
    place: Place
    line_starts: tuple[int, ...]
    problems: tuple[Problem, ...] = ()

    def position(self, path: JsonPath) -> tuple[int, int]:
        """Line and column of the value at ``path``, or of its nearest ancestor that is there."""
        return self._line_and_column(self._walk(path)[0])

    def key_position(self, path: JsonPath) -> tuple[int, int]:
        """Line and column of the name of the member at ``path``; of the value where there is no name."""
        return self._line_and_column(self._walk(path)[1])

    def positions(self) -> dict[str, tuple[int, int]]:
        """Line and column of every value under its JSON path. Paths of more than 200 characters are left out, with
        what lies below them: no lifecycle has any, and a hostile file must not fill the memory with them.
        """
        return {path: self._line_and_column(offset) for path, offset in _offsets("$", self.place)}

    def _walk(self, path: JsonPath) -> tuple[int, int]:
        """The offsets of the value at ``path`` and of its name."""
        place, key_offset = self.place, self.place.offset
        for step in path:
            if isinstance(step, str) and place.members is not None and step in place.members:
                key_offset, place = place.members[step]
            elif isinstance(step, int) and place.items is not None and step < len(place.items):
                place = place.items[step]
                key_offset = place.offset
            else:
                return place.offset, place.offset
        return place.offset, key_offset

    def _line_and_column(self, offset: int) -> tuple[int, int]:
        return line_and_column(self.line_starts, offset)


def read_document(data: bytes, source: str, *, limit: int = MAX_BYTES) -> Document:
    """Read the bytes of one JSON file; ``source`` names it in messages, ``limit`` bounds its size in bytes.

    Raises:
        ModelError: it is too large, not UTF-8, or no JSON. A repeated name alone does not raise: it is among the
            document's problems, so that it can be reported together with everything else.
    """
    text = _decode(data, source, limit)
    line_starts = (0, *(match.end() for match in re.finditer("\n", text)))
    try:
        data_, place, duplicates = scan(text)
    except ScanError as error:
        line, column = line_and_column(line_starts, error.offset)
        problem = Problem(error.rule, path_text(error.path), line, column, error.message, error.fix)
        raise ModelError(source, [problem]) from None
    problems = []
    for path, first, offset in duplicates[:MAX_PROBLEMS]:
        line, column = line_and_column(line_starts, offset)
        fix = f"Remove one of the two; the first stands in line {line_and_column(line_starts, first)[0]}."
        name = short_json(path[-1])
        problems.append(Problem("duplicate-key", path_text(path), line, column, "this field is given twice", fix, name))
    return Document(data_, place, line_starts, tuple(problems))


def line_and_column(line_starts: Sequence[int], offset: int) -> tuple[int, int]:
    """Line and column, from 1, of a character, given the offset at which each line starts."""
    line = bisect_right(line_starts, offset)
    return line, offset - line_starts[line - 1] + 1


def path_text(path: JsonPath) -> str:
    """A JSON path as people read it, cut in the middle when it is longer than 200 characters."""
    text = "$" + "".join(_step_text(step if isinstance(step, int) else step[:200]) for step in path)
    return text if len(text) <= MAX_PATH else f"{text[:98]}…{text[-98:]}"


def short_json(value: object, limit: int = 80) -> str:
    """A value as JSON on one line, at most ``limit`` characters, with nothing in it that a terminal obeys."""
    if isinstance(value, dict | list) and len(value) > limit:
        kind, unit = ("an object", "fields") if isinstance(value, dict) else ("an array", "entries")
        return f"{kind} of {len(value)} {unit}"
    text = json.dumps(value[:limit] if isinstance(value, str) else value, ensure_ascii=False)
    if isinstance(value, str) and len(value) > limit:
        text = text[:-1] + "…"
    visible = "".join(character if character.isprintable() else _escape(character) for character in text[: limit + 1])
    return visible if len(visible) <= limit else visible[: limit - 1] + "…"


def _escape(character: str) -> str:
    return json.dumps(character)[1:-1] if ord(character) > 0x7F else f"\\u{ord(character):04x}"


def _step_text(step: str | int) -> str:
    if isinstance(step, int):
        return f"[{step}]"
    return f".{step}" if _PLAIN_NAME.fullmatch(step) else f"[{short_json(step)}]"


def _offsets(path: str, place: Place) -> Iterator[tuple[str, int]]:
    if len(path) > MAX_PATH:
        return
    yield path, place.offset
    for name, member in (place.members or {}).items():
        yield from _offsets(path + _step_text(name), member.place)
    for index, item in enumerate(place.items or ()):
        yield from _offsets(f"{path}[{index}]", item)


def _decode(data: bytes, source: str, limit: int) -> str:
    """The text of the file, or the one reason why it has none."""
    if len(data) > limit:
        message = f"the file has more than {limit} bytes"
        fix = "Name the right file, or split it into several."
        raise ModelError(source, [Problem("too-large", "$", 1, 1, message, fix)])
    if data.startswith(b"\xef\xbb\xbf"):
        message = "the file starts with a byte order mark (U+FEFF)"
        fix = "Save it as UTF-8 without a byte order mark, for example with `tail -c +4`."
        raise ModelError(source, [Problem("byte-order-mark", "$", 1, 1, message, fix)])
    for mark, encoding in _BYTE_ORDER_MARKS:
        if data.startswith(mark):
            raise ModelError(source, [_wrong_encoding(encoding)])
    if data[1:2] == b"\0" or data[:1] == b"\0":
        raise ModelError(source, [_wrong_encoding("UTF-16 or UTF-32")])
    try:
        return data.decode("utf-8")
    except UnicodeDecodeError as error:
        before = data[: error.start]
        line = before.count(b"\n") + 1
        column = len(before[before.rfind(b"\n") + 1 :].decode("utf-8")) + 1
        message = f"byte 0x{data[error.start]:02X} is not UTF-8"
        fix = "Save the file as UTF-8 (if it is Latin-1: `iconv -f latin1 -t utf-8`)."
        raise ModelError(source, [Problem("encoding", "$", line, column, message, fix)]) from None


def _wrong_encoding(encoding: str) -> Problem:
    fix = f"Save it as UTF-8, for example with `iconv -f {encoding.split(' ')[0].lower()} -t utf-8`."
    return Problem("encoding", "$", 1, 1, f"the file is {encoding}, not UTF-8", fix)
