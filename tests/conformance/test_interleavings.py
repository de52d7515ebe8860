"""Several workers on one row of two small services, one on each database, right and with the faults of a race."""

from __future__ import annotations

import sys
import threading
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager, nullcontext, suppress
from pathlib import Path

import apsw
import psycopg
import pytest

from arrowproof.conformance import interleavings
from arrowproof.conformance.drive import DriveResult, drive
from arrowproof.conformance.driver import DriverError, Walked
from arrowproof.conformance.interleavings import NO_MOMENTS, NO_RIVALS
from arrowproof.conformance.own_database import own_database
from arrowproof.conformance.processes import ProcessGroup
from arrowproof.conformance.rivals import HeldRival, ProcessRival
from arrowproof.conformance.trials import Trials
from arrowproof.conformance.verdict import judge
from arrowproof.model.evidence import Interleaving, Moment, Process, Row, Verdict
from arrowproof.model.lifecycle import Arrow, Binding, Kind, Lifecycle, State
from arrowproof.model.transitions import Transition

RACES = Trials(crash_checks=False, interleavings=True)
SCHEMA = "CREATE TABLE jobs (id integer PRIMARY KEY, state text NOT NULL, tries integer NOT NULL, seen integer)"
JOB = Lifecycle(
    id="job",
    title="Job",
    binding=Binding("jobs", ("id",), "state", watch=("tries",)),
    states=(State("queued", Kind.WAITING, "Queued", "queued"), State("done", Kind.SUCCESS, "Done", "done")),
    arrows=(
        Arrow("add", None, "queued"),
        Arrow("delay", "queued", "queued"),
        Arrow("finish", "queued", "done"),
        Arrow("drop", "done", None),
    ),
)
READ = "SELECT tries FROM jobs WHERE id = {id} AND state = '{source}'"
"""What each worker looks at first; it goes on when a row comes back, whose ``tries`` it knows then."""
RIGHT = {
    "queued -> queued": "UPDATE jobs SET state = 'queued', tries = tries + 1 WHERE id = {id} AND state = 'queued'",
    "queued -> done": "UPDATE jobs SET state = 'done', tries = tries + 1 WHERE id = {id} AND state = 'queued'",
    "done -> removed": "DELETE FROM jobs WHERE id = {id} AND state = 'done'",
}
FAULTS = {
    "overwrites what is finished": (
        {"queued -> queued": "UPDATE jobs SET state = 'queued', tries = tries + 1 WHERE id = {id}"},
        "done -> queued, which the model does not have, was made by a late worker.",
    ),
    "finishes twice": (
        {"queued -> done": "UPDATE jobs SET state = 'done' WHERE id = {id}"},
        "A late worker wrote the state done once more: two had the row.",
    ),
    "loses a count": (
        {"queued -> queued": RIGHT["queued -> queued"].replace("tries + 1", "{tries} + 1")},
        "tries grew by 1, where each of what was made adds to it, 2 in all: one was lost.",
    ),
    "touches what is finished": (
        {"queued -> queued": "UPDATE jobs SET seen = 1 WHERE id = {id}; " + RIGHT["queued -> queued"]},
        "A late worker changed the row, which was finished in done.",
    ),
    "brings a removed row back": (
        {
            "done -> removed": "INSERT INTO jobs VALUES ({id}, 'queued', 0, NULL) ON CONFLICT DO NOTHING; "
            + RIGHT["done -> removed"]
        },
        "created -> queued was made of a row that was removed.",
    ),
}


def name_of(transition: Transition) -> str:
    return f"{transition.source} -> {transition.target or 'removed'}"


class ThreadRival:
    """A worker with a connection of its own, in a thread."""

    def __init__(self, url: str, read: str, write: str, turn: AbstractContextManager[object] | None = None) -> None:
        self._turn = turn or nullcontext()
        self._thread = threading.Thread(target=self._work, args=(url, read, write))
        self._thread.start()

    def _work(self, url: str, read: str, write: str) -> None:
        with self._turn, psycopg.connect(url, autocommit=True) as connection:
            found = connection.execute(read).fetchone()
            if found is not None:
                with connection.transaction():
                    connection.execute(write.replace("{tries}", str(found[0])))

    @property
    def is_over(self) -> bool:
        return not self._thread.is_alive()

    def finish(self) -> tuple[Process, ...]:
        self._thread.join(30)
        return (Process("worker", 0, "done"),)


class Shop:
    """What the drivers of both services have in common: the statements, by transition."""

    def __init__(self, changed: dict[str, str] | None = None) -> None:
        self._statements = RIGHT | (changed or {})
        self._numbers = 0

    def _write(self, transition: Transition, key: Row) -> str:
        return self._statements[name_of(transition)].replace("{id}", str(key[0][1]))

    def _read(self, transition: Transition, key: Row) -> str:
        return READ.format(id=key[0][1], source=transition.source)

    def walk(self, transition: Transition, key: Row | None) -> Walked:
        if key is None:
            self._numbers += 1
            self.run(f"INSERT INTO jobs VALUES ({self._numbers}, 'queued', 0, NULL)")
            return Walked((("id", self._numbers),))
        # Alone everybody is right.
        self.run(RIGHT[name_of(transition)].format(id=key[0][1]))
        return Walked(key)

    def run(self, statement: str) -> None:
        raise NotImplementedError


class ServerShop(Shop):
    """The service on PostgreSQL; it cannot hold anybody."""

    def start_on(self, url: str, folder: Path) -> None:  # noqa: ARG002
        self._url = url
        self.run(SCHEMA)

    def stop(self) -> None:
        """Every worker has ended."""

    def run(self, statement: str) -> None:
        with psycopg.connect(self._url, autocommit=True) as connection:
            connection.execute(statement)

    def set_off(self, transition: Transition, key: Row) -> ThreadRival:
        return ThreadRival(self._url, self._read(transition, key), self._write(transition, key))


WORKER = """
import apsw, sys, time
from pathlib import Path
database, read, write, point, folder = sys.argv[1:]
folder = Path(folder)
def at(here):
    if here == point:
        (folder / "held").touch()
        while not (folder / "release").exists():
            time.sleep(0.002)
def busy(count):
    (folder / "waits").touch()
    time.sleep(0.002)
    return True
connection = apsw.Connection(database)
connection.set_busy_handler(busy)
found = connection.execute(read).fetchall()
at("after its read")
if found:
    connection.execute("BEGIN IMMEDIATE")
    connection.execute(write.replace("{tries}", str(found[0][0])))
    at("before its commit")
    connection.execute("COMMIT")
"""


class FileShop(Shop):
    """The service on SQLite: workers that are processes, hold where they are told to, and say when they wait."""

    moments = tuple(Moment)

    def start(self, folder: Path) -> Path:
        self._folder, self._database = folder, folder / "jobs.sqlite3"
        self._processes = ProcessGroup(folder)
        self.run(SCHEMA)
        self.run("PRAGMA journal_mode = wal")
        return self._database

    def stop(self) -> None:
        self._processes.stop()

    def run(self, statement: str) -> None:
        connection = apsw.Connection(str(self._database))
        connection.execute(statement)
        connection.close()

    def set_off(self, transition: Transition, key: Row) -> ProcessRival:
        return self._start(transition, key, "nowhere")

    def set_off_held(self, transition: Transition, key: Row, moment: Moment) -> HeldRival:
        return self._start(transition, key, str(moment))

    def _start(self, transition: Transition, key: Row, point: str) -> ProcessRival:
        folder = self._folder / f"worker-{len(self._processes.started)}"
        folder.mkdir()
        words = [str(self._database), self._read(transition, key), self._write(transition, key), point, str(folder)]
        process = self._processes.start("worker", [sys.executable, "-S", "-c", WITH_SITE + WORKER, *words])
        return ProcessRival(process, held=folder / "held", release=folder / "release", waits=folder / "waits")


WITH_SITE = f"import sys; sys.path += {[path for path in sys.path if path]!r}\n"
"""Workers start in half the time when they need not look for what is installed."""

Try = Callable[[Shop], DriveResult]


@pytest.fixture(params=["sqlite", "postgresql"])
def kind(request: pytest.FixtureRequest) -> type[Shop]:
    return FileShop if request.param == "sqlite" else ServerShop


@pytest.fixture
def try_all(request: pytest.FixtureRequest, tmp_path: Path) -> Try:
    def tried(shop: Shop) -> DriveResult:
        folder = tmp_path / "run"
        if isinstance(shop, FileShop):
            return drive(JOB, shop, folder, trials=RACES)
        with own_database(request.getfixturevalue("postgresql")) as url:
            return drive(JOB, shop, folder, trials=RACES, database=url)  # type: ignore[arg-type]

    return tried


def problems(tried: Sequence[Interleaving]) -> list[str]:
    return [it.problem for it in tried if it.problem is not None]


def test_a_service_that_compares_and_sets_comes_out_right_in_every_interleaving(kind: type[Shop], try_all: Try) -> None:
    found = try_all(kind())
    assert found.problems == found.sneak_paths == ()
    assert NO_RIVALS not in found.left_out
    assert problems(found.interleavings) == []
    pairs = {(it.source, it.target, it.rival) for it in found.interleavings}
    assert pairs == {
        *(("queued", first, rival) for first in ("queued", "done") for rival in ("queued", "done")),
        ("done", None, None),
    }
    assert {(it.moment, it.rivals) for it in found.interleavings} == {(Moment.READ, 1), (Moment.WRITTEN, 2)}
    assert len(found.interleavings) == 10
    # Who is held before its commit has the row, or the file; who is held after its read has nothing.
    assert {it.waited for it in found.interleavings if it.moment is Moment.WRITTEN} == {2}
    assert {it.waited for it in found.interleavings if it.moment is Moment.READ} == {0}


@pytest.mark.parametrize("fault", FAULTS)
def test_each_fault_that_takes_a_race_is_found(kind: type[Shop], try_all: Try, fault: str) -> None:
    changed, wanted = FAULTS[fault]
    found = try_all(kind(changed))
    assert all(walk.problem is None for walk in found.walks)
    assert any(wanted in problem for problem in problems(found.interleavings)), problems(found.interleavings)
    verdict, reasons = judge((), interleavings=found.interleavings)
    assert verdict is Verdict.NOT_PROVEN
    assert any(wanted[:-1] in reason for reason in reasons)


class Unheld(FileShop):
    """A service on SQLite without a hold point."""

    moments = ()


class Alone(ServerShop):
    """A driver that cannot set anything off."""

    set_off = None  # type: ignore[assignment]


def test_what_a_driver_cannot_do_is_said(try_all: Try, tmp_path: Path) -> None:
    assert NO_RIVALS in try_all(Alone()).left_out
    with suppress(FileNotFoundError):
        (tmp_path / "run").rename(tmp_path / "before")
    assert NO_MOMENTS in try_all(Unheld()).left_out


class Refusing(ServerShop):
    """A service whose first worker does not come to its change."""

    def _write(self, transition: Transition, key: Row) -> str:  # noqa: ARG002
        return "SELECT 1"


class Broken(ServerShop):
    """A driver that cannot set off what it has to."""

    def set_off(self, transition: Transition, key: Row) -> ThreadRival:  # noqa: ARG002
        raise DriverError(f"There is no door to {name_of(transition)}.")


def test_an_interleaving_that_cannot_be_made_counts_as_wrong(try_all: Try, tmp_path: Path) -> None:
    said = problems(try_all(Refusing()).interleavings)
    assert len(said) == 10
    assert said[0] == "queued -> queued did not come to its change. The journal holds nothing."
    with suppress(FileNotFoundError):
        (tmp_path / "run").rename(tmp_path / "before")
    assert "There is no door to queued -> queued. The journal holds nothing." in problems(
        try_all(Broken()).interleavings
    )


class Serial(ServerShop):
    """A service that has its workers wait for each other by itself, where no database sees it."""

    def __init__(self) -> None:
        super().__init__()
        self._turn = threading.Lock()

    def set_off(self, transition: Transition, key: Row) -> ThreadRival:
        return ThreadRival(self._url, self._read(transition, key), self._write(transition, key), self._turn)


def test_a_service_that_lets_nobody_come_to_the_database_is_right_and_it_is_said(
    try_all: Try, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(interleavings, "PATIENCE_SECONDS", 0.5)
    monkeypatch.setattr(interleavings, "IMPATIENCE_SECONDS", 0.1)
    found = try_all(Serial()).interleavings
    assert problems(found) == []
    assert {(it.waited, it.unseen) for it in found} == {(0, 1), (0, 2)}
