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

from arrowproof.conformance import effects, predicate, scopes, values
from arrowproof.conformance.changes import Change, Opaque, classify
from arrowproof.conformance.effects import Effects, Subject, effects_of
from arrowproof.conformance.statements import split_statements
from arrowproof.conformance.tables import read_table
from arrowproof.model.lifecycle import Kind, State

STATEMENTS = int(os.environ.get("ARROWPROOF_PROPERTY_STATEMENTS", "300"))
SEED = int(os.environ.get("ARROWPROOF_PROPERTY_SEED", "20"))
TABLES_PER_STATEMENT = 3

Transition = tuple[str | None, str | None]

STATES = ("todo", "doing", "done", "failed")
GONE = "(gone)"
UNDECLARED = "zz"


@dataclass(frozen=True)
class Shape:
    """What the table is like: whether the state may be null, and its collation."""

    nullable: bool
    collation: str = "BINARY"

    @property
    def ddl(self) -> str:
        null = "" if self.nullable else "NOT NULL"
        return (
            f"CREATE TABLE t (id INTEGER PRIMARY KEY, s TEXT {null} DEFAULT 'todo' COLLATE {self.collation},"
            " x INT, y TEXT, p INT, q INT, UNIQUE (p, q));"
            " CREATE TABLE u (k INTEGER PRIMARY KEY, tid INT, s2 TEXT);"
        )


class Maker:
    """Makes statements out of one random source."""

    has_cte = False

    def __init__(self, random: Random, shape: Shape) -> None:
        self.random = random
        self.shape = shape
        self.aliases = 0

    def statement(self) -> str:
        kinds = [self.update] * 6 + [self.update_from] * 3 + [self.delete] * 2
        kinds += [self.insert, self.insert_select, self.upsert, self.upsert, self.replace]
        return str(self.random.choice(kinds)())

    def update(self) -> str:
        alias = self.random.choice(["", "j"])
        name, also = f"t AS {alias}" if alias else "t", self.random.choice(["", "x = 1, ", "x = x + 1, s = 'todo', "])
        resolution = self.random.choice(["", "", "", "", "OR IGNORE ", "OR REPLACE "])
        target = self.target(alias or "t")
        assignments = self.random.choice([f"{also}s = {target}", f"(s, y) = ({target}, 'a')", "x = 7"])
        return f"{self.cte()}UPDATE {resolution}{name} SET {assignments} WHERE {self.predicate(alias or 't')}"

    def update_from(self) -> str:
        source, condition = self.random.choice(
            [
                ("u", "u.tid = t.id"),
                (f"(SELECT id, s FROM t AS w WHERE {self.simple('w')}) AS v", "v.id = t.id"),
                (f"t AS v LEFT JOIN u ON u.tid = v.id AND {self.simple('v')}", "v.id = t.id"),
                ("u JOIN t AS v USING (s2)" if self.random.random() < 0.1 else "u, t AS v", "v.x = t.x"),
            ]
        )
        return f"UPDATE t SET x = 2, s = {self.target('t')} FROM {source} WHERE {condition} AND {self.predicate('t')}"

    def delete(self) -> str:
        return f"{self.cte()}DELETE FROM t WHERE {self.predicate('t')}"

    def cte(self) -> str:
        """Ahead of some statements, a table expression that a sub-select may use."""
        self.has_cte = self.random.random() < 0.3
        return f"WITH due AS ({self.select('id')}) " if self.has_cte else ""

    def insert(self) -> str:
        rows = ", ".join(f"({self.key()}, {self.target('')}, 2)" for _ in range(self.random.randint(1, 3)))
        return f"INSERT OR IGNORE INTO t (id, s, x) VALUES {rows}"

    def insert_select(self) -> str:
        columns, values = self.random.choice(
            [("id, s, x", f"id + 100, {self.target('t')}, x"), ("id, x", "id + 200, x")]
        )
        return f"INSERT INTO t ({columns}) SELECT {values} FROM t WHERE {self.predicate('t')}"

    def upsert(self) -> str:
        rows = ", ".join(f"({self.key()}, {self.literal()}, 2)" for _ in range(self.random.randint(1, 2)))
        target = self.random.choice(["excluded.s", self.target("t")])
        where = self.random.choice(["", f" WHERE {self.predicate('t')}"])
        insert = f"INSERT OR IGNORE INTO t (id, s, x) VALUES {rows}"
        return f"{insert} ON CONFLICT (id) DO UPDATE SET x = 5, s = {target}{where}"

    def replace(self) -> str:
        verb = self.random.choice(["REPLACE", "INSERT OR REPLACE"])
        return f"{verb} INTO t (id, s, p, q) VALUES ({self.key()}, {self.literal()}, 1, {self.random.randint(0, 3)})"

    def key(self) -> int:
        return self.random.randint(1, 16)

    def state(self) -> str:
        return self.random.choice([*STATES, *STATES, UNDECLARED, "TODO"])

    def literal(self) -> str:
        return self.random.choice(["NULL", *[f"'{self.state()}'"] * 12])

    def target(self, alias: str) -> str:
        """What the state is set to; without an alias there is no row to speak of."""
        if not alias:
            return self.literal()
        s, branch = f"{alias}.s", f"WHEN {self.literal()} THEN {self.literal()}"
        return self.random.choice(
            [
                self.literal(),
                self.literal(),
                s,
                f"CASE {s} {branch} WHEN {self.literal()} THEN {self.literal()} ELSE {s} END",
                f"CASE WHEN {self.simple(alias)} THEN {self.literal()} WHEN {alias}.x > 2 THEN {s} END",
                f"coalesce(nullif({s}, {self.literal()}), {self.literal()})",
                f"iif({self.simple(alias)}, {self.literal()}, {s})",
                f"(SELECT w.s FROM t AS w WHERE w.id = {alias}.id)",
                f"coalesce({alias}.y, {s})",
            ]
        )

    def predicate(self, alias: str, depth: int = 2) -> str:
        if depth and self.random.random() < 0.55:
            left, right = self.predicate(alias, depth - 1), self.predicate(alias, depth - 1)
            return self.random.choice(
                [
                    f"({left} AND {right})",
                    f"({left} OR {right})",
                    f"NOT ({left})",
                    f"(({left}) IS {self.truth()})",
                    left,
                ]
            )
        return self.tied(alias) if self.random.random() < 0.35 else self.simple(alias)

    def truth(self) -> str:
        return self.random.choice(["TRUE", "NOT TRUE", "FALSE", "NOT FALSE", "NULL", "NOT NULL"])

    def simple(self, alias: str) -> str:
        s, x, no = f"{alias}.s", f"{alias}.x", self.random.choice(["", "NOT "])
        several = ", ".join(self.literal() for _ in range(self.random.randint(1, 3)))
        return self.random.choice(
            [
                f"{s} = {self.literal()}",
                f"{self.literal()} == {s}",
                f"{s} <> {self.literal()}",
                f"{s} {no}IN ({several})",
                f"{s} {no}IN ({several})",
                f"{s} IS {no}{self.literal()}",
                f"{s} IS {no}DISTINCT FROM {self.literal()}",
                f"{s} {no}BETWEEN {self.literal()} AND {self.literal()}",
                f"{s} {self.random.choice(['<', '>', '<=', '>='])} {self.literal()}",
                f"coalesce({s}, {self.literal()}) = {self.literal()}",
                f"nullif({s}, {self.literal()}) IS {no}NULL",
                f"CASE {s} WHEN {self.literal()} THEN {x} > 1 WHEN {self.literal()} THEN 1 ELSE {s} IS NULL END",
                f"{s} {no}LIKE 'd%'",
                f"({s} = {self.literal()}) = ({x} > 1)",
                f"{s} = {self.literal()} COLLATE NOCASE",
                f"CAST({s} AS TEXT) = {self.literal()}",
                f"{x} > {self.random.randint(0, 4)}",
                f"{x} IS NULL",
                f"{s} = {alias}.y",
                f"{no}({s} = 'todo' OR {x} = 1)",
                f"iif({s} = {self.literal()}, {x}, 0)",
            ]
        )

    def alias(self) -> str:
        self.aliases += 1
        return f"w{self.aliases}"

    def tied(self, alias: str) -> str:
        """A condition by a sub-select, most of them tied to the row through a key."""
        w, no = self.alias(), self.random.choice(["", "", "NOT "])
        column = self.random.choice(["id", "id", "id", "x"])
        choices = [
            f"{alias}.id {no}IN ({self.select('id')})",
            f"{alias}.id = ({self.select('id')})",
            f"({self.select('id')}) = {alias}.id",
            f"{alias}.{column} IN ({self.select(column)})",
            f"({alias}.p, {alias}.q) IN ({self.select('p, q')})",
            f"({alias}.id, {alias}.x) IN ({self.select('id, x')})",
            f"{alias}.id IN (SELECT max({w}.id) FROM t AS {w} WHERE {self.simple(w)})",
            f"{no}EXISTS (SELECT 1 FROM t AS {w} WHERE {w}.{column} = {alias}.{column} AND {self.simple(w)})",
            f"{no}EXISTS (SELECT count(*) FROM t AS {w} WHERE {w}.id = {alias}.id AND {self.simple(w)})",
            f"EXISTS (SELECT 1 FROM t AS {w} WHERE {w}.p = {alias}.p AND {w}.q = {alias}.q AND {self.simple(w)})",
            f"EXISTS (SELECT 1 FROM t AS {w} WHERE {w}.p = {alias}.p AND {self.simple(w)})",
            f"(SELECT {w}.s FROM t AS {w} WHERE {w}.id = {alias}.id) = {self.literal()}",
            f"{alias}.s {no}IN (SELECT u.s2 FROM u)",
            f"rowid IN (SELECT rowid FROM t AS {w} WHERE {self.simple(w)})",
        ]
        if self.has_cte:
            choices += [f"{alias}.id {no}IN (SELECT id FROM due)", f"{alias}.id = (SELECT due.id FROM due LIMIT 1)"] * 3
        return self.random.choice(choices)

    def select(self, columns: str) -> str:
        w, v = self.alias(), self.alias()
        of = ", ".join(f"{w}.{column}" for column in columns.split(", "))
        limit = self.random.choice(["", "", f" ORDER BY {w}.x LIMIT {self.random.randint(1, 4)}"])
        compound = self.random.choice(["UNION", "UNION ALL", "EXCEPT", "INTERSECT"])
        other = ", ".join(f"{v}.{column}" for column in columns.split(", "))
        return self.random.choice(
            [
                f"SELECT {of} FROM t AS {w} WHERE {self.simple(w)}{limit}",
                f"SELECT {columns} FROM t AS {w} WHERE {self.simple(w)} AND {self.simple(w)}",
                f"SELECT {of} FROM t AS {w} JOIN u ON u.tid = {w}.id WHERE {self.simple(w)}{limit}",
                f"SELECT {of} FROM u LEFT JOIN t AS {w} ON u.tid = {w}.id WHERE {self.simple(w)}",
                f"SELECT {of} FROM (SELECT * FROM t AS {v} WHERE {self.simple(v)}) AS {w} WHERE {self.simple(w)}",
                f"SELECT {of} FROM (SELECT {columns}, s, x FROM t AS {v} WHERE {self.simple(v)}) AS {w}",
                f"SELECT {of} FROM t AS {w} WHERE {self.simple(w)} {compound}"
                f" SELECT {other} FROM t AS {v} WHERE {self.simple(v)}",
                f"SELECT DISTINCT {of} FROM t AS {w}, t AS {v} WHERE {v}.x = {w}.x AND {self.simple(v)}",
                f"SELECT {of} FROM t AS {w} WHERE {self.simple(w)} GROUP BY {w}.s HAVING count(*) > 0",
            ]
        )


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


def _hold_without_key(self: predicate.Evaluator, where: exp.Expr, inner: scopes.Scope, ties: predicate._Ties) -> bool:
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
    "what is unknown is null": _patch(predicate, "UNKNOWN", values.NULL),
    "an aggregate can be empty": _patch(predicate, "_always_has_rows", lambda _: False),
    "every column is a key": _patch(predicate.Evaluator, "_may_hold", _hold_without_key),
    "NOCASE is BINARY": _patch(predicate, "equality", lambda _: values.equality(values.Collation.BINARY)),
    "REPLACE removes nothing": _patch(effects._Reader, "_remove_all", lambda _: None),
    "CASE ends at its first branch": lambda patch: patch.setitem(predicate._VALUES, exp.Case, _first_branch),
}


@pytest.mark.parametrize("fault", FAULTS)
def test_the_property_goes_red_for_a_seeded_fault(fault: str, monkeypatch: pytest.MonkeyPatch) -> None:
    FAULTS[fault](monkeypatch)
    assert run_property(3_000, 20, stop_at_first=True).lost != ()
