"""Lifecycles and tables made at random, and statements on them, for a guard to be held against what rows show.

A statement knows what the rows before and after cannot tell: whether it named the state, and whether what it replaced
counts as removed first. Each touches a row once at most, so that rows before and after show every transition.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from random import Random

from arrowproof.conformance.rows import quote
from arrowproof.model.lifecycle import AcceptedSneakPath, Arrow, Binding, Kind, Lifecycle, State, StateValue

TEXTS = ("open", "OPEN", "it's", 'a "b"', "läuft…", "select", "", "10", "back\\slash", "$guard$")
NAMES = ("id", "Order", "it's", 'a "b"', "état", "status", "new", "old", "key_0", "a b", "table")
TABLES = ("jobs", "order", 'the "jobs"', "état's", "new")

Key = tuple[object, ...]
Image = tuple[StateValue, object]
"""The state of a row and its watched column."""
Pair = tuple[str, str]
"""Two ends, each as :func:`end` calls it."""

NOTHING = "nothing"
"""Stands for creation and removal."""


@dataclass(frozen=True)
class Shape:
    """A table: its name, key columns, state, a watched column, and one with a unique index of its own."""

    table: str
    key: tuple[str, ...]
    state: str
    watch: str
    code: str
    type: str = "TEXT"
    is_keyless_rowid: bool = False

    @property
    def columns(self) -> list[str]:
        return [*self.key, self.state, self.watch, self.code]

    def ddl(self, *, is_sqlite: bool) -> str:
        key = ", ".join(f"{quote(name)} INTEGER NOT NULL" for name in self.key)
        rest = f"{quote(self.state)} {self.type}, {quote(self.watch)} INTEGER, {quote(self.code)} INTEGER UNIQUE"
        primary = f"PRIMARY KEY ({', '.join(map(quote, self.key))})"
        tail = " WITHOUT ROWID" if is_sqlite and self.is_keyless_rowid else ""
        return f"CREATE TABLE {quote(self.table)} ({key}, {rest}, {primary}){tail}"

    def select(self) -> str:
        return f"SELECT {', '.join(map(quote, self.columns))} FROM {quote(self.table)}"

    def images(self, rows: Sequence[Sequence[object]]) -> dict[Key, Image]:
        width = len(self.key)
        return {tuple(row[:width]): (row[width], row[width + 1]) for row in rows}  # type: ignore[misc]


@dataclass(frozen=True)
class Trial:
    """A statement, whether it names the state, and the key under which it may replace a row."""

    sql: str
    names_state: bool = False
    replaced: Key | None = None


def make_shape(random: Random, *, state_type: str) -> Shape:
    names = random.sample(NAMES, 6)
    width = random.choice([1, 1, 2])
    key, (state, watch, code) = tuple(names[:width]), names[width : width + 3]
    return Shape(random.choice(TABLES), key, state, watch, code, state_type, random.random() < 0.3)


def make_lifecycle(random: Random, shape: Shape, values: Sequence[StateValue]) -> Lifecycle:
    """A lifecycle with these values, in which half of all pairs are drawn, and one more may be accepted."""
    ids = [f"s{number}" for number in range(len(values))]
    states = tuple(
        State(each, Kind.ACTIVE, each, value, terminal=True) for each, value in zip(ids, values, strict=True)
    )
    ends: list[str | None] = [None, *ids]
    pairs = [(source, target) for source in ends for target in ends if source is not None or target is not None]
    drawn = [pair for pair in pairs if random.random() < 0.5]
    accepted = random.sample(pairs, random.choice([0, 1]))
    return Lifecycle(
        id="it's random",
        title="Random",
        states=states,
        arrows=tuple(Arrow(f"a{number}", *pair, "go") for number, pair in enumerate(drawn)),
        binding=Binding(shape.table, shape.key, shape.state, watch=(shape.watch,)),
        accepted_sneak_paths=tuple(AcceptedSneakPath(*pair, "it is done by hand") for pair in accepted),
    )


def model_pairs(lifecycle: Lifecycle) -> set[Pair]:
    """The pairs of ends that the lifecycle lets through. Its states are all stored: an arrow is a transition."""
    ends: Mapping[str | None, str] = {None: NOTHING, **{state.id: end(state.value) for state in lifecycle.states}}
    drawn = {(ends[arrow.source], ends[arrow.target]) for arrow in lifecycle.arrows}
    return drawn | {(ends[path.source], ends[path.target]) for path in lifecycle.accepted_sneak_paths}


def changes(
    trial: Trial, before: Mapping[Key, Image], after: Mapping[Key, Image], *, removes_first: bool
) -> Iterator[Pair]:
    """The transitions that the rows show, touches left out (DESIGN, section 1).

    ``removes_first`` says that a replaced row is removed ahead of the new one, and not changed into it.
    """
    # An insert always puts its row there; an update that found no row to move puts none, and names no state.
    replaced = trial.replaced if trial.names_state or before != after else None
    for key in before.keys() | after.keys():
        source = end(before[key][0]) if key in before else NOTHING
        target = end(after[key][0]) if key in after else NOTHING
        if key == replaced and removes_first and NOTHING not in (source, target):
            yield (source, NOTHING)
            yield (NOTHING, target)
        elif source != target or ((trial.names_state or key == replaced) and before[key][1] != after[key][1]):
            yield (source, target)


def end(value: object) -> str:
    """A value with its type: 1, 1.0 and '1' are three."""
    return f"{type(value).__name__} {value!r}"


class Maker:
    """Makes statements out of one random source, in the dialect of either engine."""

    def __init__(self, random: Random, shape: Shape, values: Sequence[StateValue], *, is_sqlite: bool) -> None:
        self.random, self.shape, self.is_sqlite = random, shape, is_sqlite
        self.values = [*values, *random.sample(["zz", 77, 1.0, None], 1)] if is_sqlite else list(values)
        self.table = quote(shape.table)

    def trial(self) -> Trial:
        kinds = [self.insert, self.insert, self.insert_many, self.upsert, self.upsert, self.nothing, self.update]
        kinds += [self.update, self.update, self.update_one, self.touch, self.move, self.delete]
        kinds += [self.replace, self.replace, self.update_or] if self.is_sqlite else [self.truncate, self.merge]
        return self.random.choice(kinds)()

    def literal(self, value: object) -> str:
        if value is None:
            return "NULL"
        if isinstance(value, int | float):
            return str(value)
        return "'" + str(value).replace("'", "''") + "'"

    def value(self) -> str:
        return self.literal(self.random.choice(self.values))

    def number(self) -> int:
        return self.random.randint(1, 5)

    def key(self) -> list[str]:
        return [str(self.random.randint(1, 5 if number == 0 else 2)) for number in range(len(self.shape.key))]

    def row(self) -> str:
        code = self.random.choice([str(self.number()), "NULL"])
        return ", ".join([*self.key(), self.value(), str(self.random.randint(0, 1)), code])

    def columns(self) -> str:
        return ", ".join(map(quote, self.shape.columns))

    def is_key(self) -> str:
        return " AND ".join(f"{quote(name)} = {each}" for name, each in zip(self.shape.key, self.key(), strict=True))

    def predicate(self) -> str:
        state = quote(self.shape.state)
        value = self.value()
        is_value = f"{state} IS NULL" if value == "NULL" else f"{state} = {value}"
        return self.random.choice([self.is_key(), is_value, is_value, "1 = 1", f"{quote(self.shape.watch)} = 1"])

    def insert(self) -> Trial:
        resolution = self.random.choice(["", "", "OR IGNORE ", "OR FAIL "]) if self.is_sqlite else ""
        return Trial(f"INSERT {resolution}INTO {self.table} ({self.columns()}) VALUES ({self.row()})", True)

    def insert_many(self) -> Trial:
        first, *others = map(quote, self.shape.key)
        rest = [*others, quote(self.shape.state), quote(self.shape.watch), "NULL"]
        select = f"SELECT {', '.join([f'{first} + 10', *rest])} FROM {self.table} WHERE {first} < 10"
        return Trial(f"INSERT INTO {self.table} ({self.columns()}) {select}", True)

    def upsert(self) -> Trial:
        state, watch = quote(self.shape.state), quote(self.shape.watch)
        names = self.random.random() < 0.7
        sets = f"{state} = excluded.{state}, {watch} = excluded.{watch}" if names else f"{watch} = excluded.{watch}"
        keys = ", ".join(map(quote, self.shape.key))
        conflict = f"ON CONFLICT ({keys}) DO UPDATE SET {sets}"
        return Trial(f"INSERT INTO {self.table} ({self.columns()}) VALUES ({self.row()}) {conflict}", names)

    def nothing(self) -> Trial:
        return Trial(f"INSERT INTO {self.table} ({self.columns()}) VALUES ({self.row()}) ON CONFLICT DO NOTHING", True)

    def update(self) -> Trial:
        sets = [f"{quote(self.shape.state)} = {self.value()}"]
        if self.random.random() < 0.5:
            sets.append(f"{quote(self.shape.watch)} = {self.random.choice(['0', '1', quote(self.shape.watch)])}")
        return Trial(f"UPDATE {self.table} SET {', '.join(sets)} WHERE {self.predicate()}", True)

    def update_one(self) -> Trial:
        sets = f"{quote(self.shape.state)} = {self.value()}, {quote(self.shape.code)} = {self.number()}"
        return Trial(f"UPDATE {self.table} SET {sets} WHERE {self.is_key()}", True)

    def touch(self) -> Trial:
        watch = quote(self.shape.watch)
        return Trial(f"UPDATE {self.table} SET {watch} = 1 - {watch} WHERE {self.predicate()}")

    def move(self) -> Trial:
        first = quote(self.shape.key[0])
        moved = self.number() + self.random.choice([0, 5])
        return Trial(f"UPDATE {self.table} SET {first} = {moved} WHERE {self.is_key()}")

    def delete(self) -> Trial:
        return Trial(f"DELETE FROM {self.table} WHERE {self.predicate()}")

    # --- SQLite alone

    def replace(self) -> Trial:
        verb = self.random.choice(["REPLACE", "INSERT OR REPLACE"])
        row = self.row()
        key = tuple(int(part) for part in row.split(", ")[: len(self.shape.key)])
        return Trial(f"{verb} INTO {self.table} ({self.columns()}) VALUES ({row})", True, key)

    def update_or(self) -> Trial:
        first, code, key = quote(self.shape.key[0]), quote(self.shape.code), self.key()
        where = " AND ".join(f"{quote(name)} = {each}" for name, each in zip(self.shape.key, key, strict=True))
        update = f"UPDATE OR {self.random.choice(['REPLACE', 'IGNORE'])} {self.table} SET"
        if self.random.random() < 0.5:
            names = self.random.random() < 0.5
            state = f"{quote(self.shape.state)} = {self.value()}, " if names else ""
            return Trial(f"{update} {state}{code} = {self.number()} WHERE {where}", names)
        moved = (self.number(), *map(int, key[1:]))
        is_replaced = moved != tuple(map(int, key))
        return Trial(f"{update} {first} = {moved[0]} WHERE {where}", replaced=moved if is_replaced else None)

    # --- PostgreSQL alone

    def truncate(self) -> Trial:
        return Trial(f"TRUNCATE {self.table}")

    def merge(self) -> Trial:
        names = [*self.shape.columns]
        values = self.row().split(", ")
        images = ", ".join(f"m.{quote(name)}" for name in names)
        state, watch = map(quote, (self.shape.state, self.shape.watch))
        on = " AND ".join(f"t.{quote(name)} = m.{quote(name)}" for name in self.shape.key)
        source = ", ".join(
            f"CAST({value} AS {self.shape.type if name == self.shape.state else 'INTEGER'}) AS {quote(name)}"
            for name, value in zip(names, values, strict=True)
        )
        action = self.random.choice([f"UPDATE SET {state} = m.{state}, {watch} = m.{watch}", "DELETE", "DO NOTHING"])
        return Trial(
            f"MERGE INTO {self.table} AS t USING (SELECT {source}) AS m ON {on}"
            f" WHEN MATCHED THEN {action} WHEN NOT MATCHED THEN INSERT ({self.columns()}) VALUES ({images})",
            True,
        )
