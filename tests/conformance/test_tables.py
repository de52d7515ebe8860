from __future__ import annotations

import pytest

from arrowproof.conformance.columns import Column, ForeignKey
from arrowproof.conformance.statements import split_statements
from arrowproof.conformance.tables import Table, read_table
from arrowproof.conformance.values import ANYTHING, NOTHING, Affinity, Collation, Constant, Values


def table(ddl: str, name: str = "t") -> Table:
    return read_table(split_statements("schema.sql", ddl), name)


def column(definition: str) -> Column:
    return table(f"CREATE TABLE t (id INTEGER PRIMARY KEY, {definition}, z)").column("s")


@pytest.mark.parametrize(
    ("declared", "affinity"),
    [
        ("s INT", Affinity.INTEGER),
        ("s CHARINT", Affinity.INTEGER),
        ("s VARCHAR(10)", Affinity.TEXT),
        ("s", Affinity.BLOB),
        ("s BLOB NOT NULL", Affinity.BLOB),
        ("s DOUBLE PRECISION", Affinity.REAL),
        ("s DECIMAL(10, 2)", Affinity.NUMERIC),
        ("s ANY", Affinity.UNDECLARED),
        ('s "text" DEFAULT 1', Affinity.TEXT),
    ],
)
def test_affinity_follows_the_declared_type(declared: str, affinity: Affinity) -> None:
    assert column(declared).affinity is affinity


@pytest.mark.parametrize(
    ("affinity", "constant", "stored"),
    [
        (Affinity.TEXT, 1, {"1"}),
        (Affinity.INTEGER, "1", {1}),
        (Affinity.INTEGER, " 12 ", {12}),
        (Affinity.INTEGER, "1.5", {1.5}),
        (Affinity.INTEGER, "one", {"one"}),
        (Affinity.NUMERIC, "9007199254740993", {9007199254740993}),
        (Affinity.BLOB, "1", {"1"}),
        (Affinity.UNDECLARED, "1", {"1", 1}),
        (Affinity.TEXT, None, {None}),
    ],
)
def test_a_column_makes_of_a_value_what_its_affinity_says(
    affinity: Affinity, constant: Constant, stored: set[Constant]
) -> None:
    assert affinity.store(constant) == stored


@pytest.mark.parametrize(
    ("definition", "default"),
    [
        ("s", NOTHING),
        ("s DEFAULT 'it''s' NOT NULL", Values.of("it's")),
        ("s DEFAULT pending", Values.of("pending")),
        ('s DEFAULT "pending"', Values.of("pending")),
        ("s DEFAULT -3", Values.of(-3)),
        ("s DEFAULT (('a'))", Values.of("a")),
        ("s DEFAULT NULL", NOTHING),
        ("s DEFAULT TRUE", Values.of(1)),
        ("s DEFAULT (1 + 1)", ANYTHING),
        ("s DEFAULT (f())", ANYTHING),
        ("s DEFAULT CURRENT_TIMESTAMP", ANYTHING),
        ("s DEFAULT x'00'", ANYTHING),
    ],
)
def test_a_default_is_its_literal_and_open_when_it_is_computed(definition: str, default: Values) -> None:
    assert column(definition).default == default


def test_constraints_of_a_column_are_read_in_any_order() -> None:
    read = column("s TEXT COLLATE NoCase CHECK (s <> 'NOT NULL' AND length(s) > 1) DEFAULT 'a' NOT NULL")
    assert (read.collation, read.is_not_null, read.default) == (Collation.NOCASE, True, Values.of("a"))
    assert column("s TEXT COLLATE mine").collation is Collation.CUSTOM
    assert not column("s TEXT CHECK (s NOT NULL)").is_not_null
    assert column("s TEXT AS (z || 'a') STORED").is_generated


def test_keys_are_those_that_make_a_row_single() -> None:
    read = table(
        """CREATE TABLE t (a INTEGER PRIMARY KEY, b UNIQUE, c, d, e, f, CONSTRAINT u UNIQUE (C, "d" DESC),
           UNIQUE (e COLLATE NOCASE), UNIQUE (lower(f))) ;
           CREATE UNIQUE INDEX i ON t (e); CREATE UNIQUE INDEX j ON t (f) WHERE f > 1; CREATE INDEX k ON t (d);
           CREATE UNIQUE INDEX l ON other (d)"""
    )
    rowids = [{"rowid"}, {"oid"}, {"_rowid_"}]
    assert read.keys == {frozenset(key) for key in [{"a"}, {"b"}, {"c", "d"}, {"e"}, *rowids]}


def test_a_key_that_an_index_makes_is_not_relied_on_where_an_index_is_dropped() -> None:
    ddl = "CREATE TABLE t (a); CREATE UNIQUE INDEX i ON t (a);"
    assert frozenset({"a"}) in table(ddl).keys
    assert frozenset({"a"}) not in table(ddl + "DROP INDEX IF EXISTS i").keys


def test_a_table_without_rowid_or_with_a_column_of_that_name_has_no_such_key() -> None:
    assert table("CREATE TABLE t (a PRIMARY KEY) WITHOUT ROWID").keys == {frozenset({"a"})}
    assert frozenset({"rowid"}) not in table("CREATE TABLE t (rowid)").keys


def test_foreign_keys_keep_their_actions() -> None:
    read = table(
        """CREATE TABLE t (a REFERENCES P(x) ON UPDATE SET NULL ON DELETE CASCADE, b, c REFERENCES r,
           FOREIGN KEY (b, c) REFERENCES q (b, c) ON DELETE NO ACTION)"""
    )
    assert read.foreign_keys == (
        ForeignKey(("a",), "p", "CASCADE", "SET NULL"),
        ForeignKey(("c",), "r"),
        ForeignKey(("b", "c"), "q", "NO ACTION"),
    )


def test_a_constraint_that_replaces_rows_is_seen() -> None:
    assert table("CREATE TABLE t (a, UNIQUE (a) ON CONFLICT REPLACE)").replaces_rows
    assert not table("CREATE TABLE t (a, UNIQUE (a) ON CONFLICT IGNORE)").replaces_rows


def test_declarations_that_contradict_each_other_leave_the_columns_unknown() -> None:
    same = "CREATE TABLE t (a);"
    assert table(same + same.replace("TABLE", "TABLE IF NOT EXISTS")).is_known
    read = table(same + "CREATE TABLE t (a, b UNIQUE ON CONFLICT REPLACE);")
    assert (read.is_known, read.keys, read.replaces_rows) == (False, frozenset(), True)


def test_an_added_column_belongs_to_the_table() -> None:
    read = table("CREATE TABLE t (a); ALTER TABLE T ADD b TEXT DEFAULT 'x'; ALTER TABLE u ADD COLUMN c")
    assert [(each.name, each.default) for each in read.columns] == [("a", NOTHING), ("b", Values.of("x"))]


def test_a_table_that_no_source_creates_owns_what_the_binding_names_and_perhaps_more() -> None:
    read = read_table((), "T", ("Id",))
    assert (read.owns("id"), read.owns("x"), read.column("id").default) == (True, None, ANYTHING)
