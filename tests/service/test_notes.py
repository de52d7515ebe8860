from __future__ import annotations

import threading
from contextlib import closing
from datetime import UTC, datetime

import pytest

from arrowproof.service.database import DatabaseError
from arrowproof.service.hold import SERVER_POINTS, Hold
from arrowproof.service.notes import Accepted, KeyTakenError, SentUnderKey, accept_note, find_job, find_note
from tests.service.engines import only_postgresql, only_sqlite, open_engine
from tests.service.worker_lives import DoAt

NOW = datetime(2026, 11, 29, 15, 9, 2, 118000, tzinfo=UTC)
STAMP = "2026-11-29T15:09:02.118Z"


@pytest.fixture
def accept(database, hold):
    def accept(key, text, client=""):
        return accept_note(database, SentUnderKey(key, text, client), 2, lambda _: NOW, hold)

    return accept


def test_a_note_is_stored_with_a_job_that_is_due_at_once(database, accept):
    accepted = accept("k", " buy milk ")
    assert accepted == Accepted(1, 1, replayed=False)
    job = find_job(database, 1)
    assert (job.status, job.attempts, job.max_attempts, job.next_run_at, job.last_error, job.note_id) == (
        "pending",
        0,
        2,
        STAMP,
        None,
        1,
    )
    note = find_note(database, 1)
    assert (note.text, note.job_id, note.events) == (" buy milk ", 1, ())


def test_white_space_around_the_text_makes_no_other_text_and_within_it_does(accept):
    accept("k", "buy milk")
    assert accept("k", "\u3000buy milk\r\n").replayed
    with pytest.raises(KeyTakenError):
        accept("k", "buy  milk")


@pytest.mark.parametrize("other", ["K", "k.", "kk", "k%"])
def test_keys_are_compared_byte_by_byte(accept, other):
    accept("k", "t")
    assert not accept(other, "t").replayed


def test_the_same_key_of_another_client_is_another_key(database, accept):
    mine = accept("k", "t", "me")
    theirs = accept("k", "u", "them")
    assert not theirs.replayed
    assert theirs.note_id != mine.note_id
    assert find_note(database, theirs.note_id, "me") is None
    assert find_job(database, mine.job_id, "them") is None
    assert find_note(database, mine.note_id, "me").text == "t"


def test_every_point_is_passed_in_order(accept, hold):
    accept("k", "t")
    assert tuple(hold.passed) == SERVER_POINTS


def test_a_replay_needs_no_transaction(database, accept, hold):
    accept("k", "t")
    hold.passed.clear()
    assert accept("k", "t").replayed
    assert hold.passed == []
    assert not database.in_transaction


@pytest.fixture
def accept_elsewhere(engine):
    """Accepts a note on a connection of its own, and keeps the answers."""
    answers = []

    def accept():
        with closing(open_engine(engine)) as other:
            answers.append(accept_note(other, SentUnderKey("k", "t"), 2, lambda _: NOW, Hold()))
        return answers

    return accept


@only_sqlite
def test_a_request_whose_key_another_takes_before_its_turn_is_answered_as_a_replay(database, accept, accept_elsewhere):
    first = []

    def be_too_late(_, statement, __):
        if statement.startswith("BEGIN"):
            first.extend(accept_elsewhere())
        return True

    database._connection.exec_trace = be_too_late
    answer = accept("k", "t")
    assert first == [Accepted(1, 1, replayed=False)]
    assert answer == Accepted(1, 1, replayed=True)
    assert not database.in_transaction


@only_postgresql
@pytest.mark.parametrize("point", ["after-begin", "after-select"])
def test_a_request_whose_key_another_takes_meanwhile_is_answered_as_a_replay(database, accept_elsewhere, engine, point):
    first = []
    hold = DoAt(point, lambda: first.extend(accept_elsewhere()))
    answer = accept_note(database, SentUnderKey("k", "t"), 2, lambda _: NOW, hold)
    assert first == [Accepted(1, 1, replayed=False)]
    assert answer == Accepted(1, 1, replayed=True)
    assert not database.in_transaction
    assert engine.sql("SELECT count(*) FROM notes") == [(1,)]


def remove_all(bench):
    """What retention does to the only note, without its checks."""
    for table in ("note_events", "jobs", "notes"):
        bench.run(f"DELETE FROM {table}")


@only_sqlite
def test_a_note_is_read_with_its_history_though_it_is_removed_meanwhile(database, accept, engine):
    accept("k", "t")
    database.change("insert_history", job_id=1, now=STAMP)
    statements = []

    def remove_before_the_second(_, statement, __):
        statements.append(statement)
        if len(statements) == 2:
            with engine.bench() as bench:
                remove_all(bench)
        return True

    database._connection.exec_trace = remove_before_the_second
    assert len(find_note(database, 1).events) == 1
    assert statements


@only_postgresql
def test_a_note_that_is_removed_while_its_history_is_waited_for_is_not_there(database, accept, engine, wait):
    accept("k", "t")
    database.change("insert_history", job_id=1, now=STAMP)
    found = []
    with engine.bench() as bench:
        bench.run("BEGIN")
        bench.run("LOCK TABLE note_events IN ACCESS EXCLUSIVE MODE")
        reader = threading.Thread(target=lambda: found.append(find_note(database, 1)))
        reader.start()
        waits = "SELECT 1 FROM pg_locks WHERE NOT granted AND relation = 'note_events'::regclass"
        wait(lambda: bench.run(waits)[0], "a reader that waits")
        remove_all(bench)
        bench.run("COMMIT")
        reader.join()
    assert found == [None]


def test_a_job_that_cannot_be_stored_leaves_no_note(database, accept, engine):
    engine.fault("INSERT ON jobs")
    with pytest.raises(DatabaseError):
        accept("k", "t")
    database.roll_back()
    assert find_note(database, 1) is None
    assert engine.sql("SELECT count(*) FROM notes") == [(0,)]


def test_the_id_of_a_note_is_not_taken_for_that_of_its_job(database, accept, engine):
    engine.shift("notes", 6)
    assert accept("k", "t") == Accepted(7, 1, replayed=False)
    assert accept("k", "t") == Accepted(7, 1, replayed=True)
    database.change("insert_history", job_id=1, now=STAMP)
    note = find_note(database, 7)
    assert (note.job_id, [event.job_id for event in note.events]) == (1, [1])
    assert find_job(database, 1).note_id == 7
    assert find_note(database, 1) is None
    assert find_job(database, 7) is None


def test_what_is_not_there_is_none(database):
    assert find_job(database, 2**63 - 1) is None
    assert find_note(database, 1) is None
