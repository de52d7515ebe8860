"""A page that is open for the fit check: which screens it is shown in turn, and that each is measured as it is now."""

from __future__ import annotations

import base64
from itertools import pairwise
from pathlib import Path

import pytest

from arrowproof.render.chromium import run_chromium
from arrowproof.render.fit import LIMITS, SCREENS
from arrowproof.render.fit_measures import Geometry, read_geometry
from arrowproof.render.fit_screen import Screen, in_order_of_visit
from arrowproof.render.fit_scripts import MEASURE
from arrowproof.render.fit_visit import Visit, open_page
from arrowproof.render.fonts import FOLDER
from tests.render.fit_pages import good_with

ADD_FONT = """
async (data) => { document.fonts.add(await new FontFace('late', `url(data:font/woff2;base64,${data})`).load()); }
"""


def measured(visit: Visit) -> Geometry:
    return read_geometry(visit.evaluate(MEASURE, LIMITS))


@pytest.mark.parametrize("screens", [SCREENS, SCREENS[:1], SCREENS[:2], SCREENS[1:5]], ids=len)
def test_screens_are_visited_by_one_change_at_a_time_and_the_first_one_last(screens: tuple[Screen, ...]) -> None:
    order = in_order_of_visit(screens)
    assert sorted(order, key=screens.index) == list(screens)
    assert order[-1] == screens[0]
    assert all((one.size == other.size) != (one.theme == other.theme) for one, other in pairwise(order))


def test_letters_are_measured_anew_when_another_font_has_come(tmp_path: Path) -> None:
    page = tmp_path / "page.html"
    page.write_text(good_with("</style>", "text { font-family: late, monospace; }</style>"), encoding="utf-8")
    font = base64.b64encode((FOLDER / "sans-basic.woff2").read_bytes()).decode()
    with run_chromium() as browser, open_page(browser, page, page.read_bytes()) as visit:
        before = measured(visit)
        visit.evaluate(ADD_FONT, font)
        after = measured(visit)
    with run_chromium() as browser, open_page(browser, page, page.read_bytes()) as visit:
        visit.evaluate(ADD_FONT, font)
        fresh = measured(visit)
    assert before != after == fresh


def test_a_theme_and_a_size_are_shown_that_come_back(tmp_path: Path) -> None:
    page = tmp_path / "page.html"
    page.write_text("<!doctype html><title>Page</title>", encoding="utf-8")
    look = "async () => [innerWidth, innerHeight, matchMedia('(prefers-color-scheme: dark)').matches]"
    shown = [SCREENS[0], SCREENS[1], SCREENS[7], SCREENS[6], SCREENS[0], SCREENS[0]]
    with run_chromium() as browser, open_page(browser, page, page.read_bytes()) as visit:
        for screen in shown:
            visit.show(screen.width, screen.height, screen.theme)
            assert visit.evaluate(look, None) == [screen.width, screen.height, screen.theme == "dark"]


def test_a_page_opens_on_the_first_screen_that_it_is_looked_at_on(tmp_path: Path) -> None:
    page = tmp_path / "page.html"
    note = "`${innerWidth} ${innerHeight} ${matchMedia('(prefers-color-scheme: dark)').matches}`"
    page.write_text(f"<!doctype html><title>Page</title><script>document.title = {note}</script>", encoding="utf-8")
    first = Screen(2048, 1320, "dark")
    with run_chromium() as browser, open_page(browser, page, page.read_bytes(), first=first) as visit:
        assert visit.evaluate("async () => document.title", None) == "2048 1320 true"


def test_a_function_is_kept_in_the_page_and_told_apart_from_every_other(tmp_path: Path) -> None:
    page = tmp_path / "page.html"
    page.write_text("<!doctype html><title>Page</title>", encoding="utf-8")
    counter, other = ("(() => { let calls = 0; return async (by) => (calls += by); })()", "async (by) => -by")
    with run_chromium() as browser, open_page(browser, page, page.read_bytes()) as visit:
        assert [visit.evaluate(script, 2) for script in (counter, other, counter)] == [2, -2, 4]
