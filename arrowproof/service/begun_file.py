"""The begun file: where SQLite keeps the record of begun attempts, in slots that are written over in place.

It stands beside the database, with ``-begun`` after its name. What it is for is told in
:mod:`arrowproof.service.begun`. It is a plain file and no database: it is written for each job, and a database of its
own would cost twice as much.

The format: a mark of 32 bytes, and behind it slots of 32 bytes. A slot is four numbers of 64 bits, little-endian: the
job, the attempts made before, the crashes, and the CRC-32 of these three. The order of slots means nothing, and no two
are of one job. A slot of zeros is free. One whose checksum does not hold, as a write that was cut off leaves it, means
nothing, and is freed when the file is opened.

Whoever reads or writes slots holds the lock of the file (``flock``), which the system takes back from a process that
dies. What a process has written outlives it, without a flush. A power cut may leave any slot as it was before, as it is
or, where the file has grown, as zeros; it breaks none, for a slot lies within one sector of a disk.
"""

from __future__ import annotations

import os
import struct
from collections.abc import Iterator
from pathlib import Path
from stat import S_ISREG
from typing import Final
from zlib import crc32

from arrowproof.service.companions import check_regular
from arrowproof.service.database import BUSY_SECONDS, DatabaseError
from arrowproof.service.file_lock import FileLock
from arrowproof.service.refusal import RefusedError

MARK: Final = b"attempts that began, format 1\n".ljust(32, b"\0")
SLOT_BYTES: Final = 32
_NUMBERS = struct.Struct("<3q")
_CHECKSUM = struct.Struct("<Q")
_JOB = struct.Struct("<q")
_FREE = bytes(SLOT_BYTES)
_CHUNK = 4_096
_OPEN = os.O_CLOEXEC | os.O_NOFOLLOW | os.O_NONBLOCK


def begun_file(path: Path) -> Path:
    """Where the record of begun attempts stands: beside the database, with ``-begun`` after its name."""
    resolved = path.resolve()
    return resolved.with_name(resolved.name + "-begun")


def remove_begun(path: Path) -> None:
    """Remove the record of begun attempts of a database that is no more; what is no such record is left alone."""
    file = begun_file(path)
    try:
        check_regular(file)
        descriptor = os.open(file, os.O_RDONLY | _OPEN)
    except (RefusedError, FileNotFoundError):
        return
    try:
        is_ours = _may_be_ours(os.pread(descriptor, len(MARK), 0))
    finally:
        os.close(descriptor)
    if is_ours:
        file.unlink(missing_ok=True)


def open_begun(path: Path, busy_seconds: float = BUSY_SECONDS) -> BegunFile:
    """Open the record of begun attempts beside a database, and make it when it is missing or a power cut has zeroed it.

    A file that is not known as such a record is left alone.

    Raises:
        RefusedError: it can be neither opened nor made, or a file of something else has its name.
    """
    file = begun_file(path)
    try:
        check_regular(file)
        descriptor = os.open(file, os.O_RDWR | os.O_CREAT | _OPEN, 0o644)
        try:
            if not S_ISREG(os.fstat(descriptor).st_mode):
                raise OSError("it is no ordinary file")
            record = BegunFile(descriptor, busy_seconds)
            if not record.prepare():
                raise RefusedError(
                    f"{str(file)!r} is in the way: it is no record of the notes service; move it elsewhere"
                )
        except BaseException:
            os.close(descriptor)
            raise
    except (DatabaseError, OSError) as error:
        raise RefusedError(f"{str(file)!r} cannot be used: {error}") from error
    return record


class BegunFile:
    """See :class:`arrowproof.service.begun.Record`; ``descriptor`` is the file, open for reading and writing."""

    def __init__(self, descriptor: int, busy_seconds: float) -> None:
        self.descriptor = descriptor
        self._lock = FileLock(descriptor, busy_seconds)

    def prepare(self) -> bool:
        """Mark the file, if nobody has, and free slots that mean nothing; whether it is a record at all."""
        with self._lock:
            content = self._read()
            if not _may_be_ours(content[: len(MARK)]):
                return False
            if not content.startswith(MARK):
                self._write(0, MARK)
            for place in _places(content):
                if _numbers_at(content, place) is None and content[place : place + SLOT_BYTES] != _FREE:
                    self._write(place, _FREE)
        return True

    def begin(self, job_id: int, attempts: int) -> int:
        """See the protocol."""
        with self._lock:
            content = self._read()
            place = _place_of(content, job_id)
            if place is None:
                self._write(_free_place(content), _slot(job_id, attempts, 0))
                return 0
            _, attempts_before, crashes_before = _NUMBERS.unpack_from(content, place)
            crashes = int(crashes_before) + 1 if attempts_before == attempts else 0
            self._write(place, _slot(job_id, attempts, crashes))
            return crashes

    def reuse(self, job_id: int, attempts: int, ended_job_id: int, ended_attempts: int) -> bool:
        """See the protocol."""
        with self._lock:
            content = self._read()
            place = _place_of(content, ended_job_id, ended_attempts)
            if place is None or (job_id != ended_job_id and _place_of(content, job_id) is not None):
                return False
            self._write(place, _slot(job_id, attempts, 0))
            return True

    def clear(self, job_id: int, attempts: int) -> None:
        """See the protocol."""
        with self._lock:
            place = _place_of(self._read(), job_id, attempts)
            if place is not None:
                self._write(place, _FREE)

    def oldest(self, most: int) -> list[tuple[int, int]]:
        """See the protocol."""
        return [(job_id, attempts) for job_id, attempts, _ in self.slots()[:most]]

    def slots(self) -> list[tuple[int, int, int]]:
        """What is on record: job, attempts made before, crashes; by job."""
        with self._lock:
            content = self._read()
        numbers = (_numbers_at(content, place) for place in _places(content))
        return sorted(found for found in numbers if found is not None)

    def close(self) -> None:
        """Close the file; what is on record stays."""
        os.close(self.descriptor)

    def _read(self) -> bytes:
        content = os.pread(self.descriptor, _CHUNK, 0)
        more = len(content) == _CHUNK
        while more:
            chunk = os.pread(self.descriptor, 16 * _CHUNK, len(content))
            content += chunk
            more = bool(chunk)
        return content

    def _write(self, place: int, content: bytes) -> None:
        if os.pwrite(self.descriptor, content, place) != len(content):
            raise DatabaseError("a record could be written in part only")


def _may_be_ours(first: bytes) -> bool:
    """Whether a file that begins so is empty or a record, be its mark written in part or lost to a power cut."""
    return MARK.startswith(first) or not any(first)


def _slot(job_id: int, attempts: int, crashes: int) -> bytes:
    numbers = _NUMBERS.pack(job_id, attempts, crashes)
    return numbers + _CHECKSUM.pack(crc32(numbers))


def _places(content: bytes) -> Iterator[int]:
    """Where there are whole slots, be they free."""
    return iter(range(len(MARK), len(content) - SLOT_BYTES + 1, SLOT_BYTES))


def _numbers_at(content: bytes, place: int) -> tuple[int, int, int] | None:
    """What a slot says; None when it says nothing."""
    numbers = content[place : place + _NUMBERS.size]
    if content[place + _NUMBERS.size : place + SLOT_BYTES] != _CHECKSUM.pack(crc32(numbers)):
        return None
    job_id, attempts, crashes = _NUMBERS.unpack(numbers)
    return job_id, attempts, crashes


def _place_of(content: bytes, job_id: int, attempts: int | None = None) -> int | None:
    """Where the slot of a job is, with so many attempts made before if that is asked for."""
    begins = _JOB.pack(job_id)
    place = content.find(begins, len(MARK))
    while place >= 0:
        numbers = _numbers_at(content, place) if place % SLOT_BYTES == 0 else None
        if numbers is not None:
            return place if attempts in (None, numbers[1]) else None
        place = content.find(begins, place + 1)
    return None


def _free_place(content: bytes) -> int:
    """The first free slot, or the place behind the last."""
    place = content.find(_FREE, len(MARK))
    while place >= 0 and place % SLOT_BYTES:
        place = content.find(_FREE, place + 1)
    return place if place >= 0 else max(len(MARK), len(content) // SLOT_BYTES * SLOT_BYTES)
