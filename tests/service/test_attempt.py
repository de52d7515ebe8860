from __future__ import annotations

from datetime import UTC, datetime, timedelta

import apsw
import pytest

from arrowproof.service.attempt import LONGEST_ERROR, Attempt, AttemptLostError, Workbench, WriteLockBusyError, describe
from arrowproof.service.database import open_database
from arrowproof.service.notes import accept_note, find_job, find_note

ERROR = "ConstraintError: no history today"


class LostOnce:
    """A database through which another worker comes at the moment when the transaction of an attempt is gone."""

    def __init__(self, database, come):
        self._database = database
        self._come = come

    def __getattr__(self, name):
        return getattr(self._database, name)

    def roll_back(self):
        self._database.roll_back()
        self._come()


class HandSetClock:
    """A clock that stands until it is moved."""

    def __init__(self):
        self.moment = datetime(2026, 11, 29, 15, 9, 2, 118000, tzinfo=UTC)

    def __call__(self):
        return self.moment

    def move(self, seconds):
        self.moment += timedelta(seconds=seconds)


@pytest.fixture
def clock():
    return HandSetClock()


@pytest.fixture
def accept(database, clock, hold):
    def accept(key="k", max_attempts=3):
        job_id = accept_note(database, key, "t", max_attempts, clock, hold).job_id
        hold.passed.clear()
        return job_id

    return accept


@pytest.fixture
def workbench(database, clock, hold):
    return Workbench(database, clock, hold, retry_delay=10.0)


@pytest.fixture
def trigger(database):
    """Puts a trigger in, and returns what takes it out again."""

    def add(event, action, when="1"):
        database._connection.execute(
            f"CREATE TRIGGER fault BEFORE {event} WHEN {when} "
            f"BEGIN SELECT RAISE({action}{'' if action == 'IGNORE' else ', ' + repr('no history today')}); END"
        )
        return lambda: database._connection.execute("DROP TRIGGER fault")

    return add


def state_of(database, job_id):
    job = find_job(database, job_id)
    return job.status, job.attempts


def test_an_attempt_completes_the_job_together_with_its_history(workbench, database, accept, hold):
    job_id = accept()
    assert workbench.attempt() == Attempt(job_id, "completed")
    assert state_of(database, job_id) == ("completed", 1)
    (event,) = find_note(database, 1).events
    assert (event.job_id, event.attempt, event.created_at) == (job_id, 1, "2026-11-29T15:09:02.118Z")
    assert hold.passed == [
        "after-begin",
        "after-select",
        "after-count",
        "after-savepoint",
        "after-history",
        "after-release",
        "after-state",
        "after-commit",
    ]


def test_a_failed_attempt_is_rolled_back_to_its_savepoint_and_counted(workbench, database, accept, hold, trigger):
    job_id = accept()
    trigger("INSERT ON note_events", "ABORT")
    assert workbench.attempt() == Attempt(job_id, "retry_wait", ERROR)
    job = find_job(database, job_id)
    assert (job.status, job.attempts, job.last_error) == ("retry_wait", 1, ERROR)
    assert job.next_run_at == "2026-11-29T15:09:12.118Z"
    assert hold.passed == [
        "after-begin",
        "after-select",
        "after-count",
        "after-savepoint",
        "after-rollback-to",
        "after-release",
        "after-state",
        "after-commit",
    ]


def test_a_job_is_tried_again_when_it_is_due_and_not_a_millisecond_before(workbench, accept, clock, trigger):
    job_id = accept()
    remove = trigger("INSERT ON note_events", "ABORT")
    workbench.attempt()
    remove()
    clock.move(9.999)
    assert workbench.attempt() is None
    clock.move(0.001)
    assert workbench.attempt() == Attempt(job_id, "completed")


def test_with_one_attempt_in_all_a_job_fails_at_once(workbench, database, accept, trigger):
    job_id = accept(max_attempts=1)
    trigger("INSERT ON note_events", "ABORT")
    assert workbench.attempt() == Attempt(job_id, "failed", ERROR)
    job = find_job(database, job_id)
    assert (job.status, job.attempts, job.next_run_at, job.last_error) == ("failed", 1, None, ERROR)
    assert workbench.attempt() is None


@pytest.mark.parametrize("action", ["ABORT", "FAIL", "ROLLBACK", "IGNORE"])
def test_however_the_history_row_is_refused_the_count_is_right(workbench, database, accept, clock, trigger, action):
    job_id = accept()
    trigger("INSERT ON note_events", action)
    seen = []
    for _ in range(3):
        assert workbench.attempt().outcome == find_job(database, job_id).status
        seen.append(state_of(database, job_id))
        clock.move(10)
    assert seen == [("retry_wait", 1), ("retry_wait", 2), ("failed", 3)]
    assert find_note(database, 1).events == ()
    assert not database.in_transaction


def test_an_attempt_that_lost_its_transaction_is_recorded_in_a_new_one(workbench, accept, hold, trigger):
    accept()
    trigger("INSERT ON note_events", "ROLLBACK")
    workbench.attempt()
    assert hold.passed == [
        "after-begin",
        "after-select",
        "after-count",
        "after-savepoint",
        "after-begin",
        "after-count",
        "after-state",
        "after-commit",
    ]


def test_history_without_its_completed_is_never_committed(workbench, database, accept, trigger):
    job_id = accept()
    trigger("UPDATE ON jobs", "ABORT", "NEW.status = 'completed'")
    assert workbench.attempt() == Attempt(job_id, "retry_wait", ERROR)
    assert state_of(database, job_id) == ("retry_wait", 1)
    assert find_note(database, 1).events == ()


@pytest.mark.parametrize(("action", "error"), [("ABORT", apsw.ConstraintError), ("IGNORE", AttemptLostError)])
def test_an_attempt_that_cannot_be_counted_is_an_error_and_leaves_the_job(
    workbench, database, accept, trigger, action, error
):
    job_id = accept()
    trigger("UPDATE OF attempts ON jobs", action)
    with pytest.raises(error):
        workbench.attempt()
    database.roll_back()
    assert state_of(database, job_id) == ("pending", 0)
    assert find_note(database, 1).events == ()


def test_a_job_that_another_worker_finished_meanwhile_is_left_as_it_is(
    database, accept, hold, trigger, tmp_path, clock
):
    job_id = accept()
    remove = trigger("INSERT ON note_events", "ROLLBACK")

    def finish_it_elsewhere():
        remove()
        other = open_database(tmp_path / "finale.sqlite3")
        assert Workbench(other, clock, type(hold)(), 0.0).attempt() == Attempt(job_id, "completed")
        other.close()

    workbench = Workbench(LostOnce(database, finish_it_elsewhere), clock, hold, 10.0)
    assert workbench.attempt() == Attempt(job_id, "completed", ERROR)
    assert state_of(database, job_id) == ("completed", 1)
    assert len(find_note(database, 1).events) == 1


def test_the_job_that_has_waited_longest_comes_first(workbench, accept, clock):
    first = accept("a")
    clock.move(1)
    second = accept("b")
    third = accept("c")
    assert [workbench.attempt().job_id for _ in range(3)] == [first, second, third]


@pytest.mark.parametrize("state", ["completed", "failed"])
def test_a_finished_job_is_not_due_whatever_its_time(workbench, database, accept, state):
    accept()
    database._connection.execute("UPDATE jobs SET status = ?", (state,))
    assert workbench.attempt() is None


def test_without_a_due_job_nothing_is_written(workbench, database, hold):
    assert workbench.attempt() is None
    assert hold.passed == ["after-begin", "after-select"]
    assert not database.in_transaction


def test_while_another_process_has_the_write_lock_no_attempt_is_made(workbench, database, accept, tmp_path):
    job_id = accept()
    database._connection.set_busy_timeout(20)
    other = open_database(tmp_path / "finale.sqlite3")
    other.rows("begin")
    with pytest.raises(WriteLockBusyError):
        workbench.attempt()
    other.close()
    assert state_of(database, job_id) == ("pending", 0)


def test_a_long_error_is_cut():
    assert describe(ValueError("x" * 5000)) == "ValueError: " + "x" * (LONGEST_ERROR - len("ValueError: "))
