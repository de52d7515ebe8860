"""Where a statement begins, and what only looks like one."""

from __future__ import annotations

import pytest

from arrowproof.conformance.heads import HOLE, find_heads, find_hidden_verbs, find_written, may_name


@pytest.mark.parametrize(
    ("text", "table"),
    [
        ("UPDATE jobs SET a = 1", "jobs"),
        ('update only "public"."jobs" AS j set (a, b) = (1, 2)', '"public"."jobs"'),
        ("UPDATE OR IGNORE jobs SET a = 1", "jobs"),
        ("UPDATE jobs j JOIN notes n ON n.a = j.a SET j.a = 1", "jobs"),
        ("INSERT OR REPLACE INTO jobs VALUES (1)", "jobs"),
        ("insert into jobs(a) values (1)", "jobs"),
        ("REPLACE INTO [jobs] SELECT 1", "[jobs]"),
        ("DELETE FROM jobs", "jobs"),
        ("delete from jobs where a = 1", "jobs"),
        ("MERGE INTO jobs USING a ON b WHEN MATCHED THEN DELETE", "jobs"),
        ("TRUNCATE TABLE jobs", "jobs"),
        ("COPY jobs (a, b) FROM STDIN", "jobs"),
        ("CREATE TABLE IF NOT EXISTS jobs (a)", "jobs"),
        ("ALTER TABLE jobs ADD COLUMN a", "jobs"),
        ("-- why\n/* how */ DELETE FROM jobs", "jobs"),
        ("BEGIN; DELETE FROM jobs; COMMIT", "jobs"),
        ("BEGIN RETURN QUERY DELETE FROM jobs RETURNING *; END", "jobs"),
        ("WITH a AS (SELECT 1) DELETE FROM jobs WHERE a", "jobs"),
        (f"{HOLE} DELETE FROM jobs WHERE a", "jobs"),
        (f"UPDATE {HOLE} SET a = 1", HOLE),
        (f"UPDATE {HOLE}.jobs SET {HOLE}", f"{HOLE}.jobs"),
        ("UPDATE jobs ", "jobs"),
        ("INSERT INTO jobs ", "jobs"),
    ],
)
def test_a_statement_begins_where_grammar_lets_one_begin(text: str, table: str) -> None:
    assert [head.table for head in find_heads(text)] == [table]


@pytest.mark.parametrize(
    "text",
    [
        "Update jobs",
        "Update jobs set up by hand",
        "Delete from jobs",
        "please delete from jobs where a = 1",
        "insert into jobs failed",
        "updated jobs set a = 1",
        "DELETE",
        "UPDATE",
        "-- DELETE FROM jobs",
        "SELECT 1 FROM jobs FOR UPDATE",
        "Truncate table of contents"[:8],
        "query DELETE FROM jobs WHERE a = 1 failed",
    ],
)
def test_prose_and_keywords_alone_begin_none(text: str) -> None:
    assert list(find_heads(text)) == []


@pytest.mark.parametrize(
    ("text", "is_cut"), [("UPDATE jobs SET ", True), ("INSERT INTO jobs", True), ("DELETE FROM jobs", False)]
)
def test_a_head_that_ends_ahead_of_what_it_does_is_cut(text: str, is_cut: bool) -> None:
    assert [head.is_cut for head in find_heads(text)] == [is_cut]


def test_a_removal_of_all_is_found_up_to_the_end_of_what_may_be_a_literal() -> None:
    assert [head.table for head in find_written('a = "DELETE FROM jobs"\nb: DELETE FROM notes')] == ["jobs", "notes"]
    assert [head.table for head in find_written("a: TRUNCATE jobs\nb: truncate notes")] == ["jobs"]


def test_what_is_written_out_is_found_wherever_it_stands() -> None:
    assert [head.start for head in find_written("a: UPDATE jobs SET a = 1\nplease delete from jobs where b")] == [3, 32]


def test_a_head_hides_none_that_stands_behind_its_table() -> None:
    text = "<a>UPDATE jobs</a> <b>DELETE FROM jobs</b> <c>UPDATE jobs <set>a = 1</set></c> UPDATE notes SET a = 1"
    assert [(head.start, head.table) for head in find_written(text)] == [
        (22, "jobs"),
        (46, "jobs"),
        (79, "notes"),
    ]


@pytest.mark.parametrize(
    "text",
    [
        "# FROM jobs WHERE id = 1",
        "# FROM jobs",
        "# from jobs where id = 1",
        "# FROM app.jobs AS j WHERE j.id IN (1)",
        "# INTO jobs (a, b) VALUES (1, 2)",
        "# into jobs select 1",
        "# jobs SET a = 1",
        "# # jobs j SET (a, b) = (1, 2)",
        "# jobs WHERE id = 1",
        "# TABLE jobs CASCADE",
        "BEGIN; # jobs SET a = 1",
        "-- why\n# FROM jobs",
    ],
)
def test_a_verb_that_is_a_hole_begins_a_statement_on_a_table_that_is_named(text: str) -> None:
    marked = text.replace("#", HOLE)
    assert [head.table.rpartition(".")[2] for head in find_hidden_verbs(marked)] == ["jobs"]
    assert "jobs" not in [head.table for head in find_hidden_verbs(marked.replace("jobs", "notes"))]


@pytest.mark.parametrize(
    ("text", "count"),
    [("# INTO # (a) VALUES (1)", 1), ("# INTO # SELECT 1", 1), ("# FROM # WHERE a = 1", 0)],
)
def test_a_verb_and_a_table_that_are_both_holes_change_rows_in_a_form_that_no_query_has(text: str, count: int) -> None:
    assert len(list(find_hidden_verbs(text.replace("#", HOLE)))) == count


@pytest.mark.parametrize(
    "text",
    [
        "# jobs from #",
        "# from jobs",
        "# jobs where # waits",
        "# jobs set aside",
        "took # FROM jobs",
        "#: jobs set a = 1",
        "# into jobs",
        "# jobs: WHERE id = 1",
        "SELECT # FROM jobs WHERE id = 1",
        "SELECT count(#) FROM jobs",
        "status = '# jobs SET a = 1'",
        "query # FROM jobs",
        "# jobs WHERE",
    ],
)
def test_prose_with_a_hole_and_the_parts_of_a_query_hide_no_verb(text: str) -> None:
    assert list(find_hidden_verbs(text.replace("#", HOLE))) == []


@pytest.mark.timeout(30)
def test_many_heads_and_holes_take_time_in_proportion_to_their_number() -> None:
    assert len(list(find_written("UPDATE jobs <set>" * 5_000))) == 5_000
    assert len(list(find_heads("DELETE FROM jobs; " * 5_000))) == 5_000
    assert len(list(find_hidden_verbs(f"{HOLE} jobs SET a = 1; " * 5_000))) == 5_000
    assert list(find_hidden_verbs(HOLE * 20_000)) == list(find_hidden_verbs(f"{HOLE} " * 20_000)) == []
    assert list(find_hidden_verbs(f"{HOLE} INTO jobs (" * 20_000)) == []


@pytest.mark.parametrize(
    ("table", "answer"),
    [
        ("jobs", True),
        ("JOBS", True),
        ('"jobs"', True),
        ("main.jobs", True),
        ("jobs_old", False),
        ("jobs.notes", False),
        (HOLE, True),
        (f"{HOLE}.jobs", True),
        (f"{HOLE}.notes", False),
        (f"j{HOLE}s", True),
        (f"jobs_{HOLE}", False),
        (f'"{HOLE}obs"', True),
        ("", True),
    ],
)
def test_a_name_with_holes_may_be_any_that_its_constant_parts_leave(table: str, answer: bool) -> None:
    assert may_name(table, frozenset({"jobs"})) is answer
