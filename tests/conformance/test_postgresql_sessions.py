"""Sessions on a real PostgreSQL: kept while that is asked, and as new ones for each who gets one."""

from __future__ import annotations

from collections.abc import Iterator

import psycopg
import pytest

from arrowproof.conformance.own_database import own_database
from arrowproof.conformance.postgresql_rows import READING, open_server
from arrowproof.conformance.postgresql_sessions import sessions_kept


@pytest.fixture
def url(postgresql: str) -> Iterator[str]:
    with own_database(postgresql) as made:
        yield made


def backend(url: str) -> int:
    with open_server(url) as session:
        return session.info.backend_pid


def test_a_session_is_closed_when_nobody_has_it_kept(url: str) -> None:
    with open_server(url) as session:
        pass
    assert session.closed
    with sessions_kept(), open_server(url) as kept:
        pass
    assert kept.closed


def test_one_that_is_kept_is_had_again_and_two_at_once_are_two(url: str) -> None:
    with sessions_kept():
        assert backend(url) == backend(url)
        with open_server(url) as one, open_server(url) as other:
            assert one.info.backend_pid != other.info.backend_pid
        assert backend(url) in (one.info.backend_pid, other.info.backend_pid)


def test_nothing_of_what_it_was_used_for_is_left_in_it(url: str) -> None:
    with sessions_kept():
        with open_server(url) as session:
            session.execute("SET search_path TO elsewhere")
            session.execute("SET TimeZone TO 'Asia/Kathmandu'")
            session.execute("SELECT pg_advisory_lock(1)")
            session.execute("CREATE TEMP TABLE left_behind (id int)")
            for _ in range(9):
                session.execute("SELECT count(*) FROM left_behind")
            first = session.info.backend_pid
        with open_server(url) as session:
            assert session.info.backend_pid == first
            assert session.execute("SHOW search_path").fetchone() == ('"$user", public',)
            assert session.execute("SHOW TimeZone").fetchone() == (READING["TimeZone"],)
            assert session.execute("SELECT count(*) FROM pg_locks WHERE locktype = 'advisory'").fetchone() == (0,)
            assert session.execute("SELECT to_regclass('left_behind')").fetchone() == (None,)


def test_one_that_the_server_has_ended_or_that_was_left_by_an_error_is_not_used_again(url: str) -> None:
    with sessions_kept():
        ended = backend(url)
        with psycopg.connect(url, autocommit=True) as other:
            other.execute("SELECT pg_terminate_backend(%s, 30000)", (ended,))
        anew = backend(url)
        assert anew != ended
        with pytest.raises(KeyError), open_server(url) as session:
            raise KeyError
        assert session.closed
        assert backend(url) != anew


def test_each_who_has_sessions_kept_has_those_of_its_own_block(url: str) -> None:
    with sessions_kept():
        with sessions_kept():
            pass
        with open_server(url) as session:
            assert not session.closed
        assert not session.closed
    assert session.closed


@pytest.mark.parametrize("is_ended", [False, True], ids=["in a transaction", "ended by the server"])
def test_what_was_done_stands_where_its_session_cannot_be_as_a_new_one_again(url: str, is_ended: bool) -> None:
    with sessions_kept():
        with open_server(url) as session:
            if is_ended:
                with psycopg.connect(url, autocommit=True) as other:
                    other.execute("SELECT pg_terminate_backend(%s, 30000)", (session.info.backend_pid,))
            else:
                session.execute("BEGIN")
        assert session.closed
        assert backend(url)
