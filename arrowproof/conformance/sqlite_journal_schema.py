"""The tables and triggers of a journal on SQLite, as SQL text for one binding.

:mod:`arrowproof.conformance.sqlite_journal` runs it.

Two tables: the journal itself, and a shadow of the bound table (key, state, watched columns, and the columns of other
unique indexes), by which an insert sees what it took the place of. Columns carry no type and no constraint: values keep
their own type, and nothing here can conflict, since SQLite lends the conflict clause of the outer statement (``INSERT
OR IGNORE``) to those of a trigger. Every statement of a trigger finds its rows by an index, unless the table has a
unique index of expressions alone.

SQLite fires the triggers of one event in the reverse order of their making. The trigger that marks rows which named
the state is therefore made just before the one that records, and finds what that one wrote as the last row.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from arrowproof.conformance.rows import quote, state_expression
from arrowproof.conformance.unique_indexes import UniqueIndex
from arrowproof.model.lifecycle import Binding
from arrowproof.model.record import record

PREFIX = "arrowproof"

_STORED = f"{PREFIX}_stored"
"""The name of the bound table's rows in a FROM, since the table may itself be called NEW or OLD."""


@record
class JournalSchema:
    """The SQL of one binding's journal.

    ``columns`` are those of the bound table, needed by a ``state_sql`` alone. Through each of ``unique_indexes`` but
    the key's own, REPLACE may take a row with another key away.
    """

    binding: Binding
    columns: tuple[str, ...]
    unique_indexes: tuple[UniqueIndex, ...]

    @property
    def _journal(self) -> str:
        return f"{PREFIX}_journal_{self.binding.table}"

    @property
    def _shadow(self) -> str:
        return f"{PREFIX}_shadow_{self.binding.table}"

    def _trigger(self, event: str) -> str:
        return f"{PREFIX}_journal_{event}_{self.binding.table}"

    @property
    def _keys(self) -> list[str]:
        return [f"key_{index}" for index in range(len(self.binding.key))]

    @property
    def _image_columns(self) -> list[str]:
        return ["state", *(f"watched_{index}" for index in range(len(self.binding.watch)))]

    @property
    def _other_indexes(self) -> list[UniqueIndex]:
        return [index for index in self.unique_indexes if not index.has_columns(self.binding.key)]

    @property
    def _rivals(self) -> dict[str, str]:
        """The columns of the other unique indexes, and what they are called in the shadow."""
        names = [name for index in self._other_indexes for name, _ in index.named_columns]
        return {name: f"unique_{position}" for position, name in enumerate(dict.fromkeys(names))}

    @property
    def _shadow_columns(self) -> list[str]:
        return [*self._keys, *self._image_columns, *self._rivals.values()]

    def _shadow_values(self, row: str) -> list[str]:
        return [*self._key(row), *self._image(row), *(f"{row}.{quote(column)}" for column in self._rivals)]

    @property
    def _journal_columns(self) -> list[str]:
        watched = range(len(self.binding.watch))
        olds, news = [f"old_{index}" for index in watched], [f"new_{index}" for index in watched]
        return ["operation", "kind", "old_state", "new_state", *self._keys, *olds, *news]

    def texts(self) -> Mapping[tuple[str, str], str]:
        """What ``sqlite_schema`` holds once the journal stands: the SQL of each (type, name)."""
        tables = [(("table", self._journal), self._journal_ddl()), (("table", self._shadow), self._shadow_ddl())]
        triggers = [(("trigger", self._trigger(event)), text) for event, text in self._triggers()]
        return dict(tables + triggers)

    def installation(self) -> Iterator[str]:
        """Every statement of an installation, in order."""
        yield self._journal_ddl()
        yield self._shadow_ddl()
        yield f"CREATE INDEX {quote(f'{self._shadow}_key')} ON {quote(self._shadow)} ({', '.join(self._keys)})"
        for number, index in enumerate(self._other_indexes):
            columns = [
                f"{self._rivals[name]} COLLATE {quote(coll)}" for name, coll in index.columns if name is not None
            ]
            if columns:
                name = quote(f"{self._shadow}_unique_{number}")
                yield f"CREATE INDEX {name} ON {quote(self._shadow)} ({', '.join(columns)})"
        yield self._remember("TRUE")
        for _, text in self._triggers():
            yield text

    def removal(self) -> Iterator[str]:
        """Every statement that takes the journal away; none fails when its object is gone already."""
        for event, _ in self._triggers():
            yield f"DROP TRIGGER IF EXISTS {quote(self._trigger(event))}"
        yield f"DROP TABLE IF EXISTS {quote(self._shadow)}"
        yield f"DROP TABLE IF EXISTS {quote(self._journal)}"

    def rows(self) -> str:
        """The query for journal rows after a given order (its one parameter)."""
        columns = ", ".join(self._journal_columns)
        return f'SELECT "order", {columns} FROM {quote(self._journal)} WHERE "order" > ? ORDER BY "order"'

    def states(self) -> str:
        """The query for the state, then the key, of every row of the bound table."""
        table = quote(self.binding.table)
        return f"SELECT {', '.join([self._image(table)[0], *self._key(table)])} FROM {table}"

    def last_order(self) -> str:
        """The query for the order of the last row; NULL when there is none."""
        return f'SELECT max("order") FROM {quote(self._journal)}'

    def _journal_ddl(self) -> str:
        return f'CREATE TABLE {quote(self._journal)} ("order" INTEGER PRIMARY KEY, {", ".join(self._journal_columns)})'

    def _shadow_ddl(self) -> str:
        return f"CREATE TABLE {quote(self._shadow)} ({', '.join(self._shadow_columns)})"

    def _triggers(self) -> Iterator[tuple[str, str]]:
        table = quote(self.binding.table)
        if self.binding.state is not None:
            when = f"{self._same_key()} AND {self._same_state('OLD', 'NEW')}"
            event = f"AFTER UPDATE OF {quote(self.binding.state)} ON {table} WHEN {when}"
            yield "named", self._trigger_ddl("named", event, [self._mark_as_named()])
        yield "update", self._trigger_ddl("update", f"AFTER UPDATE ON {table}", self._on_update())
        yield "insert", self._trigger_ddl("insert", f"AFTER INSERT ON {table}", self._on_insert())
        yield "delete", self._trigger_ddl("delete", f"AFTER DELETE ON {table}", self._on_delete())

    def _trigger_ddl(self, name: str, event: str, body: Sequence[str]) -> str:
        statements = "".join(f"  {statement};\n" for statement in body)
        return f"CREATE TRIGGER {quote(self._trigger(name))} {event} BEGIN\n{statements}END"

    def _mark_as_named(self) -> str:
        journal = quote(self._journal)
        return (
            f'UPDATE {journal} SET kind = \'named\' WHERE "order" = (SELECT max("order") FROM {journal})'
            f" AND kind = 'touched' AND {self._has_key('NEW')}"
        )

    def _on_update(self) -> list[str]:
        moved = f"NOT ({self._same_key()})"
        kind = f"CASE WHEN {self._same_state('OLD', 'NEW')} THEN 'touched' ELSE 'changed' END"
        old, new = self._image("OLD"), self._image("NEW")
        shadow = quote(self._shadow)
        return [
            self._record("'delete'", "'changed'", self._key("OLD"), old, None, moved),
            f"DELETE FROM {shadow} WHERE {self._has_key('OLD')} AND {moved}",
            *self._vanished(),
            *self._arrived(moved),
            self._refresh(),
            # The last row of all, where the trigger that marks named states looks for it.
            self._record("'update'", kind, self._key("NEW"), old, new, self._same_key()),
        ]

    def _refresh(self) -> str:
        """An UPDATE, since a row that is not in the shadow yet is being inserted, and the insert will put it there."""
        columns = self._shadow_columns[len(self._keys) :]
        values = self._shadow_values(_STORED)[len(self._keys) :]
        now = f"SELECT {', '.join(values)} FROM {self._stored_rows} WHERE {self._is_row('NEW')}"
        where = f"{self._has_key('NEW')} AND {self._same_key()}"
        return f"UPDATE {quote(self._shadow)} SET ({', '.join(columns)}) = ({now}) WHERE {where}"

    def _on_insert(self) -> list[str]:
        return [*self._vanished(), *self._arrived("TRUE")]

    def _on_delete(self) -> list[str]:
        return [
            self._record("'delete'", "'changed'", self._key("OLD"), self._image("OLD"), None, "TRUE"),
            f"DELETE FROM {quote(self._shadow)} WHERE {self._has_key('OLD')}",
        ]

    def _vanished(self) -> list[str]:
        """Rows of the shadow that the table no longer has: REPLACE took them for NEW, and no trigger was fired."""
        if not self._other_indexes:
            return []
        shadow = quote(self._shadow)
        keys = [f"{shadow}.{column}" for column in self._keys]
        image = [f"{shadow}.{column}" for column in self._image_columns]
        is_in_table = " AND ".join(f"{mine} IS {own}" for mine, own in zip(keys, self._key(_STORED), strict=True))
        rivals = " OR ".join(f"({self._is_rival(index)})" for index in self._other_indexes)
        is_stored = f"EXISTS (SELECT 1 FROM {self._stored_rows} WHERE {is_in_table})"
        gone = f"({rivals}) AND NOT ({self._has_key('NEW')}) AND NOT {is_stored}"
        return [
            self._record("'delete'", "'changed'", keys, image, None, gone, source=shadow),
            f"DELETE FROM {shadow} WHERE {gone}",
        ]

    def _is_rival(self, index: UniqueIndex) -> str:
        """The condition on the shadow for a row that NEW may have taken away: equal in all that can be compared."""
        shadow = quote(self._shadow)
        equal = [
            # The plus takes the column's affinity away, without which the shadow's index cannot be used.
            f"{shadow}.{self._rivals[name]} = +NEW.{quote(name)} COLLATE {quote(collation)}"
            for name, collation in index.named_columns
        ]
        return " AND ".join(equal) or "TRUE"

    def _arrived(self, condition: str) -> list[str]:
        """A row came under this key: into a free place, or by REPLACE into that of another."""
        shadow, new, keys = quote(self._shadow), self._image("NEW"), self._key("NEW")
        here = f"{self._has_key('NEW')} AND {condition}"
        kind = f"CASE WHEN state IS {new[0]} THEN 'named' ELSE 'changed' END"
        free = f"NOT EXISTS (SELECT 1 FROM {shadow} WHERE {self._has_key('NEW')}) AND {condition}"
        return [
            self._record("'insert'", "'changed'", keys, None, new, free),
            self._record("'replace'", kind, keys, self._image_columns, new, here, source=shadow),
            f"DELETE FROM {shadow} WHERE {here}",
            self._remember(f"{self._is_row('NEW')} AND {condition}"),
        ]

    def _record(
        self,
        operation: str,
        kind: str,
        keys: Sequence[str],
        old: Sequence[str] | None,
        new: Sequence[str] | None,
        condition: str,
        source: str | None = None,
    ) -> str:
        """An INSERT into the journal; ``old`` and ``new`` are images (state, then watched columns), None is no row."""
        nothing = ["NULL"] * (1 + len(self.binding.watch))
        old_state, *olds = old or nothing
        new_state, *news = new or nothing
        values = ", ".join([operation, kind, old_state, new_state, *keys, *olds, *news])
        columns = ", ".join(self._journal_columns)
        rows = f" FROM {source}" if source else ""
        return f"INSERT INTO {quote(self._journal)} ({columns}) SELECT {values}{rows} WHERE {condition}"

    def _remember(self, condition: str) -> str:
        """An INSERT into the shadow of what the table holds; a nested trigger may have changed more than NEW says."""
        values = ", ".join(self._shadow_values(_STORED))
        return f"INSERT INTO {quote(self._shadow)} SELECT {values} FROM {self._stored_rows} WHERE {condition}"

    @property
    def _stored_rows(self) -> str:
        """The bound table as it stands in a FROM."""
        return f"{quote(self.binding.table)} AS {_STORED}"

    def _is_row(self, row: str) -> str:
        """The condition on the bound table that finds the row which OLD or NEW stands for."""
        pairs = zip(self._key(_STORED), self._key(row), strict=True)
        return " AND ".join(f"{here} IS {there}" for here, there in pairs)

    def _key(self, row: str) -> list[str]:
        return [f"{row}.{quote(column)}" for column in self.binding.key]

    def _image(self, row: str) -> list[str]:
        state = state_expression(self.binding, row, self.columns)
        return [state, *(f"{row}.{quote(column)}" for column in self.binding.watch)]

    def _has_key(self, row: str) -> str:
        # The column without a type stands left: its collation, BINARY, is the one that counts. For the plus see below.
        return " AND ".join(f"{mine} IS +{theirs}" for mine, theirs in zip(self._keys, self._key(row), strict=True))

    def _same_key(self) -> str:
        pairs = zip(self._key("OLD"), self._key("NEW"), strict=True)
        return " AND ".join(f"{old} IS {new} COLLATE BINARY" for old, new in pairs)

    def _same_state(self, old: str, new: str) -> str:
        return f"{self._image(old)[0]} IS {self._image(new)[0]} COLLATE BINARY"
