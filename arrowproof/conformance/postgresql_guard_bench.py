"""The bench for a guard on PostgreSQL: the table itself, in a transaction that is rolled back.

Every insert gives every value that a sequence would give otherwise, since a sequence does not go back. TRUNCATE takes
the whole table for as long as its refusal lasts, and does not wait long for it.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from functools import cached_property
from itertools import chain
from typing import TYPE_CHECKING, Any

from arrowproof.conformance.grammar import POSTGRESQL
from arrowproof.conformance.guard import Allowed
from arrowproof.conformance.guard_check import Answer, Outcome, stray_values
from arrowproof.conformance.guard_reads import tokens_of
from arrowproof.conformance.postgresql_binding import check_postgresql_binding
from arrowproof.conformance.postgresql_guard_triggers import GuardTriggers
from arrowproof.conformance.postgresql_rows import BoundTable, open_server
from arrowproof.conformance.postgresql_samples import NUMBERS, bare_type, sample_values
from arrowproof.conformance.rows import quote
from arrowproof.errors import InputError
from arrowproof.model.lifecycle import Binding, Lifecycle, StateValue
from arrowproof.model.record import record
from arrowproof.model.transitions import derive_transitions

if TYPE_CHECKING:
    from psycopg import Connection

_Values = dict[str, str | None]
_Statement = tuple[str, list[str | None]]

STATE, COUNTED = "an update of the state alone", "an update of the state and what is watched"
MOVE = "an update of the key"
_FREE = (STATE, COUNTED, MOVE)
"""Ways that another constraint may forbid: what it forbids needs no guard there."""
PLAIN, UPSERT, REPLICA, TRUNCATE = "a plain statement", "UPSERT", "a statement in replica mode", "TRUNCATE"

_COLUMNS = """SELECT a.attname::text, format_type(a.atttypid, a.atttypmod), t.typcategory::text,
    (a.attnotnull AND d.adbin IS NULL) OR a.attidentity <> ''
        OR coalesce(pg_get_expr(d.adbin, d.adrelid) LIKE '%%nextval(%%', false),
    a.attidentity = 'a'
FROM pg_catalog.pg_attribute a JOIN pg_catalog.pg_type t ON t.oid = a.atttypid
LEFT JOIN pg_catalog.pg_attrdef d ON d.adrelid = a.attrelid AND d.adnum = a.attnum
WHERE a.attrelid = %s AND a.attnum > 0 AND NOT a.attisdropped AND a.attgenerated = ''
ORDER BY a.attnum"""

_UNIQUE = """SELECT array_agg(a.attname::text ORDER BY a.attnum)
FROM pg_catalog.pg_index i JOIN pg_catalog.pg_attribute a ON a.attrelid = i.indrelid AND a.attnum = ANY(i.indkey)
WHERE i.indrelid = %s AND i.indisunique GROUP BY i.indexrelid"""

_UNIQUE_EXPRESSIONS = """SELECT pg_get_indexdef(i.indexrelid, place, true)
FROM pg_catalog.pg_index i CROSS JOIN generate_series(1, i.indnkeyatts) AS place
WHERE i.indrelid = %s AND i.indisunique AND i.indkey[place - 1] = 0"""

_FOREIGN_KEYS = """SELECT c.conname::text, array_agg(a.attname::text)
FROM pg_catalog.pg_constraint c
JOIN pg_catalog.pg_attribute a ON a.attrelid = c.conrelid AND a.attnum = ANY(c.conkey)
WHERE c.conrelid = %s AND c.contype = 'f' AND c.conparentid = 0 GROUP BY c.oid ORDER BY 1"""

_LABELS = """SELECT e.enumlabel::text FROM pg_catalog.pg_enum e
WHERE e.enumtypid = to_regtype(%s) ORDER BY e.enumsortorder LIMIT 3"""

_CHILDREN = """SELECT i.inhrelid::regclass::text FROM pg_catalog.pg_inherits i
JOIN pg_catalog.pg_class c ON c.oid = i.inhparent
WHERE c.oid = %s AND c.relkind = 'r' ORDER BY 1 LIMIT 3"""


@contextmanager
def postgresql_bench(url: str, lifecycle: Lifecycle, binding: Binding) -> Iterator[PostgreSQLBench]:
    """A bench on the bound table of a server; everything is rolled back at the end of the block.

    Raises:
        InputError: the server does not answer, or the binding does not fit its table, or its key has no values.
        MissingEnvironmentError: psycopg is missing.
    """
    with open_server(url) as connection:
        connection.prepare_threshold = None
        table = check_postgresql_binding(connection, binding)
        pairs = [transition.pair for transition in derive_transitions(lifecycle)]
        created = frozenset(target for source, target in pairs if source is None and target is not None)
        removed = frozenset(source for source, target in pairs if target is None and source is not None)
        states = _texts({state.id: state.value for state in lifecycle.stored_states})
        strays = _texts(stray_values(lifecycle))
        with connection.transaction(force_rollback=True):
            connection.execute("SET LOCAL lock_timeout = '2s'")
            bench = PostgreSQLBench(connection, binding, table, states, strays, created, removed)
            bench.require_keys()
            bench.drop_foreign_keys()
            yield bench


@record
class _Column:
    """A column that can be written: its type, the type's category, whether an insert has to name it, and whether an
    update may not (``GENERATED ALWAYS AS IDENTITY``).
    """

    kind: str
    category: str
    is_needed: bool
    is_fixed: bool


@record
class PostgreSQLBench:
    """Writes on the table. States and strays are texts by what they are called.

    Rows begin in one of ``created`` and end in one of ``removed``.
    """

    connection: Connection[Any]
    binding: Binding
    table: BoundTable
    states: Mapping[str, str | None]
    strays: Mapping[str, str | None]
    created: frozenset[str]
    removed: frozenset[str]

    @cached_property
    def _values(self) -> Mapping[str, str | None]:
        return {**self.strays, **self.states}

    @property
    def ways(self) -> tuple[str, ...]:
        """Each way of writing."""
        return (PLAIN, STATE, COUNTED, UPSERT, MOVE, *([REPLICA] if self._may_replicate else []), TRUNCATE)

    @contextmanager
    def undo(self) -> Iterator[None]:
        """Undo at the end of the block, whatever became of it."""
        with self.connection.transaction(force_rollback=True):
            yield

    def write(self, way: str, row: int, source: str | None, target: str | None) -> Answer | None:
        """One write; see :class:`~arrowproof.conformance.guard_check.GuardBench`."""
        statement = self._statement(way, row, source, target)
        if statement is None:
            return None
        before = self._found(row)
        if [state for state, *_ in before] != self._held(source):
            return Answer(Outcome.UNTRIED, "the row was not in the state to start from")
        if way == REPLICA:
            self.connection.execute("SET LOCAL session_replication_role = replica")
        answer = self._run(*statement)
        if way in _FREE and answer.outcome is Outcome.UNTRIED:
            return None
        if answer.outcome is Outcome.LET_THROUGH and self._found(row) == before:
            return Answer(Outcome.REFUSED, "the statement changed nothing")
        return answer

    def touches(self, row: int) -> Iterator[tuple[str, Answer]]:
        """An update that names no state, and inserts that find their row there."""
        bound = (*self.binding.key, *self.binding.watch, self.binding.state)
        other = next(
            (name for name, column in self._columns.items() if name not in bound and not column.is_fixed), None
        )
        if other is not None:
            sets = f"{_name(other)} = {_name(other)}"
            update = f"UPDATE {self._table} SET {sets} WHERE {self._is_key}"
            yield "an update of another column", self._run(update, self._key(row))
        for target in self.states:
            new = self._row(row, target)
            if new is not None:
                nothing = self._insert(new, " ON CONFLICT DO NOTHING")
                yield f"ON CONFLICT DO NOTHING as {target}", self._run(*nothing)

    def loopholes(self) -> Iterator[tuple[str, Answer]]:
        """Children, whose rows are read with the table's, and for which none of its triggers fires."""
        for (child,) in self.connection.execute(_CHILDREN, (self.table.oid,)).fetchall():
            said = "no trigger of the table fires for its rows"
            yield f"a row of {child}, which inherits from the table", Answer(Outcome.UNTRIED, said)

    def set_aside(self, allowed: Allowed) -> tuple[str, ...]:
        """Disable what looks at more than the row, for this transaction; the triggers that ``allowed`` gives stay."""
        triggers = GuardTriggers(self.connection, self.binding, self.table)
        return triggers.set_aside(allowed)

    # --- Statements

    def _statement(self, way: str, row: int, source: str | None, target: str | None) -> _Statement | None:
        if way == TRUNCATE:  # other rows may be there, and so it is tried only where it has to be refused
            return (f"TRUNCATE {self._table}", []) if target is None and source not in self.removed else None
        if way == MOVE:
            return self._move(row, source) if target is None and source is not None else None
        if way in (STATE, COUNTED):
            return self._change(row, target, way) if source is not None and target not in (None, source) else None
        if source is not None and source == target:
            return self._change(row, source, COUNTED) if way != UPSERT else None
        if target is None:
            return (f"DELETE FROM {self._table} WHERE {self._is_key}", self._key(row)) if way != UPSERT else None
        new = self._row(row, target)
        if new is None:
            return None
        kept = {*self.binding.key, *(name for name, column in self._columns.items() if column.is_fixed)}
        changed = {name: value for name, value in new.items() if name not in kept}
        if way == UPSERT:
            sets = ", ".join(f"{_name(name)} = excluded.{_name(name)}" for name in changed)
            return self._insert(new, f" ON CONFLICT ({', '.join(map(_name, self.binding.key))}) DO UPDATE SET {sets}")
        if source is None:
            return self._insert(new)
        sets = ", ".join(f"{_name(name)} = {self._mark(name)}" for name in changed)
        return f"UPDATE {self._table} SET {sets} WHERE {self._is_key}", [*changed.values(), *self._key(row)]

    def _change(self, row: int, target: str | None, way: str) -> _Statement | None:
        """The state is named and nothing else, or the watched numbers change with it, as in a self-transition."""
        named = self._named_state
        columns = {name: self._columns.get(name) for name in self.binding.watch}
        numbers = [_name(name) for name, column in columns.items() if column and column.category == "N"]
        watched = numbers if way == COUNTED else []
        if named is None or target is None or (way == COUNTED and not watched):
            return None
        sets = [f"{_name(named)} = {self._mark(named)}", *(f"{name} = coalesce({name}, 0) + 1" for name in watched)]
        where = f"WHERE {self._is_key}"
        return f"UPDATE {self._table} SET {', '.join(sets)} {where}", [self._values[target], *self._key(row)]

    def _move(self, row: int, state: str) -> _Statement | None:
        """A removal and a creation: not tried where the model has the one and lacks the other."""
        if state in self.removed and state not in self.created:
            return None
        sets = ", ".join(f"{_name(name)} = {self._mark(name)}" for name in self.binding.key)
        return f"UPDATE {self._table} SET {sets} WHERE {self._is_key}", [*self._key(row + 1), *self._key(row)]

    def _insert(self, new: _Values, ending: str = "") -> _Statement:
        columns, marks = ", ".join(map(_name, new)), ", ".join(map(self._mark, new))
        values = f"OVERRIDING SYSTEM VALUE VALUES ({marks})"
        return f"INSERT INTO {self._table} ({columns}) {values}{ending}", list(new.values())

    def _run(self, sql: str, values: list[str | None]) -> Answer:
        import psycopg

        try:
            with self.connection.transaction():
                self.connection.execute(sql, values)
        except psycopg.Error as error:
            # RAISE of a function, and no constraint of a table that a function writes to.
            is_refusal = error.diag.constraint_name is None and "at RAISE" in (error.diag.context or "")
            said = error.diag.message_primary or str(error)
            return Answer(Outcome.REFUSED if is_refusal else Outcome.UNTRIED, said)
        return Answer(Outcome.LET_THROUGH)

    # --- Rows

    @property
    def _table(self) -> str:
        return self.table.sql.replace("%", "%%")

    @property
    def _is_key(self) -> str:
        return " AND ".join(f"{_name(name)} = {self._mark(name)}" for name in self.binding.key)

    @cached_property
    def _columns(self) -> dict[str, _Column]:
        """The columns that can be written."""
        found = self.connection.execute(_COLUMNS, (self.table.oid,)).fetchall()
        return {str(name): _Column(*facts) for name, *facts in found}

    @cached_property
    def _unique(self) -> set[str]:
        """The columns of every unique index, those of its expressions among them."""
        found = self.connection.execute(_UNIQUE, (self.table.oid,)).fetchall()
        expressions = self.connection.execute(_UNIQUE_EXPRESSIONS, (self.table.oid,)).fetchall()
        words = {token.name for (text,) in expressions for token in tokens_of(text, POSTGRESQL)}
        return {*self.binding.key, *chain(*(names for (names,) in found)), *(words & set(self._columns))}

    @cached_property
    def _may_replicate(self) -> bool:
        import psycopg

        try:
            with self.undo():
                self.connection.execute("SET LOCAL session_replication_role = replica")
        except psycopg.errors.InsufficientPrivilege:
            return False
        return True

    @cached_property
    def _examples(self) -> dict[str, _Values]:
        """One row of each state that has any."""
        names = ", ".join(f"row.{_name(name)}::text" for name in self._columns)
        examples = {}
        for state, value in self.states.items():
            where = f"{self._state} IS NOT DISTINCT FROM %s"
            query = f"SELECT {names} FROM {self._table} AS row WHERE {where} LIMIT 1"
            found = self.connection.execute(query, (value,)).fetchone()
            if found is not None:
                examples[state] = dict(zip(self._columns, found, strict=True))
        return examples

    @property
    def _named_state(self) -> str | None:
        """The column of the state; None where it is derived from others, by the database or by the binding."""
        return self.binding.state if self.binding.state in self._columns else None

    @property
    def _state(self) -> str:
        """The state of the row that is called ``row``, as text."""
        if self.binding.state is not None:
            return f"row.{_name(self.binding.state)}::text"
        alias = _name(self.binding.table.rpartition(".")[2])
        expression = (self.binding.state_sql or "").replace("%", "%%")
        return f"(SELECT ({expression}\n)::text FROM (SELECT row.*) AS {alias})"

    def _found(self, row: int) -> list[tuple[str | None, ...]]:
        """The state of the row and what is watched of it; empty when it is not there."""
        conditions = " AND ".join(f"row.{_name(name)} = {self._mark(name)}" for name in self.binding.key)
        columns = ", ".join([self._state, *(f"row.{_name(name)}::text" for name in self.binding.watch)])
        query = f"SELECT {columns} FROM {self._table} AS row WHERE {conditions}"
        return self.connection.execute(query, self._key(row)).fetchall()

    def _held(self, state: str | None) -> list[str | None]:
        return [] if state is None else [self._values[state]]

    def _mark(self, column: str) -> str:
        """The place of a value, which is given as text."""
        return f"%s::{self._columns[column].kind}"

    def _key(self, row: int) -> list[str | None]:
        return [self._fresh[name][row] for name in self.binding.key]

    def _row(self, row: int, state: str) -> _Values | None:
        """What a row in this state may hold: as one of the table, under a key and unique values of its own.

        None for a derived state of which there is no row to take for an example.
        """
        named = self._named_state
        if state not in self._examples and named is None:
            return None
        needed: _Values = {name: self._fresh[name][row] for name, column in self._columns.items() if column.is_needed}
        example = self._examples.get(state) or next(iter(self._examples.values()), {})
        unique = {name: self._fresh[name][row] for name in self._unique}
        own_state = {} if named is None else {named: self._values[state]}
        return {**needed, **example, **unique, **own_state}

    @cached_property
    def _fresh(self) -> dict[str, tuple[str, ...]]:
        """For each column values that no row has, by the row of the bench."""
        return {name: tuple(self._values_of(name, column)) for name, column in self._columns.items()}

    def _values_of(self, name: str, column: _Column) -> Iterator[str]:
        highest, kind = 0, column.kind
        if name in self._unique and bare_type(kind) in NUMBERS:
            query = f"SELECT floor(max({_name(name)})::text::numeric) FROM {self._table}"
            found = self.connection.execute(query).fetchone()
            highest = int(found[0] or 0) if found else 0
        labels = self.connection.execute(_LABELS, (kind,)).fetchall() if column.category == "E" else ()
        yield from sample_values(kind, column.category, labels=tuple(label for (label,) in labels), above=highest)

    def require_keys(self) -> None:
        """See to it that the key takes the values that the bench makes.

        Raises:
            InputError: it does not.
        """
        import psycopg

        for name in self.binding.key:
            if name not in self._columns:
                raise InputError(
                    f"the database computes the key column {name!r}: no guard can be tried on rows of ours"
                )
            try:
                with self.undo():
                    self.connection.execute(f"SELECT {self._mark(name)}", (self._fresh[name][0],))
            except psycopg.Error as error:
                kind = self._columns[name].kind
                raise InputError(
                    f"the key column {name!r} is of the type {kind}, of which the check can make no values, so that"
                    " a guard cannot be tried"
                ) from error

    def drop_foreign_keys(self) -> None:
        """Drop, for this transaction, the foreign keys that the values of the bench do not fit.

        It takes the owner of the table, and others wait for both tables for as long as the bench stands. A deferred one
        would not do: TRUNCATE is not to be had while its check waits.
        """
        import psycopg

        made = self._unique | (
            set() if self._examples else {name for name, it in self._columns.items() if it.is_needed}
        )
        for name, columns in self.connection.execute(_FOREIGN_KEYS, (self.table.oid,)).fetchall():
            if made.isdisjoint(columns):
                continue
            with suppress(psycopg.errors.InsufficientPrivilege), self.connection.transaction():
                self.connection.execute(f"ALTER TABLE {self.table.sql} DROP CONSTRAINT {quote(name)}")


def _texts(values: Mapping[str, StateValue]) -> Mapping[str, str | None]:
    return {name: None if value is None else str(value) for name, value in values.items()}


def _name(name: str) -> str:
    """A name in a statement with parameters, whose marks begin with a per cent sign."""
    return quote(name).replace("%", "%%")
