"""Statements that go to PostgreSQL together: what they save, and that their errors mean what they meant alone."""

from __future__ import annotations

import signal
import threading
from contextlib import closing

import pytest

from arrowproof.service.address import Address
from arrowproof.service.attempt import Attempt, Attempts
from arrowproof.service.backoff import Backoff
from arrowproof.service.clock import database_clock
from arrowproof.service.database import ConnectionLostError, DatabaseError, UnchangedError
from arrowproof.service.hold import Hold
from arrowproof.service.notes import SentUnderKey, accept_note, find_job
from arrowproof.service.postgresql_exchange import Exchange
from tests.service.engines import in_state, only_postgresql
from tests.service.waiting import wait_until

pytestmark = only_postgresql
NOW = "2026-11-29T15:09:02.118Z"
NOTE = {"client": "", "idempotency_key": "k", "text": "t", "text_sha256": "s", "now": NOW}
BACKOFF = Backoff(10.0, 10.0)


@pytest.fixture
def accept(database):
    return lambda key="k": accept_note(database, SentUnderKey(key, "t"), 3, database_clock, Hold()).job_id


@pytest.fixture
def trips(monkeypatch):
    """The round trips, each as the names of its statements."""
    made = []
    ask = Exchange.ask

    def noted(exchange, questions):
        made.append([question.query for question in questions])
        ask(exchange, questions)

    monkeypatch.setattr(Exchange, "ask", noted)
    return made


def test_an_attempt_takes_two_round_trips_and_one_for_the_record_of_its_begin(database, begun, accept, trips):
    attempts = Attempts(database, begun, database_clock, Hold(), BACKOFF)
    accept("a")
    attempts.make()
    job_id = accept("b")
    trips.clear()
    assert attempts.make() == (Attempt(job_id, "completed"),)
    assert trips == [
        ["begin", "claim_due_jobs"],
        ["reuse_begun"],
        ["count_attempt", "savepoint", "insert_history", "release_savepoint", "complete_job", "commit"],
    ]


def test_a_look_for_which_nothing_is_due_takes_two_round_trips(database, begun, trips):
    assert Attempts(database, begun, database_clock, Hold(), BACKOFF).make() == ()
    assert trips == [["begin", "claim_due_jobs"], ["rollback"]]


@pytest.fixture
def done(monkeypatch):
    """The statements, in their order, that the server came to: all but those behind one that failed."""
    names = []
    ask = Exchange.ask

    def noted(exchange, questions):
        try:
            ask(exchange, questions)
        finally:
            answered = [question for question in questions if question.answer is not None]
            names.extend(question.query for question in questions[: len(answered) + 1])

    monkeypatch.setattr(Exchange, "ask", noted)
    return names


@pytest.mark.parametrize("batch", [1, 3])
@pytest.mark.parametrize("action", ["ABORT", "IGNORE", "ROLLBACK"])
@pytest.mark.parametrize(
    ("event", "when"),
    [
        ("INSERT ON note_events", "NEW.job_id = {}"),
        ("UPDATE ON jobs", "NEW.id = {} AND NEW.status = 'completed'"),
        ("UPDATE ON jobs", "NEW.id = {} AND NEW.attempts = 2"),
    ],
    ids=["history", "completed", "second attempt"],
)
def test_what_the_server_does_for_a_process_that_stops_at_every_point_is_what_it_does_for_one_that_does_not(
    engine, database, begun, accept, done, hold, batch, action, event, when
):
    said, came_to = {}, {}
    for hold.stops in (False, True):
        first, second, third = (accept(f"{hold.stops} {name}") for name in "abc")
        engine.fault(event, action, when=when.format(second))
        engine.sql("DELETE FROM begun_attempts")
        done.clear()
        attempts = Attempts(database, begun, database_clock, hold, BACKOFF, batch)
        for _ in range(3):
            attempts.make()
        said[hold.stops] = [query for query in done if not query.endswith("_begun") and query != "allow_silence"]
        came_to[hold.stops] = engine.sql(
            "SELECT status, attempts FROM jobs WHERE id = ANY(%s) ORDER BY id", ([first, second, third],)
        )
        engine.mend()
        engine.sql("UPDATE jobs SET next_run_at = 'infinity' WHERE status = 'retry_wait'")
    assert said[False] == said[True]
    assert said[True].count("commit") >= 3 // batch
    assert came_to[False] == came_to[True]
    assert came_to[True][0] == came_to[True][2] == ("completed", 1)


@pytest.mark.parametrize("action", ["ABORT", "IGNORE"])
def test_nothing_behind_a_statement_that_had_to_change_a_row_and_did_not_is_done(engine, database, accept, action):
    job_id = accept()
    engine.fault("INSERT ON note_events", action)
    database.begin()
    database.change_one("count_attempt", job_id=job_id)
    database.change_one("insert_history", job_id=job_id, now=NOW)
    database.change_one("complete_job", job_id=job_id, now=NOW)
    said = {"ABORT": "RaiseException: no history today", "IGNORE": f"insert_history changed no row of job {job_id}"}
    with pytest.raises(DatabaseError, match=said[action]):
        database.commit()
    assert not database.in_transaction
    assert engine.sql("SELECT status, attempts FROM jobs") == [("pending", 0)]


def test_an_error_behind_a_savepoint_leaves_the_transaction_to_be_rolled_back_to_it(engine, database, accept):
    job_id = accept()
    engine.fault("INSERT ON note_events", "IGNORE")
    database.begin()
    database.change_one("count_attempt", job_id=job_id)
    database.later("savepoint")
    database.change_one("insert_history", job_id=job_id, now=NOW)
    database.later("release_savepoint")
    with pytest.raises(UnchangedError, match="insert_history changed no row"):
        database.commit()
    assert database.in_transaction
    assert database.has_savepoint
    database.later("rollback_to_savepoint")
    database.later("release_savepoint")
    database.commit()
    assert not database.has_savepoint
    assert engine.sql("SELECT status, attempts FROM jobs") == [("pending", 1)]


def test_a_trigger_that_takes_a_logarithm_of_nothing_is_told_as_what_it_is(engine, database, accept):
    job_id = accept()
    engine.sql("CREATE FUNCTION refuse() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN RETURN ln(0.0); END $$")
    engine.sql("CREATE TRIGGER fault BEFORE UPDATE ON jobs FOR EACH ROW EXECUTE FUNCTION refuse()")
    database.begin()
    database.change_one("count_attempt", job_id=job_id)
    with pytest.raises(DatabaseError, match="InvalidArgumentForLogarithm: cannot take logarithm of zero"):
        database.settle()


@pytest.mark.parametrize("point", ["after-begin", "after-count", "after-savepoint", "after-release"])
def test_at_a_point_where_it_is_held_everything_before_it_is_done(database, begun, accept, trips, tmp_path, point):
    before = {"after-begin": "begin", "after-count": "count_attempt", "after-savepoint": "savepoint"}
    accept()
    (tmp_path / f"{point}.release").touch()
    trips.clear()
    attempts = Attempts(database, begun, database_clock, Hold(point, tmp_path), BACKOFF)
    assert attempts.make()[0].outcome == "completed"
    last = before.get(point, "release_savepoint")
    (at,) = [number for number, trip in enumerate(trips) if last in trip]
    assert trips[at][-1] == last
    assert trips[at + 1] == ["allow_silence"]


def test_what_is_held_within_a_transaction_may_say_nothing_for_ever(engine, database, accept):
    job_id = accept()
    asked = "SHOW idle_in_transaction_session_timeout"
    with closing(Address(f"{engine.db}%20-cidle_in_transaction_session_timeout%3D7s").open()) as held:
        held.begin()
        held.stand_still()
        assert held.connection.execute(asked).fetchall() == [("0",)]
        held.change("count_attempt", job_id=job_id)
        held.commit()
        assert held.connection.execute(asked).fetchall() == [("7s",)]
        # Without a transaction there is nothing to be held.
        held.stand_still()
        assert not held.in_transaction
    assert find_job(database, job_id).attempts == 1


def test_a_statement_that_fails_later_is_told_to_the_next_one_and_takes_its_transaction_with_it(
    engine, database, accept
):
    job_id = accept()
    engine.fault("UPDATE ON jobs")
    database.begin()
    database.rows("insert_note", **{**NOTE, "idempotency_key": "other"})
    database.later("count_attempt", job_id=job_id)
    database.later("savepoint")
    with pytest.raises(DatabaseError, match="RaiseException: no history today"):
        database.change("insert_history", job_id=job_id, now=NOW)
    assert not database.in_transaction
    assert engine.sql("SELECT count(*) FROM notes") == [(1,)]
    assert engine.sql("SELECT count(*) FROM note_events") == [(0,)]


def test_nothing_is_committed_behind_a_statement_that_fails_later(engine, database, accept):
    job_id = accept()
    engine.fault("UPDATE ON jobs")
    database.begin()
    database.rows("insert_note", **{**NOTE, "idempotency_key": "other"})
    database.later("count_attempt", job_id=job_id)
    with pytest.raises(DatabaseError, match="RaiseException: no history today"):
        database.commit()
    assert not database.in_transaction
    assert engine.sql("SELECT count(*) FROM notes") == [(1,)]


def test_a_commit_just_behind_a_rollback_to_the_savepoint_is_one_and_says_so(engine, database):
    database.begin()
    database.rows("insert_note", **NOTE)
    database.later("savepoint")
    with pytest.raises(DatabaseError, match="NotNullViolation"):
        database.rows("insert_job", note_id=-1, max_attempts=3, now=NOW)
    database.later("rollback_to_savepoint")
    database.commit()
    assert engine.sql("SELECT count(*) FROM notes") == [(1,)]


def test_an_attempt_whose_count_is_refused_or_swallowed_leaves_no_history(engine, database, begun, accept):
    job_id = accept()
    for action, said in (("ABORT", "RaiseException: no history today"), ("IGNORE", "changed no row of job|duplicate")):
        engine.fault("UPDATE ON jobs", action)
        attempts = Attempts(database, begun, database_clock, Hold(), BACKOFF)
        with pytest.raises(DatabaseError, match=f"the attempt at job {job_id} is on no record: .*({said})"):
            attempts.make()
        database.roll_back()
        engine.mend()
        assert engine.sql("SELECT count(*) FROM note_events") == [(0,)]
    assert find_job(database, job_id).attempts == 0


def test_a_connection_that_is_lost_before_what_begins_a_transaction_costs_nothing_even_twice(engine, database, accept):
    job_id = accept()
    for _ in range(2):
        assert engine.end_backends() >= 1
        database.begin()
        assert database.row("claim_lost_job", job_id=job_id) == ("pending", 0)
        database.commit()


def test_a_commit_that_meets_a_lost_connection_is_not_said_again(engine, database, accept):
    job_id = accept()
    database.begin()
    assert database.change("count_attempt", job_id=job_id) == 1
    engine.end_backends()
    with pytest.raises(ConnectionLostError, match="terminating connection"):
        database.commit()
    database.roll_back()
    assert find_job(database, job_id).attempts == 0


def test_a_commit_that_the_server_refuses_is_known_not_to_have_come_to_pass_whatever_its_error(
    engine, database, begun, accept
):
    job_id = accept()
    engine.sql(
        "CREATE FUNCTION refuse() RETURNS trigger LANGUAGE plpgsql AS "
        "$$ BEGIN RAISE feature_not_supported USING MESSAGE = 'no end today'; END $$"
    )
    engine.sql(
        "CREATE CONSTRAINT TRIGGER fault AFTER UPDATE OF status ON jobs INITIALLY DEFERRED "
        "FOR EACH ROW EXECUTE FUNCTION refuse()"
    )
    attempts = Attempts(database, begun, database_clock, Hold(), BACKOFF)
    with pytest.raises(DatabaseError, match=f"attempt at job {job_id} is on no record: FeatureNotSupported: no end"):
        attempts.make()
    engine.mend()
    assert attempts.make() == (Attempt(job_id, "completed"),)


def test_an_interrupt_in_the_middle_of_a_wait_leaves_a_connection_that_can_be_used(engine, database, accept):
    job_id = accept()
    waiting = "SELECT count(*) FROM pg_stat_activity WHERE wait_event_type = 'Lock'"

    def interrupt():
        wait_until(lambda: engine.sql(waiting) != [(0,)], "a wait for the lock")
        signal.raise_signal(signal.SIGINT)

    database.begin()
    database.later("savepoint")
    thread = threading.Thread(target=interrupt)
    with engine.busy("jobs"):
        thread.start()
        with pytest.raises(KeyboardInterrupt):
            database.change("count_attempt", job_id=job_id)
        thread.join()
    database.roll_back()
    assert find_job(database, job_id).attempts == 0
    database.begin()
    assert database.change("count_attempt", job_id=job_id) == 1
    database.commit()
    assert find_job(database, job_id).attempts == 1


def test_each_of_the_statements_that_go_together_may_take_its_time(engine, database, accept, monkeypatch):
    job_id = accept()
    engine.sql(
        "CREATE FUNCTION dawdle() RETURNS trigger LANGUAGE plpgsql AS "
        "$$ BEGIN PERFORM pg_sleep(0.5); RETURN NEW; END $$"
    )
    for event in ("UPDATE ON jobs", "INSERT ON note_events"):
        engine.sql(f"CREATE TRIGGER slow BEFORE {event} FOR EACH ROW EXECUTE FUNCTION dawdle()")
    database.begin()
    assert database.row("claim_lost_job", job_id=job_id) == ("pending", 0)
    database.later("count_attempt", job_id=job_id)
    for _ in range(20):
        database.later("savepoint")
    with monkeypatch.context() as patched:
        patched.setattr(database.connection, "patience", 0.7)
        assert database.change("insert_history", job_id=job_id, now=NOW) == 1


def test_a_text_that_the_database_would_cut_off_is_refused(engine, database):
    database.begin()
    assert database.row("find_note", note_id=1) is None
    before = database.connection
    with pytest.raises(DatabaseError, match=r"^DataError: .* cannot contain NUL"):
        database.rows("insert_note", **{**NOTE, "text": "before\x00after"})
    database.roll_back()
    assert database.row("find_note", note_id=1) is None
    assert database.connection is before
    assert engine.sql("SELECT count(*) FROM notes") == [(0,)]


def test_every_kind_of_value_comes_back_as_it_went(engine, database, accept):
    accept("é😀 'quoted' \\ %s :name $1")
    assert engine.sql("SELECT idempotency_key FROM notes") == [("é😀 'quoted' \\ %s :name $1",)]
    engine.sql(f"UPDATE jobs SET {in_state('retry_wait')}, last_error = NULL")
    job = find_job(database, 1)
    assert (job.next_run_at, job.last_error, job.max_attempts) == (NOW, None, 3)
