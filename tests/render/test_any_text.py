"""Any label and any id on a real page, measured in Chromium: each text inside its box, nothing of the model run."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import cache
from itertools import pairwise
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page

from arrowproof.model.lifecycle import Arrow, Binding, Kind, Lifecycle, Panel, View
from arrowproof.render.language import load_language
from arrowproof.render.page import render_page
from arrowproof.render.proof import bring_proof
from tests.render.evidence_builder import build_evidence
from tests.render.pages import MEASURE, SIZES, pressed, show, state
from tests.render.tabs import DEADLINE, reload, resize

LONG = "x" * 300
LABELS = {
    "Arabic": ("قيد الانتظار", "إعادة المحاولة بعد انتهاء المهلة المحددة مسبقا"),
    "Hebrew": ("ממתין לאישור", "ניסיון חוזר אחרי שהזמן עבר"),
    "Chinese, Japanese and Korean": ("受付待ち", "支払いが確認されるまで待機する状態 결제 확인 대기"),
    "emoji": ("👩🏽‍🚀 ready 🇯🇵", "🚀🚀🚀 1️⃣ ❤️‍🔥 tested"),
    "both directions in one label": ("שלום → world", "status ≠ قيد [x < 3] / ארכיון"),
    "marks over letters": ("e\u0301\u0302\u0303\u0304 ก็ำ", "Z̸̡̢̛a̴l̶g̷o"),
    "nothing that can be seen": ("\u200d" * 40, "\u3164\ufe0f\U000e0041"),
    "300 characters without a space": (LONG, "W" * 300),
    "300 characters of Arabic without a space": ("م" * 300, "ط" * 300),
    "nothing": ("", ""),
    "control characters and bidi marks": ("\x00\x07\x1b[31m", "\u202eevil\u2066 \u200f\u061c"),
    "markup": ("</text></svg><script>boom()</script>", "\"' onload=boom() &lt; &#x3c; ]]>"),
    "spaces": ("   ", "\t\n\u00a0\u3000"),
}

PLACES = """() => {
  const inside = (text, frame, slack) => {
    const [one, two] = [text, frame].map((each) => each.getBoundingClientRect());
    // The height is that of the font, and fonts of marks and of other scripts are higher than what they draw.
    const high = slack + parseFloat(getComputedStyle(text).fontSize) / 4;
    return one.width === 0 || (one.left >= two.left - slack && one.right <= two.right + slack
      && one.top >= two.top - high && one.bottom <= two.bottom + high);
  };
  const shown = (selector) => [...document.querySelectorAll(selector)].filter((each) => each.checkVisibility());
  const out = (owner, frame) => shown(`.drawing ${owner}`).flatMap((each) => {
    const box = each.querySelector(frame);
    return box ? [...each.querySelectorAll('text')].filter((text) => !inside(text, box, 0.6)) : [];
  }).map((text) => text.textContent);
  const svg = document.querySelector('.drawing');
  return {
    states: out('.state', '.box'),
    labels: out('.arrow', '.chip'),
    drawing: shown('.drawing text').filter((text) => !inside(text, svg, 0.6)).map((text) => text.textContent),
  };
}"""
INSIDE = {"states": [], "labels": [], "drawing": []}


@cache
def page_with(label: str, note: str) -> str:
    """A page with these texts in every place that a model has one for."""
    lifecycle = Lifecycle(
        "any-text",
        label,
        (
            state("one", Kind.WAITING, label, note=note),
            state("two", Kind.PASSING, note, note=label),
            state("three", Kind.SUCCESS, label),
            state("four", Kind.FAILURE, note),
        ),
        (
            Arrow("new", None, "one", label),
            Arrow("go", "one", "two", label, guard=note),
            Arrow("end", "two", "three", note, effect=label),
            Arrow("fail", "two", "four", note),
            Arrow("again", "one", "one", label),
            Arrow("back", "four", "one", note),
        ),
        summary=note,
        binding=Binding(label or "t", (note or "k",), "status"),
        panels=(Panel(label, (note, label)),),
        views=(View("view", label, ("one", "two"), (), note),),
    )
    return render_page(lifecycle)


@pytest.mark.parametrize("name", LABELS)
def test_every_text_stands_inside_its_box_at_every_size(tab: Page, tmp_path: Path, name: str) -> None:
    show(tab, tmp_path, page_with(*LABELS[name]))
    tab.evaluate("new Promise(requestAnimationFrame)")
    for width, height in SIZES:
        resize(tab, width, height)
        assert tab.evaluate(PLACES) == INSIDE, (width, height)


@pytest.mark.parametrize("name", [name for name in LABELS if "300" not in name])
def test_a_page_of_such_texts_still_stands_on_one_screen(tab: Page, tmp_path: Path, name: str) -> None:
    show(tab, tmp_path, page_with(*LABELS[name]))
    found = tab.evaluate(MEASURE)
    assert (found["right"], found["down"], found["outside"], found["overlapping"]) == (0, 0, [], [])


def test_letters_with_very_many_marks_do_not_reach_into_their_neighbours(tab: Page, tmp_path: Path) -> None:
    show(tab, tmp_path, page_with("a" + "\u0301" * 200, "e" + "\u0331" * 100 + "o" + "\u0489" * 100))
    heights = tab.evaluate("""[...document.querySelectorAll('.drawing text')].map((text) =>
      text.getBBox().height / parseFloat(getComputedStyle(text).fontSize))""")
    assert heights
    assert max(heights) < 2.2  # em
    assert tab.evaluate("document.documentElement.scrollHeight - innerHeight") == 0


@pytest.mark.parametrize("words", ["إعادة المحاولة إلى أجل", "[أُجِّلَ إلى أجلٍ]", "Ổ đĩa ẨN bị ngắt"])
def test_the_lines_of_a_label_in_a_script_with_high_letters_and_low_ones_do_not_meet(
    tab: Page, tmp_path: Path, words: str
) -> None:
    states = (state("a", Kind.WAITING), state("b", Kind.SUCCESS))
    arrow = Arrow("go", "a", "b", words, guard=words, effect=words)
    show(tab, tmp_path, render_page(Lifecycle("high", "High letters", states, (arrow,))))
    inks = tab.evaluate("""() => {
      const pen = document.createElement('canvas').getContext('2d');
      return [...document.querySelectorAll('.drawing .label text')].map((text) => {
        const style = getComputedStyle(text);
        pen.font = `${style.fontWeight} ${style.fontSize} ${style.fontFamily}`;
        const [ink, y] = [pen.measureText(text.textContent), Number(text.getAttribute('y'))];
        return [y - ink.actualBoundingBoxAscent, y + ink.actualBoundingBoxDescent];
      });
    }""")
    assert len(inks) >= 3
    assert all(above[1] <= below[0] + 0.5 for above, below in pairwise(inks)), inks


@pytest.mark.parametrize("words", ["أُجِّلَ إلى غدٍ قريبٍ جدًّا في المؤسسة والإدارة", "Đang chờ xử lý Ổ đĩa ẨN, Ế ẩm"])
def test_high_and_low_letters_do_not_meet_in_the_title_and_the_list_and_leave_one_screen(
    tab: Page, tmp_path: Path, words: str
) -> None:
    states = (state("a", Kind.WAITING, words), state("b", Kind.SUCCESS, f"{words} 2"))
    arrows = (Arrow("go", "a", "b", words), Arrow("back", "b", "a", words))
    show(tab, tmp_path, render_page(Lifecycle("high", words, states, arrows, summary=words)))
    found = tab.evaluate(MEASURE)
    assert (found["right"], found["down"], found["outside"], found["overlapping"]) == (0, 0, [], [])
    inks = tab.evaluate("""() => {
      const pen = document.createElement('canvas').getContext('2d');
      return ['h1', '.summary', '.pair'].flatMap((place) => [...document.querySelectorAll(place)]).map((each) => {
        const style = getComputedStyle(each);
        pen.font = `${style.fontWeight} ${style.fontSize} ${style.fontFamily}`;
        const [ink, line] = [pen.measureText(each.textContent), parseFloat(style.lineHeight)];
        return [ink.actualBoundingBoxAscent + ink.actualBoundingBoxDescent, line];
      });
    }""")
    assert len(inks) == 4
    assert all(ink <= line + 0.5 for ink, line in inks), inks


def test_a_transition_between_names_that_run_from_right_to_left_still_points_to_the_right(
    tab: Page, tmp_path: Path
) -> None:
    states = (state("ממתין", Kind.WAITING), state("הושלם", Kind.SUCCESS))
    show(tab, tmp_path, render_page(Lifecycle("rtl", "מחזור", states, (Arrow("סיום", "ממתין", "הושלם"),))))
    source, arrow, target = tab.evaluate(
        "[...document.querySelectorAll('.list .pair :is(bdi, i)')].map(each => each.getBoundingClientRect().left)"
    )
    assert source < arrow < target


ORDER = """(place) => {
  const text = document.createTreeWalker(document.querySelector(place), NodeFilter.SHOW_TEXT).nextNode();
  return ['ממתין', '→', 'הושלם'].map((part) => {
    const range = document.createRange();
    range.setStart(text, text.data.indexOf(part));
    range.setEnd(text, text.data.indexOf(part) + part.length);
    return range.getBoundingClientRect().left;
  });
}"""
"""Where the source, the arrow and the target begin in the first text of a place."""


@pytest.mark.parametrize(
    ("place", "fragment"), [(".reasons li", ""), (".ways button", "#arrow=סיום"), (".found li span", "")]
)
@pytest.mark.parametrize("language", ["en", "ja"])
def test_in_a_line_of_text_too_it_points_from_its_source_to_its_target(
    tab: Page, tmp_path: Path, place: str, fragment: str, language: str
) -> None:
    states = (
        state("ממתין", Kind.WAITING),
        state("עובר", Kind.PASSING),
        state("הושלם", Kind.SUCCESS),
        *(state(f"עוד {number}", Kind.NEUTRAL, terminal=True) for number in range(14)),
    )
    arrows = (Arrow("סיום", "ממתין", "עובר"), Arrow("סוף", "עובר", "הושלם"), Arrow("ישר", "ממתין", "הושלם", "ישר"))
    lifecycle = Lifecycle("rtl", "מחזור", states, arrows)
    evidence = build_evidence(lifecycle, default="written")
    assert len(evidence.reasons) == 1
    words = load_language(language)
    page = render_page(lifecycle, None, words, bring_proof(lifecycle, evidence, "3ad814f6" * 8, (), words))
    show(tab, tmp_path, page, fragment)
    if place.startswith(".found"):
        tab.locator(".search input").fill("ישר")
        tab.locator(place).first.wait_for()
    source, arrow, target = tab.evaluate(ORDER, place)
    assert source < arrow < target


def test_a_panel_without_a_title_has_no_heading_of_nothing(tab: Page, tmp_path: Path) -> None:
    show(tab, tmp_path, page_with(*LABELS["nothing"]))
    assert tab.locator(".panels section").count() == 1
    assert tab.locator(".panels h2").count() == 0


# --- Ids

# Two ids that differ by white space or control characters alone are one name on a page; lint warns of them.
IDS = [
    '"', "'", ":", "a:b", "/", "a/b?c#d&e=f", "__proto__", "constructor", "toString", " ", "a\nb", "%",
    "%41", "</script>", "é", "e\u0301", "ى", "😀", "\u202e", "0", "-0", "null", "undefined", "x" * 200,
]  # fmt: skip


def of_ids(make: Callable[[str], str] = str) -> Lifecycle:
    """Every id as a state, and as an arrow from it to the next one."""
    states = tuple(state(make(id), list(Kind)[number % 5], value=number) for number, id in enumerate(IDS))
    arrows = tuple(Arrow(id, each.id, after.id) for id, each, after in zip(IDS, states, states[1:], strict=False))
    return Lifecycle("ids", "Ids", states, arrows)


@pytest.fixture(scope="module")
def opened_ids(browser: Browser, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Page]:
    """The page of all ids, opened once: it is long, and every test takes back what it has chosen."""
    page = browser.new_page(viewport={"width": 1440, "height": 900})
    page.set_default_timeout(DEADLINE)
    show(page, tmp_path_factory.mktemp("ids"), render_page(of_ids()))
    yield page
    page.close()


@pytest.fixture
def ids(opened_ids: Page) -> Page:
    opened_ids.evaluate("location.hash = ''")
    opened_ids.locator("[aria-pressed=true][data-key^=a]").wait_for(state="detached")
    return opened_ids


@pytest.mark.parametrize("number", range(len(IDS) - 1), ids=lambda number: ascii(IDS[number][:20]))
def test_whatever_an_id_is_its_arrow_can_be_chosen_linked_to_and_put_back(ids: Page, number: int) -> None:
    said: list[str] = []
    ids.on("pageerror", lambda error: said.append(str(error)))
    arrow = ids.locator(f"[data-key=a{number}]").first
    arrow.focus()
    ids.keyboard.press("Enter")
    (chosen,) = pressed(ids, ".arrow")
    assert ids.locator(".list button[aria-pressed=true]").count() == 1
    reload(ids)
    assert pressed(ids, ".arrow") == [chosen]
    assert arrow.get_attribute("aria-pressed") == "true"
    ids.keyboard.press("Escape")
    assert pressed(ids, ".arrow") == []
    assert said == []


@pytest.mark.parametrize("number", range(len(IDS) - 1), ids=lambda number: ascii(IDS[number][:20]))
def test_whatever_the_ids_of_states_are_a_transition_can_be_chosen_and_linked_to(ids: Page, number: int) -> None:
    ids.locator(".list button").nth(number).evaluate("button => button.click()")
    assert ids.locator("[aria-pressed=true][data-key^=a]").evaluate_all("all => all.map(each => each.dataset.key)") == [
        f"a{number}"
    ]
    reload(ids)
    assert ids.locator(".list button").nth(number).get_attribute("aria-pressed") == "true"
    assert ids.locator(".list button[aria-pressed=true]").count() == 1


def test_one_state_without_an_arrow_is_a_page(tab: Page, tmp_path: Path) -> None:
    show(tab, tmp_path, render_page(Lifecycle("one", "One", (state("only", Kind.SUCCESS),), ())))
    assert tab.evaluate(PLACES) == INSIDE
    assert tab.locator(".state").first.evaluate("each => each.getBoundingClientRect().width") > 60
