"""The fit check on real pages in a real Chromium: a good page, and one broken page for each way to break."""

from __future__ import annotations

import hashlib
import json
import os
import shutil
import signal
import subprocess
import sys
from collections.abc import Mapping
from functools import partial
from pathlib import Path

import pytest
from PIL import Image

from arrowproof.errors import InputError
from arrowproof.render.fit import SCREENS, check_pages
from arrowproof.render.fit_report import RULE_NAMES, FitReport, PageFit
from tests.render.fit_pages import BROKEN, SMALLEST

# The first test of a broken page has all of them checked, thirty pages in one browser.
pytestmark = pytest.mark.timeout(600)


# Each broken page: the one rule that it breaks, and what the failure must name.
EXPECTED = {
    "arrow-through-box": ("arrow-through-box", "arrow 'finish': goes through state 'waiting'"),
    "console-error": ("console-error", "the drawing is not right"),
    "console-error-uncaught": ("console-error", "TypeError: nothing to draw"),
    "contrast": ("contrast", "'A text is too pale."),
    "contrast-dark": ("contrast", "1440x900 dark: contrast: text 'A text is too dark"),
    "contrast-gradient": ("contrast", "'A text is readable at its beginning only."),
    "contrast-line": ("contrast", "arrow 'finish': its line has contrast 1.54:1"),
    "drawing": ("drawing", "no drawings"),
    "drawing-empty": ("drawing", "no states"),
    "hidden": ("hidden", "arrow 'finish', text 'finish 完了'"),
    "hidden-covered": ("hidden", "arrow 'finish', text 'finish 完了'"),
    "hidden-invisible": ("hidden", "state 'done', text 'Done'"),
    "label-overlap": ("label-overlap", "arrow 'finish', text 'finish 完了'"),
    "label-overlap-line": ("label-overlap", "crossed by the line of arrow 'skip'"),
    "label-overlap-own-line": ("label-overlap", "crossed by its own line"),
    "label-overlap-state": ("label-overlap", "stands on state 'waiting'"),
    "request": ("request", "https://example.com/picture.png"),
    "request-file": ("request", "good.html"),
    "request-hint": ("request", "preconnect https://example.com/"),
    "scroll": ("scroll", "its height of 1300 px scrolls on a screen of 900 px"),
    "scroll-off-screen": ("scroll", '[data-mark="created"]'),
    "text-clipped": ("text-clipped", "'A text is longer than the panel that cuts it."),
    "text-clipped-box": ("text-clipped", "out of its state's box"),
    "text-clipped-ellipsis": ("text-clipped", "is cut by an ellipsis"),
    "text-clipped-path": ("text-clipped", "'A clip-path takes half of a text away."),
    "text-size": ("text-size", "state 'open', text 'Open'"),
    "text-size-label": ("text-size", "arrow 'skip', text 'skip'"),
    "text-size-other": ("text-size", "is 9 px high, and must be at least 11"),
    "text-size-scaled": ("text-size", "state 'open', text 'Open'"),
    "theme": ("theme", "no darker in the dark theme"),
}


@pytest.fixture(scope="module")
def broken(tmp_path_factory: pytest.TempPathFactory) -> Mapping[str, PageFit]:
    """Every broken page on the smallest screen in both themes, in one browser."""
    paths = [BROKEN / f"{name}.html" for name in EXPECTED]
    report = check_pages(paths, tmp_path_factory.mktemp("broken"), screens=SMALLEST)
    return {Path(page.page).stem: page for page in report.pages}


@pytest.fixture(scope="module")
def good(tmp_path_factory: pytest.TempPathFactory) -> FitReport:
    return check_pages([BROKEN / "good.html"], tmp_path_factory.mktemp("good"))


@pytest.mark.parametrize("name", EXPECTED)
def test_a_broken_page_fails_with_the_one_rule_that_it_breaks(broken: Mapping[str, PageFit], name: str) -> None:
    rule, _ = EXPECTED[name]
    assert not broken[name].fits
    assert {failure.rule for failure in broken[name].all_failures} == {rule}


@pytest.mark.parametrize("name", EXPECTED)
def test_a_failure_names_the_place(broken: Mapping[str, PageFit], name: str) -> None:
    _, place = EXPECTED[name]
    assert any(place in str(failure) for failure in broken[name].all_failures)


def test_every_rule_has_a_broken_page() -> None:
    assert {rule for rule, _ in EXPECTED.values()} | {"limits"} == set(RULE_NAMES)
    assert {path.stem for path in BROKEN.glob("*.html")} == {*EXPECTED, "good", "limits", "console-error-policy"}


def test_a_good_page_fits_on_all_eight_screens(good: FitReport) -> None:
    assert good.pages[0].all_failures == ()
    assert good.fits
    assert [(check.size, check.theme) for check in good.pages[0].checks] == [(s.size, s.theme) for s in SCREENS]


def test_the_measures_are_those_of_the_page(good: FitReport) -> None:
    measures = good.pages[0].checks[0].measures
    assert measures is not None
    assert (measures.states, measures.arrows) == (3, 3)
    assert (measures.scroll_width, measures.scroll_height) == (1440, 900)
    assert measures.smallest_other_text == 16
    assert measures.smallest_label == pytest.approx(16 * 1080 / 760, abs=0.02)
    assert measures.smallest_state_text == pytest.approx(18 * 1080 / 760, abs=0.02)
    assert measures.lowest_text_contrast == pytest.approx(17.5, abs=0.3)
    assert measures.lowest_line_contrast == pytest.approx(5.9, abs=0.2)


def test_each_screenshot_shows_its_screen(good: FitReport) -> None:
    for screen, check in zip(SCREENS, good.pages[0].checks, strict=True):
        assert check.screenshot == f"good.{screen.size}.{screen.theme}.png"
        with Image.open(good.receipt.parent / check.screenshot) as picture:
            assert picture.size == (screen.width, screen.height)
            corner = picture.convert("RGB").getpixel((2, 2))
        assert corner == ((252, 252, 251) if screen.theme == "light" else (16, 18, 20))


def test_the_contact_sheet_has_four_columns_and_two_rows(good: FitReport) -> None:
    assert good.pages[0].contact_sheet == "good.contact.png"
    with Image.open(good.receipt.parent / "good.contact.png") as sheet:
        assert sheet.width == 16 + 4 * (720 + 16)
        assert sheet.height > 2 * 450


def test_the_receipt_says_which_bytes_were_checked_and_by_which_browser(good: FitReport) -> None:
    receipt = json.loads(good.receipt.read_text(encoding="utf-8"))
    assert receipt["format"] == "arrowproof.fit/3"
    assert receipt["verdict"] == "fits"
    assert receipt["chromium"].split(".")[0].isdigit()
    assert receipt["pages"][0]["sha256"] == hashlib.sha256((BROKEN / "good.html").read_bytes()).hexdigest()
    assert len(receipt["pages"][0]["checks"]) == 8


def test_a_violation_of_the_pages_own_policy_is_a_console_error(tmp_path: Path) -> None:
    report = check_pages([BROKEN / "console-error-policy.html"], tmp_path, screens=SMALLEST[:1])
    said = [failure.message for failure in report.pages[0].all_failures if failure.rule == "console-error"]
    assert len(said) == 1
    assert "Content Security Policy" in said[0]


Told = list[tuple[str, int, int]]


def check_beside_a_stuck_page(folder: Path, wells: int) -> tuple[FitReport, float, Told]:
    """What is found of a page that never rests and of so many that do; the deadline of each in seconds; what was told.

    The stuck page takes all of its time, so that it is given little. Where the machine is so busy that the others had
    too little of it, too, all of them are given more.
    """
    pages = [BROKEN / "limits.html", *[BROKEN / "good.html"] * wells]
    for deadline in (3.0, 12.0, 60.0):
        told: Told = []
        report = check_pages(pages, folder, partial(_tell, told), screens=SMALLEST[:1], deadline=deadline)
        if all(page.fits for page in report.pages[1:]):
            break
    return report, deadline, told


def _tell(told: Told, what: str, done: int, total: int) -> None:
    told.append((what, done, total))


def test_a_page_that_never_rests_is_ended_and_the_next_one_is_checked(tmp_path: Path) -> None:
    report, deadline, _ = check_beside_a_stuck_page(tmp_path, 1)
    stuck, well = report.pages
    assert [failure.rule for failure in stuck.all_failures] == ["limits"]
    assert f"still busy after {deadline:g} s" in str(stuck.all_failures[0])
    assert stuck.checks == ()
    assert well.fits
    assert not report.fits


def test_a_page_whose_browser_another_page_brought_down_is_looked_at_again(tmp_path: Path) -> None:
    # While the first page is stuck, the others are checked beside it, and one of them loses its browser. They are so
    # many that some are left when it does.
    report, _, told = check_beside_a_stuck_page(tmp_path, 20)
    assert [page.fits for page in report.pages] == [False] + [True] * 20
    assert all(done <= total == 21 for _, done, total in told)


def test_progress_is_told_of_every_check(tmp_path: Path) -> None:
    told: list[tuple[str, int, int]] = []
    page = BROKEN / "good.html"
    check_pages([page, page], tmp_path, lambda *what: told.append(what), screens=SMALLEST)
    assert [done for _, done, _ in told] == [0, 1, 2, 3, 4]
    assert {total for *_, total in told} == {4}
    assert sorted(what for what, *_ in told[:4]) == ["good.html 1440x900 dark"] * 2 + ["good.html 1440x900 light"] * 2


def test_pages_of_one_name_have_pictures_of_their_own(tmp_path: Path) -> None:
    other = tmp_path / "other" / "good.html"
    other.parent.mkdir()
    shutil.copy(BROKEN / "good.html", other)
    report = check_pages([BROKEN / "good.html", other], tmp_path / "out", screens=SMALLEST[:1])
    shots = [check.screenshot for page in report.pages for check in page.checks]
    assert shots == ["good.1440x900.light.png", "good-2.1440x900.light.png"]


def test_a_name_that_looks_like_a_number_given_to_another_page_stays_apart(tmp_path: Path) -> None:
    pages = [tmp_path / "one" / "good.html", tmp_path / "two" / "good.html", tmp_path / "good-2.html"]
    for page in pages:
        page.parent.mkdir(exist_ok=True)
        shutil.copy(BROKEN / "good.html", page)
    report = check_pages(pages, tmp_path / "out", screens=SMALLEST[:1])
    shots = [check.screenshot for page in report.pages for check in page.checks]
    assert shots == [f"{stem}.1440x900.light.png" for stem in ("good", "good-2", "good-2-2")]


def test_a_page_with_the_longest_name_gets_pictures(tmp_path: Path) -> None:
    page = tmp_path / f"{'受' * 83}.html"
    shutil.copy(BROKEN / "good.html", page)
    assert check_pages([page], tmp_path / "out", screens=SMALLEST[:1]).fits


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("missing.html", None, "does not exist"),
        ("notes.json", b"{}", "is no HTML file"),
        ("empty.html", b"", "is no HTML file"),
        ("picture.html", b"\x89PNG\r\n", "is no HTML file"),
    ],
)
def test_what_is_no_page_is_refused_before_a_browser_starts(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str, content: bytes | None, message: str
) -> None:
    monkeypatch.setenv("ARROWPROOF_CHROMIUM", str(tmp_path / "no-browser"))
    if content is not None:
        (tmp_path / name).write_bytes(content)
    with pytest.raises(InputError, match=message):
        check_pages([tmp_path / name], tmp_path / "out")
    assert not (tmp_path / "out").exists()


def test_a_folder_is_no_page(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="is a folder"):
        check_pages([tmp_path], tmp_path / "out")


def test_a_receipt_that_cannot_be_written_is_wrong_input_and_no_bug_of_ours(tmp_path: Path) -> None:
    (tmp_path / "fit" / "fit.json").mkdir(parents=True)
    with pytest.raises(InputError, match=r"fit\.json cannot be written"):
        check_pages([BROKEN / "good.html"], tmp_path / "fit", screens=SMALLEST)


def test_a_file_that_is_no_receipt_is_refused_and_stays(tmp_path: Path) -> None:
    (tmp_path / "fit.json").write_text('{"shoes": 42}', encoding="utf-8")
    with pytest.raises(InputError, match=r"fit\.json is there and is no receipt"):
        check_pages([BROKEN / "good.html"], tmp_path, screens=SMALLEST)
    assert (tmp_path / "fit.json").read_text(encoding="utf-8") == '{"shoes": 42}'


def test_a_picture_that_cannot_be_written_leaves_no_receipt(tmp_path: Path) -> None:
    (tmp_path / "good.1440x900.light.png").mkdir()
    (tmp_path / "fit.json").write_text('{"format": "arrowproof.fit/2"}')
    with pytest.raises(InputError, match=r"light\.png cannot be written"):
        check_pages([BROKEN / "good.html"], tmp_path, screens=SMALLEST)
    assert not (tmp_path / "fit.json").exists()


def test_a_pipe_is_no_page_and_is_not_waited_for(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "page.html")
    with pytest.raises(InputError, match="is a device or a pipe"):
        check_pages([tmp_path / "page.html"], tmp_path / "out")


def test_an_impossible_name_is_no_page(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="cannot be read"):
        check_pages([tmp_path / ("x" * 5000)], tmp_path / "out")


def test_no_page_at_all_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="No page"):
        check_pages([], tmp_path)


def test_an_interrupt_ends_the_check_at_once_and_says_nothing_more(tmp_path: Path) -> None:
    program = """
import sys
from pathlib import Path
from arrowproof.render.fit import check_pages

try:
    check_pages([Path(sys.argv[1])] * 20, Path(sys.argv[2]), lambda *what: print(what, flush=True))
except KeyboardInterrupt:
    sys.exit(130)
"""
    command = [sys.executable, "-c", program, str(BROKEN / "good.html"), str(tmp_path)]
    with subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, start_new_session=True
    ) as process:
        assert process.stdout is not None
        process.stdout.readline()
        os.killpg(process.pid, signal.SIGINT)
        told, errors = process.communicate(timeout=60)
    assert process.returncode == 130
    assert errors == ""
    assert len(told.splitlines()) < 20
    assert not (tmp_path / "fit.json").exists()
