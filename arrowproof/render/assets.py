"""The parts of the style and the script that pages and pictures carry, as files of ``templates/page/``."""

from __future__ import annotations

from functools import cache
from pathlib import Path

TEMPLATES = Path(__file__).parent / "templates" / "page"


@cache
def asset(name: str) -> str:
    """A part of the style or the script without its comments and indentation, which a page need not carry."""
    lines = (line.strip() for line in (TEMPLATES / name).read_text(encoding="utf-8").splitlines())
    return "".join(f"{line}\n" for line in lines if line and not _is_comment(line))


def _is_comment(line: str) -> bool:
    return line.startswith("//") or (line.startswith("/*") and line.endswith("*/"))
