"""I/O faults: every operation on every file of a SQLite database fails once, or from then on, in three manners."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path

import pytest

from arrowproof.service.attempt import Attempt
from arrowproof.service.database import DatabaseError
from arrowproof.service.refusal import RefusedError
from arrowproof.service.sqlite import open_sqlite
from tests.service.crash.faults import MANNERS, SETTINGS, Faults, Place, places
from tests.service.crash.watched_vfs import unwatched, watched
from tests.service.crash.workshop import (
    COMPLETED,
    FAILED,
    PENDING,
    RETRY_WAIT,
    StoredJob,
    accept,
    allow_history,
    is_sound,
    refuse_history,
    stored,
    work,
)


@dataclass(frozen=True)
class Action:
    """What is tried under faults. ``max_attempts`` of the job that is there before, none when it is None."""

    max_attempts: int | None
    refuses_history: bool
    run: Callable[[Place], object]


def _accept(place: Place) -> object:
    return accept(place.database, "key")


def _attempt(place: Place) -> object:
    (attempt,) = work(place.database, place.begun)
    return attempt


ACTIONS = {
    "accept": Action(None, False, _accept),
    "attempt": Action(3, False, _attempt),
    "failing attempt": Action(3, True, _attempt),
    "last attempt": Action(1, False, _attempt),
}


@pytest.fixture
def prepared(quick_folder: Path) -> Callable[[str, Action], Path]:
    """Gives the folder of a database that is ready for an action, with nobody on it."""

    def prepare(journal_mode: str, action: Action) -> Path:
        folder = quick_folder / "prepared"
        folder.mkdir()
        path = folder / "finale.sqlite3"
        with closing(open_sqlite(path, create=True, journal_mode=journal_mode)) as database:
            if action.max_attempts:
                accept(database, "key", action.max_attempts)
            if action.refuses_history:
                refuse_history(database._connection)
        return folder

    return prepare


@pytest.mark.parametrize("lasting", [False, True], ids=["once", "from then on"])
@pytest.mark.parametrize("action", ACTIONS)
@pytest.mark.parametrize("setting", SETTINGS)
def test_whichever_operation_fails_the_count_is_right_and_the_job_ends_well(prepared, found, setting, action, lasting):
    journal_mode, checkpoints = SETTINGS[setting]
    chosen = ACTIONS[action]
    folder = prepared(journal_mode, chosen)
    seen: Counter[str] = Counter()
    for manner in MANNERS:
        for place, faults in places(folder, checkpoints, manner, lasting):
            try:
                told = chosen.run(place)
            except DatabaseError as error:
                told = error
            faults.mend()
            case = f"{manner} at operation {faults.fired[0] if faults.fired else 'none'}, told {told!r}"
            seen[_check(place, chosen, told, lasting, case)] += 1
            _check_the_end(place, chosen, case)
    assert seen.total() > 20
    found(f"{seen.total()} faults: " + ", ".join(f"{count} {what}" for what, count in sorted(seen.items())))


def job_of(place: Place) -> StoredJob | None:
    """The one job of a place, if it is there."""
    held = place.stored()
    assert set(held) <= {"key"}
    return held.get("key")


def _check(place: Place, action: Action, told: object, lasting: bool, case: str) -> str:
    """What was told is what is stored, and an error left the job as it was. Gives what the action came to."""
    job = job_of(place)
    if action.max_attempts is None:
        if isinstance(told, DatabaseError):
            # Without an answer the note is there, whole, or it is not: whoever asks again is told.
            assert job in (None, PENDING), case
            return "without an answer and " + ("stored" if job else "not stored")
        assert job == PENDING, case
        return "accepted"
    if isinstance(told, DatabaseError):
        # Only a disk that goes on failing keeps an attempt from being counted.
        assert lasting, case
        assert job == PENDING, case
        return "unchanged with an error"
    assert isinstance(told, Attempt), case
    expected = {"completed": COMPLETED, "retry_wait": RETRY_WAIT, "failed": FAILED}[told.outcome]
    assert job == expected, case
    assert told.outcome != "failed" or action.max_attempts == 1, case
    return told.outcome


def _check_the_end(place: Place, action: Action, case: str) -> None:
    """Once the disk works again, on the same connection: the same key answers, and the job ends as it should."""
    before = job_of(place)
    if action.max_attempts is None:
        again = accept(place.database, "key")
        assert again.replayed == (before is not None), case
        assert job_of(place) == PENDING, case
        return
    assert before is not None
    if action.refuses_history:
        allow_history(place.database._connection)
    ended = work(place.database, place.begun, later=True)
    after = job_of(place)
    if before.status in ("completed", "failed"):
        assert ended == (), case
        assert after == before, case
        return
    assert [attempt.outcome for attempt in ended] == ["completed"], case
    assert after == StoredJob("completed", before.attempts + 1, 1, before.errors), case


@pytest.mark.parametrize("journal_mode", ["wal", "truncate"])
def test_whichever_operation_fails_while_the_tables_are_made_the_next_server_makes_them(
    quick_folder, found, journal_mode
):
    seen: Counter[str] = Counter()
    for manner in MANNERS:
        for lasting in (False, True):
            passing = 0
            while True:
                faults = Faults(manner, lasting, passing)
                seen[_make_tables(quick_folder / f"{seen.total()}.sqlite3", journal_mode, faults)] += 1
                if not faults.fired:
                    break
                passing += 1
    assert seen["refused or failed"] > 40
    found(f"{seen.total()} faults: " + ", ".join(f"{count} {what}" for what, count in sorted(seen.items())))


def _make_tables(path: Path, journal_mode: str, faults: Faults) -> str:
    came_to = "made"
    with watched(faults):
        try:
            with closing(open_sqlite(path, create=True, journal_mode=journal_mode)):
                faults.mend()
        except (DatabaseError, RefusedError):
            came_to = "refused or failed"
        faults.mend()
        with closing(open_sqlite(path, create=True, journal_mode=journal_mode)) as database:
            accept(database, "key")
    with closing(unwatched(path)) as other:
        assert is_sound(other)
        assert stored(other) == {"key": PENDING}
    return came_to
