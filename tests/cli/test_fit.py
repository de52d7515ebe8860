from __future__ import annotations

import json
from pathlib import Path

BROKEN = Path(__file__).parent.parent / "render" / "broken"


def test_the_bundled_page_fits_at_all_sizes_in_both_themes(arrowproof, tmp_path):
    assert arrowproof("render", "notes", "-o", "page.html").status == 0
    result = arrowproof("fit", "page.html", "--json")
    assert result.status == 0
    receipt = json.loads(result.out)
    assert receipt["verdict"] == "fits"
    assert len(list((tmp_path / "arrowproof-out" / "fit").glob("page.*x*.png"))) == 8


def test_a_broken_page_fails_with_the_place_named(arrowproof):
    result = arrowproof("fit", str(BROKEN / "scroll.html"))
    assert result.status == 1
    assert "does not fit" in result.out
    assert "1440x900 light: scroll" in result.out


def test_a_missing_page_is_wrong_input(arrowproof):
    result = arrowproof("fit", "nowhere.html")
    assert result.status == 2
    assert "nowhere.html" in result.err
