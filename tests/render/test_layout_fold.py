from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from hypothesis import given, settings
from hypothesis import strategies as st

from arrowproof.model.lifecycle import Arrow, Kind, Lifecycle, State
from arrowproof.model.loader import load_lifecycle
from arrowproof.render.language import load_language
from arrowproof.render.layout.fold import (
    Fold,
    fold_crowds,
    fold_groups,
    fold_neighbours,
    foldable_groups,
    inside_words,
    open_group,
)
from tests.render.test_layout import lifecycles

ENGLISH = load_language()
ORDER = load_lifecycle(Path(__file__).parent / "cases" / "order-groups.json")


def state(name: str, group: str | None = None) -> State:
    return State(name, Kind.ACTIVE, name, name, group=group)


def ends(fold: Fold) -> list[tuple[str | None, str | None, str]]:
    return [(arrow.source, arrow.target, arrow.label) for arrow in fold.lifecycle.arrows]


def folded(lifecycle: Lifecycle, apart: tuple[str, ...] = ()) -> Fold:
    return fold_groups(lifecycle, dict.fromkeys(foldable_groups(lifecycle), ""), ENGLISH, apart)


SMALL = Lifecycle(
    "small",
    "Small",
    (state("a", "one"), state("b", "one"), state("c", "two"), state("d", "two"), state("e"), state("f", "three")),
    (
        Arrow("new", None, "a", "new"),
        Arrow("ab", "a", "b", "ab"),
        Arrow("ac", "a", "c", "ac"),
        Arrow("bd", "b", "d", "bd"),
        Arrow("db", "d", "b", "db"),
        Arrow("ce", "c", "e", "ce"),
        Arrow("ef", "e", "f", "ef"),
        Arrow("ee", "e", "e", "ee"),
        Arrow("gone", "f", None, "gone"),
    ),
)


def test_a_group_is_one_box_and_arrows_between_the_same_boxes_are_one() -> None:
    fold = folded(SMALL)
    assert [each.id for each in fold.lifecycle.states] == ["group:one", "group:two", "e", "f"]
    assert ends(fold) == [
        (None, "group:one", "new"),
        ("group:one", "group:two", "2 arrows"),
        ("group:two", "group:one", "db"),
        ("group:two", "e", "ce"),
        ("e", "f", "ef"),
        ("e", "e", "ee"),
        ("f", None, "gone"),
    ]
    assert fold.groups == {"group:one": "one", "group:two": "two"}
    assert list(fold.bundles.values()) == [("ac", "bd")]


def test_a_group_of_one_state_stays_a_state() -> None:
    assert foldable_groups(SMALL) == ("one", "two")


def test_arrows_that_stand_apart_are_drawn_even_inside_a_group() -> None:
    fold = folded(SMALL, ("ab", "ac"))
    assert ("group:one", "group:one", "ab") in ends(fold)
    assert ("group:one", "group:two", "ac") in ends(fold)
    assert ("group:one", "group:two", "bd") in ends(fold)
    assert fold.bundles == {}


def test_an_id_that_looks_like_a_box_is_no_clash() -> None:
    clash = replace(
        SMALL,
        states=(*SMALL.states, state("group:one"), state("group:one'")),
        arrows=(*SMALL.arrows, Arrow("bundle:1", "group:one", "a")),
    )
    fold = folded(clash)
    ids = [each.id for each in fold.lifecycle.states]
    assert len(ids) == len(set(ids)) == 6
    names = [arrow.id for arrow in fold.lifecycle.arrows]
    assert len(names) == len(set(names))


def test_the_words_of_a_box_count_what_is_inside() -> None:
    assert inside_words(ORDER, "Shipping", ENGLISH) == "7 states, 10 arrows inside"
    assert inside_words(ORDER, "End", ENGLISH) == "4 states, 1 arrow inside"


@given(
    lifecycles(most_states=10, most_arrows=25), st.lists(st.sampled_from(["x", "y", None]), min_size=10, max_size=10)
)
@settings(max_examples=150, deadline=None)
def test_every_arrow_is_drawn_once_or_lies_inside_a_group(lifecycle: Lifecycle, groups: list[str | None]) -> None:
    states = tuple(replace(each, group=group) for each, group in zip(lifecycle.states, groups, strict=False))
    lifecycle = replace(lifecycle, states=states)
    fold = folded(lifecycle)
    drawn = [one for arrow in fold.lifecycle.arrows for one in fold.bundles.get(arrow.id, (arrow.id,))]
    group_of = {each.id: each.group for each in states if each.group in foldable_groups(lifecycle)}
    inside = [
        arrow.id
        for arrow in lifecycle.arrows
        if arrow.source in group_of and group_of[arrow.source] == group_of.get(arrow.target or "")
    ]
    assert sorted(drawn + inside) == sorted(arrow.id for arrow in lifecycle.arrows)
    known = {each.id for each in fold.lifecycle.states}
    assert all({arrow.source, arrow.target} <= known | {None} for arrow in fold.lifecycle.arrows)


def test_an_open_group_holds_its_states_its_arrows_and_what_these_lead_to() -> None:
    fold = open_group(ORDER, "Basket", ENGLISH)
    assert [each.id for each in fold.lifecycle.states] == ["cart", "checkout", "pay_pending", "cancelled"]
    assert [arrow.id for arrow in fold.lifecycle.arrows] == ["t0", "t1", "t2", "t3", "t4"]


def test_neighbours_of_an_open_group_can_be_in_their_groups() -> None:
    fold = open_group(ORDER, "End", ENGLISH, foldable_groups(ORDER))
    assert "group:Payment" in fold.groups
    assert {each.id for each in fold.lifecycle.states} >= {"refunded", "closed", "cancelled", "lost"}
    assert "group:End" not in fold.groups


def test_the_neighbours_of_one_state_can_be_in_their_groups() -> None:
    fold = fold_neighbours(ORDER, "cancelled", ENGLISH)
    assert [each.id for each in fold.lifecycle.states] == ["cart", "group:Payment", "reserved", "cancelled"]
    assert ends(fold)[1] == ("group:Payment", "cancelled", "3 arrows")


def test_a_crowd_of_arrows_with_the_same_ends_is_one_arrow_in_the_place_of_the_first() -> None:
    arrows = [
        Arrow(f"{pair}{n}", *pair, f"{n}") for n in range(5) for pair in ("ab", "ba", "aa") if n < 3 or pair != "ba"
    ]
    fold = fold_crowds(replace(SMALL, arrows=tuple(arrows)), ENGLISH, apart=("ab4",))
    assert ends(fold) == [
        ("a", "b", "4 arrows"),
        ("b", "a", "0"),
        ("a", "a", "5 arrows"),
        ("b", "a", "1"),
        ("b", "a", "2"),
        ("a", "b", "4"),
    ]
    assert list(fold.bundles.values()) == [("ab0", "ab1", "ab2", "ab3"), tuple(f"aa{n}" for n in range(5))]
    assert fold.lifecycle.states == SMALL.states
