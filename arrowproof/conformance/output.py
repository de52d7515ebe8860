"""The output folder: where a proof writes, and the only place where it does.

The folder may hold other files; nothing there is touched but the proof's own names. The service under proof works in
the sub folder ``run``, which is made anew each time. It bears a marker file, so that a folder of that name which is
someone else's is refused and never emptied; a report names this tool, so that a file which does not, such as the
``junit.xml`` of a test suite, is refused as well. One proof at a time writes to one folder.
"""

from __future__ import annotations

import fcntl
import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from arrowproof.errors import InputError
from arrowproof.model.record import record
from arrowproof.model.whole_file import write_whole

RUN = "run"
MARKER = ".arrowproof-run"


@record
class OutputFolder:
    """An output folder that is held by this process; see :func:`open_output`."""

    path: Path

    def new_run(self) -> Path:
        """An empty ``run`` folder for the service's files; the one of the run before is removed.

        Raises:
            InputError: ``run`` is there and is not of our making, or cannot be replaced.
        """
        run = self.path / RUN
        try:
            if run.is_symlink() or (run.exists() and not run.is_dir()):
                raise InputError(f"{run} is no folder of ours. Move it away, or name another output folder")
            if run.is_dir() and any(run.iterdir()):
                if not (run / MARKER).is_file():
                    raise InputError(
                        f"{run} holds files of someone else (it has no {MARKER}). "
                        "Move them away, or name another output folder"
                    )
                shutil.rmtree(run)
            run.mkdir(exist_ok=True)
            (run / MARKER).write_text("Files of a proof's run. The next proof removes this folder.\n", encoding="utf-8")
        except OSError as error:
            raise InputError(
                f"cannot make {run} anew: {error.strerror or error}. Name another output folder"
            ) from error
        return run

    def discard(self, *names: str) -> None:
        """Remove files of a run before, where they are there; none of them when one is someone else's.

        Raises:
            InputError: one was not made by a proof, or cannot be removed.
        """
        for path in (self.path / name for name in names):
            if path.is_file() and not _is_ours(path):
                raise InputError(
                    f"{path} is there and was not made by a proof. Move it away, or name another output folder"
                )
        for path in (self.path / name for name in names):
            try:
                path.unlink(missing_ok=True)
            except OSError as error:
                raise InputError(f"cannot replace {path}: {error.strerror or error}") from error

    def write(self, name: str, text: str) -> Path:
        """Write ``name`` whole or not at all, as UTF-8; returns its path.

        Raises:
            InputError: the file cannot be written.
        """
        path = self.path / name
        try:
            write_whole(path, text)
        except OSError as error:
            raise InputError(f"cannot write {path}: {error.strerror or error}") from error
        return path


def _is_ours(path: Path) -> bool:
    """Whether a file says who made it, as each report does; an empty one is nobody's."""
    try:
        content = path.read_bytes()
    except OSError as error:
        raise InputError(f"cannot read {path}: {error.strerror or error}. Name another output folder") from error
    return not content or b"arrowproof" in content.lower()


@contextmanager
def open_output(path: Path) -> Iterator[OutputFolder]:
    """Make the folder if it is missing and hold it until the end of the block.

    Raises:
        InputError: it cannot be made, is no folder, or another proof writes to it.
    """
    try:
        path.mkdir(parents=True, exist_ok=True)
        handle = os.open(path, os.O_RDONLY | os.O_DIRECTORY)
    except OSError as error:
        raise InputError(f"cannot use {path} as output folder: {error.strerror or error}") from error
    try:
        try:
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError as error:
            raise InputError(f"another proof writes to {path}. Wait for it, or name another output folder") from error
        yield OutputFolder(path.resolve())
    finally:
        os.close(handle)
