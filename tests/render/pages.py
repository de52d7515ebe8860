"""Pages to look at: lifecycles, a quick drawing of them, and what the tests of a page look with."""

from __future__ import annotations

import re
from dataclasses import replace
from html.parser import HTMLParser
from pathlib import Path

from playwright.sync_api import Page

from arrowproof.model.lifecycle import Arrow, Binding, Kind, Lifecycle, Origin, Panel, State
from arrowproof.render.drawing import ArrowPath, Box, Drawing, StateBox, TextLine
from arrowproof.render.packing import unpack
from arrowproof.render.page import render_page
from arrowproof.render.text import clean_text

ROOT = Path(__file__).parents[2]
BUNDLED = ROOT / "arrowproof" / "service" / "notes-job.lifecycle.json"
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


_PACKED = re.compile(r'<script type="text/plain" id="packed"[^>]*>([^<]*)</script>')


def unpacked(page: str) -> str:
    """A page with what it carries packed at its end, as plain text: the drawings in their order, and its data."""
    packed = _PACKED.search(page)
    return page if packed is None else page.replace(packed[0], "") + unpack(packed[1])


def show(tab: Page, folder: Path, page: str, fragment: str = "") -> None:
    file = folder / "page.html"
    file.write_text(page, encoding="utf-8")
    tab.goto(file.as_uri() + fragment)
    tab.evaluate("document.fonts.ready.then(() => null)")


def paper(tab: Page) -> str:
    return str(tab.evaluate("getComputedStyle(document.body).backgroundColor"))


LIGHT_PAPER = "rgb(252, 252, 251)"
DARK_PAPER = "rgb(16, 18, 20)"


def pressed(tab: Page, selector: str) -> list[str]:
    """The arrow id, or the text of the row, of everything that is chosen."""
    return [
        item.get_attribute("data-arrow") or item.inner_text()
        for item in tab.locator(f"{selector}[aria-pressed=true]").all()
    ]


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
    .filter((element) => !element.closest('.sr') && element.checkVisibility() && hasText(element));
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
