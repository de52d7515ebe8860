"""What single statements of PostgreSQL can do to a table whose states are an enum."""

from __future__ import annotations

import pytest

from arrowproof.conformance.changes import Change
from arrowproof.conformance.effects import Effects, Subject, effects_of
from arrowproof.conformance.statements import split_statements
from arrowproof.conformance.tables import read_table
from arrowproof.conformance.writes import changes_of
from arrowproof.model.lifecycle import Dialect, Kind, State

STATES = ("a", "b", "c", "d")
ENUM = "CREATE TYPE app.kind AS ENUM ('a', 'b', 'c', 'd');"
DDL = (
    f"{ENUM} CREATE TABLE app.t (id bigint PRIMARY KEY, s app.kind NOT NULL DEFAULT 'a'::app.kind, x int, tags text[])"
)


def all_effects(sql: str, ddl: str = DDL) -> list[Effects]:
    (statement,) = split_statements("f.sql", sql, Dialect.POSTGRESQL)
    states = tuple(State(each, Kind.NEUTRAL, each, each) for each in STATES)
    table = read_table(split_statements("schema.sql", ddl, Dialect.POSTGRESQL), "t", ("id", "s"))
    subject = Subject(table, ("id",), "s", frozenset({"x"}), states, frozenset())
    changes = [each for each in changes_of(statement, "t") if isinstance(each, Change)]
    return [effects_of(change, subject) for change in changes if change.table == "t"]


def effects(sql: str, ddl: str = DDL) -> Effects:
    (found,) = all_effects(sql, ddl)
    return found


def moves(found: Effects) -> str:
    """The moves as text: + creates, - removes; behind a bar, what is possible only in a race."""
    texts = [
        " ".join(f"{move.source or '+'}>{move.target or '-'}" for move in each) for each in (found.moves, found.race)
    ]
    return " | ".join(texts) if texts[1] else texts[0]


@pytest.mark.parametrize(
    ("where", "sources"),
    [
        ("s = 'a'::app.kind", "a"),
        ("s::text = 'a' OR CAST(s AS varchar) IN ('b')", "a b"),
        ("s = ANY (ARRAY['a', 'b']::app.kind[])", "a b"),
        ("s = ANY ('{a, b}')", "a b"),
        ("s = SOME (ARRAY['a'])", "a"),
        ("s <> ALL (ARRAY['a', 'b'])", "c d"),
        ("NOT s = ANY ('{}')", "a b c d"),
        ("s = ANY ($1)", "a b c d"),
        ("s < 'b'", "a"),
        ("s >= 'c'::app.kind", "c d"),
        ("s BETWEEN 'b' AND 'c'", "b c"),
        ("s BETWEEN SYMMETRIC 'c' AND 'b'", "b c"),
        ("s::text < 'b'", "a b c d"),
        ("s IS NOT DISTINCT FROM 'a'", "a"),
        ("(s = 'a') IS NOT UNKNOWN AND (s = 'a') IS NOT FALSE", "a"),
        ("(s, x) = ('a', 1)", "a"),
        ("s NOT IN ('a', 'b') AND s NOTNULL", "c d"),
        ("t.s = 'a' AND tags @> '{x}' AND tags[1] = 'y' AND data ? 'k'", "a"),
    ],
)
def test_a_condition_rules_out_the_states_that_it_cannot_hold_for(where: str, sources: str) -> None:
    assert moves(effects(f"DELETE FROM app.t WHERE {where}")) == " ".join(f"{each}>-" for each in sources.split())


@pytest.mark.parametrize(
    ("sql", "expected"),
    [
        ("UPDATE ONLY t AS j SET (x, s) = ROW(1, 'b') WHERE j.s = 'a'", "a>b"),
        ("UPDATE t SET s = DEFAULT WHERE s = 'b'", "b>a"),
        ("UPDATE t SET tags[1] = 'b', s = 'c'::app.kind WHERE s = 'a'", "a>c"),
        ("UPDATE t SET s = 'b' WHERE CURRENT OF c", "a>b c>b d>b"),
        ("UPDATE t SET s = 'b' FROM u, v WHERE u.id = t.id AND t.s = 'a'", "a>b"),
        ("DELETE FROM t USING t AS w WHERE w.id = t.id AND w.s = 'a'", "a>- | b>- c>- d>-"),
        ("DELETE FROM t WHERE id IN (SELECT id FROM t WHERE s = 'a' FOR UPDATE SKIP LOCKED)", "a>-"),
        ("DELETE FROM t WHERE id IN (SELECT x FROM t WHERE s = 'a' FOR UPDATE)", "a>- b>- c>- d>-"),
        ("DELETE FROM t WHERE id IN (SELECT w.id FROM t w WHERE s = 'a' FOR UPDATE OF v)", "a>- | b>- c>- d>-"),
        ("DELETE FROM t WHERE id IN (SELECT id FROM other.t WHERE s = 'a' FOR UPDATE)", "a>- b>- c>- d>-"),
        ("WITH w AS (SELECT * FROM t WHERE s = 'a' FOR UPDATE) DELETE FROM t USING w WHERE w.id = t.id", "a>-"),
        ("WITH w AS (SELECT * FROM t WHERE s = 'a' FOR UPDATE) DELETE FROM t WHERE id IN (SELECT id FROM w)", "a>-"),
        ("WITH w AS (SELECT v.* FROM t v JOIN u ON u.id = v.id WHERE v.s = 'a' FOR UPDATE OF v)"
         " UPDATE t SET s = 'b' FROM w WHERE w.id = t.id", "a>b"),
        ("INSERT INTO t (id, s) VALUES (1, DEFAULT), (2, 'b')", "+>a +>b"),
        ("INSERT INTO t (id) SELECT 1", "+>a"),
        ("INSERT INTO t (id, s) VALUES (1, 'a') ON CONFLICT (id) DO UPDATE SET s = excluded.s WHERE t.s = 'd'",
         "+>a d>a"),
        ("INSERT INTO t (id, s) VALUES (1, 'a') ON CONFLICT DO NOTHING", "+>a"),
        ("MERGE INTO t USING u ON u.id = t.id WHEN MATCHED AND t.s = 'a' THEN UPDATE SET s = 'b' WHEN MATCHED AND"
         " t.s = 'b' THEN DELETE WHEN NOT MATCHED THEN INSERT (id, s) VALUES (u.id, 'c')", "+>c a>b b>-"),
        ("MERGE INTO t USING u ON u.id = t.id AND t.s <> 'd' WHEN MATCHED AND t.s = 'a' THEN DO NOTHING"
         " WHEN MATCHED THEN DELETE WHEN NOT MATCHED BY SOURCE THEN UPDATE SET s = 'd'", "a>d b>- b>d c>- c>d"),
        ("MERGE INTO t USING (SELECT id FROM t WHERE s = 'a') v ON v.id = t.id WHEN MATCHED THEN DELETE",
         "a>- | b>- c>- d>-"),
        ("MERGE INTO t USING u ON true WHEN NOT MATCHED THEN INSERT VALUES (1, 'b', 2, NULL)", "+>b"),
        ("TRUNCATE t", "a>- b>- c>- d>-"),
    ],
)  # fmt: skip
def test_what_a_statement_can_do(sql: str, expected: str) -> None:
    found = effects(sql)
    assert (moves(found), found.undecided, found.dynamic) == (expected, None, ())


def test_the_parts_of_a_statement_are_judged_each_by_itself() -> None:
    sql = "WITH a AS (DELETE FROM t WHERE s = 'a' RETURNING *) UPDATE t SET s = 'c' FROM a WHERE t.s = 'b'"
    assert [moves(each) for each in all_effects(sql)] == ["a>-", "b>c"]


@pytest.mark.parametrize(
    ("sql", "reason"),
    [
        ("UPDATE t SET id = 3 WHERE s = 'a'", "it changes id, the key by which a row is followed"),
        ("UPDATE t SET s = 'a' WHERE s = 'b' = x", "comparisons follow each other"),
        ("DELETE FROM t WHERE s = U&'\\0061' AND (id", "the parser cannot read it"),
        ("INSERT INTO t (tags[1]) VALUES ('a')", "the parser cannot read it"),
    ],
)
def test_what_is_not_followed_is_undecided(sql: str, reason: str) -> None:
    assert reason in (effects(sql).undecided or "")


@pytest.mark.parametrize(
    "sql",
    [
        "UPDATE t SET s = $1 WHERE s = 'a'",
        "UPDATE t SET s = w.s FROM u AS w WHERE t.s = 'a'",
        "UPDATE t SET (s, x) = (SELECT 'b', 1) WHERE s = 'a'",
        "UPDATE t SET s = E'\\x61' WHERE s = 'a'",
        "UPDATE t SET s = 'b' || x WHERE s = 'a'",
    ],
)
def test_a_target_that_is_no_constant_is_dynamic(sql: str) -> None:
    assert effects(sql).dynamic == ("a",)


def test_the_order_of_an_enum_that_was_altered_is_not_known() -> None:
    ddl = f"{DDL}; ALTER TYPE app.kind ADD VALUE 'z' BEFORE 'a'"
    assert moves(effects("DELETE FROM t WHERE s < 'b'", ddl)) == "a>- b>- c>- d>-"


@pytest.mark.parametrize(
    ("ddl", "is_key"),
    [
        (DDL, True),
        ("CREATE TABLE t (id int, s text); ALTER TABLE ONLY t ADD CONSTRAINT k PRIMARY KEY (id)", True),
        (
            "CREATE TABLE t (id int, s text); CREATE UNIQUE INDEX CONCURRENTLY IF NOT EXISTS i ON t USING btree (id)",
            True,
        ),
        ("CREATE TABLE t (id int, s text); CREATE UNIQUE INDEX ON t (id)", True),
        ("CREATE TABLE t (id int, s text); CREATE UNIQUE INDEX i ON t (id) WHERE s = 'a'", False),
        ("CREATE TABLE t (id int UNIQUE DEFERRABLE, s text)", False),
        ("CREATE TABLE t (id int PRIMARY KEY, s text) INHERITS (u)", False),
        ("CREATE TABLE t (id int PRIMARY KEY, s text); ALTER TABLE t DROP CONSTRAINT t_pkey", False),
        ("CREATE TABLE t (id int, s text, EXCLUDE USING gist (id WITH =))", False),
    ],
)
def test_a_sub_select_counts_only_through_a_key(ddl: str, is_key: bool) -> None:
    found = effects("DELETE FROM t WHERE id IN (SELECT id FROM t WHERE s = 'a' FOR UPDATE)", ddl)
    assert moves(found) == ("a>-" if is_key else "a>- b>- c>- d>-")


@pytest.mark.parametrize(
    ("column", "expected"),
    [
        ("s text DEFAULT 'b'::text NOT NULL", "+>b"),
        ("s varchar(9) NOT NULL DEFAULT ('b')", None),
        ("s text DEFAULT 'a' || 'b'", None),
        ("s text DEFAULT now()", None),
        ("s domain_of_mine", None),
        ("s text COLLATE \"C\" DEFAULT 'b'", "+>b"),
    ],
)
def test_a_default_is_a_literal_or_not_known(column: str, expected: str | None) -> None:
    found = effects("INSERT INTO t (id) VALUES (1)", f"CREATE TABLE t (id int PRIMARY KEY, {column})")
    assert (moves(found) or None, found.dynamic) == (expected, (None,) if expected is None else ())
