"""Several workers, retentions and clients of the bundled service on one job, on each of its databases."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import pytest

from arrowproof.conformance.bundled import NotesDriver
from arrowproof.conformance.drive import DriveResult, drive
from arrowproof.conformance.own_database import own_database
from arrowproof.conformance.trials import Trials
from arrowproof.model.evidence import Moment
from arrowproof.model.loader import load_lifecycle
from arrowproof.model.transitions import transition_map
from tests.mutants.table import SERVICE

RACES = Trials(crash_checks=False, interleavings=True)
LIFECYCLE = load_lifecycle(SERVICE / "notes-job.lifecycle.json")


def driven(folder: Path, url: str | None = None) -> DriveResult:
    return drive(LIFECYCLE, NotesDriver(), folder, trials=RACES, database=url)


def check(found: DriveResult) -> None:
    assert found.problems == found.sneak_paths == found.left_out == ()
    assert [it.problem for it in found.interleavings if it.problem is not None] == []
    # Four transitions leave each of the waiting states, two the failed one, and one each of the others.
    assert Counter(it.source for it in found.interleavings if it.moment is Moment.READ) == {
        "pending": 16,
        "retry_wait": 16,
        "failed": 4,
        "completed": 1,
        "cancelled": 1,
    }


@pytest.mark.timeout(600)
def test_on_sqlite_one_of_them_wins(tmp_path: Path) -> None:
    found = driven(tmp_path / "run")
    check(found)
    # Whoever comes first has the write lock of the file, and the others are told so at once.
    assert {it.waited for it in found.interleavings} == {0}


@pytest.mark.timeout(600)
def test_on_postgresql_one_of_them_wins_and_clients_wait_for_workers(postgresql: str, tmp_path: Path) -> None:
    with own_database(postgresql) as url:
        found = driven(tmp_path / "run", url)
    check(found)
    waited = {(it.moment, it.target, it.rival) for it in found.interleavings if it.waited and it.source == "pending"}
    # A worker passes over a job that another has; a client who cancels it waits for that one.
    by_workers = {
        (moment, target, "cancelled") for moment in Moment for target in ("completed", "retry_wait", "failed")
    }
    assert waited == {*by_workers, (Moment.WRITTEN, "cancelled", "cancelled")}


def test_no_server_starts_while_somebody_is_held(tmp_path: Path) -> None:
    steps = transition_map(LIFECYCLE)
    create, attempt, cancel = steps[None, "pending"], steps["pending", "completed"], steps["pending", "cancelled"]
    driver = NotesDriver()
    driver.start(tmp_path)
    try:
        driver.begin((create, attempt, cancel))
        key = driver.walk(create, None).key
        held = driver.set_off_held(attempt, key, Moment.WRITTEN)
        held.await_held()
        servers = sorted(tmp_path.glob("processes/*-server.stdout"))
        others = [driver.set_off(cancel, key) for _ in range(2)]
        assert sorted(tmp_path.glob("processes/*-server.stdout")) == servers
        held.release()
        for rival in (held, *others):
            rival.finish()
    finally:
        driver.stop()
