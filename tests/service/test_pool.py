from __future__ import annotations

from contextlib import ExitStack
from functools import partial

import pytest

from arrowproof.service.address import Address, MovedError
from arrowproof.service.database import BusyError, ConnectionLostError, DatabaseError
from arrowproof.service.pool import Bounds, DatabasePool
from arrowproof.service.refusal import RefusedError
from tests.service.engines import only_postgresql, only_sqlite, open_engine

NOTE = {"client": "", "idempotency_key": "k", "text": "t", "text_sha256": "s", "now": "2026-11-29T15:09:02.118Z"}


def insert_note(database):
    database.begin()
    database.rows("insert_note", **NOTE)


@pytest.fixture
def make(engine, database):  # noqa: ARG001 - it must be there
    """Makes pools on the database."""
    with ExitStack() as made:

        def make(most=3, idle_seconds=60.0):
            open_one = partial(open_engine, engine, busy_seconds=0.05)
            pool = DatabasePool(open_one, Address(engine.db).file, Bounds(most, 0.05, idle_seconds))
            made.callback(pool.close)
            return pool

        yield make


@pytest.fixture
def pool(make):
    return make()


def test_a_connection_that_comes_back_is_lent_again(pool):
    with pool.lend() as first:
        pass
    with pool.lend() as second:
        assert second is first


def test_a_second_borrower_gets_a_connection_of_its_own(pool):
    with pool.lend() as first, pool.lend() as second:
        assert second is not first
        insert_note(first)
        with pytest.raises(BusyError):
            insert_note(second)


def test_a_transaction_that_is_left_open_is_rolled_back(pool, engine):
    with pool.lend() as database:
        database.begin()
        database.rows("insert_note", **NOTE)
    with pool.lend() as database:
        assert not database.in_transaction
    assert engine.sql("SELECT count(*) FROM notes") == [(0,)]


@only_sqlite
def test_a_connection_that_broke_is_not_lent_again(pool):
    with pytest.raises(DatabaseError), pool.lend() as broken:
        broken.close()
    with pool.lend() as database:
        assert database is not broken
        assert database.row("find_note", note_id=1) is None


@only_postgresql
def test_a_connection_that_was_lost_is_made_anew(pool, engine):
    with pool.lend() as database:
        database.begin()
        assert database.row("find_note", note_id=1) is None
        engine.end_backends()
        with pytest.raises(ConnectionLostError):
            database.rows("insert_note", **NOTE)
    with pool.lend() as again:
        assert again is database
        again.begin()
        again.rows("insert_note", **NOTE)
        again.commit()
    assert engine.sql("SELECT count(*) FROM notes") == [(1,)]


def test_who_comes_when_all_connections_are_lent_waits_for_one_and_then_finds_the_database_busy(make):
    pool = make(most=2)
    with pool.lend() as first:
        with pool.lend(), pytest.raises(BusyError, match="all 2 connections are in use"), pool.lend():
            pass
        with pool.lend() as second:
            assert second is not first
    for _ in range(3):
        with pytest.raises(ZeroDivisionError), pool.lend():
            raise ZeroDivisionError
    with pool.lend(), pool.lend():
        pass


def test_a_connection_that_nobody_needs_is_closed(make):
    pool = make(idle_seconds=0.0)
    with pool.lend() as first, pool.lend() as second:
        pass
    with pool.lend() as third:
        assert third is not first
        assert third is not second


def replace(engine, key=""):
    """Put another notes database in the place of the one there is, and rename that."""
    other = engine.file.with_name("other.sqlite3")
    made = Address(str(other)).open(create=True)
    if key:
        made.rows("insert_note", **{**NOTE, "idempotency_key": key})
    made.close()
    engine.file.rename(engine.file.with_name("moved.sqlite3"))
    other.rename(engine.file)


@only_sqlite
def test_a_connection_to_a_file_that_was_renamed_is_not_lent_again(pool, engine):
    with pool.lend() as first:
        pass
    moved = engine.file.rename(engine.file.with_name("moved.sqlite3"))
    for _ in range(5):
        with pytest.raises(RefusedError, match="does not exist"), pool.lend():
            pass
    moved.rename(engine.file)
    with pool.lend() as again:
        assert again is not first
        insert_note(again)
        again.commit()
    assert engine.sql("SELECT count(*) FROM notes") == [(1,)]


@only_sqlite
def test_the_file_that_is_there_now_is_opened_when_it_is_a_notes_database(pool, engine):
    with pool.lend() as first, pool.lend():
        assert first.rows("find_accepted_note", client="", idempotency_key="new") == []
    replace(engine, "new")
    with pool.lend() as database:
        assert database.rows("insert_note", **{**NOTE, "idempotency_key": "new"}) == []
    engine.file.unlink()
    engine.file.write_text("something else")
    with pytest.raises(RefusedError, match="is not a SQLite database"), pool.lend():
        pass


@only_sqlite
def test_what_was_done_in_a_file_that_was_replaced_meanwhile_has_failed(pool, engine):
    def accept_while_it_is_replaced():
        with pool.lend() as database:
            insert_note(database)
            database.commit()
            replace(engine)

    with pytest.raises(MovedError):
        accept_while_it_is_replaced()
    with pool.lend() as database:
        assert database.rows("find_accepted_note", client="", idempotency_key="k") == []
