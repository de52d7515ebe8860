from __future__ import annotations

from datetime import UTC, datetime

import pytest

from arrowproof.service.database import DatabaseError
from arrowproof.service.hold import SERVER_POINTS
from arrowproof.service.notes import Accepted, KeyTakenError, SentUnderKey, accept_note, find_job, find_note

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


def test_a_request_whose_key_another_has_taken_meanwhile_is_answered_as_a_replay(database, accept, hold, monkeypatch):
    first = accept("k", "t")
    hold.passed.clear()
    row = database.row
    looks = iter([None])

    def too_early(query, **parameters):
        """The first look comes before the other request has committed."""
        return next(looks, row(query, **parameters))

    monkeypatch.setattr(database, "row", too_early)
    assert accept("k", "t") == Accepted(first.note_id, first.job_id, replayed=True)
    assert hold.passed == ["after-begin", "after-select", "after-commit"]
    assert not database.in_transaction


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
