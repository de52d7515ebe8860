"""Brackets: which pairs stand in code from which literals and comments are taken out, and what lies between commas."""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Iterator

from arrowproof.model.record import record

MAX_DEPTH = 100
"""Brackets within each other; deeper ones are not told apart, so that hostile code costs no more than its length."""

_BRACKET = re.compile(r"[()\[\]{}]")
_MARK = re.compile(r"[,(\[{]")
_OPENING = {")": "(", "]": "[", "}": "{"}


@record
class Pair:
    """Two brackets: the offset of the opening one, the offset of the closing one, and the sign that opens."""

    start: int
    end: int
    sign: str


class Brackets:
    """The pairs of one file. A bracket without its other half is passed over."""

    def __init__(self, code: str) -> None:
        self._code = code
        self._by_start: dict[int, Pair] = {}
        self._by_end: dict[int, Pair] = {}
        open_ones: list[tuple[int, str]] = []
        for match in _BRACKET.finditer(code):
            sign = match.group()
            if sign in "([{":
                if len(open_ones) < MAX_DEPTH:
                    open_ones.append((match.start(), sign))
                continue
            depth = next((at for at in range(len(open_ones) - 1, -1, -1) if open_ones[at][1] == _OPENING[sign]), -1)
            if depth >= 0:
                pair = Pair(open_ones[depth][0], match.start(), _OPENING[sign])
                del open_ones[depth:]
                self._by_start[pair.start] = self._by_end[pair.end] = pair
        self._starts = sorted(self._by_start)
        self._parents = self._outer_pairs()

    def _outer_pairs(self) -> dict[int, int]:
        """For each pair, by where it starts, where the one around it starts; -1 for none."""
        found: dict[int, int] = {}
        around: list[Pair] = []
        for start in self._starts:
            while around and around[-1].end < start:
                around.pop()
            found[start] = around[-1].start if around else -1
            around.append(self._by_start[start])
        return found

    def all(self, sign: str) -> Iterator[Pair]:
        """The pairs of one kind, in the order in which they open."""
        return (self._by_start[start] for start in self._starts if self._code[start] == sign)

    def opened_at(self, position: int) -> Pair | None:
        """The pair whose opening bracket stands at ``position``."""
        return self._by_start.get(position)

    def closed_at(self, position: int) -> Pair | None:
        """The pair whose closing bracket stands at ``position``."""
        return self._by_end.get(position)

    def around(self, position: int) -> Iterator[Pair]:
        """The pairs around a place, the innermost first."""
        index = bisect_left(self._starts, position) - 1
        start = self._starts[index] if index >= 0 else -1
        while start >= 0:
            pair = self._by_start[start]
            if pair.end >= position:
                yield pair
            start = self._parents[start]

    def parts(self, pair: Pair) -> Iterator[tuple[int, int]]:
        """What stands between the commas of a pair, as offsets; none where nothing stands in it."""
        start = position = pair.start + 1
        while (match := _MARK.search(self._code, position, pair.end)) is not None:
            inner = self._by_start.get(match.start())
            position = inner.end if inner is not None else match.end()
            if match.group() == ",":
                yield start, match.start()
                start = match.end()
        if self._code[start : pair.end].strip() or start > pair.start + 1:
            yield start, pair.end
