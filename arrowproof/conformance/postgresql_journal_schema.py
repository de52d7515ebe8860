"""The tables, functions and triggers of a journal on PostgreSQL, as SQL text for one binding.

:mod:`arrowproof.conformance.postgresql_journal` runs it. All of it but the triggers stands in a schema of its own, so
that one DROP SCHEMA takes everything away, the triggers with the functions that they call.

PostgreSQL fires the triggers of one event in the order of their names. Those of a journal come ahead of what a service
is likely to have: what another trigger then changes is written after that which it came from. The one that marks rows
which named the state comes after the one that records, and finds what that one wrote by the sequence.

The functions run with the rights of whoever installed them, since a service may not write here, and therefore with a
search path of their own.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from hashlib import sha256

from arrowproof.conformance.postgresql_rows import READING, BoundTable
from arrowproof.conformance.rows import quote
from arrowproof.model.lifecycle import Binding
from arrowproof.model.record import record

LONGEST_QUERY = 2000
"""Characters of the client's string that a row keeps."""

_PREFIX = "arrowproof_journal_"
_LONGEST_NAME = 63
_RECORD = "00_arrowproof_1_record"
_NAMED = "00_arrowproof_2_named"
_EMPTIED = "00_arrowproof_3_emptied"
_COLUMNS = "operation, kind, old_state, new_state, key, old_watched, new_watched"


def schema_name(table: str) -> str:
    """The schema of the journal of a table; PostgreSQL would cut a longer name."""
    name = _PREFIX + table
    return name if len(name.encode()) <= _LONGEST_NAME else _PREFIX + sha256(table.encode()).hexdigest()[:32]


@record
class JournalQueries:
    """The SQL that asks a journal and takes it away; it needs no table, which may be gone."""

    table: str

    @property
    def schema(self) -> str:
        """The schema of the journal, as SQL text."""
        return quote(schema_name(self.table))

    @property
    def changes(self) -> str:
        """The table of the journal, as SQL text."""
        return f"{self.schema}.changes"

    def removal(self) -> str:
        """The statement that takes the journal away, where there is one."""
        return f"DROP SCHEMA IF EXISTS {self.schema} CASCADE"

    def rows(self, after: int) -> str:
        """The query for journal rows after a given order."""
        return f'SELECT "order", {_COLUMNS}, query FROM {self.changes} WHERE "order" > {after} ORDER BY "order"'

    def last_order(self) -> str:
        """The query for the order of the last committed row; NULL when there is none."""
        return f'SELECT max("order") FROM {self.changes}'

    def triggers(self) -> str:
        """The query for the triggers of the journal as they are: where, whether they always fire, what they do."""
        return f"""SELECT t.tgrelid::regclass::text, t.tgname::text, t.tgenabled::text, pg_get_triggerdef(t.oid),
    p.prosrc
FROM pg_catalog.pg_trigger t
JOIN pg_catalog.pg_proc p ON p.oid = t.tgfoid
JOIN pg_catalog.pg_namespace n ON n.oid = p.pronamespace
WHERE n.nspname = {literal(schema_name(self.table))}"""

    def fallen(self) -> str:
        """The query for how many of the triggers that were made are no longer there as they were made."""
        return f"SELECT count(*) FROM (SELECT * FROM {self.schema}.standing EXCEPT ({self.triggers()})) AS fallen"


@record
class PostgresJournalSchema:
    """The SQL that makes one binding's journal on a table that was found.

    ``leaves`` are the tables that hold its rows, as SQL text: its partitions, or itself. ``family`` is all of them and
    what is between. ``search_path`` is where a ``state_sql`` finds its functions.
    """

    binding: Binding
    table: BoundTable
    family: tuple[str, ...]
    leaves: tuple[str, ...]
    search_path: str

    @property
    def _queries(self) -> JournalQueries:
        return JournalQueries(self.binding.table)

    @property
    def _schema(self) -> str:
        return self._queries.schema

    @property
    def _changes(self) -> str:
        return self._queries.changes

    def installation(self) -> Iterator[str]:
        """Every statement of an installation, in order."""
        schema, table = self._schema, self.table.sql
        yield f"CREATE SCHEMA {schema}"
        yield self._changes_ddl()
        yield f"CREATE TABLE {schema}.standing (relation text, name text, enabled text, definition text, source text)"
        yield self._function("record", self._on_row())
        yield f"CREATE TRIGGER {quote(_RECORD)} AFTER INSERT OR UPDATE OR DELETE ON {table} {self._call('record')}"
        for relation in self.family:
            yield f"ALTER TABLE {relation} ENABLE ALWAYS TRIGGER {quote(_RECORD)}"
        if self.binding.state is not None:
            same = f"{self._state('OLD')} IS NOT DISTINCT FROM {self._state('NEW')}"
            yield self._function("named", self._on_named())
            event = f"AFTER UPDATE OF {quote(self.binding.state)} ON {table}"
            yield f"CREATE TRIGGER {quote(_NAMED)} {event} {self._call('named', when=same)}"
            for relation in self.family:
                yield f"ALTER TABLE {relation} ENABLE ALWAYS TRIGGER {quote(_NAMED)}"
        yield self._function("emptied", self._on_truncate())
        for leaf in self.leaves:
            call = f"FOR EACH STATEMENT EXECUTE FUNCTION {schema}.emptied()"
            yield f"CREATE TRIGGER {quote(_EMPTIED)} BEFORE TRUNCATE ON {leaf} {call}"
            yield f"ALTER TABLE {leaf} ENABLE ALWAYS TRIGGER {quote(_EMPTIED)}"
        yield f"INSERT INTO {schema}.standing {self._queries.triggers()}"

    def states(self) -> str:
        """The query for the key and the state of every row of the bound table."""
        return f"SELECT {self._key('row')}, {self._state('row')} FROM {self.table.sql} AS row"

    def _changes_ddl(self) -> str:
        return f"""CREATE TABLE {self._changes} (
    "order" bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    written_at timestamptz NOT NULL DEFAULT clock_timestamp(),
    statement_at timestamptz NOT NULL DEFAULT statement_timestamp(),
    transaction xid8 NOT NULL DEFAULT pg_current_xact_id(),
    backend integer NOT NULL DEFAULT pg_backend_pid(),
    query text DEFAULT left(current_query(), {LONGEST_QUERY}),
    relation oid,
    operation text NOT NULL,
    kind text NOT NULL,
    old_state jsonb,
    new_state jsonb,
    key jsonb NOT NULL,
    old_watched jsonb,
    new_watched jsonb
)"""

    def _function(self, name: str, body: Sequence[str]) -> str:
        is_plain = self.binding.state is not None
        path = "pg_catalog" if is_plain else self.search_path or "pg_catalog"
        names = [*self.binding.key, *self.binding.watch, self.binding.state or ""]
        is_settled = is_plain and all(self.table.column(each).settled for each in names)
        # Each setting takes its time at each call: only where a value may need it.
        settings = "" if is_settled else "".join(f" SET {each} TO {literal(to)}" for each, to in READING.items())
        statements = "".join(f"    {line}\n" for line in body)
        text = f"#variable_conflict use_column\nBEGIN\n{statements}    RETURN NULL;\nEND"
        return (
            f"CREATE FUNCTION {self._schema}.{name}() RETURNS trigger LANGUAGE plpgsql SECURITY DEFINER"
            f" SET search_path TO {path}, pg_temp{settings} AS {literal(text)}"
        )

    def _call(self, name: str, *, when: str | None = None) -> str:
        condition = "" if when is None else f"WHEN ({when}) "
        return f"FOR EACH ROW {condition}EXECUTE FUNCTION {self._schema}.{name}()"

    def _on_row(self) -> list[str]:
        return [
            "IF TG_OP = 'DELETE' THEN",
            f"    {self._deleted()};",
            "ELSIF TG_OP = 'INSERT' THEN",
            *(f"    {line}" for line in self._on_insert()),
            f"ELSIF {self._key('OLD')} = {self._key('NEW')} THEN",
            f"    {self._updated()};",
            "ELSE",
            f"    {self._deleted()};",
            f"    {self._inserted()};",
            "END IF;",
        ]

    def _on_insert(self) -> list[str]:
        """A row that an UPDATE moves to another partition is deleted there and inserted here: no row is gone or new.

        PostgreSQL fires the two one after the other. To other transactions they are one change in any case.
        """
        if self.table.kind != "p":
            return [f"{self._inserted()};"]
        kind = f"CASE WHEN old_state IS NOT DISTINCT FROM {self._state('NEW')} THEN 'touched' ELSE 'changed' END"
        return [
            f"UPDATE {self._changes} SET operation = 'update', kind = {kind}, relation = TG_RELID,",
            f"    new_state = {self._state('NEW')}, new_watched = {self._watched('NEW')}",
            f'WHERE "order" = (SELECT max("order") FROM {self._changes} WHERE transaction = pg_current_xact_id())',
            "    AND operation = 'delete' AND relation <> TG_RELID AND statement_at = statement_timestamp()",
            f"    AND key = {self._key('NEW')};",
            "IF NOT FOUND THEN",
            f"    {self._inserted()};",
            "END IF;",
        ]

    def _on_named(self) -> list[str]:
        sequence = f"pg_get_serial_sequence({literal(self._changes)}, 'order')"
        return [
            f"UPDATE {self._changes} SET kind = 'named'",
            f"WHERE \"order\" = currval({sequence}) AND kind = 'touched' AND key = {self._key('NEW')};",
        ]

    def _on_truncate(self) -> list[str]:
        """Ahead of it, since there is no row to be seen afterwards. A partition is emptied by itself or with all."""
        values = f"'delete', 'changed', {self._state('row')}, NULL, {self._key('row')}, {self._watched('row')}, NULL"
        insert = f"INSERT INTO {self._changes} ({_COLUMNS}) SELECT {values} FROM ONLY "
        return [f"EXECUTE {literal(insert)} || TG_RELID::regclass::text || ' AS row';"]

    def _deleted(self) -> str:
        return self._insert("'delete'", "'changed'", self._state("OLD"), "NULL", "OLD", self._watched("OLD"), "NULL")

    def _inserted(self) -> str:
        return self._insert("'insert'", "'changed'", "NULL", self._state("NEW"), "NEW", "NULL", self._watched("NEW"))

    def _updated(self) -> str:
        old, new = self._state("OLD"), self._state("NEW")
        kind = f"CASE WHEN {old} IS NOT DISTINCT FROM {new} THEN 'touched' ELSE 'changed' END"
        return self._insert("'update'", kind, old, new, "NEW", self._watched("OLD"), self._watched("NEW"))

    def _insert(
        self, operation: str, kind: str, old_state: str, new_state: str, keyed: str, old_watched: str, new_watched: str
    ) -> str:
        values = ", ".join([operation, kind, old_state, new_state, self._key(keyed), old_watched, new_watched])
        return f"INSERT INTO {self._changes} (relation, {_COLUMNS}) VALUES (TG_RELID, {values})"

    def _state(self, row: str) -> str:
        return self.table.state(self.binding, row)

    def _key(self, row: str) -> str:
        return self.table.values(self.binding.key, row)

    def _watched(self, row: str) -> str:
        return self.table.values(self.binding.watch, row)


def literal(text: str) -> str:
    """An SQL string that means ``text``, whatever standard_conforming_strings says."""
    quoted = text.replace("'", "''")
    return f" E'{quoted.replace(chr(92), chr(92) * 2)}'" if "\\" in quoted else f"'{quoted}'"
