"""The parts of the style and the script that pages and pictures carry, as files of ``templates/page/``."""

from __future__ import annotations

import re
from functools import cache
from pathlib import Path

TEMPLATES = Path(__file__).parent / "templates" / "page"

_QUOTED = re.compile(r'("(?:[^"\\]|\\.)*"|`[^`]*`)')
_SIGN = re.compile(r" ?(=>|[=!]==|[<>]=|&&|\|\||\?\?|[?:,{}=<>]) ?")
"""Signs of the script that mean the same without a space on either side."""


@cache
def asset(name: str) -> str:
    """A part of the style or the script without comments, indentation and idle spaces, which a page need not carry."""
    lines = (line.strip() for line in (TEMPLATES / name).read_text(encoding="utf-8").splitlines())
    kept = (line for line in lines if line and not _is_comment(line))
    return "".join(f"{tightened(line) if name.endswith('.js') else line}\n" for line in kept)


def tightened(line: str) -> str:
    """A line of the script without the spaces around its signs.

    A line with what may be a regular expression, a comment, or a text in a text stays as it is; a quoted text always
    does.
    """
    if "/" in line or "'" in line or line.count("`") > 2:
        return line
    parts = _QUOTED.split(line)
    return "".join(part if place % 2 else _SIGN.sub(r"\1", part) for place, part in enumerate(parts))


def _is_comment(line: str) -> bool:
    return line.startswith("//") or (line.startswith("/*") and line.endswith("*/"))
