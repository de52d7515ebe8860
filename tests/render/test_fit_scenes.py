"""The fit check on pages that hold several drawings: an overview, and scenes that the address of the page leads to."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path

import pytest

from arrowproof.render import fit
from arrowproof.render.fit import SCREENS, check_pages
from arrowproof.render.fit_measures import Geometry
from arrowproof.render.fit_report import FitReport
from arrowproof.render.fit_scenes import judge_scenes
from tests.render.fit_pages import failures_of

PAGE = """<!doctype html>
<html lang="en" data-overview="true">
<head>
<meta charset="utf-8">
<title>Scenes</title>
<style>
html, body {{ margin: 0; height: 100%; overflow: hidden; background: #fcfcfb; font-family: sans-serif; }}
svg {{ position: absolute; inset: 0; width: 1440px; height: 900px; }}
svg[hidden] {{ display: none; }}
rect {{ fill: #fff; stroke: #33404d; }}
text {{ fill: #14171a; }}
path {{ fill: none; stroke: #33404d; stroke-width: 1.5px; }}
@media (prefers-color-scheme: dark) {{
  html, body {{ background: #101214; }}
  rect {{ fill: #181b1f; stroke: #9aa5b1; }}
  text {{ fill: #eceff2; }}
  path {{ stroke: #9aa5b1; }}
}}
</style>
</head>
<body>
{drawings}
<script>
addEventListener('hashchange', () => {{
  const drawings = [...document.querySelectorAll('svg')];
  const shown = drawings.find((drawing) => drawing.dataset.fragment === location.hash) ?? drawings[0];
  for (const drawing of drawings) drawing.toggleAttribute('hidden', drawing !== shown);
}});
</script>
</body>
</html>
"""
SMALL, LARGE = 8, 16


def drawing(states: Sequence[int], size: int, fragment: str | None = None) -> str:
    """Boxes in rows of five, and an arrow from the first to the second."""

    def place(index: int) -> tuple[int, int]:
        return 60 + index % 5 * 260, 60 + index // 5 * 110

    boxes = "".join(
        f'<g data-state="s{state}"><rect class="box" x="{x}" y="{y}" width="180" height="60"/>'
        f'<text x="{x + 20}" y="{y + 35}" font-size="{size}">State {state}</text></g>'
        for state, (x, y) in zip(states, map(place, range(len(states))), strict=True)
    )
    arrow = (
        f'<g data-arrow="a{states[0]}" data-from="s{states[0]}" data-to="s{states[1]}">'
        f'<path class="line" d="M240 90H320"/><text x="255" y="80" font-size="{size}">next</text></g>'
    )
    address = f'data-fragment="{fragment}" hidden' if fragment else ""
    return (
        f'<svg class="drawing" data-scene="{fragment or "whole"}" viewBox="0 0 1440 900" {address}>{boxes}{arrow}</svg>'
    )


def page(count: int = 20, overview: int = SMALL, scenes: int = LARGE) -> str:
    """An overview of some states, and behind it two scenes with a half of them each."""
    states = range(count)
    halves = (
        drawing(states[: count // 2], scenes, "#state=first"),
        drawing(states[count // 2 :], scenes, "#group=%C3%A9"),
    )
    # The second half has an arrow of its own, which the overview does not draw.
    return PAGE.format(drawings="\n".join((drawing(states, overview), *halves)))


def changed(old: str, new: str, content: str | None = None) -> str:
    content = content or page()
    assert old in content
    return content.replace(old, new, 1)


SMALL_SCENES = page(scenes=10)
LOUD = changed(
    "</body>",
    "<script>addEventListener('hashchange', () => { console.error('not right'); fetch('https://example.com/a'); });"
    "</script></body>",
)
FEW = page(count=15)
NOT_CALLED = changed(' data-overview="true"', "")
BESIDE = changed("<script>", '<p style="font-size: 9px">beside</p><script>')
LACKING = changed(drawing(range(10), LARGE, "#state=first"), drawing(range(1, 10), LARGE, "#state=first"))
KEYS = " ".join(f"s{number}" for number in range(60, 80))
FOLDED = page(count=6).replace('<g data-state="s0">', f'<g data-state="s0" data-group="g" data-keys="{KEYS}">')
ELSEWHERE = changed("=== location.hash", "=== '#state=first'")
UNADDRESSED = changed("</svg>", "</svg><svg class='drawing' hidden></svg>")
SEEN = changed("svg[hidden] { display: none; }", "")
STYLED = [
    (changed("</style>", f"{style}</style>"), failure)
    for style, failure in [
        ("svg[data-fragment] text { fill: #ddd; }", "contrast: #state=first, state 's0'"),
        ("svg[data-fragment] { left: -90px; }", "scroll: #state=first, "),
        ("svg[data-fragment] rect { width: 30px; }", "text-clipped: #state=first, state 's0'"),
        ("svg[data-fragment] g + g text { opacity: 0; }", "hidden: #state=first, "),
    ]
]
PAGES = [
    *(SMALL_SCENES, LOUD, FEW, NOT_CALLED, BESIDE, LACKING, FOLDED, ELSEWHERE, UNADDRESSED, SEEN),
    *(each for each, _ in STYLED),
]

Found = Mapping[str, list[str]]
"""What the check says of each page, by its text."""


@pytest.fixture(scope="module")
def found(tmp_path_factory: pytest.TempPathFactory) -> Found:
    """Every page that is broken somewhere, in one browser."""
    return failures_of(PAGES, tmp_path_factory.mktemp("scenes"))


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> FitReport:
    """The page that holds, on all eight screens."""
    folder = tmp_path_factory.mktemp("whole")
    file = folder / "page.html"
    file.write_text(page(), encoding="utf-8")
    return check_pages([file], folder / "out", screens=SCREENS)


def test_an_overview_with_small_text_fits_when_every_scene_can_be_read(whole: FitReport) -> None:
    assert whole.pages[0].all_failures == ()
    assert whole.fits
    assert [scene.fragment for scene in whole.pages[0].scenes] == ["state=first", "group=%C3%A9"]


def test_the_goal_of_the_progress_stays_while_the_scenes_of_a_page_are_counted_by_themselves(tmp_path: Path) -> None:
    told: list[tuple[str, int, int]] = []
    file = tmp_path / "page.html"
    file.write_text(page(), encoding="utf-8")
    check_pages([file], tmp_path / "out", lambda *what: told.append(what), screens=SCREENS[:2])
    assert [step[1:] for step in told] == [(0, 2), (1, 2), (1, 2), (1, 2), (2, 2)]
    assert [what for what, *_ in told[2:4]] == [
        "page.html scene 1 of 2: #state=first",
        "page.html scene 2 of 2: #group=%C3%A9",
    ]


def test_the_receipt_states_the_true_text_size_of_an_overview_and_the_scenes(whole: FitReport) -> None:
    found = json.loads(whole.receipt.read_text(encoding="utf-8"))["pages"][0]
    assert list(found["overview"]) == ["1440x900", "1600x1000", "1920x1080", "2048x1320"]
    assert found["overview"]["1440x900"] == {"state": SMALL, "label": SMALL}
    for scene in found["scenes"]:
        assert (scene["size"], scene["theme"], scene["screenshot"]) == ("1440x900", "light", None)
        assert scene["measures"]["smallest_state_text"] == LARGE
        assert scene["measures"]["states"] == 10


def test_a_scene_that_cannot_be_read_is_found(found: Found) -> None:
    assert "1440x900 light: text-size: #state=first, state 's0', text 'State 0'" in found[SMALL_SCENES][0]
    assert {failure.split(": ")[1] for failure in found[SMALL_SCENES]} == {"text-size"}


@pytest.mark.parametrize(("content", "failure"), STYLED, ids=[failure for _, failure in STYLED])
def test_a_scene_is_judged_by_every_rule(found: Found, content: str, failure: str) -> None:
    assert any(failure in each for each in found[content])


def test_what_a_scene_asks_for_and_says_is_heard(found: Found) -> None:
    assert "console-error: page: not right" in found[LOUD]
    assert "request: https://example.com/a: the page asks for fetch" in found[LOUD]


def test_a_model_that_can_be_read_at_once_has_no_overview(found: Found) -> None:
    assert "text-size: state 's0', text 'State 0'" in found[FEW][0]
    assert len(found[FEW]) == 15 + 1


def test_a_drawing_that_is_not_called_an_overview_is_read_as_it_opens(found: Found) -> None:
    assert "text-size: state 's0', text 'State 0'" in found[NOT_CALLED][0]


def test_small_text_beside_an_overview_is_too_small(found: Found) -> None:
    assert any(failure.startswith("1440x900 light: text-size: text 'beside'") for failure in found[BESIDE])


def test_a_state_of_the_overview_that_no_scene_shows_is_found(found: Found) -> None:
    assert "drawing: state 's0': stands for 1 states that no scene shows" in found[LACKING]
    assert "drawing: arrow 'a0': stands for 1 arrows that no scene shows" in found[LACKING]


def test_a_folded_group_stands_for_its_states_and_no_scene_may_keep_them_folded(found: Found) -> None:
    assert found[FOLDED] == ["drawing: state 's0': stands for 20 states that no scene shows"]


def test_an_address_that_shows_another_drawing_is_found(found: Found) -> None:
    assert "drawing: #group=%C3%A9: shows another drawing than the one with this address" in found[ELSEWHERE]


def test_a_hidden_drawing_without_an_address_is_found(found: Found) -> None:
    assert found[UNADDRESSED] == ["drawing: page: opens with one drawing, and 2 of its drawings have no address"]


def test_a_drawing_that_is_called_hidden_and_seen_is_a_second_drawing(found: Found) -> None:
    assert any("the page has 3 drawings" in failure for failure in found[SEEN])


def test_a_page_with_more_than_600_scenes_does_not_hold() -> None:
    most, more = (Geometry((1440, 900), (1440, 900), scene_count=count, unaddressed=1) for count in (600, 601))
    assert list(judge_scenes(most, {})) == []
    assert [str(failure) for failure in judge_scenes(more, {})] == [
        "limits: page: has 601 scenes, and 600 are looked at"
    ]


def test_of_very_many_scenes_a_bounded_number_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(fit.LIMITS, "scenes", 1)
    file = tmp_path / "page.html"
    file.write_text(page(), encoding="utf-8")
    report = check_pages([file], tmp_path / "out", screens=SCREENS[:1])
    assert [scene.fragment for scene in report.pages[0].scenes] == ["state=first"]
