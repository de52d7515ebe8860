"""Many workers on one database: each job is one worker's at a time, and a worker that comes late changes nothing."""

from __future__ import annotations

import ast
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from datetime import datetime
from pathlib import Path
from threading import Barrier

import pytest

import arrowproof.service
from arrowproof.service.address import Address
from arrowproof.service.attempt import Attempt, Attempts, UnrecordedError
from arrowproof.service.clock import database_clock, timestamp_after
from arrowproof.service.database import DatabaseError
from arrowproof.service.hold import WORKER_POINTS, Hold
from arrowproof.service.notes import SentUnderKey, accept_note, find_job, find_note
from tests.service.engines import in_state, only_postgresql, only_sqlite, open_engine, postgres_server
from tests.service.lossy_line import COMMIT, without_answer
from tests.service.worker_lives import TEN_SECONDS, DoAt, HandSetClock, worker_life

SECONDS = 60.0
SUCCESS = [point for point in WORKER_POINTS if point != "after-rollback-to"]


@pytest.fixture
def clock():
    return HandSetClock()


@pytest.fixture
def accept(database, clock):
    return lambda key="k": accept_note(database, SentUnderKey(key, "t"), 3, clock, Hold()).job_id


def state_of(database, job_id):
    job = find_job(database, job_id)
    return job.status, job.attempts


def test_four_workers_do_twenty_jobs_each_once(engine, accept, database, clock):
    jobs = [accept(str(number)) for number in range(20)]

    def work(_):
        done = []
        with worker_life(engine, clock) as worker:
            while attempts := worker.make():
                done += attempts
        return done

    with ThreadPoolExecutor(4) as threads:
        done = [attempt for some in threads.map(work, range(4)) for attempt in some]
    assert sorted(done, key=lambda attempt: attempt.job_id) == [Attempt(job_id, "completed") for job_id in jobs]
    assert {state_of(database, job_id) for job_id in jobs} == {("completed", 1)}
    assert engine.sql("SELECT count(*), count(DISTINCT job_id) FROM note_events") == [(20, 20)]


@only_postgresql
def test_no_worker_waits_for_another_that_is_within_its_attempt(engine, accept, clock):
    jobs = [accept(str(number)) for number in range(20)]
    # Nobody passes before all four are within an attempt at the same moment, five times over.
    meeting = Barrier(4, timeout=SECONDS)

    def work(_):
        done = []
        with worker_life(engine, clock) as worker:
            object.__setattr__(worker, "hold", DoAt("after-history", meeting.wait))
            while attempts := worker.make():
                done += attempts
        return done

    with ThreadPoolExecutor(4) as threads:
        done = list(threads.map(work, range(4)))
    assert [len(some) for some in done] == [5, 5, 5, 5]
    assert sorted(attempt.job_id for some in done for attempt in some) == jobs


@only_postgresql
def test_a_claim_is_never_more_rows_than_asked_for_however_many_want_them(engine, accept):
    jobs = [accept(str(number)) for number in range(40)]

    def claim(_):
        claimed = []
        with closing(open_engine(engine)) as database:
            while True:
                database.begin()
                rows = database.rows("claim_due_jobs", now="2026-11-29T15:09:02.118Z", most=1)
                assert len(rows) <= 1
                if not rows:
                    database.roll_back()
                    return claimed
                database.change("cancel_job", job_id=rows[0][0], now="2026-11-29T15:09:02.118Z")
                database.commit()
                claimed.append(rows[0][0])

    with ThreadPoolExecutor(6) as threads:
        claimed = [job_id for some in threads.map(claim, range(6)) for job_id in some]
    assert sorted(claimed) == jobs


@only_postgresql
def test_a_job_that_changes_between_the_look_and_the_lock_is_judged_by_what_it_has_become(engine, accept):
    """An UPDATE with a sub-select that picks the row may be run again for another; a claim that locks it is not."""
    accept()
    with closing(open_engine(engine)) as early, closing(open_engine(engine)) as late:
        early.begin()
        early.change("cancel_job", job_id=1, now="2026-11-29T15:09:02.118Z")
        late.begin()
        # While the other has the row it is passed over; and once it is done, it is no waiting job any more.
        assert late.rows("claim_due_jobs", now="2026-11-29T15:09:03.118Z", most=1) == []
        early.commit()
        assert late.rows("claim_due_jobs", now="2026-11-29T15:09:03.118Z", most=1) == []
        assert late.row("claim_lost_job", job_id=1) == ("cancelled", 0)
        late.roll_back()


@only_postgresql
@pytest.mark.parametrize("elsewhere", ["completed", "failed", "cancelled", "removed", "retry_wait"])
@pytest.mark.parametrize("point", ["after-select", "after-count", "after-history", "after-state"])
def test_a_worker_whose_connection_was_killed_changes_nothing_of_a_job_that_moved_on(
    engine, accept, database, clock, elsewhere, point
):
    job_id = accept()
    moved = {
        "removed": ["DELETE FROM jobs"],
        # By a client, who counts no attempt.
        "cancelled": [f"UPDATE jobs SET {in_state('cancelled')}"],
        "retry_wait": [f"UPDATE jobs SET {in_state('retry_wait', 'infinity')}, attempts = 1"],
    }.get(elsewhere, [f"UPDATE jobs SET {in_state(elsewhere)}, attempts = 1"])

    def move_on():
        engine.end_backends()
        for statement in moved:
            engine.sql(statement)

    with worker_life(engine, clock) as stale:
        object.__setattr__(stale, "hold", DoAt(point, once(move_on)))
        (attempt,) = stale.make()
    assert (attempt.job_id, attempt.outcome) == (job_id, elsewhere)
    assert "terminating connection" in attempt.error
    if elsewhere != "removed":
        assert state_of(database, job_id) == (elsewhere, 0 if elsewhere == "cancelled" else 1)
    assert engine.sql("SELECT count(*) FROM note_events") == [(0,)]


def once(do):
    """Does it the first time only."""
    left = [do]
    return lambda: left and left.pop()()


@only_postgresql
@pytest.mark.parametrize("point", [point for point in SUCCESS if point != "after-commit"])
def test_an_attempt_whose_connection_was_killed_in_the_middle_is_counted_once(engine, accept, database, clock, point):
    job_id = accept()
    with worker_life(engine, clock) as worker:
        object.__setattr__(worker, "hold", DoAt(point, once(engine.end_backends)))
        if point == "after-begin":
            # Nothing was claimed yet, so there is nothing to be counted.
            with pytest.raises(DatabaseError):
                worker.make()
            assert state_of(database, job_id) == ("pending", 0)
        else:
            assert worker.make()[0].outcome == "retry_wait"
            assert state_of(database, job_id) == ("retry_wait", 1)
        clock.move(10)
        assert worker.make() == (Attempt(job_id, "completed"),)
    assert state_of(database, job_id) == ("completed", 1 if point == "after-begin" else 2)
    assert engine.sql("SELECT count(*) FROM note_events") == [(1,)]


@only_postgresql
def test_an_attempt_whose_connection_is_killed_by_its_commit_is_counted_and_fails_in_the_end(
    engine, accept, database, clock
):
    job_id = accept()
    engine.fault_at_commit("INSERT ON note_events")
    seen = []
    with worker_life(engine, clock) as worker:
        for _ in range(3):
            (attempt,) = worker.make()
            seen.append((attempt.outcome, *state_of(database, job_id)))
            clock.move(10)
    assert seen == [("retry_wait", "retry_wait", 1), ("retry_wait", "retry_wait", 2), ("failed", "failed", 3)]
    assert find_note(database, 1).events == ()
    assert "terminating connection" in find_job(database, job_id).last_error


@only_postgresql
@pytest.mark.parametrize("batch", [1, 3])
def test_a_job_of_which_no_attempt_can_be_counted_since_each_count_kills_the_connection_is_set_aside(
    engine, accept, database, clock, batch
):
    job_id, other = accept("a"), accept("b")
    engine.fault_at_commit("UPDATE OF attempts ON jobs", f"NEW.id = {job_id}")
    with worker_life(engine, clock, batch=batch) as worker:
        for _ in range(3):
            with pytest.raises(UnrecordedError, match=f"attempt at job {job_id} is on no record: .*terminating connec"):
                worker.make()
            assert state_of(database, job_id) == ("pending", 0)
        assert worker.make()[0].outcome == "failed"
        assert state_of(database, job_id) == ("failed", 0)
        assert worker.make() == (Attempt(other, "completed"),)
    assert find_note(database, 1).events == ()


@only_postgresql
def test_what_killed_no_connection_over_its_record_leaves_nothing_that_counts_as_a_crash(
    engine, accept, database, clock
):
    accept()
    engine.fault("UPDATE OF attempts ON jobs")
    with worker_life(engine, clock) as worker:
        for _ in range(4):
            with pytest.raises(UnrecordedError, match="no history today"):
                worker.make()
            assert engine.sql("SELECT * FROM begun_attempts") == []
    assert state_of(database, 1) == ("pending", 0)


@only_postgresql
def test_a_commit_that_came_to_pass_although_its_answer_was_lost_is_not_counted_again(
    engine, accept, database, begun, clock
):
    job_id = accept()
    with without_answer(engine, COMMIT) as lossy, closing(Address(lossy).open()) as line:
        (attempt,) = Attempts(line, begun, clock, Hold(), TEN_SECONDS).make()
    assert (attempt.outcome, state_of(database, job_id)) == ("completed", ("completed", 1))
    assert engine.sql("SELECT count(*) FROM note_events") == [(1,)]


@only_postgresql
def test_connections_that_were_lost_before_an_attempt_cost_nothing(engine, accept, database, clock, caplog):
    first, second = accept("a"), accept("b")
    with worker_life(engine, clock) as worker:
        assert worker.make() == (Attempt(first, "completed"),)
        engine.end_backends()
        assert worker.make() == (Attempt(second, "completed"),)
    assert state_of(database, second) == ("completed", 1)
    # The one of the record was lost as well, and made anew.
    assert caplog.text == ""


def test_what_is_due_and_when_is_judged_by_the_clock_of_the_database(engine, database, begun, monkeypatch):
    before = database_clock(database)
    monkeypatch.setattr("time.time", lambda: 0.0)
    job_id = accept_note(database, SentUnderKey("k", "t"), 3, database_clock, Hold()).job_id
    engine.fault("INSERT ON note_events")
    worker = Attempts(database, begun, database_clock, Hold(), TEN_SECONDS)
    assert worker.make()[0].outcome == "retry_wait"
    next_run_at = find_job(database, job_id).next_run_at
    assert timestamp_after(before, 10) <= next_run_at <= timestamp_after(database_clock(database), 10)


def test_the_service_asks_the_machine_for_the_time_of_day_only_where_it_says_when_a_line_is_told():
    clocks = {"now", "utcnow", "today", "time", "time_ns", "gmtime", "localtime"}
    asking = []
    for file in Path(arrowproof.service.__file__).parent.glob("*.py"):
        for node in ast.walk(ast.parse(file.read_text())):
            if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
                owner = ast.unparse(node.func.value)
                if node.func.attr in clocks and owner in {"time", "datetime", "date"}:
                    asking.append(file.name)
    assert sorted(asking) == ["ending.py", "log_line.py", "server.py"]


@only_postgresql
def test_a_worker_on_a_machine_whose_clock_is_wrong_does_what_is_due_and_nothing_else(database, begun):
    """The machine of the worker is a day ahead, seen from the database."""
    ahead = datetime.fromisoformat(timestamp_after(database_clock(database), 86_400))
    early = accept_note(database, SentUnderKey("later", "t"), 3, lambda _: ahead, Hold()).job_id
    due = accept_note(database, SentUnderKey("now", "t"), 3, database_clock, Hold()).job_id
    worker = Attempts(database, begun, database_clock, Hold(), TEN_SECONDS)
    assert worker.make() == (Attempt(due, "completed"),)
    assert worker.make() == ()
    assert state_of(database, early) == ("pending", 0)


@only_sqlite
def test_a_transaction_that_the_database_ends_at_its_commit_is_counted(engine, accept, database, clock):
    """A deferred foreign key is judged by the commit alone."""
    job_id = accept()
    engine.sql("CREATE TABLE parents (id INTEGER PRIMARY KEY)")
    engine.sql("CREATE TABLE children (parent INTEGER REFERENCES parents DEFERRABLE INITIALLY DEFERRED)")
    engine.sql("CREATE TRIGGER orphan AFTER INSERT ON note_events BEGIN INSERT INTO children VALUES (7); END")
    with worker_life(engine, clock) as worker:
        (attempt,) = worker.make()
        assert attempt == Attempt(job_id, "retry_wait", "ConstraintError: FOREIGN KEY constraint failed")
    assert state_of(database, job_id) == ("retry_wait", 1)
    assert find_note(database, 1).events == ()


LOST_SERVER = """
import sys
from arrowproof.service.worker import main
sys.exit(main(["--db", sys.argv[1], "--max-polls", "1", "--busy-timeout", "0.2"]))
"""


def test_a_server_that_is_stopped_is_an_error_without_a_traceback_and_one_that_comes_back_is_used_again(clock):
    with postgres_server() as server:
        address = Address(server.url, 0.2)
        with closing(address.open(create=True)) as database, closing(address.open_begun()) as begun:
            job_id = accept_note(database, SentUnderKey("k", "t"), 3, clock, Hold()).job_id
            worker = Attempts(database, begun, clock, DoAt("after-history", once(server.stop)), TEN_SECONDS)
            with pytest.raises(DatabaseError, match=r"^OperationalError: connection"):
                worker.make()
            with pytest.raises(DatabaseError):
                worker.make()
            ended = subprocess.run(
                [sys.executable, "-c", LOST_SERVER, server.url], capture_output=True, text=True, check=False
            )
            assert (ended.returncode, ended.stdout) == (2, "")
            assert "cannot be opened" in ended.stderr
            assert "Traceback" not in ended.stderr
            server.start()
            assert state_of(database, job_id) == ("pending", 0)
            assert worker.make() == (Attempt(job_id, "completed"),)
            assert state_of(database, job_id) == ("completed", 1)


def test_a_job_that_crashes_the_server_is_counted_once_that_is_back(clock):
    with postgres_server() as server:
        address = Address(server.url, SECONDS)
        with closing(address.open(create=True)) as database, closing(address.open_begun()) as begun:
            job_id = accept_note(database, SentUnderKey("k", "t"), 3, clock, Hold()).job_id
            worker = Attempts(database, begun, clock, DoAt("after-history", server.crash), TEN_SECONDS)
            seen = []
            for _ in range(3):
                seen.append(worker.make()[0].outcome)
                clock.move(10)
            assert seen == ["retry_wait", "retry_wait", "failed"]
            assert state_of(database, job_id) == ("failed", 3)
            assert find_note(database, 1).events == ()
