"""The watched VFS: SQLite's ordinary files, with every operation that changes one shown to a watcher first.

It is made the default, so that the service's own functions open their files through it without knowing of it. What
a watcher raises is what SQLite is told. One thing differs from a disk: where SQLite would keep an error to itself (a
checkpoint that fails after the commit), apsw raises it all the same, after SQLite has done what it does then.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import apsw

BASE = "unix"
_NEW_JOURNAL = apsw.SQLITE_OPEN_MAIN_JOURNAL | apsw.SQLITE_OPEN_WAL


@dataclass(frozen=True)
class Operation:
    """One change of one file, or of its folder.

    ``kind`` is ``create``, ``write``, ``truncate``, ``sync`` or ``delete``; ``at`` is where a write begins, or the
    length that a truncate leaves. ``syncs_folder`` is set where SQLite's unix VFS has the folder's own entries
    written: by the first sync of a journal or WAL since it was opened (``UNIXFILE_DIRSYNC`` in ``os_unix.c``), and by
    a delete that was asked to.
    """

    kind: str
    name: str
    at: int = 0
    data: bytes = b""
    syncs_folder: bool = False

    def __str__(self) -> str:
        return f"{self.kind} of {self.name}"


Perform = Callable[[Operation], None]
Watcher = Callable[[Operation, Perform], None]


class _WatchedFile(apsw.VFSFile):
    def __init__(self, name: object, flags: list[int], watch: Watcher):
        super().__init__(BASE, name, flags)
        self._name = _name_of(name)
        self._watch = watch
        # Read before the file is opened: what it is opened as, not what came of it.
        self._owes_folder_sync = bool(flags[0] & apsw.SQLITE_OPEN_CREATE and flags[0] & _NEW_JOURNAL)

    def xWrite(self, data: bytes, offset: int) -> None:  # noqa: N802 - SQLite's name
        self._watch(Operation("write", self._name, offset, bytes(data)), self._write)

    def _write(self, operation: Operation) -> None:
        super().xWrite(operation.data, operation.at)

    def xTruncate(self, size: int) -> None:  # noqa: N802
        self._watch(Operation("truncate", self._name, size), lambda _: super(_WatchedFile, self).xTruncate(size))

    def xSync(self, flags: int) -> None:  # noqa: N802
        self._watch(
            Operation("sync", self._name, syncs_folder=self._owes_folder_sync),
            lambda _: super(_WatchedFile, self).xSync(flags),
        )
        self._owes_folder_sync = False


class _WatchedVFS(apsw.VFS):
    def __init__(self, watch: Watcher):
        self._watch = watch
        super().__init__("watched", BASE, makedefault=True)

    def xOpen(self, name: object, flags: list[int]) -> apsw.VFSFile:  # noqa: N802
        if name is None:
            return apsw.VFSFile(BASE, name, flags)
        path = name if isinstance(name, str) else name.filename()
        if flags[0] & apsw.SQLITE_OPEN_CREATE and not Path(path).exists():
            opened: list[apsw.VFSFile] = []
            self._watch(
                Operation("create", Path(path).name),
                lambda _: opened.append(_WatchedFile(name, flags, self._watch)),
            )
            return opened[0]
        return _WatchedFile(name, flags, self._watch)

    def xDelete(self, path: str, syncs_folder: bool) -> None:  # noqa: N802
        self._watch(
            Operation("delete", Path(path).name, syncs_folder=syncs_folder),
            lambda _: super(_WatchedVFS, self).xDelete(path, syncs_folder),
        )


def _name_of(name: object) -> str:
    return Path(name if isinstance(name, str) else name.filename()).name  # type: ignore[attr-defined]


@contextmanager
def watched(watch: Watcher) -> Iterator[None]:
    """Everything that is opened within this context goes through ``watch``."""
    vfs = _WatchedVFS(watch)
    try:
        yield
    finally:
        vfs.unregister()


def unwatched(path: Path) -> apsw.Connection:
    """A connection to the same file that no watcher sees."""
    return apsw.Connection(str(path), vfs=BASE)
