"""Statements made at random over a table with states, for what a scan calls possible to be held against SQLite."""

from __future__ import annotations

from dataclasses import dataclass
from random import Random

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
