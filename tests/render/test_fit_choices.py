"""The fit check chooses what asks most of a page with one drawing, and looks at it as it does at the page at rest."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from pathlib import Path

import pytest
from playwright.sync_api import Page

from arrowproof.render.fit import LIMITS, SCREENS, check_pages
from arrowproof.render.fit_choices import Choice, hardest_choices, judge_choices, read_choices
from arrowproof.render.fit_measures import Geometry
from arrowproof.render.fit_report import FitReport, PageFit
from arrowproof.render.fit_scripts import CHOOSE
from tests.render.choice_pages import choosing
from tests.render.fit_pages import good_with
from tests.render.pages import show
from tests.render.proofs import notes, proof_page

LONG, NAMED, BUSY = "transition=open:waiting", "arrow=finish", "state=open"
WIDE = "A line that is not broken and is wider than the column, and wider than a half of the screen"

# Each page: what is changed in the page that fits, the rule that it breaks, and the choice and the place of it.
BROKEN = {
    "a panel that is higher than the page": (
        '<div class="panel" id="long" hidden>',
        '<div class="panel" id="long" style="height: 900px" hidden>',
        "scroll",
        f"#{LONG}, page: its height of ",
    ),
    "a panel that scrolls inside itself": (
        '<div class="panel" id="long" hidden>',
        '<div class="panel" id="long" style="height: 70px; overflow: auto" hidden>',
        "text-clipped",
        f'#{LONG}, text "UPDATE task SET state = ',
    ),
    "the panel of an arrow that is cut": (
        "<p>What is known of the arrow",
        f'<p style="overflow: hidden; text-overflow: ellipsis; white-space: nowrap">{WIDE}',
        "text-clipped",
        f"#{NAMED}, text '{WIDE[:59]}",
    ),
    "a chosen row that is clipped": (
        "</style>",
        "main:has([data-state=open][aria-pressed=true]) .list { height: 36px; overflow: hidden; }</style>",
        "text-clipped",
        f"#{BUSY}, text 'Open → Waiting' ",
    ),
    "a label that overlaps only when it is chosen": (
        "</style>",
        "[data-arrow=finish][aria-pressed=true] text { transform: translateY(12px); }</style>",
        "label-overlap",
        f"#{NAMED}, arrow 'finish', text 'finish 完了' ",
    ),
    "a panel that is too pale": (
        "<p>And another one.",
        '<p style="color: #9aa0a6">And another one.',
        "contrast",
        f"#{LONG}, text 'And another one.' ",
    ),
    "the line of an easier arrow that is pale when it is chosen": (
        "</style>",
        "[data-arrow=create][aria-pressed=true] .line { stroke: #c9ced3; }</style>",
        "contrast",
        "#arrow=create, arrow 'create', its line: has contrast 1.5",
    ),
    "the label of an easier arrow that is pale when it is chosen": (
        "</style>",
        "[data-arrow=skip][aria-pressed=true] text { fill: #9aa0a6; }</style>",
        "contrast",
        "#arrow=skip, arrow 'skip', text 'skip': has contrast 2.5",
    ),
    "a state whose name is pale when it is chosen": (
        "</style>",
        "[data-state=open][aria-pressed=true] text { fill: rgb(0 0 0 / 40%); }</style>",
        "contrast",
        f"#{BUSY}, state 'open', text 'Open': has contrast 2.",
    ),
    "a state whose name is as dark as its box when it is chosen": (
        "</style>",
        "[data-state=open][aria-pressed=true] .box { fill: #2a3138; }</style>",
        "contrast",
        f"#{BUSY}, state 'open', text 'Open': has contrast 1.",
    ),
    "the chosen row of an easier transition that is pale": (
        "</style>",
        "[data-target=done][aria-pressed=true] { color: #9aa0a6; } .list[hidden] { display: block }</style>",
        "contrast",
        "#transition=open:done, text 'Open → Done': has contrast 2.5",
    ),
    "an easier panel that is too pale": (
        "<p>One line of what is known.",
        '<p style="color: #9aa0a6">One line of what is known.',
        "contrast",
        "#transition=open:done, text 'One line of what is known.': has contrast 2.5",
    ),
    "a panel with small text": (
        "<p>And another one.",
        '<p style="font-size: 9px">And another one.',
        "text-size",
        f"#{LONG}, text 'And another one.' ",
    ),
    "the text of a panel that is hidden by style": (
        "<p>And another one.",
        '<p style="visibility: hidden">And another one.',
        "hidden",
        f"#{LONG}, text 'And another one.' ",
    ),
    "a choice that is marked by a click and not by its address": (
        "addEventListener('hashchange', show);",
        "addEventListener('hashchange', () => { for (const each of items) each.ariaPressed = 'false'; });",
        "drawing",
        f"#{LONG}: marks nothing as chosen",
    ),
}


def check(folder: Path, *pages: str) -> FitReport:
    paths = [folder / f"{number}.html" for number in range(len(pages))]
    for path, page in zip(paths, pages, strict=True):
        path.write_text(page, encoding="utf-8")
    return check_pages(paths, folder / "out", screens=SCREENS[:1])


@pytest.fixture(scope="module")
def broken(tmp_path_factory: pytest.TempPathFactory) -> Mapping[str, PageFit]:
    """Every broken page, in one browser."""
    report = check(tmp_path_factory.mktemp("choices"), *(choosing(old, new) for old, new, _, _ in BROKEN.values()))
    return dict(zip(BROKEN, report.pages, strict=True))


@pytest.mark.parametrize("name", BROKEN)
def test_a_page_that_breaks_when_something_is_chosen_fails_with_the_one_rule_and_says_which_choice(
    broken: Mapping[str, PageFit], name: str
) -> None:
    _, _, rule, place = BROKEN[name]
    failures = broken[name].all_failures
    assert {failure.rule for failure in failures} == {rule}
    assert any(f"{rule}: {place}" in str(failure) for failure in failures), [str(failure) for failure in failures]
    assert not broken[name].fits
    # At rest there is nothing to see of it.
    assert all(each.fits for each in broken[name].checks)


def test_a_page_that_holds_when_something_is_chosen_fits_and_the_receipt_names_the_choices(tmp_path: Path) -> None:
    report = check(tmp_path, choosing())
    assert report.pages[0].all_failures == ()
    choices = json.loads(report.receipt.read_text(encoding="utf-8"))["pages"][0]["choices"]
    assert [each["fragment"] for each in choices] == [LONG, NAMED, BUSY]
    assert {(each["size"], each["theme"], each["screenshot"]) for each in choices} == {("1440x900", "light", None)}
    assert choices[0]["measures"]["texts"] > choices[1]["measures"]["texts"]
    # Only the one that asks most is judged by its pixels, too.
    assert [each["measures"]["lowest_text_contrast"] is None for each in choices] == [False, True, True]
    assert [each["measures"]["lowest_line_contrast"] is None for each in choices] == [False, True, True]


def test_a_failure_of_the_page_at_rest_is_not_told_again_of_each_choice(tmp_path: Path) -> None:
    (page,) = check(tmp_path, choosing("<h1>Task</h1>", '<h1 style="font-size: 9px">Task</h1>')).pages
    assert len(page.choices) == 3
    assert [str(failure) for failure in page.all_failures] == [
        "1440x900 light: text-size: text 'Task' (main > h1): is 9 px high, and must be at least 11"
    ]


@pytest.mark.parametrize(
    "page",
    [
        good_with("</main>", "</main>"),
        good_with('<g data-arrow="finish"', '<g aria-pressed="false" data-arrow="finish"'),
        choosing("history.replaceState(null, '', addressOf", "((..._) => 0)(null, '', addressOf"),
    ],
    ids=["no buttons", "no script", "no address"],
)
def test_a_page_that_does_not_say_in_its_address_what_is_chosen_is_looked_at_at_rest(tmp_path: Path, page: str) -> None:
    (found,) = check(tmp_path, page).pages
    assert found.fits
    assert found.choices == ()


def test_what_a_choice_says_on_the_console_is_heard(tmp_path: Path) -> None:
    page = choosing("const chosen = ", "if (location.hash) console.error('not right'); const chosen = ")
    assert "console-error: page: not right" in [str(each) for each in check(tmp_path, page).pages[0].all_failures]


def test_the_progress_tells_which_choice_is_looked_at(tmp_path: Path) -> None:
    told: list[tuple[str, int, int]] = []
    file = tmp_path / "page.html"
    file.write_text(choosing(), encoding="utf-8")
    check_pages([file], tmp_path / "out", lambda *what: told.append(what), screens=SCREENS[:2])
    assert [step[1:] for step in told] == [(0, 2), (1, 2), (1, 2), (1, 2), (1, 2), (2, 2)]
    assert told[2][0] == f"page.html choice 1 of 3: #{LONG}"


def test_the_evidence_of_our_own_page_is_looked_at_in_the_fullest_arrow_in_the_longest_and_in_a_state(
    tmp_path: Path,
) -> None:
    (page,) = check(tmp_path, proof_page(*notes())).pages
    assert page.all_failures == ()
    assert [each.fragment for each in page.choices] == ["arrow=remove_failed", "arrow=accept", "state=attempt"]


def test_a_fault_in_every_panel_of_our_own_page_is_seen_in_every_arrow_that_is_looked_at_and_nowhere_else(
    tmp_path: Path,
) -> None:
    # It makes another panel the tallest one, so that the fullest arrow is not the longest.
    small = proof_page(*notes()).replace("</style>", ".proof .rungs b{font-size:.5rem}</style>", 1)
    small = re.sub(r"style-src &#39;sha256-.*?&#39;;", "style-src &#39;unsafe-inline&#39;;", small)
    (page,) = check(tmp_path, small).pages
    assert all(not each.failures for each in page.checks)
    assert [each.fragment for each in page.choices] == ["arrow=pick", "arrow=accept", "state=attempt"]
    arrows, state = page.choices[:2], page.choices[2]
    assert all("text-size" in str(each.check.failures) for each in arrows)
    assert state.check.failures == ()


OPENED = """() => {
  globalThis.opened = [];
  new MutationObserver((changes) => {
    for (const { addedNodes } of changes) opened.push(...[...addedNodes].map((each) => each.ariaLabel).filter(Boolean));
  }).observe(document.querySelector('.proofs'), { childList: true });
}"""


def test_the_evidence_of_every_transition_of_our_own_page_is_opened_and_none_is_chosen_twice(
    tab: Page, tmp_path: Path
) -> None:
    show(tab, tmp_path, proof_page(*notes()))
    tab.evaluate(OPENED)
    tried = read_choices(tab.evaluate(f"({CHOOSE})({json.dumps(LIMITS)})"))
    rows = tab.locator(".list button").evaluate_all("(rows) => rows.map((row) => row.ariaLabel)")
    assert set(tab.evaluate("opened")) == set(rows)
    chosen = [each.address.partition("transition=")[2] for each in tried if each.kind == "transition"]
    assert len(chosen) == len(set(chosen)) < len(rows)


def choice(kind: str, address: str, name: int = 9, beyond: float = 0, filled: float = 100) -> Choice:
    return Choice(kind, address, name, beyond, filled)


def test_what_does_not_fit_is_looked_at_before_what_is_tallest() -> None:
    tried = [choice("transition", "tall", filled=800), choice("arrow", "wide", beyond=3), choice("arrow", "arrow")]
    assert hardest_choices(tried) == ("wide",)
    assert hardest_choices([tried[0], tried[2]]) == ("tall", "arrow")


def test_where_nothing_opens_the_longest_arrow_is_the_tallest_too() -> None:
    tried = [choice("transition", "row", name=50), choice("arrow", "short"), choice("arrow", "long", name=30)]
    assert hardest_choices(tried) == ("long",)


def test_one_choice_that_is_hardest_in_two_ways_is_looked_at_once() -> None:
    tried = [choice("state", "busy"), choice("arrow", "both", name=40, filled=300), choice("arrow", "other")]
    assert hardest_choices(tried) == ("both", "busy")
    assert hardest_choices([]) == ()


def test_a_page_that_marks_what_its_address_names_holds() -> None:
    marked, unmarked = (Geometry((1440, 900), (1440, 900), chosen=count) for count in (1, 0))
    assert [each.place for each in judge_choices({"arrow=a": marked, "arrow=b": unmarked})] == ["#arrow=b"]
