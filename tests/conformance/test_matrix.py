"""What SQL comes to, held against the note job: a job may leave pending and retry_wait, not completed or failed."""

from __future__ import annotations

from pathlib import Path

import pytest

from arrowproof.conformance.findings import MAX_SQL
from arrowproof.conformance.matrix import MAX_NOTES, build_matrix, scan
from arrowproof.model.lifecycle import AcceptedSneakPath, Arrow, Kind, State
from arrowproof.model.loader import load_lifecycle
from arrowproof.model.transitions import transition_map
from tests.conformance.matrices import DDL, GOOD, MODEL, STATES, Judge, leaving, note_job, possible


def test_the_bundled_sql_makes_the_thirteen_transitions_and_nothing_else() -> None:
    lifecycle = load_lifecycle(Path(__file__).parents[2] / "arrowproof" / "service" / "notes-job.lifecycle.json")
    matrix = build_matrix(lifecycle, scan(lifecycle))
    assert matrix.holds
    assert set(matrix.written) == set(transition_map(lifecycle))
    assert len(matrix.written) == 13
    for (_, target), statements in matrix.written.items():
        assert len(statements) == (2 if target == "failed" else 1)
        assert all(each.place.name for each in statements)
    assert (matrix.sneak_paths, matrix.undecided, matrix.dynamic, matrix.idle, matrix.notes) == ((), (), (), (), ())


def test_good_sql_holds_and_says_where_each_transition_is_written(judge: Judge) -> None:
    matrix = judge(GOOD)
    assert matrix.holds
    lines = {"pending": 1, "completed": 2, "retry_wait": 3, "failed": 4}
    places = {pair: [str(each.place) for each in found] for pair, found in matrix.written.items()}
    assert places == {(source, target): [f"queries.sql:{lines[target]}"] for source, target in MODEL}
    assert [(each.file, each.statements) for each in matrix.sources] == [("queries.sql", 5), ("schema.sql", 0)]


@pytest.mark.parametrize(
    ("good", "bad", "sneak_paths"),
    [
        (" AND status IN ('pending', 'retry_wait');", ";", {"failed>completed"}),
        ("IN ('pending', 'retry_wait');", "IN ('pending', 'retry_wait', 'failed');", {"failed>completed"}),
        ("AND status IN", "OR status IN", {"failed>completed"}),
        ("'retry_wait' = status)", "'retry_wait' = status OR id = 1)", {"completed>failed"}),
        ("SET status = 'failed'", "SET status = 'pending'", {"pending>pending", "retry_wait>pending"}),
        ("SET status = 'failed'", "SET status = 'fialed'", {"pending>fialed", "retry_wait>fialed"}),
        ("'pending', 0", "'failed', 0", {"+>failed"}),
        ("SET attempts = attempts + 1", "SET status = 'failed'", {"completed>failed"}),
        ("UPDATE jobs SET attempts = attempts + 1", "DELETE FROM jobs", leaving(" ".join(STATES), "-")),
        ("= 'completed' WHERE id = :id AND", "= 'completed' WHERE NOT", {"failed>completed"}),
    ],
)
def test_a_mutant_of_good_sql_does_not_hold_and_names_its_sneak_path(
    judge: Judge, good: str, bad: str, sneak_paths: set[str]
) -> None:
    assert good in GOOD
    matrix = judge(GOOD.replace(good, bad, 1))
    found = {f"{path.source or '+'}>{path.target or '-'}" for path in matrix.sneak_paths}
    assert not matrix.holds
    assert found & sneak_paths == sneak_paths - {"pending>pending"}
    assert all(path.possible for path in matrix.sneak_paths)


def test_a_statement_taken_away_leaves_its_transitions_missing(judge: Judge) -> None:
    matrix = judge("\n".join(GOOD.splitlines()[1:]))
    assert [each.pair for each in matrix.missing] == [(None, "pending")]
    assert not matrix.holds


def test_an_arrow_taken_from_the_model_makes_its_transition_a_sneak_path(judge: Judge, tmp_path: Path) -> None:
    arrows = tuple(each for each in note_job(tmp_path).arrows if (each.source, each.target) != ("pending", "failed"))
    matrix = judge(GOOD, arrows=arrows)
    (path,) = matrix.sneak_paths
    assert (path.source, path.target, str(path.possible[0].place)) == ("pending", "failed", "queries.sql:4")
    accepted = judge(GOOD, arrows=arrows, accepted_sneak_paths=(AcceptedSneakPath("pending", "failed", "support"),))
    assert (accepted.holds, accepted.sneak_paths[0].accepted) == (True, "support")


def test_a_misspelt_source_state_is_reported_as_idle(judge: Judge) -> None:
    matrix = judge("UPDATE jobs SET status = 'failed' WHERE status = 'pendign'")
    assert [str(each.place) for each in matrix.idle] == ["queries.sql:1"]
    assert judge("UPDATE jobs SET y = 'failed' WHERE status = 'pendign'").idle == ()


@pytest.mark.parametrize(
    ("sql", "notes"),
    [
        ("UPDATE jobs SET status = 'fialed' WHERE status = 'pending'", [("stores 'fialed'", "failed")]),
        ("INSERT INTO jobs (status) VALUES ('Pending')", [("stores 'Pending'", "pending")]),
        (
            "UPDATE jobs SET status = CASE WHEN y THEN 'faild' ELSE 'failed' END WHERE status = 'pending'",
            [("stores 'faild'", "failed")],
        ),
        (
            "UPDATE jobs SET status = 'failed' WHERE status IN ('pending', 'retry-wait')",
            [("asks for 'retry-wait'", "retry_wait")],
        ),
        ("UPDATE jobs SET y = 1 WHERE 'compleetd' <> jobs.status", [("asks for 'compleetd'", "completed")]),
        ("DELETE FROM jobs WHERE status = 'pendign'", [("asks for 'pendign'", "pending")]),
        (
            "UPDATE jobs SET status = CASE status WHEN 'pendin' THEN 'failed' ELSE 'failed' END WHERE id = 1",
            [("asks for 'pendin'", "pending")],
        ),
        (
            "INSERT INTO jobs (id, status) VALUES (1, 'pending') ON CONFLICT (id) DO UPDATE SET status = 'faild'",
            [("stores 'faild'", "failed")],
        ),
        ("UPDATE jobs SET status = 'paused' WHERE y = 'fialed' AND status = 'pending'", []),
    ],
)
def test_a_value_that_is_nearly_a_state_is_noted_with_the_state(
    judge: Judge, sql: str, notes: list[tuple[str, str]]
) -> None:
    assert list(judge(sql).notes) == [
        f"queries.sql:1: it {did}, and no state has this value; did you mean {near}?" for did, near in notes
    ]


def test_a_dump_of_misspelt_values_is_noted_in_part(judge: Judge) -> None:
    rows = ", ".join(f"('pending{number}')" for number in range(100))
    assert len(judge(f"INSERT INTO jobs (status) VALUES {rows}").notes) == MAX_NOTES


def test_a_statement_is_pinned_when_naming_sources_would_not_help(judge: Judge) -> None:
    pinned = [
        "UPDATE jobs SET status = 'failed' WHERE status = 'pending'",
        "UPDATE jobs SET status = 'failed' WHERE status <> 'failed'",
        "DELETE FROM jobs WHERE status = 'failed'",
        "INSERT INTO jobs (status) VALUES ('failed')",
        "REPLACE INTO jobs (status) VALUES ('failed')",
    ]
    wide = [
        "UPDATE jobs SET status = 'failed' WHERE id = ?",
        "DELETE FROM jobs",
        "INSERT INTO jobs (id, status) VALUES (1, 'failed') ON CONFLICT (id) DO UPDATE SET status = 'failed'",
    ]
    assert [each.sql for each in judge(";\n".join([*pinned, *wide])).pinned] == pinned


def test_a_parameter_as_target_is_dynamic_with_its_sources(judge: Judge) -> None:
    matrix = judge("UPDATE jobs SET status = :to WHERE status = 'pending'; INSERT INTO jobs (status) VALUES (?)")
    assert [each.sources for each in matrix.dynamic] == [("pending",), (None,)]
    assert (matrix.holds, possible(matrix)) == (False, set())
    assert {each.reason for each in matrix.dynamic} == {
        "the target state is not a constant in the statement:"
        " write the target as a literal: one statement for each target, or CASE with literals"
    }


@pytest.mark.parametrize(
    ("sql", "ddl", "reason"),
    [
        (
            "INSERT INTO jobs (y) VALUES (1)",
            "",
            "the column is not given, and no CREATE TABLE in the sources says its default",
        ),
        (
            "INSERT INTO jobs DEFAULT VALUES",
            "",
            "the column is not given, and no CREATE TABLE in the sources says its default",
        ),
        (
            "INSERT INTO jobs VALUES (1, 'pending')",
            "",
            "the INSERT names no columns, and no CREATE TABLE in the sources says their order",
        ),
        (
            "INSERT INTO jobs (y) VALUES (1)",
            DDL + "CREATE TABLE jobs (id INT, status TEXT);",
            "the column is not given, and the CREATE TABLEs in the sources differ on its default",
        ),
        (
            "INSERT INTO jobs (y) VALUES (1)",
            DDL.replace("NOT NULL", "DEFAULT (lower('X'))"),
            "the column is not given, and its default is not a constant: give it as a literal",
        ),
    ],
)
def test_a_state_that_an_insert_leaves_to_the_table_says_what_hides_it(
    judge: Judge, sql: str, ddl: str, reason: str
) -> None:
    assert [each.reason for each in judge(sql, ddl).dynamic] == [reason]


@pytest.mark.parametrize(
    ("statement", "parameter"),
    [
        ("UPDATE jobs SET status = 'failed' WHERE id = %s AND status = 'pending'", "%s"),
        ("UPDATE jobs\n  SET status = %(to)s WHERE id = 1", "%(to)s"),
        ("INSERT INTO jobs (id, status) VALUES (%s, 'pending')", "%s"),
        ("DELETE FROM jobs WHERE id IN (%s, %s)", "%s"),
        ("DELETE FROM jobs WHERE id = %d", "%d"),
    ],
)
def test_a_parameter_of_another_driver_is_named_with_what_to_write(
    judge: Judge, statement: str, parameter: str
) -> None:
    (undecided,) = judge(f"SELECT 1;\n{statement}").undecided
    assert undecided.reason == f"`{parameter}` is no SQLite parameter; write ? or :name"


@pytest.mark.parametrize(
    "statement",
    [
        "UPDATE jobs SET status = WHERE id = 1",
        "UPDATE jobs SET status = 'failed' WHERE id = 4 %",
        "INSERT INTO jobs (status) VALUES ('pending'",
        "DELETE FROM jobs WHERE",
        "DELETE FROM jobs WHERE id BETWEEN 1",
        "UPDATE jobs SET status = CASE WHEN THEN 1 END",
    ],
)
def test_what_the_parser_cannot_read_shows_none_of_the_parsers_own_names(judge: Judge, statement: str) -> None:
    for each in judge(statement).undecided:
        assert "class" not in each.reason
        assert "sqlglot" not in each.reason
        assert "\x1b" not in each.reason


@pytest.mark.parametrize(
    ("statement", "expected"),
    [
        ("UPDATE jobs SET status = 'pending' WHERE status = 'pending'", set()),
        ("UPDATE jobs SET status = 'pending', attempts = 0 WHERE status = 'pending'", {"pending>pending"}),
        ("UPDATE jobs SET status = status WHERE status IN ('failed', 'retry_wait')", {"retry_wait>retry_wait"}),
        ("UPDATE jobs SET attempts = 0", set()),
    ],
)
def test_an_unchanged_state_is_a_self_transition_by_the_rule_of_the_design(
    judge: Judge, statement: str, expected: set[str]
) -> None:
    assert possible(judge(statement)) == expected


def test_names_are_compared_without_case_and_quotes(judge: Judge) -> None:
    sql = """INSERT INTO "JOBS" ([Status]) VALUES ('pending'); UPDATE 'Jobs' AS J SET `STATUS` = 'failed'
             WHERE j.Status = 'pending'"""
    assert possible(judge(sql)) == {"+>pending", "pending>failed"}


def test_a_state_of_null_is_a_state_like_others(judge: Judge) -> None:
    states = (State("new", Kind.WAITING, "New", None), State("done", Kind.SUCCESS, "Done", "done"))
    changes = {"states": states, "arrows": (Arrow("a", None, "new"), Arrow("b", "new", "done"))}
    ddl = "CREATE TABLE jobs (id INTEGER PRIMARY KEY, status TEXT)"
    assert judge(
        "INSERT INTO jobs DEFAULT VALUES; UPDATE jobs SET status = 'done' WHERE status IS NULL", ddl, **changes
    ).holds
    assert possible(judge("UPDATE jobs SET status = 'done' WHERE status = NULL", ddl, **changes)) == set()
    assert possible(judge("UPDATE jobs SET status = NULL WHERE status NOT IN ('x', NULL)", ddl, **changes)) == set()
    assert possible(judge("UPDATE jobs SET status = NULL WHERE status NOT IN ('x')", ddl, **changes)) == {"done>new"}


def test_the_text_of_an_endless_statement_is_cut_in_the_evidence(judge: Judge) -> None:
    rows = ", ".join(["(1, 'pending')"] * 2_000)
    ((statement,),) = (
        found for found in judge(f"INSERT INTO jobs (id, status) VALUES {rows}").written.values() if found
    )
    assert len(statement.sql) < MAX_SQL + 50
    assert "characters more" in statement.sql


def test_equal_input_gives_an_equal_matrix(judge: Judge) -> None:
    sql = GOOD + "REPLACE INTO jobs (status) VALUES ('a'), ('b'), ('failed'); UPDATE jobs SET status = 'z'"
    assert judge(sql) == judge(sql)
