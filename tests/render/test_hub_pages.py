from __future__ import annotations

from collections.abc import Collection
from functools import cache
from pathlib import Path

import pytest
from playwright.sync_api import Page

from arrowproof.model.lifecycle import Arrow, Kind, Lifecycle
from arrowproof.render.drawing import Box, Drawing
from arrowproof.render.language import load_language
from arrowproof.render.layout.focus import focus_drawing
from arrowproof.render.layout.fold import Fold
from arrowproof.render.layout.hub_pages import Hub, longest
from arrowproof.render.page import render_page
from arrowproof.render.quality import is_read, measure_drawing
from arrowproof.render.scenes import plan_scenes
from arrowproof.render.stage import Stage, set_stage
from tests.render.pages import FITS, MEASURE, grid_drawing, show, state
from tests.render.tabs import address, expect_fragment, go_back

ENGLISH = load_language()


def hub_of(neighbours: int) -> Lifecycle:
    """A state that leads to every other one, and that every second one leads back to; it has no groups."""
    states = (state("hub", label="Hub"), *(state(f"s{n}", Kind.WAITING, f"State {n}") for n in range(neighbours)))
    out = (Arrow(f"out{n}", "hub", f"s{n}", f"send {n}") for n in range(neighbours))
    back = (Arrow(f"back{n}", f"s{n}", "hub", f"back {n}") for n in range(0, neighbours, 2))
    return Lifecycle("hub", "Hub", states, (*out, *back, Arrow("new", None, "hub", "made")))


HUB = hub_of(60)


def hub(lifecycle: Lifecycle = HUB, taken: Collection[str] = (), apart: Collection[str] = ()) -> Hub:
    return Hub(lifecycle, "hub", ENGLISH, drawn, apart, taken)


def drawn(fold: Fold) -> Drawing:
    return focus_drawing(fold.lifecycle, "hub")


@cache
def stage() -> Stage:
    return set_stage(HUB, None, ENGLISH)


def test_every_neighbour_and_every_arrow_between_stands_on_exactly_one_page_that_can_be_read() -> None:
    pages = hub().pages()
    assert [state for page in pages for state in page.states] == [f"s{n}" for n in range(60)]
    arrows = [arrow.id for page in pages for arrow in page.fold.lifecycle.arrows]
    assert sorted(arrows) == sorted(arrow.id for arrow in HUB.arrows if arrow.id != "new")
    assert all(is_read(drawn(page.fold)) for page in pages)


def test_pages_of_what_is_alike_are_of_even_length() -> None:
    lengths = {len(page.states) for page in hub().pages()}
    assert max(lengths) - min(lengths) <= 1


def test_the_hub_has_a_box_for_each_page_and_keeps_what_is_on_none() -> None:
    pages = hub().pages()
    fold = hub().fold(pages)
    assert list(fold.groups.values()) == [page.name for page in pages]
    assert "new" in [arrow.id for arrow in fold.lifecycle.arrows]
    assert sum(len(members) for members in fold.bundles.values()) == len(HUB.arrows) - 1


def test_an_arrow_that_is_drawn_by_itself_is_in_no_bundle_of_a_hub() -> None:
    fold = hub(apart=["out3"]).fold(hub(apart=["out3"]).pages())
    assert "out3" in [arrow.id for arrow in fold.lifecycle.arrows]
    assert "out3" not in [arrow for members in fold.bundles.values() for arrow in members]


def test_a_page_never_has_a_name_that_is_taken() -> None:
    first = hub().pages()[0].name
    assert hub(taken=[first]).pages()[0].name == f"{first} (2)"


@pytest.mark.parametrize("group", ["{}", "\t{} "])
def test_a_page_never_has_the_name_of_a_group_as_an_address_knows_it(group: str) -> None:
    first = hub().pages()[0].name
    others = tuple(state(f"o{n}", group=group.format(first)) for n in range(2))
    named = Lifecycle("hub", "Hub", (*others, *HUB.states), HUB.arrows)
    addresses = [scene.address for scene in plan_scenes(named, grid_drawing(named), ENGLISH)]
    assert len(set(addresses)) == len(addresses)


def test_two_hubs_never_have_pages_of_one_name() -> None:
    """ "A" leads to "b: 0" first and "A: b" to "0", then both to the same states."""
    hubs = (state("x", label="A"), state("z", label="A: b"))
    firsts = (state("p", label="b: 0"), state("q", label="0"))
    shared = tuple(state(f"s{n}") for n in range(59))
    arrows = [Arrow(f"{end}{to}", end, to, "go") for end, to in (("x", "p"), ("z", "q"))]
    arrows += [Arrow(f"{hub.id}{other.id}", hub.id, other.id, "go") for hub in hubs for other in shared]
    lifecycle = Lifecycle("two", "Two", (*hubs, *firsts, *shared), tuple(arrows))
    scenes = plan_scenes(lifecycle, grid_drawing(lifecycle), ENGLISH)
    assert [scene.title for scene in scenes if scene.hub][::2] == ["A: b: 0 … s28", "A: b: 0 … s28 (2)"]
    assert len({scene.address for scene in scenes}) == len(scenes)


def heavy(extra: list[Arrow], neighbours: int = 40) -> Lifecycle:
    """A hub whose other arrows are few for each neighbour, and these."""
    plain = hub_of(neighbours)
    return Lifecycle("heavy", "Heavy", plain.states, (*plain.arrows, *extra))


LONG = "heavy [some guard that is long] / and an effect"
HEAVY = {
    "one neighbour with many arrows": [Arrow(f"h{n}", "hub", "s39", f"{LONG} {n}") for n in range(28)],
    "one neighbour with more than a page holds": [Arrow(f"h{n}", "hub", "s39", f"{LONG} {n}") for n in range(300)],
    "many self arrows": [Arrow(f"h{n}", "hub", "hub", f"{LONG} {n}") for n in range(60)],
    "many creations": [Arrow(f"h{n}", None, "hub", f"{LONG} {n}") for n in range(60)],
    "many removals": [Arrow(f"h{n}", "hub", None, f"{LONG} {n}") for n in range(60)],
}


@pytest.mark.parametrize("extra", HEAVY.values(), ids=HEAVY)
def test_what_is_too_much_of_one_kind_has_its_own_pages_and_all_else_is_read_with_it(extra: list[Arrow]) -> None:
    lifecycle = heavy(extra)
    pages = hub(lifecycle).pages()
    fold = hub(lifecycle).fold(pages)
    assert is_read(drawn(fold))
    assert all(is_read(drawn(page.fold)) for page in pages)
    assert len(pages) < 3 + len(extra) / 10
    held = [arrow.id for page in pages if page.is_box for arrow in page.fold.lifecycle.arrows]
    held += [arrow.id for arrow in fold.lifecycle.arrows if arrow.id not in fold.bundles]
    assert sorted(held) == sorted(arrow.id for arrow in lifecycle.arrows)


def high(fold: Fold) -> Drawing:
    """Stands for a drawing in which each arrow takes its room, and 17 can be read."""
    return Drawing(Box(0, 0, 100, 40 * len(fold.lifecycle.arrows)), (), ())


def test_where_the_boxes_of_pages_are_too_many_they_are_put_on_pages() -> None:
    lifecycle = heavy([Arrow(f"h{n}", "hub", f"s{n % 300}", f"{LONG} {n}") for n in range(2000)], 300)
    many = Hub(lifecycle, "hub", ENGLISH, high)
    pages = many.pages()
    every = [each for page in pages for each in page.all]
    assert len(every) > len(pages)
    assert is_read(high(many.fold(pages)))
    assert all(is_read(high(page.fold)) for page in every)
    assert len({page.name for page in every}) == len(every)
    held = [arrow.id for page in every if not page.pages for arrow in page.fold.lifecycle.arrows]
    assert sorted(held) == sorted(arrow.id for arrow in lifecycle.arrows)


def test_how_much_is_drawn_to_find_the_pages_grows_with_the_neighbours_and_not_faster() -> None:
    drawn_arrows = []
    for neighbours in (250, 500):
        lifecycle = heavy([Arrow(f"h{n}", "hub", f"s{neighbours - 1}", LONG) for n in range(28)], neighbours)
        seen: list[int] = []

        def draw(fold: Fold, seen: list[int] = seen) -> Drawing:
            seen.append(len(fold.lifecycle.arrows))
            return high(fold)

        Hub(lifecycle, "hub", ENGLISH, draw).pages()
        drawn_arrows.append(sum(seen))
    assert drawn_arrows[1] < 2.2 * drawn_arrows[0]


@pytest.mark.parametrize("most", [1, 2, 3, 17, 40, 90])
def test_of_a_row_as_many_things_as_fit_are_found_from_any_guess_and_from_a_good_one_soon(most: int) -> None:
    for guess in range(1, 60):
        tried: list[int] = []

        def fits(start: int, end: int, tried: list[int] = tried) -> bool:
            tried.append(end - start)
            return end - start <= most

        assert longest(5, 65, guess, fits) == min(most, 60)
        if guess == most:
            assert len(tried) <= 2


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
    link = address(tab)
    go_back(tab)
    assert boxes.count() == count
    tab.goto("about:blank")
    tab.goto(link)
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
        expect_fragment(tab, "#state=hub")
