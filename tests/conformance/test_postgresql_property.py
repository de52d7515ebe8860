"""What a real PostgreSQL does with random statements, the scan must have called possible.

The table has an enum or text for its states, values among the data that the model lacks, nulls when it is nullable, a
composite key beside the primary one, and a second table to join. A journal that triggers write says which transitions
were made.

The number of statements is bounded; ARROWPROOF_PROPERTY_STATEMENTS asks for more, ARROWPROOF_PROPERTY_SEED for others.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from random import Random
from typing import Any

import psycopg

from arrowproof.conformance.changes import Change, Opaque
from arrowproof.conformance.effects import Effects, Subject, effects_of
from arrowproof.conformance.statements import split_statements
from arrowproof.conformance.tables import read_table
from arrowproof.conformance.writes import changes_of
from arrowproof.model.lifecycle import Dialect, Kind, State
from tests.conformance.random_postgresql import ServerMaker, ServerShape
from tests.conformance.random_statements import GONE, STATES, UNDECLARED
from tests.conformance.test_matrix_property import TABLES_PER_STATEMENT, Tally, Transition

STATEMENTS = int(os.environ.get("ARROWPROOF_PROPERTY_STATEMENTS", "300"))
SEED = int(os.environ.get("ARROWPROOF_PROPERTY_SEED", "20"))

SHAPES = tuple(ServerShape(nullable, is_enum) for is_enum in (True, False) for nullable in (False, True))


class Server:
    """The table of a shape in a schema of its own; each statement runs on fresh rows and is rolled back."""

    _JOURNAL = """
        CREATE TABLE journal (old text, new text);
        CREATE FUNCTION note() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
            IF TG_OP <> 'UPDATE' OR OLD.s IS DISTINCT FROM NEW.s OR OLD.x IS DISTINCT FROM NEW.x THEN
                INSERT INTO journal VALUES (
                    CASE TG_OP WHEN 'INSERT' THEN '(new)' ELSE coalesce(OLD.s::text, 'NULL') END,
                    CASE TG_OP WHEN 'DELETE' THEN '(gone)' ELSE coalesce(NEW.s::text, 'NULL') END);
            END IF;
            RETURN NULL;
        END $$;
        CREATE TRIGGER a AFTER INSERT OR DELETE ON t FOR EACH ROW EXECUTE FUNCTION note();
        CREATE TRIGGER b AFTER UPDATE OF s ON t FOR EACH ROW EXECUTE FUNCTION note();
    """

    def __init__(self, connection: psycopg.Connection[Any], shape: ServerShape, schema: str) -> None:
        self.shape = shape
        self.connection = connection
        self.schema = schema
        connection.execute(f"CREATE SCHEMA {schema}")
        connection.execute(f"SET search_path = {schema}")
        connection.execute(shape.ddl + self._JOURNAL)

    def fill(self, random: Random) -> None:
        def text(value: str | int | None) -> str:
            return "NULL" if value is None else repr(value)

        def state() -> str | None:
            others = ([] if self.shape.is_enum else [UNDECLARED]) + ([None] * 2 if self.shape.nullable else [])
            return random.choice([*STATES, *STATES, *others])

        rows = [
            (i, state(), random.choice([0, 1, 2, 3, None]), random.choice([*STATES, None]), i % 3, i // 3)
            for i in range(1, 13)
        ]
        other = [(i, random.randint(1, 14), state()) for i in range(1, 7)]
        lists = [", ".join(f"({', '.join(map(text, row))})" for row in content) for content in (rows, other)]
        fill = f"INSERT INTO t VALUES {lists[0]}; INSERT INTO u VALUES {lists[1]}; DELETE FROM journal"
        self.connection.execute(f"SET LOCAL search_path = {self.schema}; {fill}", prepare=False)

    def transitions(self, sql: str, random: Random) -> set[Transition]:
        """The transitions that ``sql`` makes of random rows; (new) and (gone) are creation and removal."""
        with self.connection.transaction(force_rollback=True):
            self.fill(random)
            self.connection.execute(sql, prepare=False)
            return set(self.connection.execute("SELECT old, new FROM journal").fetchall())


def subject_of(shape: ServerShape) -> Subject:
    states = tuple(State(state, Kind.NEUTRAL, state, state) for state in STATES)
    if shape.nullable:
        states = (*states, State("none", Kind.NEUTRAL, "none", None))
    table = read_table(split_statements("schema.sql", shape.ddl, Dialect.POSTGRESQL), "t", ("id", "s", "x"))
    return Subject(table, ("id",), "s", frozenset({"x"}), states, frozenset())


def possible(sql: str, subject: Subject) -> list[Effects]:
    """What each part of a statement can do."""
    (statement,) = split_statements("random.sql", sql, Dialect.POSTGRESQL)
    found = []
    for change in changes_of(statement, "t"):
        if isinstance(change, Change):
            found.append(effects_of(change, subject))
        else:
            assert isinstance(change, Opaque)
            found.append(Effects(undecided=change.reason))
    return found


@contextmanager
def servers(url: str) -> Iterator[list[tuple[ServerShape, Server, Subject]]]:
    """One server with a schema for each shape, which are dropped in the end."""
    with psycopg.connect(url, autocommit=True) as connection:
        connection.execute("SET client_min_messages = error; SET synchronous_commit = off")
        made = []
        try:
            for number, shape in enumerate(SHAPES):
                made.append((shape, Server(connection, shape, f"scan_{number}"), subject_of(shape)))
            yield made
        finally:
            for _, server, _ in made:
                connection.execute(f"DROP SCHEMA {server.schema} CASCADE")


def run_property(url: str, statements: int, seed: int, stop_at_first: bool = False) -> Tally:
    tally, random = Tally(), Random(seed)
    with servers(url) as made:
        for number in range(statements):
            shape, server, subject = made[number % len(made)]
            check_statement(ServerMaker(random, shape).statement(), server, subject, random, tally)
            if stop_at_first and tally.lost:
                break
    return tally


def check_statement(sql: str, server: Server, subject: Subject, random: Random, tally: Tally) -> None:
    found = possible(sql, subject)
    names = {("NULL" if state.value is None else state.value): state.id for state in subject.states}
    moves = {move for each in found for move in each.moves}
    claimed = {("(new)" if m.source is None else m.source, GONE if m.target is None else m.target) for m in moves}
    open_sources = {"(new)" if source is None else source for each in found for source in each.dynamic}
    undecided = any(each.undecided is not None for each in found)
    seen: set[Transition] = set()
    for _ in range(TABLES_PER_STATEMENT):
        try:
            seen |= server.transitions(sql, random)
        except psycopg.Error:
            tally.refused += 1
            return
    tally.executed += 1
    tally.made += len(seen)
    tally.undecided += undecided
    tally.claimed += len(claimed)
    for old, new in seen:
        source = old if old == "(new)" else names.get(str(old))
        target = new if new == GONE else names.get(str(new), new)
        tally.claimed_and_made += (source, target) in claimed
        # A row in a state that the model lacks is no source of the model.
        is_lost = source is not None and (source, target) not in claimed and source not in open_sources
        if is_lost and not undecided:
            tally.lost = (*tally.lost, f"{source} -> {target} by: {sql}")


def test_every_transition_that_postgresql_makes_was_called_possible(postgresql: str) -> None:
    tally = run_property(postgresql, STATEMENTS, SEED)
    assert tally.lost == (), f"seed {SEED}: {tally}"
    assert tally.executed > STATEMENTS // 2, "most of the statements must run for the property to say anything"
    assert tally.undecided < tally.executed // 10, "what is undecided is not tested"
    assert tally.claimed_and_made > 0
