"""Overviews of very many states without groups, as the fit check sees them."""

from __future__ import annotations

from pathlib import Path

import pytest

from arrowproof.render.chromium import run_chromium
from arrowproof.render.fit import LIMITS, SCREENS
from arrowproof.render.fit_measures import read_geometry
from arrowproof.render.fit_screen import judge_screen
from arrowproof.render.fit_scripts import MEASURE
from arrowproof.render.fit_visit import open_page
from arrowproof.render.page import render_page
from tests.render.dense_models import dense
from tests.render.pages import unpacked


@pytest.mark.parametrize(("shape", "count"), [("chain", 100), ("hub", 46), ("mesh", 80)])
def test_an_overview_of_very_many_states_holds_on_every_screen_and_says_where_labels_are(
    tmp_path: Path, shape: str, count: int
) -> None:
    file = render_page(dense(shape, count))
    page = unpacked(file)
    opened = page[: page.index('data-fragment="#')]
    assert f"{count} states and {2 * count + 1} arrows. Labels are in the focus views." in opened
    assert "Open a state for its own, labelled." in page
    with run_chromium() as browser, open_page(browser, tmp_path / "page.html", file.encode()) as visit:
        for screen in SCREENS:
            visit.show(screen.width, screen.height, screen.theme)
            geometry = read_geometry(visit.evaluate(MEASURE, LIMITS))
            check = judge_screen(screen, geometry, visit.screenshot(), tmp_path / "screen.png").check
            assert [str(failure) for failure in check.failures] == []
            assert check.measures is not None
            assert check.measures.overview
            assert check.measures.smallest_label is None
