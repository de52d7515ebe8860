from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from arrowproof.model.evidence import Kill, Place, Side, Statement, TransitionEvidence, Walk
from arrowproof.model.rung import Rung, rung_of

WALK = Walk("open", "closed", ("close",), (), (), None, None, ())
BEFORE, AFTER = (
    Kill("open", "closed", side, "point", None, (), None, None, None, ()) for side in (Side.BEFORE, Side.AFTER)
)
WHOLE = TransitionEvidence(
    "open",
    "closed",
    (("close",),),
    (Statement(Place("a.sql", 1), "UPDATE t SET s = 'closed' WHERE s = 'open'"),),
    (WALK,),
    (BEFORE, AFTER),
)
LACKS_STATEMENT: dict[str, Any] = {"written": ()}
LACKS_WALK: dict[str, Any] = {"walks": ()}
WENT_WRONG = {"walks": (WALK, replace(WALK, problem="it moved another row"))}
KILLED_ONCE = {"kills": (BEFORE,)}
KILL_WENT_WRONG = {"kills": (BEFORE, replace(AFTER, problem="the row was lost"))}


@pytest.mark.parametrize(
    ("change", "rung"),
    [
        (LACKS_STATEMENT | LACKS_WALK | {"kills": ()}, Rung.MISSING),
        (LACKS_STATEMENT | WENT_WRONG, Rung.MISSING),
        (LACKS_WALK, Rung.WRITTEN),
        (WENT_WRONG, Rung.WRITTEN),
        (KILL_WENT_WRONG, Rung.NOT_SURVIVED),
        (LACKS_STATEMENT | KILL_WENT_WRONG, Rung.NOT_SURVIVED),
        (LACKS_STATEMENT, Rung.NOT_WRITTEN),
        ({"kills": ()}, Rung.WALKED),
        (KILLED_ONCE, Rung.WALKED),
        ({}, Rung.SURVIVED),
    ],
)
def test_a_rung_counts_only_above_every_rung_below_it(change: dict[str, Any], rung: Rung) -> None:
    assert rung_of(replace(WHOLE, **change), is_guarded=False) is rung


@pytest.mark.parametrize(("change", "rung"), [({}, Rung.GUARDED), (KILLED_ONCE, Rung.WALKED)])
def test_only_what_survived_can_be_guarded(change: dict[str, Any], rung: Rung) -> None:
    assert rung_of(replace(WHOLE, **change), is_guarded=True) is rung


def test_of_the_walks_only_those_that_are_given_count() -> None:
    half = replace(WHOLE, **WENT_WRONG)

    assert rung_of(half, is_guarded=False, walks=(WALK,)) is Rung.SURVIVED
    assert rung_of(half, is_guarded=False, walks=()) is Rung.WRITTEN


def test_a_higher_rung_never_has_a_worse_tone() -> None:
    heights = {tone: [rung.height for rung in Rung if rung.tone == tone] for tone in ("wrong", "gap", "holds")}

    assert heights == {"wrong": [0, 1], "gap": [2, 3], "holds": [4, 5, 6]}
