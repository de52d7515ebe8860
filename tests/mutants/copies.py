"""Copies of the package, each with one change in its service."""

from __future__ import annotations

import compileall
import os
import shutil
from pathlib import Path

from tests.mutants.table import SERVICE, Change

_PACKAGE = SERVICE.parent


class Copies:
    """Makes copies below a folder. What is not changed is compiled once, and is the same file in all of them."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._original = folder / "original"
        shutil.copytree(_PACKAGE, self._original / _PACKAGE.name)
        compileall.compile_dir(self._original, quiet=1)

    def make(self, change: Change | None = None) -> Path:
        """A copy with the change in it, none for the service as it is; gives the folder that holds its package.

        Raises:
            ValueError: the text that is to be changed is not there once.
        """
        copy = self._folder / ("unchanged" if change is None else change.id)
        if not copy.exists():
            shutil.copytree(self._original, copy, copy_function=os.link)
            if change is not None:
                file = copy / _PACKAGE.name / "service" / change.file
                text = change.of(file.read_text(encoding="utf-8"))
                # In the place of the link: the file behind it belongs to every copy.
                file.unlink()
                file.write_text(text, encoding="utf-8")
        return copy
