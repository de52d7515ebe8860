"""The fit check on pages that hold several drawings: an overview, and scenes that the address of the page leads to."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path

import pytest

from arrowproof.render import fit
from arrowproof.render.fit import SCREENS, check_pages
from arrowproof.render.fit_measures import Geometry
from arrowproof.render.fit_report import FitReport
from arrowproof.render.fit_scenes import judge_scenes
from arrowproof.render.fit_screen import Screen

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


def check(content: str, folder: Path, screens: Sequence[Screen] = SCREENS[:1]) -> FitReport:
    path = folder / "page.html"
    path.write_text(content, encoding="utf-8")
    return check_pages([path], folder / "out", screens=screens)


def failures_of(content: str, folder: Path) -> list[str]:
    return [str(failure) for failure in check(content, folder).pages[0].all_failures]


def changed(old: str, new: str, content: str | None = None) -> str:
    content = content or page()
    assert old in content
    return content.replace(old, new, 1)


def test_an_overview_with_small_text_fits_when_every_scene_can_be_read(tmp_path: Path) -> None:
    report = check(page(), tmp_path, SCREENS)
    assert report.pages[0].all_failures == ()
    assert report.fits
    assert [scene.fragment for scene in report.pages[0].scenes] == ["state=first", "group=%C3%A9"]


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


def test_the_receipt_states_the_true_text_size_of_an_overview_and_the_scenes(tmp_path: Path) -> None:
    report = check(page(), tmp_path, SCREENS)
    found = json.loads(report.receipt.read_text(encoding="utf-8"))["pages"][0]
    assert list(found["overview"]) == ["1440x900", "1600x1000", "1920x1080", "2048x1320"]
    assert found["overview"]["1440x900"] == {"state": SMALL, "label": SMALL}
    for scene in found["scenes"]:
        assert (scene["size"], scene["theme"], scene["screenshot"]) == ("1440x900", "light", None)
        assert scene["measures"]["smallest_state_text"] == LARGE
        assert scene["measures"]["states"] == 10


def test_a_scene_that_cannot_be_read_is_found(tmp_path: Path) -> None:
    found = failures_of(page(scenes=10), tmp_path)
    assert "1440x900 light: text-size: #state=first, state 's0', text 'State 0'" in found[0]
    assert {failure.split(": ")[1] for failure in found} == {"text-size"}


@pytest.mark.parametrize(
    ("style", "failure"),
    [
        ("svg[data-fragment] text { fill: #ddd; }", "contrast: #state=first, state 's0'"),
        ("svg[data-fragment] { left: -90px; }", "scroll: #state=first, "),
        ("svg[data-fragment] rect { width: 30px; }", "text-clipped: #state=first, state 's0'"),
        ("svg[data-fragment] g + g text { opacity: 0; }", "hidden: #state=first, "),
    ],
)
def test_a_scene_is_judged_by_every_rule(tmp_path: Path, style: str, failure: str) -> None:
    assert any(failure in found for found in failures_of(changed("</style>", style + "</style>"), tmp_path))


def test_what_a_scene_asks_for_and_says_is_heard(tmp_path: Path) -> None:
    script = "addEventListener('hashchange', () => { console.error('not right'); fetch('https://example.com/a'); });"
    found = failures_of(changed("</body>", f"<script>{script}</script></body>"), tmp_path)
    assert "console-error: page: not right" in found
    assert "request: https://example.com/a: the page asks for fetch" in found


def test_a_model_that_can_be_read_at_once_has_no_overview(tmp_path: Path) -> None:
    found = failures_of(page(count=15), tmp_path)
    assert "text-size: state 's0', text 'State 0'" in found[0]
    assert len(found) == 15 + 1


def test_a_drawing_that_is_not_called_an_overview_is_read_as_it_opens(tmp_path: Path) -> None:
    found = failures_of(changed(' data-overview="true"', ""), tmp_path)
    assert "text-size: state 's0', text 'State 0'" in found[0]


def test_small_text_beside_an_overview_is_too_small(tmp_path: Path) -> None:
    found = failures_of(changed("<script>", '<p style="font-size: 9px">beside</p><script>'), tmp_path)
    assert any(failure.startswith("1440x900 light: text-size: text 'beside'") for failure in found)


def test_a_state_of_the_overview_that_no_scene_shows_is_found(tmp_path: Path) -> None:
    behind = drawing(range(10), LARGE, "#state=first")
    lacking = changed(behind, drawing(range(1, 10), LARGE, "#state=first"))
    found = failures_of(lacking, tmp_path)
    assert "drawing: state 's0': stands for 1 states that no scene shows" in found
    assert "drawing: arrow 'a0': stands for 1 arrows that no scene shows" in found


def test_a_folded_group_stands_for_its_states_and_no_scene_may_keep_them_folded(tmp_path: Path) -> None:
    keys = " ".join(f"s{number}" for number in range(60, 80))
    folded = f'<g data-state="s0" data-group="g" data-keys="{keys}">'
    found = failures_of(page(count=6).replace('<g data-state="s0">', folded), tmp_path)
    assert found == ["drawing: state 's0': stands for 20 states that no scene shows"]


def test_an_address_that_shows_another_drawing_is_found(tmp_path: Path) -> None:
    found = failures_of(changed("=== location.hash", "=== '#state=first'"), tmp_path)
    assert "drawing: #group=%C3%A9: shows another drawing than the one with this address" in found


def test_a_hidden_drawing_without_an_address_is_found(tmp_path: Path) -> None:
    found = failures_of(changed("</svg>", "</svg><svg class='drawing' hidden></svg>"), tmp_path)
    assert found == ["drawing: page: opens with one drawing, and 2 of its drawings have no address"]


def test_a_drawing_that_is_called_hidden_and_seen_is_a_second_drawing(tmp_path: Path) -> None:
    found = failures_of(changed("svg[hidden] { display: none; }", ""), tmp_path)
    assert any("the page has 3 drawings" in failure for failure in found)


def test_a_page_with_more_than_600_scenes_does_not_hold() -> None:
    most, more = (Geometry((1440, 900), (1440, 900), scene_count=count, unaddressed=1) for count in (600, 601))
    assert list(judge_scenes(most, {})) == []
    assert [str(failure) for failure in judge_scenes(more, {})] == [
        "limits: page: has 601 scenes, and 600 are looked at"
    ]


def test_of_very_many_scenes_a_bounded_number_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(fit.LIMITS, "scenes", 1)
    assert [scene.fragment for scene in check(page(), tmp_path).pages[0].scenes] == ["state=first"]
