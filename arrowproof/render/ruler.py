"""The ruler: how many lines a text takes in a width, and whether they are higher than those of Latin text."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field

from arrowproof.render.text import tallness, text_width
from arrowproof.render.wrap import count_lines

SLACK = 0.97
"""Share of a width that is counted on, since a browser may break a line a little earlier than the measure says."""

_MEETING = 2
"""Letters so much taller than Latin ones would meet those of the line above."""


def are_tall(texts: Iterable[str]) -> bool:
    """Whether letters of one of these would meet in lines as close as those of Latin text in a column."""
    return any(tallness(text) >= _MEETING for text in texts)


@dataclass
class Ruler:
    """Counts lines of text, each text and width once."""

    known: dict[tuple[str, float, float, int, str], int] = field(default_factory=dict)

    def lines(self, text: str, width: float, size: float, weight: int = 400, face: str = "sans") -> int:
        """The lines that a text takes, 0 for none. ``width`` and ``size`` are in one unit."""
        key = (text, round(width, 2), size, weight, face)
        if key not in self.known:
            room = max(width, 2.0) * SLACK
            fits = text_width(text, size, weight, face) <= width * SLACK
            lines = 1 if fits else count_lines(text, room, size, weight, face)
            self.known[key] = lines + (0 if fits else _broken_words(text, room, size, weight, face))
        return self.known[key]


def _broken_words(text: str, room: float, size: float, weight: int, face: str) -> int:
    """Words wider than a line behind other words: a browser breaks such a word, but begins it on a line of its own."""
    return sum(text_width(word, size, weight, face) > room for word in text.split(" ")[1:])
