"""Files that are written whole or not at all: a reader, or an interrupt, never sees half of one."""

from __future__ import annotations

import os
import stat
import tempfile
from pathlib import Path


def write_whole(path: Path, content: str | bytes) -> None:
    """Write ``content``, a text as UTF-8, beside ``path`` and put it in its place.

    It has the permissions of the file that it replaces, or of a new one: what was closed to others stays so. What UTF-8
    cannot hold (a lone surrogate out of a database or a page) becomes its escape.

    Raises:
        OSError: the folder is missing or read-only, or the disk is full; ``path`` is as it was then.
    """
    handle, temporary = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name[:40]}.")
    try:
        with os.fdopen(handle, "wb") as stream:
            stream.write(content if isinstance(content, bytes) else content.encode("utf-8", "backslashreplace"))
        Path(temporary).chmod(_permissions(path))
        Path(temporary).replace(path)
    except BaseException:
        Path(temporary).unlink(missing_ok=True)
        raise


def _permissions(path: Path) -> int:
    try:
        return stat.S_IMODE(path.stat().st_mode)
    except FileNotFoundError:
        return 0o666 & ~_umask()


def _umask() -> int:
    """The process's mask, which can only be read by setting it."""
    mask = os.umask(0)
    os.umask(mask)
    return mask
