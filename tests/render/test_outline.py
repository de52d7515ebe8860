from __future__ import annotations

from dataclasses import replace

import pytest

from arrowproof.errors import ModelError
from arrowproof.model.lifecycle import Arrow, Binding, Kind, Lifecycle, Origin, Panel, State
from arrowproof.render.outline import outline_lifecycle


def state(id: str, kind: Kind = Kind.ACTIVE, value: str | int | None = "") -> State:
    return State(id=id, kind=kind, label=id.title(), value=id if value == "" else value)


NOTES = Lifecycle(
    "notes",
    "Notes",
    (state("pending"), state("attempt", Kind.PASSING), state("done", Kind.SUCCESS), state("lost", value=3)),
    (
        Arrow("accept", None, "pending", "POST"),
        Arrow("pick", "pending", "attempt", "poll"),
        Arrow("succeed", "attempt", "done"),
        Arrow("lose", "attempt", "lost"),
        Arrow("purge", "lost", None),
    ),
)


def test_states_arrows_and_transitions_are_counted() -> None:
    outline = outline_lifecycle(NOTES)
    assert [count.spoken for count in outline.counts] == ["4 states, 1 passing", "5 arrows", "4 transitions"]
    assert outline.heading == "4 transitions over 5 arrows"


def test_one_of_a_kind_is_not_plural() -> None:
    one = Lifecycle("one", "One", (state("a"), state("b")), (Arrow("go", "a", "b"),))
    assert outline_lifecycle(one).heading == "1 transition over 1 arrow"


def test_a_transition_lists_its_arrow_paths_and_the_numbers_of_their_arrows() -> None:
    listed = {f"{row.source} {row.target}": (row.paths, row.arrows) for row in outline_lifecycle(NOTES).transitions}
    assert listed == {
        "created Pending": (("accept",), "0"),
        "Pending Done": (("pick, succeed",), "1 2"),
        "Pending Lost": (("pick, lose",), "1 3"),
        "Lost removed": (("purge",), "4"),
    }


def test_states_are_listed_as_they_are_drawn_with_their_ids_where_a_label_is_shared() -> None:
    shared = replace(NOTES, states=tuple(replace(each, label="Open") for each in NOTES.states[:2]) + NOTES.states[2:])
    listed = [f"{row.source} {row.target}" for row in outline_lifecycle(shared).transitions]
    assert listed == ["created Open (pending)", "Open (pending) Done", "Open (pending) Lost", "Lost removed"]


def test_arrow_paths_beyond_the_third_are_counted() -> None:
    many = tuple(Arrow(f"go{number}", "pending", "done", f"go {number}") for number in range(9))
    (row,) = outline_lifecycle(replace(NOTES, arrows=many)).transitions
    assert row.paths == ("go0", "go1", "go2", "6 more")
    assert row.arrows == "0 1 2 3 4 5 6 7 8"


def test_the_binding_is_told_with_the_values_that_are_not_ids() -> None:
    bound = replace(NOTES, binding=Binding("jobs", ("tenant", "id"), "status", watch=("attempts",)))
    assert [(fact.name, fact.value) for fact in outline_lifecycle(bound).facts] == [
        ("table", "jobs"),
        ("key", "tenant, id"),
        ("state", "status"),
        ("watched", "attempts"),
        ("values", "lost = 3"),
    ]


def test_a_derived_state_is_told_by_its_expression() -> None:
    bound = replace(NOTES, binding=Binding("jobs", ("id",), state_sql="CASE WHEN done THEN 1 END"))
    assert ("state", "CASE WHEN done THEN 1 END") in [(f.name, f.value) for f in outline_lifecycle(bound).facts]


def test_null_as_a_value_is_told_as_null() -> None:
    bound = replace(
        NOTES, states=(state("open", value=None), *NOTES.states), binding=Binding("jobs", ("id",), "status")
    )
    assert outline_lifecycle(bound).facts[-1].value == "open = null, lost = 3"


def test_marks_and_kinds_are_those_that_occur() -> None:
    outline = outline_lifecycle(NOTES)
    assert outline.marks == (("start", "created"), ("removed", "removed"))
    assert outline.kinds == ((Kind.ACTIVE, "active"), (Kind.SUCCESS, "success"), (Kind.PASSING, "passing"))
    assert outline_lifecycle(replace(NOTES, arrows=NOTES.arrows[1:4])).marks == ()


@pytest.mark.parametrize(
    ("arrow", "syntax"),
    [
        (Arrow("a", "pending", "done"), ""),
        (Arrow("a", "pending", "done", "go"), ""),
        (Arrow("a", "pending", "done", "go", "if", "do"), "event [guard] / effect"),
        (Arrow("a", "pending", "done", guard="if"), "[guard]"),
        (Arrow("a", "pending", "done", "go", effect="do"), "event / effect"),
    ],
)
def test_the_syntax_of_labels_has_the_parts_that_occur(arrow: Arrow, syntax: str) -> None:
    assert outline_lifecycle(replace(NOTES, arrows=(arrow,))).syntax == syntax


def test_every_text_is_clean() -> None:
    dirty = replace(
        NOTES,
        id="a\x00",
        title="b\n c",
        summary="\u202e",
        panels=(Panel("\ud800", ("x\ty",)),),
        origin=Origin(sha256="f" * 64),
    )
    outline = outline_lifecycle(dirty)
    assert (outline.id, outline.title, outline.summary, outline.model_hash) == ("a\ufffd", "b c", "\ufffd", "ffffffff")
    assert outline.panels == (Panel("\ufffd", ("x y",)),)


def test_a_cycle_of_passing_states_is_an_error_of_the_model() -> None:
    loop = (state("a", Kind.PASSING), state("b", Kind.PASSING))
    with pytest.raises(ModelError):
        outline_lifecycle(Lifecycle("loop", "Loop", loop, (Arrow("x", "a", "b"), Arrow("y", "b", "a"))))
