"""The triggers of a table on PostgreSQL, told apart by what they look at (:mod:`arrowproof.conformance.guard_reads`).

A guard that this lifecycle gives is known by being the same afterwards when it is installed once more, in a transaction
that goes back. A trigger that is judged by its words may still not see the row as it will be: BEFORE, or with UPDATE
OF, it misses what another BEFORE trigger then changes. It counts as looking elsewhere where there is such another one.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from arrowproof.conformance.grammar import POSTGRESQL
from arrowproof.conformance.guard import Allowed
from arrowproof.conformance.guard_reads import beyond_the_row, same_text, tokens_of, told_aside
from arrowproof.conformance.postgresql_guard import PostgreSQLGuard
from arrowproof.conformance.postgresql_journal_schema import schema_name
from arrowproof.conformance.postgresql_rows import BoundTable
from arrowproof.conformance.rows import quote
from arrowproof.errors import InputError
from arrowproof.model.lifecycle import Binding
from arrowproof.model.record import record

if TYPE_CHECKING:
    from psycopg import Connection

_TRIGGERS = """SELECT t.tgname::text, pg_get_triggerdef(t.oid), t.tgenabled::text, t.tgtype::int, t.tgattr::text <> '',
    l.lanname::text, p.prosrc, p.prosecdef, coalesce(p.proconfig, '{}')
FROM pg_catalog.pg_trigger t
JOIN pg_catalog.pg_proc p ON p.oid = t.tgfoid JOIN pg_catalog.pg_language l ON l.oid = p.prolang
WHERE t.tgrelid = %s AND NOT t.tgisinternal AND t.tgenabled <> 'D'
    AND p.pronamespace IS DISTINCT FROM to_regnamespace(%s)
ORDER BY t.tgname"""

_ROW, _BEFORE = 1, 2
"""Bits of ``tgtype``."""


@record
class _Trigger:
    name: str
    definition: str
    enabled: str
    type: int
    has_columns: bool
    language: str
    body: str
    as_owner: bool
    settings: list[str]

    @property
    def is_before_row(self) -> bool:
        return self.type & (_ROW | _BEFORE) == _ROW | _BEFORE

    @property
    def head(self) -> str:
        """The definition up to the function, which may stand in any schema."""
        return self.definition.rpartition(" EXECUTE FUNCTION ")[0]

    @property
    def condition(self) -> str:
        """Its WHEN; empty when it has none."""
        starts = [token.start for token in tokens_of(self.head, POSTGRESQL) if token.word == "WHEN"]
        return self.head[starts[0] :] if starts else ""

    def same(self, other: _Trigger, *, by_path: bool) -> bool:
        """Whether both do the same. ``by_path`` lets them look for names on search paths of their own."""
        left_out = "search_path=" if by_path else "\0"
        mine, theirs = (
            (it.head, it.enabled, it.as_owner, [each for each in it.settings if not each.startswith(left_out)])
            for it in (self, other)
        )
        return mine == theirs and same_text(self.body, other.body, POSTGRESQL)


@record
class GuardTriggers:
    """The triggers of the bound table, but for the journal's and those that are disabled."""

    connection: Connection[Any]
    binding: Binding
    table: BoundTable

    def set_aside(self, allowed: Allowed) -> tuple[str, ...]:
        """Disable every trigger that may look at more than the row; what each looks at, in words.

        Call it in a transaction that is rolled back. It takes the owner of the table.
        """
        own = self._own(allowed)
        judged = [trigger for trigger in self._found() if trigger.name not in own]
        beyond = {trigger.name: self._beyond(trigger) for trigger in judged}
        others = [each.name for each in judged if each.is_before_row and beyond[each.name] is not None]
        for trigger in judged if others else ():
            if beyond[trigger.name] is None and (trigger.is_before_row or trigger.has_columns):
                beyond[trigger.name] = f"the row before {others[0]}, which may still change it"
        found = {name: what for name, what in beyond.items() if what is not None}
        for name in found:
            self.connection.execute(f"ALTER TABLE {self.table.sql} DISABLE TRIGGER {quote(name)}")
        return told_aside(found)

    def _beyond(self, trigger: _Trigger) -> str | None:
        if trigger.language != "plpgsql":
            return f"what a function in {trigger.language} may look at"
        if trigger.has_columns and not self._waits_for_state(trigger):
            return "updates that name other columns than the state"
        return beyond_the_row(trigger.condition, trigger.body, self.binding, POSTGRESQL)

    def _waits_for_state(self, trigger: _Trigger) -> bool:
        tokens = tokens_of(trigger.head, POSTGRESQL)
        words = [token.word for token in tokens]
        start = words.index("OF") if "OF" in words else len(words)
        return any(token.name == self.binding.state for token in tokens[start : words.index("ON", start)])

    def _own(self, allowed: Allowed) -> frozenset[str]:
        """The triggers that stay the same when the guard of this lifecycle is installed once more."""
        import psycopg

        before = {trigger.name: trigger for trigger in self._found()}
        after: dict[str, _Trigger] = {}
        try:
            with self.connection.transaction(force_rollback=True):
                for statement in PostgreSQLGuard(allowed).installation():
                    self.connection.execute(statement)
                after = {trigger.name: trigger for trigger in self._found()}
                names = [name for name in after if name.startswith("arrowproof_guard_")]
        except (psycopg.Error, InputError):
            return frozenset()
        by_path = self.binding.state_sql is not None
        return frozenset(name for name in names if name in before and before[name].same(after[name], by_path=by_path))

    def _found(self) -> list[_Trigger]:
        rows = self.connection.execute(_TRIGGERS, (self.table.oid, quote(schema_name(self.binding.table))))
        return [_Trigger(*row) for row in rows.fetchall()]
