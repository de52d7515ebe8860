"""What single statements can do to a table with four states, some of it beside what SQLite itself does."""

from __future__ import annotations

import apsw
import pytest

from arrowproof.conformance.changes import Change, classify
from arrowproof.conformance.effects import Effects, Subject, effects_of
from arrowproof.conformance.statements import split_statements
from arrowproof.conformance.tables import read_table
from arrowproof.model.lifecycle import Kind, State

STATES = ("a", "b", "c", "d")
DDL = "CREATE TABLE t (id INTEGER PRIMARY KEY, s TEXT NOT NULL DEFAULT 'a', x INT, y TEXT)"
ALL = " ".join(STATES)


def effects(sql: str, ddl: str = DDL, self_transitions: str = "") -> Effects:
    (statement,) = split_statements("f.sql", sql)
    change = classify(statement, "t")
    assert isinstance(change, Change)
    states = tuple(State(each, Kind.NEUTRAL, each, each) for each in STATES)
    table = read_table(split_statements("schema.sql", ddl), "t", ("id", "s"))
    return effects_of(
        change, Subject(table, ("id",), "s", frozenset({"x"}), states, frozenset(self_transitions.split()))
    )


def moves(found: Effects) -> str:
    """The moves as text: + creates, - removes."""
    return " ".join(f"{move.source or '+'}>{move.target or '-'}" for move in found.moves)


def each(sources: str, *targets: str) -> str:
    return " ".join(f"{source}>{target}" for source in sources.split() for target in targets if source != target)


@pytest.mark.parametrize(
    ("sql", "expected"),
    [
        ("UPDATE t SET s = 'd' WHERE s IN ('a', 'b')", "a>d b>d"),
        ("UPDATE t SET s = 'd'", "a>d b>d c>d"),
        ("UPDATE t SET s = CASE WHEN x > 3 THEN 'c' ELSE 'd' END WHERE s = 'a'", "a>c a>d"),
        ("UPDATE t SET s = CASE s WHEN 'a' THEN 'b' WHEN 'b' THEN 'c' ELSE s END", "a>b b>c"),
        ("UPDATE t SET (x, s) = (1, 'b') WHERE s = 'a'", "a>b"),
        ("UPDATE t SET s = 'b', s = 'c' WHERE s = 'a'", "a>c"),
        ("UPDATE t SET s = NULL WHERE s = 'a'", ""),
        ("UPDATE t SET s = 'b' FROM u WHERE u.id = t.id AND s = 'a'", "a>b"),
        ("UPDATE t SET s = 'b' FROM (SELECT id FROM t WHERE s = 'a') AS v WHERE v.id = t.id", "a>b"),
        ("UPDATE t SET s = 'b' FROM t AS v WHERE v.id = t.id AND v.s = 'a'", "a>b"),
        ("UPDATE t SET s = 'b' FROM t AS v WHERE v.x = t.x AND v.s = 'a'", each("a c d", "b")),
        (
            "WITH v AS (SELECT id FROM t WHERE s = 'a' LIMIT 1) UPDATE t SET s = 'b' WHERE id IN (SELECT id FROM v)",
            "a>b",
        ),
        ("UPDATE OR IGNORE t SET s = 'b' WHERE s = 'a' RETURNING id", "a>b"),
        ("UPDATE OR REPLACE t SET s = 'b' WHERE s = 'a'", "a>- b>- c>- d>- a>b"),
        ("UPDATE t SET s = 'b' WHERE s = 'a' ORDER BY id LIMIT 3", "a>b"),
        ("DELETE FROM t WHERE s = 'd'", "d>-"),
        ("DELETE FROM t AS j WHERE j.s = 'd' OR j.x = 1", "a>- b>- c>- d>-"),
        ("INSERT INTO t (s) VALUES ('a'), ('b')", "+>a +>b"),
        ("INSERT INTO t (x) VALUES (1)", "+>a"),
        ("INSERT INTO t DEFAULT VALUES", "+>a"),
        ("INSERT INTO t VALUES (1, 'c', 2, 3)", "+>c"),
        ("INSERT INTO t (id, s) SELECT 1, 'a' UNION ALL SELECT id, 'b' FROM u", "+>a +>b"),
        ("WITH v AS (SELECT 1 AS k) INSERT INTO t (id, s) SELECT k, 'c' FROM v", "+>c"),
        ("INSERT OR IGNORE INTO t (id, s) VALUES (1, NULL)", ""),
        ("INSERT INTO t (id, s) VALUES (1, 'a') ON CONFLICT (id) DO NOTHING", "+>a"),
        ("INSERT INTO t (id, s) VALUES (1, 'a') ON CONFLICT (id) DO UPDATE SET s = 'd' WHERE t.s = 'c'", "+>a c>d"),
        (
            "INSERT INTO t AS j (id, s) VALUES (1, 'b') ON CONFLICT DO UPDATE SET s = excluded.s WHERE s = 'c'",
            "+>b c>b",
        ),
        ("INSERT INTO t (id, s) VALUES (1, 'a') ON CONFLICT (id) DO UPDATE SET x = 3", "+>a"),
    ],
)
def test_a_statement_moves_what_it_says(sql: str, expected: str) -> None:
    found = effects(sql)
    assert (moves(found), found.dynamic, found.undecided) == (expected, (), None)


@pytest.mark.parametrize("verb", ["REPLACE", "INSERT OR REPLACE"])
def test_replace_creates_removes_and_turns_any_state_into_its_own(verb: str) -> None:
    found = moves(effects(f"{verb} INTO t (id, s) VALUES (1, 'b')")).split()
    assert set(found) == {"+>b", *(f"{state}>-" for state in STATES), *(f"{state}>b" for state in STATES)}


def test_replace_takes_the_default_for_null_as_sqlite_does() -> None:
    sql = "INSERT OR REPLACE INTO t (id, s) VALUES (1, NULL)"
    assert "+>a" in moves(effects(sql))
    connection = apsw.Connection(":memory:")
    connection.execute(DDL + ";" + sql)
    assert list(connection.execute("SELECT s FROM t")) == [("a",)]


def test_a_constraint_that_replaces_makes_every_insert_a_replace() -> None:
    ddl = "CREATE TABLE t (id INTEGER PRIMARY KEY ON CONFLICT REPLACE, s TEXT)"
    assert "d>-" in moves(effects("INSERT INTO t (id, s) VALUES (1, 'b')", ddl)).split()


@pytest.mark.parametrize(
    ("sql", "sources", "expected"),
    [
        ("UPDATE t SET s = ? WHERE s = 'a'", ("a",), ""),
        ("UPDATE t SET s = coalesce(:to, s) WHERE s = 'a'", ("a",), ""),
        ("UPDATE t SET s = CASE WHEN x THEN 'b' ELSE @to END WHERE s = 'a'", ("a",), "a>b"),
        ("UPDATE t SET (s, x) = (SELECT 'b', 1) WHERE s = 'a'", ("a",), ""),
        ("UPDATE t SET s = u.s FROM u WHERE t.s = 'b'", ("b",), ""),
        ("INSERT INTO t (s) VALUES ('a'), (?)", (None,), "+>a"),
        ("INSERT INTO t (id, s) SELECT id, s FROM t", (None,), ""),
        ("INSERT INTO t SELECT * FROM u", (None,), ""),
        ("INSERT INTO t VALUES (1, 'a')", (None,), ""),
        ("INSERT INTO t (s) VALUES ('a') ON CONFLICT DO UPDATE SET s = ? WHERE s <> 'b'", ("a", "c", "d"), "+>a"),
    ],
)
def test_what_is_no_constant_is_dynamic_beside_what_is(
    sql: str, sources: tuple[str | None, ...], expected: str
) -> None:
    found = effects(sql)
    assert (found.dynamic, moves(found)) == (sources, expected)


def test_a_value_that_is_no_state_is_an_undeclared_target_and_never_mistaken_for_one() -> None:
    (move,) = effects("UPDATE t SET s = 'e\n' WHERE s = 'a'").moves
    assert (move.source, move.target, move.is_undeclared) == ("a", "e", True)
    (move,) = effects("INSERT INTO t (s) VALUES ('a ')").moves
    assert (move.target, move.is_undeclared) == ("a (a value of no state)", True)


def test_a_self_transition_of_the_model_counts_when_the_state_is_named() -> None:
    assert moves(effects("UPDATE t SET s = 'b' WHERE s = 'b'")) == ""
    assert moves(effects("UPDATE t SET s = 'b' WHERE s = 'b'", self_transitions="b")) == "b>b"
    assert moves(effects("UPDATE t SET s = 'b', x = 1 WHERE s = 'b'")) == "b>b"
    assert moves(effects("UPDATE t SET x = 1 WHERE s = 'b'", self_transitions="b")) == ""


def test_a_self_transition_in_one_state_hides_no_move_from_another() -> None:
    assert moves(effects("UPDATE t SET s = 'a' WHERE s IN ('a', 'b')")) == "b>a"


def test_only_a_statement_that_can_do_nothing_is_idle() -> None:
    assert effects("UPDATE t SET s = 'b' WHERE s = 'z'").is_idle
    assert effects("DELETE FROM t WHERE s = 'z'").is_idle
    assert not effects("UPDATE t SET s = 'b' WHERE s = 'b'").is_idle
    assert not effects("UPDATE t SET x = 1 WHERE s = 'z'").is_idle
    assert not effects("UPDATE t SET s = ? WHERE s = 'a'").is_idle


def test_a_sub_select_in_an_upsert_rules_nothing_out_since_sqlite_asks_it_once() -> None:
    sql = """INSERT INTO t (id, s) VALUES (1, 'b'), (1, 'c') ON CONFLICT (id) DO UPDATE SET s = excluded.s
             WHERE t.id IN (SELECT id FROM t WHERE s = 'a')"""
    connection = apsw.Connection(":memory:")
    connection.execute(f"{DDL}; CREATE TABLE log (old, new); INSERT INTO t (id, s) VALUES (1, 'a')")
    connection.execute("CREATE TRIGGER j AFTER UPDATE ON t BEGIN INSERT INTO log VALUES (OLD.s, NEW.s); END")
    connection.execute(sql)
    assert list(connection.execute("SELECT * FROM log")) == [("a", "b"), ("b", "c")]
    assert {"a>b", "b>c"} <= set(moves(effects(sql)).split())


def test_only_a_state_in_double_quotes_that_is_no_column_is_read_as_a_string() -> None:
    assert moves(effects('UPDATE t SET s = "b" WHERE s = "a"')) == "a>b"
    assert moves(effects("UPDATE t SET s = 'b' WHERE s = \"y\"")) == "a>b c>b d>b"
    assert moves(effects("UPDATE t SET s = 'b' WHERE s = a")) == "a>b c>b d>b"
    added_elsewhere = "UPDATE t SET s = 'b' WHERE s = 'a' AND kind = 'mail' AND \"sort\" = 'mail'"
    assert moves(effects(added_elsewhere)) == "a>b"
    assert effects('UPDATE t SET s = "b"', ddl="").dynamic == STATES


@pytest.mark.parametrize("number", ["1.0", "1.5", "1e0", ".5"])
def test_a_number_that_text_spells_in_its_own_way_is_a_dynamic_target(number: str) -> None:
    assert effects(f"UPDATE t SET s = {number} WHERE s = 'a'").dynamic == ("a",)
    created = "INSERT INTO t (id) VALUES (1)", DDL.replace("'a'", number)
    assert effects(*created).dynamic == (None,)
