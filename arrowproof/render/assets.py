"""The parts of the style and the script that pages and pictures carry, made short.

People write them in ``templates/page/``. A page carries them without comments, indentation and long names of
variables, as ``page-parts.json`` has them, a file of the format ``arrowproof.parts/1``: ``parts`` by the names of their
files. ``scripts/build-parts.py`` makes it, once for each change of a part, never for each page.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from functools import cache
from pathlib import Path

TEMPLATES = Path(__file__).parent / "templates" / "page"
PARTS = Path(__file__).parent / "page-parts.json"
FORMAT = "arrowproof.parts/1"


def asset(name: str) -> str:
    """A part of the style or the script as a page carries it, with an end of line behind it."""
    return _parts()[name]


@cache
def _parts() -> Mapping[str, str]:
    parts: Mapping[str, str] = json.loads(PARTS.read_bytes())["parts"]
    return parts
