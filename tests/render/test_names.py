from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
from playwright.sync_api import Page

from arrowproof.model.lifecycle import Arrow, Kind, Lifecycle, View
from arrowproof.render.names import distinct_names, listed_names, pair_address
from arrowproof.render.page import render_page
from arrowproof.render.proof import bring_proof
from tests.render.evidence_builder import build_evidence
from tests.render.pages import pressed, show, state
from tests.render.tabs import address, reload

# Two states that are called like the ends of a life, which lint warns of and does not refuse.
ENDS = Lifecycle(
    "ends",
    "Ends",
    (state("created", Kind.WAITING), state("removed", Kind.ACTIVE)),
    (
        Arrow("make", None, "removed"),
        Arrow("move", "created", "removed"),
        Arrow("drop", "created", None),
        Arrow("begin", None, "created"),
    ),
)


def test_no_id_is_known_as_the_creation_or_the_end_of_a_row_and_none_as_nothing() -> None:
    assert pair_address((None, None), {}) == ("created", "removed")
    assert pair_address(("created", "removed"), {}) == ('"created"', '"removed"')
    assert distinct_names(["created", "", "a", "a\n"]) == {"created": '"created"', "": '""', "a": "a", "a\n": "a (2)"}


def test_a_state_that_is_labelled_like_a_label_with_an_id_is_still_called_by_a_name_of_its_own() -> None:
    states = (state("h1", label="H"), state("h2", label="H"), state("h3", label="H (h1)"))
    assert listed_names(replace(ENDS, states=states)) == {"h1": "H (h1)", "h2": "H (h2)", "h3": "H (h1) (2)"}


@pytest.mark.parametrize("id", ["valueOf", "__proto__"])
@pytest.mark.parametrize("is_proven", [False, True], ids=["plain", "proof"])
def test_an_arrow_a_state_and_a_view_may_be_called_like_what_every_object_of_a_script_has(
    tab: Page, tmp_path: Path, id: str, is_proven: bool
) -> None:
    states = (state(id), state("pass", Kind.PASSING), state("b", Kind.SUCCESS), state("c", Kind.FAILURE))
    arrows = (
        Arrow("new", None, id, "begin"),
        Arrow("go", id, "pass", "go"),
        Arrow("end", "pass", "c", "end"),
        Arrow(id, id, "b", "one"),
    )
    lifecycle = Lifecycle("ids", "Ids", states, arrows, views=(View(id, "First", (id,), ()),))
    proof = bring_proof(lifecycle, build_evidence(lifecycle), "") if is_proven else None
    broken: list[str] = []
    tab.on("pageerror", lambda error: broken.append(str(error)))
    for fragment, selector in (
        (f"#arrow={id}", ".arrow"),
        (f"#state={id}", ".state"),
        (f"#view={id}", ".views button"),
    ):
        tab.goto("about:blank")
        show(tab, tmp_path, render_page(lifecycle, proof=proof), fragment)
        assert (
            tab.locator(f".drawing {selector}[aria-pressed=true], {selector}[data-view][aria-pressed=true]").count()
            == 1
        )
        assert address(tab).endswith(fragment)
    for fragment in (f"#arrow=x{id}", f"#state=x{id}", "#arrow=toLocaleString", "#arrow=new"):
        tab.goto("about:blank")
        show(tab, tmp_path, render_page(lifecycle, proof=proof), fragment)
    assert broken == []


@pytest.mark.parametrize("is_proven", [False, True], ids=["plain", "proof"])
def test_each_transition_of_states_that_are_called_created_and_removed_is_chosen_alone(
    tab: Page, tmp_path: Path, is_proven: bool
) -> None:
    proof = bring_proof(ENDS, build_evidence(ENDS), "") if is_proven else None
    show(tab, tmp_path, render_page(ENDS, proof=proof))
    rows = tab.locator(".list button")
    assert rows.count() == 4
    for number in range(4):
        rows.nth(number).evaluate("button => button.click()")
        chosen = rows.evaluate_all("all => all.map(each => each.getAttribute('aria-pressed'))")
        assert [place for place, is_chosen in enumerate(chosen) if is_chosen == "true"] == [number]
        assert len(pressed(tab, ".drawing .arrow")) == 1


def test_a_state_that_is_called_created_is_at_its_own_arrows_alone(tab: Page, tmp_path: Path) -> None:
    show(tab, tmp_path, render_page(ENDS))
    tab.locator('.state[data-key="s0"]').evaluate("each => each.dispatchEvent(new MouseEvent('click'))")
    assert sorted(pressed(tab, ".drawing .arrow")) == ["begin", "drop", "move"]
    assert len(pressed(tab, ".list button")) == 3


@pytest.mark.parametrize("is_proven", [False, True], ids=["plain", "proof"])
def test_ids_that_differ_by_white_space_alone_have_addresses_of_their_own(
    tab: Page, tmp_path: Path, is_proven: bool
) -> None:
    states = (state("a"), state("a "), state("b", Kind.SUCCESS))
    arrows = (Arrow("go", "a", "a ", "one"), Arrow("go ", "a ", "b", "two"), Arrow(" go", "a", "b", "three"))
    views = (View("v", "First", ("a",), ()), View("v ", "Second", ("b",), ()))
    lifecycle = Lifecycle("ids", "Ids", states, (Arrow("new", None, "a", "begin"), *arrows), views=views)
    proof = bring_proof(lifecycle, build_evidence(lifecycle), "") if is_proven else None
    show(tab, tmp_path, render_page(lifecycle, proof=proof))
    seen = set()
    for selector in (".arrow .label", ".state .name", ".list button", ".views [data-view]"):
        for number in range(tab.locator(selector).count()):
            tab.evaluate("location.hash = ''")
            tab.locator(selector).nth(number).dispatch_event("click")
            chosen = address(tab).split("#")[1]
            pressed_keys = tab.evaluate(
                "[...document.querySelectorAll('.arrow[aria-pressed=true], .state[aria-pressed=true]')]"
                ".map((item) => item.dataset.key)"
            )
            seen.add(chosen)
            reload(tab)
            assert address(tab).endswith(chosen)
            again = tab.evaluate(
                "[...document.querySelectorAll('.arrow[aria-pressed=true], .state[aria-pressed=true]')]"
                ".map((item) => item.dataset.key)"
            )
            assert again == pressed_keys
    assert len(seen) == 4 + 3 + 4 + 2
