"""The resident worker as a process: what keeps it, what ends it, and what it survives."""

from __future__ import annotations

import json
import os
import resource
import signal
import time
from contextlib import closing
from pathlib import Path
from subprocess import TimeoutExpired

import pytest

from arrowproof.service.clock import database_clock
from arrowproof.service.hold import Hold
from arrowproof.service.notes import SentUnderKey, accept_note
from tests.service.conftest import wait_until
from tests.service.engines import only_postgresql, only_sqlite, open_engine
from tests.service.log_lines import read_log


@pytest.fixture
def accept(notes):
    """Puts pending jobs into the database, without a server."""

    def accept(*keys):
        with closing(open_engine(notes.engine, create=True)) as database:
            sent = [SentUnderKey(key, "text") for key in keys or ("k",)]
            return [accept_note(database, one, 3, database_clock, Hold()).job_id for one in sent]

    return accept


@pytest.fixture
def stay(notes):
    """Starts a resident worker."""

    def stay(*arguments, hold=None, **options):
        every = ["--db", notes.engine.db, "--forever", "--retry-delay", "0", "--poll-interval", "0.05", *arguments]
        return notes._start("worker", every, hold=notes._hold(hold), **options)

    return stay


def told(worker):
    """What a worker has told so far, line by line."""
    return read_log("".join(line for line in worker.stderr.splitlines(keepends=True) if line.endswith("\n")))


def tries(worker, error):
    """How often a worker has come to an error, as far as it has told."""
    return sum(line.get("times", 1) for line in told(worker) if error in str(line.get("error")))


def outcomes(worker):
    return [line["outcome"] for line in told(worker) if "outcome" in line]


def wait_for(worker, holds, what):
    """Wait until what a worker told is as wanted, be it for a moment; fail at once when it ends before."""
    has_held = False

    def is_over():
        nonlocal has_held
        has_ended = worker.process.poll() is not None
        has_held = holds()
        return has_held or has_ended

    wait_until(is_over, what)
    assert has_held, f"{what}: {worker.stderr}"


def end(worker):
    """End it by SIGTERM, once it can answer; its last line."""
    wait_for(worker, lambda: is_started(worker), "its start")
    worker.process.send_signal(signal.SIGTERM)
    return worker.outcome()


def completed(notes):
    return notes.sql("SELECT count(*) FROM jobs WHERE status = 'completed'")[0][0]


def is_started(worker):
    return any("started" in line for line in told(worker))


def test_it_works_off_all_that_is_due_and_stays_until_sigterm(notes, accept, stay):
    ids = accept("a", "b", "c")
    worker = stay()
    wait_for(worker, lambda: completed(notes) == 3, "three jobs")
    (late,) = accept("d")
    wait_for(worker, lambda: completed(notes) == 4, "a fourth job")
    assert end(worker) == {"outcome": "completed", "job_id": late}
    assert [line["job_id"] for line in told(worker) if "job_id" in line] == [*ids, late]
    assert worker.stdout.count("\n") == 1


def test_without_work_its_last_line_is_idle(notes, accept, stay):
    accept()
    notes.worker().outcome()
    worker = stay()
    wait_for(worker, lambda: is_started(worker), "its start")
    assert end(worker) == {"outcome": "idle", "job_id": None}


def test_sigterm_lets_the_attempt_end_and_begins_no_other(notes, accept, stay):
    first, _ = accept("a", "b")
    worker = stay(hold="after-history")
    notes.held("after-history")
    worker.process.send_signal(signal.SIGTERM)
    notes.release("after-history")
    assert worker.outcome() == {"outcome": "completed", "job_id": first}
    assert notes.sql("SELECT status, attempts FROM jobs ORDER BY id") == [("completed", 1), ("pending", 0)]


def test_a_second_sigterm_ends_it_at_once_and_leaves_the_job_as_it_was(notes, accept, stay):
    accept()
    worker = stay(hold="after-history")
    notes.held("after-history")
    worker.process.send_signal(signal.SIGTERM)
    wait_for(worker, lambda: {"draining": True} in told(worker), "the first")
    worker.process.send_signal(signal.SIGTERM)
    assert worker.exit_status() == 143
    assert worker.stdout == ""
    assert "Traceback" not in worker.stderr
    assert notes.sql("SELECT status, attempts FROM jobs") == [("pending", 0)]


def test_an_interrupt_ends_it_at_once_and_leaves_the_job_as_it_was(notes, accept, stay):
    accept()
    worker = stay(hold="after-history")
    notes.held("after-history")
    worker.process.send_signal(signal.SIGINT)
    assert worker.exit_status() == 130
    assert "Traceback" not in worker.stderr
    assert notes.sql("SELECT status, attempts FROM jobs") == [("pending", 0)]


def test_sigterm_ends_a_bounded_run_at_once_and_is_no_crash(notes, accept):
    (job_id,) = accept()
    for _ in range(4):
        worker = notes.worker(hold="after-history")
        notes.held("after-history")
        worker.process.send_signal(signal.SIGTERM)
        assert worker.exit_status() == 143
        (notes.holds / "after-history.held").unlink()
    assert notes.worker().outcome() == {"outcome": "completed", "job_id": job_id}


def test_it_wakes_for_a_job_that_becomes_due_though_its_poll_interval_is_long(notes, accept, stay):
    (job_id,) = accept()
    notes.refuse_history()
    worker = stay("--poll-interval", "100000", "--retry-delay", "0.3")
    wait_for(worker, lambda: outcomes(worker), "the first attempt")
    notes.allow_history()
    wait_for(worker, lambda: completed(notes) == 1, "the second attempt")
    assert end(worker) == {"outcome": "completed", "job_id": job_id}


def test_a_wait_is_cut_short_by_sigterm(notes, accept, stay):
    accept()
    worker = stay("--poll-interval", "100000")
    wait_for(worker, lambda: completed(notes) == 1, "the job")
    assert end(worker)["outcome"] == "completed"


def test_an_idle_worker_costs_next_to_nothing(notes, stay):
    """Also after it was woken: what woke it is taken away, or its wait would be over before it begins."""
    server = notes.server()
    worker = stay("--poll-interval", "1")
    server.accept("a")
    wait_for(worker, lambda: completed(notes) == 1, "a job")
    server.accept("b")
    wait_for(worker, lambda: completed(notes) == 2, "a job that woke it")
    assert seconds_of_work(worker, 3.0) < 0.1
    end(worker)


def seconds_of_work(worker, seconds):
    """How much of its processor a worker uses within some seconds."""

    def used():
        fields = Path(f"/proc/{worker.pid}/stat").read_text().rpartition(")")[2].split()
        return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")

    before = used()
    with pytest.raises(TimeoutExpired):
        worker.process.wait(seconds)
    return used() - before


@only_postgresql
def test_a_job_in_the_hands_of_another_is_not_waited_for_without_a_pause(notes, accept, stay):
    accept()
    with closing(open_engine(notes.engine)) as other:
        other.begin()
        assert other.rows("claim_lost_job", job_id=1) == [("pending", 0)]
        worker = stay("--poll-interval", "100000")
        asks = "SELECT count(*) FROM pg_stat_activity WHERE wait_event = 'ClientRead' AND query LIKE 'SELECT min(%'"
        wait_for(worker, lambda: notes.sql(asks) != [(0,)], "its wait")
        assert seconds_of_work(worker, 2.0) < 0.1
        assert end(worker) == {"outcome": "idle", "job_id": None}


def test_a_busy_database_is_told_and_waited_for(notes, accept, stay):
    (job_id,) = accept()
    with notes.engine.busy():
        worker = stay("--busy-timeout", "0.01")
        wait_for(worker, lambda: sum("busy" in line for line in told(worker)) >= 2, "two complaints")
    wait_for(worker, lambda: completed(notes) == 1, "the job")
    assert end(worker) == {"outcome": "completed", "job_id": job_id}


@pytest.mark.parametrize("action", ["ABORT", "IGNORE"])
def test_jobs_of_which_no_record_is_taken_do_not_keep_those_behind_them_waiting(notes, accept, stay, action):
    *first, fourth, fifth = accept("a", "b", "c", "d", "e")
    notes.engine.fault("UPDATE OF attempts ON jobs", action, when=f"NEW.id < {fourth}")
    worker = stay("--poll-interval", "100000")
    wait_for(worker, lambda: completed(notes) == 2, "those behind them")
    wait_for(worker, lambda: tries(worker, "is on no record: ") >= 3 * len(first), "more than one try of each")
    assert [line["job_id"] for line in told(worker) if "outcome" in line] == [fourth, fifth]
    notes.engine.mend()
    wait_for(worker, lambda: completed(notes) == 5, "the first, now that they can be recorded")
    assert end(worker)["outcome"] == "completed"


@only_postgresql
def test_a_job_whose_every_end_kills_the_connection_does_not_keep_those_behind_it_waiting(notes, accept, stay):
    first, second, third = accept("a", "b", "c")
    notes.engine.fault_at_commit("UPDATE ON jobs", f"NEW.id = {first}")
    worker = stay("--poll-interval", "100000")
    wait_for(worker, lambda: completed(notes) == 2, "those behind it")
    said = f"the attempt at job {first} is on no record: "
    wait_for(worker, lambda: worker.stderr.count(said) >= 5, "more tries than crashes that set a job aside")
    assert [line["job_id"] for line in told(worker) if "outcome" in line] == [second, third]
    notes.engine.mend()
    unfinished = "SELECT 1 FROM jobs WHERE status NOT IN ('completed', 'failed')"
    wait_for(worker, lambda: not notes.sql(unfinished), "the first, now that it can end")
    assert end(worker)["job_id"] == first


def test_what_comes_again_and_again_is_told_now_and_then_with_how_often_it_came(notes, accept, stay):
    accept(*"abcdefghij")
    notes.engine.fault("UPDATE OF attempts ON jobs")
    worker = stay()
    wait_for(worker, lambda: tries(worker, "is on no record: ") >= 20, "many tries")
    complaints = [line for line in told(worker) if "is on no record: " in str(line.get("error"))]
    assert complaints[0].keys() == {"error"}
    assert 1 < len(complaints) <= 10
    end(worker)
    # It opens the database anew after each.
    opened = sum(line.get("times", 1) for line in told(worker) if "reopened" in line)
    assert tries(worker, "is on no record: ") - opened in (0, 1)


@only_sqlite
def test_a_file_that_vanishes_is_told_and_one_that_comes_back_is_worked_on(notes, accept, stay):
    accept()
    worker = stay()
    wait_for(worker, lambda: completed(notes) == 1, "the job")
    # All but the FIFO: that it is gone is another complaint, and could come first.
    for file in notes.folder.glob("finale.sqlite3*"):
        if not file.is_fifo():
            file.unlink()
    errors = lambda: [line["error"] for line in told(worker) if "error" in line and "outcome" not in line]  # noqa: E731
    wait_for(worker, lambda: any("does not exist" in error for error in errors()), "the complaint")
    assert "the database file was removed" in errors()[0]
    accept("another")
    wait_for(worker, lambda: completed(notes) == 1, "the job of the new file")
    assert any("reopened" in line for line in told(worker))
    assert end(worker)["outcome"] == "completed"


@only_sqlite
def test_a_file_that_was_replaced_is_opened_anew(notes, accept, stay):
    accept()
    worker = stay("--poll-interval", "0.3")
    wait_for(worker, lambda: completed(notes) == 1, "the job")
    for file in notes.folder.glob("finale.sqlite3*"):
        file.rename(file.with_name("old-" + file.name))
    accept("another")
    wait_for(worker, lambda: completed(notes) == 1, "the job of the new file")
    end(worker)


@only_sqlite
def test_a_full_disk_is_told_and_survived(notes, accept, stay):
    (job_id,) = accept()
    notes.sql("PRAGMA wal_checkpoint(TRUNCATE)")
    full = notes.database.stat().st_size + 4096
    with closing(open_engine(notes.engine)) as keeps_the_wal:
        assert keeps_the_wal.facts
        limits = (full, resource.RLIM_INFINITY)
        for number in range(12):
            notes.sql("UPDATE notes SET text = %s", "t" * (number + 1) * 500)
        assert notes.database.with_name("finale.sqlite3-wal").stat().st_size > full
        worker = stay(preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, limits))
        wait_for(worker, lambda: any("error" in line for line in told(worker)), "the complaint")
        resource.prlimit(worker.pid, resource.RLIMIT_FSIZE, (resource.RLIM_INFINITY, resource.RLIM_INFINITY))
        wait_for(worker, lambda: completed(notes) == 1, "the job")
    assert end(worker) == {"outcome": "completed", "job_id": job_id}


@only_postgresql
def test_lost_connections_are_made_anew(notes, accept, stay):
    accept()
    worker = stay("--poll-interval", "0.2")
    wait_for(worker, lambda: completed(notes) == 1, "the job")
    assert notes.engine.end_backends() >= 2
    (job_id,) = accept("another")
    wait_for(worker, lambda: completed(notes) == 2, "the second job")
    assert end(worker) == {"outcome": "completed", "job_id": job_id}
    assert [json.loads(line) for line in worker.stderr.splitlines()], "every line is JSON, what parts warn of as well"


@only_postgresql
@pytest.mark.parametrize("ending", [signal.SIGTERM, signal.SIGINT])
@pytest.mark.parametrize("whose", ["state = 'idle in transaction'", "true"], ids=["its attempt", "all"])
def test_a_database_that_says_nothing_does_not_keep_it_from_ending(notes, accept, stay, whose, ending):
    accept()
    worker = stay(hold="after-history")
    notes.held("after-history")
    with notes.engine.silence(whose) as silent:
        assert len(silent) >= 1
        notes.release("after-history")
        if ending == signal.SIGTERM:
            worker.process.send_signal(ending)
            wait_for(worker, lambda: {"draining": True} in told(worker), "the first")
        assert seconds_of_work(worker, 1.0) < 0.5
        told_to_end = time.monotonic()
        worker.process.send_signal(ending)
        assert worker.exit_status() == (143 if ending == signal.SIGTERM else 130)
        assert time.monotonic() - told_to_end < 20
        assert worker.stdout == ""
        assert "Traceback" not in worker.stderr
    with notes.engine.administrator() as connection:
        alive = "SELECT count(*) FROM pg_stat_activity WHERE pid = ANY(%s)"
        wait_until(lambda: connection.execute(alive, (list(silent),)).fetchall() == [(0,)], "their end")
    # What was sent into the silence is done when it is over: the commit, too.
    assert notes.worker().exit_status() == 0
    assert completed(notes) == 1


@only_postgresql
def test_whoever_tells_it_to_end_three_times_does_not_wait(notes, accept, stay):
    accept()
    worker = stay(hold="after-history")
    notes.held("after-history")
    with notes.engine.silence():
        notes.release("after-history")
        worker.process.send_signal(signal.SIGTERM)
        wait_for(worker, lambda: {"draining": True} in told(worker), "the first")
        worker.process.send_signal(signal.SIGTERM)
        with pytest.raises(TimeoutExpired):
            worker.process.wait(0.5)
        told_to_end = time.monotonic()
        worker.process.send_signal(signal.SIGTERM)
        assert worker.exit_status() == 143
        assert time.monotonic() - told_to_end < 5  # the second gives it 8 s, half a second of which is over


def test_finished_jobs_are_removed_as_it_goes_along(notes, accept, stay):
    accept("a", "b")
    worker = stay("--keep-finished", "0")
    wait_for(worker, lambda: notes.sql("SELECT count(*) FROM notes") == [(0,)], "an empty table")
    assert notes.sql("SELECT status, jobs FROM past_outcomes") == [("completed", 2)]
    end(worker)


def test_a_bound_and_forever_exclude_each_other(stay):
    worker = stay("--max-polls", "3")
    assert worker.exit_status() == 2
    assert "not allowed with argument --forever" in worker.stderr


def test_a_database_that_is_not_there_at_the_start_is_refused(stay):
    worker = stay()
    assert worker.exit_status() == 2
    assert "start the server on it first" in worker.stderr
