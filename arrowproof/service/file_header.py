"""The file header: what a database file says of itself, read without changing a byte.

Opening a file the ordinary way can change it: SQLite rolls back a hot journal, recovers a WAL and writes its
index, and a journal mode is stored in the file. So the file is looked at first. The first 100 bytes of a database
(https://www.sqlite.org/fileformat2.html, section 1.3) hold its marks, and the next 8 the head of the table of all
tables (section 1.6); the WAL may hold a newer copy of them, in the
last committed frame of page 1 (section 4.1). Checksums of frames are left to SQLite: this look decides only whether
SQLite may open the file, and the marks are read again once it has.
"""

from __future__ import annotations

import struct
from collections.abc import Iterator
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
        OSError: the WAL beside it may not be read.
    """
    size = path.stat().st_size
    if size == 0:
        return None
    first = _read_first_bytes(path) if size >= _READ_BYTES else b""
    if not first.startswith(_MAGIC):
        raise NotADatabaseError(str(path))
    newest = _first_page_in_wal(path.with_name(path.name + "-wal"))
    page = newest or first
    user_version, application_id = struct.unpack_from(">i4xi", page, 60)
    page_kind, tables = struct.unpack_from(">B2xH", page, 100)
    is_blank = (application_id, user_version, page_kind, tables) == (0, 0, _LEAF_TABLE_PAGE, 0)
    return FileHeader(application_id, user_version, first[18:20] == _WAL_VERSIONS, is_blank)


def _read_first_bytes(path: Path) -> bytes:
    # Through SQLite's own file layer: when a process closes a file that it opened past SQLite, the system drops the
    # locks that the process holds on the same file through SQLite.
    flags = [apsw.SQLITE_OPEN_READONLY | apsw.SQLITE_OPEN_MAIN_DB, 0]
    file = apsw.VFSFile("", str(path), flags)
    try:
        return file.xRead(_READ_BYTES, 0)
    finally:
        file.xClose()


def _first_page_in_wal(path: Path) -> bytes | None:
    """The header in the newest committed copy of page 1, or None when the WAL has no such copy."""
    try:
        file = path.open("rb")
    except FileNotFoundError:
        return None
    with file:
        newest = committed = None
        for page, is_commit, content_at in _frames(file):
            newest = content_at if page == 1 else newest
            committed = newest if is_commit else committed
        if committed is None:
            return None
        file.seek(committed)
        return file.read(_READ_BYTES)


def _frames(file: BinaryIO) -> Iterator[tuple[int, bool, int]]:
    """The whole frames of this generation of the WAL: page number, whether it commits, where its page begins."""
    header = file.read(_WAL_HEADER_BYTES)
    if len(header) < _WAL_HEADER_BYTES:
        return
    magic, _, page_size, _, *salts = struct.unpack_from(">6I", header)
    size = file.seek(0, 2)
    position = _WAL_HEADER_BYTES
    if magic not in _WAL_MAGICS:
        return
    while position + _FRAME_HEADER_BYTES + page_size <= size:
        file.seek(position)
        page, pages_after_commit, *frame_salts = struct.unpack_from(">4I", file.read(_FRAME_HEADER_BYTES))
        if frame_salts != salts:
            return
        yield page, pages_after_commit != 0, position + _FRAME_HEADER_BYTES
        position += _FRAME_HEADER_BYTES + page_size
