"""Makes the gallery: a page and two pictures for each lifecycle in examples/gallery, and an index of them.

With --check says which of it is stale, and changes nothing. Pages and index are deterministic and compared byte by
byte. Pictures are pixels of one machine: ``manifest.json`` says of which page each was taken, and which bytes it had.

``manifest.json`` has the format ``arrowproof.gallery/1``: ``pages`` holds for each name the ``sha256`` of the page and,
under ``pictures``, the SHA-256 of each picture by its theme.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import sys
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from jinja2 import Environment, FileSystemLoader, StrictUndefined
from markupsafe import Markup

from arrowproof.errors import ArrowproofError, InputError
from arrowproof.model.lifecycle import Lifecycle
from arrowproof.model.loader import load_lifecycle
from arrowproof.model.transitions import derive_transitions
from arrowproof.render.fit import check_pages
from arrowproof.render.fit_report import FitReport
from arrowproof.render.fit_screen import Screen
from arrowproof.render.page import FAVICON, render_page
from arrowproof.render.palette import palette_css
from arrowproof.render.policy import source_hash

TEMPLATES = Path(__file__).resolve().parent
GALLERY = TEMPLATES.parent / "examples" / "gallery"
INDEX, MANIFEST, FORMAT = "index.html", "manifest.json", "arrowproof.gallery/1"
MODEL_ENDING = ".lifecycle.json"

SCREENS = (Screen(1440, 900, "light"), Screen(1440, 900, "dark"))
PICTURE_WIDTH, PICTURE_HEIGHT = 720, 450
PICTURE_COLORS = 256
"""As many as a palette holds: with a quarter of them the tints of the states turn grey."""


@dataclass(frozen=True)
class Entry:
    """One lifecycle of the gallery, its page, and the names of its files beside each other."""

    name: str
    lifecycle: Lifecycle
    html: str

    @property
    def page(self) -> str:
        """The file name of the page."""
        return f"{self.name}.html"

    @property
    def model(self) -> str:
        """The file name of the lifecycle."""
        return self.name + MODEL_ENDING

    @property
    def pictures(self) -> Mapping[str, str]:
        """The file names of the pictures, by theme."""
        return {screen.theme: f"{self.name}.{screen.theme}.png" for screen in SCREENS}

    @property
    def title(self) -> str:
        """What the index calls it."""
        return self.lifecycle.title or self.name

    @property
    def summary(self) -> str:
        """The sentence under the title."""
        return self.lifecycle.summary or ""

    @property
    def counts(self) -> str:
        """How much of what there is, in words."""
        counted = (
            ("state", self.lifecycle.states),
            ("arrow", self.lifecycle.arrows),
            ("transition", derive_transitions(self.lifecycle)),
        )
        return ", ".join(f"{len(of)} {noun}{'' if len(of) == 1 else 's'}" for noun, of in counted)


def main(arguments: Sequence[str] | None = None) -> int:
    """Make the gallery, or compare; return the exit status."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--check", action="store_true", help="compare, change nothing, exit 1 when something is stale")
    parser.add_argument("folder", nargs="?", type=Path, default=GALLERY, help="where lifecycle files and pages stand")
    options = parser.parse_args(arguments)
    try:
        entries = read_entries(options.folder)
        return report_stale(options.folder, entries) if options.check else make_gallery(options.folder, entries)
    except ArrowproofError as error:
        print(error, file=sys.stderr)
        return error.exit_status


def read_entries(folder: Path) -> list[Entry]:
    """The lifecycles of a folder with their pages as they are today, by title."""
    paths = sorted(folder.glob("*" + MODEL_ENDING))
    if not paths:
        raise InputError(f"{folder} holds no file that ends in {MODEL_ENDING}")
    entries = []
    for path in paths:
        lifecycle = load_lifecycle(path)
        entries.append(Entry(path.name.removesuffix(MODEL_ENDING), lifecycle, render_page(lifecycle)))
    return sorted(entries, key=lambda entry: (entry.title.casefold(), entry.name))


def make_gallery(folder: Path, entries: Sequence[Entry]) -> int:
    """Write all pages, pictures, the index and the manifest; return 1 when a page does not fit its screen."""
    for entry in entries:
        (folder / entry.page).write_bytes(entry.html.encode())
    report = _take_pictures(folder, entries)
    (folder / INDEX).write_bytes(index_html(entries).encode())
    manifest = {"format": FORMAT, "pages": {entry.name: _manifest_row(folder, entry) for entry in entries}}
    (folder / MANIFEST).write_text(json.dumps(manifest, indent=2) + "\n", encoding="utf-8")
    made = [path for path in folder.iterdir() if path.suffix in (".html", ".png")]
    print(
        f"made {len(entries)} pages, {sum(path.stat().st_size for path in made) / 1000:.0f} kB with pictures and index"
    )
    for page in report.pages:
        if not page.fits:
            failures = page.all_failures
            print(f"{page.page} does not fit, {len(failures)} failures, the first: {failures[0]}", file=sys.stderr)
    return 0 if report.fits else 1


def _take_pictures(folder: Path, entries: Sequence[Entry]) -> FitReport:
    """Open each page in both themes and keep a small picture of each."""
    with tempfile.TemporaryDirectory() as temporary:
        report = check_pages([folder / entry.page for entry in entries], Path(temporary), screens=SCREENS)
        for entry, page in zip(entries, report.pages, strict=True):
            shots = {check.theme: check.screenshot for check in page.checks}
            for theme, name in entry.pictures.items():
                if not shots.get(theme):
                    raise InputError(f"{entry.page} gave no {theme} picture: {'; '.join(map(str, page.all_failures))}")
                _shrink(Path(temporary) / str(shots[theme]), folder / name)
    return report


def _shrink(shot: Path, picture: Path) -> None:
    from PIL import Image

    with Image.open(shot) as opened:
        small = opened.convert("RGB").resize((PICTURE_WIDTH, PICTURE_HEIGHT), Image.Resampling.LANCZOS)
    palette = small.quantize(PICTURE_COLORS, Image.Quantize.MEDIANCUT, dither=Image.Dither.NONE)
    palette.save(picture, optimize=True)


def _manifest_row(folder: Path, entry: Entry) -> dict[str, Any]:
    pictures = {theme: _sha256((folder / name).read_bytes()) for theme, name in entry.pictures.items()}
    return {"sha256": _sha256(entry.html.encode()), "pictures": pictures}


def index_html(entries: Sequence[Entry]) -> str:
    """The index page. It asks for nothing but the pictures beside it, and runs no script."""
    style = Markup(palette_css() + (TEMPLATES / "gallery-index.css").read_text(encoding="utf-8"))
    environment = Environment(loader=FileSystemLoader(TEMPLATES), autoescape=True, undefined=StrictUndefined)
    return environment.get_template("gallery-index.html.j2").render(
        policy=f"default-src 'none'; style-src {source_hash(style)}; img-src 'self' data:; base-uri 'none'",
        favicon=FAVICON,
        style=style,
        entries=entries,
        width=PICTURE_WIDTH,
        height=PICTURE_HEIGHT,
    )


def report_stale(folder: Path, entries: Sequence[Entry]) -> int:
    """Print which files of the gallery are stale; return 1 when any is."""
    stale = list(find_stale(folder, entries))
    for name, reason in stale:
        print(f"{name} {reason}. Make it anew: .venv/bin/python scripts/make-gallery.py")
    if not stale:
        print(f"the gallery is what the tool makes today: {len(entries)} pages")
    return 1 if stale else 0


def find_stale(folder: Path, entries: Sequence[Entry]) -> Iterator[tuple[str, str]]:
    """The names of stale files, each with what is wrong with it."""
    made = {entry.page: entry.html for entry in entries} | {INDEX: index_html(entries)}
    for name, html in made.items():
        if _content(folder / name) != html.encode():
            yield name, "is stale"
    rows = _manifest_pages(folder)
    for entry in entries:
        row = rows.get(entry.name, {})
        for theme, name in entry.pictures.items():
            if row.get("sha256") != _sha256(entry.html.encode()):
                yield name, "was taken of another page"
            elif row.get("pictures", {}).get(theme) != _sha256(_content(folder / name)):
                yield name, "is not the picture that was taken"
    known = {*made, *(name for entry in entries for name in entry.pictures.values())}
    for path in sorted(folder.glob("*.html")) + sorted(folder.glob("*.png")):
        if path.name not in known:
            yield path.name, "belongs to no lifecycle; remove it"


def _content(path: Path) -> bytes:
    return path.read_bytes() if path.is_file() else b""


def _manifest_pages(folder: Path) -> Mapping[str, Any]:
    """The rows of the manifest; none when it is missing or of another format."""
    try:
        manifest = json.loads(_content(folder / MANIFEST))
    except ValueError:
        return {}
    is_ours = isinstance(manifest, dict) and manifest.get("format") == FORMAT
    return dict(manifest["pages"]) if is_ours else {}


def _sha256(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()


if __name__ == "__main__":
    sys.exit(main())
