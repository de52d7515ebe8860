"""The record of begun attempts: a job that kills its worker is set aside, and no other."""

from __future__ import annotations

import fcntl
import os
import subprocess
import sys
from contextlib import ExitStack, closing, contextmanager, nullcontext

import apsw
import pytest

from arrowproof.service.address import Address
from arrowproof.service.attempt import Attempt, Attempts, UnrecordedError
from arrowproof.service.begun_file import begun_file
from arrowproof.service.clock import timestamp
from arrowproof.service.hold import Hold
from arrowproof.service.notes import SentUnderKey, accept_note, find_job
from arrowproof.service.refusal import RefusedError
from tests.service.engines import only_postgresql, only_sqlite, open_begun, open_engine
from tests.service.lossy_line import without_answer
from tests.service.worker_lives import TEN_SECONDS, DoAt, HandSetClock, Killed, kill, worker_life

ASIDE = "set aside: 3 attempts in a row killed their worker or its connection"


@pytest.fixture
def clock():
    return HandSetClock()


@pytest.fixture
def accept(database, clock):
    return lambda key="k": accept_note(database, SentUnderKey(key, "t"), 3, clock, Hold()).job_id


@pytest.fixture
def live(engine, clock):
    """The life of a worker: one look, or its death at a point of the attempt at a job."""

    def live(point="", victim=0, batch=1):
        with worker_life(engine, clock, point=point, victim=victim, batch=batch) as worker:
            try:
                return worker.make()
            except Killed:
                return "killed"

    return live


def state_of(database, job_id):
    job = find_job(database, job_id)
    return job.status, job.attempts, job.last_error


def requeue(database, clock, job_id):
    database.begin()
    assert database.change("requeue_job", job_id=job_id, more_attempts=3, now=timestamp(clock(database))) == 1
    database.commit()


def on_record(engine):
    """What is on record as begun: job, attempts made before, crashes."""
    if engine.name == "postgresql":
        return engine.sql("SELECT job_id, attempts, crashes FROM begun_attempts ORDER BY job_id")
    with closing(open_begun(engine)) as begun:
        return begun._record.slots()


def test_a_job_that_killed_three_workers_in_a_row_is_set_aside_and_a_retry_by_hand_begins_anew(notes, accept, database):
    job_id = accept()
    for _ in range(3):
        worker = notes.worker(hold="after-savepoint")
        notes.held("after-savepoint")
        worker.kill()
        (notes.holds / "after-savepoint.held").unlink()
        assert state_of(database, job_id) == ("pending", 0, None)
    assert notes.worker().outcome() == {"outcome": "failed", "job_id": job_id}
    assert state_of(database, job_id) == ("failed", 0, ASIDE)
    server = notes.server()
    assert server.client.post(f"/jobs/{job_id}/retry").status_code == 200
    assert notes.worker().outcome() == {"outcome": "completed", "job_id": job_id}
    assert state_of(database, job_id) == ("completed", 1, None)


@pytest.mark.parametrize("point", ["after-count", "after-savepoint", "after-history", "after-release", "after-state"])
def test_wherever_the_worker_dies_before_the_commit_it_is_counted(live, accept, database, point):
    job_id = accept()
    assert [live(point, job_id) for _ in range(3)] == ["killed"] * 3
    assert live() == (Attempt(job_id, "failed", ASIDE),)
    assert state_of(database, job_id) == ("failed", 0, ASIDE)


def test_two_crashes_and_a_success_are_no_reason_to_set_a_job_aside(live, accept, engine):
    job_id = accept()
    assert [live("after-history", job_id) for _ in range(2)] == ["killed"] * 2
    assert on_record(engine) == [(job_id, 0, 1)]
    assert live() == (Attempt(job_id, "completed"),)
    assert on_record(engine) == []


def test_an_attempt_that_failed_in_between_begins_the_count_anew(live, accept, engine, clock, database):
    job_id = accept()
    for _ in range(2):
        assert [live("after-count", job_id) for _ in range(2)] == ["killed"] * 2
        engine.fault("INSERT ON note_events")
        assert live() == (Attempt(job_id, "retry_wait", engine.refusal),)
        engine.mend()
        clock.move(10)
    assert [live("after-count", job_id) for _ in range(3)] == ["killed"] * 3
    assert live()[0].outcome == "failed"
    assert state_of(database, job_id) == ("failed", 2, ASIDE)


def test_a_worker_that_dies_after_the_commit_leaves_no_crash_to_the_next_attempt(live, accept, engine, clock):
    job_id = accept()
    engine.fault("INSERT ON note_events")
    assert live("after-commit", job_id) == "killed"
    clock.move(10)
    assert live("after-commit", job_id) == "killed"
    engine.mend()
    assert on_record(engine) == [(job_id, 1, 0)]
    clock.move(10)
    assert live() == (Attempt(job_id, "completed"),)


@pytest.mark.parametrize("point", ["after-state", "after-commit", "after-begin"])
def test_a_worker_that_dies_while_it_sets_a_job_aside_leaves_no_count_to_the_retry(
    live, accept, engine, clock, database, point
):
    job_id = accept()
    assert [live("after-history", job_id) for _ in range(3)] == ["killed"] * 3
    with worker_life(engine, clock) as dying:
        object.__setattr__(dying, "hold", DoAt(point, kill))
        with pytest.raises(Killed):
            dying.make()
    if point != "after-commit":
        assert live()[0].outcome == "failed"
    assert state_of(database, job_id)[:2] == ("failed", 0)
    requeue(database, clock, job_id)
    assert live() == (Attempt(job_id, "completed"),)


@pytest.mark.parametrize("ending", [KeyboardInterrupt, SystemExit, RefusedError])
def test_an_attempt_that_somebody_ended_is_no_crash(engine, clock, accept, database, ending):
    job_id = accept()

    def end():
        raise ending

    for _ in range(4):
        with worker_life(engine, clock) as interrupted:
            object.__setattr__(interrupted, "hold", DoAt("after-history", end))
            with pytest.raises(ending):
                interrupted.make()
            assert not interrupted.database.in_transaction
    assert on_record(engine) == []
    assert state_of(database, job_id) == ("pending", 0, None)


def test_an_error_of_the_database_is_no_crash(engine, accept, live):
    job_id = accept()
    engine.fault("UPDATE OF attempts ON jobs")
    for _ in range(4):
        with pytest.raises(UnrecordedError):
            live()
    engine.mend()
    assert on_record(engine) == []
    assert live() == (Attempt(job_id, "completed"),)


def test_in_a_batch_the_one_that_kills_is_set_aside_and_those_beside_it_are_done(live, accept, database):
    first, second, poison, last = (accept(key) for key in "abcd")
    lives = []
    while not lives or lives[-1]:
        lives.append(live("after-history", poison, batch=4))
    assert lives.count("killed") == 3
    assert [state_of(database, job_id) for job_id in (first, second, last)] == [("completed", 1, None)] * 3
    assert state_of(database, poison) == ("failed", 0, ASIDE)
    # Those beside it were each done alone after the first death, not again and again.
    assert len(lives) <= 8


def test_a_record_that_cannot_be_written_does_not_stop_the_work(engine, clock, accept, caplog):
    job_id = accept()
    with closing(open_engine(engine)) as database, closing(open_begun(engine)) as begun:
        if engine.name == "postgresql":
            engine.sql("ALTER TABLE begun_attempts RENAME TO gone")
        with stuck_records(engine, begun) if engine.name == "sqlite" else nullcontext():
            assert Attempts(database, begun, clock, Hold(), TEN_SECONDS).make() == (Attempt(job_id, "completed"),)
    assert "crashes of job 1 are not counted" in caplog.text


@contextmanager
def stuck_records(engine, begun):
    """What is on record can be read, but not be taken away."""
    if engine.name == "postgresql":
        engine.fault("DELETE ON begun_attempts")
        yield
        engine.mend()
        return
    ours, only_read = begun._record.descriptor, os.open(begun_file(engine.file), os.O_RDONLY)
    kept = os.dup(ours)
    os.dup2(only_read, ours)
    yield
    os.dup2(kept, ours)
    os.close(kept)
    os.close(only_read)


def fail():
    """End an attempt, but not its worker."""
    raise RefusedError("not today")


@pytest.fixture
def stick(engine, begun):
    """Ends attempts from the first one on, and has their records stuck until it is told to stop."""
    with ExitStack() as stuck:

        def stick():
            if not stick.is_stuck:
                stick.is_stuck = True
                stuck.enter_context(stuck_records(engine, begun))
            fail()

        stick.is_stuck = False
        stick.stop = stuck.close
        yield stick


def test_a_record_that_cannot_be_taken_away_is_no_crash_to_the_worker_that_left_it(
    engine, clock, accept, database, begun, caplog, stick
):
    job_id = accept()
    worker = Attempts(database, begun, clock, DoAt("after-history", stick), TEN_SECONDS)
    for _ in range(5):
        with pytest.raises(RefusedError):
            worker.make()
        assert on_record(engine) == [(job_id, 0, 0)]
    stick.stop()
    assert caplog.text.count("the attempt at job 1 is still on record as begun: ") == 1
    object.__setattr__(worker, "hold", Hold())
    assert worker.make() == (Attempt(job_id, "completed"),)


def test_a_record_that_could_not_be_taken_away_is_taken_away_before_the_next_look(
    engine, clock, accept, database, begun, live, stick
):
    job_id = accept()
    worker = Attempts(database, begun, clock, DoAt("after-history", stick), TEN_SECONDS)
    with pytest.raises(RefusedError):
        worker.make()
    assert on_record(engine) == [(job_id, 0, 0)]
    stick.stop()
    object.__setattr__(worker, "hold", DoAt("after-begin", fail))
    with pytest.raises(RefusedError):
        worker.make()
    assert on_record(engine) == []
    assert live() == (Attempt(job_id, "completed"),)


@pytest.mark.usefixtures("database")
def test_a_record_that_could_not_be_taken_away_is_tried_once_more_when_all_is_closed(engine):
    with closing(open_begun(engine)) as ours:
        ours.begin(1, 0)
        with stuck_records(engine, ours):
            assert ours.clear(1, 0) is False
    assert on_record(engine) == []


def test_a_worker_that_starts_takes_away_what_killed_ones_left_of_jobs_that_are_finished_or_gone(
    notes, engine, live, accept, database
):
    done, removed, waiting, due = (accept(key) for key in "abcd")
    assert live("after-commit", done) == "killed"
    with closing(open_begun(engine)) as dead:
        for job_id in (removed, waiting, waiting):
            dead.begin(job_id, 0)
    engine.sql("UPDATE jobs SET next_run_at = '2999-01-01T00:00:00.000Z' WHERE id = %s", (waiting,))
    engine.sql("DELETE FROM jobs WHERE id = %s", (removed,))
    assert on_record(engine) == [(done, 0, 0), (removed, 0, 0), (waiting, 0, 1)]
    assert notes.worker().outcome() == {"outcome": "completed", "job_id": due}
    assert on_record(engine) == [(waiting, 0, 1)]
    assert state_of(database, done)[0] == "completed"


def test_a_record_that_cannot_be_tidied_is_told_and_tidied_later(accept, engine, live, database, begun, caplog):
    done = accept()
    assert live("after-commit", done) == "killed"
    with stuck_records(engine, begun):
        begun.tidy(database)
    assert on_record(engine) == [(done, 0, 0)]
    assert "the attempt at job 1 is still on record as begun: " in caplog.text
    begun.catch_up()
    assert on_record(engine) == []


def test_the_record_is_made_without_a_flush_to_the_disk(engine, begun, monkeypatch):
    if engine.name == "postgresql":
        assert engine.sql(
            "SELECT relpersistence FROM pg_class WHERE relname = 'begun_attempts'"
            " AND relnamespace = current_schema()::regnamespace"
        ) == [("u",)]
        return
    for flush in ("fsync", "fdatasync", "sync"):
        monkeypatch.delattr(os, flush)
    assert begun.begin(1, 0) == 0
    assert begun.clear(1, 0)
    assert fcntl.fcntl(begun._record.descriptor, fcntl.F_GETFL) & (os.O_SYNC | os.O_DSYNC) == 0


def test_a_committed_attempt_gives_its_place_on_record_to_the_next(begun, engine):
    assert begun.begin(1, 0) == 0
    begun.end(1, 0)
    assert begun.begin(2, 0) == 0
    assert on_record(engine) == [(2, 0, 0)]
    begun.end(2, 0)
    # The next attempt at the same job, too.
    assert begun.begin(2, 1) == 0
    assert on_record(engine) == [(2, 1, 0)]


def test_what_is_on_record_of_a_job_is_not_lost_by_taking_the_place_of_another(begun, engine):
    with closing(open_begun(engine)) as dead:
        assert [dead.begin(7, 2) for _ in range(2)] == [0, 1]
    assert begun.begin(1, 0) == 0
    begun.end(1, 0)
    assert begun.begin(7, 2) == 2
    assert on_record(engine) == [(7, 2, 2)]


def test_a_place_that_another_worker_has_taken_meanwhile_is_left_to_it(begun, engine):
    assert begun.begin(1, 0) == 0
    begun.end(1, 0)
    with closing(open_begun(engine)) as other:
        assert other.begin(1, 1) == 0
        assert begun.begin(2, 0) == 0
        assert on_record(engine) == [(1, 1, 0), (2, 0, 0)]


@only_postgresql
@pytest.mark.parametrize("statement", ["INSERT INTO begun_attempts", "UPDATE begun_attempts"])
def test_a_record_whose_answer_was_lost_sets_no_job_aside(engine, clock, accept, database, statement):
    jobs = accept("a"), accept("b")
    with without_answer(engine, statement) as lossy, closing(Address(lossy).open_begun()) as begun:
        attempts = Attempts(database, begun, clock, Hold(), TEN_SECONDS, most_crashes=1)
        assert [attempts.make() for _ in jobs] == [(Attempt(job_id, "completed"),) for job_id in jobs]


@pytest.mark.usefixtures("database")
def test_a_record_that_is_closed_holds_nothing_of_what_has_ended(engine):
    with closing(open_begun(engine)) as ours:
        for job_id in (1, 2, 3):
            ours.begin(job_id, 0)
        ours.end(1, 0)
        ours.end(2, 0)
    assert on_record(engine) == [(3, 0, 0)]


@only_sqlite
@pytest.mark.parametrize("length", [0, 40, 5000])
def test_a_record_that_a_power_cut_zeroed_is_made_anew(engine, accept, live, length):
    job_id = accept()
    live("after-history", job_id)
    begun_file(engine.file).write_bytes(bytes(length))
    assert on_record(engine) == []
    assert live() == (Attempt(job_id, "completed"),)


@only_sqlite
def test_a_record_that_is_torn_is_made_anew(engine, accept, live):
    job_id = accept()
    live("after-history", job_id)
    file = begun_file(engine.file)
    content = bytearray(file.read_bytes())
    content[40:] = b"\xa5" * 5_000
    file.write_bytes(content)
    assert live() == (Attempt(job_id, "completed"),)


@only_sqlite
@pytest.mark.parametrize("kind", ["text", "database", "folder"])
def test_something_else_under_its_name_is_refused_and_left_alone(engine, accept, live, kind, fingerprint):
    accept()
    file = begun_file(engine.file)
    if kind == "folder":
        file.mkdir()
    elif kind == "text":
        file.write_text("my own notes\n" * 20)
    else:
        connection = apsw.Connection(str(file))
        connection.execute("CREATE TABLE mine (x)")
        connection.close()
    before = {name: print_ for name, print_ in fingerprint().items() if "-begun" in name}
    with pytest.raises(RefusedError, match=r"finale\.sqlite3-begun"):
        live()
    assert {name: print_ for name, print_ in fingerprint().items() if "-begun" in name} == before


@only_sqlite
def test_a_new_database_does_not_inherit_the_record_of_a_removed_one(engine, accept, live, database, clock):
    job_id = accept()
    assert [live("after-history", job_id) for _ in range(3)] == ["killed"] * 3
    database.close()
    for suffix in ("", "-wal", "-shm"):
        engine.file.with_name(engine.file.name + suffix).unlink(missing_ok=True)
    assert begun_file(engine.file).exists()
    with closing(open_engine(engine, create=True)) as new:
        assert accept_note(new, SentUnderKey("k", "t"), 3, clock, Hold()).job_id == job_id
        assert live() == (Attempt(job_id, "completed"),)


@only_sqlite
def test_a_new_database_leaves_something_else_under_the_name_of_the_record_alone(engine):
    begun_file(engine.file).write_text("my own notes")
    open_engine(engine, create=True).close()
    assert begun_file(engine.file).read_text() == "my own notes"
    engine.file.unlink()
    begun_file(engine.file).unlink()
    begun_file(engine.file).mkdir()
    open_engine(engine, create=True).close()
    assert begun_file(engine.file).is_dir()


@only_sqlite
def test_the_record_may_be_removed_at_any_time(engine, accept, live, clock, database):
    job_id = accept()
    live("after-history", job_id)
    with worker_life(engine, clock) as worker:
        begun_file(engine.file).unlink()
        assert worker.make() == (Attempt(job_id, "completed"),)
    assert state_of(database, job_id)[0] == "completed"


TWO_WORKERS = """
import sys
from contextlib import closing
from arrowproof.service.address import Address
from arrowproof.service.attempt import Attempts
from arrowproof.service.backoff import Backoff
from arrowproof.service.clock import database_clock
from arrowproof.service.hold import Hold
address = Address(sys.argv[1])
with closing(address.open()) as database, closing(address.open_begun()) as begun:
    worker = Attempts(database, begun, database_clock, Hold(), Backoff(0.0, 0.0))
    while attempts := worker.make():
        assert [attempt.outcome for attempt in attempts] == ["completed"], attempts
"""


def test_two_workers_share_one_record_and_see_no_crash_in_each_other(engine, accept, database):
    jobs = [accept(str(key)) for key in range(60)]
    command = [sys.executable, "-c", TWO_WORKERS, engine.db]
    workers = [subprocess.Popen(command, stderr=subprocess.PIPE, text=True) for _ in range(2)]
    for worker in workers:
        assert worker.communicate()[1] == ""
        assert worker.returncode == 0
    assert {state_of(database, job_id) for job_id in jobs} == {("completed", 1, None)}
    assert on_record(engine) == []
