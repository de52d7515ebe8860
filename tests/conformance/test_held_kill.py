"""Kills that the database times, of a small service on a real PostgreSQL that has no hold points of its own."""

from __future__ import annotations

import os
import sys
import threading
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import psycopg
import pytest

from arrowproof.conformance.crash import check_crash
from arrowproof.conformance.drive import drive
from arrowproof.conformance.driver import DriverError, Killed, Walked
from arrowproof.conformance.held_kill import AFTER_POINT, BEFORE_POINT, Walking
from arrowproof.conformance.journal import open_journal
from arrowproof.conformance.own_database import own_database
from arrowproof.conformance.processes import ProcessGroup, RunningProcess
from arrowproof.conformance.relay import Relay, relay
from arrowproof.conformance.transaction_hold import HeldChange, hold_transaction
from arrowproof.conformance.walks import Subject, attempt
from arrowproof.model.evidence import Blow, Kill, Row, Side
from arrowproof.model.lifecycle import Arrow, Binding, Kind, Lifecycle, State
from arrowproof.model.tours import plan_tours
from arrowproof.model.transitions import Transition

SERVICE = """
import contextlib, os, psycopg, sys
url, commands, mode = sys.argv[1:]
connection = psycopg.connect(url, autocommit=True)
connection.execute("CREATE TABLE IF NOT EXISTS orders (id int PRIMARY KEY, state text NOT NULL, tries int DEFAULT 0)")
print("ready", flush=True)
with open(os.open(commands, os.O_RDWR)) as lines:
    for line in lines:
        source, target, number = line.split()
        whole = connection.transaction() if mode == "transaction" else contextlib.nullcontext()
        with whole:
            if source == "None":
                connection.execute("INSERT INTO orders (id, state) VALUES (%s, %s) ON CONFLICT DO NOTHING",
                                   (number, target))
            elif target == "None":
                connection.execute("DELETE FROM orders WHERE id = %s AND state = %s", (number, source))
            elif mode == "single":
                connection.execute("UPDATE orders SET tries = tries + 1, state = %s WHERE id = %s AND state = %s",
                                   (target, number, source))
            else:
                connection.execute("UPDATE orders SET tries = tries + 1 WHERE id = %s AND state = %s",
                                   (number, source))
                if mode != "forgetful":
                    connection.execute("UPDATE orders SET state = %s WHERE id = %s AND state = %s",
                                       (target, number, source))
        print("done", flush=True)
"""
SHOP = Lifecycle(
    id="order",
    title="Order",
    summary=None,
    binding=Binding("orders", ("id",), "state", watch=("tries",)),
    states=(
        State("open", Kind.WAITING, "Open", "open"),
        State("paid", Kind.SUCCESS, "Paid", "paid"),
    ),
    arrows=(
        Arrow("place", None, "open", "place"),
        Arrow("remind", "open", "open", "remind"),
        Arrow("pay", "open", "paid", "pay"),
        Arrow("drop", "paid", None, "drop"),
    ),
)


class Desk:
    """The driver: it says what is to be done by a pipe, and names its one process."""

    def __init__(self, mode: str) -> None:
        self._mode = mode
        self._numbers = 0

    def start_on(self, url: str, folder: Path) -> None:
        self._url = url
        self._commands = folder / "commands"
        os.mkfifo(self._commands)
        self._pipe = os.open(self._commands, os.O_RDWR)
        self._processes = ProcessGroup(folder)
        self._launch()

    def _launch(self) -> None:
        command = [sys.executable, "-c", SERVICE, self._url, str(self._commands), self._mode]
        self._worker = self._processes.start("worker", command)
        assert self._worker.read_line() == "ready"

    def stop(self) -> None:
        self._processes.stop()
        os.close(self._pipe)

    def begin(self, tour: Any) -> None:
        pass

    def walk(self, transition: Transition, key: Row | None) -> Walked:
        if key is None:
            self._numbers += 1
            key = (("id", self._numbers),)
        return self._say(transition, key)

    def _say(self, transition: Transition, key: Row) -> Walked:
        os.write(self._pipe, f"{transition.source} {transition.target} {key[0][1]}\n".encode())
        if self._worker.read_line() != "done":
            raise DriverError("It was not done.")
        return Walked(key, (self._worker.record(),))

    def process_of(self, transition: Transition) -> RunningProcess:  # noqa: ARG002 - there is one
        return self._worker

    def recover(self, transition: Transition, killed: Killed, side: Side) -> Walked:
        self._launch()
        key = killed.key or (("id", self._numbers),)
        if side is Side.BEFORE:
            return self._say(transition, key)
        return Walked(key, (self._worker.record(),))

    def end(self, key: Row | None) -> None:
        pass


class Errand(Desk):
    """A driver of a service that is a command: each process does one thing, and ends right after its commit."""

    def start_on(self, url: str, folder: Path) -> None:
        self._url = url
        self._processes = ProcessGroup(folder)
        self._run(None, "schema").finish()

    def stop(self) -> None:
        self._processes.stop()

    def _run(self, transition: Transition | None, key: object) -> RunningProcess:
        asked = ("", "") if transition is None else (str(transition.source), str(transition.target))
        self._worker = self._processes.start("command", [sys.executable, "-c", COMMAND, self._url, *asked, str(key)])
        return self._worker

    def _say(self, transition: Transition, key: Row) -> Walked:
        process = self._run(transition, key[0][1])
        process.finish()
        return Walked(key, (process.record(),))

    def recover(self, transition: Transition, killed: Killed, side: Side) -> Walked:
        key = killed.key or (("id", self._numbers),)
        return self._say(transition, key) if side is Side.BEFORE else Walked(key)


COMMAND = """
import os, psycopg, sys
url, source, target, number = sys.argv[1:]
connection = psycopg.connect(url)
if not source:
    connection.execute("CREATE TABLE orders (id int PRIMARY KEY, state text NOT NULL, tries int DEFAULT 0)")
elif source == "None":
    connection.execute("INSERT INTO orders (id, state) VALUES (%s, %s)", (number, target))
elif target == "None":
    connection.execute("DELETE FROM orders WHERE id = %s AND state = %s", (number, source))
else:
    connection.execute("UPDATE orders SET tries = tries + 1, state = %s WHERE id = %s AND state = %s",
                       (target, number, source))
connection.commit()
os._exit(0)
"""
Check = Callable[..., Kill]


@pytest.fixture
def check(postgresql: str, tmp_path: Path) -> Iterator[Check]:
    """Kills a transition on one side of its commit, of a service that works in the mode that is given."""
    desks: list[Desk] = []
    with own_database(postgresql) as url:

        def kill(source: str | None, target: str | None, side: Side, mode: str = "transaction") -> Kill:
            if not desks:
                desks.append(Desk(mode))
                desks[0].start_on(url, tmp_path)
                open_journal(url, SHOP.binding).install()  # type: ignore[arg-type]
            journal = open_journal(url, SHOP.binding)  # type: ignore[arg-type]
            tour = next(each for each in plan_tours(SHOP).tours if each.goal.pair == (source, target))
            seen = check_crash(Subject(SHOP, desks[0], journal), tour.steps[:-1], tour.goal, side)
            assert journal.stands()
            with psycopg.connect(url) as connection:
                left = connection.execute("SELECT count(*) FROM pg_trigger WHERE tgname LIKE '%hold'").fetchone()
            assert left == (0,)
            return seen

        yield kill
        for desk in desks:
            desk.stop()


PAIRS = [(None, "open"), ("open", "open"), ("open", "paid"), ("paid", None)]


@pytest.mark.parametrize(("source", "target"), PAIRS)
def test_a_service_of_whole_transactions_survives_on_both_sides(
    check: Check, source: str | None, target: str | None
) -> None:
    before, after = check(source, target, Side.BEFORE), check(source, target, Side.AFTER)
    assert (before.problem, after.problem) == (None, None)
    assert (before.point, after.point) == (BEFORE_POINT, AFTER_POINT)
    assert before.found == before.before
    assert after.found == after.restarted != after.before
    assert before.processes[0].ended == after.processes[0].ended == "SIGKILL"
    assert before.processes[1].pid != before.processes[0].pid


def test_a_service_that_commits_each_statement_is_found_out(check: Check) -> None:
    seen = check("open", "paid", Side.BEFORE, "autocommit")
    assert str(seen.problem).startswith("Killed before its commit, yet the journal holds a touch in open")
    assert seen.before != seen.found


def test_a_statement_that_is_its_own_transaction_is_not_done_after_the_kill(check: Check) -> None:
    seen = check("open", "paid", Side.BEFORE, "single")
    assert seen.problem is None
    assert seen.found == seen.before


def test_a_touch_ahead_of_a_self_transition_is_not_taken_for_it(check: Check) -> None:
    seen = check("open", "open", Side.BEFORE, "forgetful")
    assert "open -> open did not come to its change" in str(seen.problem)


def test_only_the_wanted_row_waits(postgresql: str) -> None:
    with own_database(postgresql) as url, psycopg.connect(url, autocommit=True) as connection:
        connection.execute("CREATE TABLE orders (id int PRIMARY KEY, state text NOT NULL, tries int DEFAULT 0)")
        connection.execute("INSERT INTO orders VALUES (1, 'open'), (2, 'open')")
        open_journal(url, SHOP.binding).install()  # type: ignore[arg-type]
        wanted = HeldChange((("id", 1),), ("open",), ("paid",))
        with hold_transaction(url, SHOP.binding, wanted):  # type: ignore[arg-type]
            connection.execute("SET lock_timeout TO '200ms'")
            connection.execute("UPDATE orders SET state = 'paid' WHERE id = 2")
            connection.execute("UPDATE orders SET state = 'lost' WHERE id = 1")
            connection.execute("UPDATE orders SET state = 'open' WHERE id = 1")
            with pytest.raises(psycopg.errors.LockNotAvailable):
                connection.execute("UPDATE orders SET state = 'paid' WHERE id = 1")
        connection.execute("UPDATE orders SET state = 'paid' WHERE id = 1")


def test_a_service_that_does_not_come_to_its_change_is_said_to_pass_it_by(check: Check) -> None:
    for side in Side:
        seen = check("open", "paid", side, "forgetful")
        assert "open -> paid did not come to its change" in str(seen.problem)


@pytest.mark.parametrize("source", [None, "open"])
def test_a_process_that_ends_right_after_its_commit_is_killed_ahead_of_the_answer(
    postgresql: str, tmp_path: Path, source: str | None
) -> None:
    with own_database(postgresql) as url, relay(url) as made:
        assert made is not None
        seen = kill_errand(url, tmp_path, made, (source, "open"))
    assert seen.problem is None
    assert (seen.point, seen.processes[0].ended) == (AFTER_POINT, "SIGKILL")
    assert seen.found == seen.restarted != seen.before


def test_one_that_is_gone_ahead_of_its_kill_is_told_of_and_nothing_is_held_against_it(
    postgresql: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    # Nobody holds its answer back here, and the kill comes when it has ended.
    kill = RunningProcess.kill
    monkeypatch.setattr(RunningProcess, "kill", lambda process: (process.end(), kill(process))[1])
    monkeypatch.setattr("arrowproof.conformance.drive.blows_of", lambda *_: ((Blow.KILLED, Side.AFTER),))
    monkeypatch.setattr("arrowproof.conformance.relay.Relay.find", lambda *_: None)
    with own_database(postgresql) as url:
        found = drive(
            SHOP,
            Errand(""),  # type: ignore[arg-type]
            tmp_path / "run",
            plan=replace(plan_tours(SHOP), tours=plan_tours(SHOP).tours[:1]),
            database=url,
        )
    assert (found.problems, found.kills) == ((), ())
    said = "created -> open was not killed after commit: its process had ended by itself by then."
    assert said in found.left_out


def kill_errand(url: str, folder: Path, made: Relay, pair: tuple[str | None, str]) -> Kill:
    errand = Errand("")
    errand.start_on(made.url, folder)
    try:
        journal = open_journal(url, SHOP.binding)  # type: ignore[arg-type]
        journal.install()
        tour = next(each for each in plan_tours(SHOP).tours if each.goal.pair == pair)
        subject = Subject(SHOP, errand, journal, made)  # type: ignore[arg-type]
        return check_crash(subject, tour.steps[:-1], tour.goal, Side.AFTER)
    finally:
        errand.stop()


def test_a_walk_that_ends_late_leaves_standard_output_as_it_is() -> None:
    class Late:
        has_begun, may_end = threading.Event(), threading.Event()

        def walk(self, transition: Transition, key: Row | None) -> Walked:  # noqa: ARG002 - a driver's method
            self.has_begun.set()
            self.may_end.wait()
            return Walked((("id", 1),))

    before, driver = sys.stdout, Late()
    late = Walking(driver, plan_tours(SHOP).tours[0].goal, None)  # type: ignore[arg-type]
    attempt(lambda: (late.start(), driver.has_begun.wait()))
    driver.may_end.set()
    late.join()
    assert sys.stdout is before
