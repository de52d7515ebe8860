from __future__ import annotations

import math
from functools import cache
from pathlib import Path

import pytest
from playwright.sync_api import Browser, CDPSession, Page, expect

from arrowproof.model.lifecycle import Arrow, Lifecycle
from arrowproof.render.page import render_page
from tests.render.pages import grid_drawing, show, state
from tests.render.tabs import expect_no_fragment, go_back, resize

SCENE = ".drawing:not([hidden])"


@cache
def page() -> str:
    states = tuple(state(f"s{number}") for number in range(24))
    arrows = tuple(Arrow(f"a{n}", f"s{n}", f"s{n + 1}", f"event {n}") for n in range(23))
    lifecycle = Lifecycle("line", "Line", states, arrows)
    return render_page(lifecycle, grid_drawing(lifecycle))


def view(tab: Page) -> list[float]:
    """x, y, width and height of what is shown."""
    return [float(part) for part in (tab.locator(SCENE).get_attribute("viewBox") or "").split()]


def level(tab: Page, whole: list[float]) -> float:
    return whole[2] / view(tab)[2]


def expect_level_above(tab: Page, whole: list[float], least: float) -> None:
    """A wheel and a touch reach the page when it is drawn next."""
    is_near = "([scene, most]) => Number(document.querySelector(scene).getAttribute('viewBox').split(' ')[2]) < most"
    tab.wait_for_function(is_near, arg=[SCENE, whole[2] / least])


def middle(tab: Page) -> tuple[float, float]:
    box = tab.locator(SCENE).bounding_box()
    assert box is not None
    return box["x"] + box["width"] / 2, box["y"] + box["height"] / 2


def test_buttons_zoom_in_and_out_and_back_to_the_whole(tab: Page, tmp_path: Path) -> None:
    show(tab, tmp_path, page())
    whole = view(tab)
    out, back, near = (tab.get_by_role("button", name=name, exact=True) for name in ("Zoom out", "Fit", "Zoom in"))
    expect(out).to_be_disabled()
    expect(back).to_be_disabled()
    near.click()
    near.click()
    assert level(tab, whole) == pytest.approx(1.96, abs=0.01)
    out.click()
    assert level(tab, whole) == pytest.approx(1.4, abs=0.01)
    back.click()
    assert view(tab) == whole


def test_zoom_ends_at_eight_times_and_at_the_whole(tab: Page, tmp_path: Path) -> None:
    show(tab, tmp_path, page())
    whole = view(tab)
    tab.locator(f"{SCENE} .state").first.focus()
    for _ in range(12):
        tab.keyboard.press("+")
    assert level(tab, whole) == pytest.approx(8, abs=0.01)
    expect(tab.get_by_role("button", name="Zoom in")).to_be_disabled()
    for _ in range(14):
        tab.keyboard.press("-")
    assert view(tab) == whole


def test_the_wheel_zooms_at_the_pointer_where_the_page_does_not_scroll(tab: Page, tmp_path: Path) -> None:
    show(tab, tmp_path, page())
    whole = view(tab)
    place = """([x, y]) => {
      const {a, d, e, f} = document.querySelector('.drawing:not([hidden])').getScreenCTM();
      return [(x - e) / a, (y - f) / d];
    }"""
    x, y = middle(tab)
    point = [x + 120, y + 5]
    before = tab.evaluate(place, point)
    tab.mouse.move(*point)
    tab.mouse.wheel(0, -300)
    expect_level_above(tab, whole, 1.1)
    after = tab.evaluate(place, point)
    assert after[0] == pytest.approx(before[0], abs=whole[2] / 400)


def test_a_drag_moves_what_is_zoomed_and_is_no_click(tab: Page, tmp_path: Path) -> None:
    show(tab, tmp_path, page())
    whole = view(tab)
    for _ in range(4):
        tab.get_by_role("button", name="Zoom in").click()
    before = view(tab)
    x, y = middle(tab)
    boxes = [each.bounding_box() for each in tab.locator(f"{SCENE} .state").all()]
    middles = [(box["x"] + box["width"] / 2, box["y"] + box["height"] / 2) for box in boxes if box]
    start = min(middles, key=lambda place: math.dist(place, (x, y)))
    tab.mouse.move(*start)
    tab.mouse.down()
    tab.mouse.move(start[0] - 60, start[1], steps=4)
    tab.mouse.up()
    assert view(tab)[0] > before[0]
    expect_no_fragment(tab)
    tab.mouse.move(x, y)
    tab.mouse.down()
    tab.mouse.move(x + 5000, y, steps=4)
    tab.mouse.up()
    assert view(tab)[0] == pytest.approx(whole[0], abs=0.1)


def test_shift_and_the_arrow_keys_move_what_is_zoomed(tab: Page, tmp_path: Path) -> None:
    show(tab, tmp_path, page())
    tab.locator(f"{SCENE} .state").first.focus()
    for _ in range(3):
        tab.keyboard.press("+")
    before = view(tab)
    tab.keyboard.press("Shift+ArrowRight")
    moved = view(tab)
    assert moved[0] > before[0]
    tab.keyboard.press("Shift+ArrowLeft")
    assert view(tab)[0] == pytest.approx(before[0], abs=0.1)
    tab.keyboard.press("0")
    expect(tab.get_by_role("button", name="Fit")).to_be_disabled()


def test_what_keys_lead_to_comes_into_sight(tab: Page, tmp_path: Path) -> None:
    show(tab, tmp_path, page())
    frame = tab.locator(SCENE).bounding_box()
    first, last = tab.locator(f"{SCENE} .state").first, tab.locator(f"{SCENE} .state").last
    assert frame is not None
    first.focus()
    for _ in range(4):
        tab.keyboard.press("+")
    for key, reached in (("ArrowLeft", last), ("ArrowRight", first)):
        tab.keyboard.press(key)
        expect(reached).to_be_focused()
        box = reached.bounding_box()
        assert box is not None
        assert frame["x"] - 1 <= box["x"] <= box["x"] + box["width"] <= frame["x"] + frame["width"] + 1


def test_another_scene_is_shown_whole_and_the_way_back_too(tab: Page, tmp_path: Path) -> None:
    show(tab, tmp_path, page())
    whole = view(tab)
    tab.get_by_role("button", name="Zoom in").click()
    tab.evaluate("location.hash = '#state=s3'")
    expect(tab.locator(SCENE)).to_have_attribute("data-fragment", "#state=s3")
    expect(tab.get_by_role("button", name="Fit")).to_be_disabled()
    go_back(tab)
    assert view(tab) == whole


def test_where_the_page_scrolls_the_wheel_scrolls_it_and_ctrl_zooms(tab: Page, tmp_path: Path) -> None:
    resize(tab, 700, 500)
    show(tab, tmp_path, page())
    whole = view(tab)
    tab.locator(SCENE).scroll_into_view_if_needed()
    box = tab.locator(".draw").bounding_box()
    assert box is not None
    tab.mouse.move(box["x"] + 100, min(box["y"] + box["height"] / 2, 490))
    at = tab.evaluate("scrollY")
    tab.mouse.wheel(0, 120)
    tab.wait_for_function("(at) => scrollY > at", arg=at)
    assert view(tab) == whole
    box = tab.locator(".draw").bounding_box()
    assert box is not None
    tab.mouse.move(box["x"] + 100, max(box["y"], 0) + 20)
    tab.keyboard.down("Control")
    tab.mouse.wheel(0, -200)
    expect_level_above(tab, whole, 1.1)
    tab.keyboard.up("Control")


def touch(session: CDPSession, kind: str, *points: tuple[float, float]) -> None:
    fingers = [{"x": x, "y": y, "id": number} for number, (x, y) in enumerate(points)]
    session.send("Input.dispatchTouchEvent", {"type": kind, "touchPoints": fingers})


@pytest.mark.parametrize("size", [(1440, 900), (700, 900)])
def test_two_fingers_zoom_and_one_never_stops_the_page_from_scrolling(
    browser: Browser, tmp_path: Path, size: tuple[int, int]
) -> None:
    context = browser.new_context(viewport={"width": size[0], "height": size[1]}, has_touch=True)
    tab = context.new_page()
    show(tab, tmp_path, page())
    whole = view(tab)
    tab.locator(SCENE).scroll_into_view_if_needed()
    box = tab.locator(".draw").bounding_box()
    assert box is not None
    x, y = box["x"] + min(box["width"], size[0]) / 2, box["y"] + box["height"] / 2
    session = context.new_cdp_session(tab)
    touch(session, "touchStart", (x - 40, y), (x + 40, y))
    touch(session, "touchMove", (x - 70, y), (x + 70, y))
    touch(session, "touchMove", (x - 100, y), (x + 100, y))
    touch(session, "touchEnd")
    expect_level_above(tab, whole, 1.5)
    stopped = """([x, y]) => {
      const target = document.querySelector('.draw');
      const finger = (at) => new Touch({identifier: 1, target, clientX: at, clientY: y});
      const send = (kind, at) => {
        const event = new TouchEvent(kind, {touches: [finger(at)], cancelable: true, bubbles: true});
        target.dispatchEvent(event);
        return event.defaultPrevented;
      };
      send('touchstart', x);
      return send('touchmove', x - 30);
    }"""
    assert tab.evaluate(stopped, [x, y]) == (size == (1440, 900))
    context.close()


def test_zoom_keys_serve_without_the_focus_in_the_drawing_and_leave_what_is_written_alone(
    tab: Page, tmp_path: Path
) -> None:
    show(tab, tmp_path, page())
    whole = view(tab)
    for key in ("Shift+ArrowRight", "+", "+"):
        tab.keyboard.press(key)
    assert level(tab, whole) == pytest.approx(1.96, abs=0.01)
    left = view(tab)[0]
    tab.keyboard.press("Shift+ArrowRight")
    assert view(tab)[0] > left
    field = tab.get_by_role("combobox")
    field.press("+")
    field.press("0")
    expect(field).to_have_value("+0")
    assert level(tab, whole) == pytest.approx(1.96, abs=0.01)
    field.press("Escape")
    field.blur()
    tab.keyboard.press("0")
    assert view(tab) == whole
