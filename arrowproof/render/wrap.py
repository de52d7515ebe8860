"""Wrapping: a label over several lines of about the same width, never cut and never wider than asked.

Lines break at spaces, but a comparison (``a < b``), a sum, or a number with its unit stays together where that fits,
and a slash never stands without the word behind it. In CJK text they break where a phrase ends, as far as the scripts
tell; where that takes more lines, between any two characters that are no part of one number or of one word in katakana,
but not so that a line starts or ends with a sign that must not stand there (kinsoku). Very long words break after
``_ . / - :`` and before a capital letter, and, when all that is not enough, between any two graphemes.
"""

from __future__ import annotations

import math
import unicodedata
from collections.abc import Callable, Iterator, Sequence
from functools import lru_cache, partial

from arrowproof.model.record import record
from arrowproof.render.text import clean_text, graphemes, text_width

_NO_LINE_START = frozenset(
    "。、，．,.・：；:;？！?!」』】〉》）)]}〕］｝ー々ゝゞ〜ぁぃぅぇぉっゃゅょゎァィゥェォッャュョヮヵヶ…‥％%"
)
_HIRAGANA, _KATAKANA = "HIRAGANA", "KATAKANA"
_STEM_ENDS = frozenset("えきぎけげしじせちねびべみめりれ")
"""Where a verb stem ends, which the next verb of a compound mostly follows: no particle ends so."""
_NO_LINE_END = frozenset("「『【〈《（([{〔［｛＄￥$¥")
_COMPARISONS = frozenset(("<", "<=", ">", ">=", "=", "==", "!=", "<>", "≤", "≥", "≠", "->", "→", "+", "×"))
_SLASH = "/"
"""Before an effect; alone on a line it says nothing."""
_UNIT_LENGTH = 4
_SHORT = 0.5
"""Of the widest line: a last line that is narrower than this looks left behind, if others have a word to give."""
_BREAK_AFTER = frozenset("_./-:,;=&?|\\")


@record
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


def count_lines(text: str, width: float, size: float, weight: int = 400, face: str = "sans") -> int:
    """How many lines ``wrap_text`` makes of a text; to even them takes ten times as long as to count them."""
    cleaned = clean_text(text)
    measure = partial(text_width, size=size, weight=weight, face=face)
    if not cleaned or measure(cleaned) <= width:
        return 1 if cleaned else 0
    return min(len(_greedy(parts, width, measure)) for parts in _readings(cleaned, width, measure))


def unbroken_width(text: str, most: float, size: float, weight: int = 400) -> float:
    """The width of the widest part of a text that has no place for a break, of those up to ``most``; 0 without any."""
    parts = (part for word in clean_text(text).split(" ") for part in _parts(word))
    widths = (text_width(part, size, weight) for part in parts)
    return max((width for width in widths if width <= most), default=0.0)


@lru_cache(maxsize=4096)
def _wrapped(text: str, width: float, size: float, weight: int, face: str) -> tuple[str, ...]:
    if not text:
        return ()
    measure = partial(text_width, size=size, weight=weight, face=face)
    if measure(text) <= width:
        return (text,)
    return min((_even_lines(parts, width, measure) for parts in _readings(text, width, measure)), key=len)


def _readings(text: str, width: float, measure: Callable[[str], float]) -> Iterator[list[_Piece]]:
    """The text in parts that fit on a line: where its phrases end and, if that is another way, between its words."""
    for is_joint in (_ends_phrase, _keeps_words) if _has_joints(text) else (_ends_phrase,):
        pieces = _glued(_pieces(text, is_joint), width, measure)
        yield [part for piece in pieces for part in _fitting(piece, width, measure)]


def _even_lines(parts: Sequence[_Piece], width: float, measure: Callable[[str], float]) -> tuple[str, ...]:
    """The parts on the fewest lines that fit, the widest of which is as narrow as it can be."""
    count = len(_greedy(parts, width, measure))
    low, high = 0.0, width
    for _ in range(12):
        middle = (low + high) / 2
        if len(_greedy(parts, middle, measure)) <= count:
            high = middle
        else:
            low = middle
    lines = _greedy(parts, high, measure)
    if len(lines) > 2 and measure(lines[-1]) < _SHORT * high:
        lines = _evened(parts, len(lines), high, measure)
    return tuple(lines)


def _evened(pieces: Sequence[_Piece], count: int, width: float, measure: Callable[[str], float]) -> list[str]:
    """The pieces on so many lines, which these can be, with as little room left on each as on any other."""
    rests: list[dict[int, tuple[float, list[str]]]] = [{} for _ in pieces] + [{0: (0.0, [])}]
    for start in reversed(range(len(pieces))):
        line = ""
        for end, piece in enumerate(pieces[start:], start + 1):
            line = piece.text if not line else f"{line} {piece.text}" if piece.space else line + piece.text
            free = width - measure(line)
            if free < 0 and end > start + 1:
                break
            for lines, (cost, rest) in rests[end].items():
                found = (cost + free * free, [line, *rest])
                if lines < count and found < rests[start].get(lines + 1, (math.inf, [])):
                    rests[start][lines + 1] = found
    return rests[0][count][1]


def _greedy(pieces: Sequence[_Piece], width: float, measure: Callable[[str], float]) -> list[str]:
    lines: list[str] = []
    for piece in pieces:
        joined = f"{lines[-1]} {piece.text}" if lines and piece.space else (lines[-1] if lines else "") + piece.text
        if lines and measure(joined) <= width:
            lines[-1] = joined
        else:
            lines.append(piece.text)
    return lines


@lru_cache(maxsize=4096)
def _pieces(text: str, is_joint: Callable[[str, str], bool]) -> tuple[_Piece, ...]:
    """Cut at spaces and at these joints of CJK text, once for all widths that are tried."""
    words = text.split(" ")
    return tuple(_Piece(part, not number) for word in words for number, part in enumerate(_cut(word, is_joint)))


def _cut(word: str, is_joint: Callable[[str, str], bool]) -> list[str]:
    """The word cut between the graphemes for whose adjoining characters this holds, one of which is CJK."""
    if not _has_joints(word):
        return [word]
    parts = [""]
    for cluster in graphemes(word):
        if parts[-1] and is_joint(parts[-1][-1], cluster[0]):
            parts.append("")
        parts[-1] += cluster
    return parts


def _has_joints(text: str) -> bool:
    """Whether there can be a joint at all: none is between letters that are written with spaces."""
    return not text.isascii() and any(map(_is_ideographic, text))


def _may_break(before: str, after: str) -> bool:
    if before == " " or before in _NO_LINE_END or after in _NO_LINE_START:
        return False
    return _is_ideographic(before) or _is_ideographic(after)


def _keeps_words(before: str, after: str) -> bool:
    """Whether a line may break between two characters that are no part of one number or of one word in katakana."""
    is_one_word = before.isdecimal() or _script(before) == _script(after) == _KATAKANA
    return _may_break(before, after) and not is_one_word


def _ends_phrase(before: str, after: str) -> bool:
    """Whether a phrase ends between two characters, as far as their scripts tell.

    Endings and particles are written in hiragana, so it ends where another script follows, and a word in katakana or
    Latin letters where its script ends; a sign of punctuation ends a phrase too.
    """
    if not _keeps_words(before, after):
        return False
    return before not in _STEM_ENDS and (_script(before) != _script(after) != _HIRAGANA or not before.isalnum())


@lru_cache(maxsize=4096)
def _script(character: str) -> str:
    """The kind of letter, which the first word of its name in Unicode tells; a long vowel is that of katakana."""
    if character == "ー":
        return _KATAKANA
    return unicodedata.name(character, "").split(" ")[0]


@lru_cache(maxsize=4096)
def _is_ideographic(character: str) -> bool:
    return unicodedata.east_asian_width(character) in {"W", "F"} and unicodedata.category(character)[0] in "LNPS"


def _glued(pieces: Sequence[_Piece], width: float, measure: Callable[[str], float]) -> list[_Piece]:
    """The pieces with ``a < b`` and ``10 min`` each in one piece, where that fits on a line; ``/ a`` in any case."""
    glued: list[_Piece] = []
    for piece, after in zip(pieces, [*pieces[1:], _Piece("", False)], strict=True):
        before = glued[-1].text if glued else ""
        joined = f"{before} {piece.text}"
        is_sign = piece.text in _COMPARISONS and not _leads(piece.text, joined, after.text, width, measure)
        belongs = _ends_open(before) or is_sign or (_ends_in_number(before) and _is_unit(piece.text))
        led = before.rsplit(" ", 1)[-1] == _SLASH and measure(f"{_SLASH} {_parts(piece.text)[0]}") <= width
        if before and piece.space and (led or (belongs and measure(joined) <= width)):
            glued[-1] = _Piece(joined, glued[-1].space)
        else:
            glued.append(piece)
    return glued


def _leads(sign: str, joined: str, after: str, width: float, measure: Callable[[str], float]) -> bool:
    """Whether a line breaks before the sign of a comparison: all of it has no room on one, and so it is narrower."""
    return measure(f"{joined} {after}") > width and measure(f"{sign} {after}") <= measure(joined)


def _ends_open(text: str) -> bool:
    return text.rsplit(" ", 1)[-1] in _COMPARISONS


def _ends_in_number(text: str) -> bool:
    return text.rsplit(" ", 1)[-1].lstrip("[(").replace(".", "").isdecimal()


def _is_unit(text: str) -> bool:
    """A short word or a sign such as ``h``, ``min``, ``days`` or ``%``, closing brackets apart."""
    return len(text.rstrip(")],.;")) <= _UNIT_LENGTH


def _fitting(piece: _Piece, width: float, measure: Callable[[str], float]) -> list[_Piece]:
    """The piece cut so that each part fits: at joints inside it first, between any graphemes after that."""
    if measure(piece.text) <= width:
        return [piece]
    parts: list[_Piece] = []
    for joint in _parts(piece.text):
        for text in [joint] if measure(joint) <= width else _chopped(joint, width, measure):
            parts.append(_Piece(text, piece.space and not parts))
    return parts


@lru_cache(maxsize=4096)
def _parts(text: str) -> tuple[str, ...]:
    """The text cut wherever a line may break in it, but for the spaces and the middles of plain words."""
    return tuple(joint for part in _cut(text, _may_break) for joint in _joints(part))


def _joints(word: str) -> list[str]:
    parts = [""]
    previous = ""
    for cluster in graphemes(word):
        camel = previous.islower() and cluster.isupper()
        if parts[-1] and (camel or (previous in _BREAK_AFTER and cluster not in _BREAK_AFTER and cluster != " ")):
            parts.append("")
        parts[-1] += cluster
        previous = cluster
    return parts


def _chopped(text: str, width: float, measure: Callable[[str], float]) -> list[str]:
    """The text cut between graphemes into the fewest parts that fit, of about the same width."""
    count = len(_filled(text, width, measure))
    even = measure(text) / count
    tried = (_filled(text, min(width, even * (1 + share / 20)), measure) for share in range(1, 20))
    return next((parts for parts in tried if len(parts) <= count), _filled(text, width, measure))


def _filled(text: str, width: float, measure: Callable[[str], float]) -> list[str]:
    parts = [""]
    for cluster in graphemes(text):
        if parts[-1] and measure(parts[-1] + cluster) > width:
            parts.append("")
        parts[-1] += cluster
    return parts
