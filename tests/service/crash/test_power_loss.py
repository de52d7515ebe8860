"""Power loss at every operation of a small life of a database, with what good and bad settings leave of it."""

from __future__ import annotations

import shutil
from collections import Counter
from contextlib import ExitStack, closing
from dataclasses import dataclass, field
from hashlib import sha256
from pathlib import Path
from random import Random

import apsw
import pytest

from arrowproof.service.begun import BegunAttempts
from arrowproof.service.begun_file import open_begun
from arrowproof.service.clock import database_clock
from arrowproof.service.database import DatabaseError
from arrowproof.service.hold import Hold
from arrowproof.service.jobs import JobChange, cancel_job
from arrowproof.service.refusal import RefusedError
from arrowproof.service.retention import Retention
from arrowproof.service.sqlite import SQLiteDatabase, open_sqlite
from tests.service.crash.power_cut import MANNERS, Disk, Files, Recorder
from tests.service.crash.watched_vfs import unwatched, watched
from tests.service.crash.workshop import (
    Stored,
    accept,
    allow_history,
    is_sound,
    later_clock,
    refuse_history,
    stored,
    work,
)

NAME = "finale.sqlite3"


@dataclass(frozen=True)
class Setting:
    """How commits reach the disk: the service's own mode, and what the test says on top of it."""

    journal_mode: str
    on_top: tuple[str, ...] = ()


GOOD = {
    "WAL and FULL": Setting("wal"),
    "WAL and FULL, written back at once": Setting("wal", ("PRAGMA wal_autocheckpoint = 3",)),
    "TRUNCATE and FULL": Setting("truncate"),
    "TRUNCATE and EXTRA": Setting("truncate", ("PRAGMA synchronous = EXTRA",)),
}
BAD = {
    "WAL and NORMAL": (Setting("wal", ("PRAGMA synchronous = NORMAL",)), {"lost"}),
    "DELETE and FULL": (Setting("truncate", ("PRAGMA journal_mode = DELETE",)), {"lost"}),
    "WAL and OFF": (
        Setting("wal", ("PRAGMA synchronous = OFF", "PRAGMA wal_autocheckpoint = 3")),
        {"lost", "corrupt"},
    ),
    "TRUNCATE and OFF": (Setting("truncate", ("PRAGMA synchronous = OFF",)), {"lost", "corrupt"}),
}
"""Settings that the service refuses or does not use, with the harm that SQLite's documentation says they do.

See https://www.sqlite.org/pragma.html#pragma_synchronous: NORMAL loses what was committed and keeps the file sound; so
does a rollback journal that is deleted and not truncated, when the folder forgets that it was; OFF keeps nothing safe.
"""


@dataclass
class Life:
    """A database from its making on, recorded: what was told step by step, and what was stored then."""

    path: Path
    setting: Setting
    recorder: Recorder = field(default_factory=Recorder)
    states: list[Stored] = field(default_factory=lambda: [{}])

    def open(self, stack: ExitStack, *, create: bool = False) -> SQLiteDatabase:
        mode = self.setting.journal_mode if create else None
        database = stack.enter_context(closing(open_sqlite(self.path, create=create, journal_mode=mode)))
        for statement in self.setting.on_top:
            database._connection.execute(statement)
        return database

    def told(self) -> None:
        """A client, or who runs the worker, was told of one more step."""
        with closing(unwatched(self.path)) as other:
            self.states.append(stored(other))
        self.recorder.told += 1


def live(life: Life) -> None:
    """Notes are accepted; one job is completed, one fails and is completed later; all is closed, and opened again.

    Then a job is cancelled, the finished ones are removed, and a last note is accepted.
    """
    with ExitStack() as stack:
        server = life.open(stack, create=True)
        for key in ("a", "b"):
            accept(server, key)
            life.told()
        worker = life.open(stack)
        begun = BegunAttempts(stack.enter_context(closing(open_begun(life.path))))
        work(worker, begun)
        life.told()
        refuse_history(server._connection)
        work(worker, begun)
        life.told()
        allow_history(server._connection)
        work(worker, begun, later=True)
        life.told()
    with ExitStack() as stack:
        server = life.open(stack, create=True)
        cancelled = accept(server, "c").job_id
        life.told()
        cancel_job(server, cancelled, JobChange("", database_clock, Hold()))
        life.told()
        assert Retention(server, later_clock, 0.0).remove_some() == 3
        life.told()
        accept(server, "d")
        life.told()


@dataclass
class Recovery:
    """Opens what a power cut has left, as a server and a worker do that are started again."""

    folder: Path
    journal_mode: str
    known: dict[str, Stored | str] = field(default_factory=dict)

    def __call__(self, files: Files) -> Stored | str:
        """What is stored, or what is wrong. The same files are looked at once."""
        digest = sha256(repr(sorted(files.items())).encode()).hexdigest()
        if digest not in self.known:
            self.known[digest] = self._recover(files)
        return self.known[digest]

    def _recover(self, files: Files) -> Stored | str:
        self.folder.mkdir()
        for name, content in files.items():
            (self.folder / name).write_bytes(content)
        path = self.folder / NAME
        try:
            with (
                closing(open_sqlite(path, create=True, journal_mode=self.journal_mode)),
                closing(open_begun(path)) as sidecar,
                closing(unwatched(path)) as other,
            ):
                sidecar.begin(1, 0)
                return stored(other) if is_sound(other) else "corrupt: the integrity check finds something"
        except (DatabaseError, RefusedError, apsw.Error) as error:
            return f"corrupt: {error}"
        finally:
            shutil.rmtree(self.folder)


@dataclass
class Finding:
    """What came of the cuts of one setting: how many of each, and the first bad ones."""

    seen: Counter[str] = field(default_factory=Counter)
    bad: list[str] = field(default_factory=list)

    def add(self, what: str, case: str) -> None:
        self.seen[what] += 1
        if what not in ("as told", "one step further"):
            self.bad.append(f"{what}: {case}")

    def __str__(self) -> str:
        return f"{self.seen.total()} cuts: " + ", ".join(f"{n} {what}" for what, n in sorted(self.seen.items()))


def cut_everywhere(folder: Path, setting: Setting, random: Random) -> Finding:
    """Record the life under a setting, then cut the power after each operation in each manner."""
    (folder / "life").mkdir()
    life = Life(folder / "life" / NAME, setting)
    with watched(life.recorder):
        live(life)
    recover = Recovery(folder / "found", setting.journal_mode)
    told_after = [*life.recorder.told_before, life.recorder.told]
    disk, finding = Disk(), Finding()
    for number, told in enumerate(told_after):
        if number:
            disk.apply(life.recorder.operations[number - 1])
        for manner in MANNERS:
            held = recover(disk.cut(manner, random))
            last = life.recorder.operations[number - 1] if number else "nothing"
            case = f"{manner} of what was not synced is left after operation {number}, {last}; told {told}: {held}"
            finding.add(_judge(held, told, life.states), case)
    return finding


def _judge(held: Stored | str, told: int, states: list[Stored]) -> str:
    if isinstance(held, str):
        return "corrupt"
    if held == states[told]:
        return "as told"
    if told + 1 < len(states) and held == states[told + 1]:
        return "one step further"
    return "lost"


@pytest.mark.parametrize("name", GOOD)
def test_good_settings_lose_nothing_that_was_told(quick_folder, random, found, name):
    finding = cut_everywhere(quick_folder, GOOD[name], random)
    found(f"{name}: {finding}")
    assert finding.bad == []


@pytest.mark.parametrize("name", BAD)
def test_bad_settings_are_seen_to_do_the_harm_that_they_are_known_for(quick_folder, random, found, name):
    setting, harm = BAD[name]
    finding = cut_everywhere(quick_folder, setting, random)
    found(f"{name}: {finding}")
    assert finding.seen.keys() & {"lost", "corrupt"} == harm
