"""The guard's script: a file of SQL that installs a guard or takes it away, for whoever runs a database.

It is one transaction of its own. As a migration it leaves that to the tool that runs it, and has both ways in one file,
each behind its mark: ``-- migrate:up`` and ``-- migrate:down``.
"""

from __future__ import annotations

from collections.abc import Iterable

from arrowproof.conformance.display import one_line
from arrowproof.conformance.guard import Allowed
from arrowproof.conformance.postgresql_guard import PostgreSQLGuard
from arrowproof.conformance.sqlite_guard import SQLiteGuard
from arrowproof.model.lifecycle import Dialect
from arrowproof.model.record import record

MARK = "-- A guard by Arrowproof: "
"""The first line of every script begins with it."""


@record
class GuardScript:
    """The text of a guard's file."""

    guard: SQLiteGuard | PostgreSQLGuard

    def installation(self) -> str:
        """The script that installs the guard."""
        return f"{self._head()}{self._notes()}{self._transaction(self.guard.installation())}"

    def removal(self) -> str:
        """The script that takes it away."""
        return f"{self._head()}{self._transaction(self.guard.removal())}"

    def migration(self) -> str:
        """Both ways, for a tool that makes the transactions."""
        up, down = _statements(self.guard.installation()), _statements(self.guard.removal())
        return f"{self._head()}{self._notes()}-- migrate:up\n{up}\n-- migrate:down\n{down}"

    @property
    def asks_for_new_sqlite(self) -> bool:
        """Whether a SQLite before 3.47 cannot read a schema that has the guard."""
        return isinstance(self.guard, SQLiteGuard) and not self.guard.is_plain

    @property
    def _allowed(self) -> Allowed:
        return self.guard.allowed

    def _head(self) -> str:
        table = one_line(self._allowed.binding.table)
        return f"{MARK}the table {table} lets through what the lifecycle {one_line(self._allowed.model_id)} has.\n"

    def _notes(self) -> str:
        lines = ["Run it again when the lifecycle changes: it takes the place of the guard before."]
        if isinstance(self.guard, SQLiteGuard):
            lines.append(
                "A table that is rebuilt (copied, dropped, renamed) loses its triggers: run it again then, too."
            )
            if self.asks_for_new_sqlite:
                lines.append("SQLite 3.47 or newer; an older one that opens the database cannot read its schema.")
        return "".join(f"-- {line}\n" for line in lines)

    def _transaction(self, statements: Iterable[str]) -> str:
        begin = "BEGIN IMMEDIATE" if isinstance(self.guard, SQLiteGuard) else "BEGIN"
        return f"{begin};\n{_statements(statements)}COMMIT;\n"


def _statements(statements: Iterable[str]) -> str:
    return "".join(f"{statement};\n" for statement in statements)


DIALECTS = (Dialect.SQLITE, Dialect.POSTGRESQL)
"""The dialects that a guard can be written in."""
