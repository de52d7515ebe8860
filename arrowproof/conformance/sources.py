"""Sources: the files that the SQL scan reads, found by the globs of a lifecycle or named on the command line.

A lifecycle file is untrusted: its globs stay inside its own folder, symbolic links included. Paths given by the person
who runs the command are trusted to be where they are. Nothing that matches is left out without a word: what cannot be
read is an error, and a file of a kind that the scan does not understand is handed on, for the matrix to call undecided.
"""

from __future__ import annotations

import hashlib
import os
import stat
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path, PurePosixPath, PureWindowsPath

from arrowproof.errors import InputError
from arrowproof.model.lifecycle import Lifecycle

SQL_SUFFIX = ".sql"
MAX_BYTES = 4 * 1024 * 1024
MAX_FILES = 10_000


@dataclass(frozen=True)
class Source:
    """One file that was read: its name relative to the lifecycle's folder, its text, and the SHA-256 of its bytes."""

    file: str
    text: str
    sha256: str

    @property
    def is_sql(self) -> bool:
        """Whether the file is of the one kind that the scan understands."""
        return self.file.lower().endswith(SQL_SUFFIX)


def read_sources(lifecycle: Lifecycle, paths: Sequence[Path] = ()) -> tuple[Source, ...]:
    """Read the sources of a lifecycle, or ``paths`` in their stead, in the order of their names.

    A path may be a file or a folder; of a folder every ``.sql`` file below it is read. Each file is read once.

    Raises:
        InputError: there is nothing to read, or a glob or file cannot be taken; the message names it.
    """
    folder = lifecycle.origin.folder
    files = _named(paths) if paths else _matched(folder, lifecycle.sources)
    if len(files) > MAX_FILES:
        raise InputError(f"{len(files)} files to scan, at most {MAX_FILES} are read: name fewer of them in sources")
    named = {_relative_name(file, folder): file for file in files}
    return tuple(_read(name, named[name]) for name in sorted(named))


def _named(paths: Sequence[Path]) -> list[Path]:
    """The files behind paths given by hand."""
    files: list[Path] = []
    for path in paths:
        found = sorted(each for each in path.rglob(f"*{SQL_SUFFIX}") if each.is_file()) if path.is_dir() else [path]
        if not found:
            raise InputError(f"{path} holds no {SQL_SUFFIX} file: name the folder or file that holds the SQL")
        files += found
    return files


def _matched(folder: Path, globs: Iterable[str]) -> list[Path]:
    """The files that the globs of a lifecycle match; folders among the matches are passed over."""
    files: list[Path] = []
    inside = folder.resolve()
    for glob in globs:
        _check_glob(glob)
        try:
            found = [each for each in folder.glob(glob) if not each.is_dir()]
        except (ValueError, OSError) as error:
            raise InputError(f"the glob {glob!r} in sources cannot be read: {error}") from error
        if not found:
            raise InputError(f"the glob {glob!r} in sources matches no file in {inside}: correct it or take it out")
        for each in found:
            if not each.resolve().is_relative_to(inside):
                raise InputError(f"{each} is a link that leads out of the lifecycle's folder {inside}: copy the file")
        files += found
    if not files:
        raise InputError('the lifecycle names no sources: add "sources": ["sql/*.sql"], or name the files to scan')
    return files


def _check_glob(glob: str) -> None:
    """Refuse a glob that could reach out of the folder of the lifecycle file."""
    absolute = PurePosixPath(glob).is_absolute() or PureWindowsPath(glob).drive or PureWindowsPath(glob).root
    if not glob.strip() or absolute or ".." in PureWindowsPath(glob).parts:
        raise InputError(f"the glob {glob!r} in sources must stay inside the folder of the lifecycle file")


def _relative_name(file: Path, folder: Path) -> str:
    """The file relative to the lifecycle's folder, with forward slashes."""
    return Path(os.path.relpath(file, folder)).as_posix()


def _read(name: str, file: Path) -> Source:
    """Read one regular file of UTF-8 text; the size is bounded while reading, so that a growing file is too."""
    try:
        if not stat.S_ISREG(file.stat().st_mode):
            raise InputError(f"{file} is not a regular file")
        with file.open("rb") as stream:
            content = stream.read(MAX_BYTES + 1)
    except (OSError, ValueError) as error:
        reason = error.strerror if isinstance(error, OSError) and error.strerror else str(error)
        raise InputError(f"{file} cannot be read: {reason}") from error
    if len(content) > MAX_BYTES:
        raise InputError(f"{file} is larger than {MAX_BYTES} bytes, the most that the scan reads: split it")
    try:
        text = content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = content.count(b"\n", 0, error.start) + 1
        raise InputError(f"{file}:{line} is not UTF-8 (byte {error.start}): save it as UTF-8") from error
    return Source(name, text, hashlib.sha256(content).hexdigest())
