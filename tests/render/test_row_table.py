from __future__ import annotations

import pytest

from arrowproof.model.evidence import Row, Scalar
from arrowproof.render.language import load_language
from arrowproof.render.row_table import MAX_VALUE, RowTable, Value, changed_columns, row_table, shown_value

BEFORE: Row = (("id", 2), ("status", "pending"), ("attempts", 0), ("next_run_at", "2026-11-29T21:31:32.685Z"))
AFTER: Row = (("id", 2), ("status", "completed"), ("attempts", 1), ("next_run_at", None))


def table(before: Row | None = BEFORE, after: Row | None = AFTER, columns: int = 8) -> RowTable | None:
    return row_table(before, after, load_language(), table="jobs", first="status", day="2026-11-29", columns=columns)


def cells(made: RowTable | None) -> list[tuple[str, str, str, bool]]:
    assert made is not None
    return [(line.name.text, line.before.text, line.after.text, line.is_changed) for line in made.lines]


def test_the_state_stands_first_then_what_changed_then_the_rest() -> None:
    assert cells(table()) == [
        ("status", "pending", "completed", True),
        ("attempts", "0", "1", True),
        ("next_run_at", "21:31:32.685", "null", True),
        ("id", "2", "2", False),
    ]


def test_a_state_that_stays_stands_first_all_the_same() -> None:
    assert cells(table(BEFORE, (*BEFORE[:2], ("attempts", 1), BEFORE[3])))[0] == ("status", "pending", "pending", False)


def test_a_row_that_was_not_there_has_dashes_and_its_heading_says_so() -> None:
    made = table(before=None)
    assert made is not None
    assert (made.heading, made.before, made.after) == ("Row in jobs", "before: no row", "after")
    assert {line.before.text for line in made.lines} == {"–"}
    removed = table(after=None)
    assert removed is not None
    assert removed.after == "after: no row"
    assert table(None, None) is None


def test_columns_beyond_the_bound_are_counted() -> None:
    wide: Row = tuple((f"column_{number}", number) for number in range(12))
    made = table(wide, (("column_11", 0), *wide[:11]), columns=4)
    assert made is not None
    assert [line.name.text for line in made.lines] == ["column_11", "column_0", "column_1", "column_2"]
    assert made.more == "8 more columns"


@pytest.mark.parametrize(
    ("value", "shown"),
    [
        (None, Value("null")),
        (True, Value("true")),
        (1.5, Value("1.5")),
        ("", Value("''")),
        ("null", Value("null")),
        ("2026-11-29T21:31:32.685123Z", Value("2026-11-29 21:31:32", "2026-11-29T21:31:32.685123Z")),
        ("2026-11-29 21:31", Value("2026-11-29 21:31")),
        ("a\nb\x00", Value("a b\N{REPLACEMENT CHARACTER}")),
    ],
)
def test_a_value_is_shown_as_a_person_reads_it(value: Scalar, shown: Value) -> None:
    assert shown_value(value) == shown


@pytest.mark.parametrize(
    ("before", "after", "shown"),
    [
        ("2026-11-29T21:31:32.685123Z", "2026-11-29T21:31:33Z", ("21:31:32.685", "21:31:33")),
        ("2026-11-29T23:59:59.878Z", "2026-11-30T00:00:01Z", ("11-29 23:59:59", "11-30 00:00:01")),
        ("2026-11-29T23:59:59.878Z", "2027-01-01T00:00:01Z", ("2026-11-29 23:59:59", "2027-01-01 00:00:01")),
        ("2026-11-30T00:00:01Z", None, ("11-30 00:00:01", "null")),
        ("2026-11-29T21:31:32Z", "later", ("21:31:32", "later")),
    ],
)
def test_times_on_both_sides_of_a_step_are_shown_in_the_same_form(
    before: Scalar, after: Scalar, shown: tuple[str, str]
) -> None:
    assert cells(table((("due", before),), (("due", after),))) == [("due", *shown, True)]


def test_a_long_value_is_cut_and_stands_whole_beside() -> None:
    shown = shown_value("x" * 300)
    assert shown == Value("x" * (MAX_VALUE - 1) + "…", "x" * 300)
    assert len(shown_value("y" * 100_000).whole) <= 400


def test_a_column_changed_that_differs_or_stands_on_one_side_alone() -> None:
    before, after = (("id", 1), ("n", 1), ("gone", "x")), (("id", 1), ("n", True), ("new", None))
    assert changed_columns(before, after) == {"id": False, "n": True, "gone": True, "new": True}
    assert changed_columns(None, before) == {"id": True, "n": True, "gone": True}
    assert list(changed_columns(before, after)) == ["id", "n", "gone", "new"]


def test_values_of_two_types_differ_even_where_they_are_equal() -> None:
    assert cells(table((("flag", 1),), (("flag", True),)))[0][3]
