"""The balance: whether the journal's rows add up from the table as it was to the table as it is.

A change that no trigger saw (triggers disabled, dropped for a while, silenced by another one) or a journal row that
someone took away leaves a row of the table in a state that the journal does not lead to. The order of journal rows does
not matter here, since nested triggers make it differ from that of the changes. What cannot be seen: hidden changes that
end where they began, and a service that writes journal rows of its own to fit.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping

from arrowproof.model.evidence import JournalRow, Row, Scalar

States = Mapping[Row, Scalar]
"""The state of every row of the bound table, by key in the binding's order."""

_Held = tuple[Scalar, ...]
"""What a key holds: its state as the one item, or nothing while there is no row."""


def find_unbalanced(start: States, end: States, journal: Iterable[JournalRow]) -> tuple[Row, ...]:
    """The keys of rows that the journal does not lead from their state in ``start`` to that in ``end``, in order.

    A key with a null in it is left out: it may name several rows.
    """
    counts: dict[Row, Counter[_Held]] = {}
    for key in (*start, *end):
        counts[key] = Counter()
    for row in journal:
        count = counts.setdefault(row.key, Counter())
        count[() if row.operation == "insert" else (row.old_state,)] -= 1
        count[() if row.operation == "delete" else (row.new_state,)] += 1
    for states, sign in ((start, 1), (end, -1)):
        for key, count in counts.items():
            count[(states[key],) if key in states else ()] += sign
    unbalanced = [key for key, count in counts.items() if any(count.values())]
    return tuple(key for key in unbalanced if all(value is not None for _, value in key))
