"""The fonts that a page embeds: ready files beside this module, made once by ``scripts/build-fonts.py``.

Nothing is subset here, so that rendering a page costs no font tools. Each face stands there several times, from the
basic characters alone over those of some languages to all Latin letters, and a page carries one that draws its texts
and little else. Cyrillic and Greek letters are in files of their own, which a page carries besides where it has such
letters.
"""

from __future__ import annotations

import base64
import unicodedata
from collections.abc import Mapping
from functools import cache
from pathlib import Path

FOLDER = Path(__file__).parent / "fonts"

FACES: Mapping[str, tuple[str, str]] = {"sans": ("Arrowproof Sans", "400 700"), "mono": ("Arrowproof Mono", "400")}
"""The family of each embedded face and its weights, by the name of its whole file.

What a page shows beside these the browser makes of them, and the advances stay: it slants the names of passing states,
and thickens what counts in code. An italic and a bold of their own would take a fifth of what a page may weigh.
"""

BASIC = "".join(map(chr, range(0x20, 0x7F))) + "→←↑↓≤≥≠·–—…‘’“”✓×−"
"""The characters of a basic file: ASCII and signs."""

_LETTERS = "".join(map(chr, range(0xC0, 0x100))).replace("×", "").replace("÷", "")
"""The letters of Latin-1."""

_EXTENDED = "".join(map(chr, range(0x100, 0x180)))
_ALL_EXTENDED = f"{_EXTENDED}ẞȘșȚț"
"""The letters of Latin Extended-A with the capital sharp s, and those of Romanian that stand elsewhere."""

_CENTRAL = "ÁÄÇÉËÍÓÔÖÚÜÝáäçéëíóôöúüýß" + "ĄąĆćČčĎďĐđĘęĚěĹĺĽľŁłŃńŇňŐőŔŕŘřŚśŠšŤťŮůŰűŹźŻżŽž"
"""The letters of Polish, Czech, Slovak, Hungarian, Slovenian, Croatian, Albanian and German."""

_VIETNAMESE = "ÀÁÂÃÈÉÊÌÍÒÓÔÕÙÚÝàáâãèéêìíòóôõùúýĂăĐđĨĩŨũƠơƯư₫" + "".join(map(chr, range(0x1EA0, 0x1EFA)))

_LATIN = "".join(map(chr, (*range(0xA0, 0xAD), *range(0xAE, 0xC0), *range(0x1E00, 0x1F00)))) + "×÷ƠơƯư₫„‚‹›€•"
"""Signs of Latin-1 without the soft hyphen, which has no width of its own, those of prose, and Latin Extended
Additional with the letters of Vietnamese that stand elsewhere."""

TIERS: Mapping[str, Mapping[str, str]] = {
    "sans": {
        "sans-basic": BASIC,
        "sans-western": f"{BASIC}{_LETTERS}œŒŸ¿¡«»\xa0„‚‹›€•§°",
        "sans-central": f"{BASIC}{_CENTRAL}«»\xa0„‚‹›€•§°",
        "sans-vietnamese": f"{BASIC}{_VIETNAMESE}\xa0",
        "sans-extended": f"{BASIC}{_LETTERS}{_ALL_EXTENDED}¿¡«»\xa0„‚‹›€•§°",
        "sans": f"{BASIC}{_LETTERS}{_ALL_EXTENDED}{_LATIN}",
    },
    "mono": {
        "mono-basic": BASIC,
        "mono-western": f"{BASIC}{_LETTERS}\xa0",
        "mono": f"{BASIC}{_LETTERS}{_ALL_EXTENDED}{_LATIN}",
    },
}
"""The files of each face with the characters that they are cut to: light ones, and behind them heavier ones.

The western file has all that French, German, Spanish, Portuguese, Italian and the Nordic languages write with, the
central one that of the languages between, and the extended one that of all languages of Europe in Latin letters. Of
names and values in code the letters alone are western, since a page has a budget and code is no prose.
"""

SCRIPTS: Mapping[str, tuple[tuple[int, int], ...]] = {
    "sans-cyrillic": (
        *((0x401, 0x401), (0x404, 0x404), (0x406, 0x407), (0x40E, 0x40E), (0x410, 0x44F)),
        *((0x451, 0x451), (0x454, 0x454), (0x456, 0x457), (0x45E, 0x45E), (0x490, 0x491)),
    ),
    "sans-cyrillic-south": (
        *((0x400, 0x400), (0x402, 0x403), (0x405, 0x405), (0x408, 0x40D), (0x40F, 0x40F)),
        *((0x450, 0x450), (0x452, 0x453), (0x455, 0x455), (0x458, 0x45D), (0x45F, 0x45F)),
    ),
    "sans-cyrillic-wide": ((0x460, 0x48F), (0x492, 0x4FF)),
    "sans-greek": ((0x370, 0x3FF),),
}
"""The ranges of characters of the files that stand beside the Latin one of the text face, where a text needs them.

Russian, Ukrainian, Belarusian and Bulgarian write with the first, Serbian and Macedonian with the second, too, and the
languages of Central Asia and the Caucasus with the third.
"""


def face_file(face: str, text: str) -> str:
    """The name of the first file of a face that draws of this text all that the whole one does.

    Other scripts are in none of these, and so ask for none. A letter and its mark are one letter to a browser, too.
    """
    *smaller, whole = TIERS[face]
    needed = _characters(text).intersection(TIERS[face][whole])
    return next((name for name in smaller if needed.issubset(TIERS[face][name])), whole)


def script_files(face: str, text: str) -> tuple[str, ...]:
    """The names of the files that draw the letters of other scripts that stand in this text, which are few."""
    codes = {ord(character) for character in _characters(text) if not character.isascii()}
    return tuple(
        name
        for name, ranges in SCRIPTS.items()
        if name.startswith(face) and any(first <= code <= last for first, last in ranges for code in codes)
    )


def _characters(text: str) -> set[str]:
    return set(text if text.isascii() else unicodedata.normalize("NFC", text))


def font_faces_css(texts: Mapping[str, str] | None = None) -> str:
    """The ``@font-face`` rules of these faces, each with the file for the text that it draws as a ``data:`` URL.

    Without texts, of all faces as they are whole.
    """
    if texts is None:
        return "\n".join(_rule(file) for file in (*FACES, *SCRIPTS))
    files = ((face_file(face, text), *script_files(face, text)) for face, text in texts.items())
    return "\n".join(_rule(file) for each in files for file in each)


@cache
def _rule(file: str) -> str:
    family, weights = FACES[file.partition("-")[0]]
    data = base64.b64encode((FOLDER / f"{file}.woff2").read_bytes()).decode("ascii")
    ranges = ",".join(f"U+{first:X}-{last:X}".removesuffix(f"-{first:X}") for first, last in SCRIPTS.get(file, ()))
    script = f"unicode-range:{ranges};" if ranges else ""
    return (
        f'@font-face{{font-family:"{family}";font-style:normal;font-weight:{weights};font-display:block;{script}'
        f'src:url(data:font/woff2;base64,{data}) format("woff2")}}'
    )
