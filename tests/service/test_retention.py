"""What retention removes, what it keeps, and that it does either as a whole."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from contextlib import closing
from datetime import UTC, datetime, timedelta

import pytest

from arrowproof.service.database import DatabaseError
from arrowproof.service.hold import Hold
from arrowproof.service.notes import SentUnderKey, accept_note, find_job
from arrowproof.service.queries import service_queries
from arrowproof.service.retention import HOLD_POINTS, Retention
from tests.service.conftest import wait_until
from tests.service.engines import only_postgresql, only_sqlite, open_engine
from tests.service.log_lines import read_log

NOW = datetime(2026, 11, 29, 15, 9, 2, 118000, tzinfo=UTC)
TABLES = ("notes", "jobs", "note_events", "attempt_errors")


def clock(_):
    return NOW


def ago(seconds):
    return (NOW - timedelta(seconds=seconds)).isoformat(timespec="milliseconds").removesuffix("+00:00") + "Z"


@pytest.fixture
def retention(database):
    return Retention(database, clock, keep_seconds=60.0)


@pytest.fixture
def put(database, engine):
    """Puts a job in a state, finished some seconds ago, with a history row and an error of an attempt."""

    def put(status, seconds=0.0, key="k"):
        job_id = accept_note(database, SentUnderKey(key, "text"), 3, clock, Hold()).job_id
        finished = status not in ("pending", "retry_wait")
        engine.sql(
            "UPDATE jobs SET status = %s, next_run_at = %s, finished_at = %s WHERE id = %s",
            (status, None if finished else ago(seconds), ago(seconds) if finished else None, job_id),
        )
        written = (job_id, 1, ago(seconds))
        engine.sql("INSERT INTO note_events (job_id, attempt, created_at) VALUES (%s, %s, %s)", written)
        engine.sql("INSERT INTO attempt_errors (job_id, attempt, error, created_at) VALUES (%s, %s, 'e', %s)", written)
        return job_id

    return put


@pytest.fixture
def rows(engine):
    """How many rows each table has."""
    return lambda: [engine.sql(f"SELECT count(*) FROM {table}")[0][0] for table in TABLES]


@pytest.mark.parametrize("status", ["completed", "failed", "cancelled"])
def test_a_job_that_finished_long_ago_goes_with_its_note_history_and_errors_and_is_counted(
    retention, put, rows, engine, status
):
    put(status, 61)
    assert rows() == [1, 1, 1, 1]
    assert retention.remove_some() == 1
    assert rows() == [0, 0, 0, 0]
    assert engine.sql("SELECT status, jobs FROM past_outcomes") == [(status, 1)]


def test_what_was_removed_is_counted_by_state_and_on_top_of_before(retention, put, engine):
    for number, status in enumerate(["completed", "failed", "completed"]):
        put(status, 61, f"k{number}")
    assert retention.remove_some() == 3
    put("completed", 61, "another")
    assert retention.remove_some() == 1
    assert engine.sql("SELECT status, jobs FROM past_outcomes ORDER BY status") == [("completed", 3), ("failed", 1)]


@pytest.mark.parametrize("status", ["pending", "retry_wait"])
def test_a_job_that_waits_is_kept_however_old_it_is(retention, put, rows, status):
    put(status, 1_000_000)
    assert retention.remove_some() == 0
    assert rows() == [1, 1, 1, 1]


@pytest.mark.parametrize(("seconds", "removed"), [(59.999, 0), (60, 1)])
def test_a_finished_job_is_kept_to_the_millisecond(retention, put, seconds, removed):
    put("completed", seconds)
    assert retention.remove_some() == removed


def test_a_removed_notes_key_makes_a_new_note_with_an_id_that_nobody_had(retention, put, database):
    first = put("completed", 61)
    retention.remove_some()
    again = accept_note(database, SentUnderKey("k", "text"), 3, clock, Hold())
    assert not again.replayed
    assert again.job_id > first


def test_a_key_lives_as_long_as_its_job(retention, put, database):
    job_id = put("retry_wait", 1_000_000)
    retention.remove_some()
    again = accept_note(database, SentUnderKey("k", "text"), 3, clock, Hold())
    assert (again.job_id, again.replayed) == (job_id, True)


def test_those_that_finished_first_go_first_and_all_of_them_in_the_end(database, put, engine):
    for number in range(5):
        put("completed", 100 - number, f"k{number}")
    retention = Retention(database, clock, 60.0, most_at_once=2)
    assert retention.remove_some() == 2
    assert engine.sql("SELECT min(id) FROM jobs") == [(3,)]
    assert retention.remove_all() == 3
    assert engine.sql("SELECT jobs FROM past_outcomes") == [(5,)]


def test_what_cannot_be_removed_whole_stays_whole(retention, put, rows, engine):
    for number in range(3):
        put("completed", 61 + number, f"k{number}")
    engine.fault("DELETE ON notes", when="OLD.id = 1")
    with pytest.raises(DatabaseError, match="no history today"):
        retention.remove_some()
    assert rows() == [3, 3, 3, 3]
    assert engine.sql("SELECT count(*) FROM past_outcomes") == [(0,)]
    engine.mend()
    assert retention.remove_some() == 3


def test_a_job_whose_removal_is_ignored_is_an_error_and_keeps_its_history(retention, put, rows, engine):
    put("failed", 61)
    engine.fault("DELETE ON jobs", "IGNORE")
    with pytest.raises(DatabaseError, match="job 1 was not removed, although it was claimed as finished"):
        retention.remove_some()
    assert rows() == [1, 1, 1, 1]


@only_postgresql
def test_a_job_that_is_being_requeued_is_passed_over_and_stays(retention, put, database, engine):
    put("failed", 61, "a")
    put("failed", 62, "b")
    with closing(open_engine(engine)) as other:
        other.begin()
        assert other.change("requeue_job", job_id=1, more_attempts=3, now=ago(0)) == 1
        assert retention.remove_some() == 1
        other.commit()
    assert retention.remove_some() == 0
    assert find_job(database, 1).status == "pending"


@only_postgresql
def test_two_processes_remove_different_jobs_and_count_them_all(retention, put, engine):
    for number in range(4):
        put(("completed", "failed")[number % 2], 61 + number, f"k{number}")
    with closing(open_engine(engine)) as other:
        other.begin()
        assert other.rows("claim_lost_job", job_id=4) == [("failed", 0)]
        assert retention.remove_some() == 3
        # Not by closing alone, which the server may notice later.
        other.roll_back()
    assert retention.remove_some() == 1
    assert engine.sql("SELECT status, jobs FROM past_outcomes ORDER BY status") == [("completed", 2), ("failed", 2)]


@only_sqlite
def test_the_claim_finds_its_jobs_by_an_index_and_sorts_nothing(engine, database):
    assert database.facts
    statement = service_queries("sqlite")["claim_removable_jobs"]
    bound = statement.replace(":finished_before", "''").replace(":most", "100")
    plan = " ".join(row[3] for row in engine.sql(f"EXPLAIN QUERY PLAN {bound}"))
    assert "jobs_finished" in plan
    assert "TEMP B-TREE" not in plan


def test_a_removal_passes_the_points_around_its_statements(put, database, hold):
    put("completed", 61)
    retention = Retention(database, clock, 60.0, hold=hold)
    assert retention.remove_all() == 1
    assert tuple(hold.passed) == HOLD_POINTS
    hold.passed.clear()
    assert retention.remove_all() == 0
    assert hold.passed == ["after-begin", "after-select"]


@pytest.mark.parametrize(("point", "left"), [("after-state", [1, 1, 1, 1]), ("after-commit", [0, 0, 0, 0])])
def test_a_removal_that_is_killed_beside_its_commit_has_removed_nothing_or_all(
    put, rows, engine, tmp_path, point, left
):
    put("completed")
    engine.sql("UPDATE jobs SET finished_at = '2001-01-01T00:00:00.000Z'")
    run = [sys.executable, "-m", "arrowproof.service.retention", "--db", engine.db, "--keep-finished", "0"]
    with subprocess.Popen(run, env={**os.environ, "NOTES_HOLD": f"{point}:{tmp_path}"}) as process:
        wait_until((tmp_path / f"{point}.held").exists, f"the removal to come to {point}")
        process.kill()
    assert rows() == left
    ended = command("--db", engine.db, "--keep-finished", "0")
    assert json.loads(ended.stdout) == {"removed": left[0]}
    assert rows() == [0, 0, 0, 0]


def test_a_point_that_a_removal_does_not_come_to_is_refused(tmp_path):
    hold = {"NOTES_HOLD": f"after-count:{tmp_path}"}
    ended = command("--db", "no.sqlite3", "--keep-finished", "0", **hold)
    assert ended.returncode == 2
    assert "'after-count' is no hold point of this process" in ended.stderr


def command(*arguments, **environment):
    run = [sys.executable, "-m", "arrowproof.service.retention", *arguments]
    return subprocess.run(run, capture_output=True, text=True, check=False, env={**os.environ, **environment})


def test_the_command_removes_what_finished_long_ago_by_the_databases_clock(put, engine):
    put("failed", 0, "old")
    put("failed", 0, "new")
    put("pending", 0, "waits")
    engine.sql("UPDATE jobs SET finished_at = '2001-01-01T00:00:00.000Z' WHERE id = 1")
    engine.sql("UPDATE jobs SET finished_at = '2999-01-01T00:00:00.000Z' WHERE id = 2")
    ended = command("--db", engine.db, "--keep-finished", "2592000")
    assert (ended.returncode, json.loads(ended.stdout)) == (0, {"removed": 1}), ended.stderr
    assert engine.sql("SELECT id FROM jobs ORDER BY id") == [(2,), (3,)]


@pytest.mark.parametrize("seconds", ["-1", "nan", "soon", "1e11"])
def test_a_time_that_is_none_is_refused(seconds):
    ended = command("--db", "no.sqlite3", f"--keep-finished={seconds}")
    assert ended.returncode == 2
    assert f"{seconds!r} is no time in seconds from 0 to 3153600000" in ended.stderr


@only_sqlite
def test_a_file_that_is_not_there_is_refused_and_not_made(engine):
    ended = command("--db", engine.db, "--keep-finished", "1")
    assert (ended.returncode, ended.stdout) == (2, "")
    assert "does not exist; start the server on it first" in ended.stderr
    assert not engine.file.exists()


def test_a_busy_database_ends_the_command_with_an_error(put, engine):
    put("completed", 61)
    with engine.busy():
        ended = command("--db", engine.db, "--keep-finished", "1", "--busy-timeout", "0.05")
    assert ended.returncode == 1
    assert ended.stderr.startswith("retention: the database failed: ")
    assert "Traceback" not in ended.stderr


def test_a_worker_removes_before_each_look_and_says_so(put, notes):
    put("completed", 61, "old")
    job_id = put("pending", 0, "new")
    notes.sql("DELETE FROM note_events")
    worker = notes.worker("--keep-finished", "1", "--max-polls", "1")
    assert worker.outcome() == {"outcome": "completed", "job_id": job_id}
    assert {"removed": 1} in read_log(worker.stderr)
    assert notes.sql("SELECT id FROM jobs") == [(job_id,)]


def test_a_worker_without_it_removes_nothing(put, notes, rows):
    put("completed", 1_000_000)
    notes.worker("--max-polls", "1").outcome()
    assert rows() == [1, 1, 1, 1]


def test_what_cannot_be_removed_is_told_and_keeps_no_worker_from_its_work(put, notes):
    put("completed", 61, "old")
    job_id = put("pending", 0, "new")
    notes.sql("DELETE FROM note_events")
    notes.engine.fault("DELETE ON notes")
    worker = notes.worker("--keep-finished", "1")
    assert worker.outcome() == {"outcome": "completed", "job_id": job_id}
    assert "finished jobs were not removed: " in worker.stderr
    assert notes.sql("SELECT count(*) FROM jobs") == [(2,)]
