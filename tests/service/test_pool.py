from __future__ import annotations

from functools import partial

import pytest

from arrowproof.service.database import BusyError, ConnectionLostError, DatabaseError
from arrowproof.service.pool import DatabasePool
from tests.service.engines import only_postgresql, only_sqlite, open_engine

NOTE = {"client": "", "idempotency_key": "k", "text": "t", "text_sha256": "s", "now": "2026-11-29T15:09:02.118Z"}


def insert_note(database):
    database.begin()
    database.rows("insert_note", **NOTE)


@pytest.fixture
def pool(engine):
    open_one = partial(open_engine, engine, busy_seconds=0.05)
    made = DatabasePool(open_one(create=True), open_one)
    yield made
    made.close()


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
        engine.end_backends()
        with pytest.raises(ConnectionLostError):
            database.rows("insert_note", **NOTE)
    with pool.lend() as again:
        assert again is database
        again.begin()
        again.rows("insert_note", **NOTE)
        again.commit()
    assert engine.sql("SELECT count(*) FROM notes") == [(1,)]
