"""What the tables refuse by themselves, whatever the code does."""

from __future__ import annotations

import pytest

from arrowproof.service.address import Address
from arrowproof.service.database import DatabaseError
from arrowproof.service.queries import service_queries
from tests.service.engines import only_sqlite

NOW = "2026-11-29T15:09:02.118Z"
NOTE = {"client": "me", "idempotency_key": "k", "text": "t", "text_sha256": "s", "now": NOW}


@pytest.fixture
def completed(database):
    """A database with one job whose history is written."""
    database.begin()
    database.rows("insert_note", **NOTE)
    database.rows("insert_job", note_id=1, max_attempts=1, now=NOW)
    database.change("count_attempt", job_id=1)
    database.change("insert_history", job_id=1, now=NOW)
    database.change("insert_error", job_id=1, error="e", now=NOW)
    database.change("complete_job", job_id=1, now=NOW)
    database.commit()
    return database


@pytest.mark.parametrize(
    ("query", "parameters"),
    [
        ("insert_history", {"job_id": 1, "now": NOW}),
        ("insert_error", {"job_id": 1, "error": "e", "now": NOW}),
        ("insert_job", {"note_id": 1, "max_attempts": 1, "now": NOW}),
        ("insert_job", {"note_id": 9, "max_attempts": 1, "now": NOW}),
        ("insert_job", {"note_id": 2, "max_attempts": 0, "now": NOW}),
        ("remove_note", {"note_id": 1}),
        ("remove_job", {"job_id": 1, "finished_before": NOW}),
    ],
    ids=[
        "second history",
        "second error",
        "second job",
        "job without note",
        "no attempts",
        "note of job",
        "job of history",
    ],
)
def test_the_tables_refuse_what_would_break_a_promise(completed, query, parameters):
    completed.begin()
    completed.rows("insert_note", **{**NOTE, "idempotency_key": "l"})
    with pytest.raises(DatabaseError, match=r"(?i)unique|foreign|check|not.null"):
        completed.change(query, **parameters)
    completed.roll_back()


@pytest.mark.parametrize(
    "change",
    [
        "status = 'running'",
        "attempts = 2",
        "attempts = -1",
        "max_attempts = 0",
        "note_id = 7",
        "status = 'pending'",
        f"status = 'retry_wait', next_run_at = '{NOW}'",
        "status = 'pending', finished_at = NULL",
        "finished_at = NULL",
        f"next_run_at = '{NOW}'",
    ],
)
def test_a_job_can_be_nothing_that_the_lifecycle_does_not_know(completed, engine, change):
    with engine.bench() as bench:
        if engine.name == "sqlite":
            bench.run("PRAGMA foreign_keys = ON")
        with pytest.raises(Exception, match=r"(?i)constraint"):
            bench.run(f"UPDATE jobs SET {change}")
    assert completed.row("find_job", job_id=1, client="me")[0] == "completed"


def test_a_second_note_under_one_key_of_one_client_is_not_stored_and_no_error(completed):
    completed.begin()
    assert completed.rows("insert_note", **{**NOTE, "text": "u"}) == []
    assert len(completed.rows("insert_note", **{**NOTE, "client": "you"})) == 1
    completed.roll_back()


def test_the_number_of_a_removed_job_is_never_given_to_another(completed):
    completed.begin()
    completed.change("remove_errors", job_id=1)
    completed.change("remove_history", job_id=1)
    completed.change("remove_job", job_id=1, finished_before=NOW)
    completed.change("remove_note", note_id=1)
    completed.commit()
    completed.begin()
    assert completed.rows("insert_note", **NOTE) == [(2,)]
    assert completed.rows("insert_job", note_id=2, max_attempts=1, now=NOW) == [(2,)]
    completed.commit()


@only_sqlite
def test_completing_a_job_builds_no_temporary_table(notes):
    Address(notes.engine.db).open(create=True).close()
    statement = service_queries("sqlite")["complete_job"].replace(":job_id", "1").replace(":now", f"'{NOW}'")
    program = [row[1] for row in notes.sql(f"EXPLAIN {statement}")]
    assert "OpenEphemeral" not in program


@only_sqlite
def test_an_attempt_writes_one_page_of_each_tree_that_it_changes(database):
    database.begin()
    database.rows("insert_note", **NOTE)
    database.rows("insert_job", note_id=1, max_attempts=1, now=NOW)
    database.commit()
    pages_in_the_wal(database)
    database.begin()
    database.change("count_attempt", job_id=1)
    database.change("insert_history", job_id=1, now=NOW)
    database.change("complete_job", job_id=1, now=NOW)
    database.commit()
    # jobs, the three indexes in which a state moves its row, and the history.
    assert pages_in_the_wal(database) == 5


def pages_in_the_wal(database):
    """How many pages stand in the WAL; all of them are copied to the file, and what comes next begins it anew."""
    _, pages, _ = next(database._connection.execute("PRAGMA wal_checkpoint(PASSIVE)"))
    return pages
