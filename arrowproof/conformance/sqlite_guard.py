"""The guard in SQLite's dialect: triggers that refuse, and a shadow table by which an insert sees what it replaced.

Rules, each shown by a test:

* REPLACE fires no DELETE trigger while ``recursive_triggers`` is off, and a guard BEFORE INSERT would refuse what ``ON
  CONFLICT DO NOTHING``, ``OR IGNORE`` and UPSERT are allowed to do. So the shadow keeps the key and state of every row,
  with the columns of the table's other unique indexes: after an insert it still has those that the new row took away.
* ``RAISE(ABORT)`` undoes the whole statement, and beats its ``OR IGNORE``, ``OR REPLACE`` and ``OR FAIL``.
* The shadow's columns carry no type and no constraint, so that no value changes and no statement of a trigger can
  conflict. A trigger judges OLD and NEW themselves; the shadow only knows what is gone.
* The rows that are there already are judged when the guard is installed, by a trigger that lives for that long and
  rolls the installation back.

The message names row, source and target; SQLite takes an expression there from version 3.47 on. A library before it
cannot read a schema with such a trigger at all, so there is a plain form, whose message names the table and the event.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from arrowproof.conformance.guard import PREFIX, Allowed, text_literal
from arrowproof.conformance.rows import quote, state_expression
from arrowproof.conformance.table_shape import TableShape
from arrowproof.conformance.unique_indexes import UniqueIndex
from arrowproof.model.lifecycle import Binding, StateValue
from arrowproof.model.record import record

_ROW = "bound"
"""What the table is called in a trigger, since one that bears the name would be taken for OLD or NEW."""

_SHOWN = 80
"""Characters of a key or state in a message."""


@record
class SQLiteGuard:
    """The SQL of one table's guard. ``is_plain`` leaves the row out of messages, for SQLite before 3.47."""

    allowed: Allowed
    shape: TableShape
    is_plain: bool = False

    def installation(self) -> Iterator[str]:
        """Every statement of an installation, in order; run them in one transaction. Running them again is harmless.

        The triggers on the table stand before the rows are judged: where a client goes on after the error, which has
        rolled all of this back, nothing is left of it.
        """
        yield from self.removal()
        yield from self._shadow_ddl()
        yield self._trigger("fill", f"BEFORE INSERT ON {self._shadow}", [self._judge_what_is_there()])
        yield from self.triggers()
        yield self._remember("TRUE")
        yield f"DROP TRIGGER {self._name('fill')}"

    def removal(self) -> Iterator[str]:
        """Every statement that takes the guard away; none fails when its object is gone already."""
        for event in ("fill", "named", "insert", "update", "delete"):
            yield f"DROP TRIGGER IF EXISTS {self._name(event)}"
        yield f"DROP TABLE IF EXISTS {self._shadow}"

    def triggers(self) -> Iterator[str]:
        """The triggers that refuse."""
        if self._binding.state is not None and self._binding.watch:
            event = f"AFTER UPDATE OF {quote(self._binding.state)} ON {self._table}"
            yield self._trigger("named", event, [self._judge_named()])
        yield self._trigger("insert", f"AFTER INSERT ON {self._table}", [*self._vanished(), *self._arrived("TRUE")])
        yield self._trigger("update", f"AFTER UPDATE ON {self._table}", self._on_update())
        yield self._trigger("delete", f"AFTER DELETE ON {self._table}", self._on_delete())

    def unknown_rows(self) -> str:
        """A query for the number of rows that the shadow does not hold as they are; an error without a shadow."""
        columns = ", ".join([*self._keys, "state", *self._watched, *self._rival_columns.values()])
        values = ", ".join([*self._key(_ROW), *self._rest(_ROW)])
        known = f"SELECT {columns} FROM {self._shadow}"
        return f"SELECT count(*) FROM (SELECT {values} FROM {self._table} AS {_ROW} EXCEPT {known})"

    # --- Names

    @property
    def _binding(self) -> Binding:
        return self.allowed.binding

    @property
    def _table(self) -> str:
        return quote(self._binding.table)

    @property
    def _shadow(self) -> str:
        return quote(f"{PREFIX}_{self._binding.table}")

    def _name(self, event: str) -> str:
        return quote(f"{PREFIX}_{event}_{self._binding.table}")

    def _index(self, name: str) -> str:
        """Indexes and tables share their names: one that no shadow of any table has."""
        return quote(f"{PREFIX}ed_{name}_{self._binding.table}")

    @property
    def _keys(self) -> list[str]:
        return [f"key_{number}" for number in range(len(self._binding.key))]

    @property
    def _watched(self) -> list[str]:
        return [f"watched_{number}" for number in range(len(self._binding.watch))]

    @property
    def _rivals(self) -> list[UniqueIndex]:
        """The unique indexes through which REPLACE can take away a row with another key."""
        return [index for index in self.shape.unique_indexes if not index.has_columns(self._binding.key)]

    @property
    def _rival_columns(self) -> dict[str, str]:
        """The columns of those indexes, and what the shadow calls them."""
        names = dict.fromkeys(name for index in self._rivals for name, _ in index.named_columns)
        return {name: f"unique_{number}" for number, name in enumerate(names)}

    def _shadow_ddl(self) -> Iterator[str]:
        columns = [*self._keys, "state", *self._watched, *self._rival_columns.values()]
        yield f"CREATE TABLE {self._shadow} ({', '.join(columns)})"
        yield f"CREATE INDEX {self._index('key')} ON {self._shadow} ({', '.join(self._keys)})"
        for number, index in enumerate(self._rivals):
            by = [f"{self._rival_columns[name]} COLLATE {quote(collation)}" for name, collation in index.named_columns]
            if by:
                yield f"CREATE INDEX {self._index(f'unique_{number}')} ON {self._shadow} ({', '.join(by)})"

    def _trigger(self, event: str, when: str, body: Iterable[str]) -> str:
        statements = "".join(f"  {statement};\n" for statement in body)
        return f"CREATE TRIGGER {self._name(event)} {when} BEGIN\n{statements}END"

    # --- What each trigger does

    def _on_update(self) -> list[str]:
        moved = f"NOT ({self._is_key('OLD', 'NEW')})"
        old, new = self._state("OLD"), self._state("NEW")
        stays = f"{self._is_key('OLD', 'NEW')} AND NOT {_same(old, new)}"
        return [
            self._refuse(old, None, self._key("OLD"), moved),
            f"DELETE FROM {self._shadow} WHERE {self._has_key('OLD')} AND {moved}",
            *self._vanished(),
            *self._arrived(moved),
            self._refuse(old, new, self._key("NEW"), stays),
            self._refresh(),
        ]

    def _on_delete(self) -> list[str]:
        return [
            self._refuse(self._state("OLD"), None, self._key("OLD"), "TRUE"),
            f"DELETE FROM {self._shadow} WHERE {self._has_key('OLD')}",
        ]

    def _judge_named(self) -> str:
        """A self-transition: the state was named and left, and a watched column was changed."""
        old, new = self._state("OLD"), self._state("NEW")
        watched = [_same(f"OLD.{quote(column)}", f"NEW.{quote(column)}") for column in self._binding.watch]
        condition = f"{self._is_key('OLD', 'NEW')} AND {_same(old, new)} AND NOT ({' AND '.join(watched)})"
        return self._refuse(old, new, self._key("NEW"), condition)

    def _vanished(self) -> list[str]:
        """Rows that the new one took away through a unique index: the shadow has them, and the table has not."""
        if not self._rivals:
            return []
        matches = " OR ".join(f"({self._matches(index)})" for index in self._rivals)
        pairs = zip(self._key(_ROW), self._keys, strict=True)
        is_here = " AND ".join(f"{column} IS {self._shadow}.{key}" for column, key in pairs)
        is_gone = f"NOT EXISTS (SELECT 1 FROM {self._table} AS {_ROW} WHERE {is_here})"
        gone = f"({matches}) AND NOT ({self._has_key('NEW')}) AND {is_gone}"
        return [
            self._refuse("state", None, self._keys, gone, self._shadow),
            f"DELETE FROM {self._shadow} WHERE {gone}",
        ]

    def _matches(self, index: UniqueIndex) -> str:
        equal = [
            # The plus takes the column's affinity away, without which the shadow's index cannot be used.
            f"{self._shadow}.{self._rival_columns[name]} = +NEW.{quote(name)} COLLATE {quote(collation)}"
            for name, collation in index.named_columns
        ]
        return " AND ".join(equal) or "TRUE"

    def _arrived(self, condition: str) -> list[str]:
        """A row came under this key: into a free place, or by REPLACE into that of another."""
        new, has_key = self._state("NEW"), self._has_key("NEW")
        pairs = zip(self._watched, self._binding.watch, strict=True)
        is_touch = " AND ".join([_same("state", new), *(_same(mine, f"NEW.{quote(name)}") for mine, name in pairs)])
        is_free = f"NOT EXISTS (SELECT 1 FROM {self._shadow} WHERE {has_key})"
        return [
            self._refuse(None, new, self._key("NEW"), f"{condition} AND {is_free}"),
            self._refuse("state", new, self._keys, f"{condition} AND {has_key} AND NOT ({is_touch})", self._shadow),
            f"DELETE FROM {self._shadow} WHERE {has_key} AND {condition}",
            self._remember(f"{self._is_key(_ROW, 'NEW')} AND {condition}"),
        ]

    def _remember(self, condition: str) -> str:
        """The row as the table holds it; another trigger may have changed more than NEW says."""
        values = ", ".join([*self._key(_ROW), *self._rest(_ROW)])
        return f"INSERT INTO {self._shadow} SELECT {values} FROM {self._table} AS {_ROW} WHERE {condition}"

    def _refresh(self) -> str:
        """An UPDATE, since a row that is not in the shadow yet is being inserted, and the insert will put it there."""
        columns = ["state", *self._watched, *self._rival_columns.values()]
        row = f"FROM {self._table} AS {_ROW} WHERE {self._is_key(_ROW, 'NEW')}"
        values = f"(SELECT {', '.join(self._rest(_ROW))} {row})"
        return f"UPDATE {self._shadow} SET ({', '.join(columns)}) = {values} WHERE {self._has_key('NEW')}"

    def _judge_what_is_there(self) -> str:
        names = [f"NEW.{key}" for key in self._keys]
        said = f"{_shown('NEW.state')} || {self._literal(' is no state of the lifecycle ')}"
        message = self._message(f"{said} || '; the guard was not installed'", names, "a row is in no state")
        return f"SELECT RAISE(ROLLBACK, {message}) WHERE NOT ({_is_any('NEW.state', self.allowed.states)})"

    # --- Refusal

    def _refuse(self, old: str | None, new: str | None, keys: Sequence[str], condition: str, source: str = "") -> str:
        """A SELECT that raises where the model lets nothing go from ``old`` (None: creation) to ``new`` (removal)."""
        columns = [f"{old or 'NULL'} AS old", f"{new or 'NULL'} AS new"]
        columns += [f"{key} AS {name}" for key, name in zip(keys, self._keys, strict=True)]
        rows = f"{f' FROM {source}' if source else ''} WHERE {condition}"
        if old is None:
            event, lets = "creation", _is_any("new", self.allowed.created)
        elif new is None:
            event, lets = "removal", _is_any("old", self.allowed.removed)
        else:
            event, lets = "transition", self._lets()
        ends = [_shown("old") if old else "'created'", _shown("new") if new else "'removed'"]
        said = " || ' -> ' || ".join(ends) + f" || {self._literal(' is not in the lifecycle ')}"
        message = self._message(said, self._keys, f"{event} that is not in the lifecycle")
        judged = f"FROM (SELECT {', '.join(columns)}{rows})"
        return f"SELECT RAISE(ABORT, {message})\n    {judged}\n    WHERE NOT ({lets})"

    def _lets(self) -> str:
        """The condition on the two states that a row may go from the one to the other."""
        ways = [
            f"({_is_any('old', sources)}) AND ({_is_any('new', targets)})" for sources, targets in self.allowed.ways
        ]
        return " OR ".join(ways) or "FALSE"

    def _literal(self, text: str) -> str:
        return text_literal(text + self.allowed.model_id)

    def _message(self, said: str, keys: Sequence[str], plainly: str) -> str:
        """``jobs id=3: 'failed' -> 'completed' is not in the lifecycle notes-job``; without the row when plain."""
        table = self._binding.table
        if self.is_plain:
            return text_literal(f"{table}: {plainly} {self.allowed.model_id}")
        names = [f"{', ' if number else ' '}{column}=" for number, column in enumerate(self._binding.key)]
        names[0] = table + names[0]
        row = " || ".join(f"{text_literal(name)} || {_shown(key)}" for name, key in zip(names, keys, strict=True))
        return f"{row} || ': ' || {said}"

    # --- Rows

    def _state(self, row: str) -> str:
        return state_expression(self._binding, row, self.shape.columns)

    def _key(self, row: str) -> list[str]:
        return [f"{row}.{quote(column)}" for column in self._binding.key]

    def _rest(self, row: str) -> list[str]:
        """What the shadow holds of a row behind its key."""
        return [self._state(row), *(f"{row}.{quote(name)}" for name in (*self._binding.watch, *self._rival_columns))]

    def _has_key(self, row: str) -> str:
        """The condition on the shadow. Its column stands left: that one's collation, BINARY, counts."""
        return " AND ".join(f"{mine} IS +{theirs}" for mine, theirs in zip(self._keys, self._key(row), strict=True))

    def _is_key(self, one: str, other: str) -> str:
        pairs = zip(self._key(one), self._key(other), strict=True)
        return " AND ".join(f"{mine} IS {theirs} COLLATE BINARY" for mine, theirs in pairs)


def _same(one: str, other: str) -> str:
    """Whether two values are the same to the last bit: SQLite holds 1 and 1.0 for equal."""
    return f"(+{one} IS +{other} COLLATE BINARY AND typeof({one}) = typeof({other}))"


def _is_any(name: str, values: Iterable[StateValue]) -> str:
    """The condition, true or false and never NULL, that a column holds one of these values, in value and type."""
    values = tuple(values)
    texts = ", ".join(text_literal(value) for value in values if isinstance(value, str))
    numbers = ", ".join(str(value) for value in values if isinstance(value, int))
    choices = [
        f"typeof({name}) = 'text' AND +{name} COLLATE BINARY IN ({texts})" if texts else "",
        f"typeof({name}) = 'integer' AND +{name} IN ({numbers})" if numbers else "",
        f"{name} IS NULL" if None in values else "",
    ]
    return " OR ".join(choice for choice in choices if choice) or "FALSE"


def _shown(name: str) -> str:
    return f"substr(quote({name}), 1, {_SHOWN})"
