"""Source files: what the globs of a lifecycle match, and the bytes of one of them.

A lifecycle file is untrusted: its globs stay inside its own folder, symbolic links included.
"""

from __future__ import annotations

import os
import stat
from pathlib import Path, PurePosixPath, PureWindowsPath

from arrowproof.errors import InputError

MAX_SOURCE_BYTES = 4 * 1024 * 1024
MAX_FILES = 10_000


class TooLargeError(InputError):
    """A file that is larger than what is read of one."""


def match_glob(folder: Path, glob: str) -> list[Path]:
    """The files in ``folder`` that a glob of its lifecycle matches; folders among the matches are passed over.

    Raises:
        InputError: the glob or a match of it leads out of the folder, or the glob cannot be read.
    """
    _check_glob(glob)
    inside = folder.resolve()
    try:
        found = [each for each in folder.glob(glob) if not each.is_dir()]
    except (ValueError, OSError) as error:
        raise InputError(f"the glob {glob!r} in sources cannot be read: {error}") from error
    for each in found:
        if not each.resolve().is_relative_to(inside):
            raise InputError(f"{each} is a link that leads out of the lifecycle's folder {inside}: copy the file")
    return found


def _check_glob(glob: str) -> None:
    """Refuse a glob that could reach out of the folder of the lifecycle file."""
    absolute = PurePosixPath(glob).is_absolute() or PureWindowsPath(glob).drive or PureWindowsPath(glob).root
    if not glob.strip() or absolute or ".." in PureWindowsPath(glob).parts:
        raise InputError(f"the glob {glob!r} in sources must stay inside the folder of the lifecycle file")


def relative_name(file: Path, folder: Path) -> str:
    """The file relative to the lifecycle's folder, with forward slashes."""
    return Path(os.path.relpath(file, folder)).as_posix()


def read_source(file: Path) -> bytes:
    """The bytes of one regular file; the size is bounded while reading, so that a growing file is too.

    Raises:
        TooLargeError: it is larger than MAX_SOURCE_BYTES.
        InputError: it is no regular file, or cannot be read.
    """
    try:
        if not stat.S_ISREG(file.stat().st_mode):
            raise InputError(f"{file} is not a regular file")
        with file.open("rb") as stream:
            content = stream.read(MAX_SOURCE_BYTES + 1)
    except (OSError, ValueError) as error:
        reason = error.strerror if isinstance(error, OSError) and error.strerror else str(error)
        raise InputError(f"{file} cannot be read: {reason}") from error
    if len(content) > MAX_SOURCE_BYTES:
        raise TooLargeError(f"{file} is larger than {MAX_SOURCE_BYTES} bytes, the most that the scan reads: split it")
    return content
