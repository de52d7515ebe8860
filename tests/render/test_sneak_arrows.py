from __future__ import annotations

from dataclasses import replace

from arrowproof.model.evidence import JournalKind, JournalRow, SneakPath
from arrowproof.model.lifecycle import Arrow, Kind, Lifecycle, State
from arrowproof.render.language import load_language
from arrowproof.render.sneak_arrows import MAX_DRAWN, add_sneak_arrows, sneak_words

ENGLISH = load_language()
ROW = JournalRow(1, "update", JournalKind.CHANGED, (("id", 1),), "a", "b", (), ())


def state(id: str, kind: Kind = Kind.ACTIVE) -> State:
    return State(id, kind, id, id)


JOB = Lifecycle(
    "job",
    "Job",
    (state("a"), state("try", Kind.PASSING), state("b", Kind.SUCCESS)),
    (Arrow("go", "a", "try"), Arrow("sneak path 1", "try", "b")),
)


def add(*paths: SneakPath) -> tuple[Lifecycle, dict[str, SneakPath]]:
    lifecycle, drawn = add_sneak_arrows(JOB, paths, ENGLISH)
    return lifecycle, dict(drawn)


def test_a_sneak_path_is_an_arrow_behind_the_models_own_with_an_id_that_is_none_of_theirs() -> None:
    path = SneakPath("b", "a")
    lifecycle, drawn = add(path)
    assert lifecycle.arrows[:2] == JOB.arrows
    assert lifecycle.arrows[2] == Arrow("sneak path 1'", "b", "a", "sneak path")
    assert drawn == {"sneak path 1'": path}
    assert lifecycle.states == JOB.states


def test_creation_and_removal_keep_their_meaning() -> None:
    lifecycle, _ = add(SneakPath(None, "b"), SneakPath("a", None))
    assert [(arrow.source, arrow.target) for arrow in lifecycle.arrows[2:]] == [(None, "b"), ("a", None)]


def test_a_value_that_is_no_state_becomes_one_neutral_state_that_says_so() -> None:
    lifecycle, _ = add(SneakPath("a", "weird"), SneakPath("weird", "b"))
    assert [(arrow.source, arrow.target) for arrow in lifecycle.arrows[2:]] == [("a", "weird"), ("weird", "b")]
    (stray,) = lifecycle.states[3:]
    assert (stray.kind, stray.label, stray.note) == (Kind.NEUTRAL, "weird", "a value of no state")


def test_a_stored_value_that_reads_like_a_passing_state_is_not_drawn_at_it() -> None:
    lifecycle, _ = add(SneakPath("a", "try"))
    assert lifecycle.arrows[2].target == "try'"
    assert lifecycle.states[3].label == "try"


def test_a_value_of_any_size_is_bounded_and_an_empty_one_is_seen() -> None:
    lifecycle, _ = add(SneakPath("a", "x" * 5000), SneakPath("a", ""))
    assert [len(lifecycle.states[3].label), lifecycle.states[4].label] == [60, '""']


def test_of_many_sneak_paths_those_that_happened_and_nobody_accepted_are_drawn_first() -> None:
    possible = [SneakPath("a", f"p{number}") for number in range(MAX_DRAWN)]
    accepted = SneakPath("b", "a", happened=(ROW,), accepted="by hand")
    happened = SneakPath("b", None, happened=(ROW,))
    _, drawn = add(*possible, accepted, happened)
    assert list(drawn.values()) == [happened, accepted, *possible[: MAX_DRAWN - 2]]


def test_a_pair_is_drawn_once_and_one_without_ends_not_at_all() -> None:
    _, drawn = add(SneakPath("b", "a"), SneakPath("b", "a", accepted="twice"), SneakPath(None, None))
    assert list(drawn.values()) == [SneakPath("b", "a")]


def test_the_words_say_whether_it_happened_and_whether_it_is_accepted() -> None:
    path = SneakPath("b", "a")
    assert sneak_words(path, ENGLISH) == "possible"
    assert sneak_words(replace(path, happened=(ROW,)), ENGLISH) == "happened"
    assert sneak_words(replace(path, happened=(ROW,), accepted="by hand"), ENGLISH) == "happened, accepted"
