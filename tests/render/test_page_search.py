from __future__ import annotations

from functools import cache
from pathlib import Path

import pytest
from playwright.sync_api import Locator, Page, expect

from arrowproof.model.lifecycle import Arrow, Lifecycle
from arrowproof.model.loader import load_lifecycle
from arrowproof.render.page import render_page
from tests.render.pages import SCRIPT, grid_drawing, show, state
from tests.render.tabs import expect_fragment, expect_no_fragment

CASES = Path(__file__).parent / "cases"


@cache
def order() -> str:
    return render_page(load_lifecycle(CASES / "order-groups.json"))


@cache
def wide() -> str:
    """Names of many kinds, in a model that is searched."""
    labels = [
        "受付待ち",
        "ｆｕｌｌ ｗｉｄｔｈ",
        "GROSS",
        SCRIPT,
        "naïve",
        *(f"station {number}" for number in range(30)),
    ]
    states = tuple(state(f"s{number}", label=label) for number, label in enumerate(labels))
    arrows = (Arrow("a0", "s0", "s1", "支払い"), Arrow("bare", "s1", "s2"), Arrow("a2", None, "s3", "new"))
    lifecycle = Lifecycle("wide", "Wide", states, arrows)
    return render_page(lifecycle, grid_drawing(lifecycle))


def field(tab: Page) -> Locator:
    return tab.get_by_role("combobox", name="Find a state or an arrow")


def found(tab: Page) -> list[str]:
    return [" ".join(text.split()) for text in tab.get_by_role("option").all_inner_texts()]


def test_a_search_finds_states_groups_and_arrows_and_those_that_start_so_come_first(tab: Page, tmp_path: Path) -> None:
    show(tab, tmp_path, order())
    field(tab).fill("pay")
    assert found(tab) == [
        "payment_pending Payment",
        "fraud_review Payment",
        "payment_failed Payment",
        "Payment group",
        "payment submitted checkout → payment_pending",
    ]
    expect(field(tab)).to_have_attribute("aria-expanded", "true")
    active = field(tab).get_attribute("aria-activedescendant")
    expect(tab.locator(f"#{active}")).to_have_attribute("aria-selected", "true")


def test_enter_goes_to_the_first_and_the_arrow_keys_to_the_others(tab: Page, tmp_path: Path) -> None:
    show(tab, tmp_path, order())
    tab.keyboard.press("/")
    expect(field(tab)).to_be_focused()
    tab.keyboard.type("AUTHOR")
    tab.keyboard.press("Enter")
    expect_fragment(tab, "#state=authorized")
    assert tab.evaluate("document.activeElement.dataset.state") == "authorized"
    expect(tab.get_by_role("listbox")).to_be_hidden()
    tab.keyboard.press("/")
    tab.keyboard.type("return")
    second = found(tab)[1]
    tab.keyboard.press("ArrowDown")
    tab.keyboard.press("Enter")
    assert tab.locator(".crumbs b").inner_text() in second


def test_a_group_that_is_found_is_opened(tab: Page, tmp_path: Path) -> None:
    show(tab, tmp_path, order())
    field(tab).fill("stock")
    tab.get_by_role("option", name="Stock group", exact=True).click()
    expect_fragment(tab, "#group=Stock")


def test_an_arrow_that_is_found_is_chosen_in_its_scene(tab: Page, tmp_path: Path) -> None:
    show(tab, tmp_path, order())
    field(tab).fill("redelivery")
    tab.keyboard.press("Enter")
    expect_fragment(tab, "#arrow=t41")
    expect(tab.locator(".drawing:not([hidden]) .arrow[aria-pressed=true]")).to_have_count(1)
    assert tab.evaluate("document.activeElement.dataset.arrow") == "t41"


def test_what_is_found_is_bounded_and_the_rest_is_counted(tab: Page, tmp_path: Path) -> None:
    show(tab, tmp_path, wide())
    field(tab).fill("station")
    assert len(found(tab)) == 12
    expect(tab.locator(".found p")).to_have_text("18 more")
    expect(tab.get_by_role("status")).to_have_text("Found: 30")


def test_a_name_that_nothing_has_is_said_to_be_none(tab: Page, tmp_path: Path) -> None:
    show(tab, tmp_path, wide())
    field(tab).fill("nowhere at all")
    expect(tab.locator(".found p")).to_have_text("Nothing is called that.")
    tab.keyboard.press("Enter")
    expect_no_fragment(tab)


@pytest.mark.parametrize(
    ("sought", "name"),
    [
        ("受付", "受付待ち"),
        ("full w", "ｆｕｌｌ ｗｉｄｔｈ"),
        ("gross", "GROSS"),
        ("NAÏVE", "naïve"),
        ("</script>", SCRIPT),
    ],
)
def test_names_are_found_whatever_their_case_width_or_script(tab: Page, tmp_path: Path, sought: str, name: str) -> None:
    show(tab, tmp_path, wide())
    field(tab).fill(sought)
    assert found(tab)[0] == name


def test_an_arrow_without_a_label_is_found_by_its_id(tab: Page, tmp_path: Path) -> None:
    show(tab, tmp_path, wide())
    field(tab).fill("bare")
    assert found(tab) == ["bare ｆｕｌｌ ｗｉｄｔｈ → GROSS"]


def test_enter_that_ends_a_composition_goes_nowhere(tab: Page, tmp_path: Path) -> None:
    show(tab, tmp_path, wide())
    field(tab).focus()
    session = tab.context.new_cdp_session(tab)
    session.send("Input.imeSetComposition", {"text": "支払", "selectionStart": 2, "selectionEnd": 2})
    assert found(tab) == ["支払い 受付待ち → ｆｕｌｌ ｗｉｄｔｈ"]
    enter = "new KeyboardEvent('keydown', {key: 'Enter', isComposing: true, bubbles: true})"
    tab.evaluate(f"document.activeElement.dispatchEvent({enter})")
    expect_no_fragment(tab)
    session.send("Input.imeSetComposition", {"text": "支払い", "selectionStart": 3, "selectionEnd": 3})
    session.send("Input.insertText", {"text": "支払い"})
    assert found(tab) == ["支払い 受付待ち → ｆｕｌｌ ｗｉｄｔｈ"]
    tab.keyboard.press("Enter")
    expect_fragment(tab, "#arrow=a0")


def test_escape_closes_the_list_then_leaves_the_field_and_only_then_goes_back(tab: Page, tmp_path: Path) -> None:
    show(tab, tmp_path, order(), "#group=Stock")
    field(tab).fill("pay")
    tab.keyboard.press("Escape")
    expect(tab.get_by_role("listbox")).to_be_hidden()
    expect(field(tab)).to_have_value("")
    tab.keyboard.press("Escape")
    expect(field(tab)).not_to_be_focused()
    expect_fragment(tab, "#group=Stock")
    tab.keyboard.press("Escape")
    expect_no_fragment(tab)


def test_a_slash_that_is_typed_into_the_field_is_a_letter(tab: Page, tmp_path: Path) -> None:
    show(tab, tmp_path, wide())
    field(tab).focus()
    tab.keyboard.type("a/b")
    expect(field(tab)).to_have_value("a/b")


def test_arrow_keys_in_the_field_do_not_step_through_views(tab: Page, tmp_path: Path) -> None:
    show(tab, tmp_path, order())
    field(tab).fill("pay")
    tab.keyboard.press("ArrowLeft")
    expect_no_fragment(tab)
