"""Sources: the files that the SQL scan reads, found by the globs of a lifecycle or named on the command line.

A lifecycle file is untrusted: its globs stay inside its own folder, symbolic links included. Paths given by the person
who runs the command are trusted to be where they are. Nothing that matches is left out without a word: a file that is
not there is an error, one whose text cannot be told is a source with a problem, and of a file whose kind is not known,
what looks like SQL is called undecided.
"""

from __future__ import annotations

import codecs
import hashlib
import os
import re
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path, PurePosixPath

from arrowproof.conformance.languages import SUFFIXES
from arrowproof.errors import InputError
from arrowproof.model.lifecycle import Lifecycle
from arrowproof.model.record import record
from arrowproof.model.source_files import MAX_FILES, TooLargeError, match_glob, read_source, relative_name

SQL_SUFFIX = ".sql"
PYTHON_SUFFIXES = (".py", ".pyi", ".pyw")
PASSED_OVER = frozenset({"node_modules", "vendor", "__pycache__", "site-packages", "dist", "build", "target"})
"""Folders that hold what is not the project's own. They and hidden ones are passed over below a named folder."""


@record
class Source:
    """One file that was read: its name relative to the lifecycle's folder, its text, and the SHA-256 of its bytes.

    ``problem`` says why ``text`` may not be what is in the file from ``line`` on, None when it is. Of a file that is no
    UTF-8 the text has one character for each byte, which leaves SQL as it is in most other encodings.
    """

    file: str
    text: str
    sha256: str
    problem: str | None = None
    line: int = 1

    @property
    def is_sql(self) -> bool:
        """Whether the file holds nothing but SQL."""
        return self.file.lower().endswith(SQL_SUFFIX)

    @property
    def is_python(self) -> bool:
        """Whether the file is read by its syntax tree."""
        return self.file.lower().endswith(PYTHON_SUFFIXES)


def read_sources(lifecycle: Lifecycle, paths: Sequence[Path] = ()) -> tuple[Source, ...]:
    """Read the sources of a lifecycle, or ``paths`` in their stead, in the order of their names.

    A path may be a file or a folder; of a folder every file below it is read that holds SQL or code of a language that
    is known, outside of :data:`PASSED_OVER` and hidden folders. Each file is read once.

    Raises:
        InputError: there is nothing to read, or a glob or file cannot be taken; the message names it.
    """
    folder = lifecycle.origin.folder
    files = _named(paths) if paths else _matched(folder, lifecycle.source_globs)
    if len(files) > MAX_FILES:
        raise InputError(f"{len(files)} files to scan, at most {MAX_FILES} are read: name fewer of them in sources")
    named = {relative_name(file, folder): file for file in files}
    return tuple(_read(name, named[name]) for name in sorted(named))


def _named(paths: Sequence[Path]) -> list[Path]:
    """The files behind paths given by hand."""
    files: list[Path] = []
    for path in paths:
        found = sorted(_below(path)) if path.is_dir() else [path]
        if not found:
            raise InputError(
                f"{path} holds no {SQL_SUFFIX} file and no code: name the folder or file that holds the SQL"
            )
        files += found
    return files


def _below(folder: Path) -> Iterator[Path]:
    """The files in a folder and the folders below it that the scan can read."""
    for parent, folders, names in os.walk(folder):
        folders[:] = [each for each in folders if each not in PASSED_OVER and not each.startswith(".")]
        found = (Path(parent, name) for name in names if PurePosixPath(name).suffix.lower() in SUFFIXES)
        yield from (each for each in found if each.is_file())


def _matched(folder: Path, globs: Iterable[str]) -> list[Path]:
    """The files that the globs of a lifecycle match."""
    files: list[Path] = []
    for glob in globs:
        found = match_glob(folder, glob)
        if not found:
            where = folder.resolve()
            raise InputError(f"the glob {glob!r} in sources matches no file in {where}: correct it or take it out")
        files += found
    if not files:
        raise InputError('the lifecycle names no sources: add "sources": ["sql/*.sql"], or name the files to scan')
    return files


_MARKS = ((codecs.BOM_UTF32_LE, "utf-32"), (codecs.BOM_UTF32_BE, "utf-32"), (codecs.BOM_UTF16_LE, "utf-16"),
          (codecs.BOM_UTF16_BE, "utf-16"))  # fmt: skip
_DECLARED = re.compile(rb"\A(?:[^\n]*\n)?[ \t]*(?:#|//|/\*|--|<\?php)[^\n]*?coding[:=][ \t]*([-\w.]+)")
"""The encoding that a file names in one of its first two lines, as Python, Ruby and Emacs read it."""


def _read(name: str, file: Path) -> Source:
    """Read one file of text: UTF-8, what a mark at its beginning says, or the encoding that it names itself."""
    try:
        content = read_source(file)
    except TooLargeError as error:
        reason = str(error).removeprefix(f"{file} ").replace(": split it", ", so that none of it is read: split it")
        return Source(name, "", _hash_large(file), f"this file {reason}")
    sha256 = hashlib.sha256(content).hexdigest()
    marked = next((encoding for mark, encoding in _MARKS if content.startswith(mark)), None)
    declared = _DECLARED.match(content)
    for encoding in (marked or "utf-8-sig", declared[1].decode("ascii") if declared is not None else None):
        try:
            text = content.decode(encoding) if encoding is not None else ""
        except (UnicodeError, LookupError):
            continue
        if encoding is not None and "\0" not in text:
            return Source(name, text, sha256)
    return _unreadable(name, content, sha256)


def _unreadable(name: str, content: bytes, sha256: str) -> Source:
    """A file whose encoding is not known, as far as its bytes can be read as letters of ASCII."""
    try:
        content.decode("utf-8-sig")
        start, what = content.index(b"\0"), "holds the character NUL"
    except UnicodeDecodeError as error:
        start, what = error.start, "is not UTF-8"
    except ValueError:  # NUL only in what another encoding made of it
        start, what = 0, "is not UTF-8"
    line = content.count(b"\n", 0, start) + 1
    text = content.replace(b"\0", b"").decode("latin-1")
    return Source(name, text, sha256, f"this file {what} (byte {start}): save it as UTF-8", line)


def _hash_large(file: Path) -> str:
    """The SHA-256 of a file that is too large to be read."""
    try:
        with file.open("rb") as stream:
            return hashlib.file_digest(stream, "sha256").hexdigest()
    except OSError as error:
        raise InputError(f"{file} cannot be read: {error.strerror}") from error
