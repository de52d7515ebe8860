from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from arrowproof.model.evidence import Place, Statement
from arrowproof.render.sql_lines import MAX_LINE, Roles, sql_lines

COMPLETE = """UPDATE jobs
SET status = 'completed', next_run_at = NULL, note = 'completed'
WHERE id = :job_id
  AND status IN ('pending', 'retry_wait')"""
ROLES = Roles("completed", frozenset({"pending"}), frozenset({"retry_wait"}), "status")


def lines_of(sql: str, roles: Roles = ROLES, rows: int = 10, line: int = 28) -> list[tuple[int, str]]:
    return [(each.number, each.text) for each in sql_lines(Statement(Place("a.sql", line), sql), roles, rows)[0]]


def marked(sql: str, roles: Roles = ROLES) -> list[tuple[str, str]]:
    lines, _ = sql_lines(Statement(Place("a.sql", 1), sql), roles, 50)
    return [(span.text, span.role) for line in lines for span in line.spans if span.role]


def test_the_target_and_the_source_states_are_told_apart_and_a_wrong_one_from_both() -> None:
    assert marked(COMPLETE) == [("'completed'", "target"), ("'pending'", "source"), ("'retry_wait'", "wrong")]


def test_lines_keep_their_numbers_in_the_file() -> None:
    assert lines_of(COMPLETE)[0] == (28, "UPDATE jobs")
    assert lines_of(COMPLETE)[-1] == (31, "  AND status IN ('pending', 'retry_wait')")


def test_a_literal_that_is_given_to_another_column_is_no_target() -> None:
    assert marked("UPDATE jobs SET note = 'completed', status = 'completed'") == [("'completed'", "target")]
    assert len(marked("UPDATE jobs SET note = 'completed'")) == 0


def test_without_a_state_column_every_assigned_target_is_marked() -> None:
    assert marked("UPDATE jobs SET a = 'completed'", Roles("completed")) == [("'completed'", "target")]


@pytest.mark.parametrize(
    ("sql", "found"),
    [
        ("INSERT INTO jobs (id, status) VALUES (1, 'completed') RETURNING id", ["target"]),
        ("INSERT INTO jobs SELECT id, 'completed' FROM old WHERE status = 'pending'", ["target", "source"]),
        (
            "UPDATE jobs SET status = CASE WHEN status = 'pending' THEN 'completed' ELSE 'x' END WHERE id = 1",
            ["source", "target"],
        ),
        ('UPDATE jobs SET "status" = \'completed\' WHERE (id = 1 OR status = \'pending\')', ["target", "source"]),
        ("UPDATE jobs SET status = 'completed' WHERE id = (SELECT id FROM jobs LIMIT 1) AND status = 'pending'",
         ["target", "source"]),
        ("UPDATE jobs SET status = 'completed' -- 'pending'\nWHERE note /* status = 'pending' */ IS NULL", ["target"]),
        ("DELETE FROM jobs WHERE status = 'pending'", ["source"]),
        ("INSERT INTO jobs VALUES (1) ON CONFLICT (id) DO UPDATE SET status = 'completed' WHERE status = 'pending'",
         ["target", "source"]),
    ],
)  # fmt: skip
def test_the_clause_says_what_a_literal_is(sql: str, found: list[str]) -> None:
    assert [role for _, role in marked(sql)] == found


def test_numbers_are_values_too_and_quotes_in_a_value_are_doubled() -> None:
    assert marked("UPDATE t SET s = 3 WHERE s = 13", Roles("3", frozenset({"13"}))) == [
        ("3", "target"),
        ("13", "source"),
    ]
    assert marked("UPDATE t SET s = 'it''s'", Roles("it's")) == [("'it''s'", "target")]


def test_lines_that_say_something_stay_when_there_are_too_many_and_the_others_are_counted() -> None:
    filler = "\n".join(f"  , column_{number} = :value_{number}" for number in range(30))
    sql = f"UPDATE jobs\nSET status = 'completed'\n{filler}\nWHERE id = :id\n  AND status = 'pending'"
    lines, more = sql_lines(Statement(Place("a.sql", 5), sql), ROLES, 6)
    assert [line.number for line in lines] == [5, 6, 7, 8, 9, 38]
    assert more == 28


def test_a_long_line_takes_several_rows_and_is_cut_at_last() -> None:
    long = f"SELECT {'a' * 300}"
    assert lines_of(f"{long}\nFROM t", rows=4) == [(28, long[:MAX_LINE] + "…")]
    assert len(lines_of(f"SELECT {'a' * 70}\nFROM t", rows=3)) == 2


def test_at_least_one_line_stands() -> None:
    assert len(lines_of("x" * 500, rows=1)) == 1


def test_lines_of_a_program_that_stand_far_in_move_to_the_left() -> None:
    assert lines_of("UPDATE t\n            SET a = 1\n              , b = 2")[1:] == [
        (29, "  SET a = 1"),
        (30, "    , b = 2"),
    ]
    assert lines_of("UPDATE t\n   SET a = 1\n WHERE b = 2")[1:] == [(29, "   SET a = 1"), (30, " WHERE b = 2")]


def test_what_cannot_be_drawn_is_replaced_and_tabs_are_spaces() -> None:
    assert lines_of("UPDATE\x00 t\r\n\tSET a = '\u202ex'") == [
        (28, "UPDATE\N{REPLACEMENT CHARACTER} t"),
        (29, "  SET a = '\N{REPLACEMENT CHARACTER}x'"),
    ]


@given(st.text(alphabet="'\"`-/*()=,\n aSETWHERE1;\x00é", max_size=200))
def test_any_text_is_shown_whole_whatever_its_tokens_are(sql: str) -> None:
    lines, more = sql_lines(Statement(Place("a.sql", 1), sql), Roles("a", frozenset({"1"})), 1000)
    assert more == 0
    assert len(lines) == sql.rstrip().count("\n") + 1 or not sql.strip()
    shown = "".join(line.text for line in lines).replace(" ", "").replace("\N{REPLACEMENT CHARACTER}", "")
    if all(len(line.text) < MAX_LINE for line in lines):
        assert shown == sql.replace("\n", "").replace(" ", "").replace("\x00", "")
