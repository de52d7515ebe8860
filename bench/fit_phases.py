"""Where the time of `fit` on one page goes: each phase by itself, one after the other, nothing at once.

.venv/bin/python bench/fit_phases.py PAGE.html [--rounds N]

`fit` itself judges in a second thread and starts to judge while the browser works, so that it takes less than the sum.
"""

from __future__ import annotations

import argparse
import statistics
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory

from arrowproof.render.chromium import run_chromium
from arrowproof.render.contact_sheet import write_contact_sheet
from arrowproof.render.fit import LIMITS, SCREENS
from arrowproof.render.fit_measures import read_geometry
from arrowproof.render.fit_screen import in_order_of_visit, judge_screen, prepare_to_judge
from arrowproof.render.fit_scripts import MEASURE
from arrowproof.render.fit_visit import open_page


class Phases:
    """The seconds of each phase, by round."""

    def __init__(self) -> None:
        self.rounds: list[dict[str, float]] = []

    @contextmanager
    def phase(self, name: str) -> Iterator[None]:
        begun = time.perf_counter()
        yield
        spent = self.rounds[-1]
        spent[name] = spent.get(name, 0.0) + time.perf_counter() - begun


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("page", type=Path)
    parser.add_argument("--rounds", type=int, default=5)
    options = parser.parse_args()
    phases = Phases()
    for _ in range(options.rounds):
        phases.rounds.append({})
        with TemporaryDirectory() as folder:
            _round(phases, options.page, Path(folder))
    print(f"{'phase':<44}{'median ms':>10}{'least ms':>10}")
    for name in phases.rounds[0]:
        taken = [spent[name] * 1000 for spent in phases.rounds]
        print(f"{name:<44}{statistics.median(taken):>10.0f}{min(taken):>10.0f}")


def _round(phases: Phases, path: Path, folder: Path) -> None:
    prepare_to_judge()
    running = run_chromium()
    with phases.phase("start the browser"):
        browser = running.__enter__()
        browser.version()
    opening = open_page(browser, path, path.read_bytes())
    with phases.phase("open the page"):
        visit = opening.__enter__()
    tiles = []
    for screen in in_order_of_visit(SCREENS):
        with phases.phase("8 x take size and theme"):
            visit.show(screen.width, screen.height, screen.theme)
        with phases.phase("8 x measure"):
            geometry = read_geometry(visit.evaluate(MEASURE, LIMITS))
        with phases.phase("8 x screenshot"):
            picture = visit.screenshot()
        with phases.phase("8 x judge, and write the picture"):
            tiles.append(judge_screen(screen, geometry, picture, folder / f"{screen.size}.{screen.theme}.png").tile)
    with phases.phase("hear what is put off"):
        visit.failures()
    with phases.phase("contact sheet"):
        write_contact_sheet(tiles, folder / "sheet.png")
    with phases.phase("end the browser"):
        opening.__exit__(None, None, None)
        running.__exit__(None, None, None)


if __name__ == "__main__":
    main()
