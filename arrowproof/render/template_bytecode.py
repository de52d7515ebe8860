"""Template bytecode: compiled templates, kept as Python keeps its own modules, in ``__pycache__`` beside the source.

Compiling the templates of a page costs more than filling them. What is kept counts only for the same source, the same
Python and the same Jinja; where the folder cannot be written, or Python was told to write no bytecode, every process
compiles for itself.
"""

from __future__ import annotations

import sys
from contextlib import suppress
from importlib.util import cache_from_source
from pathlib import Path

import jinja2.compiler
from jinja2.bccache import Bucket, BytecodeCache

from arrowproof.model.whole_file import write_whole


class KeptBytecode(BytecodeCache):
    """The cache for an environment whose templates are files."""

    def get_cache_key(self, name: str, filename: str | None = None) -> str:
        """The template's own file, beside which its bytecode stands."""
        return filename or name

    def get_source_checksum(self, source: str) -> str:
        """A checksum of the source and of the compiler, since another Jinja may compile it otherwise."""
        compiler = Path(jinja2.compiler.__file__).stat()
        return f"{super().get_source_checksum(source)} {compiler.st_size} {compiler.st_mtime_ns}"

    def load_bytecode(self, bucket: Bucket) -> None:
        """Take what is kept; nothing, or a damaged file, is as good as none."""
        try:
            with Path(cache_from_source(bucket.key)).open("rb") as stream:
                bucket.load_bytecode(stream)
        except Exception:  # pickle and marshal raise what they like over bytes that are not theirs
            bucket.reset()

    def dump_bytecode(self, bucket: Bucket) -> None:
        """Keep it whole or not at all, for processes that start at the same time."""
        if sys.dont_write_bytecode:
            return
        path = Path(cache_from_source(bucket.key))
        with suppress(OSError):
            path.parent.mkdir(parents=True, exist_ok=True)
            write_whole(path, bucket.bytecode_to_string())
