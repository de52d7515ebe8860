"""Undrawn rows: rows that stand in a state which the model does not draw, and that no journal row brought there.

A service that starts with rows in its table (a seed, a fixture, what a migration left) has made them ahead of the
journal. What stands there in a value of no state is no less undrawn than what the run makes, and is said; what the
journal brought there is a sneak path that happened, and is said as one.
"""

from __future__ import annotations

from collections.abc import Iterable

from arrowproof.conformance.balance import States
from arrowproof.conformance.rows import key_text
from arrowproof.conformance.walks import state_name
from arrowproof.model.evidence import JournalRow, Row
from arrowproof.model.lifecycle import Lifecycle

_ROWS_NAMED = 3


def undrawn_rows(lifecycle: Lifecycle, start: States, end: States, journal: Iterable[JournalRow]) -> tuple[str, ...]:
    """A sentence for the rows that stood undrawn when the journal was made, and one for those that do at the end.

    Args:
        lifecycle: the model.
        start: the rows when the journal was made.
        end: the rows at the end.
        journal: all that it holds: what it brought where it stands is left out at the end.
    """
    brought = {(row.key, row.new_state) for row in journal if row.operation != "delete"}
    early = [key for key, state in start.items() if lifecycle.state_of_value(state) is None]
    late = [
        key
        for key, state in end.items()
        if lifecycle.state_of_value(state) is None and (key, state) not in brought and (key, state) not in start.items()
    ]
    return (
        *_said(lifecycle, start, early, "When the journal was made"),
        *_said(lifecycle, end, late, "At the end"),
    )


def _said(lifecycle: Lifecycle, states: States, keys: list[Row], when: str) -> tuple[str, ...]:
    if not keys:
        return ()
    count = "one row stood" if len(keys) == 1 else f"{len(keys)} rows stood"
    named = "; ".join(f"{key_text(key)} in {state_name(lifecycle, states[key])}" for key in keys[:_ROWS_NAMED])
    more = f" and {len(keys) - _ROWS_NAMED} more" if len(keys) > _ROWS_NAMED else ""
    return (f"{when}, {count} in a state that the model does not draw: {named}{more}.",)
