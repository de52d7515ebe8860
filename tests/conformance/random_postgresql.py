"""Statements of PostgreSQL made at random over a table with states, for what a scan calls possible to be tried.

They have what :mod:`tests.conformance.random_statements` has, in PostgreSQL's words, and what SQLite does not have:
casts and enums in their order, arrays, locks, MERGE, DELETE … USING, and table expressions that change rows.
"""

from __future__ import annotations

from dataclasses import dataclass
from random import Random

from tests.conformance.random_statements import STATES, UNDECLARED


@dataclass(frozen=True)
class ServerShape:
    """What the table is like: whether the state may be null, and whether it is an enum."""

    nullable: bool
    is_enum: bool

    @property
    def type(self) -> str:
        return "e" if self.is_enum else "text"

    @property
    def ddl(self) -> str:
        null = "" if self.nullable else "NOT NULL"
        labels = ", ".join(f"'{state}'" for state in STATES)
        return (
            f"CREATE TYPE e AS ENUM ({labels});"
            f" CREATE TABLE t (id int PRIMARY KEY, s {self.type} {null} DEFAULT 'todo'::{self.type},"
            f" x int, y {self.type}, p int, q int, UNIQUE (p, q));"
            f" CREATE TABLE u (k int PRIMARY KEY, tid int, s2 {self.type});"
        )


class ServerMaker:
    """Makes statements out of one random source."""

    def __init__(self, random: Random, shape: ServerShape) -> None:
        self.random = random
        self.shape = shape
        self.aliases = 0

    def pick(self, *choices: str) -> str:
        return self.random.choice(choices)

    def alias(self) -> str:
        self.aliases += 1
        return f"w{self.aliases}"

    def statement(self) -> str:
        kinds = [self.update] * 5 + [self.update_from] * 4 + [self.with_cte] * 3 + [self.delete] * 3
        kinds += [self.insert, self.insert_select] + [self.upsert] * 2 + [self.merge] * 3 + [self.parts] * 2
        return self.random.choice(kinds)()

    # What a statement is made of

    def state(self) -> str:
        return self.pick(*STATES, *STATES, *([] if self.shape.is_enum else [UNDECLARED, "TODO"]))

    def literal(self, typed: bool = False) -> str:
        """A state or null; with its type where nothing else would say what it is."""
        text = "NULL" if self.random.random() < 0.06 else f"'{self.state()}'"
        return f"{text}::{self.shape.type}" if typed or self.random.random() < 0.25 else text

    def several(self) -> str:
        return ", ".join(self.literal() for _ in range(self.random.randint(1, 3)))

    def target(self, alias: str) -> str:
        """What the state is set to; without an alias there is no row to speak of."""
        if not alias:
            return self.literal()
        s, x = f"{alias}.s", f"{alias}.x"
        one, two, three = (self.literal(typed=True) for _ in range(3))
        return self.pick(
            self.literal(),
            self.literal(),
            s,
            f"CASE {s} WHEN {one} THEN {two} WHEN {self.literal()} THEN {three} ELSE {s} END",
            f"CASE WHEN {self.simple(alias)} THEN {one} WHEN {x} > 2 THEN {s} ELSE {self.pick(s, two)} END",
            f"coalesce(nullif({s}, {one}), {two})",
            f"(SELECT w.s FROM t AS w WHERE w.id = {alias}.id)",
            f"coalesce({alias}.y, {s})",
            f"CAST({one} AS {self.shape.type})",
        )

    def predicate(self, alias: str, depth: int = 2) -> str:
        if depth and self.random.random() < 0.55:
            left, right = self.predicate(alias, depth - 1), self.predicate(alias, depth - 1)
            truth = self.pick("TRUE", "NOT TRUE", "FALSE", "NOT FALSE", "NULL", "NOT NULL", "UNKNOWN", "NOT UNKNOWN")
            return self.pick(f"({left} AND {right})", f"({left} OR {right})", f"NOT ({left})", f"(({left}) IS {truth})")
        return self.tied(alias) if self.random.random() < 0.4 else self.simple(alias)

    def simple(self, alias: str) -> str:
        s, x, no = f"{alias}.s", f"{alias}.x", self.pick("", "NOT ")
        typed, array = self.literal(typed=True), f"ARRAY[{self.several()}]::{self.shape.type}[]"
        plain = "{" + ",".join(self.random.sample(STATES, self.random.randint(0, 2))) + "}"
        return self.pick(
            f"{s} = {self.literal()}",
            f"{self.literal()} = {s}",
            f"{s} <> {self.literal()}",
            f"{s} != {typed}",
            f"{s} {no}IN ({self.several()})",
            f"{s} {no}IN ({self.several()})",
            f"{s} IS {no}NULL",
            f"{s} IS {no}DISTINCT FROM {self.literal()}",
            f"{s} {no}BETWEEN {self.pick('', 'SYMMETRIC ')}{self.literal()} AND {self.literal()}",
            f"{s} {self.pick('<', '>', '<=', '>=')} {self.literal()}",
            f"{s} {self.pick('<', '>', '<=', '>=')} {self.literal()}",
            f"{s}::text {self.pick('<', '>=')} '{self.state()}'",
            f"{s} {self.pick('=', '<>')} {self.pick('ANY', 'SOME', 'ALL')} ({array})",
            f"{s} {self.pick('=', '<>')} {self.pick('ANY', 'ALL')} ('{plain}'::{self.shape.type}[])",
            f"coalesce({s}, {typed}) = {self.literal()}",
            f"nullif({s}, {typed}) IS {no}NULL",
            f"CASE {s} WHEN {typed} THEN {x} > 1 WHEN {self.literal()} THEN TRUE ELSE {s} IS NULL END",
            f"{s}::text {no}LIKE 'd%'",
            f"({s} = {self.literal()}) = ({x} > 1)",
            f"{s}::text = '{self.state()}'",
            f"CAST({s} AS text) {no}IN ('{self.state()}', '{self.state()}')",
            f"{x} > {self.random.randint(0, 4)}",
            f"{x} IS NULL",
            f"{s} = {alias}.y",
            f"{no}({s} = 'todo' OR {x} = 1)",
            f"({s}, {x}) {no}IN (({self.literal()}, 1), ({self.literal()}, 2))",
            f"({s}, {x}) = ({self.literal()}, {self.random.randint(0, 3)})",
            f"ROW({s}, {x}) IS {no}DISTINCT FROM ROW({typed}, 1)",
        )

    def tied(self, alias: str) -> str:
        """A condition by a sub-select, most of them tied to the row through a key."""
        w, no, column = self.alias(), self.pick("", "", "NOT "), self.pick("id", "id", "id", "x")
        return self.pick(
            f"{alias}.id {no}IN ({self.select('id')})",
            f"{alias}.id = ({self.select('id', one=True)})",
            f"({self.select('id', one=True)}) = {alias}.id",
            f"{alias}.{column} IN ({self.select(column)})",
            f"{alias}.id = ANY (ARRAY({self.select('id')}))",
            f"{alias}.id {self.pick('=', '<>')} {self.pick('ANY', 'ALL')} ({self.select('id')})",
            f"({alias}.p, {alias}.q) IN ({self.select('p, q')})",
            f"({alias}.id, {alias}.x) IN ({self.select('id, x')})",
            f"{alias}.id IN (SELECT max({w}.id) FROM t AS {w} WHERE {self.simple(w)})",
            f"{no}EXISTS (SELECT 1 FROM t AS {w} WHERE {w}.{column} = {alias}.{column} AND {self.simple(w)})",
            f"{no}EXISTS (SELECT count(*) FROM t AS {w} WHERE {w}.id = {alias}.id AND {self.simple(w)})",
            f"EXISTS (SELECT 1 FROM t AS {w} WHERE {w}.p = {alias}.p AND {w}.q = {alias}.q AND {self.simple(w)})",
            f"EXISTS (SELECT 1 FROM t AS {w} WHERE {w}.p = {alias}.p AND {self.simple(w)})",
            f"(SELECT {w}.s FROM t AS {w} WHERE {w}.id = {alias}.id) = {self.literal()}",
            f"{alias}.s {no}IN (SELECT u.s2 FROM u)",
        )

    def lock(self, alias: str) -> str:
        strength = self.pick("UPDATE", "NO KEY UPDATE", "SHARE", "KEY SHARE")
        return self.pick("", "", f" FOR {strength}", f" FOR {strength} OF {alias} SKIP LOCKED")

    def select(self, columns: str, one: bool = False) -> str:
        """A query of one or two columns of ``t``; ``one``: of one row at most."""
        w, v = self.alias(), self.alias()
        of, other = (", ".join(f"{a}.{column}" for column in columns.split(", ")) for a in (w, v))
        if one:
            order = self.pick("x", "id")
            return f"SELECT {of} FROM t AS {w} WHERE {self.simple(w)} ORDER BY {w}.{order} LIMIT 1{self.lock(w)}"
        limit = self.pick("", "", f" ORDER BY {w}.x LIMIT {self.random.randint(1, 4)}")
        compound = self.pick("UNION", "UNION ALL", "EXCEPT", "INTERSECT")
        return self.pick(
            f"SELECT {of} FROM t AS {w} WHERE {self.simple(w)}{limit}{self.lock(w)}",
            f"SELECT {columns} FROM t AS {w} WHERE {self.simple(w)} AND {self.simple(w)}{self.lock(w)}",
            f"SELECT {of} FROM t AS {w} JOIN u ON u.tid = {w}.id WHERE {self.simple(w)}{limit}",
            f"SELECT {of} FROM u LEFT JOIN t AS {w} ON u.tid = {w}.id WHERE {self.simple(w)}",
            f"SELECT {of} FROM u RIGHT JOIN t AS {w} ON u.tid = {w}.id AND {self.simple(w)} WHERE {self.simple(w)}",
            f"SELECT {of} FROM (SELECT * FROM t AS {v} WHERE {self.simple(v)}) AS {w} WHERE {self.simple(w)}",
            f"SELECT {of} FROM (SELECT {columns}, s, x AS x1 FROM t AS {v} WHERE {self.simple(v)}) AS {w}",
            f"SELECT {of} FROM t AS {w} WHERE {self.simple(w)} {compound}"
            f" SELECT {other} FROM t AS {v} WHERE {self.simple(v)}",
            f"SELECT DISTINCT {of} FROM t AS {w}, t AS {v} WHERE {v}.x = {w}.x AND {self.simple(v)}",
            f"SELECT {of} FROM t AS {w} WHERE {self.simple(w)} GROUP BY {of} HAVING count(*) > 0",
        )

    # Statements

    def update(self) -> str:
        alias = self.pick("", "j")
        name, also = f"t AS {alias}" if alias else self.pick("t", "ONLY t"), self.pick("", "x = 1, ", "x = j.x + 1, ")
        also = also.replace("j.", f"{alias}." if alias else "t.")
        target = self.pick(self.target(alias or "t"), self.target(alias or "t"), "DEFAULT")
        row = f"({self.target(alias or 't')}, 'todo')"
        chosen = self.pick(f"{also}s = {target}", f"(s, y) = {self.pick('', 'ROW')}{row}", "x = 7", "s = s, x = 3")
        return f"UPDATE {name} SET {chosen} WHERE {self.predicate(alias or 't')}{self.returning()}"

    def returning(self) -> str:
        return self.pick("", "", " RETURNING id, s")

    def update_from(self) -> str:
        w = self.alias()
        source, condition = self.random.choice(
            [
                ("u", "u.tid = t.id"),
                (f"(SELECT id, s FROM t AS {w} WHERE {self.simple(w)}{self.lock(w)}) AS v", "v.id = t.id"),
                (f"t AS v LEFT JOIN u ON u.tid = v.id AND {self.simple('v')}", "v.id = t.id"),
                (f"t AS v JOIN u ON u.tid = v.id AND {self.simple('v')}", "v.id = t.id"),
                ("u, t AS v", "v.x = t.x"),
                (f"(VALUES (1, {self.literal(typed=True)})) AS v (i, s)", "v.i = t.x"),
                ("t AS v (id, y, x, s)", "v.id = t.id AND v.s IS NOT NULL"),
            ]
        )
        return f"UPDATE t SET x = 2, s = {self.target('t')} FROM {source} WHERE {condition} AND {self.predicate('t')}"

    def with_cte(self) -> str:
        kind = self.pick("", "", "MATERIALIZED ", "NOT MATERIALIZED ")
        cte = f"WITH due AS {kind}({self.select('id, x')})"
        condition = self.predicate("t", 1)
        if self.random.random() < 0.2:
            cte += f", later AS (SELECT id, x FROM due WHERE {self.pick('x > 1', 'TRUE')})"
            return f"{cte} UPDATE t SET s = {self.target('t')} FROM later WHERE later.id = t.id AND {condition}"
        return self.pick(
            f"{cte} UPDATE t SET s = {self.target('t')} FROM due WHERE due.id = t.id AND {condition}",
            f"{cte} UPDATE t SET s = {self.target('t')} WHERE t.id IN (SELECT id FROM due) AND {condition}",
            f"{cte} UPDATE t SET s = {self.target('t')} FROM due AS d (a, id) WHERE d.id = t.id AND {condition}",
            f"{cte} DELETE FROM t USING due WHERE due.id = t.id",
            f"{cte} DELETE FROM t WHERE id {self.pick('', 'NOT ')}IN (SELECT due.id FROM due)",
        )

    def delete(self) -> str:
        if self.random.random() < 0.4:
            return f"DELETE FROM t USING u, t AS v WHERE u.tid = t.id AND v.id = t.id AND {self.predicate('v', 1)}"
        return f"DELETE FROM t WHERE {self.predicate('t')}{self.returning()}"

    def key(self) -> int:
        return self.random.randint(1, 16)

    def insert(self) -> str:
        rows = ", ".join(f"({self.key() + 50}, {self.pick(self.literal(), 'DEFAULT')}, 2)" for _ in range(2))
        return f"INSERT INTO t (id, s, x) VALUES {rows} ON CONFLICT DO NOTHING{self.returning()}"

    def insert_select(self) -> str:
        columns, values = self.random.choice(
            [("id, s, x", f"id + 100, {self.target('t')}, x"), ("id, x", "id + 200, x")]
        )
        return f"INSERT INTO t ({columns}) SELECT {values} FROM t WHERE {self.predicate('t', 1)}"

    def upsert(self) -> str:
        name, alias = self.random.choice([("t", "t"), ("t AS j", "j")])
        target = self.pick("excluded.s", self.target(alias), "DEFAULT")
        where = self.pick("", f" WHERE {self.predicate(alias)}", f" WHERE excluded.s <> {self.literal()}")
        insert = f"INSERT INTO {name} (id, s, x) VALUES ({self.key()}, {self.literal()}, 2)"
        return f"{insert} ON CONFLICT (id) DO UPDATE SET x = 5, s = {target}{where}"

    def merge(self) -> str:
        w = self.alias()
        source = self.pick("u ON t.id = u.tid", f"(SELECT * FROM t AS {w} WHERE {self.simple(w)}) AS v ON v.id = t.id")
        source += self.pick("", f" AND {self.simple('t')}")
        whens = [
            f" WHEN MATCHED AND {self.predicate('t', 1)} THEN UPDATE SET x = 9, s = {self.target('t')}",
            f" WHEN MATCHED AND {self.predicate('t', 1)} THEN DELETE",
            f" WHEN MATCHED AND {self.simple('t')} THEN DO NOTHING",
            f" WHEN NOT MATCHED BY SOURCE AND {self.predicate('t', 1)} THEN UPDATE SET s = {self.target('t')}",
            f" WHEN NOT MATCHED BY SOURCE AND {self.simple('t')} THEN DELETE",
        ]
        chosen = self.random.sample(whens, self.random.randint(1, 4))
        last = self.pick("", f" WHEN MATCHED THEN UPDATE SET s = {self.literal()}", " WHEN MATCHED THEN DELETE")
        return f"MERGE INTO t USING {source}{''.join(chosen)}{last}"

    def parts(self) -> str:
        """Two changes in one statement, of which neither sees what the other does."""
        first = self.pick(
            f"DELETE FROM t WHERE {self.predicate('t', 1)} RETURNING *",
            f"UPDATE t SET s = {self.target('t')} WHERE {self.predicate('t', 1)} RETURNING *",
            f"INSERT INTO t (id, s) VALUES ({self.key() + 70}, {self.literal()}) RETURNING *",
        )
        second = self.pick(
            f"DELETE FROM t WHERE id {self.pick('', 'NOT ')}IN (SELECT id FROM d)",
            f"UPDATE t SET s = {self.target('t')} FROM d WHERE d.id <> t.id AND {self.simple('t')}",
            f"INSERT INTO t (id, s, x) SELECT id + 300, {self.pick('s', self.literal(typed=True))}, x FROM d",
            "SELECT * FROM d",
        )
        return f"WITH d AS ({first}) {second}"
