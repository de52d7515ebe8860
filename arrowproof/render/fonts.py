"""The fonts that a page embeds: ready files beside this module, made once by ``scripts/build-fonts.py``.

Nothing is subset here, so that rendering a page costs no font tools. Each face stands there three times: whole, with
the letters of western Europe, and with the basic characters alone. Every face of a page is the smallest that draws the
texts that it is for.
"""

from __future__ import annotations

import base64
import unicodedata
from collections.abc import Mapping
from functools import cache
from pathlib import Path

FOLDER = Path(__file__).parent / "fonts"

FACES: Mapping[str, tuple[str, str, str]] = {
    "sans": ("Arrowproof Sans", "normal", "400 700"),
    "italic": ("Arrowproof Sans", "italic", "400 600"),
    "mono": ("Arrowproof Mono", "normal", "400 700"),
}
"""Family, style and range of weights of each embedded face, by the name of its file."""


BASIC = "".join(map(chr, range(0x20, 0x7F))) + "→←↑↓≤≥≠·–—…‘’“”✓×−"
"""The characters of a basic face: ASCII and signs."""

LETTERS = "".join(map(chr, range(0xC0, 0x100))).replace("×", "").replace("÷", "")
"""The letters of Latin-1."""

WESTERN: Mapping[str, str] = {
    "sans": f"{LETTERS}œŒŸ¿¡«»\xa0",
    "italic": f"{LETTERS}œŒŸ¿¡«»\xa0",
    "mono": f"{LETTERS}\xa0",
}
"""What the western file of a face draws beside the basic characters.

All that French, German, Spanish, Portuguese, Italian and the Nordic languages write with; of names and values in code
the letters alone, since a page has a budget and code is no prose.
"""

_MORE = frozenset(map(chr, (*range(0xA0, 0xAD), *range(0xAE, 0x180)))) - frozenset(BASIC)
"""What a whole face covers beside the basic characters: Latin-1 and Latin Extended-A."""


def face_file(face: str, text: str) -> str:
    """The name of the smallest file of a face that draws of this text all that the whole one does.

    Other scripts are in no file, and so ask for none. A letter and its mark are one letter to a browser, too.
    """
    more = _MORE.intersection(text if text.isascii() else unicodedata.normalize("NFC", text))
    if not more:
        return f"{face}-basic"
    return f"{face}-western" if more.issubset(WESTERN[face]) else face


def font_faces_css(texts: Mapping[str, str] | None = None) -> str:
    """The ``@font-face`` rules of these faces, each with the file for the text that it draws as a ``data:`` URL.

    Without texts, of all faces as they are whole.
    """
    files = {face: face for face in FACES} if texts is None else {each: face_file(each, texts[each]) for each in texts}
    return "\n".join(_rule(file, face) for face, file in files.items())


@cache
def _rule(file: str, face: str) -> str:
    family, style, weights = FACES[face]
    data = base64.b64encode((FOLDER / f"{file}.woff2").read_bytes()).decode("ascii")
    return (
        f'@font-face{{font-family:"{family}";font-style:{style};font-weight:{weights};font-display:block;'
        f'src:url(data:font/woff2;base64,{data}) format("woff2")}}'
    )
