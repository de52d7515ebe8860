"""I/O faults: every operation on every file of a SQLite database fails once, or from then on, in three manners."""

from __future__ import annotations

import shutil
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import closing
from dataclasses import dataclass, field, replace
from pathlib import Path

import apsw
import pytest

from arrowproof.service.attempt import Attempt
from arrowproof.service.begun import BegunAttempts
from arrowproof.service.database import DatabaseError
from arrowproof.service.refusal import RefusedError
from arrowproof.service.sqlite import SQLiteDatabase, open_begun, open_sqlite
from tests.service.crash.watched_vfs import Operation, Perform, unwatched, watched
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

MANNERS = ("full", "I/O error", "short write")
_CODES = {
    "write": apsw.SQLITE_IOERR_WRITE,
    "sync": apsw.SQLITE_IOERR_FSYNC,
    "truncate": apsw.SQLITE_IOERR_TRUNCATE,
    "delete": apsw.SQLITE_IOERR_DELETE,
}


@dataclass
class Faults:
    """Lets ``passing`` operations pass once it is armed, fails the next, and with ``lasting`` all that follow.

    A full disk and a short write fail writes as ``os_unix.c`` does; what is no write fails with its own I/O error.
    """

    manner: str
    lasting: bool
    passing: int | None = None
    fired: list[Operation] = field(default_factory=list)

    def __call__(self, operation: Operation, perform: Perform) -> None:
        if self.passing is None or (self.fired and not self.lasting):
            return perform(operation)
        if not self.fired and self.passing > 0:
            self.passing -= 1
            return perform(operation)
        self.fired.append(operation)
        return self._fail(operation, perform)

    def _fail(self, operation: Operation, perform: Perform) -> None:
        if operation.kind == "create":
            raise apsw.CantOpenError("injected: the file cannot be made")
        if operation.kind == "write" and self.manner != "I/O error":
            if self.manner == "short write":
                perform(replace(operation, data=operation.data[: len(operation.data) // 2]))
            raise apsw.FullError("injected: database or disk is full")
        error = apsw.IOError(f"injected: disk I/O error in a {operation.kind}")
        error.extendedresult = _CODES[operation.kind]
        raise error

    def mend(self) -> None:
        self.passing = None


@dataclass(frozen=True)
class Place:
    """A database with one job, open in this process through the faulty files."""

    path: Path
    database: SQLiteDatabase
    begun: BegunAttempts

    def job(self) -> StoredJob | None:
        with closing(unwatched(self.path)) as other:
            assert is_sound(other)
            held = stored(other)
        assert set(held) <= {"key"}
        return held.get("key")


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
# Whether each commit writes the WAL back to the file at once, so that this is under faults too.
SETTINGS = {"wal": ("wal", False), "wal, checkpoints": ("wal", True), "truncate": ("truncate", False)}


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


def places(prepared: Path, checkpoints: bool, manner: str, lasting: bool) -> Iterator[tuple[Place, Faults]]:
    """A fresh place for the first operation that fails, for the second, and so on until the last fault did not fire."""
    passing = 0
    while True:
        folder = prepared.with_name("tried")
        shutil.copytree(prepared, folder)
        path = folder / "finale.sqlite3"
        faults = Faults(manner, lasting)
        with (
            watched(faults),
            closing(open_sqlite(path, busy_seconds=0.0)) as database,
            closing(open_begun(path, 0.0)) as sidecar,
        ):
            if checkpoints:
                database._connection.execute("PRAGMA wal_autocheckpoint = 1")
            faults.passing = passing
            yield Place(path, database, BegunAttempts(sidecar)), faults
            faults.mend()
        shutil.rmtree(folder)
        if not faults.fired:
            return
        passing += 1


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


def _check(place: Place, action: Action, told: object, lasting: bool, case: str) -> str:
    """What was told is what is stored, and an error left the job as it was. Gives what the action came to."""
    job = place.job()
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
    before = place.job()
    if action.max_attempts is None:
        again = accept(place.database, "key")
        assert again.replayed == (before is not None), case
        assert place.job() == PENDING, case
        return
    assert before is not None
    if action.refuses_history:
        allow_history(place.database._connection)
    ended = work(place.database, place.begun, later=True)
    after = place.job()
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
