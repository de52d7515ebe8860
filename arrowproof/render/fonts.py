"""The fonts that a page embeds: ready files beside this module, made once by ``scripts/build-fonts.py``.

Nothing is subset here, so that rendering a page costs no font tools. Each face stands there twice, whole and with the
basic characters alone, and a page that needs no more takes the smaller one.
"""

from __future__ import annotations

import base64
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

_MORE = frozenset(map(chr, range(0xA0, 0x180))) - frozenset(BASIC)
"""What a whole face covers beside these: the letters of Latin-1 and Latin Extended-A."""


def is_basic(text: str) -> bool:
    """Whether a basic face draws of this text all that a whole one does; other scripts are in neither."""
    return _MORE.isdisjoint(text)


@cache
def font_faces_css(*faces: str, basic: bool = False) -> str:
    """The ``@font-face`` rules of these faces, each with its file as a ``data:`` URL; of all when none is named."""
    return "\n".join(_rule(f"{face}-basic" if basic else face, *FACES[face]) for face in faces or FACES)


def _rule(file: str, family: str, style: str, weights: str) -> str:
    data = base64.b64encode((FOLDER / f"{file}.woff2").read_bytes()).decode("ascii")
    return (
        f'@font-face{{font-family:"{family}";font-style:{style};font-weight:{weights};font-display:block;'
        f'src:url(data:font/woff2;base64,{data}) format("woff2")}}'
    )
