"""A proof's own database on a real server: what is made goes again, and what was there stays."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from itertools import count
from typing import Any

import psycopg
import pytest

from arrowproof.conformance.own_database import PREFIX, database_url, own_database, proof_database, split_password
from arrowproof.conformance.trial_server import TRIAL
from arrowproof.errors import InputError

NUMBERS = count(1)
Ask = Callable[[str], list[tuple[Any, ...]]]


@pytest.fixture
def ask(postgresql: str) -> Ask:
    def run(query: str) -> list[tuple[Any, ...]]:
        with psycopg.connect(postgresql, autocommit=True) as connection:
            cursor = connection.execute(query)
            return cursor.fetchall() if cursor.description else []

    return run


@pytest.fixture
def plain(postgresql: str, ask: Ask) -> Iterator[str]:
    """The URL of an empty database, with a role that may not create others."""
    name = f"plain_{next(NUMBERS)}"
    ask(f"CREATE ROLE {name} LOGIN")
    ask(f"CREATE DATABASE {name} OWNER {name}")
    yield f"{database_url(postgresql, name)}&user={name}".replace("user=postgres&", "")
    ask(f"DROP DATABASE {name} WITH (FORCE)")
    ask(f"DROP ROLE {name}")


def databases(ask: Ask) -> list[str]:
    return [name for (name,) in ask(f"SELECT datname FROM pg_database WHERE datname LIKE '{PREFIX}%'")]


@contextmanager
def at(url: str) -> Iterator[psycopg.Connection[Any]]:
    with psycopg.connect(url, autocommit=True) as connection:
        yield connection


def test_it_is_new_and_empty_looks_after_its_clients_and_is_gone_at_the_end(postgresql: str, ask: Ask) -> None:
    with own_database(postgresql) as url:
        with at(url) as connection:
            assert [connection.info.dbname] == databases(ask)
            assert connection.execute("SHOW client_connection_check_interval").fetchone() == ("100ms",)
            connection.execute("CREATE TABLE jobs (id integer)")
        # A service that was not stopped is no reason to leave it.
        open_still = psycopg.connect(url)
    assert databases(ask) == []
    open_still.close()


def test_two_proofs_at_once_have_a_database_each(postgresql: str, ask: Ask) -> None:
    with own_database(postgresql) as one, own_database(postgresql) as other:
        assert one != other
        assert len(databases(ask)) == 2


def test_an_interrupt_leaves_none_behind(postgresql: str, ask: Ask) -> None:
    with pytest.raises(KeyboardInterrupt), own_database(postgresql):
        raise KeyboardInterrupt
    assert databases(ask) == []


def test_a_role_that_may_not_make_one_works_in_an_empty_one_and_nothing_is_dropped(plain: str) -> None:
    with own_database(plain) as url, at(url) as connection:
        connection.execute("CREATE TABLE jobs (id integer)")
    with at(plain) as connection:
        assert connection.execute("SELECT count(*) FROM jobs").fetchone() == (0,)


@pytest.mark.parametrize(
    ("made", "said"),
    [
        ("CREATE TABLE jobs (id integer)", "relation jobs"),
        ("CREATE SCHEMA app; CREATE VIEW app.seen AS SELECT 1", "relation app.seen, schema app"),
        ("CREATE SCHEMA app", "schema app"),
        ("CREATE TYPE mood AS ENUM ('sad')", "type mood"),
        ("CREATE FUNCTION one() RETURNS int LANGUAGE sql AS 'SELECT 1'", "function one"),
        ("CREATE SEQUENCE numbers", "relation numbers"),
    ],
)
def test_one_that_has_something_in_it_is_refused_and_left_as_it_is(plain: str, made: str, said: str) -> None:
    with at(plain) as connection:
        connection.execute(made)
    with pytest.raises(InputError) as refused, own_database(plain):
        pytest.fail("it was taken")
    assert f"({said}" in str(refused.value)
    assert "CREATEDB" in str(refused.value)


def test_a_text_that_is_no_url_is_refused_without_showing_it() -> None:
    with pytest.raises(InputError) as refused, proof_database("secret@example"):
        pytest.fail("it was taken")
    assert "secret" not in str(refused.value)


def test_a_password_is_told_to_processes_by_their_environment() -> None:
    url, environment = split_password("postgresql://me:s%40cret@db.example:5433/jobs?sslmode=require")
    assert environment == {"PGPASSWORD": "s@cret"}
    assert url == "postgresql://?user=me&dbname=jobs&host=db.example&port=5433&sslmode=require"
    assert split_password(url) == (url, {})


def test_a_server_from_the_wheel_is_started_and_gone_at_the_end() -> None:
    with proof_database(TRIAL) as url:
        assert url is not None
        with at(url) as connection:
            assert connection.execute("SELECT count(*) FROM pg_stat_user_tables").fetchone() == (0,)
    with pytest.raises(psycopg.OperationalError):
        psycopg.connect(url)
