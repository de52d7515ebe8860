"""What a real SQLite does with random statements, the scan must have called possible.

The table has text states, values among the data that the model lacks, nulls when it is nullable, a composite key
beside the primary one, and a second table to join. A journal that triggers write says which transitions were made, and
so does the difference between the rows before and after.

The number of statements is bounded; ARROWPROOF_PROPERTY_STATEMENTS asks for more, ARROWPROOF_PROPERTY_SEED for others.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from random import Random

import apsw
import pytest
from sqlglot import exp

from arrowproof.conformance import effects, picks, predicate, scopes, values
from arrowproof.conformance.changes import Change, Opaque, classify
from arrowproof.conformance.effects import Effects, Subject, effects_of
from arrowproof.conformance.statements import split_statements
from arrowproof.conformance.tables import read_table
from arrowproof.conformance.ties import Ties
from arrowproof.model.lifecycle import Kind, State
from tests.conformance.random_statements import GONE, STATES, UNDECLARED, Maker, Shape

STATEMENTS = int(os.environ.get("ARROWPROOF_PROPERTY_STATEMENTS", "300"))


SEED = int(os.environ.get("ARROWPROOF_PROPERTY_SEED", "20"))


TABLES_PER_STATEMENT = 3


Transition = tuple[str | None, str | None]


class Database:
    """A real SQLite with the table of a shape; each statement runs on fresh rows and is rolled back."""

    _JOURNAL = """
        CREATE TABLE journal (old TEXT, new TEXT);
        CREATE TRIGGER t_i AFTER INSERT ON t BEGIN INSERT INTO journal VALUES ('(new)', coalesce(NEW.s, 'NULL')); END;
        CREATE TRIGGER t_d AFTER DELETE ON t BEGIN INSERT INTO journal VALUES (coalesce(OLD.s, 'NULL'), '(gone)'); END;
        CREATE TRIGGER t_u AFTER UPDATE ON t WHEN OLD.s IS NOT NEW.s COLLATE BINARY
            BEGIN INSERT INTO journal VALUES (coalesce(OLD.s, 'NULL'), coalesce(NEW.s, 'NULL')); END;
        CREATE TRIGGER t_n AFTER UPDATE OF s ON t WHEN OLD.s IS NEW.s COLLATE BINARY AND OLD.x IS NOT NEW.x
            BEGIN INSERT INTO journal VALUES (coalesce(OLD.s, 'NULL'), coalesce(NEW.s, 'NULL')); END;
    """

    def __init__(self, shape: Shape) -> None:
        self.shape = shape
        self.plain = apsw.Connection(":memory:")
        self.plain.execute(shape.ddl)
        self.journalled = apsw.Connection(":memory:")
        self.journalled.execute(shape.ddl + self._JOURNAL + "PRAGMA recursive_triggers = ON")

    def rows(self, random: Random) -> tuple[list[tuple[object, ...]], list[tuple[object, ...]]]:
        def state() -> str | None:
            return random.choice([*STATES, *STATES, UNDECLARED, *([None] * 2 if self.shape.nullable else [])])

        t = [
            (i, state(), random.choice([0, 1, 2, 3, None]), random.choice([*STATES, None]), i % 3, i // 3)
            for i in range(1, 13)
        ]
        return t, [(i, random.randint(1, 14), state()) for i in range(1, 7)]

    def transitions(self, sql: str, random: Random) -> set[Transition]:
        """The transitions that ``sql`` makes of random rows; (new) and (gone) are creation and removal."""
        rows = self.rows(random)
        made = self._run(self.journalled, sql, rows, "SELECT old, new FROM journal")
        before = {row[0]: row[1] for row in rows[0]}
        after = dict(self._run(self.plain, sql, rows, "SELECT id, s FROM t"))
        if not sql.startswith(("INSERT", "REPLACE")):  # these may make two transitions of one row
            for key in before.keys() | after.keys():
                old = ("NULL" if before[key] is None else before[key]) if key in before else "(new)"
                new = ("NULL" if after[key] is None else after[key]) if key in after else "(gone)"
                made += [(old, new)] if old != new else []
        return set(made)

    def _run(
        self, connection: apsw.Connection, sql: str, rows: Sequence[list[tuple[object, ...]]], question: str
    ) -> list[tuple[str, str]]:
        connection.execute("BEGIN")
        try:
            connection.executemany("INSERT INTO t VALUES (?, ?, ?, ?, ?, ?)", rows[0])
            connection.executemany("INSERT INTO u VALUES (?, ?, ?)", rows[1])
            if connection is self.journalled:
                connection.execute("DELETE FROM journal")
            connection.execute(sql).fetchall()
            return [(str(a) if isinstance(a, str) else a, b) for a, b in connection.execute(question)]
        finally:
            if connection.in_transaction:
                connection.execute("ROLLBACK")


SHAPES = (
    Shape(nullable=False),
    Shape(nullable=True),
    Shape(nullable=True, collation="NOCASE"),
)


@dataclass
class Tally:
    """What a run of the property came to; ``lost`` are the transitions that were made and not called possible."""

    executed: int = 0
    refused: int = 0
    undecided: int = 0
    made: int = 0
    claimed: int = 0
    claimed_and_made: int = 0
    lost: tuple[str, ...] = ()


def subject_of(shape: Shape) -> Subject:
    states = tuple(State(state, Kind.NEUTRAL, state, state) for state in STATES)
    if shape.nullable:
        states = (*states, State("none", Kind.NEUTRAL, "none", None))
    table = read_table(split_statements("schema.sql", shape.ddl), "t", ("id", "s", "x"))
    return Subject(table, ("id",), "s", frozenset({"x"}), states, frozenset())


def possible(sql: str, subject: Subject) -> Effects:
    (statement,) = split_statements("random.sql", sql)
    change = classify(statement, "t")
    if isinstance(change, Opaque):
        return Effects(undecided=change.reason)
    assert isinstance(change, Change)
    return effects_of(change, subject)


def run_property(statements: int, seed: int, stop_at_first: bool = False) -> Tally:
    tally = Tally()
    random = Random(seed)
    subjects = [(shape, Database(shape), subject_of(shape)) for shape in SHAPES]
    for number in range(statements):
        shape, database, subject = subjects[number % len(subjects)]
        check_statement(Maker(random, shape).statement(), database, subject, random, tally)
        if stop_at_first and tally.lost:
            break
    return tally


def check_statement(sql: str, database: Database, subject: Subject, random: Random, tally: Tally) -> None:
    found = possible(sql, subject)
    names = {("NULL" if state.value is None else state.value): state.id for state in subject.states}
    claimed = {("(new)" if m.source is None else m.source, GONE if m.target is None else m.target) for m in found.moves}
    open_sources = {"(new)" if source is None else source for source in found.dynamic}
    seen: set[Transition] = set()
    for _ in range(TABLES_PER_STATEMENT):
        try:
            seen |= database.transitions(sql, random)
        except apsw.Error:
            tally.refused += 1
            return
    tally.executed += 1
    tally.made += len(seen)
    tally.undecided += found.undecided is not None
    tally.claimed += len(claimed)
    for old, new in seen:
        source = old if old == "(new)" else names.get(old)
        target = new if new == GONE else names.get(new, new)
        tally.claimed_and_made += (source, target) in claimed
        # A row in a state that the model lacks is no source of the model.
        is_lost = source is not None and (source, target) not in claimed and source not in open_sources
        if is_lost and found.undecided is None:
            tally.lost = (*tally.lost, f"{source} -> {target} by: {sql}")


def test_every_transition_that_sqlite_makes_was_called_possible() -> None:
    tally = run_property(STATEMENTS, SEED)
    assert tally.lost == (), f"seed {SEED}: {tally}"
    assert tally.executed > STATEMENTS // 2, "most of the statements must run for the property to say anything"
    assert tally.undecided < tally.executed // 10, "what is undecided is not tested"
    assert tally.claimed_and_made > 0


def _patch(place: object, name: str, wrong: object) -> Callable[[pytest.MonkeyPatch], None]:
    return lambda monkeypatch: monkeypatch.setattr(place, name, wrong)


def _negate_unknown_to_false(truth: values.Truth) -> values.Truth:
    return values.FALSE if truth == values.UNKNOWN else values.negate(truth)


def _compare_null_to_false(left: values.Values, right: values.Values, comparison: values.Comparison) -> values.Truth:
    return values.FALSE if values.NOTHING in (left, right) else values.compare(left, right, comparison)


def _hold_without_key(self: picks.Picks, where: exp.Expr, inner: scopes.Scope, ties: Ties) -> bool:
    return where is None or True in self.truth(where.this, inner.with_rows(list(ties.rows)))


def _first_branch(self: predicate.Evaluator, expression: exp.Expr, scope: scopes.Scope) -> values.Values:
    return self.value(expression.args["ifs"][0].args["true"], scope)


def _first_value(self: predicate.Evaluator, expression: exp.Expr, scope: scopes.Scope) -> values.Values:
    return self.value(expression.this, scope)


FAULTS: dict[str, Callable[[pytest.MonkeyPatch], None]] = {
    "NOT of unknown is false": _patch(predicate, "negate", _negate_unknown_to_false),
    "a comparison with null is false": _patch(predicate, "compare", _compare_null_to_false),
    "OR forgets its left side": _patch(predicate, "disjoin", lambda truths: tuple(truths)[-1]),
    "IS takes null for a comparison": _patch(predicate, "same", values.compare),
    "COALESCE ends at its first value": lambda patch: patch.setitem(predicate._VALUES, exp.Coalesce, _first_value),
    "what is unknown is null": _patch(picks, "UNKNOWN", values.NULL),
    "an aggregate can be empty": _patch(picks, "_always_has_rows", lambda _: False),
    "every column is a key": _patch(picks.Picks, "_may_hold", _hold_without_key),
    "NOCASE is BINARY": _patch(predicate, "equality", lambda _: values.equality(values.Collation.BINARY)),
    "REPLACE removes nothing": _patch(effects._Reader, "_remove_all", lambda _: None),
    "CASE ends at its first branch": lambda patch: patch.setitem(predicate._VALUES, exp.Case, _first_branch),
}


@pytest.mark.parametrize("fault", FAULTS)
def test_the_property_goes_red_for_a_seeded_fault(fault: str, monkeypatch: pytest.MonkeyPatch) -> None:
    FAULTS[fault](monkeypatch)
    assert run_property(3_000, 20, stop_at_first=True).lost != ()
