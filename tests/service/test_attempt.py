from __future__ import annotations

from contextlib import closing

import apsw
import pytest

from arrowproof.service.address import Address
from arrowproof.service.attempt import Attempt, Attempts, UnrecordedError, WriteLockBusyError
from arrowproof.service.database import LONGEST_ERROR, DatabaseError, describe
from arrowproof.service.hold import Hold
from arrowproof.service.notes import SentUnderKey, accept_note, find_job, find_note
from arrowproof.service.sqlite import open_sqlite
from tests.service.conftest import RecordingHold
from tests.service.crash.faults import Faults
from tests.service.crash.watched_vfs import watched
from tests.service.engines import in_state, only_postgresql, only_sqlite, open_begun, open_engine
from tests.service.worker_lives import TEN_SECONDS, DoAt, HandSetClock, Killed, worker_life

SUCCESS = [
    "after-begin",
    "after-select",
    "after-count",
    "after-savepoint",
    "after-history",
    "after-release",
    "after-state",
    "after-commit",
]


class LostOnce:
    """A database through which another worker comes at the moment when the transaction of an attempt is gone."""

    def __init__(self, database, come):
        self._database = database
        self._come = come

    def __getattr__(self, name):
        return getattr(self._database, name)

    def roll_back(self):
        self._database.roll_back()
        come, self._come = self._come, lambda: None
        come()


@pytest.fixture
def clock():
    return HandSetClock()


@pytest.fixture
def accept(database, clock, hold):
    def accept(key="k", max_attempts=3):
        job_id = accept_note(database, SentUnderKey(key, "t"), max_attempts, clock, hold).job_id
        hold.passed.clear()
        return job_id

    return accept


@pytest.fixture
def worker(database, begun, clock, hold):
    return Attempts(database, begun, clock, hold, TEN_SECONDS)


def attempt(worker):
    """The one attempt that a look makes, or None when it makes none."""
    attempts = worker.make()
    assert len(attempts) <= 1
    return attempts[0] if attempts else None


def state_of(database, job_id):
    job = find_job(database, job_id)
    return job.status, job.attempts


def test_an_attempt_completes_the_job_together_with_its_history(worker, database, accept, hold):
    job_id = accept()
    assert attempt(worker) == Attempt(job_id, "completed")
    assert state_of(database, job_id) == ("completed", 1)
    (event,) = find_note(database, 1).events
    assert (event.job_id, event.attempt, event.created_at) == (job_id, 1, "2026-11-29T15:09:02.118Z")
    assert hold.passed == SUCCESS


def test_a_failed_attempt_is_rolled_back_to_its_savepoint_and_counted(worker, database, accept, hold, engine):
    job_id = accept()
    engine.fault("INSERT ON note_events")
    hold.stops = True
    assert attempt(worker) == Attempt(job_id, "retry_wait", engine.refusal)
    job = find_job(database, job_id)
    assert (job.status, job.attempts, job.last_error) == ("retry_wait", 1, engine.refusal)
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


def test_a_job_is_tried_again_when_it_is_due_and_not_a_millisecond_before(worker, accept, clock, engine):
    job_id = accept()
    engine.fault("INSERT ON note_events")
    attempt(worker)
    engine.mend()
    clock.move(9.999)
    assert attempt(worker) is None
    clock.move(0.001)
    assert attempt(worker) == Attempt(job_id, "completed")


def test_with_one_attempt_in_all_a_job_fails_at_once(worker, database, accept, engine):
    job_id = accept(max_attempts=1)
    engine.fault("INSERT ON note_events")
    assert attempt(worker) == Attempt(job_id, "failed", engine.refusal)
    job = find_job(database, job_id)
    assert (job.status, job.attempts, job.next_run_at, job.last_error) == ("failed", 1, None, engine.refusal)
    assert attempt(worker) is None


@pytest.mark.parametrize("action", ["ABORT", "FAIL", "ROLLBACK", "IGNORE"])
def test_however_the_history_row_is_refused_the_count_is_right(worker, database, accept, clock, engine, action):
    job_id = accept()
    engine.fault("INSERT ON note_events", action)
    seen = []
    for _ in range(3):
        assert attempt(worker).outcome == find_job(database, job_id).status
        seen.append(state_of(database, job_id))
        clock.move(10)
    assert seen == [("retry_wait", 1), ("retry_wait", 2), ("failed", 3)]
    assert find_note(database, 1).events == ()
    assert not database.in_transaction


def test_an_attempt_that_lost_its_transaction_is_recorded_in_a_new_one(worker, accept, hold, engine):
    accept()
    engine.fault("INSERT ON note_events", "ROLLBACK")
    hold.stops = True
    attempt(worker)
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


def test_history_without_its_completed_is_never_committed(worker, database, accept, engine):
    job_id = accept()
    engine.fault("UPDATE ON jobs", when="NEW.status = 'completed'")
    assert attempt(worker) == Attempt(job_id, "retry_wait", engine.refusal)
    assert state_of(database, job_id) == ("retry_wait", 1)
    assert find_note(database, 1).events == ()


@pytest.mark.parametrize("action", ["ABORT", "IGNORE"])
def test_an_attempt_that_cannot_be_counted_is_an_error_that_names_the_job_and_leaves_it(
    worker, database, accept, engine, action
):
    job_id = accept()
    engine.fault("UPDATE OF attempts ON jobs", action)
    with pytest.raises(UnrecordedError, match=f"the attempt at job {job_id} is on no record: ") as unrecorded:
        attempt(worker)
    assert unrecorded.value.job_id == job_id
    assert not database.in_transaction
    assert state_of(database, job_id) == ("pending", 0)
    assert find_note(database, 1).events == ()


def test_a_job_that_another_worker_finished_meanwhile_is_left_as_it_is(database, begun, accept, hold, clock, engine):
    job_id = accept()
    engine.fault("INSERT ON note_events", "ROLLBACK")

    def finish_it_elsewhere():
        engine.mend()
        with closing(open_engine(engine)) as other, closing(open_begun(engine)) as other_begun:
            elsewhere = Attempts(other, other_begun, clock, Hold(), TEN_SECONDS)
            assert attempt(elsewhere) == Attempt(job_id, "completed")

    lost = attempt(Attempts(LostOnce(database, finish_it_elsewhere), begun, clock, hold, TEN_SECONDS))
    assert (lost.job_id, lost.outcome) == (job_id, "completed")
    assert engine.ended in lost.error
    assert state_of(database, job_id) == ("completed", 1)
    assert len(find_note(database, 1).events) == 1


def test_the_job_that_has_waited_longest_comes_first(worker, accept, clock):
    first = accept("a")
    clock.move(1)
    second = accept("b")
    third = accept("c")
    assert [attempt(worker).job_id for _ in range(3)] == [first, second, third]


@pytest.mark.parametrize("state", ["completed", "failed", "cancelled"])
def test_a_finished_job_is_not_due(worker, accept, engine, state):
    accept()
    engine.sql(f"UPDATE jobs SET {in_state(state)}")
    assert attempt(worker) is None


@pytest.mark.parametrize("state", ["pending", "retry_wait"])
def test_a_job_that_waits_with_no_attempt_left_fails_and_does_not_hold_up_those_behind_it(
    worker, database, accept, engine, clock, state
):
    stuck = accept("a")
    clock.move(1)
    behind = accept("b")
    engine.sql(f"UPDATE jobs SET {in_state(state)}, attempts = 3 WHERE id = %s", (stuck,))
    error = f"no attempt is left; POST /jobs/{stuck}/retry gives more"
    assert attempt(worker) == Attempt(stuck, "failed", error)
    job = find_job(database, stuck)
    assert (job.status, job.attempts, job.next_run_at, job.last_error, job.errors) == ("failed", 3, None, error, ())
    assert job.finished_at == "2026-11-29T15:09:03.118Z"
    assert attempt(worker) == Attempt(behind, "completed")


def test_jobs_that_are_passed_over_are_left_alone_and_the_next_ones_taken(worker, batches, accept, clock):
    jobs = []
    for key in "abcde":
        jobs.append(accept(key))
        clock.move(1)
    first, second, third, *last = jobs
    assert worker.make({first, third}) == (Attempt(second, "completed"),)
    assert [attempt.job_id for attempt in batches.make({first})] == [third, *last]
    assert batches.make({first}) == ()
    assert [attempt.job_id for attempt in batches.make()] == [first]


def test_without_a_due_job_nothing_is_written(worker, database, hold):
    assert attempt(worker) is None
    assert hold.passed == ["after-begin", "after-select"]
    assert not database.in_transaction


def test_while_another_process_keeps_the_lock_no_attempt_is_made(begun, database, accept, engine, clock, hold):
    job_id = accept()
    with closing(open_engine(engine, busy_seconds=0.02)) as impatient:
        with engine.busy(), pytest.raises(WriteLockBusyError):
            Attempts(impatient, begun, clock, hold, TEN_SECONDS).make()
        assert not impatient.in_transaction
    assert state_of(database, job_id) == ("pending", 0)


@pytest.mark.parametrize("batch", [1, 3])
def test_a_lock_at_the_commit_is_no_failure_of_the_job(clock, tmp_path, hold, batch):
    """Without a WAL a commit waits for the readers, and one of them stays."""
    path = tmp_path / "truncate.sqlite3"
    with (
        closing(open_sqlite(path, create=True, journal_mode="truncate", busy_seconds=0.05)) as database,
        closing(Address(str(path)).open_begun()) as begun,
        closing(apsw.Connection(str(path))) as reader,
    ):
        job_id = accept_note(database, SentUnderKey("k", "t"), 3, clock, Hold()).job_id
        accept_note(database, SentUnderKey("l", "t"), 3, clock, Hold())
        worker = Attempts(database, begun, clock, hold, TEN_SECONDS, batch)
        reader.execute("BEGIN")
        reader.execute("SELECT * FROM jobs").get  # noqa: B018 - fetches the rows, under a lock that it keeps
        for _ in range(4):
            with pytest.raises(WriteLockBusyError, match="BusyError: database is locked") as busy:
                worker.make()
            assert busy.value.job_id == min(batch, 2)
            assert not database.in_transaction
        assert state_of(database, job_id) == ("pending", 0)
        assert find_job(database, job_id).errors == ()
        reader.execute("COMMIT")
        assert worker.make()[0] == Attempt(job_id, "completed")
        assert state_of(database, job_id) == ("completed", 1)


@only_postgresql
@pytest.mark.parametrize("batch", [1, 3])
@pytest.mark.parametrize("table", ["note_events", "attempt_errors"])
def test_a_lock_in_the_middle_of_an_attempt_is_no_failure_of_the_job(engine, begun, accept, clock, hold, table, batch):
    job_id, _ = accept("a"), accept("b")
    if table == "attempt_errors":
        engine.fault("INSERT ON note_events")
    with closing(open_engine(engine, busy_seconds=0.05)) as database:
        worker = Attempts(database, begun, clock, hold, TEN_SECONDS, batch)
        with engine.busy(table):
            for _ in range(4):
                with pytest.raises(WriteLockBusyError, match="LockNotAvailable: ") as busy:
                    worker.make()
                assert busy.value.job_id == job_id
                assert not database.in_transaction
        assert state_of(database, job_id) == ("pending", 0)
        if table == "attempt_errors":
            engine.mend()
        assert worker.make()[0] == Attempt(job_id, "completed")
        assert state_of(database, job_id) == ("completed", 1)


@only_postgresql
def test_a_lock_at_the_record_of_a_lost_attempt_is_no_failure_either(engine, begun, accept, clock, database):
    job_id = accept()
    engine.fault("INSERT ON note_events", "ROLLBACK")
    with closing(open_engine(engine, busy_seconds=0.05)) as impatient, engine.busy("attempt_errors"):
        with pytest.raises(WriteLockBusyError) as busy:
            Attempts(impatient, begun, clock, Hold(), TEN_SECONDS).make()
        assert busy.value.job_id == job_id
    assert state_of(database, job_id) == ("pending", 0)


@only_postgresql
def test_a_statement_that_takes_too_long_is_a_failed_attempt(engine, database, begun, accept, clock, hold):
    """Not a busy database: a job whose work never ends would be tried for ever."""
    job_id = accept()
    engine.sql(
        "CREATE FUNCTION sleep() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN PERFORM pg_sleep(600); END $$;"
        "CREATE TRIGGER sleep BEFORE INSERT ON note_events FOR EACH ROW EXECUTE FUNCTION sleep()"
    )
    with closing(Address(f"{engine.db}%20-cstatement_timeout%3D100ms").open()) as hasty:
        (attempt,) = Attempts(hasty, begun, clock, hold, TEN_SECONDS).make()
    assert (attempt.outcome, attempt.error) == (
        "retry_wait",
        "QueryCanceled: canceling statement due to statement timeout",
    )
    assert state_of(database, job_id) == ("retry_wait", 1)


def test_of_a_batch_that_is_done_again_one_by_one_what_was_done_is_told(batches, accept, engine, database):
    first, second, third = (accept(key) for key in "abc")
    engine.fault("UPDATE ON jobs", when=f"NEW.id = {second}")
    assert batches.make() == (Attempt(first, "completed"),)
    assert not database.in_transaction
    with pytest.raises(UnrecordedError):
        batches.make()
    assert batches.make({second}) == (Attempt(third, "completed"),)
    engine.mend()
    assert batches.make() == (Attempt(second, "completed"),)
    assert state_of(database, second) == ("completed", 1)


@pytest.fixture
def batches(database, begun, clock, hold):
    return Attempts(database, begun, clock, hold, TEN_SECONDS, batch=3)


def test_due_jobs_share_one_transaction_up_to_the_size_of_a_batch(batches, accept, hold):
    jobs = [accept(key) for key in "abcde"]
    hold.passed.clear()
    assert batches.make() == tuple(Attempt(job_id, "completed") for job_id in jobs[:3])
    assert hold.passed.count("after-history") == 3
    assert (hold.passed.count("after-begin"), hold.passed.count("after-commit")) == (1, 1)
    assert batches.make() == tuple(Attempt(job_id, "completed") for job_id in jobs[3:])
    assert batches.make() == ()


def test_nothing_of_a_batch_is_seen_before_its_commit_and_all_of_it_afterwards(database, begun, clock, accept, engine):
    for key in "abc":
        accept(key)
    seen = []

    class Looking(Hold):
        def reached(self, point, database):
            if point in ("after-state", "after-commit"):
                database.stand_still()
                seen.append(
                    engine.sql("SELECT count(*), (SELECT count(*) FROM note_events) FROM jobs WHERE attempts = 1")
                )

    Attempts(database, begun, clock, Looking(), TEN_SECONDS, batch=3).make()
    assert seen == [[(0, 0)], [(3, 3)]]


@pytest.mark.parametrize("action", ["ABORT", "IGNORE"])
def test_one_history_row_that_is_refused_does_not_take_the_rest_of_its_batch_along(
    batches, accept, database, engine, hold, action
):
    first, second, third = (accept(key) for key in "abc")
    engine.fault("INSERT ON note_events", action, when=f"NEW.job_id = {second}")
    hold.passed.clear()
    assert [attempt.outcome for attempt in batches.make()] == ["completed", "retry_wait", "completed"]
    assert [state_of(database, job_id) for job_id in (first, second, third)] == [
        ("completed", 1),
        ("retry_wait", 1),
        ("completed", 1),
    ]
    assert hold.passed.count("after-commit") == 1


@pytest.mark.parametrize("event", ["INSERT ON note_events", "UPDATE ON jobs"])
def test_a_batch_that_loses_its_transaction_is_done_again_one_by_one(batches, accept, database, engine, event):
    jobs = [accept(key) for key in "abc"]
    when = f"NEW.job_id = {jobs[1]}" if "note_events" in event else f"NEW.id = {jobs[1]} AND NEW.status = 'completed'"
    engine.fault(event, "ROLLBACK", when)
    outcomes = {}
    while attempts := batches.make():
        outcomes |= {attempt.job_id: attempt.outcome for attempt in attempts}
    assert outcomes == dict(zip(jobs, ["completed", "retry_wait", "completed"], strict=True))
    assert [state_of(database, job_id) for job_id in jobs] == [("completed", 1), ("retry_wait", 1), ("completed", 1)]
    assert engine.sql("SELECT count(*), count(DISTINCT job_id) FROM note_events") == [(2, 2)]


class FullAtTheCommit(RecordingHold):
    """Has the disk be full, once, at the first write of the commit."""

    def __init__(self, faults):
        super().__init__()
        self._faults = faults

    def at(self, point):
        super().at(point)
        if point == "after-state":
            self._faults.passing = 0


@only_sqlite
def test_a_batch_at_whose_commit_the_disk_is_full_is_done_again_one_by_one(database, begun, clock, accept, engine):
    jobs = [accept(key) for key in "abc"]
    faults = Faults("full", lasting=False)
    hold = FullAtTheCommit(faults)
    with watched(faults), closing(open_engine(engine)) as faulty:
        attempts = Attempts(faulty, begun, clock, hold, TEN_SECONDS, batch=3).make()
    assert [operation.kind for operation in faults.fired] == ["write"]
    assert attempts == tuple(Attempt(job_id, "completed") for job_id in jobs)
    assert hold.passed.count("after-commit") == 3
    assert {state_of(database, job_id) for job_id in jobs} == {("completed", 1)}


@only_postgresql
def test_a_batch_whose_commit_is_refused_is_done_again_one_by_one(begun, database, clock, hold, accept, engine):
    jobs = [accept(key) for key in "abc"]
    engine.fault_at_commit("INSERT ON note_events", once=True)
    attempts = Attempts(database, begun, clock, hold, TEN_SECONDS, batch=3).make()
    assert engine.sql("SELECT last_value FROM commits")[0][0] > 1
    assert attempts == tuple(Attempt(job_id, "completed") for job_id in jobs)
    assert hold.passed.count("after-commit") == 3
    assert {state_of(database, job_id) for job_id in jobs} == {("completed", 1)}


def test_a_worker_that_is_killed_in_the_middle_of_a_batch_leaves_all_of_it_as_it_was(accept, database, engine, clock):
    jobs = [accept(key) for key in "abc"]
    with worker_life(engine, clock, point="after-history", victim=jobs[1], batch=3) as dying, pytest.raises(Killed):
        dying.make()
    assert [state_of(database, job_id) for job_id in jobs] == [("pending", 0)] * 3
    done = []
    with worker_life(engine, clock, batch=3) as living:
        while attempts := living.make():
            done += attempts
    assert sorted(attempt.job_id for attempt in done) == jobs
    assert {attempt.outcome for attempt in done} == {"completed"}
    assert engine.sql("SELECT count(*), count(DISTINCT job_id) FROM note_events") == [(3, 3)]


def test_every_failed_attempt_leaves_its_error_beside_the_last_one(worker, accept, database, engine, clock):
    job_id = accept()
    said = ["first", "second", "third"]
    for number, message in enumerate(said, 1):
        engine.fault("INSERT ON note_events", said=message)
        attempt(worker)
        engine.mend()
        assert find_job(database, job_id).last_error.endswith(message)
        assert [error.attempt for error in find_job(database, job_id).errors] == list(range(1, number + 1))
        clock.move(10)
    assert [error.error.rpartition(": ")[2] for error in find_job(database, job_id).errors] == said


def test_a_finished_job_says_since_when(worker, accept, database, engine, clock):
    done = accept("a")
    attempt(worker)
    assert find_job(database, done).finished_at == "2026-11-29T15:09:02.118Z"
    failed = accept("b", max_attempts=1)
    engine.fault("INSERT ON note_events")
    clock.move(1)
    attempt(worker)
    assert find_job(database, failed).finished_at == "2026-11-29T15:09:03.118Z"


@pytest.mark.parametrize("point", ["after-begin", "after-select"])
def test_an_error_before_anything_is_claimed_leaves_no_transaction(database, begun, clock, accept, point):
    job_id = accept()

    def fail():
        raise DatabaseError("IOError: disk I/O error")

    with pytest.raises(DatabaseError):
        Attempts(database, begun, clock, DoAt(point, fail), TEN_SECONDS).make()
    assert not database.in_transaction
    assert state_of(database, job_id) == ("pending", 0)


def test_a_long_error_is_cut():
    assert describe(ValueError("x" * 5000)) == "ValueError: " + "x" * (LONGEST_ERROR - len("ValueError: "))


def test_an_error_is_told_on_one_line():
    assert describe(ValueError("first\r\n\tsecond\n\n third\u2028fourth\n")) == "ValueError: first second third fourth"


def test_what_a_database_says_on_several_lines_stands_on_one(worker, accept, database, engine):
    job_id = accept()
    engine.fault("INSERT ON note_events", said="no\n  history\r\ntoday")
    assert attempt(worker).error == engine.refusal
    assert find_job(database, job_id).last_error == engine.refusal


def test_an_error_that_not_every_database_can_keep_is_made_fit():
    assert describe(ValueError("a\x00b\ud800c")) == "ValueError: a\N{REPLACEMENT CHARACTER}b?c"
