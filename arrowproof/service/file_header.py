"""The file header: what a database file says of itself, read without changing a byte.

Opening a file the ordinary way can change it: SQLite rolls back a hot journal, recovers a WAL and writes its
index, and a journal mode is stored in the file. So the file is looked at first. The first 100 bytes of a database
(https://www.sqlite.org/fileformat2.html, section 1.3) hold its marks, and the next 8 the head of the table of all
tables (section 1.6); the WAL may hold a newer copy of them, in the last committed frame of page 1 (section 4.1). Where
that says something else than the file it has to prove it with the checksums of its frames (section 4.2), since a power
cut can leave frames in part. It can also leave the file in part, and its rollback journal (section 3) then holds what
it was before, which is what SQLite makes of it before anything is read.
"""

from __future__ import annotations

import os
import struct
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO

import apsw

_READ_BYTES = 108
_MAGIC = b"SQLite format 3\x00"
_LEAF_TABLE_PAGE = 13
_WAL_VERSIONS = b"\x02\x02"
_WAL_HEADER_BYTES = 32
_WAL_MAGICS = (0x377F0682, 0x377F0683)
_FRAME_HEADER_BYTES = 24
_MARKS = slice(60, 72)
_JOURNAL_MAGIC = bytes.fromhex("d9d505f920a163d7")
_JOURNAL_HEADER = struct.Struct(">8s5I")
_FIRST_PAGE = (1).to_bytes(4, "big")


class NotADatabaseError(ValueError):
    """The file's first bytes are not those of a SQLite database."""


@dataclass(frozen=True)
class FileHeader:
    """The marks of a database: whose it is, the version of its schema, whether it is in WAL mode.

    ``is_blank`` is true when nothing was ever created in it: no mark and no table.
    """

    application_id: int
    user_version: int
    uses_wal: bool
    is_blank: bool


def read_file_header(path: Path) -> FileHeader | None:
    """The marks of the database file ``path``, an existing regular file; None when the file is empty.

    Raises:
        NotADatabaseError: the file is something else.
        apsw.CantOpenError: the file may not be read.
        OSError: the WAL or the journal beside it may not be read.
    """
    size = path.stat().st_size
    before = first_bytes_before(path) if size else b""
    if before == b"":
        return None
    first = before or (read_first_bytes(path) if size >= _READ_BYTES else b"")
    if not first.startswith(_MAGIC):
        raise NotADatabaseError(str(path))
    wal = path.with_name(path.name + "-wal")
    page = _first_page_in_wal(wal, _frames) or first
    if page[_MARKS] != first[_MARKS] or not any(page[_MARKS]):
        page = _first_page_in_wal(wal, _proven_frames) or first
    user_version, application_id = struct.unpack_from(">i4xi", page, 60)
    page_kind, tables = struct.unpack_from(">B2xH", page, 100)
    is_blank = (application_id, user_version, page_kind, tables) == (0, 0, _LEAF_TABLE_PAGE, 0)
    return FileHeader(application_id, user_version, first[18:20] == _WAL_VERSIONS, is_blank)


def first_bytes_before(path: Path) -> bytes | None:
    """What a rollback journal beside the file says that its first bytes were, none if it was empty.

    None when there is no journal, or none that speaks of the first page: then the file says it itself.
    """
    try:
        journal = path.with_name(path.name + "-journal").open("rb")
    except FileNotFoundError:
        return None
    with journal:
        header = journal.read(_JOURNAL_HEADER.size)
        if len(header) < _JOURNAL_HEADER.size or not header.startswith(_JOURNAL_MAGIC):
            return None
        _, records, nonce, pages_before, sector, page_size = _JOURNAL_HEADER.unpack(header)
        if pages_before == 0:
            return b""
        for number in range(records):
            journal.seek(sector + number * (page_size + 8))
            record = journal.read(page_size + 8)
            if len(record) < page_size + 8:
                return None
            page = record[4:-4]
            if record[:4] == _FIRST_PAGE:
                checksum = nonce + sum(page[page_size - 200 : 0 : -200])
                return page[:_READ_BYTES] if record[-4:] == (checksum & 0xFFFFFFFF).to_bytes(4, "big") else None
    return None


def read_first_bytes(path: Path, count: int = _READ_BYTES) -> bytes:
    """The first bytes of a file, its marks among them; fewer when there are no more."""
    # Through SQLite's own file layer: when a process closes a file that it opened past SQLite, the system drops the
    # locks that the process holds on the same file through SQLite.
    flags = [apsw.SQLITE_OPEN_READONLY | apsw.SQLITE_OPEN_MAIN_DB, 0]
    file = apsw.VFSFile("", str(path), flags)
    try:
        return file.xRead(count, 0)
    finally:
        file.xClose()


def _first_page_in_wal(path: Path, frames: Callable[[BinaryIO], Iterator[tuple[int, bool, int]]]) -> bytes | None:
    """The header in the newest committed copy of page 1, or None when the WAL has no such copy."""
    try:
        file = path.open("rb")
    except FileNotFoundError:
        return None
    with file:
        newest = committed = None
        for page, is_commit, content_at in frames(file):
            newest = content_at if page == 1 else newest
            committed = newest if is_commit else committed
        if committed is None:
            return None
        file.seek(committed)
        return file.read(_READ_BYTES)


def _frames(file: BinaryIO) -> Iterator[tuple[int, bool, int]]:
    """The whole frames of this generation of the WAL: page number, whether it commits, where its page begins."""
    # Not by the file object, which reads much more around each place than is asked for.
    descriptor = file.fileno()
    header = os.pread(descriptor, _WAL_HEADER_BYTES, 0)
    if len(header) < _WAL_HEADER_BYTES:
        return
    magic, _, page_size, _, *salts = struct.unpack_from(">6I", header)
    size = os.fstat(descriptor).st_size
    position = _WAL_HEADER_BYTES
    if magic not in _WAL_MAGICS:
        return
    while position + _FRAME_HEADER_BYTES + page_size <= size:
        frame = os.pread(descriptor, _FRAME_HEADER_BYTES, position)
        page, pages_after_commit, *frame_salts = struct.unpack_from(">4I", frame)
        if frame_salts != salts:
            return
        yield page, pages_after_commit != 0, position + _FRAME_HEADER_BYTES
        position += _FRAME_HEADER_BYTES + page_size


def _proven_frames(file: BinaryIO) -> Iterator[tuple[int, bool, int]]:
    """The frames up to the first whose checksum does not hold. Slow: a tenth of a second for a WAL of usual size."""
    header = file.read(_WAL_HEADER_BYTES)
    if len(header) < _WAL_HEADER_BYTES:
        return
    order = ">" if header[3] & 1 else "<"
    sums = _checksum(header[:24], order, (0, 0))
    if sums != struct.unpack(">2I", header[24:]):
        return
    for frame in _frames(file):
        content_at = frame[2]
        file.seek(content_at - _FRAME_HEADER_BYTES)
        head = file.read(_FRAME_HEADER_BYTES)
        (page_size,) = struct.unpack_from(">I", header, 8)
        sums = _checksum(head[:8] + file.read(page_size), order, sums)
        if sums != struct.unpack(">2I", head[16:]):
            return
        yield frame


def _checksum(content: bytes, order: str, sums: tuple[int, int]) -> tuple[int, int]:
    first, second = sums
    words = iter(struct.unpack(f"{order}{len(content) // 4}I", content))
    for word in words:
        first = (first + word + second) & 0xFFFFFFFF
        second = (second + next(words) + first) & 0xFFFFFFFF
    return first, second
