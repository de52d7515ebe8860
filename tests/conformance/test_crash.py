"""Crash checks on the shop: what a kill and a restart must leave behind, and each way in which they can go wrong."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import apsw
import pytest

from arrowproof.conformance.crash import check_crash
from arrowproof.conformance.driver import Killed, Walked, load_driver
from arrowproof.conformance.sqlite_journal import SQLiteJournal
from arrowproof.conformance.walks import Subject
from arrowproof.model.evidence import Kill, Process, Side
from arrowproof.model.loader import load_lifecycle
from arrowproof.model.tours import plan_tours
from arrowproof.model.transitions import transition_map

ORDERS = Path(__file__).parent / "orders"


@pytest.fixture
def driver(tmp_path: Path) -> Iterator[Any]:
    driver: Any = load_driver("orders_driver:OrdersDriver", ORDERS)
    driver.start(tmp_path)
    yield driver
    driver.stop()


@pytest.fixture
def kill(driver: Any) -> Callable[..., Kill]:
    """A kill of one transition on one side of its commit."""
    shop = load_lifecycle(ORDERS / "orders.lifecycle.json")
    assert shop.binding is not None
    journal = SQLiteJournal(driver.database, shop.binding)
    journal.install()
    tours = {tour.goal.pair: tour for tour in plan_tours(shop).tours}

    def kill(source: str | None, target: str | None, side: Side) -> Kill:
        tour = tours[source, target]
        return check_crash(Subject(shop, driver, journal), tour.steps[:-1], tour.goal, side)

    return kill


def test_a_row_that_is_killed_before_the_commit_is_found_as_it_was(kill: Callable[..., Kill]) -> None:
    seen = kill("open", "open", Side.BEFORE)
    assert seen.problem is None
    assert seen.found == seen.before == (("number", "N-1"), ("state", "open"), ("reminders", 0))
    assert seen.restarted == (("number", "N-1"), ("state", "open"), ("reminders", 1))
    assert len(seen.journal) == 1
    assert [process.ended for process in seen.processes] == ["SIGKILL", "exit 0"]
    assert seen.point == "before-commit"


def test_a_row_that_is_killed_after_the_commit_is_found_in_the_target_state(kill: Callable[..., Kill]) -> None:
    seen = kill("paid", "shipped", Side.AFTER)
    assert seen.problem is None
    assert seen.before == (("number", "N-1"), ("state", "paid"), ("reminders", 0))
    assert seen.found == seen.restarted == (("number", "N-1"), ("state", "shipped"), ("reminders", 0))


@pytest.mark.parametrize("side", list(Side))
def test_a_killed_creation_is_found_although_nobody_told_the_key(
    kill: Callable[..., Kill], driver: Any, side: Side
) -> None:
    its_kill = driver.kill
    keys: list[Any] = []

    def kill_in_silence(*asked: Any) -> Killed:
        killed = its_kill(*asked)
        keys.append(killed.key)
        return replace(killed, key=None)

    recover = driver.recover
    driver.kill = kill_in_silence
    driver.recover = lambda transition, killed, side: recover(transition, replace(killed, key=keys[0]), side)
    seen = kill(None, "open", side)
    assert seen.problem is None
    assert seen.key == (("number", "N-1"),)
    assert (seen.found is None) is (side is Side.BEFORE)
    assert seen.restarted is not None


def test_a_killed_removal_is_finished_by_the_restart(kill: Callable[..., Kill]) -> None:
    seen = kill("open", None, Side.BEFORE)
    assert (seen.problem, seen.restarted) == (None, None)
    assert seen.found == seen.before is not None


def test_a_service_that_commits_each_statement_does_not_survive(kill: Callable[..., Kill], driver: Any) -> None:
    driver.broken = "autocommit"
    seen = kill("open", "paid", Side.BEFORE)
    assert seen.problem == "Killed before its commit, yet the journal holds open -> paid (number='N-1')."


def test_a_service_that_loses_its_commit_does_not_survive(kill: Callable[..., Kill], driver: Any) -> None:
    driver.broken = "never-commits"
    seen = kill("open", "paid", Side.AFTER)
    assert seen.problem == "open -> paid was asked for; the journal holds no transition."


def test_a_restart_that_does_the_work_again_does_not_survive(kill: Callable[..., Kill], driver: Any) -> None:
    driver.recover = lambda transition, killed, _: driver.walk(transition, killed.key)
    seen = kill("open", "open", Side.AFTER)
    assert str(seen.problem).endswith("holds open -> open (number='N-1'), then open -> open (number='N-1').")
    assert kill("open", "open", Side.BEFORE).problem is None


Walk = Callable[[str, str], Walked]


@pytest.fixture
def again(driver: Any) -> Walk:
    """A walk of the row that was killed, as somebody else may make it."""
    shop = load_lifecycle(ORDERS / "orders.lifecycle.json")
    return lambda source, target: driver.walk(transition_map(shop)[source, target], (("number", "N-1"),))


REMINDED = (("open", "open"),)


def test_a_restart_may_go_by_the_transitions_that_the_driver_names_ahead(
    kill: Callable[..., Kill], driver: Any, again: Walk
) -> None:
    def remind_and_pay(*_: object) -> Walked:
        again("open", "open")
        return replace(again("open", "paid"), ahead=REMINDED)

    driver.recover = remind_and_pay
    seen = kill("open", "paid", Side.BEFORE)
    assert (seen.problem, len(seen.journal)) == (None, 2)
    assert "paid was committed ahead of the kill" in str(kill("open", "paid", Side.AFTER).problem)


def test_a_restart_that_goes_by_others_unsaid_or_not_as_said_does_not_survive(
    kill: Callable[..., Kill], driver: Any, again: Walk
) -> None:
    def remind_and_pay(*_: object) -> Walked:
        again("open", "open")
        return again("open", "paid")

    driver.recover = remind_and_pay
    assert "holds open -> open (number='N-1'), then open -> paid" in str(kill("open", "paid", Side.BEFORE).problem)


def test_a_restart_that_does_not_go_by_what_is_named_ahead_does_not_survive(
    kill: Callable[..., Kill], driver: Any, again: Walk
) -> None:
    driver.recover = lambda *_: replace(again("open", "paid"), ahead=REMINDED)
    assert "asked for; the journal holds open -> paid" in str(kill("open", "paid", Side.BEFORE).problem)


def test_what_is_wanted_once_cannot_be_named_ahead_of_itself(
    kill: Callable[..., Kill], driver: Any, again: Walk
) -> None:
    driver.recover = lambda *_: replace(again("open", "open"), ahead=REMINDED)
    problem = kill("open", "open", Side.BEFORE).problem
    assert problem == "The driver says that the restart made open -> open more than once."


@pytest.mark.parametrize("ahead", [("open", "open"), 7, (("open",),), ((1, 2),), None])
def test_what_is_named_ahead_has_the_form_of_transitions(
    kill: Callable[..., Kill], driver: Any, again: Walk, ahead: Any
) -> None:
    driver.recover = lambda *_: replace(again("open", "paid"), ahead=ahead)
    problem = kill("open", "paid", Side.BEFORE).problem
    assert 'they are pairs of states, such as (("running", "queued"),)' in str(problem)


def test_a_restart_that_leaves_the_work_undone_does_not_survive(kill: Callable[..., Kill], driver: Any) -> None:
    driver.recover = lambda _transition, killed, _side: Walked(killed.key, ())
    seen = kill("open", "paid", Side.BEFORE)
    assert seen.problem == "open -> paid was asked for; the journal holds no transition."
    assert seen.restarted == seen.before


def test_a_row_that_changed_behind_the_journal_is_noticed(kill: Callable[..., Kill], driver: Any) -> None:
    its_kill = driver.kill

    def change(*asked: Any) -> Killed:
        connection = apsw.Connection(str(driver.database))
        connection.execute("DROP TRIGGER arrowproof_journal_update_orders; UPDATE orders SET reminders = 5")
        return its_kill(*asked)

    driver.kill = change
    seen = kill("open", "paid", Side.BEFORE)
    assert seen.problem == "Killed before its commit, yet the row was changed: reminders."


@pytest.fixture
def beating(driver: Any) -> Callable[..., None]:
    """Has the service do something to the row by itself, just ahead of a kill."""
    its_kill = driver.kill

    def beat(statement: str) -> None:
        def kill(*asked: Any) -> Killed:
            connection = apsw.Connection(str(driver.database))
            connection.execute(statement)
            connection.close()
            return its_kill(*asked)

        driver.kill = kill

    return beat


def test_a_heartbeat_ahead_of_a_kill_is_no_half_done_work_where_the_driver_names_its_column(
    kill: Callable[..., Kill], driver: Any, beating: Callable[..., None]
) -> None:
    beating("UPDATE orders SET reminders = reminders + 1")
    assert "yet the journal holds a touch in open" in str(kill("open", "paid", Side.BEFORE).problem)
    driver.beats = ("reminders",)
    seen = kill("open", "paid", Side.BEFORE)
    assert (seen.problem, seen.before == seen.found) == (None, False)


@pytest.mark.parametrize("side", list(Side))
def test_a_killed_creation_is_not_taken_for_a_row_that_beats(
    kill: Callable[..., Kill], driver: Any, beating: Callable[..., None], side: Side
) -> None:
    driver.beats = ("reminders",)
    assert kill("open", "open", Side.AFTER).key == (("number", "N-1"),)
    beating("UPDATE orders SET reminders = reminders + 1")
    beat_and_kill, recover = driver.kill, driver.recover
    driver.kill = lambda *asked: replace(beat_and_kill(*asked), key=None)
    driver.recover = lambda transition, _, side: recover(transition, Killed("", (), (("number", "N-2"),)), side)
    seen = kill(None, "open", side)
    assert (seen.problem, seen.key) == (None, (("number", "N-2"),))


@pytest.mark.parametrize("work", ["state = 'paid'", "state = 'open', reminders = 7"])
def test_what_does_more_than_beat_is_found_out(
    kill: Callable[..., Kill], driver: Any, beating: Callable[..., None], work: str
) -> None:
    driver.beats = ("reminders",)
    beating(f"UPDATE orders SET {work}")
    assert "Killed before its commit, yet the journal holds open ->" in str(kill("open", "paid", Side.BEFORE).problem)


def test_a_process_that_was_not_killed_does_not_count(kill: Callable[..., Kill], driver: Any) -> None:
    driver.kill = lambda _transition, key, _side: Killed("none", (Process("orders", 1, "exit 0"),), key)
    assert kill("open", "paid", Side.BEFORE).problem == "The driver names no process that ended by SIGKILL."


@pytest.mark.parametrize("call", ["kill", "recover"])
def test_a_key_of_other_columns_is_the_problem_of_that_kill(kill: Callable[..., Kill], driver: Any, call: str) -> None:
    answer = getattr(driver, call)
    setattr(driver, call, lambda *given: replace(answer(*given), key=(("id", 1),)))
    assert "the binding's key is (number)" in str(kill("open", "paid", Side.AFTER).problem)


def test_nothing_is_restarted_beside_what_was_not_killed(kill: Callable[..., Kill], driver: Any) -> None:
    restarted = []
    driver.kill = lambda _transition, key, _side: Killed("none", (), key)
    driver.recover = lambda *given: restarted.append(given)
    assert kill("open", "paid", Side.BEFORE).problem == "The driver names no process that ended by SIGKILL."
    assert restarted == []


@pytest.mark.parametrize(("call", "has_found"), [("kill", False), ("recover", True)])
def test_a_driver_that_fails_at_a_kill_is_the_problem_of_that_kill(
    kill: Callable[..., Kill], driver: Any, call: str, has_found: bool
) -> None:
    def fail(*_: object) -> None:
        raise RuntimeError("no luck")

    setattr(driver, call, fail)
    seen = kill("open", "paid", Side.AFTER)
    assert "RuntimeError: no luck" in str(seen.problem)
    assert (seen.found != seen.before) is has_found


def test_a_row_that_never_comes_to_the_source_state_is_not_killed(kill: Callable[..., Kill], driver: Any) -> None:
    driver.broken = "never-commits"
    driver.kill = None
    problem = kill("paid", "shipped", Side.BEFORE).problem
    assert str(problem).startswith("The way to paid failed at open -> paid: open -> paid was asked for")


@pytest.mark.parametrize(
    ("call", "answer"),
    [
        ("kill", None),
        ("kill", "done"),
        ("kill", Walked((("number", "N-1"),), ())),
        ("recover", None),
        ("recover", Killed("before-commit", (), (("number", "N-1"),))),
    ],
)
def test_a_driver_that_answers_nothing_or_something_else_does_not_survive(
    kill: Callable[..., Kill], driver: Any, call: str, answer: object
) -> None:
    setattr(driver, call, lambda *_: answer)
    problem = kill("open", "paid", Side.BEFORE).problem
    assert problem is not None
    assert f"The driver's {call}() answered {answer!r}"[:60] in problem
