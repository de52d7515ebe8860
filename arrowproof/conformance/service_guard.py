"""The guard of a service under proof: whether its own schema makes one, and what that refuses.

A proof installs none: production must have it too. It is looked at once the drive is over and the service stopped, on
the service's database as the service made it. A table without a trigger but the journal's has no guard, and costs
nothing; one whose triggers refuse nothing that the model lacks has none either.

Credited is what triggers refuse that look at the row alone. One that asks other tables, settings or the clock refuses
here what it may let through in production.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from arrowproof.errors import InputError
from arrowproof.model.lifecycle import Binding, Lifecycle

if TYPE_CHECKING:
    from arrowproof.conformance.guard_check import GuardCheck

_SQLITE_TRIGGERS = "SELECT name, tbl_name FROM sqlite_schema WHERE type = 'trigger'"
_POSTGRESQL_TRIGGERS = """SELECT EXISTS (
    SELECT FROM pg_catalog.pg_trigger t JOIN pg_catalog.pg_proc p ON p.oid = t.tgfoid
    WHERE t.tgrelid = %s AND NOT t.tgisinternal AND p.pronamespace IS DISTINCT FROM to_regnamespace(%s)
)"""


def check_service_guard(address: Path | str, lifecycle: Lifecycle) -> GuardCheck | None:
    """Check the guard of a service that is stopped; None when it has none. Nothing of its database is changed.

    Raises:
        InputError: the lifecycle has no binding, or the database cannot be used.
        ModelError: the transitions of the lifecycle cannot be derived.
    """
    if lifecycle.binding is None:
        raise InputError(f"lifecycle {lifecycle.id!r} has no binding, so there is no table to have a guard")
    if not _has_triggers(address, lifecycle.binding):
        return None
    from arrowproof.conformance.guard_check import Answer, GuardCheck, GuardTrial, Outcome, check_guard_of

    try:
        credited = check_guard_of(address, lifecycle, by_row_alone=True)
        if credited.as_evidence().refused:
            return credited
        # Nothing is left of it: whether that which was set aside is to be spoken of at all.
        is_any = bool(credited.set_aside) and check_guard_of(address, lifecycle).as_evidence().refused
    except InputError as error:  # what was walked stands, with or without a guard
        untried = Answer(Outcome.UNTRIED, str(error))
        return GuardCheck((GuardTrial("any undeclared write", Outcome.REFUSED, untried),))
    return credited if is_any else None


def _has_triggers(address: Path | str, binding: Binding) -> bool:
    """Whether the table has triggers that are not the journal's."""
    if isinstance(address, Path):
        from arrowproof.conformance.names import fold
        from arrowproof.conformance.rows import open_database
        from arrowproof.conformance.sqlite_journal_schema import PREFIX

        with open_database(address) as connection:
            found = connection.execute(_SQLITE_TRIGGERS).fetchall()
        own = [str(name) for name, table in found if fold(str(table)) == fold(binding.table)]
        return any(not name.startswith(f"{PREFIX}_journal_") for name in own)
    from arrowproof.conformance.postgresql_journal_schema import schema_name
    from arrowproof.conformance.postgresql_rows import bound_table, open_server
    from arrowproof.conformance.rows import quote

    with open_server(address) as server:
        table = bound_table(server, binding)
        asked = server.execute(_POSTGRESQL_TRIGGERS, (table.oid, quote(schema_name(binding.table)))).fetchone()
    return bool(asked and asked[0])
