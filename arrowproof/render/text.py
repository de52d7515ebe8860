"""Text as it is drawn: how wide it is, where it may be cut, and what stands for characters that must not be drawn.

Covered characters have the exact advances of the embedded fonts, which carry no kerning. All others are drawn by
whatever font the reader's system has, so their width is an upper bound: a label may get more room than it needs, never
less.
"""

from __future__ import annotations

import json
import re
import unicodedata
from collections.abc import Iterator
from functools import cache, lru_cache
from itertools import zip_longest
from typing import Any

from arrowproof.render.fonts import FOLDER

REPLACEMENT = "\N{REPLACEMENT CHARACTER}"
"""Stands for a character that has no picture of its own or turns the direction of text."""

MAX_CHARACTERS = 2000
"""More of one label than this is never drawn; a label that long is a mistake in the model, not a name."""

_WIDE_EM, _HALF_WIDTH_EM, _EMOJI_EM, _OTHER_EM = 1.0, 0.5, 1.45, 1.6
"""Upper bounds for East Asian wide and half width characters, emoji, and everything that is not listed below."""

_SCRIPTS = (
    (0x0370, 0x03FF, 0.9, 1.1),  # Greek
    (0x0401, 0x045F, 1.12, 1.34),  # Cyrillic of today's languages
    (0x0531, 0x058F, 1.0, 1.0),  # Armenian
    (0x05D0, 0x05F4, 0.88, 0.88),  # Hebrew, where nothing more is known of a letter
    (0x0621, 0x064A, 1.45, 1.45),  # Arabic, where nothing more is known of a letter
    (0x0900, 0x097F, 1.2, 0.4),  # Devanagari
    (0x0980, 0x09FF, 1.3, 1.2),  # Bengali
    (0x0A80, 0x0AFF, 1.25, 0.4),  # Gujarati
    (0x0E01, 0x0E5B, 0.95, 0.95),  # Thai
    (0x10D0, 0x10FF, 1.1, 1.1),  # Georgian
    (0x1E00, 0x1EFF, 1.05, 1.15),  # Latin Extended Additional: Vietnamese
    (0x2100, 0x22FF, 1.5, 1.5),  # letterlike signs, arrows, mathematics
)
"""First, last, em of a small letter, em of a capital or of a vowel sign that stands beside its letter: the widest at
weight 600 in DejaVu Sans, the widest of the usual system fonts, as measured in Chromium; for the scripts of India the
widest of Noto, Lohit, Samyak and Gargi."""

_ARABIC = {
    letter: (joined, last)
    for joined, last, letters in (
        (0.4, 0.4, "آأإا"),
        (0.65, 0.65, "ءؤةدذرزو"),
        (0.45, 0.95, "ئلن"),
        (0.45, 1.1, "بتثي"),
        (0.6, 0.95, "ك"),
        (0.75, 0.8, "جحخعغمه"),
        (0.75, 1.25, "فق"),
        (1.0, 1.1, "طظ"),
        (1.05, 1.45, "سشصض"),
    )
    for letter in letters
}
"""Em of an Arabic letter that another one follows, and of one at the end of its word, measured like the scripts."""

_HEBREW = {
    letter: width
    for width, letters in (
        (0.37, "וין"),
        (0.47, "גזנ׳"),
        (0.62, "בדךכל"),
        (0.7, "הטםסעפףצץרװױײ"),
        (0.76, "אחמקת״"),
        (0.88, "ש"),
    )
    for letter in letters
}
"""Em of a Hebrew letter: the widest at weight 600 in DejaVu Sans, Noto Sans Hebrew and Heebo."""

_HAMZA = "ء"  # joins to nothing, so that the letter before it is the last of its part

_TALL_SCRIPTS = (
    (0x0591, 0x05C7),
    (0x0600, 0x08FF),
    (0x0900, 0x109F),
    (0x1780, 0x17FF),
    (0xFB50, 0xFDFF),
    (0xFE70, 0xFEFE),
)
_ONE_MARK = 2  # a letter and one mark, as it is decomposed
_ABOVE, _BELOW = 230, 220  # combining classes of Unicode

_WIDE_SIGNS = {"‱": 1.95, "Ⅷ": 1.7, "ﬗ": 1.75, "\N{TWO-EM DASH}": 2.1, "\N{THREE-EM DASH}": 3.1}

MAX_MARKS = 4
"""More marks than this over one letter are no writing, and would cover what stands around the text."""

_ZWJ = "\N{ZERO WIDTH JOINER}"
_KEEP_FORMAT = frozenset({_ZWJ, "\N{ZERO WIDTH NON-JOINER}"})
_EMOJI_RANGES = ((0x1F000, 0x1FAFF), (0x2300, 0x23FF), (0x2600, 0x27BF), (0x2B00, 0x2BFF))
_KEYCAP = "\N{COMBINING ENCLOSING KEYCAP}"

_IS_UNSEEN = re.compile(
    "[ \u200c\u200d\u034f\u115f\u1160\u17b4\u17b5\u180b-\u180f\u2800\u3164\ufe00-\ufe0f\uffa0\U000e0020-\U000e01ef]+"
)
"""Text of nothing but characters that are drawn as nothing: joiners, selectors of a variant, tags, fillers."""


@lru_cache(maxsize=4096)
def clean_text(text: str) -> str:
    """The text as it may be drawn, on one line.

    White space of any kind becomes one space, and the ends are trimmed. Control characters, characters that turn the
    direction of text (so that a label can never reorder its neighbours), lone surrogates, private characters and
    noncharacters become U+FFFD, which is visible and harmless; so does text of nothing that can be seen, and what one
    letter has of marks beyond ``MAX_MARKS``. White space alone is shown between quotes: an id of it is a name like any
    other. Text beyond ``MAX_CHARACTERS`` ends in an ellipsis.
    """
    spaced = " ".join(text.split()) or ("“ ”" if text else "")
    if spaced.isascii() and spaced.isprintable():
        cleaned = spaced
    else:
        cleaned = "".join(REPLACEMENT if _is_unsafe(character) else character for character in _bounded_marks(spaced))
        cleaned = REPLACEMENT if _IS_UNSEEN.fullmatch(cleaned) else cleaned
    return cleaned if len(cleaned) <= MAX_CHARACTERS else cleaned[: MAX_CHARACTERS - 1] + "…"


def clean_code(text: str) -> str:
    """The text of a program as it may be drawn: as for ``clean_text``, but lines and spaces stay, tabs are four."""
    lines = text.replace("\r\n", "\n").replace("\r", "\n").expandtabs(4).split("\n")
    return "\n".join(
        "".join(REPLACEMENT if _is_unsafe(each) else each for each in _bounded_marks(line)) for line in lines
    )


def _bounded_marks(text: str) -> Iterator[str]:
    """The characters of a text, with one U+FFFD for all marks that a letter has too many of."""
    marks = 0
    for character in text:
        if unicodedata.category(character) in {"Mn", "Me"}:
            marks += 1
        elif character not in _KEEP_FORMAT:
            marks = 0
        if marks <= MAX_MARKS:
            yield character
        elif marks == MAX_MARKS + 1:
            yield REPLACEMENT
            marks += 1


def _is_unsafe(character: str) -> bool:
    category = unicodedata.category(character)
    if category == "Cf":
        return character not in _KEEP_FORMAT and not 0xE0020 <= ord(character) <= 0xE007F
    return category in {"Cc", "Cs", "Co", "Zl", "Zp"} or _is_noncharacter(ord(character))


def _is_noncharacter(code: int) -> bool:
    """Unassigned characters are no danger, and the next Unicode assigns some; noncharacters stay meaningless."""
    return code & 0xFFFE == 0xFFFE or 0xFDD0 <= code <= 0xFDEF


@lru_cache(maxsize=8192)
def text_width(text: str, size: float, weight: int = 400, face: str = "sans") -> float:
    """How wide the text is drawn, in the unit of ``size``.

    Args:
        text: one line, as ``clean_text`` gives it.
        size: the font size.
        weight: the CSS font weight; the nearest measured weight that is not lighter is taken.
        face: ``sans`` or ``mono``.

    Returns:
        The sum of advances: exact for covered characters, an upper bound for all others.
    """
    widths = _each_width(face, weight)
    try:
        return size * sum(map(widths.__getitem__, text))  # nearly every text, and three times as fast
    except KeyError:
        pairs = zip_longest(text, text[1:], fillvalue="")
        return size * sum(_other_width(c, after) if c in _ARABIC else widths[c] for c, after in pairs)


@lru_cache(maxsize=4096)
def tallness(text: str) -> int:
    """How much more room than those of Latin text its lines need, since letters reach far up or down, in steps.

    The first step is for scripts with signs above and below their letters (Arabic, pointed Hebrew, those of India,
    Thai, Tibetan, Khmer, ...) and for Vietnamese capitals with two marks, the second for Arabic letters with two.
    """
    return 0 if text.isascii() else max(map(_letter_tallness, graphemes(text)), default=0)


def _letter_tallness(letter: str) -> int:
    parts = unicodedata.normalize("NFD", letter)
    has_two_marks = len(parts) > _ONE_MARK
    if any(low <= ord(letter[0]) <= high for low, high in _TALL_SCRIPTS):
        return 2 if has_two_marks and _is_arabic(letter[0]) else 1
    is_pointed = any(low <= ord(mark) <= high for mark in letter[1:] for low, high in _TALL_SCRIPTS)
    return max(int(is_pointed or (has_two_marks and letter[0].isupper())), _pile_tallness(parts))


def _pile_tallness(letter: str) -> int:
    """How far marks reach out of the line: above there is room for two, or one over a capital, and below for one."""
    places = [unicodedata.combining(mark) for mark in letter[1:]]
    beyond = max(0, places.count(_ABOVE) + letter[0].isupper() - 2) + max(0, places.count(_BELOW) - 1)
    return min(beyond, 2)


def _is_arabic(character: str) -> bool:
    return "\u0600" <= character <= "\u08ff"


def is_covered(text: str, face: str = "sans") -> bool:
    """Whether an embedded font draws every character, so that ``text_width`` is exact on every machine."""
    return _advances(face, 400).keys() >= set(text)


class _Widths(dict[str, float]):
    """The widths of characters in em, but for Arabic letters, whose width is not theirs alone."""

    def __missing__(self, character: str) -> float:
        if character in _ARABIC:
            raise KeyError(character)
        return self.setdefault(character, _other_width(character, ""))


@cache
def _each_width(face: str, weight: int) -> _Widths:
    return _Widths(_advances(face, weight))


@cache
def _advances(face: str, weight: int) -> dict[str, float]:
    table = _widths()[face]
    weights = sorted(int(key) for key in table["advances"])
    nearest = next((known for known in weights if known >= weight), weights[-1])
    units = table["units"]
    return {c: advance / units for c, advance in zip(table["characters"], table["advances"][str(nearest)], strict=True)}


@cache
def _widths() -> dict[str, Any]:
    """The table of every face; its format stands in ``scripts/build-fonts.py``."""
    return dict(json.loads((FOLDER / "widths.json").read_text(encoding="ascii"))["faces"])


@lru_cache(maxsize=8192)
def _other_width(character: str, after: str) -> float:
    """Upper bound in em for a character that the embedded fonts do not cover, with the one after it or nothing."""
    if character in _ARABIC:
        return _ARABIC[character][after not in _ARABIC or after == _HAMZA]
    if character in _HEBREW:
        return _HEBREW[character]
    category = unicodedata.category(character)
    if category in {"Mn", "Me", "Cf"}:
        return _EMOJI_EM if character == _KEYCAP else 0.0
    if character in _WIDE_SIGNS:
        return _WIDE_SIGNS[character]
    code = ord(character)
    width = unicodedata.east_asian_width(character)
    if any(low <= code <= high for low, high in _EMOJI_RANGES):
        return _EMOJI_EM
    if width in {"W", "F"}:
        return _WIDE_EM
    if width == "H" and code >= 0xFF00:
        return _HALF_WIDTH_EM
    for low, high, small, capital in _SCRIPTS:
        if low <= code <= high:
            return capital if category in {"Lu", "Mc"} else small
    return _OTHER_EM


def graphemes(text: str) -> list[str]:
    """The text as the units that a reader sees as one character, in order; joined, they are the text again.

    Marks and variation selectors stay with their base, emoji joined by ZWJ stay together, and so do flags (pairs of
    regional indicators), skin tones and Hangul jamo. This is UAX 29 without the rules for prepended marks.
    """
    clusters: list[str] = []
    for character in text:
        if clusters and _joins(clusters[-1], character):
            clusters[-1] += character
        else:
            clusters.append(character)
    return clusters


def _joins(cluster: str, character: str) -> bool:
    if unicodedata.category(character) in {"Mn", "Me", "Mc"} or character == _ZWJ or _is_modifier(character):
        return True
    if cluster[-1] == _ZWJ:
        return True
    if _is_regional(character):
        return all(map(_is_regional, cluster)) and len(cluster) == 1
    return _is_jamo(character) and _is_jamo(cluster[-1])


def _is_modifier(character: str) -> bool:
    return 0x1F3FB <= ord(character) <= 0x1F3FF or 0xE0020 <= ord(character) <= 0xE007F


def _is_regional(character: str) -> bool:
    return 0x1F1E6 <= ord(character) <= 0x1F1FF


def _is_jamo(character: str) -> bool:
    return 0x1100 <= ord(character) <= 0x11FF
