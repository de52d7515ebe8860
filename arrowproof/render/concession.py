"""A concession: what the column of a page gives up so that its drawing is read.

A drawing with small text says nothing, and a column says the same behind a fold. So it is the column that gives way,
in this order: the reasons of a verdict to two, the panels that a lifecycle brings along to their titles, the reasons
to one, where the lifecycle is stored to its heading, and a list that has no room to the first transitions that do not
hold. What is given up stands behind a fold in its place, and a transition where its arrow is chosen.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

FOLD = 0.95
"""The width in rem of the sign before the words of a fold; the stylesheet (``column.css``) holds the same."""

_ALL = 1000


@dataclass(frozen=True)
class Concession:
    """The most ``reasons`` outside of a fold, and whether the panels and the binding stand in one.

    ``kept`` are the most transitions of a list that has no room.
    """

    reasons: int = _ALL
    folds_panels: bool = False
    folds_binding: bool = False
    kept: int = _ALL


NONE = Concession()
_IN_ORDER = (
    NONE,
    Concession(2),
    Concession(2, folds_panels=True),
    Concession(1, folds_panels=True),
    Concession(1, folds_panels=True, folds_binding=True),
    Concession(1, folds_panels=True, folds_binding=True, kept=4),
)


def concessions(reasons: int, kept: int, *, has_panels: bool, has_binding: bool) -> Iterator[Concession]:
    """What a column with so many reasons and kept transitions can give up, nothing first, each more than the last."""
    seen = set()
    for each in _IN_ORDER:
        conceded = Concession(
            each.reasons if reasons > each.reasons else _ALL,
            each.folds_panels and has_panels,
            each.folds_binding and has_binding,
            each.kept if kept > each.kept else _ALL,
        )
        if conceded not in seen:
            seen.add(conceded)
            yield conceded
