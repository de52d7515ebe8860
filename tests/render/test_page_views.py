from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
from playwright.sync_api import Page, expect

from arrowproof.model.lifecycle import View
from tests.render.pages import FITS, MEASURE, NOTES, SCRIPT, SIZES, page_of, pressed, show
from tests.render.tabs import expect_fragment, go_back, reload, resize

VIEWS = (
    View("happy", "Happy path", (), ("accept", "pick", "succeed"), "Written at the first attempt."),
    View("loss", "Loss", ("attempt", "lost"), (), "What a lost note went through."),
    View("a:b&c=d", "Odd", ("pending",), ()),
)
VIEWED = replace(NOTES, views=VIEWS)


def stepped_back(tab: Page) -> list[str]:
    """The ids of the states and arrows that are not in the view."""
    parts = tab.locator(".drawing .aside").all()
    return [part.get_attribute("data-arrow") or part.get_attribute("data-state") or "" for part in parts]


def chosen_view(tab: Page) -> str:
    return tab.locator(".views button[aria-pressed=true]").inner_text()


def test_a_page_opens_with_the_whole_and_no_note(tab: Page, tmp_path: Path) -> None:
    show(tab, tmp_path, page_of(VIEWED))
    assert chosen_view(tab) == "Whole"
    assert stepped_back(tab) == []
    expect(tab.locator(".view-note:visible")).to_have_count(0)


def test_a_lifecycle_without_views_has_no_bar_for_them(tab: Page, tmp_path: Path) -> None:
    show(tab, tmp_path, page_of(NOTES))
    expect(tab.locator(".views")).to_have_count(0)


def test_what_is_not_in_a_view_steps_back_and_its_note_is_told(tab: Page, tmp_path: Path) -> None:
    show(tab, tmp_path, page_of(VIEWED))
    tab.get_by_role("button", name="Happy path").click()
    assert stepped_back(tab) == ["lose", "purge", "lost"]
    assert tab.locator(".view-note:visible").all_inner_texts() == ["Written at the first attempt."]
    expect_fragment(tab, "#view=happy")


def test_a_view_of_states_alone_has_the_arrows_between_them(tab: Page, tmp_path: Path) -> None:
    show(tab, tmp_path, page_of(VIEWED), "#view=loss")
    assert stepped_back(tab) == ["accept", "pick", "succeed", "pending", "done"]


def test_left_and_right_step_through_the_views_and_round(tab: Page, tmp_path: Path) -> None:
    show(tab, tmp_path, page_of(VIEWED))
    seen = []
    for _ in range(4):
        tab.keyboard.press("ArrowRight")
        seen.append(chosen_view(tab))
    assert seen == ["Happy path", "Loss", "Odd", "Whole"]
    tab.keyboard.press("ArrowLeft")
    assert chosen_view(tab) == "Odd"


def test_a_step_is_told_to_those_who_do_not_see_it(tab: Page, tmp_path: Path) -> None:
    show(tab, tmp_path, page_of(VIEWED))
    tab.keyboard.press("ArrowRight")
    expect(tab.get_by_role("status")).to_have_text("Happy path: Written at the first attempt.")


def test_an_arrow_in_focus_keeps_the_keys_for_itself(tab: Page, tmp_path: Path) -> None:
    show(tab, tmp_path, page_of(VIEWED))
    tab.locator("[data-key=a0]").focus()
    tab.keyboard.press("ArrowRight")
    assert chosen_view(tab) == "Whole"


def test_the_browser_s_back_button_undoes_a_view(tab: Page, tmp_path: Path) -> None:
    show(tab, tmp_path, page_of(VIEWED))
    tab.get_by_role("button", name="Loss").click()
    go_back(tab)
    assert chosen_view(tab) == "Whole"
    tab.go_forward()
    assert chosen_view(tab) == "Loss"


def test_an_address_names_a_view_and_an_arrow_together(tab: Page, tmp_path: Path) -> None:
    show(tab, tmp_path, page_of(VIEWED), "#view=happy&arrow=pick")
    assert chosen_view(tab) == "Happy path"
    assert pressed(tab, ".arrow") == ["pick"]
    tab.keyboard.press("Escape")
    expect_fragment(tab, "#view=happy")


def test_who_chooses_what_is_not_in_the_view_leaves_it(tab: Page, tmp_path: Path) -> None:
    show(tab, tmp_path, page_of(VIEWED), "#view=happy")
    tab.locator("[data-state=lost]").focus()
    tab.keyboard.press("Enter")
    assert chosen_view(tab) == "Whole"
    expect_fragment(tab, "#state=lost")
    go_back(tab)
    assert chosen_view(tab) == "Happy path"


def test_what_is_chosen_stays_in_a_view_that_has_it_and_goes_in_one_that_has_not(tab: Page, tmp_path: Path) -> None:
    show(tab, tmp_path, page_of(VIEWED), "#arrow=lose")
    tab.get_by_role("button", name="Loss").click()
    expect_fragment(tab, "#view=loss&arrow=lose")
    tab.get_by_role("button", name="Happy path").click()
    expect_fragment(tab, "#view=happy")


def test_what_steps_back_in_a_view_is_not_marked_in_it(tab: Page, tmp_path: Path) -> None:
    show(tab, tmp_path, page_of(VIEWED), "#view=happy&state=attempt")
    assert pressed(tab, ".arrow") == ["pick", "succeed"]


def test_a_view_of_any_id_can_be_linked_to(tab: Page, tmp_path: Path) -> None:
    show(tab, tmp_path, page_of(VIEWED))
    tab.get_by_role("button", name="Odd").click()
    reload(tab)
    assert chosen_view(tab) == "Odd"


def test_an_address_that_names_no_view_shows_the_whole(tab: Page, tmp_path: Path) -> None:
    show(tab, tmp_path, page_of(VIEWED), "#view=nothing")
    assert chosen_view(tab) == "Whole"


def test_a_state_in_the_address_marks_its_arrows_and_transitions(tab: Page, tmp_path: Path) -> None:
    show(tab, tmp_path, page_of(NOTES), "#state=lost")
    assert pressed(tab, ".arrow") == ["lose", "purge"]
    assert len(pressed(tab, ".list button")) == 2
    show(tab, tmp_path, page_of(NOTES), "#state=attempt")
    assert pressed(tab, ".arrow") == ["pick", "succeed", "lose"]
    assert len(pressed(tab, ".list button")) == 2


def test_a_state_is_chosen_by_keyboard(tab: Page, tmp_path: Path) -> None:
    show(tab, tmp_path, page_of(NOTES))
    tab.locator("[data-state=pending]").focus()
    tab.keyboard.press("ArrowDown")
    tab.keyboard.press("Enter")
    expect_fragment(tab, "#state=attempt")


def test_the_link_to_what_is_shown_is_copied(tab: Page, tmp_path: Path) -> None:
    tab.context.grant_permissions(["clipboard-read", "clipboard-write"])
    show(tab, tmp_path, page_of(VIEWED), "#arrow=pick&view=happy")
    button = tab.get_by_role("button", name="Copy link")
    expect(button).to_have_text("Copy link")
    width = button.evaluate("(it) => it.offsetWidth")
    button.click()
    expect(tab.get_by_role("status")).to_have_text("Copied.")
    expect(button).to_have_text("Copied")
    assert button.evaluate("(it) => it.offsetWidth") == width
    tab.keyboard.press("Tab")
    expect(button).to_have_text("Copy link")
    link = tab.evaluate("navigator.clipboard.readText()")
    assert link == (tmp_path / "page.html").as_uri() + "#view=happy&arrow=pick"


def test_views_are_named_by_the_model_and_stay_text(tab: Page, tmp_path: Path) -> None:
    show(tab, tmp_path, page_of(replace(NOTES, views=(View(SCRIPT, SCRIPT, ("done",), (), SCRIPT),))))
    tab.get_by_role("button", name=SCRIPT).click()
    assert tab.locator(".view-note:visible").inner_text() == SCRIPT
    reload(tab)
    assert chosen_view(tab) == SCRIPT


@pytest.mark.parametrize("count", [1, 9, 40])
def test_views_and_their_notes_leave_the_page_on_one_screen(tab: Page, tmp_path: Path, count: int) -> None:
    many = tuple(
        View(f"v{n}", f"View of part {n}", ("done",), (), "What it is that is seen here. " * 5) for n in range(count)
    )
    show(tab, tmp_path, page_of(replace(NOTES, views=many)), "#view=v0")
    for width, height in SIZES:
        resize(tab, width, height)
        assert tab.evaluate(MEASURE) == FITS, (width, height)
