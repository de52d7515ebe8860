"""The worker as a process: its bounds, its last line, and what a kill at each point leaves."""

from __future__ import annotations

import resource
import signal
import subprocess
import sys
import time
from datetime import UTC, datetime

import apsw
import pytest

from arrowproof.service.clock import database_clock
from arrowproof.service.hold import Hold
from arrowproof.service.notes import SentUnderKey, accept_note
from tests.service.conftest import wait_until
from tests.service.engines import only_postgresql, only_sqlite, open_engine
from tests.service.log_lines import read_log

SUCCESS = ["after-begin", "after-select", "after-count", "after-savepoint", "after-history", "after-release"]


@pytest.fixture
def accept(notes):
    """Puts a pending job into the database, without a server."""

    def accept(key="k"):
        database = open_engine(notes.engine, create=True)
        try:
            return accept_note(database, SentUnderKey(key, "text"), 3, database_clock, Hold()).job_id
        finally:
            database.close()

    return accept


def told(worker):
    """What a worker told on stderr, line by line, without what it says at the start."""
    return [line for line in read_log(worker.stderr) if not {"started", "warning"} & set(line)]


def job_of(notes):
    ((status, attempts, events),) = notes.sql("SELECT status, attempts, (SELECT count(*) FROM note_events) FROM jobs")
    return status, attempts, events


def test_the_last_line_is_the_outcome_and_the_attempt_is_told_before_it(notes, accept):
    job_id = accept()
    worker = notes.worker()
    assert worker.outcome() == {"outcome": "completed", "job_id": job_id}
    assert worker.stdout.count("\n") == 1
    assert told(worker) == [{"job_id": job_id, "outcome": "completed", "error": None}]
    assert notes.worker().outcome() == {"outcome": "idle", "job_id": None}


def test_a_run_ends_at_the_first_completion(notes, accept):
    first, second = accept("a"), accept("b")
    assert notes.worker("--max-polls", "5").outcome() == {"outcome": "completed", "job_id": first}
    assert notes.worker("--max-polls", "5").outcome() == {"outcome": "completed", "job_id": second}


def test_a_run_ends_at_exhaustion(notes, accept):
    job_id = accept()
    notes.refuse_history()
    worker = notes.worker("--max-polls", "50")
    assert worker.outcome() == {"outcome": "failed", "job_id": job_id}
    assert job_of(notes) == ("failed", 3, 0)
    assert [line["outcome"] for line in told(worker)] == ["retry_wait", "retry_wait", "failed"]


def test_looks_are_bounded_and_the_outcome_is_that_of_the_last_attempt_even_if_later_looks_were_idle(notes, accept):
    job_id = accept()
    notes.refuse_history()
    worker = notes.worker("--max-polls", "3", "--retry-delay", "1000")
    assert worker.outcome() == {"outcome": "retry_wait", "job_id": job_id}
    assert job_of(notes) == ("retry_wait", 1, 0)


def test_it_waits_between_two_looks_and_not_after_the_last(notes, accept):
    accept()
    notes.worker().outcome()
    started = time.monotonic()
    notes.worker("--max-polls", "2", "--poll-interval", "0.5").outcome()
    two_looks = time.monotonic() - started
    started = time.monotonic()
    notes.worker("--max-polls", "1", "--poll-interval", "1000").outcome()
    assert two_looks >= 0.5
    assert time.monotonic() - started < 500


@only_sqlite
def test_a_busy_database_uses_up_looks_and_is_told(notes, accept):
    accept()
    with notes.engine.busy():
        worker = notes.worker("--max-polls", "2", "--busy-timeout", "0.01")
        assert worker.outcome() == {"outcome": "idle", "job_id": None}
    assert [list(line) for line in told(worker)] == [["busy"], ["busy"]]
    assert job_of(notes) == ("pending", 0, 0)


def test_a_transaction_that_the_database_ended_does_not_lose_the_count(notes, accept):
    job_id = accept()
    notes.refuse_history("ROLLBACK")
    outcomes = [notes.worker().outcome() for _ in range(3)]
    assert outcomes == [{"outcome": outcome, "job_id": job_id} for outcome in ("retry_wait", "retry_wait", "failed")]
    assert job_of(notes) == ("failed", 3, 0)


@pytest.mark.parametrize("point", [*SUCCESS, "after-state", "after-commit"])
def test_a_kill_at_any_point_leaves_the_job_as_it_was_or_as_it_is_to_be_and_a_restart_ends_right(notes, accept, point):
    job_id = accept()
    worker = notes.worker(hold=point)
    assert notes.held(point) == {"pid": worker.pid, "point": point}
    worker.kill()
    is_committed = point == "after-commit"
    assert job_of(notes) == (("completed", 1, 1) if is_committed else ("pending", 0, 0))
    expected = {"outcome": "idle", "job_id": None} if is_committed else {"outcome": "completed", "job_id": job_id}
    assert notes.worker().outcome() == expected
    assert job_of(notes) == ("completed", 1, 1)


@pytest.mark.parametrize("point", ["after-rollback-to", "after-release", "after-state", "after-commit"])
def test_a_kill_during_a_failed_attempt_counts_it_only_after_its_commit(notes, accept, point):
    accept()
    notes.refuse_history()
    worker = notes.worker(hold=point)
    notes.held(point)
    worker.kill()
    is_committed = point == "after-commit"
    assert job_of(notes) == (("retry_wait", 1, 0) if is_committed else ("pending", 0, 0))
    assert notes.worker().outcome()["outcome"] == "retry_wait"
    assert job_of(notes) == ("retry_wait", 2 if is_committed else 1, 0)


def test_a_held_worker_goes_on_after_its_release(notes, accept):
    job_id = accept()
    worker = notes.worker(hold="after-count")
    notes.held("after-count")
    notes.release("after-count")
    assert worker.outcome() == {"outcome": "completed", "job_id": job_id}


@only_sqlite
def test_a_full_disk_is_an_error_and_the_job_is_tried_again(notes, accept):
    job_id = accept()
    # A connection that stays open keeps the WAL, and some writes make it larger than the WAL index.
    other = apsw.Connection(str(notes.database))
    for number in range(10):
        other.execute("INSERT INTO notes VALUES (?, '', ?, 't', 's', 'c')", (number + 100, str(number)))
    full = notes.database.with_name("finale.sqlite3-wal").stat().st_size
    assert full > 32_768
    worker = notes.worker(preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (full, full)))
    assert worker.exit_status() == 1
    assert "the database failed: " in worker.stderr
    assert "Traceback" not in worker.stderr
    assert job_of(notes) == ("pending", 0, 0)
    assert notes.worker().outcome() == {"outcome": "completed", "job_id": job_id}
    other.close()


def test_an_interrupt_ends_it_without_a_traceback(notes, accept):
    accept()
    worker = notes.worker(hold="after-history")
    notes.held("after-history")
    worker.process.send_signal(signal.SIGINT)
    assert worker.exit_status() == 130
    assert (worker.stdout, told(worker)) == ("", [])
    assert job_of(notes) == ("pending", 0, 0)


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["--max-polls", "0"], "'0' is no whole number from 1"),
        (["--poll-interval", "-1"], "'-1' is no time in seconds"),
        (["--retry-delay", "nan"], "'nan' is no time in seconds"),
        (["--retry-delay", "10", "--max-retry-delay", "1"], "--max-retry-delay 1 is less than --retry-delay 10"),
    ],
)
def test_wrong_arguments_are_refused(notes, arguments, said):
    worker = notes.worker(*arguments)
    assert worker.exit_status() == 2
    assert said in worker.stderr


@only_sqlite
def test_a_wrong_path_is_refused_and_creates_nothing(notes, fingerprint):
    for path in (notes.database, notes.folder / "no" / "such.sqlite3"):
        worker = notes.worker(db=path)
        assert worker.exit_status() == 2
        assert "does not exist; start the server on it first" in worker.stderr
        assert worker.stdout == ""
    assert fingerprint() == {}
    assert not (notes.folder / "no").exists()


def test_a_hold_point_of_the_server_is_refused(notes, accept):
    accept()
    worker = notes.worker(hold="after-note")
    assert worker.exit_status() == 2
    assert "'after-note' is no hold point of this process" in worker.stderr
    assert job_of(notes) == ("pending", 0, 0)


def test_it_says_at_the_start_what_it_works_on(notes, accept):
    accept()
    worker = notes.worker()
    worker.outcome()
    started = read_log(worker.stderr)[0]
    database = open_engine(notes.engine)
    assert started == {"started": worker.pid, **database.facts}
    database.close()


@only_postgresql
def test_it_warns_of_settings_that_can_lose_a_commit_and_turns_on_what_it_can(notes, accept):
    accept()
    with notes.engine.turned_off("full_page_writes"):
        wait_until(lambda: notes.sql("SHOW full_page_writes") == [("off",)], "the setting")
        worker = notes.worker(db=notes.engine.db + "%20-csynchronous_commit%3Doff")
        worker.outcome()
    lines = read_log(worker.stderr)
    assert (lines[0]["synchronous_commit"], lines[0]["full_page_writes"]) == ("on", "off")
    wait_until(lambda: notes.sql("SHOW full_page_writes") == [("on",)], "the setting")
    (warning,) = [line["warning"] for line in lines if "warning" in line]
    assert warning.startswith("full_page_writes is off on this PostgreSQL server: a power cut ")


def test_it_does_not_pay_for_the_web_nor_for_the_other_database(notes, accept):
    accept()
    code = "import sys; from arrowproof.service import worker; worker.main(sys.argv[1:]); print(*sorted(sys.modules))"
    command = [sys.executable, "-c", code, "--db", notes.engine.db, "--max-polls", "1"]
    loaded = set(subprocess.run(command, capture_output=True, text=True, check=True).stdout.split())
    drivers = {"sqlite": "apsw", "postgresql": "psycopg"}
    assert loaded & set(drivers.values()) == {drivers[notes.engine.name]}
    assert not loaded & {"fastapi", "uvicorn", "starlette", "pydantic"}
    assert ("asyncio" in loaded) is (notes.engine.name == "postgresql"), "psycopg needs it"


def test_each_wait_for_the_next_attempt_is_twice_as_long_up_to_a_limit(notes, accept):
    accept()
    notes.refuse_history()
    notes.sql("UPDATE jobs SET max_attempts = 5")
    waits = []
    for _ in range(4):
        long_ago, before = "2001-01-01T00:00:00.000Z", datetime.now(UTC)
        notes.sql("UPDATE jobs SET next_run_at = %s", long_ago)
        assert notes.worker("--retry-delay", "1000", "--max-retry-delay", "3000").outcome()["outcome"] == "retry_wait"
        ((due,),) = notes.sql("SELECT CAST(next_run_at AS text) FROM jobs")
        waits.append((datetime.fromisoformat(due.replace(" ", "T")) - before).total_seconds())
    for wait, longest in zip(waits, [1000, 2000, 3000, 3000], strict=True):
        assert 0.9 * longest <= wait <= longest + 60, waits


@pytest.mark.parametrize("point", ["after-begin", "after-savepoint", "after-state", "after-commit"])
def test_a_batch_that_is_killed_is_done_whole_or_not_at_all(notes, accept, point):
    for key in "abc":
        accept(key)
    worker = notes.worker("--batch", "10", hold=point)
    notes.held(point)
    worker.kill()
    is_committed = point == "after-commit"
    assert notes.sql("SELECT status, attempts, count(*) FROM jobs GROUP BY status, attempts") == [
        ("completed", 1, 3) if is_committed else ("pending", 0, 3)
    ]
    while notes.worker("--batch", "10").outcome()["job_id"] is not None:
        pass
    assert notes.sql("SELECT status, attempts, count(*) FROM jobs GROUP BY status, attempts") == [("completed", 1, 3)]
    assert notes.sql("SELECT count(*) FROM note_events") == [(3,)]


def test_a_batch_is_one_transaction_and_each_of_its_attempts_is_told(notes, accept):
    ids = [accept(key) for key in "abcd"]
    worker = notes.worker("--batch", "3")
    assert worker.outcome() == {"outcome": "completed", "job_id": ids[2]}
    assert [line["job_id"] for line in told(worker)] == ids[:3]
    assert notes.sql("SELECT status FROM jobs WHERE id = %s", ids[3]) == [("pending",)]
