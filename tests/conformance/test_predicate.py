"""Each expected truth is exact, and holds what a real SQLite answers for the same row."""

from __future__ import annotations

import apsw
import pytest
from sqlglot import parse_one

from arrowproof.conformance.changed_row import Row
from arrowproof.conformance.predicate import Evaluator
from arrowproof.conformance.scopes import RowSource, Scope, SourceKind
from arrowproof.conformance.statements import split_statements
from arrowproof.conformance.tables import Table, read_table
from arrowproof.conformance.values import Constant, Truth, Values

T, F, N = True, False, None
DDL = "CREATE TABLE t (id INTEGER PRIMARY KEY, s {type}, x INT, y TEXT, p INT, q INT, UNIQUE (p, q))"


def table_of(declared: str) -> Table:
    return read_table(split_statements("schema.sql", DDL.format(type=declared)), "t")


def truth(condition: str, state: Constant, declared: str = "TEXT", ties_subselects: bool = True) -> Truth:
    table = table_of(declared)
    where = parse_one(f"SELECT 1 WHERE {condition}", dialect="sqlite").args["where"].this
    scope = Scope(sources={"t": RowSource(SourceKind.ROW, "t", table)})
    return Evaluator(Row(table, "s", Values.of(state), ties_subselects, strings=frozenset("a"))).truth(where, scope)


def answers(condition: str, state: Constant, declared: str = "TEXT") -> set[bool | None]:
    """What SQLite answers for a row in that state, whatever its other columns hold."""
    connection = apsw.Connection(":memory:")
    connection.execute(DDL.format(type=declared))
    found: set[bool | None] = set()
    for x in (None, 0, 1, 7):
        connection.execute("DELETE FROM t; INSERT INTO t VALUES (2, 'b', 1, 'a', 5, 6), (3, NULL, 0, 'b', 5, 7)")
        connection.execute("INSERT INTO t VALUES (1, ?, ?, ?, 4, 6)", (state, x, None if x is None else "a"))
        ((answer,),) = connection.execute(f"SELECT ({condition}) FROM t WHERE id = 1")
        found.add(None if answer is None else bool(answer))
    return found


CONDITIONS: list[tuple[str, Constant, set[bool | None]]] = [
    ("s = 'a'", "a", {T}),
    ("s == 'b'", "a", {F}),
    ("s = 'a'", None, {N}),
    ("s <> 'a'", None, {N}),
    ("'a' != s", "b", {T}),
    ("s = NULL", "a", {N}),
    ("NOT s = NULL", "a", {N}),
    ("s IS NULL", None, {T}),
    ("s ISNULL OR s NOTNULL", "a", {T}),
    ("s IS NOT NULL", None, {F}),
    ("s IS 'a'", None, {F}),
    ("s IS NOT 'a'", None, {T}),
    ("s IS DISTINCT FROM 'a'", "a", {F}),
    ("s IS NOT DISTINCT FROM NULL", None, {T}),
    ("s IN ('a', 'b')", "b", {T}),
    ("s IN ('a', NULL)", "b", {N}),
    ("s NOT IN ('a', NULL)", "b", {N}),
    ("s NOT IN ('a', NULL)", "a", {F}),
    ("s IN ()", None, {F}),
    ("s NOT IN ()", None, {T}),
    ("s IN ('a', y)", "c", {T, F, N}),
    ("s IN ('a', y)", "a", {T}),
    ("x = 1", "a", {T, F, N}),
    ("x = 1 AND s = 'b'", "a", {F}),
    ("x = 1 OR s = 'a'", "a", {T}),
    ("x = 1 OR s = 'a'", None, {T, N}),
    ("NOT (x = 1 AND s = 'a')", "b", {T}),
    ("NOT (x = 1 OR s = 'a')", "a", {F}),
    ("(s = 'a') IS TRUE", None, {F}),
    ("(s = 'a') IS NOT TRUE", None, {T}),
    ("(s = 'a') IS NOT FALSE", "b", {F}),
    ("(s = 'b') = (1 = 2)", "a", {T}),
    ("s BETWEEN 'a' AND 'c'", None, {N}),
    ("s BETWEEN 'a' AND 'c'", "b", {T, F}),
    ("s > 'a'", "b", {T, F}),
    ("s LIKE 'a%'", "b", {T, F, N}),
    ("CASE s WHEN 'a' THEN 1 WHEN 'b' THEN 0 END", "c", {N}),
    ("CASE WHEN s = 'a' THEN x = 1 ELSE 0 END", "b", {F}),
    ("CASE WHEN x THEN s = 'a' ELSE s = 'b' END", "c", {F}),
    ("coalesce(s, 'a') = 'a'", None, {T}),
    ("ifnull(NULL, s) = 'b'", "a", {F}),
    ("coalesce(y, s) = 'b'", "a", {T, F, N}),
    ("nullif(s, 'a') IS NULL", "a", {T}),
    ("nullif(s, 'a') = 'b'", "b", {T}),
    ("iif(s = 'a', 0, 1)", "a", {F}),
    ("CAST(s AS TEXT) = 'a'", "b", {F}),
    ("CAST(s AS INTEGER) = 1", "b", {T, F, N}),
    ("s COLLATE NOCASE = 'A'", "a", {T, F, N}),
    ("s = 'A'", "a", {F}),
    ("s", "a", {T, F}),
    ("NULL", "a", {N}),
    ("s = 1", "1", {T, F}),
    ('s = "a"', "b", {F}),
    ('s = "x"', "b", {T, F, N}),
    ("t.s = 'a' AND main.t.s = 'a'", "a", {T}),
    ("lower(s) = 'a'", "a", {T, F, N}),
    ("(s, x) = ('a', 1)", "b", {F}),
    ("(s, x) = ('a', 1)", "a", {T, F, N}),
    ("(s, x) = ('a', 1)", None, {F, N}),
    ("(s, x) <> ('a', 1)", "b", {T}),
    ("('a', s) = (s, 'a')", "a", {T}),
    ("(s, (1)) = ('b', 1)", "b", {T}),
]


@pytest.mark.parametrize(("condition", "state", "expected"), CONDITIONS)
def test_a_condition_comes_to_what_is_expected_and_to_what_sqlite_answers(
    condition: str, state: Constant, expected: set[bool | None]
) -> None:
    assert truth(condition, state) == expected
    assert answers(condition, state) <= expected


@pytest.mark.parametrize(
    ("condition", "expected"),
    [("s < 3", {T}), ("s BETWEEN 3 AND 9", {F}), ("s + 1 = 3", {T}), ("s - -1 IN (1, 2)", {F}), ("s = '2'", {T, F})],
)
def test_integer_states_are_ordered_and_reckoned_with(condition: str, expected: set[bool | None]) -> None:
    assert truth(condition, 2, "INTEGER") == expected
    assert answers(condition, 2, "INTEGER") <= expected


@pytest.mark.parametrize(("declared", "expected"), [("TEXT COLLATE NOCASE", {T, F}), ("TEXT COLLATE BINARY", {F})])
def test_a_collation_of_the_column_leaves_case_open(declared: str, expected: set[bool | None]) -> None:
    assert truth("s = 'A'", "a", declared) == expected
    assert answers("s = 'A'", "a", declared) <= expected


TIED = [
    "id IN (SELECT id FROM t WHERE s = 'a')",
    "id = (SELECT id FROM t WHERE s = 'a' ORDER BY x LIMIT 1)",
    "(SELECT w.id FROM t AS w WHERE w.s = 'a') = t.id",
    "rowid IN (SELECT rowid FROM t WHERE s = 'a')",
    "(p, q) IN (SELECT p, q FROM t WHERE s = 'a')",
    "EXISTS (SELECT * FROM t AS w WHERE w.id = t.id AND w.s = 'a')",
    "EXISTS (SELECT 1 FROM t AS w WHERE t.q = w.q AND (w.p = t.p AND w.s = 'a'))",
    "id IN (SELECT w.id FROM t AS w JOIN t AS v ON v.x = w.x WHERE w.s = 'a')",
    "id IN (SELECT id FROM t WHERE s = 'a' UNION SELECT id FROM t WHERE s = 'c')",
    "id IN (SELECT id FROM t WHERE s = 'a' EXCEPT SELECT id FROM t)",
    "id IN (WITH d AS (SELECT id, s FROM t WHERE s = 'a') SELECT id FROM d)",
    "id IN (WITH d AS (SELECT id FROM t WHERE s = 'a'), e (k) AS (SELECT id FROM d) SELECT e.k FROM e LIMIT 2)",
    "id IN (SELECT v.k FROM (SELECT id AS k FROM t WHERE s = 'a') AS v)",
]


@pytest.mark.parametrize("condition", TIED)
def test_a_sub_select_that_is_tied_by_a_key_rules_out_other_states(condition: str) -> None:
    assert T not in truth(condition, "b")
    assert T in truth(condition, "a")
    assert answers(condition, "b") <= truth(condition, "b")
    assert answers(condition, "a") <= truth(condition, "a")


@pytest.mark.parametrize("condition", TIED)
def test_between_writes_no_sub_select_is_tied(condition: str) -> None:
    assert T in truth(condition, "b", ties_subselects=False)


UNTIED = [
    "id IN (SELECT id FROM t WHERE s = 'a' UNION SELECT id FROM t WHERE s = 'b')",
    "x IN (SELECT x FROM t WHERE s = 'a')",
    "id IN (SELECT x FROM t WHERE s = 'a')",
    "p IN (SELECT p FROM t WHERE s = 'a')",
    "id IN (SELECT max(id) FROM t WHERE s = 'a')",
    "id IN (SELECT v.id FROM t AS w, t AS v WHERE w.s = 'a')",
    "id IN (SELECT u.id FROM u WHERE u.s = 'a')",
    "id IN (SELECT other.t.id FROM other.t WHERE s = 'a')",
    "id IN (SELECT * FROM t WHERE s = 'a')",
    "id IN (WITH t AS (SELECT 1 AS id, 'a' AS s) SELECT id FROM t WHERE s = 'a')",
    "id IN (WITH RECURSIVE d (id) AS (SELECT 1 UNION SELECT id + 1 FROM d) SELECT id FROM d)",
    "EXISTS (SELECT 1 FROM t AS w WHERE w.s = 'a')",
    "EXISTS (SELECT 1 FROM t AS w WHERE w.p = t.p AND w.s = 'a')",
    "EXISTS (SELECT 1 FROM t AS w WHERE (w.id = t.id OR 1) AND w.s = 'a')",
    "EXISTS (SELECT count(*) FROM t AS w WHERE w.id = t.id AND w.s = 'a')",
    "NOT EXISTS (SELECT 1 FROM t AS w WHERE w.id = t.id AND w.s = 'a')",
    "id NOT IN (SELECT id FROM t WHERE s = 'a')",
    "id <> (SELECT id FROM t WHERE s = 'a')",
    "(SELECT s FROM t AS w WHERE w.id = t.id) = 'a'",
    "s IN (SELECT y FROM u)",
    "NEW.s = 'a'",
]


@pytest.mark.parametrize("condition", UNTIED)
def test_a_sub_select_that_need_not_speak_of_the_row_rules_nothing_out(condition: str) -> None:
    assert T in truth(condition, "b")


def test_table_expressions_that_double_the_work_each_time_are_given_up() -> None:
    parts = ["d0 AS (SELECT id FROM t WHERE s = 'a')"]
    parts += [f"d{i} AS (SELECT id FROM d{i - 1} UNION SELECT id FROM d{i - 1})" for i in range(1, 40)]
    assert T in truth(f"id IN (WITH {', '.join(parts)} SELECT id FROM d39)", "b")
