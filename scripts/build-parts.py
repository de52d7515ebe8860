#!/usr/bin/env python3
"""Make the short form of the style and the script that every page carries.

usage: scripts/build-parts.py [FILE]

Writes FILE (``arrowproof/render/page-parts.json`` by default) from the files of ``arrowproof/render/templates/page/``.
The bytes are the same on every run. Run it after every change of such a file.

The parts are shortened one by one, and a page takes those that it needs. So what stands outside of all functions keeps
its name, which other parts use, and the rest gets a short one.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path

import minify

from arrowproof.render.assets import FORMAT, PARTS, TEMPLATES

TYPES = {".js": "application/javascript", ".css": "text/css"}


def short_part(path: Path) -> str:
    """A part as pages carry it; a statement of a script ends where the part ends."""
    text = minify.string(TYPES[path.suffix], path.read_text(encoding="utf-8"))
    return f"{text};\n" if path.suffix == ".js" else f"{text}\n"


def main() -> None:
    """Shorten all parts and write them."""
    file = Path(sys.argv[1]) if len(sys.argv) > 1 else PARTS
    parts = {path.name: short_part(path) for path in sorted(TEMPLATES.iterdir()) if path.suffix in TYPES}
    document = {"format": FORMAT, "parts": parts}
    file.write_text(json.dumps(document, indent=0, ensure_ascii=False) + "\n", encoding="utf-8")
    print(f"wrote {file}: {len(parts)} parts, {sum(map(len, parts.values()))} characters")


if __name__ == "__main__":
    main()
