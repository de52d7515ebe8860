"""A concession: what the column of a page gives up so that its drawing is read.

A drawing with small text says nothing, and a column says the same behind a fold. So it is the column that gives way,
in the order in which a reader misses it least: the panels that a lifecycle brings along to their titles, where it is
stored to its heading, the reasons of a verdict to the first two, the list to the transitions that do not hold, then to
the first of these, the sneak paths to the first of them, and the reasons to one. What is given up stands behind a fold
in its place, and a transition where its arrow is chosen.
"""

from __future__ import annotations

from collections.abc import Iterator

from arrowproof.model.record import record

FOLD = 0.95
"""The width in rem of the sign before the words of a fold; the stylesheet (``column.css``) holds the same."""

_ALL = 1000


@record
class Concession:
    """Whether the panels and the binding stand in a fold, and the most ``reasons`` outside of one.

    Where the list ``may_be_short`` it is as good short as whole; ``kept`` are the most transitions of a short one, and
    ``sneaks`` the most sneak paths outside of a fold.
    """

    folds_panels: bool = False
    folds_binding: bool = False
    reasons: int = _ALL
    may_be_short: bool = False
    kept: int = _ALL
    sneaks: int = _ALL


NONE = Concession()
_IN_ORDER = (
    NONE,
    Concession(folds_panels=True),
    Concession(folds_panels=True, folds_binding=True),
    Concession(folds_panels=True, folds_binding=True, reasons=2),
    Concession(folds_panels=True, folds_binding=True, reasons=2, may_be_short=True),
    Concession(folds_panels=True, folds_binding=True, reasons=2, may_be_short=True, kept=4),
    Concession(folds_panels=True, folds_binding=True, reasons=2, may_be_short=True, kept=4, sneaks=3),
    Concession(folds_panels=True, folds_binding=True, reasons=1, may_be_short=True, kept=4, sneaks=3),
)


def concessions(reasons: int, kept: int, sneaks: int, *, has_panels: bool, has_binding: bool) -> Iterator[Concession]:
    """What a column can give up, nothing first, each more than the last.

    It has so many reasons, kept transitions and sneak paths. One line saved is no fold's worth.
    """
    seen = set()
    for each in _IN_ORDER:
        conceded = Concession(
            each.folds_panels and has_panels,
            each.folds_binding and has_binding,
            each.reasons if reasons > each.reasons else _ALL,
            each.may_be_short,
            each.kept if kept > each.kept else _ALL,
            each.sneaks if sneaks > each.sneaks + 1 else _ALL,
        )
        if conceded not in seen:
            seen.add(conceded)
            yield conceded
