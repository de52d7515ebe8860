"""The changed row: what a statement that changes it can know of it."""

from __future__ import annotations

from arrowproof.conformance.grammar import SQLITE, Grammar
from arrowproof.conformance.tables import Table
from arrowproof.conformance.values import ANYTHING, Values
from arrowproof.model.record import record


@record
class Row:
    """The changed row as a statement sees it: what its state column may hold now (None while there is no row)."""

    table: Table
    state_column: str
    state: Values | None
    ties_subselects: bool = False
    """Whether sub-selects may be tied to the row: only in the WHERE of an UPDATE or DELETE, which is evaluated before
    anything is written. A SET clause and an upsert are evaluated between writes."""
    proposed: Values = ANYTHING
    """What an upsert's ``excluded`` row holds in the state column."""
    strings: frozenset[str] = frozenset()
    """State values that stand in double quotes. SQLite reads such a name as a string where no column bears it."""
    grammar: Grammar = SQLITE
    in_race: bool = False
    """Whether the row may have changed since it was read without a lock: then only what is locked, and the condition
    that is checked once more on the newest row, say what it holds."""
