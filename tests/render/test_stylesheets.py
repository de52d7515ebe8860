"""What is planned or measured in Python and set in a stylesheet has one size in both."""

from __future__ import annotations

import re

import pytest

from arrowproof.render import bar, index, legend, proof_heights, quality, sheet
from arrowproof.render.assets import asset
from arrowproof.render.layout import lanes, sizes

SIZES = (
    ("sheet.css", ".draw", "min-height", "rem", sheet.MIN_DRAWING),
    ("sheet.css", ".legend", "font-size", "rem", legend.TEXT_SIZE),
    ("sheet.css", ".legend", "gap", "rem", legend.ROW_GAP),
    ("controls.css", ".bar", "font-size", "rem", bar.TEXT),
    ("controls.css", ".bar", "line-height", "rem", bar.LINE),
    ("column.css", ".index div", "grid-template-columns", "rem", index.NAME),
    ("proof.css", ".proof>div::before", "min-height", "rem", proof_heights.GAP),
    ("drawing.css", ".state .name", "font-size", "px", sizes.STATE_SIZE),
    ("drawing.css", ".state .name", "font-size", "px", quality.STATE_TEXT),
    ("drawing.css", ".state .name", "font-weight", "", sizes.STATE_WEIGHT),
    ("drawing.css", ".state .note", "font-size", "px", sizes.NOTE_SIZE),
    ("drawing.css", ".label text", "font-size", "px", sizes.LABEL_SIZE),
    ("drawing.css", ".label text", "font-size", "px", quality.LABEL_TEXT),
    ("drawing.css", ".label text", "font-weight", "", sizes.LABEL_WEIGHT),
    ("drawing.css", ".label .caption", "font-size", "px", sizes.CAPTION_SIZE),
    ("drawing.css", ".label .caption", "font-weight", "", sizes.CAPTION_WEIGHT),
    ("drawing.css", ".lane text", "font-size", "px", lanes.NAME_SIZE),
    ("drawing.css", ".lane text", "font-weight", "", lanes.NAME_WEIGHT),
)


def declared(file: str, selector: str, name: str, unit: str) -> float:
    """The first number of a declaration in the one rule of a selector that holds on every screen."""
    everywhere = re.sub(r"@media[^{]*\{(?:[^{}]*\{[^{}]*\})*\}", "", asset(file))
    rules = re.findall(rf"(?:^|\}}){re.escape(selector)}\{{([^}}]*)\}}", everywhere)
    assert len(rules) == 1
    found = re.search(rf"(?:^|;){name}:([\d.]+){unit}", rules[0])
    assert found is not None
    return float(found[1])


@pytest.mark.parametrize(("file", "selector", "name", "unit", "size"), SIZES)
def test_a_stylesheet_holds_the_size_that_is_planned(
    file: str, selector: str, name: str, unit: str, size: float
) -> None:
    assert declared(file, selector, name, unit) == size


def test_the_text_of_a_page_at_1440_by_900_is_as_large_as_the_plan_takes_it() -> None:
    found = re.search(r"html\{font-size:max\([\d.]+px,calc\(([\d.]+)px \+ ([\d.]+)\*min", asset("sheet.css"))
    assert found is not None
    assert float(found[1]) + float(found[2]) == sheet.REM
