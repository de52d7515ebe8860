"""Events that are fired where the model does not have them: what they may do, and what they may not."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

import pytest

from arrowproof.conformance.coverage import measure_coverage
from arrowproof.conformance.drive import DriveResult, drive
from arrowproof.conformance.driver import DriverError
from arrowproof.conformance.verdict import judge
from arrowproof.model.evidence import Row, Share, TransitionEvidence, Verdict
from arrowproof.model.lifecycle import AcceptedSneakPath, Lifecycle
from tests.conformance.ledgers import REFUSED, LedgerDriver, ledger

MODEL = ledger("place: created -> open", "pay: open -> paid", "cancel: open -> removed", "cancel2: paid -> void")
"""Its events are place, pay, cancel and cancel2; nine of its twelve pairs of state and event are illegal."""


class FiringDriver(LedgerDriver):
    """What events do, as SQL by event and state; an event that is not named is refused."""

    def __init__(self, does: Mapping[str, str] | None = None) -> None:
        super().__init__()
        self.does = does or {}
        self.asked: list[str] = []

    def fire(self, event: str, key: Row) -> object:
        number = key[0][1]
        asked = f"{event} in {self.run('SELECT state FROM entries WHERE id = ?', number)}"
        self.asked.append(asked)
        match self.does.get(asked):
            case None:
                raise DriverError("409")
            case "unknown":
                raise KeyError(event)
            case statement:
                self.run(statement.format(id=number))
                return "done"


def run(tmp_path: Path, does: Mapping[str, str], model: Lifecycle = MODEL) -> tuple[DriveResult, FiringDriver]:
    driver = FiringDriver(does)
    return drive(model, driver, tmp_path / "out"), driver


def problems(result: DriveResult) -> dict[str, str]:
    return {f"{event.event} in {event.state}": event.problem for event in result.events if event.problem is not None}


def test_each_illegal_event_is_fired_once_in_its_state_and_no_legal_one(tmp_path: Path) -> None:
    result, driver = run(tmp_path, {})
    illegal = {
        f"{event} in {state}" for state in ("open", "paid", "void") for event in ("place", "pay", "cancel", "cancel2")
    }
    illegal -= {"pay in open", "cancel in open", "cancel2 in paid"}
    assert sorted(driver.asked) == sorted(illegal)
    assert (result.event_share, problems(result)) == (Share(9, 9), {})
    assert {event.answer for event in result.events} == {"409"}
    assert [walk.problem for walk in result.walks if walk.problem] == []


@pytest.mark.parametrize(
    ("statement", "problem"),
    [
        ("UPDATE entries SET state = 'open' WHERE id = {id}", "the journal holds paid -> open (id=2)"),
        ("UPDATE entries SET state = 'void' WHERE id = {id}", "the journal holds paid -> void (id=2)"),
        ("UPDATE entries SET note = 'x' WHERE id = {id}", "the journal holds a touch in paid (id=2)"),
        ("INSERT INTO entries (state) VALUES ('paid')", "the journal holds created -> paid (id=3)"),
        ("INSERT INTO entries (state) VALUES ('open')", "the journal holds created -> open (id=3)"),
    ],
)
def test_whatever_an_illegal_event_changes_is_its_problem(tmp_path: Path, statement: str, problem: str) -> None:
    result, _ = run(tmp_path, {"pay in paid": statement})
    assert problems(result) == {"pay in paid": problem}
    assert result.event_share == Share(8, 9)


def test_what_an_illegal_event_makes_undrawn_is_a_sneak_path_that_happened_with_its_rows(tmp_path: Path) -> None:
    result, _ = run(tmp_path, {"pay in paid": "UPDATE entries SET state = 'open' WHERE id = {id}"})
    (path,) = result.sneak_paths
    assert (path.source, path.target) == ("paid", "open")
    assert path.happened == next(event.journal for event in result.events if event.problem)


def test_what_an_illegal_event_has_moved_is_left_there_and_the_rest_is_walked_and_fired_all_the_same(
    tmp_path: Path,
) -> None:
    result, _ = run(tmp_path, {"place in open": "UPDATE entries SET state = 'void' WHERE id = {id}"})
    assert set(problems(result)) == {"place in open"}
    assert {(walk.source, walk.target) for walk in result.walks if walk.problem is None} == {
        (None, "open"),
        ("open", "paid"),
        ("open", None),
        ("paid", "void"),
    }
    assert len(result.events) == 9


def test_events_for_which_other_events_left_no_row_are_told_together(tmp_path: Path) -> None:
    result, _ = run(tmp_path, {"place in void": "UPDATE entries SET note = 'x' WHERE id = {id}"})
    assert [said for said in result.left_out if "fired" in said] == [
        "pay, cancel, cancel2 were not fired in void: other events changed each row that came there."
    ]


def test_events_of_a_state_that_no_row_came_to_are_told_together(tmp_path: Path) -> None:
    driver = FiringDriver()
    driver.instead = {"open paid": REFUSED}
    result = drive(MODEL, driver, tmp_path / "out")
    said = [each for each in result.left_out if "not fired in paid" in each]
    assert len(said) == 1
    assert said[0].endswith(" were not fired in paid: no row came there.")


def test_an_event_that_creates_rows_may_create_another_one(tmp_path: Path) -> None:
    result, _ = run(tmp_path, {"place in paid": "INSERT INTO entries (state) VALUES ('open')"})
    assert problems(result) == {}
    assert [walk.problem for walk in result.walks if walk.problem] == []
    assert [len(event.journal) for event in result.events if event.event == "place" and event.state == "paid"] == [1]


def test_an_event_that_the_driver_cannot_fire_is_told_and_not_counted(tmp_path: Path) -> None:
    result, _ = run(tmp_path, {"pay in void": "unknown"})
    assert result.event_share == Share(8, 9)
    (said,) = [line for line in result.left_out if "fired" in line]
    assert said.startswith("pay was not fired in void: The driver failed: KeyError: 'pay' (test_illegal_events.py:")


def test_what_changed_although_the_driver_could_not_fire_is_a_problem_all_the_same(tmp_path: Path) -> None:
    result, _ = run(tmp_path, {"pay in paid": "UPDATE entries SET note = 'x' WHERE id = {id}; SELECT no_such_column"})
    assert problems(result) == {"pay in paid": "the journal holds a touch in paid (id=2)"}


def test_a_driver_without_fire_has_none_fired_and_the_report_says_so(tmp_path: Path) -> None:
    result = drive(MODEL, LedgerDriver(), tmp_path / "out")
    assert (result.events, result.event_share) == ((), None)
    assert "Illegal events were not fired: the driver has no fire()." in result.left_out


def test_a_sneak_path_that_is_accepted_is_no_problem_of_the_event_that_makes_it(tmp_path: Path) -> None:
    model = replace(MODEL, accepted_sneak_paths=(AcceptedSneakPath("paid", "open", "by hand"),))
    result, _ = run(tmp_path, {"pay in paid": "UPDATE entries SET state = 'open' WHERE id = {id}"}, model)
    assert problems(result) == {}
    assert [walk.problem for walk in result.walks if walk.problem] == []


def test_an_illegal_event_that_does_something_makes_the_lifecycle_not_proven(
    tmp_path: Path, note_job: Lifecycle, note_transitions: tuple[TransitionEvidence, ...]
) -> None:
    result, _ = run(tmp_path, {"pay in paid": "UPDATE entries SET note = 'x' WHERE id = {id}"})
    assert judge(note_transitions, events=result.events) == (
        Verdict.NOT_PROVEN,
        ("pay is no event of paid in the model, and it did something: the journal holds a touch in paid (id=2).",),
    )
    assert measure_coverage(note_job, note_transitions, result.event_share).events == Share(8, 9)
