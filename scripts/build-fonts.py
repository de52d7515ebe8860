#!/usr/bin/env python3
"""Make the fonts that every page embeds, and the table of advance widths that the layout measures with.

usage: scripts/build-fonts.py [FOLDER]

Writes WOFF2 subsets, ``widths.json`` and the licences into FOLDER (``arrowproof/render/fonts`` by default). The bytes
are the same on every run. Needs the ``fonts`` extra; run it once for each version of a font, never for each page.

Each face is written once for each set of characters in ``arrowproof/render/fonts.py``, without features, since there
are no marks to compose and the figures are tabular as they are, and without style attributes, which no browser reads.

The subsets bear other family names, because "Plex" is a reserved font name under the SIL Open Font License.

``widths.json`` has the format ``arrowproof.widths/1``: per face ``units`` (advance units per em) and, per weight, the
advances of all covered characters, in the order of ``characters``.
"""

from __future__ import annotations

import io
import json
import shutil
import sys
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from typing import Any

from fontTools import subset
from fontTools.ttLib import TTFont
from fontTools.varLib import instancer

from arrowproof.render.fonts import SCRIPTS, TIERS

DEFAULT_FOLDER = Path(__file__).resolve().parent.parent / "arrowproof" / "render" / "fonts"


@dataclass(frozen=True)
class Face:
    """One embedded face: where it comes from, what it is called, and the weights that the page uses."""

    name: str
    family: str
    package: str
    file: str
    axes: dict[str, Any]
    weights: tuple[int, ...]

    @property
    def files(self) -> dict[str, set[int]]:
        """The characters of each of its files."""
        sets = {name: set(map(ord, characters)) for name, characters in TIERS[self.name].items()}
        for name, ranges in SCRIPTS.items():
            if name.startswith(self.name):
                sets[name] = {code for first, last in ranges for code in range(first, last + 1)}
        return sets

    @property
    def source(self) -> Path:
        """The font file in its package."""
        return Path(str(import_module(self.package).__file__)).parent / "files" / self.file


FACES = (
    Face(
        name="sans",
        family="Arrowproof Sans",
        package="fontpkg_ibm_plex_sans",
        file="IBMPlexSans[wdth,wght].ttf",
        axes={"wght": (400, 400, 700), "wdth": 100},
        weights=(400, 450, 500, 600, 700),
    ),
    Face(
        name="mono",
        family="Arrowproof Mono",
        package="fontpkg_jetbrains_mono",
        file="JetBrainsMono[wght].ttf",
        axes={"wght": 400},
        weights=(400,),
    ),
)


def main(arguments: list[str]) -> int:
    """Write every face, the widths and the licences into the folder."""
    folder = Path(arguments[0]) if arguments else DEFAULT_FOLDER
    folder.mkdir(parents=True, exist_ok=True)
    widths: dict[str, Any] = {"format": "arrowproof.widths/1", "faces": {}}
    for face in FACES:
        for name, characters in face.files.items():
            (folder / f"{name}.woff2").write_bytes(embedded(face, cut(face, characters)))
        covered = set().union(*face.files.values())
        widths["faces"][face.name] = measure(face, cut(face, covered))
    text = json.dumps(widths, ensure_ascii=True, separators=(",", ":"))
    (folder / "widths.json").write_text(text + "\n", encoding="ascii")
    for face in FACES:
        licence = face.source.parent.parent / "LICENSE"
        if licence.is_file():
            shutil.copyfile(licence, folder / f"OFL-{face.package.removeprefix('fontpkg_').replace('_', '-')}.txt")
    for path in sorted(folder.iterdir()):
        if path.is_file() and path.suffix in {".woff2", ".json", ".txt"}:
            print(f"{path.stat().st_size:8,} bytes  {path.name}")
    return 0


def cut(face: Face, characters: set[int]) -> bytes:
    """The face's source font, still variable, with nothing left but these characters."""
    font = TTFont(face.source, recalcTimestamp=False)
    options = subset.Options()
    options.layout_features = []
    options.hinting = False
    options.notdef_outline = True
    options.name_IDs = [1, 2, 4, 6, 13, 14]
    subsetter = subset.Subsetter(options)
    subsetter.populate(unicodes=characters)
    subsetter.subset(font)
    return saved(font)


def embedded(face: Face, source: bytes) -> bytes:
    """The WOFF2 bytes of a cut face, with its axes limited and under its own family name."""
    font = instance(source, face.axes)
    rename(font, face)
    lighten(font)
    font.flavor = "woff2"
    return saved(font)


def lighten(font: TTFont) -> None:
    """Leave out of a font the tables that change nothing that it draws, since it has no features."""
    for tag in {"STAT", "GSUB", "GPOS", "GDEF"}.intersection(font.keys()):
        del font[tag]


def instance(source: bytes, axes: dict[str, Any]) -> TTFont:
    """A font from its bytes with each axis pinned or limited."""
    return instancer.instantiateVariableFont(TTFont(io.BytesIO(source), recalcTimestamp=False), axes)


def saved(font: TTFont) -> bytes:
    """The bytes of a font."""
    out = io.BytesIO()
    font.save(out)
    return out.getvalue()


def rename(font: TTFont, face: Face) -> None:
    """Give the font its family name and a PostScript name without spaces."""
    for record in font["name"].names:
        if record.nameID in {1, 4}:
            record.string = face.family
        elif record.nameID == 6:
            record.string = face.family.replace(" ", "")


def measure(face: Face, source: bytes) -> dict[str, Any]:
    """The advances of a cut face's characters at each weight, in font units, without kerning."""
    covered: list[int] = []
    advances: dict[str, list[int]] = {}
    units = 0
    for weight in face.weights:
        font = instance(source, {axis: weight if axis == "wght" else limit for axis, limit in face.axes.items()})
        glyphs = font.getBestCmap()
        units = font["head"].unitsPerEm
        covered = sorted(glyphs)
        advances[str(weight)] = [font["hmtx"][glyphs[code]][0] for code in covered]
    return {"units": units, "characters": "".join(map(chr, covered)), "advances": advances}


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
