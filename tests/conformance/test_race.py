"""What two sessions of a real PostgreSQL do to one row, the scan must have called possible: the race column.

One session holds a change of the row and has not committed; the other begins its statement, waits for the row, and goes
on when the first has committed. What a statement saw of the row before it waited is then old.
"""

from __future__ import annotations

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor

import psycopg
import pytest

from arrowproof.conformance.changes import Change
from arrowproof.conformance.effects import Effects, Subject, effects_of
from arrowproof.conformance.statements import split_statements
from arrowproof.conformance.tables import read_table
from arrowproof.conformance.writes import changes_of
from arrowproof.model.lifecycle import Dialect, Kind, State

DDL = "CREATE TABLE raced (id int PRIMARY KEY, s text, x int)"
STATES = ("a", "b", "c")

LOCKS = ("UPDATE", "NO KEY UPDATE", "SHARE", "KEY SHARE", "UPDATE SKIP LOCKED")
SHAPES = {
    "its own WHERE": "UPDATE raced SET s = 'b' WHERE s = 'a'",
    "its own WHERE beside a join": "UPDATE raced SET s = 'b' FROM other WHERE other.id = raced.id AND s = 'a'",
    "IN": "UPDATE raced SET s = 'b' WHERE id IN (SELECT id FROM raced WHERE s = 'a')",
    "a scalar": "UPDATE raced SET s = 'b' WHERE id = (SELECT id FROM raced WHERE s = 'a' LIMIT 1)",
    "an array": "UPDATE raced SET s = 'b' WHERE id = ANY (ARRAY(SELECT id FROM raced WHERE s = 'a'))",
    "EXISTS": "UPDATE raced SET s = 'b' WHERE EXISTS (SELECT 1 FROM raced w WHERE w.id = raced.id AND w.s = 'a')",
    "a table expression": "WITH w AS (SELECT id FROM raced WHERE s = 'a')"
    " UPDATE raced SET s = 'b' FROM w WHERE w.id = raced.id",
    "a table expression that is kept": "WITH w AS MATERIALIZED (SELECT id FROM raced WHERE s = 'a')"
    " UPDATE raced SET s = 'b' FROM w WHERE w.id = raced.id",
    "the table once more": "UPDATE raced SET s = 'b' FROM raced w WHERE w.id = raced.id AND w.s = 'a'",
    "IN and its own WHERE": "UPDATE raced SET s = 'b' WHERE id IN (SELECT id FROM raced WHERE s = 'a') AND s = 'a'",
    "a derived table": "UPDATE raced SET s = 'b' FROM (SELECT id FROM raced WHERE s = 'a') w WHERE w.id = raced.id",
    "a lock on what a table expression gave": "WITH v AS (SELECT id FROM raced WHERE s = 'a'),"
    " w AS (SELECT id FROM v FOR UPDATE) UPDATE raced SET s = 'b' FROM w WHERE w.id = raced.id",
    "a lock on another table": "WITH w AS (SELECT v.id FROM raced v JOIN other o ON o.id = v.id WHERE v.s = 'a'"
    " FOR UPDATE OF o) UPDATE raced SET s = 'b' FROM w WHERE w.id = raced.id",
    "a look without a lock, then a lock by key": "WITH v AS (SELECT id FROM raced WHERE s = 'a'),"
    " w AS (SELECT raced.id FROM raced JOIN v ON v.id = raced.id FOR UPDATE OF raced)"
    " UPDATE raced SET s = 'b' FROM w WHERE w.id = raced.id",
    "a removal": "DELETE FROM raced WHERE id IN (SELECT id FROM raced WHERE s = 'a')",
    "a removal by its own WHERE": "DELETE FROM raced WHERE s = 'a'",
    "an upsert": "INSERT INTO raced VALUES (1, 'n', 0) ON CONFLICT (id) DO UPDATE SET s = 'b' WHERE raced.s = 'a'",
    "MERGE by its branch": "MERGE INTO raced USING (SELECT 1 i) v ON raced.id = v.i"
    " WHEN MATCHED AND raced.s = 'a' THEN UPDATE SET s = 'b'",
    "MERGE by its source": "MERGE INTO raced USING (SELECT id FROM raced WHERE s = 'a') v ON raced.id = v.id"
    " WHEN MATCHED THEN UPDATE SET s = 'b'",
    "a state in CASE": "UPDATE raced SET s = CASE s WHEN 'a' THEN 'b' ELSE s END WHERE s IN ('a', 'c')",
    **{
        f"IN FOR {lock}": f"UPDATE raced SET s = 'b' WHERE id IN (SELECT id FROM raced WHERE s = 'a' FOR {lock})"
        for lock in LOCKS
    },
    **{
        f"a table expression FOR {lock}": f"WITH w AS (SELECT id FROM raced WHERE s = 'a' FOR {lock})"
        " UPDATE raced SET s = 'b' FROM w WHERE w.id = raced.id"
        for lock in LOCKS
    },
}

SAFE = {
    *(name for name in SHAPES if "its own WHERE" in name),
    *("an upsert", "MERGE by its branch", "a state in CASE"),
    *(name for name in SHAPES if " FOR " in name and not name.endswith("KEY SHARE")),
}
"""The shapes in which the row that is written is in the state that was asked for, whatever happened meanwhile."""


@pytest.fixture
def raced(postgresql: str) -> Iterator[str]:
    """A server with one row in the state ``a``."""
    with psycopg.connect(postgresql, autocommit=True) as connection:
        connection.execute(f"{DDL}; CREATE TABLE other (id int PRIMARY KEY)")
        connection.execute("INSERT INTO raced VALUES (1, 'a', 0); INSERT INTO other VALUES (1)")
        yield postgresql
        connection.execute("DROP TABLE raced, other")


def effects(sql: str) -> Effects:
    (statement,) = split_statements("f.sql", sql, Dialect.POSTGRESQL)
    (change,) = changes_of(statement, "raced")
    assert isinstance(change, Change)
    states = tuple(State(each, Kind.NEUTRAL, each, each) for each in STATES)
    table = read_table(split_statements("schema.sql", DDL, Dialect.POSTGRESQL), "raced", ("id", "s"))
    return effects_of(change, Subject(table, ("id",), "s", frozenset(), states, frozenset()))


def second_comes_late(url: str, sql: str) -> set[tuple[str, str | None]]:
    """Move the row from a to c in a transaction that ends only when ``sql`` waits for it, or is done without waiting.

    The transition that ``sql`` made of the row in the state c, if it made one.
    """
    with psycopg.connect(url) as first, psycopg.connect(url, autocommit=True) as second, ThreadPoolExecutor(1) as pool:
        first.execute("UPDATE raced SET s = 'c' WHERE id = 1")
        running = pool.submit(second.execute, sql)
        with psycopg.connect(url, autocommit=True) as watcher:
            waits = "SELECT cardinality(pg_blocking_pids(%s))"
            while not running.done() and watcher.execute(waits, (second.info.backend_pid,)).fetchone() == (0,):
                pass
            first.commit()
            changed = running.result(timeout=30).rowcount
            row = watcher.execute("SELECT s FROM raced WHERE id = 1").fetchone()
    return {("c", row[0] if row is not None else None)} if changed and row != ("c",) else set()


@pytest.mark.parametrize("shape", SHAPES)
def test_what_a_second_session_makes_of_a_row_is_possible_in_a_race(shape: str, raced: str) -> None:
    sql = SHAPES[shape]
    found = effects(sql)
    made = second_comes_late(raced, sql)
    assert found.undecided is None
    assert made <= {(move.source, move.target) for move in (*found.moves, *found.race)}
    assert bool(made) == (shape not in SAFE)
    # What is safe is said to be so, and what is not is said to happen from c.
    snapshot, race = ({move.source for move in moves} - {None} for moves in (found.moves, found.race))
    if shape in SAFE:
        assert (snapshot, race) == ({"a"}, set())
    else:
        assert "c" in snapshot | race


def test_a_race_is_told_apart_from_what_a_statement_does_alone() -> None:
    found = effects(SHAPES["IN"])
    assert {(move.source, move.target) for move in found.moves} == {("a", "b")}
    assert {(move.source, move.target) for move in found.race} == {("c", "b")}
