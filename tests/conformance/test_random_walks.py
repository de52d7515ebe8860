"""Random walks: what fails is shrunk to its shortest, and the same seed walks the same."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from arrowproof.conformance.drive import drive
from arrowproof.conformance.random_walks import MAX_STEPS, MAX_TRIES
from arrowproof.conformance.trials import Trials
from arrowproof.conformance.verdict import judge
from arrowproof.errors import InputError
from arrowproof.model.evidence import Detour, RandomWalks, TransitionEvidence, Verdict
from tests.conformance.ledgers import REFUSED, LedgerDriver, ledger
from tests.conformance.test_illegal_events import FiringDriver

MODEL = ledger("place: created -> open", "pay: open -> paid", "reopen: paid -> open", "cancel: open -> removed")
SHORTEST = ("created -> open", "open -> paid", "paid -> open", "open -> paid")


def wander(tmp_path: Path, driver: LedgerDriver, count: int = 40, seed: int | None = 7) -> RandomWalks:
    result = drive(MODEL, driver, tmp_path / "out", trials=Trials(random_walks=count, seed=seed))
    assert result.random_walks is not None
    return result.random_walks


def test_walks_of_a_service_that_does_what_is_drawn_do_not_fail(tmp_path: Path) -> None:
    driver = FiringDriver()
    made = wander(tmp_path, driver)
    assert (made.walks, made.asked, made.failed, made.problem) == (40, 40, (), None)
    assert 40 < made.steps < 40 * MAX_STEPS
    assert {"reopen in open", "place in paid"} <= set(driver.asked)


def test_a_failure_is_shrunk_to_the_shortest_walk_that_fails(tmp_path: Path) -> None:
    made = wander(tmp_path, LedgerDriver({" ".join(["open paid"] * times): "void" for times in range(2, 9)}))
    assert made.failed == SHORTEST
    assert made.problem is not None
    assert made.problem.startswith("open -> paid was asked for; the journal holds open -> void (id=")
    assert made.walks <= 40 + MAX_TRIES


def test_a_failure_of_an_illegal_event_is_shrunk_as_well(tmp_path: Path) -> None:
    made = wander(tmp_path, FiringDriver({"cancel in paid": "DELETE FROM entries WHERE id = {id}"}))
    assert made.failed == ("created -> open", "open -> paid", "fire cancel")
    assert made.problem is not None
    assert made.problem.startswith("the journal holds paid -> removed (id=")


def test_the_same_seed_makes_the_same_walks_and_another_one_others(tmp_path: Path) -> None:
    tours = []
    for number, seed in enumerate([7, 7, 8]):
        driver = LedgerDriver()
        begin: list[Any] = []
        driver.begin = lambda tour, begin=begin: begin.append([step.name for step in tour])  # type: ignore[attr-defined]
        made = wander(tmp_path / str(number), driver, seed=seed)
        tours.append((begin, made))
    assert tours[0] == tours[1]
    assert tours[0] != tours[2]


def test_nothing_is_written_where_the_command_was_called(tmp_path: Path) -> None:
    code = (
        "from pathlib import Path\n"
        "from tests.conformance.test_random_walks import LedgerDriver, wander\n"
        "wander(Path('made'), LedgerDriver(), count=2)\n"
    )
    root = str(Path(__file__).parents[2])
    environment = {**os.environ, "PYTHONPATH": root, "PYTHONDONTWRITEBYTECODE": "1"}
    subprocess.run([sys.executable, "-c", code], cwd=tmp_path, env=environment, check=True)
    assert [path.name for path in tmp_path.iterdir()] == ["made"]


def test_a_seed_is_chosen_and_said_when_none_is_given(tmp_path: Path) -> None:
    made = wander(tmp_path, LedgerDriver(), count=1, seed=None)
    assert made.seed in range(2**32)
    assert made.walks == 1


def test_what_the_service_does_otherwise_within_the_model_on_a_long_walk_is_no_failure(tmp_path: Path) -> None:
    driver = LedgerDriver({"open paid open paid": REFUSED, "open paid open removed": "paid"})
    result = drive(MODEL, driver, tmp_path / "out", trials=Trials(random_walks=40, seed=7))
    assert result.random_walks is not None
    assert result.random_walks.problem is None
    assert Detour(SHORTEST, "not now The journal holds nothing.") in result.detours


def test_what_is_wrong_with_the_machine_is_no_failure_of_the_service(tmp_path: Path) -> None:
    driver = LedgerDriver()
    begun = []

    def begin(_: object) -> None:
        begun.append(1)
        if len(begun) > 5:
            driver.database.unlink(missing_ok=True)

    driver.begin = begin  # type: ignore[attr-defined]
    with pytest.raises(InputError, match="is no database file"):
        wander(tmp_path, driver)
    assert len(begun) <= 7


def test_a_walk_that_failed_makes_the_lifecycle_not_proven_and_says_how_to_make_it_again(
    note_transitions: tuple[TransitionEvidence, ...],
) -> None:
    failed = RandomWalks(50, 7, 12, 60, ("created -> open", "fire cancel"), "it went to void.")
    assert judge(note_transitions, random_walks=failed) == (
        Verdict.NOT_PROVEN,
        (
            "A random walk failed at its last step: created -> open, then fire cancel: it went to void."
            " --walks 50 --seed 7 makes it again.",
        ),
    )
    assert judge(note_transitions, random_walks=RandomWalks(50, 7, 50, 300))[0] is Verdict.PROVEN
