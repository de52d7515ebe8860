"""A guard refuses a statement if, and only if, the rows before and after show a transition that the model lacks.

Random lifecycles, tables and statements on a real SQLite and a real PostgreSQL, twice each: on a table without a guard,
whose rows are the oracle, and on one with it, which must end with the same rows, or with those it had.

ARROWPROOF_PROPERTY_STATEMENTS asks for more statements, ARROWPROOF_PROPERTY_SEED for others.
"""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Sequence
from random import Random

import apsw
import psycopg
import pytest

from arrowproof.conformance.guard import read_allowed
from arrowproof.conformance.postgresql_guard import PostgreSQLGuard
from arrowproof.conformance.rows import quote, table_columns
from arrowproof.conformance.sqlite_guard import SQLiteGuard
from arrowproof.conformance.table_shape import TableShape
from arrowproof.conformance.unique_indexes import read_unique_indexes
from arrowproof.model.lifecycle import StateValue
from tests.conformance.random_guards import (
    TEXTS,
    Maker,
    Trial,
    changes,
    make_lifecycle,
    make_shape,
    model_pairs,
)

STATEMENTS = int(os.environ.get("ARROWPROOF_PROPERTY_STATEMENTS", "1000"))
SEED = int(os.environ.get("ARROWPROOF_PROPERTY_SEED", "20"))
STATEMENTS_PER_MODEL = 50
PAIRS_BEFORE = 6
"""Statements without a guard, so that there are rows when it is installed."""


class SQLiteTwins:
    """Two SQLite databases with the same table, one of them with a guard."""

    def __init__(self, random: Random) -> None:
        kinds: list[tuple[str, list[StateValue]]] = [
            ("TEXT", [*random.sample(TEXTS, 3)]),
            ("TEXT", [*random.sample(TEXTS, 3), None]),
            ("INTEGER", [1, -20, 3, None]),
            ("", ["1", 1, "a", None, "A"]),
            ("TEXT COLLATE NOCASE", ["open", "OPEN", "Open"]),
        ]
        kind, self.values = random.choice(kinds)
        self.random, self.shape = random, make_shape(random, state_type=kind)
        self.lifecycle = make_lifecycle(random, self.shape, self.values)
        self.is_recursive = random.random() < 0.3
        self.plain, self.guarded = apsw.Connection(":memory:"), apsw.Connection(":memory:")
        for connection in (self.plain, self.guarded):
            connection.execute(self.shape.ddl(is_sqlite=True))
            connection.execute(f"PRAGMA recursive_triggers = {self.is_recursive}")
        self.maker = Maker(random, self.shape, self.values, is_sqlite=True)

    def guard(self) -> None:
        table = self.shape.table
        columns, indexes = table_columns(self.guarded, table), read_unique_indexes(self.guarded, table)
        for statement in SQLiteGuard(read_allowed(self.lifecycle), TableShape(columns, indexes)).installation():
            self.guarded.execute(statement)

    def rows(self, connection: apsw.Connection) -> list[tuple[object, ...]]:
        return sorted(connection.execute(self.shape.select()).fetchall(), key=repr)

    def runs(self, connection: apsw.Connection, sql: str) -> str | None:
        """Run a statement; why it was refused, or None."""
        try:
            connection.execute(sql)
        except apsw.ConstraintError as error:
            return str(error)
        return None

    def goes_back(self, rows: Sequence[tuple[object, ...]]) -> None:
        """Give the table without a guard back the rows that it had."""
        marks = ", ".join("?" * len(self.shape.columns))
        self.plain.execute(f"DELETE FROM {quote(self.shape.table)}")
        self.plain.executemany(f"INSERT INTO {quote(self.shape.table)} VALUES ({marks})", rows)


class PostgreSQLTwins:
    """Two schemas of one database with the same table, one of them with a guard."""

    def __init__(self, random: Random, connection: psycopg.Connection[tuple[object, ...]]) -> None:
        kinds: list[tuple[str, list[StateValue]]] = [
            ("TEXT", [*random.sample(TEXTS, 3), None]),
            ("INTEGER", [1, -20, 3, None]),
            ("mood", ["open", "it's", "OPEN"]),
        ]
        kind, self.values = random.choice(kinds)
        self.random, self.connection = random, connection
        self.shape = make_shape(random, state_type=kind)
        self.lifecycle = make_lifecycle(random, self.shape, self.values)
        self.plain, self.guarded = "plain", "guarded"
        for schema in (self.plain, self.guarded):
            connection.execute(f"DROP SCHEMA IF EXISTS {schema} CASCADE")
            connection.execute(f"CREATE SCHEMA {schema}")
            connection.execute(f"SET search_path TO {schema}")
            connection.execute("CREATE TYPE mood AS ENUM ('open', 'it''s', 'OPEN')")
            connection.execute(self.shape.ddl(is_sqlite=False))
        self.maker = Maker(random, self.shape, self.values, is_sqlite=False)
        self.is_recursive = False

    def guard(self) -> None:
        self.connection.execute(f"SET search_path TO {self.guarded}")
        with self.connection.transaction():
            for statement in PostgreSQLGuard(read_allowed(self.lifecycle)).installation():
                self.connection.execute(statement)

    def rows(self, schema: str) -> list[tuple[object, ...]]:
        self.connection.execute(f"SET search_path TO {schema}")
        return sorted(self.connection.execute(self.shape.select()).fetchall(), key=repr)

    def runs(self, schema: str, sql: str) -> str | None:
        self.connection.execute(f"SET search_path TO {schema}")
        try:
            with self.connection.transaction():
                self.connection.execute(sql)
        except psycopg.IntegrityError as error:
            return str(error)
        return None

    def goes_back(self, rows: Sequence[tuple[object, ...]]) -> None:
        self.connection.execute(f"SET search_path TO {self.plain}")
        self.connection.execute(f"TRUNCATE {quote(self.shape.table)}")
        marks = ", ".join(["%s"] * len(self.shape.columns))
        table = quote(self.shape.table).replace("%", "%%")
        for row in rows:
            self.connection.execute(f"INSERT INTO {table} VALUES ({marks})", row)


Twins = SQLiteTwins | PostgreSQLTwins


def fill(twins: Twins) -> None:
    """Rows in both tables, every one in a state of the model."""
    for _ in range(PAIRS_BEFORE):
        key = ", ".join(twins.maker.key())
        value = twins.maker.literal(twins.random.choice(twins.values))
        sql = f"INSERT INTO {quote(twins.shape.table)} VALUES ({key}, {value}, 0, {twins.maker.number()})"
        assert twins.runs(twins.plain, sql) == twins.runs(twins.guarded, sql)  # type: ignore[arg-type]


def judge(twins: Twins, trial: Trial, found: Counter[str]) -> None:
    """Run a statement on both tables and compare them."""
    before = twins.rows(twins.plain)  # type: ignore[arg-type]
    problem = twins.runs(twins.plain, trial.sql)  # type: ignore[arg-type]
    after = twins.rows(twins.plain)  # type: ignore[arg-type]
    refused = twins.runs(twins.guarded, trial.sql)  # type: ignore[arg-type]
    left = twins.rows(twins.guarded)  # type: ignore[arg-type]
    images = twins.shape.images(before), twins.shape.images(after)
    pairs = set(changes(trial, *images, removes_first=twins.is_recursive))
    illegal = pairs - model_pairs(twins.lifecycle)
    said = f"seed {SEED}: {trial.sql} made {pairs}, of which {illegal} are not in the model; the guard said {refused}"
    if problem is not None:
        found["impossible"] += 1
        assert refused is not None, said
    elif illegal:
        found["refused"] += 1
        assert refused is not None, said
        assert "is not in the lifecycle it's random" in refused, said
        assert left == before, said
        twins.goes_back(before)
    else:
        found["let through" if pairs else "no transition"] += 1
        assert refused is None, said
        assert left == after, said


def run(make: object, random: Random, statements: int) -> Counter[str]:
    found: Counter[str] = Counter()
    for _ in range(statements // STATEMENTS_PER_MODEL):
        twins = make(random)  # type: ignore[operator]
        fill(twins)
        twins.guard()
        for _ in range(STATEMENTS_PER_MODEL):
            judge(twins, twins.maker.trial(), found)
    return found


def report(record_property: pytest.RecordProperty, engine: str, found: Counter[str]) -> None:  # type: ignore[name-defined]
    record_property("found", f"guard, {engine}, seed {SEED}: {', '.join(f'{n} {what}' for what, n in found.items())}")
    assert min(found["refused"], found["let through"]) > sum(found.values()) / 20


def test_sqlite_s_guard_refuses_what_the_model_lacks_and_nothing_else(record_property) -> None:
    report(record_property, "SQLite", run(SQLiteTwins, Random(SEED), STATEMENTS))


def test_postgresql_s_guard_refuses_what_the_model_lacks_and_nothing_else(record_property, postgresql: str) -> None:
    with psycopg.connect(postgresql, autocommit=True, prepare_threshold=None) as connection:
        found = run(lambda random: PostgreSQLTwins(random, connection), Random(SEED), STATEMENTS)
        connection.execute("DROP SCHEMA plain, guarded CASCADE")
    report(record_property, "PostgreSQL", found)
