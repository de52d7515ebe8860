from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
from playwright.sync_api import Page

from arrowproof.model.lifecycle import Panel
from arrowproof.render.page import render_page
from arrowproof.render.panel_heights import panels_height
from arrowproof.render.ruler import Ruler
from tests.render.pages import NOTES, grid_drawing, show

FOLDED = {
    "many titles of some words": [f"Panel number {number}" for number in range(50)],
    "many short titles": [f"P{number}" for number in range(50)],
    "titles that fill their lines": [f"A title of many words with number {number}" for number in range(12)],
}
SIZE = """() => {
  const rem = parseFloat(getComputedStyle(document.documentElement).fontSize);
  return [...document.querySelectorAll('aside .panels:has(.fold)')]
    .map(({offsetWidth, offsetHeight}) => [offsetWidth / rem, offsetHeight / rem]);
}"""


@pytest.mark.parametrize("titles", FOLDED.values(), ids=FOLDED)
def test_panels_behind_folds_take_no_more_than_the_height_that_is_planned_for_them(
    tab: Page, tmp_path: Path, titles: list[str]
) -> None:
    panels = tuple(Panel(title, ("Some words of it. " * 20,)) for title in titles)
    lifecycle = replace(NOTES, panels=panels)
    tab.set_viewport_size({"width": 1440, "height": 900})
    show(tab, tmp_path, render_page(lifecycle, grid_drawing(lifecycle)))
    ((width, height),) = tab.evaluate(SIZE)
    assert height <= panels_height(panels, width, True, Ruler()) < height + 2.0
