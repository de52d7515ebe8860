"""Where a statement begins, and what only looks like one."""

from __future__ import annotations

import pytest

from arrowproof.conformance.heads import HOLE, find_heads, find_written, may_name


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


def test_what_is_written_out_is_found_wherever_it_stands() -> None:
    assert [head.start for head in find_written("a: UPDATE jobs SET a = 1\nplease delete from jobs where b")] == [3, 32]


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
