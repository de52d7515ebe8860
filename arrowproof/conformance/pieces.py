"""Pieces: strings of a program that may be SQL, as constant text with holes, each stretch of which knows its lines.

A hole is filled when the program runs. Its character in the *marked* text is :data:`arrowproof.conformance.heads.HOLE`.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterator
from functools import cached_property
from itertools import accumulate

from arrowproof.conformance.display import one_line
from arrowproof.conformance.heads import HOLE
from arrowproof.model.record import record

MAX_SHOWN = 60
"""Characters of the expression in a hole that are shown."""


@record
class Chunk:
    """A stretch of a piece: text, or the expression that fills a hole. Its lines are those of the file, from 1.

    The text has more lines than the stretch of the file where they are written as escapes; they are the last one then.
    """

    text: str
    line: int
    last_line: int = 0
    is_hole: bool = False


@record
class Piece:
    """A string of a program that may be SQL. ``is_prose``: nothing but a reader takes it up, as a docstring."""

    chunks: tuple[Chunk, ...]
    is_prose: bool = False

    @cached_property
    def marked(self) -> str:
        """The text, with one character for each hole."""
        return "".join(HOLE if each.is_hole else each.text.replace(HOLE, " ") for each in self.chunks)

    @cached_property
    def _starts(self) -> list[int]:
        lengths = (1 if each.is_hole else len(each.text) for each in self.chunks)
        return list(accumulate(lengths, initial=0))[:-1]

    def line_at(self, offset: int) -> int:
        """The line of the file on which a character of the marked text stands."""
        index = max(0, bisect_right(self._starts, offset) - 1)
        chunk = self.chunks[index]
        newlines = 0 if chunk.is_hole else chunk.text.count("\n", 0, offset - self._starts[index])
        return min(chunk.line + newlines, max(chunk.line, chunk.last_line))

    def shown(self, start: int, end: int) -> str:
        """Part of the marked text as a person reads it, holes as ``{expression}``."""
        holes = iter([each.text for start_of, each in zip(self._starts, self.chunks, strict=True)
                      if each.is_hole and start <= start_of < end])  # fmt: skip
        return re.sub(HOLE, lambda _: shown_hole(next(holes)), self.marked[start:end])

    def hole_at(self, offset: int) -> str:
        """The hole at or behind a character of the marked text, as it is shown."""
        at = self.marked.find(HOLE, offset)
        return self.shown(at, at + 1) if at >= 0 else "{…}"


_SIGNS = ("%", "{", "?", "#{", "$")


def shown_hole(expression: str) -> str:
    """The expression of a hole in braces; a placeholder of a driver as it is."""
    text = one_line(expression, MAX_SHOWN)
    return text if text.startswith(_SIGNS) else f"{{{text}}}"


ADDED = "what is added to"
"""How a hole begins that stands for what is put to a string elsewhere."""


def added_later(name: str, line: int) -> list[Chunk]:
    """The chunks for what the program may add to a string once it is bound to ``name``."""
    return [Chunk(" ", line, line), Chunk(f"{ADDED} {name}", line, line, is_hole=True)]


_PLACEHOLDER = re.compile(
    r"""
    %(?:\(\w{1,100}\)|<\w{1,100}>|\d+\$|\[\d+\])?[-+#0]*\d*(?:\.\d+)?[sdvqrfibtw]\b    # printf and its kin
  | \{\{[^{}\n]{0,100}\}\}                                    # templates
  | [%#$]?\{[\w.!:\#?\[\]()-]{0,100}\}                         # format strings
  | \{\w{0,30}(?:![rsa])?:[<>^=+\ ,\#\w.%*-]{1,40}\}           # with a width, a sign, a precision
  | (?<![\w$])\$[A-Za-z_]\w*(?![\w$])                         # $name, and no dollar quote
  | (?<=update[ ])\?\?|(?<=into[ ])\?\?|(?<=from[ ])\?\?        # a name in MySQL's driver and Knex
    """,
    re.VERBOSE | re.IGNORECASE,
)


def masked(text: str) -> str:
    """Constant text with the placeholders of formatting as holes, each as long as it is written."""
    return _PLACEHOLDER.sub(lambda match: HOLE * len(match[0]), text)


def chunks_of(text: str, line: int, last_line: int) -> Iterator[Chunk]:
    """The chunks of constant text, in which the placeholders of formatting (``%s``, ``{name}``) are holes."""
    position = 0
    for match in _PLACEHOLDER.finditer(text) if any(sign in text for sign in "%{$?") else ():
        before = text[position : match.start()]
        if before:
            yield Chunk(before, line, last_line)
        line = min(line + before.count("\n"), last_line)
        yield Chunk(match.group(), line, line, is_hole=True)
        position = match.end()
    if position < len(text) or not text:
        yield Chunk(text[position:], line, last_line)
