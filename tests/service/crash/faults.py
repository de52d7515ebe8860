"""Faults: a disk that fails at one of its operations, and a database that is open in this process on such a disk."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from contextlib import closing
from dataclasses import dataclass, field, replace
from pathlib import Path

import apsw

from arrowproof.service.begun import BegunAttempts
from arrowproof.service.begun_file import open_begun
from arrowproof.service.sqlite import SQLiteDatabase, open_sqlite
from tests.service.crash.watched_vfs import Operation, Perform, unwatched, watched
from tests.service.crash.workshop import Stored, is_sound, stored

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


# Whether each commit writes the WAL back to the file at once, so that this is under faults too.
SETTINGS = {"wal": ("wal", False), "wal, checkpoints": ("wal", True), "truncate": ("truncate", False)}


@dataclass(frozen=True)
class Place:
    """A database that is open in this process through the faulty files."""

    path: Path
    database: SQLiteDatabase
    begun: BegunAttempts

    def stored(self) -> Stored:
        """What is stored, as another connection sees it on a disk that works."""
        with closing(unwatched(self.path)) as other:
            assert is_sound(other)
            return stored(other)

    def rows(self, statement: str) -> list[tuple[object, ...]]:
        """Likewise, for a statement."""
        with closing(unwatched(self.path)) as other:
            return list(other.execute(statement))


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
