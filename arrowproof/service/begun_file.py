"""The begun file: where SQLite keeps the record of begun attempts, and how a file is known as one.

It stands beside the database, with ``-begun`` after its name. What it is for is told in
:mod:`arrowproof.service.begun`, and :mod:`arrowproof.service.sqlite_begun` opens it.
"""

from __future__ import annotations

from pathlib import Path
from typing import Final

from arrowproof.service.companions import check_companions, check_regular, companions
from arrowproof.service.file_header import first_bytes_before, read_first_bytes
from arrowproof.service.refusal import RefusedError

BEGUN_APPLICATION_ID: Final = 0x42656775


def begun_file(path: Path) -> Path:
    """Where the record of begun attempts stands: beside the database, with ``-begun`` after its name."""
    resolved = path.resolve()
    return resolved.with_name(resolved.name + "-begun")


def remove_begun(path: Path) -> None:
    """Remove the record of begun attempts of a database that is no more; what is no such record is left alone."""
    file = begun_file(path)
    try:
        check_regular(file)
        check_companions(file)
    except RefusedError:
        return
    if may_be_begun(file):
        for ours in (file, *companions(file)):
            ours.unlink(missing_ok=True)


def may_be_begun(file: Path) -> bool:
    """Whether a file is missing, empty, or a record of begun attempts, be it one that a power cut has broken.

    The mark and the name of the table stand in different sectors, and a power cut does not break both.
    """
    if not file.exists() or first_bytes_before(file) == b"":
        return True
    page = read_first_bytes(file, 4096)
    return not any(page[:100]) or page[68:72] == BEGUN_APPLICATION_ID.to_bytes(4, "big") or b"begun_attempts" in page
