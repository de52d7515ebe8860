"""The drive, on a shop of a script and a driver of its own: what goes right, and each way in which it must go red."""

from __future__ import annotations

import sys
from collections.abc import Callable
from contextlib import closing
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path
from typing import Any

import apsw
import pytest

from arrowproof.conformance.drive import DriveResult, drive
from arrowproof.conformance.driver import DriverError, Walked, load_driver
from arrowproof.conformance.trials import NO_CRASHES
from arrowproof.errors import InputError
from arrowproof.model.evidence import Row, Side
from arrowproof.model.lifecycle import Arrow, Kind, Lifecycle, State
from arrowproof.model.loader import load_lifecycle
from arrowproof.model.tours import plan_tours
from arrowproof.model.transitions import Transition

ORDERS = Path(__file__).parent / "orders"

Drive = Callable[..., DriveResult]


@pytest.fixture
def shop() -> Lifecycle:
    return load_lifecycle(ORDERS / "orders.lifecycle.json")


@pytest.fixture
def driver() -> Any:
    return load_driver("orders_driver:OrdersDriver", ORDERS)


@pytest.fixture(scope="module")
def run_broken(tmp_path_factory: pytest.TempPathFactory) -> Drive:
    """A drive without kills of the shop, broken in one way, by the shortest tours; made once for each way."""

    @cache
    def run(broken: str) -> DriveResult:
        driver: Any = load_driver("orders_driver:OrdersDriver", ORDERS)
        driver.broken = broken
        shop = load_lifecycle(ORDERS / "orders.lifecycle.json")
        plan = plan_tours(shop)
        return drive(shop, driver, tmp_path_factory.mktemp(broken), trials=NO_CRASHES, plan=plan)

    return run


@pytest.fixture
def run(shop: Lifecycle, driver: Any, tmp_path: Path) -> Drive:
    """A drive without kills by the shortest tours, of a driver or a lifecycle that the test has changed."""

    def run(lifecycle: Lifecycle = shop) -> DriveResult:
        return drive(lifecycle, driver, tmp_path / "out", trials=NO_CRASHES, plan=plan_tours(lifecycle))

    return run


def problems_of(result: DriveResult, source: str | None, target: str | None) -> list[str | None]:
    return [walk.problem for walk in result.walks if (walk.source, walk.target) == (source, target)]


def sneak_paths_of(result: DriveResult) -> list[tuple[str | None, str | None]]:
    return [(path.source, path.target) for path in result.sneak_paths]


def is_alive(pid: int) -> bool:
    return Path(f"/proc/{pid}").exists()


@dataclass(frozen=True)
class Good:
    """A drive, with kills, of the shop as it should be, and what its progress was told."""

    result: DriveResult
    told: list[tuple[Any, ...]]


@pytest.fixture(scope="module")
def good(tmp_path_factory: pytest.TempPathFactory) -> Good:
    told: list[tuple[Any, ...]] = []
    folder = tmp_path_factory.mktemp("good") / "new" / "out"
    shop, driver = load_lifecycle(ORDERS / "orders.lifecycle.json"), load_driver("orders_driver:OrdersDriver", ORDERS)
    return Good(drive(shop, driver, folder, lambda *step: told.append(step)), told)


def test_a_service_that_does_what_is_drawn_is_walked_and_survives_every_kill(good: Good) -> None:
    result = good.result
    assert [walk.problem for walk in result.walks if walk.problem] == []
    assert [kill.problem for kill in result.kills if kill.problem] == []
    assert (result.problems, result.sneak_paths) == ((), ())
    pairs = [(None, "open"), ("open", "paid"), ("paid", "shipped"), ("open", None), ("open", "open")]
    assert {(walk.source, walk.target) for walk in result.walks} == set(pairs)
    shorter_first = [*pairs[:2], *pairs[3:], pairs[2]]
    assert [(kill.source, kill.target, kill.side) for kill in result.kills] == [
        (*pair, side) for pair in shorter_first for side in Side
    ]
    assert result.environment.journal_mode == "wal"


def test_a_drive_leaves_no_process_behind(good: Good) -> None:
    processes = [process for walk in good.result.walks for process in walk.processes]
    assert processes
    assert not any(is_alive(process.pid) for process in processes)


def test_progress_counts_every_tour_and_every_kill(good: Good) -> None:
    assert [step[1:] for step in good.told] == [(done, 12) for done in range(13)]
    assert good.told[1][0] == "walk open -> removed"
    assert good.told[2][0] == "kill created -> open before commit"


def test_a_walk_holds_the_row_by_select_and_the_journal_and_the_process(good: Good) -> None:
    walk = next(walk for walk in good.result.walks if walk.target == "paid")
    assert walk.path == ("pay",)
    assert walk.before == (*walk.key, ("state", "open"), ("reminders", 0))
    assert walk.after == (*walk.key, ("state", "paid"), ("reminders", 0))
    assert [(row.key, row.old_state, row.new_state) for row in walk.journal] == [(walk.key, "open", "paid")]
    assert [(process.role, process.ended) for process in walk.processes] == [("orders", "exit 0")]


def test_a_removed_row_is_walked_to_its_removal(good: Good) -> None:
    walk = next(walk for walk in good.result.walks if walk.target is None)
    assert (walk.problem, walk.after) == (None, None)
    assert walk.before is not None


@pytest.mark.parametrize(
    ("broken", "said"),
    [
        ("skips-a-state", "the journal holds open -> paid (number='N-2'), then paid -> shipped (number='N-2')."),
        ("unknown-state", "the journal holds open -> paid (number='N-2'), then paid -> lost (number='N-2')."),
        ("claims-twice", "the journal holds open -> paid (number='N-2'), then paid -> paid (number='N-2')."),
        ("commits-twice", "the journal holds open -> paid (number='N-2'), then paid -> paid (number='N-2')."),
        ("never-commits", "the journal holds no transition."),
        ("touch-of-other-row", "also came a touch in open (number='N-1')."),
    ],
)
def test_a_walk_that_goes_otherwise_says_what_came_instead(run_broken: Drive, broken: str, said: str) -> None:
    result = run_broken(broken)
    (first, *_) = problems_of(result, "open", "paid")
    assert first is not None
    assert first.startswith("open -> paid was asked")
    assert first.endswith(said)


def test_a_tour_that_fails_does_not_end_the_run(run_broken: Drive) -> None:
    result = run_broken("never-commits")
    assert problems_of(result, "open", None) == [None]
    assert problems_of(result, "open", "open") == [None]
    assert problems_of(result, "paid", "shipped") == []


@pytest.mark.parametrize(
    ("broken", "sneak_path"),
    [("unknown-state", ("paid", "lost")), ("claims-twice", ("paid", "paid"))],
)
def test_a_transition_that_is_not_drawn_is_a_sneak_path_that_happened(
    run_broken: Drive, broken: str, sneak_path: tuple[str, str]
) -> None:
    result = run_broken(broken)
    assert sneak_paths_of(result) == [sneak_path]
    assert all(row in result.journal for row in result.sneak_paths[0].happened)


def test_a_sneak_path_of_another_row_is_found(run_broken: Drive) -> None:
    result = run_broken("other-row")
    assert sneak_paths_of(result) == [("shipped", "open")]
    (problem,) = problems_of(result, "open", None)
    assert problem is not None
    assert problem.endswith("also came shipped -> open (number='N-3').")


def test_an_arrow_that_is_missing_in_the_model_is_a_sneak_path(run: Drive, shop: Lifecycle, driver: Any) -> None:
    driver.end = lambda key: driver.run("cancel", str(key[0][1])).finish()
    arrows = tuple(arrow for arrow in shop.arrows if arrow.id != "cancel")
    result = run(replace(shop, arrows=arrows))
    assert sneak_paths_of(result) == [("open", None)]
    assert all(walk.problem is None for walk in result.walks)


def test_an_arrow_with_another_target_is_not_walked(run: Drive, shop: Lifecycle) -> None:
    arrows = tuple(replace(arrow, target="shipped") if arrow.id == "remind" else arrow for arrow in shop.arrows)
    result = run(replace(shop, arrows=arrows))
    assert problems_of(result, "open", "shipped") == [
        "The driver failed: KeyError: ('open', 'shipped') (orders_driver.py:47) The journal holds nothing."
    ]


def test_a_self_transition_that_is_not_drawn_is_no_touch(run: Drive, shop: Lifecycle, driver: Any) -> None:
    driver.end = lambda key: driver.run("remind", str(key[0][1])).finish()
    arrows = tuple(arrow for arrow in shop.arrows if arrow.id != "remind")
    assert sneak_paths_of(run(replace(shop, arrows=arrows))) == [("open", "open")]


def test_a_change_that_is_hidden_from_the_journal_makes_the_run_untrustworthy(run_broken: Drive) -> None:
    assert run_broken("hides").problems[-1] == (
        "The journal does not lead to what the table holds: changes of number='hidden' were hidden from it."
    )


def test_a_rebuilt_table_makes_the_run_untrustworthy(run_broken: Drive) -> None:
    assert run_broken("rebuilds").problems == (
        "The journal's triggers did not stand to the end: the service rebuilt or dropped them.",
    )


def test_a_state_that_no_row_can_come_to_is_said(run: Drive, shop: Lifecycle) -> None:
    lonely = replace(shop.states[2], id="lost", value="lost")
    model = replace(shop, states=(*shop.states, lonely), arrows=(*shop.arrows, Arrow("find", "lost", "open")))
    assert run(model).problems == ("lost -> open cannot be walked: the model has no way from creation to lost.",)


def test_an_arrow_path_that_is_no_path_of_the_transition_is_refused(run: Drive, driver: Any) -> None:
    walk = driver.walk
    driver.walk = lambda transition, key: replace(walk(transition, key), path=("pay",))
    result = run()
    assert problems_of(result, "open", "paid") == []
    assert problems_of(result, None, "open")[0] == (
        "created -> open was asked for by place; the driver says that it went by pay."
    )


@pytest.mark.parametrize("says", [True, False])
def test_an_arrow_path_counts_only_when_the_driver_says_that_it_went_by_it(
    run: Drive, shop: Lifecycle, driver: Any, says: bool
) -> None:
    checked = State("checked", Kind.PASSING, "Checked", "checked")
    arrows = (*shop.arrows, Arrow("check", "open", "checked"), Arrow("accept", "checked", "paid"))
    walk = driver.walk
    if says:
        driver.walk = lambda transition, key: replace(walk(transition, key), path=transition.paths[0])
    result = run(replace(shop, states=(*shop.states, checked), arrows=arrows))
    goals = [walk.path for walk in result.walks if walk.target == "paid" and walk.problem is None]
    assert set(goals) == ({("pay",), ("check", "accept")} if says else {()})


def test_a_driver_that_leaves_by_sys_exit_does_not_end_the_proof(run: Drive, driver: Any) -> None:
    driver.end = lambda _: sys.exit(0)
    (problem,) = run().problems
    assert problem.startswith("A tour did not end: The driver failed: SystemExit: 0 (test_drive.py:")


def test_a_key_of_other_columns_is_refused(run: Drive, driver: Any) -> None:
    walk = driver.walk
    driver.walk = lambda transition, key: replace(walk(transition, key), key=(("id", 1),))
    assert "the binding's key is (number)" in str(run().walks[0].problem)


@pytest.mark.parametrize(
    ("call", "problem"),
    [
        ("begin", "The tour to created -> open did not begin: no luck"),
        ("end", "A tour did not end: no luck"),
        ("stop", "The service did not stop: no luck"),
    ],
)
def test_a_driver_that_fails_beside_its_walks_is_a_problem_of_the_run(
    run: Drive, driver: Any, call: str, problem: str
) -> None:
    def fail(*_: object) -> None:
        raise DriverError("no luck")

    setattr(driver, call, fail)
    assert run().problems[0] == problem
    driver.processes.stop()  # which the stop that fails has left to us


def test_what_the_service_does_when_it_is_stopped_is_judged_as_well(run: Drive, driver: Any) -> None:
    stop = driver.stop

    def put_back() -> None:
        stop()
        with closing(apsw.Connection(str(driver.database))) as connection:
            connection.execute("UPDATE orders SET state = 'open' WHERE state = 'shipped'")

    driver.stop = put_back
    assert sneak_paths_of(run()) == [("shipped", "open")]


class SmallDriver:
    """A driver of three methods, which another one does the work of."""

    def __init__(self, whole: Any) -> None:
        self.start, self.stop, self.whole = whole.start, whole.stop, whole

    def walk(self, transition: Transition, key: Row | None) -> Walked:
        return Walked(self.whole.walk(transition, key).key)


def test_a_driver_of_three_methods_walks_and_says_that_nothing_was_killed(
    shop: Lifecycle, driver: Any, tmp_path: Path
) -> None:
    result = drive(shop, SmallDriver(driver), tmp_path / "out")
    assert [walk.problem for walk in result.walks if walk.problem] == []
    assert {walk.processes for walk in result.walks} == {()}
    assert (result.problems, result.kills) == ((), ())
    assert result.left_out == (
        "Crash checks were not made: the driver has no kill() and, on PostgreSQL, no process_of().",
        "Illegal events were not fired: the driver has no fire().",
    )


def test_a_drive_that_was_told_to_kill_nothing_says_nothing_of_it(run: Drive) -> None:
    assert not any("kill" in said for said in run().left_out)


def test_a_driver_without_recover_has_its_restart_made_by_walk(shop: Lifecycle, driver: Any, tmp_path: Path) -> None:
    class KillingDriver(SmallDriver):
        kill = staticmethod(driver.kill)

    result = drive(shop, KillingDriver(driver), tmp_path / "out")
    assert [kill.problem for kill in result.kills if kill.problem] == []
    assert len(result.kills) == 10


def test_a_driver_for_a_server_alone_is_told_to_name_one(shop: Lifecycle, tmp_path: Path) -> None:
    class ServerAlone:
        def start_on(self, url: str, folder: Path) -> None: ...
        def stop(self) -> None: ...
        def walk(self, transition: Transition, key: Row | None) -> Walked: ...

    driver: Any = ServerAlone()
    with pytest.raises(InputError, match=r"no start\(folder\)\. Name a server with --db URL"):
        drive(shop, driver, tmp_path / "out")


class LooseDriver:
    """A service in this process, whose key column keeps every type; it says that the row 7 is the row '7'."""

    def start(self, folder: Path) -> Path:
        self.database = folder / "loose.sqlite3"
        self.run("CREATE TABLE orders (number BLOB UNIQUE, state TEXT, reminders INTEGER)")
        return self.database

    def stop(self) -> None: ...

    def walk(self, _: Transition, key: Row | None) -> Walked:
        assert key is None
        self.run("INSERT INTO orders VALUES (7, 'open', 0)")
        return Walked((("number", "7"),))

    def run(self, statement: str) -> None:
        with closing(apsw.Connection(str(self.database))) as connection:
            connection.execute(statement)


def test_a_key_of_the_wrong_type_is_told_the_right_one(shop: Lifecycle, tmp_path: Path) -> None:
    assert drive(shop, LooseDriver(), tmp_path / "out").walks[0].problem == (
        "The driver gave the key number='7', and the database holds number=7: the same value in another type."
        " Have the driver give it as the database does."
    )


def test_the_service_is_stopped_when_the_run_is_interrupted(shop: Lifecycle, driver: Any, tmp_path: Path) -> None:
    held: list[int] = []

    def interrupt(*_: object) -> None:
        process = driver.run("place", "held", hold=f"before:{tmp_path / 'held'}")
        process.await_file(tmp_path / "held")
        held.append(process.pid)
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        drive(shop, driver, tmp_path / "out", interrupt)
    assert not is_alive(held[0])


def test_a_folder_with_something_in_it_is_refused_and_left_alone(shop: Lifecycle, driver: Any, tmp_path: Path) -> None:
    (tmp_path / "own").write_text("mine")
    with pytest.raises(InputError, match="is not empty"):
        drive(shop, driver, tmp_path)
    assert [path.name for path in tmp_path.iterdir()] == ["own"]


def test_a_lifecycle_without_a_binding_is_refused(shop: Lifecycle, driver: Any, tmp_path: Path) -> None:
    with pytest.raises(InputError, match="has no binding"):
        drive(replace(shop, binding=None), driver, tmp_path / "out")
    assert not (tmp_path / "out").exists()


def test_a_table_that_does_not_fit_the_binding_is_refused_and_the_service_stopped(
    shop: Lifecycle, driver: Any, tmp_path: Path
) -> None:
    assert shop.binding is not None
    with pytest.raises(InputError, match=r"no table 'order'\. It has: 'orders'"):
        drive(replace(shop, binding=replace(shop.binding, table="order")), driver, tmp_path / "out")
    assert [process.is_running for process in driver.processes.started] == [False]


@pytest.mark.parametrize(
    ("start", "message"),
    [
        (lambda _: 1 / 0, "did not start: The driver failed: ZeroDivisionError"),
        (lambda _: None, r"start\(\) answered None; it must answer the path of the service's database, a file in "),
        (lambda _: 16, r"start\(\) answered 16; it must answer the path"),
        (lambda folder: folder / "none", "where no file is; it must answer the path"),
        (lambda _: Path(__file__), "a file elsewhere; it must answer the path"),
    ],
)
def test_a_service_that_does_not_start_is_wrong_input(
    shop: Lifecycle, driver: Any, tmp_path: Path, start: Callable[[Path], Any], message: str
) -> None:
    driver.start = start
    with pytest.raises(InputError, match=message):
        drive(shop, driver, tmp_path / "out")
