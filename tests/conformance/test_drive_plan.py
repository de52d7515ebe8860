"""How a drive goes along its plan: few rows, and what a tour does not come to is walked by the shortest way."""

from __future__ import annotations

from pathlib import Path

import pytest

from arrowproof.conformance.coverage import walked_pairs
from arrowproof.conformance.drive import DriveResult, drive
from arrowproof.conformance.trials import Trials
from arrowproof.model.evidence import Detour
from arrowproof.model.lifecycle import Lifecycle
from arrowproof.model.transitions import derive_transitions
from tests.conformance.ledgers import REFUSED, LedgerDriver, ledger

ROUND = ("place: created -> open", "pay: open -> paid", "reopen: paid -> open", "cancel: open -> removed")
STAND_BY = ((("id", 1),), (("id", 2),))
"""The rows that are left in the states of ROUND, before anything else: nobody else's walk may touch them."""
LONG_WAY = ("created -> open", "open -> paid", "paid -> open", "open -> removed")


def run(tmp_path: Path, instead: dict[str, str], *arrows: str, pairs: bool = False) -> DriveResult:
    return drive(ledger(*(arrows or ROUND)), LedgerDriver(instead), tmp_path / "out", trials=Trials(pairs=pairs))


def walked(result: DriveResult) -> list[tuple[str | None, str | None, str | None]]:
    return [(walk.source, walk.target, walk.problem) for walk in result.walks if walk.key not in STAND_BY]


def rows_created(result: DriveResult) -> int:
    return sum(row.operation == "insert" for row in result.journal)


def is_whole(lifecycle: Lifecycle, result: DriveResult) -> bool:
    good = {(walk.source, walk.target) for walk in result.walks if walk.problem is None}
    return good == {transition.pair for transition in derive_transitions(lifecycle)}


def test_a_whole_lifecycle_is_walked_on_one_row_where_that_can_be(tmp_path: Path) -> None:
    result = run(tmp_path, {})
    assert walked(result) == [
        (None, "open", None),
        ("open", "paid", None),
        ("paid", "open", None),
        ("open", None, None),
    ]
    assert (rows_created(result), result.detours) == (len(STAND_BY) + 1, ())


@pytest.mark.parametrize(
    ("past", "change"),
    [
        ("open paid", "UPDATE entries SET state = 'paid' WHERE state = 'open'"),
        ("open paid open removed", "DELETE FROM entries WHERE state = 'open'"),
    ],
)
def test_whoever_changes_every_row_of_a_state_changes_one_that_stands_by(
    tmp_path: Path, past: str, change: str
) -> None:
    result = run(tmp_path, {past: change})
    assert any("also came open -> " in str(walk.problem) for walk in result.walks)


def test_what_comes_behind_a_step_that_fails_is_walked_by_the_shortest_way(tmp_path: Path) -> None:
    result = run(tmp_path, {"open paid": REFUSED})
    problems = [walk for walk in walked(result) if walk[2] is not None]
    assert ("open", None, None) in walked(result)
    assert problems == [
        ("open", "paid", "not now The journal holds nothing."),
        ("open", "paid", "not now The journal holds nothing."),  # on the way to what can only be reached by it
    ]


@pytest.mark.parametrize(
    ("instead", "problem"),
    [
        (REFUSED, "not now The journal holds nothing."),
        ("paid", "open -> removed was asked for; the journal holds open -> paid (id=3)."),
    ],
)
def test_a_step_that_goes_otherwise_within_the_model_on_a_longer_way_is_a_detour_and_no_fault(
    tmp_path: Path, instead: str, problem: str
) -> None:
    result = run(tmp_path, {"open paid open removed": instead})
    assert result.detours == (Detour(LONG_WAY, problem),)
    assert is_whole(ledger(*ROUND), result)
    assert [problem for *_, problem in walked(result) if problem] == []
    assert (result.problems, result.sneak_paths) == ((), ())
    assert rows_created(result) == len(STAND_BY) + 2


@pytest.mark.parametrize(
    "instead",
    [
        "void",  # a transition that is not drawn
        "paid open removed",  # what was asked for, and more
        "UPDATE entries SET note = 'x' WHERE id = {id}",  # a touch
        "INSERT INTO entries (state) SELECT 'open' WHERE 1 = 1",  # another row
    ],
)
def test_a_step_that_goes_otherwise_than_the_model_on_a_longer_way_is_a_fault(tmp_path: Path, instead: str) -> None:
    result = run(tmp_path, {"open paid open removed": instead})
    assert result.detours == ()
    (problem,) = [problem for *_, problem in walked(result) if problem]
    assert problem.startswith("open -> removed was asked")


def test_a_step_that_is_made_and_complained_of_on_a_longer_way_is_a_fault(tmp_path: Path) -> None:
    driver = LedgerDriver()
    walk = driver.walk

    def complain(transition, key):
        done = walk(transition, key)
        assert driver.past.get(3) != "open paid open removed", "something else is wrong"
        return done

    driver.walk = complain  # type: ignore[method-assign]
    result = drive(ledger(*ROUND), driver, tmp_path / "out")
    assert result.detours == ()
    (problem,) = [problem for *_, problem in walked(result) if problem]
    assert "something else is wrong" in problem


def test_a_refusal_on_the_shortest_way_is_a_fault(tmp_path: Path) -> None:
    result = run(tmp_path, {"open paid open removed": REFUSED, "open removed": REFUSED})
    assert [walk for walk in walked(result) if walk[2]] == [("open", None, "not now The journal holds nothing.")]
    assert len(result.detours) == 1


def test_all_pairs_are_walked_when_they_are_asked_for(tmp_path: Path) -> None:
    arrows = (*ROUND, "again: open -> open", "settle: paid -> removed")
    transitions = derive_transitions(ledger(*arrows))
    wanted = {(a.pair, b.pair) for a in transitions for b in transitions if a.target == b.source is not None}
    assert walked_pairs(run(tmp_path, {}, *arrows, pairs=True).walks) == wanted


def test_a_pair_that_the_service_does_not_make_is_told_and_no_fault(tmp_path: Path) -> None:
    result = run(tmp_path, {"open paid open paid": REFUSED}, pairs=True)
    transitions = derive_transitions(ledger(*ROUND))
    wanted = {(a.pair, b.pair) for a in transitions for b in transitions if a.target == b.source is not None}
    assert wanted - walked_pairs(result.walks) == {(("paid", "open"), ("open", "paid"))}
    assert [detour.steps for detour in result.detours] == [
        ("created -> open", "open -> paid", "paid -> open", "open -> paid")
    ]
    assert is_whole(ledger(*ROUND), result)
    assert [problem for *_, problem in walked(result) if problem] == []
