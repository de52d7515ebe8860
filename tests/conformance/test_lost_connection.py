"""A connection that is lost in the middle of a transition, of small services on a real PostgreSQL."""

from __future__ import annotations

import sys
import threading
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path

import psycopg
import pytest

from arrowproof.conformance.crash import check_crash, spared, untried
from arrowproof.conformance.drive import drive
from arrowproof.conformance.driver import DriverError, Killed, Walked
from arrowproof.conformance.held_kill import BEFORE_POINT
from arrowproof.conformance.journal import open_journal
from arrowproof.conformance.lost_connection import ANSWER_POINT, COMMIT_POINT, LATE_POINT
from arrowproof.conformance.own_database import own_database
from arrowproof.conformance.processes import DEADLINE_SECONDS, ProcessGroup, RunningProcess
from arrowproof.conformance.relay import NO_RELAY, relay
from arrowproof.conformance.transaction_hold import HeldChange, hold_transaction
from arrowproof.conformance.waiting import comes_true
from arrowproof.conformance.walks import Subject
from arrowproof.model.evidence import Blow, Kill, Row, Side
from arrowproof.model.lifecycle import Arrow, Kind, State
from arrowproof.model.tours import plan_tours
from arrowproof.model.transitions import Transition
from tests.conformance.test_held_kill import SHOP

SERVICE = """
import psycopg, sys, time
url, way, reaction = sys.argv[1:]
connection = psycopg.connect(url, autocommit=True)
connection.execute("CREATE TABLE IF NOT EXISTS orders (id int PRIMARY KEY, state text NOT NULL, tries int DEFAULT 0)")

def make(source, target, number, sure):
    if source == "None":
        statement = "INSERT INTO orders (id, state) VALUES (%(id)s, %(to)s) ON CONFLICT DO NOTHING"
    elif target == "None":
        statement = "DELETE FROM orders WHERE id = %(id)s AND state = %(from)s"
    else:
        statement = "UPDATE orders SET tries = tries + 1, state = %(to)s WHERE id = %(id)s"
        statement += " AND state = %(from)s" if sure else ""
    values = {"id": number, "from": source, "to": target}
    if way == "transaction":
        with connection.transaction():
            connection.execute(statement, values)
    elif way == "together":
        psycopg.ClientCursor(connection).execute(f"BEGIN; {statement}; COMMIT", values)
    elif way == "prepared":
        connection.execute("begin", prepare=True)
        connection.execute(statement, values)
        connection.execute(" commit", prepare=True)
    else:
        connection.execute(statement, values)

def tries(number):
    return connection.execute("SELECT tries FROM orders WHERE id = %s", [number]).fetchone()

print("ready", flush=True)
for line in sys.stdin:
    known = tries(line.split()[-1])
    try:
        make(*line.split(), sure=True)
    except psycopg.OperationalError:
        if reaction == "dies":
            raise
        connection = psycopg.connect(url, autocommit=True)
        if reaction == "repeats":
            make(*line.split(), sure=False)
        elif reaction == "goes on":
            make(*line.split(), sure=True)
        elif reaction == "polls":
            while tries(line.split()[-1]) == known:
                time.sleep(0.01)
        elif reaction == "looks":
            if tries(line.split()[-1]) == known:
                make(*line.split(), sure=False)
        elif reaction == "counts" and line.startswith("open paid"):
            make("open", "late", line.split()[-1], sure=True)
    print("done", flush=True)
"""


COUNTING_SHOP = replace(
    SHOP,
    states=(*SHOP.states, State("late", Kind.WAITING, "Late", "late")),
    arrows=(*SHOP.arrows, Arrow("miss", "open", "late", "miss"), Arrow("pay_late", "late", "paid", "pay")),
)


class Desk:
    """The driver: it tells its one process what is to be done, line by line, and names it."""

    def __init__(self, way: str = "transaction", reaction: str = "dies", word: str = "") -> None:
        self.words = (way, reaction)
        self._is_silent = word == "silent"
        self._numbers = 0

    def start_on(self, url: str, folder: Path) -> None:
        self.url = url
        self._processes = ProcessGroup(folder)
        self._launch()

    def _launch(self) -> None:
        command = [sys.executable, "-c", SERVICE, self.url, *self.words]
        self._worker = self._processes.start("worker", command, waits=True)
        assert self._worker.read_line() == "ready"

    def stop(self) -> None:
        self._processes.stop()

    def walk(self, transition: Transition, key: Row | None) -> Walked:
        if key is None:
            self._numbers += 1
            key = (("id", self._numbers),)
        return self._say(transition, key)

    def _say(self, transition: Transition, key: Row) -> Walked:
        if self._worker.ask(f"{transition.source} {transition.target} {key[0][1]}") != "done":
            raise DriverError("It was not done.")
        return Walked(key, (self._worker.record(),))

    def process_of(self, transition: Transition) -> RunningProcess:  # noqa: ARG002 - there is one
        return self._worker

    def recover(self, transition: Transition, killed: Killed, side: Side) -> Walked:
        self._launch()
        key = killed.key or (("id", self._numbers),)
        if side is Side.BEFORE and self.words[-1] == "counts":
            walked = self._say(replace(transition, source="late"), key)
            return walked if self._is_silent else replace(walked, ahead=(("open", "late"),))
        return self._say(transition, key) if side is Side.BEFORE else Walked(key, (self._worker.record(),))


Check = Callable[..., Kill]


@pytest.fixture
def check(postgresql: str, tmp_path: Path) -> Iterator[Check]:
    """Strikes a transition, of a service that works and reacts as is said."""
    desks: list[Desk] = []
    with own_database(postgresql) as url, relay(url) as made:
        assert made is not None

        def strike(source: str | None, target: str | None, side: Side, blow: Blow, *words: str) -> Kill:
            if not desks:
                desks.append(Desk(*words))
                desks[0].start_on(made.url, tmp_path)
                open_journal(url, SHOP.binding).install()  # type: ignore[arg-type]
            shop = COUNTING_SHOP if "counts" in desks[0].words else SHOP
            subject = Subject(shop, desks[0], open_journal(url, SHOP.binding), made)  # type: ignore[arg-type]
            tour = next(each for each in plan_tours(shop).tours if each.goal.pair == (source, target))
            return check_crash(subject, tour.steps[:-1], tour.goal, side, blow)

        yield strike
        for desk in desks:
            desk.stop()


@pytest.mark.parametrize("reaction", ["dies", "goes on"])
@pytest.mark.parametrize("way", ["transaction", "prepared"])
def test_a_service_that_looks_before_it_goes_on_ends_right(check: Check, way: str, reaction: str) -> None:
    for source, target in [(None, "open"), ("open", "paid")]:
        ended = check(source, target, Side.BEFORE, Blow.ENDED, way, reaction)
        before = check(source, target, Side.BEFORE, Blow.CUT)
        after = check(source, target, Side.AFTER, Blow.CUT)
        late = check(source, target, Side.AFTER, Blow.LATE)
        struck = (ended, before, after, late)
        assert [each.problem for each in struck] == [None] * 4
        assert [each.point for each in struck] == [BEFORE_POINT, COMMIT_POINT, ANSWER_POINT, LATE_POINT]
        assert [each.blow for each in struck] == [Blow.ENDED, Blow.CUT, Blow.CUT, Blow.LATE]
        assert (before.found == before.before) is (reaction == "dies")
        for each in (after, late):
            assert each.found == each.restarted != each.before


@pytest.mark.parametrize("way", ["single", "together"])
def test_a_commit_that_goes_with_its_statement_is_cut_off_in_the_statement_or_at_its_answer(
    check: Check, way: str
) -> None:
    before = check("open", "paid", Side.BEFORE, Blow.CUT, way, "dies")
    after = check("open", "paid", Side.AFTER, Blow.CUT)
    late = check("open", "paid", Side.AFTER, Blow.LATE)
    assert (before.problem, after.problem, late.problem) == (None, None, None)
    assert (before.point, after.point, late.point) == (BEFORE_POINT, ANSWER_POINT, LATE_POINT)
    assert before.found == before.before
    assert after.found != after.before
    assert late.found != late.before


def test_a_service_that_does_once_more_what_had_no_answer_is_found_out(check: Check) -> None:
    assert check("open", "paid", Side.BEFORE, Blow.CUT, "transaction", "repeats").problem is None
    after = check("open", "open", Side.AFTER, Blow.CUT)
    assert "the journal holds open -> open" in str(after.problem)
    assert "then open -> open" in str(after.problem)


@pytest.mark.parametrize("way", ["transaction", "single", "together"])
def test_a_service_that_looks_while_its_commit_is_late_and_goes_by_that_is_found_out(check: Check, way: str) -> None:
    assert check("open", "open", Side.AFTER, Blow.CUT, way, "looks").problem is None
    late = check("open", "open", Side.AFTER, Blow.LATE)
    assert "the journal holds open -> open" in str(late.problem)
    assert "then open -> open" in str(late.problem)


def test_a_commit_that_is_late_for_nobody_was_not_tried(check: Check, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("arrowproof.conformance.lost_connection._PATIENCE_SECONDS", 0.0)
    late = check("open", "paid", Side.AFTER, Blow.LATE, "transaction", "polls")
    assert late.problem is None
    assert str(untried(late)).startswith("A late commit of open -> paid was not tried: ")


def test_who_waits_for_another_backend_does_not_wait_for_this_one(postgresql: str) -> None:
    change = HeldChange(None, None, ("open",))
    with own_database(postgresql) as url, psycopg.connect(url, autocommit=True) as maker:
        maker.execute("CREATE TABLE orders (id int PRIMARY KEY, state text NOT NULL, tries int DEFAULT 0)")
        open_journal(url, SHOP.binding).install()  # type: ignore[arg-type]
        with (
            psycopg.connect(url, autocommit=True) as waiting,
            hold_transaction(url, SHOP.binding, change) as hold,  # type: ignore[arg-type]
        ):
            maker.execute("SELECT pg_advisory_lock(1)")
            thread = threading.Thread(target=waiting.execute, args=("SELECT pg_advisory_lock(1)",))
            thread.start()
            try:
                assert comes_true(lambda: hold.has_others_waiting(maker.info.backend_pid), DEADLINE_SECONDS)
                assert not hold.has_others_waiting(hold.connection.info.backend_pid)
                assert not hold.has_others_waiting(waiting.info.backend_pid)
            finally:
                maker.execute("SELECT pg_advisory_unlock(1)")
                thread.join()


def test_a_service_may_count_what_it_lost_as_another_transition_if_the_driver_says_so(check: Check) -> None:
    for blow in (Blow.ENDED, Blow.CUT):
        before = check("open", "paid", Side.BEFORE, blow, "transaction", "counts")
        assert before.problem is None
        assert [(row.old_state, row.new_state) for row in before.journal] == [("open", "late"), ("late", "paid")]
    after = check("open", "paid", Side.AFTER, Blow.CUT)
    assert after.problem is None
    assert [(row.old_state, row.new_state) for row in after.journal] == [("open", "paid")]


def test_one_that_counts_it_and_of_which_nobody_says_so_is_found_out(check: Check) -> None:
    before = check("open", "paid", Side.BEFORE, Blow.CUT, "transaction", "counts", "silent")
    said = "open -> paid was asked for; the journal holds open -> late (id=1), then late -> paid (id=1)"
    assert str(before.problem).startswith(said)


def test_a_service_that_takes_for_done_what_had_no_answer_is_found_out(check: Check) -> None:
    assert check("open", "paid", Side.AFTER, Blow.CUT, "transaction", "believes").problem is None
    for blow in (Blow.CUT, Blow.ENDED):
        before = check("open", "paid", Side.BEFORE, blow)
        assert before.problem == "The service took open -> paid for done, which was not committed."
        assert before.found == before.before


def test_a_proof_tries_every_blow_and_says_that_each_was_survived(postgresql: str, tmp_path: Path) -> None:
    with own_database(postgresql) as url:
        desk = Desk("transaction", "dies")
        found = drive(SHOP, desk, tmp_path / "run", database=url)  # type: ignore[arg-type]
    assert found.problems == ()
    assert NO_RELAY not in found.left_out
    assert [kill.problem for kill in found.kills] == [None] * 24
    assert [(kill.blow, kill.side) for kill in found.kills[:6]] == [
        (Blow.KILLED, Side.BEFORE),
        (Blow.KILLED, Side.AFTER),
        (Blow.ENDED, Side.BEFORE),
        (Blow.CUT, Side.BEFORE),
        (Blow.CUT, Side.AFTER),
        (Blow.LATE, Side.AFTER),
    ]


class Killing(Desk):
    """A driver that kills by itself as well, and spares what does not come to one of the ``cut`` states."""

    cut: tuple[str, ...] = ("paid",)

    def kill(self, transition: Transition, key: Row | None, side: Side) -> Killed:
        if side is Side.AFTER:
            key = self.walk(transition, key).key
        self._worker.kill()
        return Killed("its own point", (self._worker.record(),), key)

    def is_cut(self, transition: Transition) -> bool:
        return transition.target in self.cut


def test_a_driver_that_can_kill_and_names_the_process_is_asked_for_both_and_may_spare_some(
    postgresql: str, tmp_path: Path
) -> None:
    with own_database(postgresql) as url:
        found = drive(SHOP, Killing("transaction", "dies"), tmp_path / "run", database=url)  # type: ignore[arg-type]
    assert [kill.problem for kill in found.kills] == [None] * 12
    assert {kill.point for kill in found.kills if kill.blow is Blow.KILLED} == {"its own point"}
    assert {(kill.target, kill.blow) for kill in found.kills} >= {("paid", blow) for blow in Blow}
    assert {kill.blow for kill in found.kills if kill.target != "paid"} == {Blow.KILLED}
    spared = "created -> open, open -> open, paid -> removed: the driver leaves them out."
    assert f"Lost connections were not tried of {spared}" in found.left_out


def test_all_that_a_driver_spares_is_named_and_nothing_where_no_connection_could_be_taken(tmp_path: Path) -> None:
    desk = Killing()
    desk.cut = ()
    transitions = [tour.goal for tour in plan_tours(SHOP).tours]
    on_server = Subject(SHOP, desk, open_journal("postgresql://nowhere/shop", SHOP.binding))  # type: ignore[arg-type]
    names = "created -> open, open -> open, open -> paid, paid -> removed"
    assert spared(on_server, transitions) == (
        f"Lost connections were not tried of {names}: the driver leaves them out.",
    )
    on_file = Subject(SHOP, desk, open_journal(tmp_path / "orders.sqlite3", SHOP.binding))  # type: ignore[arg-type]
    assert spared(on_file, transitions) == ()


class Direct(Desk):
    """A driver whose service goes to the server by itself."""

    def __init__(self, url: str) -> None:
        super().__init__()
        self._direct = url

    def start_on(self, url: str, folder: Path) -> None:  # noqa: ARG002
        super().start_on(self._direct, folder)


def test_a_service_that_goes_past_the_relay_is_told_of(postgresql: str, tmp_path: Path) -> None:
    with own_database(postgresql) as url:
        found = drive(SHOP, Direct(url), tmp_path / "run", database=url)  # type: ignore[arg-type]
    cut = (Blow.CUT, Blow.LATE)
    said = {kill.problem for kill in found.kills if kill.blow in cut}
    assert said == {"The transaction was not made on a connection to the URL that the driver was given."}
    assert {kill.problem for kill in found.kills if kill.blow not in cut} == {None}


def test_it_passes_on_what_it_need_not_understand(postgresql: str) -> None:
    with own_database(postgresql) as url, relay(url) as made:
        assert made is not None
        with psycopg.connect(made.url) as connection:
            (text,) = connection.execute("SELECT repeat('x', 1000000)").fetchone() or ("",)
            assert len(text) == 1_000_000
            with connection.cursor().copy("COPY (SELECT generate_series(1, 9)) TO STDOUT") as copied:
                assert len(list(copied)) == 9
            # Not cancel(), which would have nobody else at work in this process until it is passed on.
            connection.cancel_safe(timeout=30)
        # Neither side offers encryption here, and a client that asks for it all the same is told so.
        with psycopg.connect(made.url.replace("sslmode=disable", "sslmode=prefer")) as connection:
            assert not connection.pgconn.ssl_in_use
    with pytest.raises(psycopg.OperationalError):
        psycopg.connect(made.url)


def test_it_listens_where_only_its_own_user_gets(postgresql: str) -> None:
    with own_database(postgresql) as url, relay(url) as made:
        assert made is not None
        folder = Path(str(psycopg.conninfo.conninfo_to_dict(made.url)["host"]))
        assert folder.stat().st_mode & 0o077 == 0
    assert not folder.exists()
