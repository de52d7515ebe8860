"""The file lock: keeps other processes from a small file while one reads and writes it; see flock(2).

The system takes it back from a process that dies.
"""

from __future__ import annotations

import fcntl
import time
from types import TracebackType

from arrowproof.service.database import BusyError, DatabaseError, describe

_LOOK_SECONDS = 0.001


class FileLock:
    """The lock of an open file, taken by ``with``. An error of the system inside becomes one of a database.

    Raises:
        BusyError: another process kept it for ``busy_seconds``.
        DatabaseError: the file can not be locked, read or written.
    """

    def __init__(self, descriptor: int, busy_seconds: float) -> None:
        self._descriptor = descriptor
        self._busy_seconds = busy_seconds

    def __enter__(self) -> None:
        if not self._take():
            self._wait()

    def _take(self) -> bool:
        try:
            fcntl.flock(self._descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            return False
        except OSError as error:
            raise DatabaseError(describe(error)) from error
        return True

    def _wait(self) -> None:
        """Look again and again, as SQLite does for its own: a wait for the lock itself could not be bounded."""
        deadline = time.monotonic() + self._busy_seconds
        while not self._take():
            if time.monotonic() >= deadline:
                raise BusyError("another process keeps its lock")
            time.sleep(_LOOK_SECONDS)

    def __exit__(self, _: type[BaseException] | None, error: BaseException | None, __: TracebackType | None) -> None:
        fcntl.flock(self._descriptor, fcntl.LOCK_UN)
        if isinstance(error, OSError):
            raise DatabaseError(describe(error)) from error
