"""The companions: the files that stand beside a SQLite database, under its name with an ending.

SQLite makes ``-wal``, ``-shm`` and ``-journal`` and takes whatever has such a name for one of them; the service makes
``-begun``. Opening a FIFO waits for its other end for ever, opening a device can have an effect of its own, and a link
can lead to a file of something else. So what is there is looked at before anything is opened.
"""

from __future__ import annotations

from pathlib import Path
from stat import S_ISREG
from typing import Final

from arrowproof.service.refusal import RefusedError

OF_SQLITE: Final = ("-wal", "-shm", "-journal")


def companions(file: Path) -> tuple[Path, ...]:
    """Where SQLite's own companions of a file would stand."""
    return tuple(file.with_name(file.name + ending) for ending in OF_SQLITE)


def check_companions(file: Path) -> None:
    """Refuse a database file beside which something else has the name of a companion; see ``check_regular``.

    Raises:
        RefusedError: it does; nothing was opened.
        OSError: it cannot be looked at.
    """
    for companion in companions(file):
        check_regular(companion)


def check_regular(file: Path) -> None:
    """Refuse what is neither missing nor an ordinary file of one name: a FIFO, folder, device, link or hard link.

    Raises:
        RefusedError: it is such a thing; the message says what to do about it.
        OSError: it cannot be looked at.
    """
    try:
        status = file.lstat()
    except FileNotFoundError:
        return
    if not S_ISREG(status.st_mode) or status.st_nlink > 1:
        raise RefusedError(f"{str(file)!r} is in the way: it is no ordinary file, or a link; move it elsewhere")
