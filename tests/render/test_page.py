from __future__ import annotations

import base64
import hashlib
import html
import os
import re
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import replace
from html.parser import HTMLParser
from pathlib import Path
from typing import Any, Literal

import pytest
from playwright.sync_api import Browser, Page, expect

from arrowproof.model.lifecycle import Arrow, Binding, Kind, Lifecycle, Origin, Panel, State
from arrowproof.model.loader import load_lifecycle
from arrowproof.render.chromium import open_browser
from arrowproof.render.drawing import ArrowPath, Box, Drawing, StateBox, TextLine
from arrowproof.render.page import GENERATOR, render_page
from arrowproof.render.sheet import _panel, _Ruler
from arrowproof.render.text import clean_text

ROOT = Path(__file__).parents[2]
BUNDLED = ROOT / "arrowproof" / "service" / "notes-job.lifecycle.json"
GOLDEN = Path(__file__).parent / "golden" / "notes-job.html"
SIZES = ((1440, 900), (1600, 1000), (1920, 1080), (2048, 1320))
WORD = "Überraschungsfrei" * 18
SCRIPT = "</script></style><script>document.title='broken'</script>"


def state(id: str, kind: Kind = Kind.ACTIVE, label: str | None = None, **more: object) -> State:
    return State(id=id, kind=kind, label=id if label is None else label, **{"value": id, **more})  # type: ignore[arg-type]


def grid_drawing(lifecycle: Lifecycle) -> Drawing:
    """States in one row and arrows in one column: enough for a page whose layout is not what is looked at."""
    states = tuple(
        StateBox(
            each.id,
            Box(x := number * 220.0, 0, 180, 40),
            (TextLine(clean_text(each.label)[:20], x + 90, 25, 150, "middle"),),
        )
        for number, each in enumerate(lifecycle.states)
    )
    arrows = tuple(
        ArrowPath(each.id, ((0, y := 80.0 + 20 * number), (100, y)), (50, y))
        for number, each in enumerate(lifecycle.arrows)
    )
    return Drawing(Box(0, 0, 220.0 * len(states), 80 + 20 * len(arrows)), states, arrows)


def page_of(lifecycle: Lifecycle) -> str:
    return render_page(lifecycle, grid_drawing(lifecycle))


TWO = Lifecycle("two", "Two", (state("open"), state("done", Kind.SUCCESS)), (Arrow("close", "open", "done", "close"),))
NOTES = Lifecycle(
    "notes",
    "Notes",
    (
        state("pending", Kind.WAITING),
        state("attempt", Kind.PASSING),
        state("done", Kind.SUCCESS),
        state("lost", value=3),
    ),
    (
        Arrow("accept", None, "pending", "POST"),
        Arrow("pick", "pending", "attempt", "poll"),
        Arrow("succeed", "attempt", "done", guard="written"),
        Arrow("lose", "attempt", "lost"),
        Arrow("purge", "lost", None),
    ),
    summary="What happens to a note.",
    binding=Binding("jobs", ("tenant", "id"), "status", watch=("attempts",)),
    panels=(Panel("One row", ("It commits or it does not.", "UNIQUE holds it.")),),
    origin=Origin(sha256="9f2c41ba" + "0" * 56),
)


class Collector(HTMLParser):
    """The elements of a page, with their attributes, and the text of style and script."""

    def __init__(self, page: str) -> None:
        super().__init__(convert_charrefs=True)
        self.elements: list[tuple[str, dict[str, str | None]]] = []
        self.raw: dict[str, list[str]] = {"style": [], "script": []}
        self.text = ""
        self._open = ""
        self.feed(page)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.elements.append((tag, dict(attrs)))
        self._open = tag
        self.text += " "

    def handle_endtag(self, tag: str) -> None:
        self._open = "" if tag == self._open else self._open
        self.text += " "

    def handle_data(self, data: str) -> None:
        if self._open in self.raw:
            self.raw[self._open].append(data)
        else:
            self.text += data


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    with open_browser() as opened:
        yield opened


@pytest.fixture
def tab(browser: Browser) -> Iterator[Page]:
    context = browser.new_context(viewport={"width": 1440, "height": 900})
    page = context.new_page()
    page.set_default_timeout(20_000)
    yield page
    context.close()


def show(tab: Page, folder: Path, page: str, fragment: str = "") -> None:
    file = folder / "page.html"
    file.write_text(page, encoding="utf-8")
    tab.goto(file.as_uri() + fragment)
    tab.evaluate("document.fonts.ready.then(() => null)")


def paper(tab: Page) -> str:
    return str(tab.evaluate("getComputedStyle(document.body).backgroundColor"))


LIGHT_PAPER = "rgb(252, 252, 251)"
DARK_PAPER = "rgb(16, 18, 20)"


# --- What the file says


def test_the_page_of_the_bundled_lifecycle_is_the_golden_one() -> None:
    got = render_page(load_lifecycle(BUNDLED))
    saved = GOLDEN.with_suffix(".got.html")
    saved.parent.mkdir(exist_ok=True)
    if not GOLDEN.exists() or got != GOLDEN.read_text(encoding="utf-8"):
        saved.write_text(got, encoding="utf-8", newline="\n")
        wanted, found = GOLDEN.relative_to(ROOT), saved.relative_to(ROOT)
        pytest.fail(f"the page has changed. Look at {found}; if it is right: mv {found} {wanted}")
    saved.unlink(missing_ok=True)


def test_another_process_with_another_hash_seed_makes_the_same_bytes() -> None:
    code = (
        "import hashlib, sys; from pathlib import Path; from arrowproof.model.loader import load_lifecycle;"
        "from arrowproof.render.page import render_page;"
        "print(hashlib.sha256(render_page(load_lifecycle(Path(sys.argv[1]))).encode()).hexdigest())"
    )
    seen = {
        subprocess.run(
            [sys.executable, "-c", code, str(BUNDLED)],
            env={**os.environ, "PYTHONHASHSEED": seed},
            cwd=ROOT,
            capture_output=True,
            text=True,
            check=True,
            timeout=60,
        ).stdout
        for seed in ("1", "2")
    }
    assert len(seen) == 1


def test_the_header_says_what_it_is_and_counts_it() -> None:
    page = Collector(page_of(NOTES))
    words = " ".join(page.text.split())
    assert "Notes What happens to a note." in words
    assert "model 9f2c41ba" in words
    assert "states, 1 passing 4 arrows 5 transitions 4" in words


def test_transitions_are_listed_with_the_arrows_that_they_walk_over() -> None:
    page = Collector(page_of(NOTES))
    words = " ".join(page.text.split())
    assert "4 transitions over 5 arrows" in words
    assert "created → pending accept" in words
    assert "pending → done pick, succeed" in words
    assert "lost → removed purge" in words
    assert [attributes["data-arrows"] for tag, attributes in page.elements if "data-arrows" in attributes] == [
        "0",
        "1 2",
        "1 3",
        "4",
    ]


def test_the_binding_says_where_the_lifecycle_is_stored() -> None:
    words = " ".join(Collector(page_of(NOTES)).text.split())
    assert "table jobs key tenant, id state status watched attempts values lost = 3" in words
    assert "Where it lives" not in Collector(page_of(TWO)).text


def test_the_legend_holds_only_what_occurs() -> None:
    def legend(lifecycle: Lifecycle) -> str:
        page = page_of(lifecycle)
        return " ".join(Collector(page[page.index("<figcaption") : page.index("</figcaption>")]).text.split())

    assert legend(TWO) == "active success"
    assert legend(NOTES) == "created removed event [guard] active waiting success passing"


def test_arrows_are_a_table_for_screen_readers() -> None:
    page = page_of(NOTES)
    table = Collector(page[page.index("<caption>") : page.index("</table>")])
    assert " ".join(table.text.split()).startswith(
        "Arrows of Notes Arrow From To Label accept created pending POST pick pending attempt poll"
    )


# --- What the file cannot do


def test_the_policy_lets_exactly_the_page_s_own_style_and_script_run() -> None:
    page = Collector(page_of(NOTES))
    policy = next(a["content"] for tag, a in page.elements if a.get("http-equiv") == "Content-Security-Policy")
    assert policy is not None
    for name in ("style", "script"):
        (text,) = page.raw[name]
        digest = base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()
        assert re.search(rf"{name}-src 'sha256-{re.escape(digest)}';", policy)
    assert policy.startswith("default-src 'none';")
    assert "unsafe" not in policy


def test_there_is_no_address_to_ask_and_no_inline_style_or_handler() -> None:
    page = page_of(NOTES)
    addresses = re.findall(r"(?:https?:)?//[\w.-]+\.\w+[\w/.-]*", re.sub(r"base64,[\w+/=]+", "", html.unescape(page)))
    assert set(addresses) == {"http://www.w3.org/2000/svg"}
    names = {name for _, attributes in Collector(page).elements for name in attributes}
    assert not {name for name in names if name.startswith("on") or name in ("style", "src")}


def test_a_page_can_be_told_from_other_files_by_its_beginning() -> None:
    assert GENERATOR in page_of(TWO)[:4096]


HOSTILE = [
    "<script>boom()</script>",
    SCRIPT,
    "\"'><img src=x onerror=boom()>",
    "{{ 7 * 7 }}{% raw %}",
    "<!-- ]]>",
    "a&b;",
]


@pytest.mark.parametrize("text", HOSTILE)
def test_every_text_of_the_model_is_escaped(text: str) -> None:
    hostile = Lifecycle(
        text,
        text,
        (state(text, Kind.WAITING, text, note=text), state("b", Kind.SUCCESS, value=text)),
        (Arrow(text, text, "b", text, text, text),),
        summary=text,
        binding=Binding(text, (text,), text, watch=(text,)),
        panels=(Panel(text, (text, text)),),
    )
    page = Collector(page_of(hostile))
    plain = Collector(page_of(NOTES))
    assert {tag for tag, _ in page.elements} <= {tag for tag, _ in plain.elements} | {"circle"}
    assert len(page.raw["script"]) == len(page.raw["style"]) == 1
    assert page.text.count(text) >= 10


@pytest.mark.parametrize("text", ["\x00\x07", "\u202eevil\u2066", "\ud800", "\ufffe", ""])
def test_text_that_cannot_be_drawn_makes_a_page_that_can_be_written(text: str) -> None:
    lifecycle = replace(
        NOTES,
        title=text,
        summary=text,
        states=(replace(NOTES.states[0], label=text, note=text), *NOTES.states[1:]),
        panels=(Panel(text, (text,)),),
    )
    page = page_of(lifecycle)
    page.encode("utf-8")
    assert not re.search("[\x00-\x08\x0b-\x1f\u202e\u2066\ufffe]", page)


# --- What it does in a browser


def test_the_browser_runs_nothing_of_the_model_and_asks_for_nothing(tab: Page, tmp_path: Path) -> None:
    asked: list[str] = []
    said: list[str] = []
    tab.on("request", lambda request: asked.append(request.url))
    tab.on("console", lambda message: said.append(message.text))
    tab.on("pageerror", lambda error: said.append(str(error)))
    hostile = replace(NOTES, title=SCRIPT, summary=SCRIPT, panels=(Panel(SCRIPT, (SCRIPT,)),))
    show(tab, tmp_path, page_of(hostile))
    assert tab.title().startswith(SCRIPT)
    assert [url for url in asked if not url.startswith("data:")] == [(tmp_path / "page.html").as_uri()]
    assert said == []


def test_a_script_or_style_that_is_not_the_page_s_own_does_not_run(tab: Page, tmp_path: Path) -> None:
    said: list[str] = []
    tab.on("console", lambda message: said.append(message.text))
    foreign = "<style>body{background:red}</style><script>document.title = 'foreign'</script></body>"
    show(tab, tmp_path, page_of(TWO).replace("</body>", foreign))
    assert tab.title().startswith("Two")
    assert paper(tab) == LIGHT_PAPER
    assert sum("Content Security Policy" in text for text in said) == 2


@pytest.mark.parametrize(("scheme", "expected"), [("light", LIGHT_PAPER), ("dark", DARK_PAPER)])
def test_the_page_follows_the_reader_s_preference(tab: Page, tmp_path: Path, scheme: str, expected: str) -> None:
    tab.emulate_media(color_scheme=scheme)  # type: ignore[arg-type]
    show(tab, tmp_path, page_of(TWO))
    assert paper(tab) == expected


@pytest.mark.parametrize(("system", "other"), [("dark", "light"), ("light", "dark")])
def test_each_click_of_the_switch_shows_the_other_theme_and_is_remembered(
    tab: Page, tmp_path: Path, system: Literal["dark", "light"], other: Literal["dark", "light"]
) -> None:
    papers = {"light": LIGHT_PAPER, "dark": DARK_PAPER}
    tab.emulate_media(color_scheme=system)
    show(tab, tmp_path, page_of(TWO))
    switch = tab.get_by_role("button", name="Theme")
    expect(switch).to_have_accessible_name("Theme: auto")
    assert paper(tab) == papers[system]
    switch.click()
    expect(switch).to_have_accessible_name(f"Theme: {other}")
    assert paper(tab) == papers[other]
    tab.reload()
    expect(switch).to_have_accessible_name(f"Theme: {other}")
    assert paper(tab) == papers[other]
    switch.click()
    expect(switch).to_have_accessible_name("Theme: auto")
    assert paper(tab) == papers[system]


def test_a_click_shows_the_other_theme_when_the_system_has_come_to_the_chosen_one(tab: Page, tmp_path: Path) -> None:
    tab.emulate_media(color_scheme="dark")
    show(tab, tmp_path, page_of(TWO))
    switch = tab.get_by_role("button", name="Theme")
    switch.click()
    tab.emulate_media(color_scheme="light")
    assert paper(tab) == LIGHT_PAPER
    switch.click()
    expect(switch).to_have_accessible_name("Theme: dark")
    assert paper(tab) == DARK_PAPER


def test_the_switch_looks_like_a_control(tab: Page, tmp_path: Path) -> None:
    show(tab, tmp_path, page_of(TWO))
    edge = tab.evaluate("getComputedStyle(document.getElementById('theme')).border")
    assert edge == "1px solid rgb(90, 99, 109)"


def test_the_switch_works_where_nothing_can_be_stored(tab: Page, tmp_path: Path) -> None:
    tab.add_init_script("Object.defineProperty(window, 'localStorage', {get() { throw new DOMException('no') }})")
    said: list[str] = []
    tab.on("pageerror", lambda error: said.append(str(error)))
    show(tab, tmp_path, page_of(TWO))
    tab.get_by_role("button", name="Theme").click()
    expect(tab.get_by_role("button", name="Theme")).to_have_accessible_name("Theme: dark")
    assert said == []


def pressed(tab: Page, selector: str) -> list[str]:
    """The arrow id, or the text of the row, of everything that is chosen."""
    return [
        item.get_attribute("data-arrow") or item.inner_text()
        for item in tab.locator(f"{selector}[aria-pressed=true]").all()
    ]


def test_choosing_a_transition_marks_its_arrows_and_escape_clears(tab: Page, tmp_path: Path) -> None:
    show(tab, tmp_path, page_of(NOTES))
    tab.get_by_role("button", name="pending → done").click()
    assert pressed(tab, ".arrow") == ["pick", "succeed"]
    assert tab.url.endswith("#transition=pending:done")
    tab.keyboard.press("Escape")
    assert pressed(tab, ".arrow") == []
    assert "#" not in tab.url


def test_a_transition_that_is_pointed_at_or_in_focus_lights_its_arrows(tab: Page, tmp_path: Path) -> None:
    show(tab, tmp_path, page_of(NOTES))
    lit = "[...document.querySelectorAll('.arrow.lit')].map(arrow => arrow.dataset.arrow)"
    places = "[...document.querySelectorAll('.arrow')].map(arrow => JSON.stringify(arrow.getBoundingClientRect()))"
    before = tab.evaluate(places)
    tab.get_by_role("button", name="pending → done").hover()
    assert tab.evaluate(lit) == ["pick", "succeed"]
    assert tab.evaluate(places) == before
    assert tab.evaluate("getComputedStyle(document.querySelector('.arrow.lit .line')).stroke") == "rgb(31, 79, 208)"
    tab.mouse.move(2, 2)
    assert tab.evaluate(lit) == []
    tab.get_by_role("button", name="created → pending").focus()
    assert tab.evaluate(lit) == ["accept"]
    tab.keyboard.press("Shift+Tab")
    assert tab.evaluate(lit) == []
    assert pressed(tab, ".arrow") == []


@pytest.mark.parametrize("fragment", ["#transition=pending:done", "#transition=%70ending:done"])
def test_an_address_with_a_transition_opens_with_it_chosen(tab: Page, tmp_path: Path, fragment: str) -> None:
    show(tab, tmp_path, page_of(NOTES), fragment)
    assert pressed(tab, ".arrow") == ["pick", "succeed"]
    assert len(pressed(tab, ".list button")) == 1


def test_an_address_names_arrows_and_transitions_whose_ids_have_a_colon(tab: Page, tmp_path: Path) -> None:
    states = (state("a:b"), state("c", Kind.SUCCESS))
    show(tab, tmp_path, page_of(replace(TWO, states=states, arrows=(Arrow("x:y", "a:b", "c"),))), "#arrow=x:y")
    assert pressed(tab, ".arrow") == ["x:y"]
    tab.keyboard.press("Escape")
    tab.get_by_role("button", name="a:b → c").click()
    tab.reload()
    assert pressed(tab, ".arrow") == ["x:y"]


def test_choosing_an_arrow_by_keyboard_marks_the_transitions_over_it_and_names_it_in_the_address(
    tab: Page, tmp_path: Path
) -> None:
    show(tab, tmp_path, page_of(NOTES))
    tab.locator("#arrow-0").focus()
    tab.keyboard.press("ArrowRight")
    tab.keyboard.press("Enter")
    assert pressed(tab, ".arrow") == ["pick"]
    assert len(pressed(tab, ".list button")) == 2
    assert tab.url.endswith("#arrow=pick")
    tab.keyboard.press("Enter")
    assert pressed(tab, ".list button") == []
    assert "#" not in tab.url


@pytest.mark.parametrize(
    ("media", "chosen"),
    [
        ({"color_scheme": "light"}, "rgb(31, 79, 208)"),
        ({"color_scheme": "dark"}, "rgb(141, 176, 255)"),
        ({"forced_colors": "active"}, None),
    ],
    ids=["light", "dark", "forced"],
)
def test_an_arrow_in_focus_shows_it_on_its_line_and_tip(
    tab: Page, tmp_path: Path, media: dict[str, Any], chosen: str | None
) -> None:
    tab.emulate_media(**media)
    show(tab, tmp_path, page_of(NOTES))
    look = """() => [".line", ".tip"].map((part) => {
      const style = getComputedStyle(document.querySelector("#arrow-1 " + part));
      return part === ".line" ? [style.stroke, style.strokeWidth] : style.fill;
    })"""
    (before, _), _ = tab.evaluate(look)
    tab.locator("#arrow-0").focus()
    tab.keyboard.press("ArrowRight")
    (line, width), tip = tab.evaluate(look)
    assert line == tip != before
    assert chosen in (None, line)
    assert width == "2.5px"
    tab.keyboard.press("Enter")
    assert tab.evaluate(look)[0][1] == "4px"


@pytest.mark.parametrize("fragment", ["#arrow=pick", "#arrow=%70ick"])
def test_an_address_with_an_arrow_opens_with_it_chosen(tab: Page, tmp_path: Path, fragment: str) -> None:
    show(tab, tmp_path, page_of(NOTES), fragment)
    assert pressed(tab, ".arrow") == ["pick"]


@pytest.mark.parametrize(
    "fragment", ["#arrow=%E0%A4%A", "#arrow=nothing", "#arrow=", "#x", "#transition=%E0", "#transition=a:b"]
)
def test_an_address_that_names_no_arrow_chooses_none(tab: Page, tmp_path: Path, fragment: str) -> None:
    said: list[str] = []
    tab.on("pageerror", lambda error: said.append(str(error)))
    show(tab, tmp_path, page_of(NOTES), fragment)
    assert pressed(tab, ".arrow") == []
    assert said == []


def test_a_text_in_a_foreign_font_takes_its_own_width_but_never_more_than_was_reserved(
    tab: Page, tmp_path: Path
) -> None:
    lifecycle = replace(
        TWO, states=(state("open", label="受付待ち受付待ち受付待ち"), state("done", Kind.SUCCESS, "完了"))
    )
    show(tab, tmp_path, page_of(lifecycle))
    tab.wait_for_function("!document.querySelectorAll('text.name')[1].hasAttribute('textLength')")
    widths = tab.evaluate("[...document.querySelectorAll('text.name')].map(text => text.getComputedTextLength())")
    assert widths[0] == pytest.approx(150, abs=0.5)
    assert widths[1] < 40


# --- How it fits


def ring(states: int, arrows: int, **more: object) -> Lifecycle:
    made = [state(f"state_{number}", list(Kind)[number % 5]) for number in range(states)]
    lines = [
        Arrow(f"a{n}", f"state_{n % states}", f"state_{(n * 5 + n // states + 1) % states}", f"event {n}")
        for n in range(arrows)
    ]
    return Lifecycle("ring", f"Ring of {states}", tuple(made), (Arrow("new", None, "state_0"), *lines), **more)  # type: ignore[arg-type]


MODELS = {
    "two states": TWO,
    "notes": NOTES,
    "japanese": Lifecycle(
        "注文",
        "注文の状態遷移",
        (state("受付", Kind.WAITING, "受付待ち"), state("完了", Kind.SUCCESS, "完了しました")),
        (Arrow("作成", None, "受付", "注文作成"), Arrow("進む", "受付", "完了", "支払いが確認された")),
        summary="注文は一度だけ処理され、三回まで再試行されます。" * 5,
        panels=(Panel("見出し", ("日本語の説明文です。" * 12,)),),
    ),
    "one very long word everywhere": Lifecycle(
        WORD,
        WORD,
        (state("a", Kind.WAITING), state("b", Kind.SUCCESS)),
        (Arrow(WORD, "a", "b", "go"),),
        summary=WORD,
        binding=Binding(WORD, (WORD,), WORD),
        panels=(Panel(WORD, (WORD,)),),
    ),
    "right to left": replace(
        TWO, title="دورة حياة الطلب", summary="حالة الطلب " * 12, panels=(Panel("ملاحظة", ("نص",)),)
    ),
    "13 states and 19 arrows": ring(13, 18, binding=Binding("jobs", ("id",), "status")),
    "sixty transitions and panels": ring(
        12,
        59,
        panels=tuple(Panel(f"Panel {number}", ("Some words that take their room. " * 4,)) for number in range(4)),
    ),
    "more transitions than are listed": ring(30, 120),
}

MEASURE = """() => {
  const hasText = (element) => [...element.childNodes].some((node) => node.nodeType === 3 && node.data.trim());
  const texts = [...document.querySelectorAll('header *, aside *, figcaption *, .panels *')]
    .filter((element) => !element.closest('.sr') && hasText(element));
  const lines = texts.flatMap((element) => {
    const range = document.createRange();
    range.selectNodeContents(element);
    return [...range.getClientRects()].map((box) => ({element, box, text: element.textContent}));
  });
  const isOutside = ({box}) =>
    box.right > innerWidth + 0.5 || box.bottom > innerHeight + 0.5 || box.left < -0.5 || box.top < -0.5;
  const isOverlap = (one, two) => one.element !== two.element
    && !one.element.contains(two.element) && !two.element.contains(one.element)
    && Math.min(one.box.right, two.box.right) - Math.max(one.box.left, two.box.left) > 1
    && Math.min(one.box.bottom, two.box.bottom) - Math.max(one.box.top, two.box.top) > 4;
  const root = document.documentElement;
  return {
    right: root.scrollWidth - innerWidth,
    down: root.scrollHeight - innerHeight,
    outside: lines.filter(isOutside).map((line) => line.text),
    small: texts.filter((element) => parseFloat(getComputedStyle(element).fontSize) < 11).map((e) => e.textContent),
    overlapping: lines.flatMap((one) => lines.filter((two) => isOverlap(one, two)).map((two) => [one.text, two.text])),
  };
}"""
FITS = {"right": 0, "down": 0, "outside": [], "small": [], "overlapping": []}


@pytest.mark.parametrize("name", MODELS)
def test_nothing_scrolls_is_cut_small_or_overlaps_at_any_size_in_either_theme(
    tab: Page, tmp_path: Path, name: str
) -> None:
    show(tab, tmp_path, page_of(MODELS[name]))
    for width, height in SIZES:
        tab.set_viewport_size({"width": width, "height": height})
        for scheme in ("light", "dark"):
            tab.emulate_media(color_scheme=scheme)  # type: ignore[arg-type]
            assert tab.evaluate(MEASURE) == FITS, (width, height, scheme)


@pytest.mark.parametrize(
    ("fault", "seen"),
    [
        ("document.querySelector('h2').style.fontSize = '10px'", "small"),
        ("document.querySelector('h2').style.marginBottom = '-3em'", "overlapping"),
        ("document.querySelector('h2').style.marginLeft = '-2000px'", "outside"),
        ("document.querySelector('h2').style.width = '4000px'", "right"),
        ("document.querySelector('h2').style.height = '4000px'", "down"),
    ],
)
def test_the_measure_of_the_tests_sees_each_fault(tab: Page, tmp_path: Path, fault: str, seen: str) -> None:
    show(tab, tmp_path, page_of(NOTES))
    assert tab.evaluate(MEASURE) == FITS
    tab.evaluate(fault)
    assert tab.evaluate(MEASURE)[seen] not in (0, [])


def test_a_page_with_too_much_text_scrolls_and_hides_nothing(tab: Page, tmp_path: Path) -> None:
    endless = Panel("Endless", tuple("word " * 40 for _ in range(80)))
    show(tab, tmp_path, page_of(replace(NOTES, panels=(endless,))))
    measured = tab.evaluate(MEASURE)
    assert measured["down"] > 0
    assert measured["right"] == 0
    assert measured["overlapping"] == []


@pytest.mark.parametrize("size", [(1280, 720), (1000, 800), (1440, 500), (390, 844), (320, 480)])
@pytest.mark.parametrize("name", ["notes", "13 states and 19 arrows", "one very long word everywhere"])
def test_a_smaller_screen_scrolls_down_and_never_sideways(
    tab: Page, tmp_path: Path, name: str, size: tuple[int, int]
) -> None:
    tab.set_viewport_size({"width": size[0], "height": size[1]})
    show(tab, tmp_path, page_of(MODELS[name]))
    measured = tab.evaluate(MEASURE)
    assert (measured["right"], measured["small"], measured["overlapping"]) == (0, [], [])


def test_a_list_that_is_too_long_shows_what_is_chosen(tab: Page, tmp_path: Path) -> None:
    show(tab, tmp_path, page_of(MODELS["more transitions than are listed"]))
    shown = tab.locator(".list li:not(.sr)")
    expect(shown).to_have_count(0)
    tab.locator("#arrow-1").focus()
    tab.keyboard.press("Enter")
    expect(shown).to_have_count(1)
    expect(shown).to_have_text("state_0 → state_1")


def test_a_print_is_light_and_one_landscape_page(tab: Page, tmp_path: Path) -> None:
    tab.emulate_media(color_scheme="dark")
    show(tab, tmp_path, page_of(NOTES))
    tab.evaluate("document.documentElement.dataset.theme = 'dark'")
    printed = tab.pdf(prefer_css_page_size=True, print_background=True)
    assert len(re.findall(rb"/Type\s*/Page\b", printed)) == 1
    tab.emulate_media(media="print")
    assert paper(tab) == LIGHT_PAPER


def test_forced_colours_reach_the_drawing(tab: Page, tmp_path: Path) -> None:
    tab.emulate_media(forced_colors="active")
    show(tab, tmp_path, page_of(NOTES))
    used = tab.evaluate(
        "['.line', '.box'].map(name => getComputedStyle(document.querySelector(name)).stroke)"
        ".concat(getComputedStyle(document.body).color)"
    )
    assert len(set(used)) == 1


@pytest.mark.parametrize("count", [1, 2, 5])
def test_the_lines_of_a_panel_stand_apart_and_are_planned_for_as_they_are_drawn(
    tab: Page, tmp_path: Path, count: int
) -> None:
    panel = Panel("One row", ("A line.",) * count)
    show(tab, tmp_path, page_of(replace(NOTES, panels=(panel,))))
    drawn, gap = tab.evaluate("""() => {
      const lines = [...document.querySelectorAll(".panels p")].map((line) => line.getBoundingClientRect());
      const rem = parseFloat(getComputedStyle(document.documentElement).fontSize);
      const height = document.querySelector(".panels section").getBoundingClientRect().height;
      return [height / rem, lines.length > 1 ? (lines[1].top - lines[0].bottom) / rem : null];
    }""")
    assert drawn == pytest.approx(_panel(panel, 26, _Ruler()), abs=0.02)
    assert gap is None or gap == pytest.approx(0.9 * 0.35, abs=0.02)
