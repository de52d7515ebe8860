"""Wrapping: a label over several lines of about the same width, never cut and never wider than asked.

Lines break at spaces, but a comparison (``a < b``) or a number with its unit stays together where that fits; between
CJK characters, but not so that a line starts or ends with a sign that must not stand there (kinsoku); within very long
words after ``_ . / - :`` and before a capital letter; and, when all that is not enough, between any two graphemes.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import lru_cache, partial

from arrowproof.render.text import clean_text, graphemes, text_width

_NO_LINE_START = frozenset(
    "。、，．,.・：；:;？！?!」』】〉》）)]}〕］｝ー々ゝゞ〜ぁぃぅぇぉっゃゅょゎァィゥェォッャュョヮヵヶ…‥％%"
)
_NO_LINE_END = frozenset("「『【〈《（([{〔［｛＄￥$¥")
_COMPARISONS = frozenset(("<", "<=", ">", ">=", "=", "==", "!=", "<>", "≤", "≥", "≠", "->", "→"))
_UNIT_LENGTH = 4
_BREAK_AFTER = frozenset("_./-:,;=&?|\\")


@dataclass(frozen=True)
class _Piece:
    """A part of a text that stays on one line; ``space`` says that a space precedes it unless a line starts here."""

    text: str
    space: bool


def wrap_text(text: str, width: float, size: float, weight: int = 400, face: str = "sans") -> tuple[str, ...]:
    """The text in the fewest lines that fit, the lines as even as they can be.

    Args:
        text: any text; it is cleaned first.
        width: the most that a line may measure, in the unit of ``size``.
        size: the font size; ``weight`` and ``face`` as for ``text_width``.

    Returns:
        The lines in order; none for an empty text. Only a single grapheme wider than ``width`` makes a wider line.
    """
    return _wrapped(clean_text(text), width, size, weight, face)


@lru_cache(maxsize=4096)
def _wrapped(text: str, width: float, size: float, weight: int, face: str) -> tuple[str, ...]:
    if not text:
        return ()
    measure = partial(text_width, size=size, weight=weight, face=face)
    if measure(text) <= width:
        return (text,)
    pieces = [part for piece in _glued(_pieces(text), width, measure) for part in _fitting(piece, width, measure)]
    count = len(_greedy(pieces, width, measure))
    low, high = 0.0, width
    for _ in range(12):
        middle = (low + high) / 2
        if len(_greedy(pieces, middle, measure)) <= count:
            high = middle
        else:
            low = middle
    return tuple(_greedy(pieces, high, measure))


def _greedy(pieces: Sequence[_Piece], width: float, measure: Callable[[str], float]) -> list[str]:
    lines: list[str] = []
    for piece in pieces:
        joined = f"{lines[-1]} {piece.text}" if lines and piece.space else (lines[-1] if lines else "") + piece.text
        if lines and measure(joined) <= width:
            lines[-1] = joined
        else:
            lines.append(piece.text)
    return lines


def _pieces(text: str) -> list[_Piece]:
    """Cut at spaces and between CJK characters."""
    pieces: list[_Piece] = []
    for word in text.split(" "):
        space = True
        part = ""
        for cluster in graphemes(word):
            if part and _may_break(part[-1], cluster[0]):
                pieces.append(_Piece(part, space))
                part, space = "", False
            part += cluster
        pieces.append(_Piece(part, space))
    return pieces


def _may_break(before: str, after: str) -> bool:
    if before in _NO_LINE_END or after in _NO_LINE_START:
        return False
    return _is_ideographic(before) or _is_ideographic(after)


def _is_ideographic(character: str) -> bool:
    return unicodedata.east_asian_width(character) in {"W", "F"} and unicodedata.category(character)[0] in "LNPS"


def _glued(pieces: Sequence[_Piece], width: float, measure: Callable[[str], float]) -> list[_Piece]:
    """The pieces with ``a < b`` and ``10 min`` each in one piece, as long as that fits on a line."""
    glued: list[_Piece] = []
    for piece in pieces:
        before = glued[-1].text if glued else ""
        joined = f"{before} {piece.text}"
        belongs = _ends_open(before) or piece.text in _COMPARISONS or (_ends_in_number(before) and _is_unit(piece.text))
        if before and piece.space and belongs and measure(joined) <= width:
            glued[-1] = _Piece(joined, glued[-1].space)
        else:
            glued.append(piece)
    return glued


def _ends_open(text: str) -> bool:
    return text.rsplit(" ", 1)[-1] in _COMPARISONS


def _ends_in_number(text: str) -> bool:
    return text.rsplit(" ", 1)[-1].lstrip("[(").replace(".", "").isdecimal()


def _is_unit(text: str) -> bool:
    """A short word or a sign such as ``h``, ``min``, ``days`` or ``%``, closing brackets apart."""
    return len(text.rstrip(")],.;")) <= _UNIT_LENGTH


def _fitting(piece: _Piece, width: float, measure: Callable[[str], float]) -> list[_Piece]:
    """The piece cut so that each part fits: at joints inside the word first, between any graphemes after that."""
    if measure(piece.text) <= width:
        return [piece]
    parts: list[_Piece] = []
    for joint in _joints(piece.text):
        for text in [joint] if measure(joint) <= width else _chopped(joint, width, measure):
            parts.append(_Piece(text, piece.space and not parts))
    return parts


def _joints(word: str) -> list[str]:
    parts = [""]
    previous = ""
    for cluster in graphemes(word):
        camel = previous.islower() and cluster.isupper()
        if parts[-1] and (camel or (previous in _BREAK_AFTER and cluster not in _BREAK_AFTER)):
            parts.append("")
        parts[-1] += cluster
        previous = cluster
    return parts


def _chopped(text: str, width: float, measure: Callable[[str], float]) -> list[str]:
    parts = [""]
    for cluster in graphemes(text):
        if parts[-1] and measure(parts[-1] + cluster) > width:
            parts.append("")
        parts[-1] += cluster
    return parts
