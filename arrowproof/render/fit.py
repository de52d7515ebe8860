"""The fit check: does a page stand on one screen, at four sizes and in two themes, so that everything can be read?

One browser opens each page and shows it on eight screens, two pages at a time. What it measured of one screen is judged
in other threads while it works on the next: places and sizes in :mod:`arrowproof.render.fit_rules`, pixels in
:mod:`arrowproof.render.fit_pixels`. The smallest screen comes last, and is looked at again: for the scenes of a page
that has some (:mod:`arrowproof.render.fit_scenes`), and for a few choices on any other
(:mod:`arrowproof.render.fit_choices`). How an untrusted page is opened stands in :mod:`arrowproof.render.fit_visit`.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Sequence
from concurrent.futures import CancelledError, Future, ThreadPoolExecutor, wait
from contextlib import ExitStack, suppress
from pathlib import Path
from threading import Lock, Thread

from arrowproof.errors import InputError
from arrowproof.model.progress import Progress
from arrowproof.model.record import record
from arrowproof.render.chromium import RunningChromium, run_chromium
from arrowproof.render.contact_sheet import write_contact_sheet
from arrowproof.render.fit_choices import hardest_choices, judge_choices, judge_inks, read_choices, told_once
from arrowproof.render.fit_measures import Geometry, read_geometry
from arrowproof.render.fit_report import RECEIPT, Check, FitReport, PageFit, SceneFit
from arrowproof.render.fit_rules import Failure
from arrowproof.render.fit_scenes import judge_scenes
from arrowproof.render.fit_screen import (
    JudgedScreen,
    Screen,
    in_order_of_visit,
    judge_scene,
    judge_screen,
    judge_themes,
    prepare_to_judge,
)
from arrowproof.render.fit_scripts import CHOOSE, MEASURE
from arrowproof.render.fit_sources import Source, read_sources
from arrowproof.render.fit_visit import DEADLINE, LostError, PageError, Visit, open_page
from arrowproof.render.quality import MAX_SCENES

SIZES = ((1440, 900), (1600, 1000), (1920, 1080), (2048, 1320))
THEMES = ("light", "dark")
SCREENS = tuple(Screen(width, height, theme) for width, height in SIZES for theme in THEMES)
"""What every page is looked at on."""

PAGES_AT_ONCE = 2
"""One page is shown and measured while the picture of another is encoded; more of them only wait for each other."""
JUDGES = 2
"""Threads that judge: most of it is the picture library's work, which holds up no other thread."""
CHOICE_PICTURES = 1
"""How many choices of a page are judged by their pixels, too, which is two thirds of the work. What asks most of the
page comes first, and the others are there for their places and sizes."""
_RECEIPT_FORMAT = b"arrowproof.fit/"
"""What stands at the head of every receipt, whatever its version."""
LIMITS = {
    "texts": 5000,
    "points": 2000,
    "sign": 32,
    "picture": 64,
    "squeezed": 0.7,
    "keys": 1000,
    "scenes": MAX_SCENES,
    "choices": 64,
    "address": 8000,
}
"""What is measured of a page at most: texts, points of a line, CSS px of a sign on an arrow's line (its head, its
bead) and of a picture, states in one folded group or arrows in one bundle, scenes, choices that are tried, characters
of an address. A text that takes less than the ``squeezed`` share of what its letters take cannot be read."""


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
        InputError: a path is missing, a folder, no HTML, or too large; there is no path; a picture or the receipt
            cannot be written; or a file with the receipt's name is there that is none.
        MissingEnvironmentError: there is no Chromium.
    """
    sources = read_sources(paths)
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise InputError(f"{folder} cannot be made a folder for the screenshots: {error.strerror}") from error
    steps = _Steps(progress, len(sources) * len(screens))
    try:
        # A run that breaks off leaves no verdict, not even that of the run before.
        _remove_receipt(folder / RECEIPT)
        with ThreadPoolExecutor(max_workers=JUDGES) as judges, _Browsers() as browsers:
            browser = browsers.get()
            judges.submit(prepare_to_judge)  # while the browser starts
            version = browser.version()
            pages = _Checker(folder, browsers, judges, screens, deadline, steps).check_all(sources)
        steps.end()
        report = FitReport(chromium=version, pages=pages, receipt=folder / RECEIPT)
        report.write()
    except OSError as error:
        raise InputError(f"{error.filename or folder} cannot be written: {error.strerror or error}") from error
    return report


def _remove_receipt(path: Path) -> None:
    """Remove the receipt of the run before; a file that is none stays."""
    if path.is_file():
        with path.open("rb") as file:
            head = file.read(4096)
        if head and _RECEIPT_FORMAT not in head:
            raise InputError(
                f"{path} is there and is no receipt of `arrowproof fit`. Move it away, or name another --out"
            )
    path.unlink(missing_ok=True)


class _Browsers:
    """One browser for all pages; only a page that brings it down makes the next one start anew."""

    def __init__(self) -> None:
        self._lock = Lock()
        self._stack = ExitStack()
        self._browser: RunningChromium | None = None
        self._is_closed = False

    def __enter__(self) -> _Browsers:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def get(self) -> RunningChromium:
        """The running browser, started when there is none."""
        with self._lock:
            if self._is_closed:
                raise LostError("was not looked at")
            if self._browser is None or self._browser.tools.is_over:
                self._stack.close()
                self._browser = self._stack.enter_context(run_chromium())
            return self._browser

    def close(self) -> None:
        """End the browser for good: who still waits for it is let go."""
        with self._lock:
            self._is_closed = True
            self._stack.close()


@record
class _Visited:
    """A page that was looked at, with what is judged of it meanwhile."""

    source: Source
    failures: list[Failure]
    judged: list[Future[JudgedScreen]]
    scenes: dict[str, Future[Check]]
    choices: dict[str, Future[Check]]


class _Checker:
    """Checks pages, some at once, with one browser and a few threads that judge."""

    def __init__(
        self,
        folder: Path,
        browsers: _Browsers,
        judges: ThreadPoolExecutor,
        screens: Sequence[Screen],
        deadline: float,
        steps: _Steps,
    ) -> None:
        self._folder, self._browsers, self._judges = folder, browsers, judges
        self._screens, self._deadline, self._steps = screens, deadline, steps

    def check_all(self, sources: Sequence[Source]) -> tuple[PageFit, ...]:
        """Every page, in the order given. One whose browser was brought down beside it is looked at again, alone."""
        pool = ThreadPoolExecutor(max_workers=PAGES_AT_ONCE)
        visits = [pool.submit(self._visit_beside, source) for source in sources]
        ending = Thread(target=self._end_after, args=(visits,), name="fit ending")
        ending.start()
        try:
            found = [self._conclude(visited) if (visited := visit.result()) else None for visit in visits]
        except BaseException:
            self._browsers.close()
            raise
        finally:
            pool.shutdown(cancel_futures=True)
            ending.join()
        return tuple(page or self._conclude(self._visit(source)) for page, source in zip(found, sources, strict=True))

    def _end_after(self, visits: Sequence[Future[_Visited | None]]) -> None:
        """End the browser when nobody needs it any more, while the last pictures are judged."""
        with suppress(CancelledError):
            if all(visit.exception() is None and visit.result() for visit in visits):
                self._browsers.close()

    def _visit_beside(self, source: Source) -> _Visited | None:
        """One page, None when another one may have ended its browser."""
        try:
            return self._visit(source, is_alone=False)
        except LostError:
            return None

    def _visit(self, source: Source, *, is_alone: bool = True) -> _Visited:
        """One page on every screen; a page that cannot be looked at has the checks that were made until then."""
        judged: dict[Screen, Future[JudgedScreen]] = {}
        scenes: dict[str, Future[Check]] = {}
        choices: dict[str, Future[Check]] = {}
        failures: list[Failure] = []
        try:
            order = in_order_of_visit(self._screens)
            with open_page(self._browsers.get(), source.path, source.content, self._deadline, order[0]) as visit:
                for screen in order:
                    self._steps.tell(f"{source.path.name} {screen}")
                    visit.show(screen.width, screen.height, screen.theme)
                    geometry, picture = self._measure(visit), visit.screenshot()
                    path = self._folder / f"{source.stem}.{screen.size}.{screen.theme}.png"
                    judged[screen] = self._judges.submit(judge_screen, screen, geometry, picture, path)
                if geometry.scenes:
                    failures += self._look_at_scenes(visit, source, geometry, scenes)
                else:
                    failures += self._look_at_choices(visit, source, choices)
                failures += visit.failures()
        except PageError as error:
            if isinstance(error, LostError) and not is_alone:
                self._steps.skip(-len(judged))
                wait(judged.values())  # they write the pictures that will be written again
                raise
            self._steps.skip(len(self._screens) - len(judged))
            failures += [*error.heard, Failure("limits", "page", str(error))]
        in_order = [judged[screen] for screen in self._screens if screen in judged]
        return _Visited(source, failures, in_order, scenes, choices)

    def _look_at_scenes(
        self, visit: Visit, source: Source, opened: Geometry, judged: dict[str, Future[Check]]
    ) -> Iterator[Failure]:
        """Go to every scene of a page, on the smallest screen, which is shown; judge each, and all of them together."""
        return judge_scenes(opened, self._go_to_each(visit, f"{source.path.name} scene", opened.scenes, judged))

    def _look_at_choices(self, visit: Visit, source: Source, judged: dict[str, Future[Check]]) -> Iterator[Failure]:
        """Choose all on the smallest screen, which is shown, and look at what asks most of the page; judge each."""
        choices = read_choices(visit.evaluate(CHOOSE, LIMITS))
        addresses = hardest_choices(choices)
        what = f"{source.path.name} choice"
        yield from judge_choices(self._go_to_each(visit, what, addresses, judged, pictures=CHOICE_PICTURES))
        yield from judge_inks(choices, pictured=addresses[:CHOICE_PICTURES])

    def _go_to_each(
        self,
        visit: Visit,
        what: str,
        addresses: Sequence[str],
        judged: dict[str, Future[Check]],
        pictures: int = MAX_SCENES,
    ) -> dict[str, Geometry]:
        """What each of these addresses shows; have it judged, the first ``pictures`` of them by their pixels, too."""
        seen: dict[str, Geometry] = {}
        for number, address in enumerate(addresses, 1):
            self._steps.tell_within(f"{what} {number} of {len(addresses)}: #{address}")
            visit.go_to(address)
            seen[address] = self._measure(visit)
            picture = visit.screenshot() if number <= pictures else None
            judged[address] = self._judges.submit(judge_scene, self._screens[0], seen[address], picture, address)
        return seen

    def _measure(self, visit: Visit) -> Geometry:
        """What stands where in what is shown."""
        return read_geometry(visit.evaluate(MEASURE, LIMITS))

    def _conclude(self, visited: _Visited) -> PageFit:
        """What the checks of one page come to, with its contact sheet: one theme after the other."""
        judged = [future.result() for future in visited.judged]
        sheet = f"{visited.source.stem}.contact.png" if judged else None
        if sheet:
            tiles = [item.tile for theme in THEMES for item in judged if item.screen.theme == theme]
            write_contact_sheet(tiles, self._folder / sheet)
        return PageFit(
            page=str(visited.source.path),
            sha256=hashlib.sha256(visited.source.content).hexdigest(),
            checks=tuple(item.check for item in judged),
            contact_sheet=sheet,
            failures=(*visited.failures, *judge_themes(judged)),
            scenes=tuple(SceneFit(address, future.result()) for address, future in visited.scenes.items()),
            choices=tuple(
                SceneFit(address, told_once(address, future.result(), judged[0].check))
                for address, future in visited.choices.items()
            ),
        )


class _Steps:
    """Tells how far a check of several pages has come, from whichever thread."""

    def __init__(self, progress: Progress | None, total: int) -> None:
        self._progress, self._total, self._done = progress, total, 0
        self._lock = Lock()

    def tell(self, what: str) -> None:
        """One step more is begun."""
        with self._lock:
            self._say(what)
            self._done += 1

    def tell_within(self, what: str) -> None:
        """A part of the last step is begun: how many scenes a page has is not known before it is open."""
        with self._lock:
            self._say(what)

    def _say(self, what: str) -> None:
        if self._progress:
            self._progress(what, min(self._done, self._total - 1), self._total)

    def skip(self, steps: int) -> None:
        """Some steps will not be made; or, when negative, are made again."""
        with self._lock:
            self._done += steps

    def end(self) -> None:
        """All is done."""
        if self._progress:
            self._progress("done", self._total, self._total)
