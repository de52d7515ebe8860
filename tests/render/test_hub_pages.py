from __future__ import annotations

from functools import cache
from pathlib import Path

import pytest
from playwright.sync_api import Page

from arrowproof.model.lifecycle import Arrow, Kind, Lifecycle
from arrowproof.render.drawing import Drawing
from arrowproof.render.language import load_language
from arrowproof.render.layout.focus import focus_drawing
from arrowproof.render.layout.hub_pages import fold_pages, page_hub
from arrowproof.render.page import render_page
from arrowproof.render.quality import is_read, measure_drawing
from arrowproof.render.stage import Stage, set_stage
from tests.render.pages import FITS, MEASURE, show, state

ENGLISH = load_language()


def hub_of(neighbours: int) -> Lifecycle:
    """A state that leads to every other one, and that every second one leads back to; it has no groups."""
    states = (state("hub", label="Hub"), *(state(f"s{n}", Kind.WAITING, f"State {n}") for n in range(neighbours)))
    out = (Arrow(f"out{n}", "hub", f"s{n}", f"send {n}") for n in range(neighbours))
    back = (Arrow(f"back{n}", f"s{n}", "hub", f"back {n}") for n in range(0, neighbours, 2))
    return Lifecycle("hub", "Hub", states, (*out, *back, Arrow("new", None, "hub", "made")))


HUB = hub_of(60)


def drawn(part: Lifecycle) -> Drawing:
    return focus_drawing(part, "hub")


@cache
def stage() -> Stage:
    return set_stage(HUB, None, ENGLISH)


def test_every_neighbour_and_every_arrow_between_stands_on_exactly_one_page_that_can_be_read() -> None:
    pages = page_hub(HUB, "hub", drawn)
    assert [state for page in pages for state in page.states] == [f"s{n}" for n in range(60)]
    arrows = [arrow.id for page in pages for arrow in page.part.arrows]
    assert sorted(arrows) == sorted(arrow.id for arrow in HUB.arrows if arrow.id != "new")
    assert all(is_read(drawn(page.part)) for page in pages)


def test_the_hub_has_a_box_for_each_page_and_keeps_what_is_on_none() -> None:
    pages = page_hub(HUB, "hub", drawn)
    fold = fold_pages(HUB, "hub", pages, ENGLISH)
    assert list(fold.groups.values()) == [page.name for page in pages]
    assert "new" in [arrow.id for arrow in fold.lifecycle.arrows]
    assert sum(len(members) for members in fold.bundles.values()) == len(HUB.arrows) - 1


def test_an_arrow_that_is_drawn_by_itself_is_in_no_bundle_of_a_hub() -> None:
    pages = page_hub(HUB, "hub", drawn)
    fold = fold_pages(HUB, "hub", pages, ENGLISH, apart=["out3"])
    assert "out3" in [arrow.id for arrow in fold.lifecycle.arrows]
    assert "out3" not in [arrow for members in fold.bundles.values() for arrow in members]


@pytest.mark.parametrize("group", ["{}", "\t{} "])
def test_a_page_never_has_the_name_of_a_group_as_an_address_knows_it(group: str) -> None:
    first = page_hub(HUB, "hub", drawn)[0].name
    named = Lifecycle("hub", "Hub", (state("other", group=group.format(first)), *HUB.states), HUB.arrows)
    assert first not in [page.name for page in page_hub(named, "hub", drawn)]


def test_every_scene_behind_the_overview_can_be_read_and_has_an_address_of_its_own() -> None:
    _, *behind = stage().scenes
    assert [scene.name for scene in behind if not is_read(scene.drawing)] == []
    assert all(measure_drawing(scene.drawing).overlaps == () for scene in behind)
    assert len({scene.address for scene in behind}) == len(behind)
    held = {arrow.id for scene in behind if scene.focus == "hub" for arrow in scene.drawing.arrows}
    assert held >= {arrow.id for arrow in HUB.arrows}


def test_the_place_of_a_page_of_neighbours_is_below_its_hub() -> None:
    places = stage().places
    named = [scene.title for scene in stage().scenes if scene.hub == "hub"]
    assert len(named) > 1
    assert {f"{places[0]} › Hub › {name}" for name in named} <= set(places)


@pytest.fixture(scope="module")
def hub_page() -> str:
    return render_page(HUB, stage=stage())


def test_a_page_of_neighbours_opens_from_the_hub_and_its_address_opens_it_again(
    tab: Page, tmp_path: Path, hub_page: str
) -> None:
    show(tab, tmp_path, hub_page, "#state=hub")
    shown = tab.locator(".drawing:not([hidden])")
    boxes = shown.locator(".folded")
    count = boxes.count()
    assert count > 1
    boxes.nth(1).focus()
    tab.keyboard.press("Enter")
    assert shown.locator(".folded").count() == 0
    assert shown.locator(".focus").get_attribute("data-state") == "hub"
    assert tab.evaluate(MEASURE) == FITS
    address = tab.url
    tab.go_back()
    assert boxes.count() == count
    tab.goto("about:blank")
    tab.goto(address)
    assert shown.locator(".focus").count() == 1
    assert shown.locator(".folded").count() == 0


def test_an_arrow_at_a_hub_opens_the_page_on_which_it_stands(tab: Page, tmp_path: Path, hub_page: str) -> None:
    show(tab, tmp_path, hub_page, "#arrow=back58")
    shown = tab.locator(".drawing:not([hidden])")
    assert shown.locator("[data-arrow=back58][aria-pressed=true]").count() == 1
    assert tab.evaluate(MEASURE) == FITS


def test_the_path_and_escape_lead_from_a_page_of_neighbours_back_to_the_hub(
    tab: Page, tmp_path: Path, hub_page: str
) -> None:
    show(tab, tmp_path, hub_page, "#state=hub")
    box = tab.locator(".drawing:not([hidden]) .folded").first
    name = str(box.get_attribute("data-group"))
    for back in ("path", "Escape"):
        box.focus()
        tab.keyboard.press("Enter")
        assert tab.locator(".crumbs li").all_inner_texts() == ["Overview", "Hub", name]
        if back == "path":
            tab.get_by_role("button", name="Hub", exact=True).first.click()
        else:
            tab.keyboard.press("Escape")
        assert tab.url.endswith("#state=hub")
