from __future__ import annotations

import json
import re
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


def test_a_page_that_fails_when_something_is_chosen_says_with_what(arrowproof, tmp_path):
    assert arrowproof("render", "notes", "-o", "page.html").status == 0
    page = tmp_path / "page.html"
    content = page.read_text(encoding="utf-8")
    small = content.replace("</style>", ".list button[aria-pressed=true]{font-size:.5rem}</style>", 1)
    page.write_text(re.sub(r"style-src &#39;sha256-.*?&#39;;", "style-src &#39;unsafe-inline&#39;;", small))
    result = arrowproof("fit", "page.html")
    assert result.status == 1
    assert "page.html does not fit: 8 of 8 checks hold" in result.out
    said = re.search(r"(\d+) of (\d+) choices do not hold at 1440x900", result.out)
    assert said is not None
    assert said[1] == said[2] != "0"  # the hardest arrow may be the one of the hardest transition
    assert "1440x900 light: text-size: #arrow=accept, text 'created' " in result.out
    receipt = (tmp_path / "arrowproof-out" / "fit" / "fit.json").read_text(encoding="utf-8")
    choices = json.loads(receipt)["pages"][0]["choices"]
    assert [bool(choice["failures"]) for choice in choices] == [True] * int(said[2])
    assert choices[-1]["fragment"].startswith("state=")


def test_a_missing_page_is_wrong_input(arrowproof):
    result = arrowproof("fit", "nowhere.html")
    assert result.status == 2
    assert "nowhere.html" in result.err


def test_many_faults_of_one_kind_are_counted_and_the_receipt_has_them_all(arrowproof, tmp_path):
    case = Path(__file__).parent.parent / "render" / "cases" / "order.json"
    assert arrowproof("render", str(case), "-o", "order.html").status == 0
    # As if it were to be read as it opens: its many states are too small for that.
    page = tmp_path / "order.html"
    content = page.read_text(encoding="utf-8")
    assert ' data-overview="true"' in content
    page.write_text(content.replace(' data-overview="true"', ""), encoding="utf-8")
    result = arrowproof("fit", "order.html")
    assert result.status == 1
    lines = [line for line in result.out.splitlines() if "text-size" in line]
    assert len(lines) == 6
    assert "more places, in the receipt" in lines[-1]
    receipt = json.loads((tmp_path / "arrowproof-out" / "fit" / "fit.json").read_text())
    assert len(receipt["pages"][0]["checks"][0]["failures"]) > 6


def test_an_overview_is_told_with_its_smallest_text_and_the_scenes_behind_it(arrowproof):
    case = Path(__file__).parent.parent / "render" / "cases" / "order.json"
    assert arrowproof("render", str(case), "-o", "order.html").status == 0
    result = arrowproof("fit", "order.html")
    assert result.status == 0
    assert re.search(
        r"overview, whose smallest text has [\d.]+ px \(states\) and [\d.]+ px \(arrows\) at 1440x900,", result.out
    )
    assert "30 of its 30 scenes hold at 1440x900" in result.out
