"""A disk whose syncs take a stated time, for SQLite: the files are the real ones, and each sync waits until it is over.

It stands for a disk that is slower than the one at hand, and says nothing of its writes and reads. All operations go
through Python then, which costs whoever writes more pages more. As a script it runs a module of the service, whose
files are all on such a disk:
  python bench/slow_sync.py 0.004 arrowproof.service.worker --db notes.sqlite3 --forever
"""

from __future__ import annotations

import runpy
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager

import apsw

BASE = "unix"


class _SlowFile(apsw.VFSFile):
    def __init__(self, name: str | apsw.URIFilename | None, flags: list[int], seconds: float) -> None:
        super().__init__(BASE, name, flags)
        self._seconds = seconds

    def xSync(self, flags: int) -> None:  # noqa: N802 - SQLite's name
        over_at = time.perf_counter() + self._seconds
        super().xSync(flags)
        time.sleep(max(0.0, over_at - time.perf_counter()))


class _SlowDisk(apsw.VFS):
    def __init__(self, seconds: float, *, is_default: bool) -> None:
        self._seconds = seconds
        self.vfs = f"sync of {seconds:g} s"
        super().__init__(self.vfs, BASE, makedefault=is_default)

    def xOpen(self, name: str | apsw.URIFilename | None, flags: list[int]) -> apsw.VFSFile:  # noqa: N802
        return _SlowFile(name, flags, self._seconds)


@contextmanager
def slow_disk(seconds: float) -> Iterator[str]:
    """The name of a VFS on which each sync takes so long, or longer where the disk itself does."""
    disk = _SlowDisk(seconds, is_default=False)
    try:
        yield disk.vfs
    finally:
        disk.unregister()


if __name__ == "__main__":
    _, given, module, *arguments = sys.argv
    disk = _SlowDisk(float(given), is_default=True)
    sys.argv = [module, *arguments]
    runpy.run_module(module, run_name="__main__", alter_sys=True)
