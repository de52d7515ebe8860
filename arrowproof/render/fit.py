"""The fit check: does a page stand on one screen, at four sizes and in two themes, so that everything can be read?

One browser opens each page and shows it on eight screens. What it measured of one screen is judged in a second thread
while it works on the next: places and sizes in :mod:`arrowproof.render.fit_rules`, pixels in
:mod:`arrowproof.render.fit_pixels`. How an untrusted page is opened stands in :mod:`arrowproof.render.fit_visit`.
"""

from __future__ import annotations

import hashlib
import os
from collections.abc import Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import ExitStack
from dataclasses import dataclass
from importlib.resources import files
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING

from arrowproof.errors import InputError
from arrowproof.model.progress import Progress
from arrowproof.render.chromium import open_browser
from arrowproof.render.contact_sheet import write_contact_sheet
from arrowproof.render.fit_measures import read_geometry
from arrowproof.render.fit_report import RECEIPT, FitReport, PageFit
from arrowproof.render.fit_rules import Failure
from arrowproof.render.fit_screen import JudgedScreen, Screen, judge_screen, judge_themes
from arrowproof.render.fit_visit import DEADLINE, PageError, Visit, open_page

if TYPE_CHECKING:
    from playwright.sync_api import Browser

SIZES = ((1440, 900), (1600, 1000), (1920, 1080), (2048, 1320))
THEMES = ("light", "dark")
SCREENS = tuple(Screen(width, height, theme) for width, height in SIZES for theme in THEMES)
"""What every page is looked at on."""

MAX_PAGE_BYTES = 32 * 1024 * 1024
MAX_STEM_BYTES = 200
"""How much of a page's name the names of its pictures begin with: no file system has names of more than 255 bytes."""
MAX_TEXTS = 5000
MAX_POINTS = 2000
MAX_SIGN = 32
"""Largest side, in CSS px, of what counts as a sign on an arrow's line: its head, its bead."""


@dataclass(frozen=True)
class _Source:
    """A page to check: its path as it was named, its bytes, and the stem of the names of its pictures."""

    path: Path
    content: bytes
    stem: str


def check_pages(
    paths: Sequence[Path],
    folder: Path,
    progress: Progress | None = None,
    *,
    screens: Sequence[Screen] = SCREENS,
    deadline: float = DEADLINE,
) -> FitReport:
    """Check every page on every screen; write screenshots, contact sheets and the receipt.

    Args:
        paths: the HTML files.
        folder: where the pictures and the receipt go; it is made when it is missing.
        progress: told of each check before it is made, and of the end.
        screens: what each page is looked at on; the fit check is all of :data:`SCREENS`.
        deadline: how long one page may keep the browser, in seconds.

    Raises:
        InputError: a path is missing, a folder, no HTML, or too large; there is no path; or a picture or the receipt
            cannot be written.
        MissingEnvironmentError: there is no Chromium.
    """
    if not paths:
        raise InputError("No page to check: name at least one HTML file")
    sources = [_Source(path, _read_page(path), stem) for path, stem in zip(paths, _stems(paths), strict=True)]
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise InputError(f"{folder} cannot be made a folder for the screenshots: {error.strerror}") from error
    tell = progress or (lambda _what, _done, _total: None)
    try:
        # A run that breaks off leaves no verdict, not even that of the run before.
        (folder / RECEIPT).unlink(missing_ok=True)
        with ThreadPoolExecutor(max_workers=1) as judge, _Browsers() as browsers:
            checker = _Checker(folder, browsers, judge, screens, deadline, tell, len(sources) * len(screens))
            pages = tuple(checker.check(source) for source in sources)
            version = browsers.version
        tell("done", checker.total, checker.total)
        report = FitReport(chromium=version, pages=pages, receipt=folder / RECEIPT)
        report.write()
    except OSError as error:
        raise InputError(f"{error.filename or folder} cannot be written: {error.strerror or error}") from error
    return report


class _Browsers:
    """One browser for all pages; only a page that brings it down makes the next one start anew."""

    def __init__(self) -> None:
        self._stack = ExitStack()
        self._browser: Browser | None = None
        self.version = ""

    def __enter__(self) -> _Browsers:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self._stack.__exit__(kind, error, traceback)

    def get(self) -> Browser:
        """The running browser, started when there is none."""
        if self._browser is None:
            self._browser = self._stack.enter_context(open_browser())
            self.version = self._browser.version
        return self._browser

    def drop(self) -> None:
        """End the browser, if there is one."""
        self._browser = None
        self._stack.close()


class _Checker:
    """Checks pages one after the other, with one browser and one thread that judges."""

    def __init__(
        self,
        folder: Path,
        browsers: _Browsers,
        judge: ThreadPoolExecutor,
        screens: Sequence[Screen],
        deadline: float,
        tell: Progress,
        total: int,
    ) -> None:
        self._folder, self._browsers, self._judge = folder, browsers, judge
        self._screens, self._deadline = screens, deadline
        self._tell, self._done, self.total = tell, 0, total
        self._script = files("arrowproof.render").joinpath("measure.js").read_text(encoding="utf-8")

    def check(self, source: _Source) -> PageFit:
        """One page on every screen; a page that cannot be looked at has the checks that were made until then."""
        pending: list[Future[JudgedScreen]] = []
        failures: list[Failure] = []
        begun = self._done
        try:
            with open_page(self._browsers.get(), source.path, source.content, self._deadline) as visit:
                for screen in self._screens:
                    self._tell(f"{source.path.name} {screen}", self._done, self.total)
                    pending.append(self._look(visit, screen, source.stem))
                    self._done += 1
                failures += visit.failures()
        except PageError as error:
            self._browsers.drop()
            failures.append(Failure("limits", "page", str(error)))
        self._done = begun + len(self._screens)
        return self._conclude(source, failures, [future.result() for future in pending])

    def _look(self, visit: Visit, screen: Screen, stem: str) -> Future[JudgedScreen]:
        """Show one screen, measure and photograph it, and have it judged while the next one is shown."""
        visit.show(screen.width, screen.height, screen.theme)
        limits = {"texts": MAX_TEXTS, "points": MAX_POINTS, "sign": MAX_SIGN}
        geometry = read_geometry(visit.evaluate(self._script, limits))
        path = self._folder / f"{stem}.{screen.size}.{screen.theme}.png"
        return self._judge.submit(judge_screen, screen, geometry, visit.screenshot(), path)

    def _conclude(self, source: _Source, failures: list[Failure], judged: list[JudgedScreen]) -> PageFit:
        """What the checks of one page come to, with its contact sheet: one theme after the other."""
        sheet = f"{source.stem}.contact.png" if judged else None
        if sheet:
            tiles = [item.tile for theme in THEMES for item in judged if item.screen.theme == theme]
            write_contact_sheet(tiles, self._folder / sheet)
        return PageFit(
            page=str(source.path),
            sha256=hashlib.sha256(source.content).hexdigest(),
            checks=tuple(item.check for item in judged),
            contact_sheet=sheet,
            failures=(*failures, *judge_themes(judged)),
        )


def _stems(paths: Sequence[Path]) -> Iterator[str]:
    """A name for each page's pictures; a page whose name was there before gets a number."""
    seen: set[str] = set()
    for path in paths:
        encoded = os.fsencode(path.stem)
        stem = path.stem if len(encoded) <= MAX_STEM_BYTES else encoded[:MAX_STEM_BYTES].decode(errors="ignore")
        name = next(name for name in (stem, *(f"{stem}-{n}" for n in range(2, len(paths) + 2))) if name not in seen)
        seen.add(name)
        yield name


def _read_page(path: Path) -> bytes:
    """The bytes of a page that is a file, of a size that can be checked, and HTML."""
    try:
        if path.is_dir():
            raise InputError(f"{path} is a folder: name an HTML file in it")
        if path.exists() and not path.is_file():
            raise InputError(f"{path} is a device or a pipe: name an HTML file")
        with path.open("rb") as file:
            content = file.read(MAX_PAGE_BYTES + 1)
    except FileNotFoundError:
        raise InputError(f"{path} does not exist: name an HTML file, such as one that `render` wrote") from None
    except OSError as error:
        raise InputError(f"{path} cannot be read: {error.strerror}") from error
    if len(content) > MAX_PAGE_BYTES:
        raise InputError(f"{path} is larger than {MAX_PAGE_BYTES // 2**20} MiB, the most that is checked")
    head = content[:4096].removeprefix(b"\xef\xbb\xbf").lstrip().lower()
    if path.suffix.lower() not in (".html", ".htm") or not head.startswith((b"<!doctype html", b"<html", b"<!--")):
        raise InputError(f"{path} is no HTML file: name one that ends in .html and begins with <!doctype html>")
    return content
