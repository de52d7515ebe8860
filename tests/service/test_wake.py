"""How a resident worker is woken, on each database, and what the wake-up must never do."""

from __future__ import annotations

import os
import select
import stat
from contextlib import closing
from pathlib import Path

import psycopg
import pytest

from arrowproof.service.address import Address
from arrowproof.service.clock import database_clock
from arrowproof.service.database import ConnectionLostError, DatabaseError
from arrowproof.service.hold import Hold
from arrowproof.service.notes import SentUnderKey, accept_note
from arrowproof.service.wake import open_waker
from arrowproof.service.wake_fifo import FifoBell, FifoWaker, wake_file
from tests.service.engines import PostgresEngine, only_postgresql, only_sqlite
from tests.service.test_forever import accept, completed, end, outcomes, stay, told, wait_for
from tests.service.worker_lives import DoAt

__all__ = ["accept", "stay"]

FOREVER = ["--poll-interval", "100000"]


def is_readable(waker, seconds=0.0):
    return select.select([waker], [], [], seconds)[0] == [waker]


@pytest.fixture
def ringing(engine, database):
    """A connection to the new database, each of whose commits is rung for."""
    assert database.facts
    with closing(Address(engine.db).open(rings=True)) as made:
        yield made


@pytest.fixture
def waker(engine, database):
    assert database.facts
    with closing(open_waker(Address(engine.db))) as made:
        yield made


def test_a_commit_rings_until_it_is_drained(ringing, waker):
    assert not is_readable(waker)
    for _ in range(2):
        accept_note(ringing, SentUnderKey(f"k{_}", "text"), 3, database_clock, Hold())
        assert is_readable(waker, 10)
        waker.drain()
        assert not is_readable(waker)


def test_many_rings_are_drained_at_once(ringing, waker):
    for number in range(100):
        ringing.begin()
        ringing.commit()
        assert number >= 0
    assert is_readable(waker, 10)
    waker.drain()
    assert not is_readable(waker)


def test_what_is_rolled_back_rings_for_nobody(ringing, waker):
    ringing.begin()
    ringing.roll_back()
    assert not is_readable(waker, 0.1)


@only_postgresql
def test_a_transaction_that_was_aborted_rings_for_nobody_and_is_an_error_all_the_same(ringing, waker):
    ringing.begin()
    with pytest.raises(DatabaseError, match="NotNullViolation"):
        ringing.rows("insert_job", note_id=1, max_attempts=0, now="2026-11-29T15:09:02.118Z")
    with pytest.raises(DatabaseError, match="the transaction was aborted, and is rolled back"):
        ringing.commit()
    assert not ringing.in_transaction
    assert not is_readable(waker, 0.1)


def test_it_rings_at_the_commit_and_not_before(engine, ringing, waker):
    """A worker that was woken earlier would look, find nothing, and wait."""
    seen = []
    look = DoAt("after-job", lambda: seen.append(is_readable(waker)))
    accept_note(ringing, SentUnderKey("k", "text"), 3, database_clock, look)
    assert (seen, is_readable(waker, 10)) == ([False], True)
    assert engine.sql("SELECT count(*) FROM jobs") == [(1,)]


def test_several_wakers_are_all_woken(engine, ringing, waker):
    with closing(open_waker(Address(engine.db))) as other:
        ringing.begin()
        ringing.commit()
        assert is_readable(other, 10)
        assert is_readable(waker, 10)


def test_a_note_wakes_a_worker_whose_poll_is_far_away(notes, stay):
    server = notes.server()
    worker = stay(*FOREVER)
    for number in range(1, 4):
        server.accept(f"k{number}")
        wait_for(worker, lambda number=number: completed(notes) == number, f"note {number}")
    assert end(worker)["outcome"] == "completed"


def test_a_retry_by_hand_wakes_a_worker_too(notes, stay):
    server = notes.server("--max-attempts", "1")
    notes.refuse_history()
    worker = stay(*FOREVER)
    job_id = server.accept()["job_id"]
    wait_for(worker, lambda: outcomes(worker) == ["failed"], "its failure")
    notes.allow_history()
    assert server.client.post(f"/jobs/{job_id}/retry").status_code == 200
    wait_for(worker, lambda: completed(notes) == 1, "its completion")
    end(worker)


@only_postgresql
def test_a_note_that_comes_in_during_a_look_is_not_missed(notes, stay):
    """Held once it has looked and found nothing: what wakes it is there before it waits."""
    server = notes.server()
    worker = stay(*FOREVER, hold="after-select")
    notes.held("after-select")
    server.accept()
    notes.release("after-select")
    wait_for(worker, lambda: completed(notes) == 1, "the note")
    end(worker)


@only_sqlite
def test_a_ring_between_the_drain_and_the_wait_is_not_missed(engine, ringing, waker):
    waker.drain()
    assert engine.sql("SELECT count(*) FROM jobs") == [(0,)]
    ringing.begin()
    ringing.commit()
    assert is_readable(waker, 10)


def test_a_worker_without_a_server_ends_well_and_a_server_without_a_worker_too(notes, accept, stay):
    accept()
    worker = stay(*FOREVER)
    wait_for(worker, lambda: completed(notes) == 1, "the job")
    end(worker)
    server = notes.server()
    assert [server.accept(f"k{number}")["replayed"] for number in range(3)] == [False] * 3


@only_sqlite
def test_the_fifo_is_its_users_alone_and_stays(engine, waker):
    file = Path(f"{engine.db}-wake")
    assert (stat.S_ISFIFO(file.stat().st_mode), stat.S_IMODE(file.stat().st_mode)) == (True, 0o600)
    waker.drain()
    with closing(open_waker(Address(engine.db))):
        pass
    assert file.exists()


@only_sqlite
@pytest.mark.parametrize("kind", ["file", "link", "folder"])
def test_what_is_no_fifo_is_left_alone_and_told(notes, accept, stay, kind):
    accept()
    in_the_way = wake_file(notes.database)
    target = notes.folder / "precious"
    target.write_text("precious")
    if kind == "file":
        in_the_way.write_text("precious")
    elif kind == "link":
        in_the_way.symlink_to(target)
    else:
        in_the_way.mkdir()
    server = notes.server()
    worker = stay()
    server.accept()
    wait_for(worker, lambda: completed(notes) == 2, "both jobs, by polls")
    (warning,) = [line["warning"] for line in told(worker) if "warning" in line]
    assert warning.startswith("a new job is found by the next poll alone: ")
    assert f"{str(in_the_way)!r} is in the way: it is no FIFO; move it elsewhere" in warning
    assert target.read_text() == "precious"
    assert kind == "folder" or in_the_way.read_text() == "precious"
    end(worker)


@only_sqlite
def test_a_fifo_that_is_removed_is_made_anew(notes, stay):
    server = notes.server()
    worker = stay("--poll-interval", "0.2")
    server.accept("a")
    wait_for(worker, lambda: completed(notes) == 1, "the first note")
    file = wake_file(notes.database)
    file.unlink()
    wait_for(worker, file.exists, "a new FIFO")
    assert any("was removed" in (line.get("error") or "") for line in told(worker))
    end(worker)


@only_sqlite
def test_a_bell_for_nobody_makes_nothing_and_costs_nothing(engine, database):
    assert database.facts
    bell = FifoBell(engine.file)
    bell.ring()
    assert not wake_file(engine.file).exists()
    with closing(FifoWaker(engine.file)):
        pass
    bell.ring()


@only_sqlite
def test_a_full_fifo_does_not_keep_the_server_waiting(engine, waker):
    descriptor = os.open(wake_file(engine.file), os.O_WRONLY | os.O_NONBLOCK)
    assert os.write(descriptor, b"!" * 1_000_000) < 1_000_000
    os.close(descriptor)
    FifoBell(engine.file).ring()
    waker.drain()
    assert not is_readable(waker)


@only_sqlite
def test_the_fifo_stands_beside_the_file_that_a_link_leads_to(engine, database, tmp_path):
    assert database.facts
    (tmp_path / "elsewhere").mkdir()
    link = tmp_path / "elsewhere" / "link.sqlite3"
    link.symlink_to(engine.file)
    assert wake_file(link) == wake_file(engine.file)


@only_sqlite
def test_a_folder_that_may_not_be_written_is_told(tmp_path, engine):
    assert engine
    with pytest.raises(DatabaseError, match="no/such-wake' cannot be used: No such file"):
        FifoWaker(tmp_path / "no" / "such")


@only_postgresql
def test_the_notes_of_another_schema_wake_nobody(engine, waker, postgresql):
    other = PostgresEngine(postgresql)
    try:
        with closing(Address(other.db).open(create=True, rings=True)) as database:
            database.begin()
            database.commit()
        assert not is_readable(waker, 0.2)
        assert engine.name == "postgresql"
    finally:
        other.remove()


@only_postgresql
def test_a_lost_connection_is_an_error_when_it_is_drained(engine, waker):
    with psycopg.connect(engine.db, autocommit=True) as killer:
        killer.execute("SELECT pg_terminate_backend(pid, 10000) FROM pg_stat_activity WHERE query LIKE 'LISTEN%'")
    assert is_readable(waker, 10)
    with pytest.raises(ConnectionLostError, match="the connection that listens is lost"):
        waker.drain()
