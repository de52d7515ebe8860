"""The parts of the style and the script that pages and pictures carry: the files of ``templates/page/``, made short.

A page carries no comments, no indentation and no long names of variables. Shortening all parts costs more than filling
a page with them, so that what comes of it is kept as Python keeps its modules, in ``__pycache__`` beside the files: for
the same files and the same way of shortening. Where that folder cannot be written, every process shortens for itself.
"""

from __future__ import annotations

import hashlib
import json
import re
import sys
from collections.abc import Mapping
from contextlib import suppress
from functools import cache
from importlib.util import cache_from_source
from pathlib import Path

from arrowproof.model.whole_file import write_whole

TEMPLATES = Path(__file__).parent / "templates" / "page"

_COMMENT = re.compile(r"/\*.*?\*/", re.DOTALL)

_SHORTENING = ("assets.py", "script_tokens.py", "short_script.py")
"""The modules on which it depends what the parts become."""


@cache
def asset(name: str) -> str:
    """A part of the style or the script as a page carries it, with an end of line behind it."""
    return _parts()[name]


@cache
def _parts() -> Mapping[str, str]:
    return kept_parts(TEMPLATES)


def kept_parts(folder: Path) -> Mapping[str, str]:
    """All parts of a folder by the names of their files, as they are kept for these, or made and then kept."""
    sources = {path.name: path.read_text(encoding="utf-8") for path in sorted(folder.glob("*.[cj]s*"))}
    checksum = _checksum(sources)
    kept = Path(cache_from_source(str(folder / "parts.py"))).with_suffix(".json")
    with suppress(OSError, ValueError, LookupError, TypeError):  # none, or not what was once written there
        found = json.loads(kept.read_bytes())
        if found["checksum"] == checksum:
            return {name: str(found["parts"][name]) for name in sources}
    parts = short_parts(sources)
    if not sys.dont_write_bytecode:
        with suppress(OSError):
            kept.parent.mkdir(parents=True, exist_ok=True)
            write_whole(kept, json.dumps({"checksum": checksum, "parts": parts}).encode())
    return parts


def short_parts(sources: Mapping[str, str]) -> dict[str, str]:
    """Parts of the style and the script by the names of their files, shortened."""
    from arrowproof.render.short_script import short_scripts  # late: for files that have changed only

    scripts = short_scripts({name: source for name, source in sources.items() if name.endswith(".js")})
    return {name: scripts[name] if name in scripts else short_style(source) for name, source in sources.items()}


def short_style(source: str) -> str:
    """A part of the style without comments, indentation and the ends of lines that part nothing."""
    written = ""
    for line in map(str.strip, _COMMENT.sub("", source).splitlines()):
        if line:
            written += line if line[-1] in "{};,:" else f"{line}\n"
    return written if written.endswith("\n") else f"{written}\n"


def _checksum(sources: Mapping[str, str]) -> str:
    made = hashlib.sha256()
    for name in _SHORTENING:
        made.update((Path(__file__).parent / name).read_bytes())
    for name, source in sources.items():
        made.update(f"{name}\0{source}\0".encode())
    return made.hexdigest()
