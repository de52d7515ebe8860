"""The bench for a guard on SQLite: the schema of a database in memory, with one row of each state to make others by.

Nothing is written to the database itself; it is read once. What the copy cannot have (a virtual table whose module is
not here, an extension's function) shows when a write fails for it, and that write counts as not tried.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from functools import cached_property
from itertools import chain
from pathlib import Path
from typing import Any

import apsw

from arrowproof.conformance.binding_check import check_binding
from arrowproof.conformance.grammar import SQLITE
from arrowproof.conformance.guard import Allowed, read_allowed
from arrowproof.conformance.guard_check import Answer, Outcome, stray_values
from arrowproof.conformance.guard_reads import (
    same_text,
    skips_what_follows,
    sqlite_trigger_beyond,
    tokens_of,
    told_aside,
)
from arrowproof.conformance.names import fold
from arrowproof.conformance.rows import open_database, quote, state_expression, table_columns
from arrowproof.conformance.sqlite_guard import SQLiteGuard
from arrowproof.conformance.sqlite_journal_schema import PREFIX as JOURNAL
from arrowproof.conformance.table_shape import TableShape
from arrowproof.conformance.unique_indexes import read_unique_indexes
from arrowproof.model.lifecycle import Binding, Lifecycle, StateValue
from arrowproof.model.record import record
from arrowproof.model.transitions import derive_transitions

_Values = dict[str, Any]
_Statement = tuple[str, list[Any]]

_FIRST = 900_000
"""Ahead of the numbers that the bench makes, which no fixed value of a schema is likely to be."""

PLAIN, OR_IGNORE, UPSERT, REPLACE = "a plain statement", "OR IGNORE", "UPSERT", "REPLACE"
STATE, COUNTED = "an update of the state alone", "an update of the state and what is watched"
MOVE = "an update of the key"
_FREE = (STATE, COUNTED, MOVE)
"""Ways that another constraint may forbid: what it forbids needs no guard there."""
RIVAL, RIVAL_UPDATE = "REPLACE through", "UPDATE OR REPLACE through"


@contextmanager
def sqlite_bench(database: Path, lifecycle: Lifecycle, binding: Binding) -> Iterator[SQLiteBench]:
    """A bench with the schema of a SQLite file; the file is only read.

    Raises:
        InputError: the file is no database, or the binding does not fit it.
    """
    connection = apsw.Connection(":memory:")
    try:
        with open_database(database) as source:
            check_binding(source, binding)
            _copy_schema(source, connection)
            examples = _examples(source, lifecycle, binding)
            forgotten = _forgotten(source, lifecycle, binding)
        values = {state.id: state.value for state in lifecycle.stored_states}
        pairs = [transition.pair for transition in derive_transitions(lifecycle)]
        created = frozenset(target for source, target in pairs if source is None and target is not None)
        removed = frozenset(source for source, target in pairs if target is None and source is not None)
        yield SQLiteBench(connection, binding, values, stray_values(lifecycle), created, removed, examples, forgotten)
    finally:
        connection.close()


def _copy_schema(source: apsw.Connection, copy: apsw.Connection) -> None:
    order = "CASE type WHEN 'table' THEN 0 WHEN 'view' THEN 1 WHEN 'index' THEN 2 ELSE 3 END, rowid"
    own = "sql IS NOT NULL AND name NOT LIKE 'sqlite~_%' ESCAPE '~'"
    for (sql,) in source.execute(f"SELECT sql FROM sqlite_schema WHERE {own} ORDER BY {order}").fetchall():
        with suppress(apsw.Error):
            copy.execute(_without_rollback(str(sql)))


def _without_rollback(sql: str) -> str:
    """The same, but that a refusal ends the statement and not the whole transaction, which holds the bench's rows."""
    tokens = tokens_of(sql, SQLITE)
    if not tokens or tokens[0].word != "CREATE" or "TRIGGER" not in [token.word for token in tokens[1:3]]:
        return sql
    for first, second, third in reversed(tuple(zip(tokens, tokens[1:], tokens[2:], strict=False))):
        if (first.word, second.word, third.word) == ("RAISE", "(", "ROLLBACK"):
            sql = f"{sql[: third.start]}ABORT{sql[third.start + len(third.text) :]}"
    return sql


def _examples(source: apsw.Connection, lifecycle: Lifecycle, binding: Binding) -> dict[str, _Values]:
    """One row of each state that has any, without the columns that the database computes."""
    table = quote(binding.table)
    listed = source.execute("SELECT name FROM pragma_table_xinfo(?) WHERE hidden > 1", (binding.table,))
    computed = {str(name) for (name,) in listed}
    columns = table_columns(source, binding.table)
    state = state_expression(binding, table, columns)
    named = ", ".join(map(quote, columns))
    examples = {}
    for each in lifecycle.stored_states:
        found = source.execute(f"SELECT {named} FROM {table} WHERE {state} IS ? LIMIT 1", (each.value,)).fetchone()
        if found is not None:
            row = dict(zip(columns, found, strict=True))
            examples[each.id] = {name: value for name, value in row.items() if name not in computed}
    return examples


def _forgotten(source: apsw.Connection, lifecycle: Lifecycle, binding: Binding) -> int:
    """How many rows of the table a guard of this lifecycle does not know as they are; 0 where there is none."""
    shape = TableShape(table_columns(source, binding.table), read_unique_indexes(source, binding.table))
    guard = SQLiteGuard(read_allowed(lifecycle), shape)
    with suppress(apsw.SQLError):  # there is no guard, or one of another lifecycle
        found = source.execute(guard.unknown_rows()).get
        return found if isinstance(found, int) else 0
    return 0


@record
class SQLiteBench:
    """Writes on a copy of the table. States and strays are values by what they are called; rows begin in ``created``
    and end in ``removed``.

    ``examples`` are rows of the real one, by the state that they are in; ``forgotten`` says how many of them the guard
    that is there does not know as they are.
    """

    connection: apsw.Connection
    binding: Binding
    states: Mapping[str, StateValue]
    strays: Mapping[str, StateValue]
    created: frozenset[str]
    removed: frozenset[str]
    examples: Mapping[str, _Values]
    forgotten: int = 0

    @cached_property
    def _values(self) -> Mapping[str, StateValue]:
        return {**self.strays, **self.states}

    @property
    def ways(self) -> tuple[str, ...]:
        """Each way of writing, and two for each unique index through which REPLACE can take the row away."""
        rivals = [f"{way} ({', '.join(names)})" for names in self._rivals for way in (RIVAL, RIVAL_UPDATE)]
        return (PLAIN, STATE, COUNTED, OR_IGNORE, UPSERT, REPLACE, MOVE, *rivals)

    @contextmanager
    def undo(self) -> Iterator[None]:
        """Undo at the end of the block, whatever became of it."""
        self.connection.execute("SAVEPOINT trial")
        try:
            yield
        finally:
            if self.connection.in_transaction:  # a guard may have rolled all back
                self.connection.execute("ROLLBACK TO trial")
                self.connection.execute("RELEASE trial")

    def write(self, way: str, row: int, source: str | None, target: str | None) -> Answer | None:
        """One write; see :class:`~arrowproof.conformance.guard_check.GuardBench`."""
        statement = self._statement(way, row, source, target)
        if statement is None:
            return None
        before = self._found(row)
        if [state for state, *_ in before] != self._held(source):
            return Answer(Outcome.UNTRIED, "the row was not in the state to start from")
        answer = self._run(*statement)
        is_as_before = self._found(row) == before
        if way in _FREE and answer.outcome is Outcome.UNTRIED:
            return None
        if answer.outcome is Outcome.REFUSED and not is_as_before:
            return Answer(Outcome.LET_THROUGH, f"RAISE(FAIL) lets what is changed stand: {answer.said}")
        if answer.outcome is Outcome.LET_THROUGH and is_as_before:
            # OR IGNORE says nothing of what it ignored: another constraint, perhaps.
            return None if way == OR_IGNORE else Answer(Outcome.REFUSED, "the statement changed nothing")
        return answer

    def touches(self, row: int) -> Iterator[tuple[str, Answer]]:
        """An update that names no state, and inserts that find their row there."""
        bound = {fold(name) for name in (*self.binding.key, *self.binding.watch, self.binding.state or "")}
        other = next((name for name in self._columns if fold(name) not in bound), None)
        if other is not None:
            sets = f"{quote(other)} = {quote(other)}"
            update = f"UPDATE {self._table} SET {sets} WHERE {self._is_key}"
            yield "an update of another column", self._run(update, self._key(row))
        for target in self.states:
            new = self._row(row, target)
            if new is not None:
                yield f"INSERT OR IGNORE as {target}", self._run(*self._insert("INSERT OR IGNORE", new))
                nothing = self._insert("INSERT", new, " ON CONFLICT DO NOTHING")
                yield f"ON CONFLICT DO NOTHING as {target}", self._run(*nothing)

    def loopholes(self) -> Iterator[tuple[str, Answer]]:
        """Rows that the guard does not know, and triggers by which others do not fire.

        RAISE(IGNORE) behind a change leaves it there, and ends the rest.
        """
        if self.forgotten:
            said = (
                "the guard's table has fallen behind, so that it sees a new row there: write the guard and run it again"
            )
            yield f"REPLACE of {self.forgotten} rows", Answer(Outcome.UNTRIED, said)
        for name, sql in self._triggers():
            if skips_what_follows(sql) and sqlite_trigger_beyond(sql, self.binding) is not None:
                said = "its RAISE(IGNORE) lets the change stand, and no other trigger sees it"
                yield f"a write after which the trigger {name} fires", Answer(Outcome.UNTRIED, said)

    def set_aside(self, allowed: Allowed) -> tuple[str, ...]:
        """Drop what looks at more than the row; the triggers that ``allowed`` gives stay."""
        table = self.binding.table
        shape = TableShape(table_columns(self.connection, table), read_unique_indexes(self.connection, table))
        own = [sql for is_plain in (False, True) for sql in SQLiteGuard(allowed, shape, is_plain).triggers()]
        dropped: dict[str, str] = {}
        for name, sql in self._triggers():
            beyond = sqlite_trigger_beyond(sql, self.binding)
            if beyond is not None and not any(same_text(sql, each, SQLITE) for each in own):
                self.connection.execute(f"DROP TRIGGER {quote(name)}")
                dropped[name] = beyond
        return told_aside(dropped)

    def _triggers(self) -> list[tuple[str, str]]:
        """The triggers of the table by name, but for those of the journal."""
        found = self.connection.execute("SELECT name, sql, tbl_name FROM sqlite_schema WHERE type = 'trigger'")
        own = [(str(name), str(sql)) for name, sql, table in found if fold(str(table)) == fold(self.binding.table)]
        return [each for each in own if not each[0].startswith(f"{JOURNAL}_journal_")]

    # --- Statements

    def _statement(self, way: str, row: int, source: str | None, target: str | None) -> _Statement | None:
        if way.startswith((RIVAL, RIVAL_UPDATE)):
            return None if source is None or target is not None else self._through_rival(way, row)
        if way == MOVE:
            return self._move(row, source) if target is None and source is not None else None
        if way in (STATE, COUNTED):
            return self._change(row, target, way) if source is not None and target not in (None, source) else None
        if source is not None and source == target:
            return self._change(row, source, COUNTED) if way == PLAIN else None
        if target is None:
            return (f"DELETE FROM {self._table} WHERE {self._is_key}", self._key(row)) if way == PLAIN else None
        new = self._row(row, target)
        if new is None:
            return None
        changed = {name: value for name, value in new.items() if fold(name) not in self._keys}
        if way == UPSERT:
            sets = ", ".join(f"{quote(name)} = excluded.{quote(name)}" for name in changed)
            keys = ", ".join(map(quote, self.binding.key))
            return self._insert("INSERT", new, f" ON CONFLICT ({keys}) DO UPDATE SET {sets}")
        if way == REPLACE or source is None:
            return self._insert({REPLACE: "REPLACE", OR_IGNORE: "INSERT OR IGNORE"}.get(way, "INSERT"), new)
        resolution = "OR IGNORE " if way == OR_IGNORE else ""
        sets = ", ".join(f"{quote(name)} = ?" for name in changed)
        update = f"UPDATE {resolution}{self._table} SET {sets} WHERE {self._is_key}"
        return update, [*changed.values(), *self._key(row)]

    def _change(self, row: int, target: str | None, way: str) -> _Statement | None:
        """The state is named and nothing else, or the watched columns change with it, as in a self-transition."""
        named = self._named_state
        watched = [quote(name) for name in self.binding.watch] if way == COUNTED else []
        if named is None or target is None or (way == COUNTED and not watched):
            return None
        sets = ", ".join([f"{quote(named)} = ?", *(f"{name} = coalesce({name}, 0) + 1" for name in watched)])
        return f"UPDATE {self._table} SET {sets} WHERE {self._is_key}", [self._values[target], *self._key(row)]

    def _move(self, row: int, state: str) -> _Statement | None:
        """A removal and a creation: not tried where the model has the one and lacks the other."""
        if state in self.removed and state not in self.created:
            return None
        sets = ", ".join(f"{quote(name)} = ?" for name in self.binding.key)
        return f"UPDATE {self._table} SET {sets} WHERE {self._is_key}", [*self._key(row + 1), *self._key(row)]

    def _through_rival(self, way: str, row: int) -> _Statement | None:
        """Another row, in a state of its own, takes this one's place in a unique index that is not the key's."""
        names = next(names for names in self._rivals if way.endswith(f" through ({', '.join(names)})"))
        new = next((self._row(row + 1, state) for state in self.states if state in self.created), None)
        if new is None:
            return None
        taken = {name: self._fresh(name, row) for name in names}
        if way.startswith(RIVAL):
            return self._insert("REPLACE", {**new, **taken})
        insert, values = self._insert("INSERT", new)
        sets = ", ".join(f"{quote(name)} = ?" for name in names)
        update = f"UPDATE OR REPLACE {self._table} SET {sets} WHERE {self._is_key}"
        return f"{insert}; {update}", [*values, *taken.values(), *self._key(row + 1)]

    def _insert(self, verb: str, new: _Values, ending: str = "") -> _Statement:
        columns, marks = ", ".join(map(quote, new)), ", ".join("?" * len(new))
        return f"{verb} INTO {self._table} ({columns}) VALUES ({marks}){ending}", list(new.values())

    def _run(self, sql: str, values: list[Any]) -> Answer:
        try:
            self.connection.execute(sql, values)
        except apsw.Error as error:
            is_raised = getattr(error, "extendedresult", 0) == apsw.SQLITE_CONSTRAINT_TRIGGER
            return Answer(Outcome.REFUSED if is_raised else Outcome.UNTRIED, str(error))
        return Answer(Outcome.LET_THROUGH)

    # --- Rows

    @property
    def _table(self) -> str:
        return quote(self.binding.table)

    @property
    def _keys(self) -> set[str]:
        return {fold(name) for name in self.binding.key}

    @property
    def _is_key(self) -> str:
        return " AND ".join(f"{quote(name)} = ?" for name in self.binding.key)

    @cached_property
    def _types(self) -> dict[str, tuple[str, bool]]:
        """The declared type of each column that can be written, and whether an insert has to name it."""
        listed = 'SELECT name, type, "notnull" AND dflt_value IS NULL FROM pragma_table_xinfo(?) WHERE hidden = 0'
        found = self.connection.execute(f"{listed} ORDER BY cid", (self.binding.table,)).fetchall()
        return {str(name): (str(kind).upper(), bool(needed)) for name, kind, needed in found}

    @property
    def _columns(self) -> list[str]:
        return list(self._types)

    @cached_property
    def _rivals(self) -> list[tuple[str, ...]]:
        """The columns of each unique index but the key's, those of expressions and of a part of the rows left out."""
        indexes = read_unique_indexes(self.connection, self.binding.table)
        whole = [index for index in indexes if not index.is_partial and len(index.named_columns) == len(index.columns)]
        return [
            tuple(name for name, _ in index.named_columns) for index in whole if not index.has_columns(self.binding.key)
        ]

    @property
    def _named_state(self) -> str | None:
        """The column of the state; None where it is derived from others, by the database or by the binding."""
        return next((name for name in self._types if fold(name) == fold(self.binding.state or "")), None)

    def _found(self, row: int) -> list[tuple[object, ...]]:
        """The state of the row and what is watched of it; empty when it is not there."""
        state = state_expression(self.binding, self._table, table_columns(self.connection, self.binding.table))
        columns = ", ".join([state, *map(quote, self.binding.watch)])
        return self.connection.execute(
            f"SELECT {columns} FROM {self._table} WHERE {self._is_key}", self._key(row)
        ).fetchall()

    def _held(self, state: str | None) -> list[object]:
        return [] if state is None else [self._values[state]]

    def _key(self, row: int) -> list[Any]:
        return [self._fresh(name, row) for name in self.binding.key]

    def _row(self, row: int, state: str) -> _Values | None:
        """What a row in this state may hold: as one of the real table, under a key and unique values of its own.

        None for a derived state of which there is no row to take for an example.
        """
        named = self._named_state
        if state not in self.examples and named is None:
            return None
        needed = {name: self._fresh(name, row) for name, (_, is_needed) in self._types.items() if is_needed}
        example = self.examples.get(state) or next(iter(self.examples.values()), {})
        unique = {name: self._fresh(name, row) for name in (*self.binding.key, *chain(*self._rivals))}
        own_state = {} if named is None else {named: self._values[state]}
        values: _Values = {}
        for part in (needed, example, unique, own_state):  # names are the same to SQLite whatever their case
            own = {fold(name): name for name in self._types}
            values.update({own[fold(name)]: value for name, value in part.items()})
        return values

    def _fresh(self, column: str, row: int) -> Any:
        """A value that no other row of the bench has, of a type that the column takes."""
        kind = next(kind for name, (kind, _) in self._types.items() if fold(name) == fold(column))
        held = {type(value) for each in self.examples.values() for name, value in each.items() if name == column}
        is_text = held == {str} or (int not in held and any(word in kind for word in ("CHAR", "CLOB", "TEXT")))
        return f"arrowproof {row}" if is_text else _FIRST + row
