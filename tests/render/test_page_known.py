from __future__ import annotations

from pathlib import Path

import pytest
from playwright.sync_api import Page, expect

from arrowproof.render.language import LANGUAGES, load_language
from arrowproof.render.page import render_page
from tests.render.drawn import page_of_case
from tests.render.pages import FITS, MEASURE, NOTES, SIZES, grid_drawing, page_of, pressed, show
from tests.render.scene_pages import page_of_views, scene
from tests.render.tabs import address, expect_fragment, expect_no_fragment, go_back, resize
from tests.render.test_page_views import VIEWED, chosen_view

ISOLATE = "\u2068#{}\u2069"


def said(name: str, key: str = "js.address.unknown", lang: str = "en") -> str:
    return load_language(lang)(key, name=ISOLATE.format(name))


def link(tab: Page) -> str:
    """The fragment of the address that Copy link gives."""
    tab.context.grant_permissions(["clipboard-read", "clipboard-write"])
    tab.get_by_role("button", name="Copy link").click()
    expect(tab.get_by_role("status")).to_have_text("Copied.")
    return "#".join(str(tab.evaluate("navigator.clipboard.readText()")).split("#")[1:])


@pytest.mark.parametrize(
    "name",
    [
        "arrow=nope",
        "view=nope",
        "state=nope",
        "group=nope",
        "transition=pending:nope",
        "transition=pending",
        "transition=a:b:c",
        "nope",
        "arrow",
        "arrow=",
        "nope=pick",
        "arrow=%E0%A4",
        "arrows",
        "__proto__=x",
    ],
)
def test_an_address_that_names_nothing_opens_the_whole_says_so_and_is_not_copied(
    tab: Page, tmp_path: Path, name: str
) -> None:
    show(tab, tmp_path, page_of(VIEWED), f"#{name}")
    expect(tab.get_by_role("status")).to_have_text(said(name))
    assert chosen_view(tab) == "Whole"
    assert pressed(tab, ".arrow") == []
    expect_no_fragment(tab)
    assert link(tab) == ""


def test_what_a_partly_good_address_names_is_shown_and_the_rest_is_said(tab: Page, tmp_path: Path) -> None:
    show(tab, tmp_path, page_of(VIEWED), "#view=happy&arrow=nope&x=%3Cb%3E")
    expect(tab.get_by_role("status")).to_have_text(said("x=<b>&arrow=nope", "js.address.part_unknown"))
    assert chosen_view(tab) == "Happy path"
    assert link(tab) == "view=happy"


@pytest.mark.parametrize("fragment", ["", "#", "#view=happy&arrow=pick", "#transition=pending:done", "#state=lost"])
def test_of_an_address_whose_every_part_is_known_nothing_is_said(tab: Page, tmp_path: Path, fragment: str) -> None:
    show(tab, tmp_path, page_of(VIEWED), fragment)
    expect(tab.locator(".notice")).to_have_count(0)


def test_the_line_comes_with_a_later_address_too_and_goes_with_the_next_choice(tab: Page, tmp_path: Path) -> None:
    show(tab, tmp_path, page_of(VIEWED), "#arrow=pick")
    tab.evaluate("location.hash = '#arrow=nope'")
    expect(tab.locator(".notice p")).to_have_text(said("arrow=nope"))
    assert pressed(tab, ".arrow") == []
    tab.get_by_role("button", name="Loss").click()
    expect(tab.locator(".notice")).to_have_count(0)


def test_escape_takes_the_line_away(tab: Page, tmp_path: Path) -> None:
    show(tab, tmp_path, page_of(NOTES), "#arrow=nope")
    tab.keyboard.press("Escape")
    expect(tab.locator(".notice")).to_have_count(0)


def test_the_line_is_closed_by_its_button_which_is_the_first_stop_of_tab(tab: Page, tmp_path: Path) -> None:
    show(tab, tmp_path, page_of(NOTES), "#arrow=nope")
    tab.keyboard.press("Tab")
    expect(tab.get_by_role("button", name="Close this notice")).to_be_focused()
    tab.keyboard.press("Enter")
    expect(tab.locator(".notice")).to_have_count(0)
    tab.keyboard.press("Tab")
    expect(tab.get_by_role("button", name="Copy link")).to_be_focused()


# Every time that the page applies an address it marks each arrow anew, as chosen or not; all of it is done when the
# browser tells of the change for the last time.
COUNTED = """() => {
  let times = 0;
  const watcher = new MutationObserver((marks) => { times += marks.length; });
  watcher.observe(document.querySelector('.arrow'), {attributeFilter: ['aria-pressed']});
  globalThis.counted = (change) => new Promise((resolve) => {
    addEventListener('hashchange', () => setTimeout(() => resolve(times)), {once: true});
    change();
  });
  const link = document.createElement('a');
  link.href = '#arrow=purge';
  document.body.append(link);
}"""


@pytest.mark.parametrize(
    ("change", "arrows"),
    [
        ("location.hash = '#arrow=purge'", ["purge"]),
        ("location.hash = '#arrow=nope'", []),
        ("location.hash = ''", []),
        ("location.assign('#arrow=purge')", ["purge"]),
        ("document.querySelector('a').click()", ["purge"]),
        ("history.back()", ["accept"]),
        ("history.forward()", ["lose"]),
    ],
)
def test_a_change_of_the_address_is_applied_once_however_it_comes_about(
    tab: Page, tmp_path: Path, change: str, arrows: list[str]
) -> None:
    show(tab, tmp_path, page_of(NOTES), "#arrow=accept")
    for name in ("pick", "lose"):
        tab.evaluate("(name) => { location.hash = `#arrow=${name}` }", name)
    go_back(tab)
    assert pressed(tab, ".arrow") == ["pick"]
    tab.evaluate(COUNTED)
    assert tab.evaluate(f"counted(() => {{ {change} }})") == 1
    assert pressed(tab, ".arrow") == arrows


def test_an_address_that_is_typed_into_the_bar_of_an_open_page_is_applied_once(tab: Page, tmp_path: Path) -> None:
    show(tab, tmp_path, page_of(NOTES), "#arrow=accept")
    tab.evaluate(COUNTED)
    tab.evaluate("() => { globalThis.typed = counted(() => 0) }")
    tab.goto(address(tab).replace("accept", "pick"))
    assert tab.evaluate("typed") == 1
    assert pressed(tab, ".arrow") == ["pick"]


PART_LEFT = "js.address.part_left"


@pytest.mark.parametrize(
    ("fragment", "kept", "left"),
    [
        ("view=happy&state=lost", "state=lost", "view=happy"),
        ("view=happy&arrow=lose", "arrow=lose", "view=happy"),
        ("view=happy&transition=pending:lost", "transition=pending:lost", "view=happy"),
        ("state=done&arrow=lose", "arrow=lose", "state=done"),
        ("state=done&transition=pending:lost", "transition=pending:lost", "state=done"),
        ("arrow=purge&transition=pending:lost", "arrow=purge", "transition=pending:lost"),
        ("view=happy&state=done&arrow=lose", "arrow=lose", "view=happy&state=done"),
    ],
)
def test_of_an_address_that_contradicts_itself_the_more_specific_part_is_shown_and_the_rest_said(
    tab: Page, tmp_path: Path, fragment: str, kept: str, left: str
) -> None:
    show(tab, tmp_path, page_of(VIEWED), f"#{fragment}")
    expect(tab.get_by_role("status")).to_have_text(said(left, PART_LEFT))
    assert link(tab) == kept


@pytest.mark.parametrize(
    "fragment",
    [
        "view=happy&arrow=pick&transition=pending:done",
        "state=attempt&arrow=pick",
        "state=attempt&transition=pending:lost",
        "view=happy&state=pending&arrow=pick",
    ],
)
def test_parts_of_an_address_that_go_together_stay_together(tab: Page, tmp_path: Path, fragment: str) -> None:
    show(tab, tmp_path, page_of(VIEWED), f"#{fragment}")
    expect(tab.locator(".notice")).to_have_count(0)
    assert set(link(tab).split("&")) == set(fragment.split("&"))


@pytest.mark.parametrize(
    ("fragment", "kept", "left"),
    [
        ("view=pay&state=allocating", "state=allocating", "view=pay"),
        ("view=pay&group=Payment", "group=Payment", "view=pay"),
        ("group=Returns&state=allocating", "state=allocating", "group=Returns"),
        ("group=Returns&arrow=t11", "arrow=t11", "group=Returns"),
    ],
)
def test_so_it_is_with_the_places_of_a_large_lifecycle(
    tab: Page, tmp_path: Path, fragment: str, kept: str, left: str
) -> None:
    show(tab, tmp_path, page_of_views(), f"#{fragment}")
    expect(tab.get_by_role("status")).to_have_text(said(left, PART_LEFT))
    assert link(tab) == kept


@pytest.mark.parametrize(
    ("fragment", "kept", "left"),
    [
        ("state=pending&state=lost", "state=lost", "state=pending"),
        ("state=nope&arrow=pick&state=done&state=attempt", "state=attempt&arrow=pick", "state=nope&state=done"),
        ("view=happy&transition=a:b&transition=pending:lost", "transition=pending:lost", "transition=a:b&view=happy"),
    ],
)
def test_of_parts_of_one_kind_in_an_address_the_last_is_shown_and_the_others_said(
    tab: Page, tmp_path: Path, fragment: str, kept: str, left: str
) -> None:
    show(tab, tmp_path, page_of(VIEWED), f"#{fragment}")
    expect(tab.get_by_role("status")).to_have_text(said(left, PART_LEFT))
    expect_fragment(tab, f"#{kept}")
    assert link(tab) == kept


def test_of_a_part_that_an_address_holds_twice_nothing_is_said(tab: Page, tmp_path: Path) -> None:
    show(tab, tmp_path, page_of(VIEWED), "#state=lost&state=lost")
    expect(tab.locator(".notice")).to_have_count(0)
    assert link(tab) == "state=lost"


def test_what_is_unknown_and_what_does_not_go_with_the_rest_are_both_said(tab: Page, tmp_path: Path) -> None:
    show(tab, tmp_path, page_of(VIEWED), "#view=happy&state=lost&arrow=nope")
    unknown, left = said("arrow=nope", "js.address.part_unknown"), said("view=happy", PART_LEFT)
    expect(tab.get_by_role("status")).to_have_text(f"{unknown} · {left}")


def test_a_long_name_is_bounded_and_no_character_of_it_acts(tab: Page, tmp_path: Path) -> None:
    show(tab, tmp_path, page_of(NOTES), f"#arrow=%E2%80%AE%0A<img src=x onerror=1>{'注' * 300}")
    name = tab.get_by_role("status").inner_text()
    assert "#arrow=\ufffd\ufffd<img" in name
    assert name.endswith("…\u2069")
    assert len(name) < 130
    expect(tab.locator("img")).to_have_count(0)


@pytest.mark.parametrize("lang", LANGUAGES)
def test_the_line_has_air_at_every_size_and_moves_nothing(tab: Page, tmp_path: Path, lang: str) -> None:
    text = render_page(NOTES, grid_drawing(NOTES), load_language(lang))
    bottom = (
        "Math.max(...['figure', 'aside'].map((part) => document.querySelector(part).getBoundingClientRect().bottom))"
    )
    for width, height in SIZES:
        resize(tab, width, height)
        show(tab, tmp_path, text)
        before = tab.evaluate(bottom)
        show(tab, tmp_path, text, f"#view=a&arrow={'注' * 300}")
        tab.goto("about:blank")
        show(tab, tmp_path, text, f"#view=a&arrow={'注' * 300}")
        line, text_box = (tab.locator(part).bounding_box() for part in (".notice", "#status"))
        assert line is not None
        assert text_box is not None
        assert line["y"] + line["height"] <= height - 12
        assert line["x"] >= 24
        assert line["x"] + line["width"] <= width - 24
        assert text_box["y"] - line["y"] >= 6
        assert tab.evaluate(bottom) == before
        assert tab.evaluate(MEASURE) == FITS, (width, height)


def test_on_a_phone_the_line_stands_above_the_page(tab: Page, tmp_path: Path) -> None:
    resize(tab, 390, 844)
    show(tab, tmp_path, page_of(NOTES), f"#arrow={'nope' * 30}")
    line, header = (tab.locator(part).bounding_box() for part in (".notice", "header"))
    assert line is not None
    assert header is not None
    assert 0 < line["y"] < line["y"] + line["height"] <= header["y"]
    assert tab.evaluate("document.documentElement.scrollWidth <= innerWidth")


@pytest.mark.parametrize("name", ["group=nope", "state=group:Payment", "arrow=bundle:1"])
def test_a_large_model_opens_with_its_overview_where_an_address_names_nothing(
    tab: Page, tmp_path: Path, name: str
) -> None:
    show(tab, tmp_path, page_of_case("order-groups"), f"#{name}")
    expect(tab.get_by_role("status")).to_have_text(said(name))
    assert scene(tab) is None
