from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from arrowproof.model.lifecycle import Arrow, Kind, Lifecycle
from arrowproof.model.loader import load_lifecycle
from arrowproof.render.index import Index, IndexRow, Link, fit_index, index_height, index_states
from arrowproof.render.language import load_language
from arrowproof.render.ruler import Ruler
from arrowproof.render.stage import set_stage
from tests.render.pages import TWO, grid_drawing, state

CASES = Path(__file__).parent / "cases"
ENGLISH = load_language()
ROWS = (
    IndexRow("Basket", "#group=Basket", "2 states", (Link("cart", "#state=cart"), Link("checkout", "#state=checkout"))),
    IndexRow("other", None, "1 state", (Link("lost", "#state=lost"),)),
)


def wide(lifecycle: Lifecycle) -> Index:
    """The index of a lifecycle whose drawing is too large to be read as a whole."""
    stretched = grid_drawing(lifecycle)
    return index_states(
        set_stage(lifecycle, replace(stretched, bounds=replace(stretched.bounds, width=9000.0)), ENGLISH), ENGLISH
    )


def many(group: str | None = None) -> Lifecycle:
    states = [state(f"s{number}", Kind.WAITING if number % 3 else Kind.ACTIVE, group=group) for number in range(20)]
    arrows = [Arrow(f"a{number}", f"s{number}", f"s{(number + 1) % 20}") for number in range(20)]
    return Lifecycle("many", "Many", tuple(states), tuple(arrows))


def test_states_stand_under_the_names_of_their_groups_which_lead_to_their_own_scenes() -> None:
    lifecycle = load_lifecycle(CASES / "order-groups.json")
    index = index_states(set_stage(lifecycle, None, ENGLISH), ENGLISH)
    assert [(row.name, row.count) for row in index.rows][:2] == [("Basket", "2 states"), ("Payment", "4 states")]
    assert index.rows[1].fragment == "#group=Payment"
    assert index.rows[1].links[1] == Link("fraud_review", "#state=pay_review")
    assert sum(len(row.links) for row in index.rows) == len(lifecycle.states)


def test_states_without_groups_stand_by_kind() -> None:
    rows = wide(many()).rows
    assert [(row.name, row.fragment, len(row.links)) for row in rows] == [("active", None, 7), ("waiting", None, 13)]


def test_states_of_no_group_come_last_where_others_have_one() -> None:
    lifecycle = many(group="A")
    mixed = replace(lifecycle, states=(replace(lifecycle.states[0], group=None), *lifecycle.states[1:]))
    assert [row.name for row in wide(mixed).rows] == ["A", "other"]


def test_a_page_of_one_scene_has_no_index() -> None:
    assert index_states(set_stage(TWO, grid_drawing(TWO), ENGLISH), ENGLISH) == Index()


def test_short_names_stand_in_two_columns_and_long_ones_in_one() -> None:
    assert fit_index(Index(ROWS), 24.0, 40.0, 0.3, Ruler()).columns == 2
    long = (replace(ROWS[0], links=(Link("waiting_for_the_carrier_to_answer", "#state=x"),)),)
    assert fit_index(Index(long), 24.0, 40.0, 0.3, Ruler()).columns == 1


def test_an_index_without_room_keeps_its_groups_and_then_goes() -> None:
    whole = index_height(Index(ROWS * 9, 2, 0.1), 24.0, Ruler())
    fitted = fit_index(Index(ROWS * 9), 24.0, whole, 0.3, Ruler())
    assert (fitted.columns, fitted.row) == (2, 0.1)
    counted = fit_index(Index(ROWS * 9), 24.0, whole - 0.1, 0.3, Ruler())
    assert (counted.columns, [row.name for row in counted.rows]) == (0, ["Basket"] * 9)
    assert fit_index(Index(ROWS * 9), 24.0, 3.0, 0.3, Ruler()) == Index()


def test_the_parts_of_an_overview_and_the_states_between_them_stand_in_the_order_of_the_file() -> None:
    """Which states make a part is what the layout finds; here it is the second to the tenth, and the rest."""
    stage = set_stage(many(), grid_drawing(many()), ENGLISH)
    overview, *others = stage.scenes
    parts = {"s1 … s9": tuple(f"s{n}" for n in range(1, 10)), "s11 … s19": tuple(f"s{n}" for n in range(11, 20))}
    scenes = [replace(others[0], focus=None, title=name, address=("group", name)) for name in parts]
    stage = replace(stage, scenes=(replace(overview, pages=parts), *scenes, *others))
    rows = index_states(stage, ENGLISH).rows
    assert [(row.name, row.count, row.fragment) for row in rows[:3]] == [
        ("s0", "2 arrows", "#state=s0"),
        ("s1 … s9", "9 states", "#group=s1%20%E2%80%A6%20s9"),
        ("s10", "2 arrows", "#state=s10"),
    ]
    assert [link.name for link in rows[1].links] == list(parts["s1 … s9"])
    assert fit_index(Index(rows), 24.0, 12.0, 0.3, Ruler()).rows == rows


def test_a_name_beside_a_count_has_all_of_the_width_that_the_count_leaves() -> None:
    def height(name: str) -> float:
        return index_height(Index((IndexRow(name, "#group=x", "19 states", ()),), 0, 0.3), 24.0, Ruler())

    assert height("Waiting for payment … Handed over") == height("Basket")
    assert height("Waiting for payment … Handed over to the carrier") > height("Basket")
