from __future__ import annotations

from functools import cache, partial
from pathlib import Path

import pytest
from playwright.sync_api import Page, expect

from arrowproof.model.evidence import SneakPath
from arrowproof.model.lifecycle import Arrow, Kind, Lifecycle
from arrowproof.model.loader import load_lifecycle
from arrowproof.render.language import load_language
from arrowproof.render.page import render_page
from arrowproof.render.proof import bring_proof
from tests.render.dense_models import dense
from tests.render.drawn import CASES, page_of_case
from tests.render.evidence_builder import build_evidence
from tests.render.pages import FITS, MEASURE, NOTES, SIZES, grid_drawing, page_of, pressed, show, state
from tests.render.scene_pages import TEXTS, arrow, box, go, group, path, scene
from tests.render.tabs import expect_fragment, go_back, resize
from tests.render.test_scenes import large


@cache
def page_of_proof() -> str:
    lifecycle = load_lifecycle(CASES / "order-groups.json")
    paths = (SneakPath("cancelled", "closed", possible=()), SneakPath("cart", "authorized", possible=()))
    rungs = {("pay_failed", "pay_pending"): "missing", ("picking", "pick_exc"): "written"}
    evidence = build_evidence(lifecycle, rungs, sneak_paths=paths)
    return render_page(lifecycle, proof=bring_proof(lifecycle, evidence, "3ad814f6" * 8))


def test_a_page_of_a_small_model_has_one_scene_and_no_search(tab: Page, tmp_path: Path) -> None:
    show(tab, tmp_path, page_of(NOTES))
    assert tab.locator(".drawing").count() == 1
    assert tab.locator(".bar").count() == 0


def test_a_large_model_opens_with_its_groups_as_boxes_that_say_what_is_inside(tab: Page, tmp_path: Path) -> None:
    show(tab, tmp_path, page_of_case("order-groups"))
    assert path(tab) == ["Overview"]
    assert tab.locator(".drawing:not([hidden]) .state").count() == 7
    expect(group(tab, "Payment")).to_have_accessible_name("Payment, group, 4 states, 6 arrows inside")


def test_a_group_opens_and_the_ways_back_lead_to_the_overview(tab: Page, tmp_path: Path) -> None:
    show(tab, tmp_path, page_of_case("order-groups"))
    for back in (
        partial(tab.keyboard.press, "Escape"),
        partial(go_back, tab),
        tab.get_by_role("button", name="Overview").click,
    ):
        group(tab, "Payment").click()
        assert scene(tab) == "#group=Payment"
        assert path(tab) == ["Overview", "Payment"]
        back()
        assert scene(tab) is None


def test_a_state_opens_its_focus_view_and_a_neighbour_leads_on_to_its_own(tab: Page, tmp_path: Path) -> None:
    show(tab, tmp_path, page_of_case("order-groups"))
    group(tab, "Payment").click()
    box(tab, "authorized").click()
    assert scene(tab) == "#state=authorized"
    assert path(tab) == ["Overview", "Payment", "authorized"]
    box(tab, "allocating").click()
    assert scene(tab) == "#state=allocating"
    assert path(tab) == ["Overview", "Stock", "allocating"]
    go_back(tab)
    assert scene(tab) == "#state=authorized"
    tab.keyboard.press("Escape")
    assert scene(tab) == "#group=Payment"
    tab.keyboard.press("Escape")
    assert scene(tab) is None


def test_by_keyboard_alone_one_goes_from_the_overview_to_a_neighbour(tab: Page, tmp_path: Path) -> None:
    show(tab, tmp_path, page_of_case("order-groups"))
    group(tab, "Payment").focus()
    tab.keyboard.press("Enter")
    focused = "document.activeElement.closest('.drawing').dataset.fragment + ' ' + document.activeElement.dataset.state"
    assert tab.evaluate(focused) == "#group=Payment pay_pending"
    tab.keyboard.press("Enter")
    assert tab.evaluate(focused) == "#state=pay_pending pay_pending"
    tab.keyboard.press("ArrowRight")
    tab.keyboard.press(" ")
    assert tab.evaluate(focused) == "#state=pay_review pay_review"
    expect(tab.get_by_role("status")).to_have_text("Overview, Payment, fraud_review")


def test_who_steps_back_by_keys_goes_on_at_what_was_left(tab: Page, tmp_path: Path) -> None:
    show(tab, tmp_path, page_of_case("order-groups"))
    group(tab, "Stock").focus()
    tab.keyboard.press("Enter")
    box(tab, "allocating").focus()
    tab.keyboard.press("Enter")
    assert scene(tab) == "#state=allocating"
    tab.keyboard.press("Escape")
    expect(box(tab, "allocating")).to_be_focused()
    tab.keyboard.press("Escape")
    expect(group(tab, "Stock")).to_be_focused()
    go(tab, "#state=allocating")
    tab.get_by_role("button", name="Overview").press("Enter")
    expect(group(tab, "Stock")).to_be_focused()


def test_a_page_that_opens_at_an_address_leaves_the_focus_where_it_is(tab: Page, tmp_path: Path) -> None:
    show(tab, tmp_path, page_of_case("order-groups"), "#state=authorized")
    assert scene(tab) == "#state=authorized"
    assert tab.evaluate("document.activeElement === document.body")


def test_the_state_in_the_middle_of_its_own_view_leads_nowhere(tab: Page, tmp_path: Path) -> None:
    show(tab, tmp_path, page_of_case("order-groups"), "#state=authorized")
    box(tab, "authorized").click()
    assert scene(tab) == "#state=authorized"


@pytest.mark.parametrize(
    ("fragment", "expected"),
    [
        ("#arrow=t13", "#state=authorized"),
        ("#arrow=t44", "#state=pickup"),
        ("#transition=authorized:allocating", "#state=authorized"),
        ("#group=Returns&arrow=t54", "#group=Returns"),
        ("#state=nothing", None),
        ("#group=", None),
        ("#arrow=nothing", None),
    ],
)
def test_an_address_shows_the_smallest_scene_that_holds_what_it_names(
    tab: Page, tmp_path: Path, fragment: str, expected: str | None
) -> None:
    show(tab, tmp_path, page_of_case("order-groups"), fragment)
    assert scene(tab) == expected


def test_an_arrow_that_is_chosen_is_marked_in_the_scene_that_is_shown(tab: Page, tmp_path: Path) -> None:
    show(tab, tmp_path, page_of_case("order-groups"))
    group(tab, "Payment").click()
    arrow(tab, "t11").click()
    assert scene(tab) == "#group=Payment"
    expect_fragment(tab, "#group=Payment&arrow=t11")
    assert pressed(tab, ".drawing:not([hidden]) .arrow") == ["t11"]
    tab.keyboard.press("Escape")
    expect_fragment(tab, "#group=Payment")


def test_a_bundle_of_arrows_opens_a_group_in_which_they_stand_by_themselves(tab: Page, tmp_path: Path) -> None:
    show(tab, tmp_path, page_of_case("order-groups"))
    bundle = tab.locator(".drawing:not([hidden]) .arrow.bundle[data-from='group:Payment']").first
    numbers = bundle.get_attribute("data-keys")
    bundle.locator(".label").click()
    assert scene(tab) == "#group=Payment"
    assert numbers is not None
    for key in numbers.split():
        assert tab.locator(f".drawing:not([hidden]) [data-key={key}]").count() == 1


def test_the_transitions_of_a_group_or_state_that_is_shown_are_listed(tab: Page, tmp_path: Path) -> None:
    show(tab, tmp_path, page_of_case("order-groups"), "#state=authorized")
    rows = tab.locator(".list li:not(.sr)")
    expect(rows).to_have_text(
        [
            "payment_pending → authorized",
            "fraud_review → authorized",
            "authorized → allocating",
            "authorized → cancelled",
        ]
    )
    expect(tab.locator(".transitions .more")).to_have_text("4 of the transitions listed")
    assert pressed(tab, ".list button") == []
    tab.keyboard.press("Escape")
    expect(rows).to_have_count(11)


def test_an_overview_says_where_its_transitions_are_listed(tab: Page, tmp_path: Path) -> None:
    show(tab, tmp_path, page_of_case("order-groups"))
    hint = tab.locator(".transitions .more")
    expect(hint).to_have_text(load_language()("transitions.in_scenes"))
    go(tab, "#state=authorized")
    expect(hint).to_have_text("4 of the transitions listed")


def test_a_model_without_groups_opens_with_the_whole_and_says_that_it_is_an_overview(tab: Page, tmp_path: Path) -> None:
    show(tab, tmp_path, page_of_case("order"))
    assert tab.locator("html").get_attribute("data-overview") == "true"
    assert tab.locator(".drawing:not([hidden]) .state").count() == 30
    box(tab, "lost").click()
    assert scene(tab) == "#state=lost"
    assert path(tab) == ["Overview", "lost"]


@pytest.mark.parametrize("name", ["order", "order-groups"])
def test_every_scene_behind_the_overview_has_text_of_full_size_and_nothing_scrolls(
    tab: Page, tmp_path: Path, name: str
) -> None:
    show(tab, tmp_path, page_of_case(name))
    fragments = [each.get_attribute("data-fragment") for each in tab.locator(".drawing[data-fragment]").all()]
    assert len(fragments) == {"order": 30, "order-groups": 37}[name]
    for fragment in fragments:
        tab.evaluate("(hash) => { location.hash = hash }", fragment)
        tab.wait_for_function(
            "(hash) => document.querySelector('.drawing:not([hidden])').dataset.fragment === hash", arg=fragment
        )
        states, labels = tab.evaluate(TEXTS)
        assert states >= 12, fragment
        assert labels >= 11, fragment
        assert tab.evaluate(MEASURE) == FITS, fragment


@pytest.mark.parametrize("fragment", ["", "#group=Shipping", "#state=pay_pending"])
def test_no_scene_scrolls_at_any_size_in_either_theme(tab: Page, tmp_path: Path, fragment: str) -> None:
    show(tab, tmp_path, page_of_case("order-groups"), fragment)
    for width, height in SIZES:
        resize(tab, width, height)
        for scheme in ("light", "dark"):
            tab.emulate_media(color_scheme=scheme)  # type: ignore[arg-type]
            assert tab.evaluate(MEASURE) == FITS, (width, height, scheme)


@pytest.mark.parametrize("fragment", ["", "#group=End", "#group=Shipping", "#state=lost"])
def test_a_proof_of_a_large_model_never_makes_a_scene_scroll(tab: Page, tmp_path: Path, fragment: str) -> None:
    show(tab, tmp_path, page_of_proof(), fragment)
    assert tab.evaluate(MEASURE) == FITS


def test_ids_of_any_kind_have_scenes_of_their_own(tab: Page, tmp_path: Path) -> None:
    ids = ["a:b", "a&b=c", "#", "é 'x'", '"', "__proto__", "constructor", "\x00", "\x01", "注文", "%41", " ", "(!~*)"]
    names = [*ids, *(f"s{number}" for number in range(20))]
    states = tuple(state(each, group=f"<{number % 3}>:&") for number, each in enumerate(names))
    arrows = tuple(Arrow(f"{one}->{two}", one, two, "go") for one in names[:13] for two in names[13:20])
    show(tab, tmp_path, render_page(Lifecycle("ids", "Ids", states, arrows)))
    fragments = [each.get_attribute("data-fragment") for each in tab.locator(".drawing[data-fragment]").all()]
    assert len(set(fragments)) == len(names) + 3
    for fragment in fragments:
        tab.evaluate("(hash) => { location.hash = hash }", fragment)
        tab.wait_for_function(
            "(hash) => document.querySelector('.drawing:not([hidden])').dataset.fragment === hash", arg=fragment
        )


def test_a_text_in_a_foreign_font_takes_its_own_width_when_its_scene_is_shown(tab: Page, tmp_path: Path) -> None:
    states = tuple(state(f"s{number}", label=f"受付{number}") for number in range(20))
    arrows = tuple(Arrow(f"a{n}", f"s{n % 20}", f"s{(n * 7 + 1) % 20}", "進む") for n in range(40))
    lifecycle = Lifecycle("ja", "注文", states, arrows)
    show(tab, tmp_path, render_page(lifecycle, grid_drawing(lifecycle), load_language("ja")))
    go(tab, "#state=s3")
    # The width that was reserved for a font nobody knows is more than the one that is there needs.
    held = ".drawing:not([hidden]) text[textLength]"
    tab.wait_for_function("(held) => document.querySelector(held) === null", arg=held)
    assert tab.locator(".drawing[data-fragment='#state=s4'] text[textLength]").count() > 0


def test_the_kinds_of_scenes_are_told_in_the_language_of_the_page(tab: Page, tmp_path: Path) -> None:
    lifecycle = load_lifecycle(CASES / "order-groups.json")
    show(tab, tmp_path, render_page(lifecycle, language=load_language("ja")))
    assert path(tab) == ["全体図"]
    expect(group(tab, "Payment")).to_have_accessible_name("Payment、グループ、内部に4 状態、6 矢印")


def test_every_kind_of_box_stays_what_it_is_at_the_edge_of_a_group(tab: Page, tmp_path: Path) -> None:
    show(tab, tmp_path, page_of_case("order-groups"), "#group=Payment")
    outside = tab.locator(".drawing:not([hidden]) .state.quiet")
    assert [each.get_attribute("data-state") for each in outside.all()] == ["checkout", "allocating", "cancelled"]
    assert Kind.FAILURE in (box(tab, "cancelled").get_attribute("class") or "")


def test_a_page_of_two_hundred_states_is_small_enough_and_works(tab: Page, tmp_path: Path) -> None:
    text = render_page(large())
    assert len(text.encode()) < 1_500_000
    show(tab, tmp_path, text)
    group(tab, "Phase 4").click()
    box(tab, "s77").click()
    assert path(tab) == ["Overview", "Phase 4", "state_number_77"]
    tab.keyboard.press("/")
    tab.keyboard.type("state_number_123")
    tab.keyboard.press("Enter")
    assert scene(tab) == "#state=s123"
    assert tab.evaluate(MEASURE) == FITS


def test_the_page_of_a_state_with_many_transitions_lists_as_many_as_have_room(tab: Page, tmp_path: Path) -> None:
    lifecycle = dense("hub", 60)
    total = sum("s0" in (arrow.source, arrow.target) for arrow in lifecycle.arrows)
    show(tab, tmp_path, render_page(lifecycle), "#state=s0")
    listed = tab.locator(".list li:not(.sr)").count()
    assert 20 < listed < total
    expect(tab.locator(".transitions .more")).to_contain_text(f"{listed} of {total}")
    assert tab.evaluate("document.documentElement.scrollHeight") == 900
