from __future__ import annotations

from functools import partial

import apsw
import pytest

from arrowproof.service.database import open_database
from arrowproof.service.pool import DatabasePool


@pytest.fixture
def pool(tmp_path):
    open_one = partial(open_database, tmp_path / "finale.sqlite3", busy_seconds=0.05)
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
        first.rows("begin")
        with pytest.raises(apsw.BusyError):
            second.rows("begin")


def test_a_transaction_that_is_left_open_is_rolled_back(pool):
    with pool.lend() as database:
        database.rows("begin")
        database.rows("insert_note", idempotency_key="k", text="t", text_sha256="s", now="2026")
    with pool.lend() as database:
        assert not database.in_transaction
        assert database.row("find_note", note_id=1) is None


def test_a_connection_that_broke_is_not_lent_again(pool):
    with pytest.raises(apsw.ConnectionClosedError), pool.lend() as broken:
        broken.close()
    with pool.lend() as database:
        assert database is not broken
        assert database.rows("user_version") == [(1,)]
