"""The fonts that a page embeds: ready files beside this module, made once by ``scripts/build-fonts.py``.

Nothing is subset here, so that rendering a page costs no font tools.
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


@cache
def font_faces_css(*faces: str) -> str:
    """The ``@font-face`` rules of these faces, each with its file as a ``data:`` URL; of all when none is named."""
    return "\n".join(_rule(face, *FACES[face]) for face in faces or FACES)


def _rule(face: str, family: str, style: str, weights: str) -> str:
    data = base64.b64encode((FOLDER / f"{face}.woff2").read_bytes()).decode("ascii")
    return (
        f'@font-face{{font-family:"{family}";font-style:{style};font-weight:{weights};font-display:block;'
        f'src:url(data:font/woff2;base64,{data}) format("woff2")}}'
    )
