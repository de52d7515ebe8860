"""I/O faults in what is done to jobs beside single attempts: by hand, by retention, and several in one transaction."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path

import pytest

from arrowproof.service.begun import BegunAttempts
from arrowproof.service.begun_file import open_begun
from arrowproof.service.clock import database_clock
from arrowproof.service.database import DatabaseError
from arrowproof.service.hold import Hold
from arrowproof.service.jobs import JobChange, cancel_job, requeue_job
from arrowproof.service.retention import Retention
from arrowproof.service.sqlite import open_sqlite
from tests.service.crash.faults import MANNERS, SETTINGS, Place, places
from tests.service.crash.workshop import (
    COMPLETED,
    PENDING,
    RETRY_WAIT,
    accept,
    allow_history,
    later_clock,
    refuse_history,
    work,
)

REMOVED = "SELECT status, jobs FROM past_outcomes ORDER BY status"
BY_HAND = JobChange("", database_clock, Hold())
BATCH = 3


def _requeue(place: Place) -> object:
    return requeue_job(place.database, 1, 3, BY_HAND)


def _cancel(place: Place) -> object:
    return cancel_job(place.database, 1, BY_HAND)


def _remove(place: Place) -> object:
    return Retention(place.database, later_clock, 0.0).remove_some()


@dataclass(frozen=True)
class Change:
    """What is done to a job, the state that it is made from, and the state that it leaves: None when it is removed."""

    run: Callable[[Place], object]
    made_from: str
    leaves: str | None


CHANGES = {
    "retry by hand": Change(_requeue, "failed", "pending"),
    "cancel": Change(_cancel, "pending", "cancelled"),
    "removal": Change(_remove, "completed", None),
}


def prepare(folder: Path, journal_mode: str, state: str, max_attempts: int = 1) -> Path:
    """The folder of a database with one job in a state, with nobody on it."""
    folder.mkdir()
    path = folder / "finale.sqlite3"
    with (
        closing(open_sqlite(path, create=True, journal_mode=journal_mode)) as database,
        closing(open_begun(path)) as sidecar,
    ):
        accept(database, "key", max_attempts)
        if state == "failed":
            refuse_history(database._connection)
        if state != "pending":
            assert [attempt.outcome for attempt in work(database, BegunAttempts(sidecar))] == [state]
        if state == "failed":
            allow_history(database._connection)
    return folder


def state_and_removed(place: Place) -> tuple[str | None, list[tuple[object, ...]]]:
    """The state of the job, None when it is gone, and how many jobs are counted as removed."""
    job = place.stored().get("key")
    return job.status if job else None, place.rows(REMOVED)


@pytest.mark.parametrize("lasting", [False, True], ids=["once", "from then on"])
@pytest.mark.parametrize("name", CHANGES)
@pytest.mark.parametrize("setting", SETTINGS)
def test_whichever_operation_fails_the_change_is_made_whole_or_not_at_all(quick_folder, found, setting, name, lasting):
    journal_mode, checkpoints = SETTINGS[setting]
    change = CHANGES[name]
    folder = prepare(quick_folder / "prepared", journal_mode, change.made_from)
    # A failed job that is begun anew stays counted as failed, and a removed one as what it was.
    counted = [] if name == "cancel" else [(change.made_from, 1)]
    before, after = (change.made_from, []), (change.leaves, counted)
    seen: Counter[str] = Counter()
    for manner in MANNERS:
        for place, faults in places(folder, checkpoints, manner, lasting):
            case = f"{manner}, {faults.passing} operations pass"
            told = "done"
            try:
                change.run(place)
            except DatabaseError:
                told = "failed"
            place.database.roll_back()
            faults.mend()
            left = state_and_removed(place)
            assert left == after or (told == "failed" and left == before), case
            seen[f"{told} and {'made' if left == after else 'not made'}"] += 1
            if left == before:
                change.run(place)
                assert state_and_removed(place) == after, case
    assert seen["failed and not made"] > 10
    found(f"{seen.total()} faults: " + ", ".join(f"{count} {what}" for what, count in sorted(seen.items())))


@pytest.mark.parametrize("setting", SETTINGS)
def test_a_batch_that_loses_its_transaction_loses_no_job_and_no_count(quick_folder, found, setting):
    journal_mode, checkpoints = SETTINGS[setting]
    folder = prepare(quick_folder / "prepared", journal_mode, "pending", 3)
    with closing(open_sqlite(folder / "finale.sqlite3")) as database:
        for number in range(1, BATCH):
            accept(database, f"key {number}")
    seen: Counter[str] = Counter()
    for manner in MANNERS:
        for place, faults in places(folder, checkpoints, manner, lasting=False):
            case = f"{manner}, {faults.passing} operations pass"
            told = [attempt.outcome for attempt in work(place.database, place.begun, batch=BATCH)]
            faults.mend()
            left = list(place.stored().values())
            # Those that the batch had not come to when it lost its transaction are left to the next look.
            assert sorted(job.status for job in left if job != PENDING) == sorted(told), case
            assert set(left) <= {COMPLETED, RETRY_WAIT, PENDING}, case
            seen[", ".join(f"{count} {outcome}" for outcome, count in sorted(Counter(told).items()))] += 1
            work(place.database, place.begun, later=True, batch=BATCH)
            assert {(job.status, job.history, job.attempts - job.errors) for job in place.stored().values()} == {
                ("completed", 1, 1)
            }, case
    found(f"{seen.total()} faults, and what the batch came to: {dict(seen)}")
