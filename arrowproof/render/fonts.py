"""The fonts that a page embeds: ready files beside this module, made once by ``scripts/build-fonts.py``.

Nothing is subset here, so that rendering a page costs no font tools.
"""

from __future__ import annotations

import base64
from functools import cache
from pathlib import Path

FOLDER = Path(__file__).parent / "fonts"

_FACES = (
    ("Arrowproof Sans", "normal", "400 700", "sans.woff2"),
    ("Arrowproof Sans", "italic", "400 600", "italic.woff2"),
    ("Arrowproof Mono", "normal", "400 700", "mono.woff2"),
)


@cache
def font_faces_css() -> str:
    """The ``@font-face`` rules of all embedded fonts, each with its file as a ``data:`` URL."""
    return "\n".join(_rule(*face) for face in _FACES)


def _rule(family: str, style: str, weights: str, file: str) -> str:
    data = base64.b64encode((FOLDER / file).read_bytes()).decode("ascii")
    return (
        f'@font-face{{font-family:"{family}";font-style:{style};font-weight:{weights};font-display:block;'
        f'src:url(data:font/woff2;base64,{data}) format("woff2")}}'
    )
