"""The wake-up on SQLite: a FIFO beside the file, with ``-wake`` after its name.

A worker makes it when it is missing, readable and writable by its own user alone, and leaves it there; it holds nothing
worth keeping. The server writes one byte after a commit and never waits: where nobody reads, nothing is written.
Several workers share the FIFO, and it is enough that one of them wakes: only one can write to the file at a time, and
it works on while jobs are due.
"""

from __future__ import annotations

import os
from contextlib import suppress
from pathlib import Path
from stat import S_ISFIFO

from arrowproof.service.database import DatabaseError

_OPEN = os.O_NONBLOCK | os.O_CLOEXEC | os.O_NOFOLLOW
_CHUNK = 4_096


def wake_file(path: Path) -> Path:
    """Where the FIFO of a database file stands; symbolic links to the database are followed.

    Raises:
        DatabaseError: the links lead in a circle, or the working directory was removed.
    """
    try:
        resolved = path.resolve()
    except (OSError, RuntimeError) as error:
        raise DatabaseError(f"{str(path)!r} cannot be found: {error}") from error
    return resolved.with_name(resolved.name + "-wake")


class FifoWaker:
    """See :class:`arrowproof.service.wake.Waker`."""

    def __init__(self, path: Path) -> None:
        self._file = file = wake_file(path)
        try:
            with suppress(FileExistsError):
                os.mkfifo(file, 0o600)
            if not S_ISFIFO(file.lstat().st_mode):
                raise DatabaseError(f"{str(file)!r} is in the way: it is no FIFO; move it elsewhere")
            self._read = os.open(file, os.O_RDONLY | _OPEN)
            # No other can be the same one as long as this is open.
            self._opened = _which(os.fstat(self._read))
            try:
                # Without a writer a FIFO is at its end, and always readable.
                self._write = os.open(file, os.O_WRONLY | _OPEN)
            except BaseException:
                os.close(self._read)
                raise
        except OSError as error:
            raise DatabaseError(f"{str(file)!r} cannot be used: {error.strerror}") from error

    def fileno(self) -> int:
        """The reading end."""
        return self._read

    def drain(self) -> None:
        """Read what is there.

        Raises:
            DatabaseError: somebody removed the FIFO, so that nobody can find it any more.
        """
        if not self._is_there():
            raise DatabaseError(f"{str(self._file)!r} was removed")
        with suppress(BlockingIOError):
            while len(os.read(self._read, _CHUNK)) == _CHUNK:
                pass

    def _is_there(self) -> bool:
        try:
            # Not by Path.lstat, which costs more: it is asked before each look for jobs.
            return _which(os.lstat(self._file)) == self._opened
        except OSError:
            return False

    def close(self) -> None:
        """Close both ends and leave the FIFO."""
        os.close(self._read)
        os.close(self._write)


def _which(status: os.stat_result) -> tuple[int, int]:
    return status.st_dev, status.st_ino


class FifoBell:
    """What the server rings after each commit, so that a worker wakes."""

    def __init__(self, path: Path) -> None:
        self._file = wake_file(path)

    def ring(self) -> None:
        """Write one byte; a FIFO that is missing, full, without a reader or no FIFO is passed over."""
        with suppress(OSError):
            # Opening a device can have an effect of its own, so it is looked at before as well as after.
            if not S_ISFIFO(self._file.lstat().st_mode):
                return
            descriptor = os.open(self._file, os.O_WRONLY | _OPEN)
            try:
                if S_ISFIFO(os.fstat(descriptor).st_mode):
                    os.write(descriptor, b"!")
            finally:
                os.close(descriptor)
