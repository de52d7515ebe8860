"""The pages to be checked, as they were named: read, bounded, known to be HTML, each with a name for its pictures."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from pathlib import Path

from arrowproof.errors import InputError
from arrowproof.model.record import record

MAX_PAGE_BYTES = 32 * 1024 * 1024
MAX_STEM_BYTES = 200
"""How much of a page's name the names of its pictures begin with: no file system has names of more than 255 bytes."""


@record
class Source:
    """A page to check: its path as it was named, its bytes, and the stem of the names of its pictures."""

    path: Path
    content: bytes
    stem: str


def read_sources(paths: Sequence[Path]) -> list[Source]:
    """The pages of some paths, in their order.

    Raises:
        InputError: a path is missing, a folder, no HTML, or too large; or there is no path.
    """
    if not paths:
        raise InputError("No page to check: name at least one HTML file")
    return [Source(path, _read_page(path), stem) for path, stem in zip(paths, _stems(paths), strict=True)]


def _stems(paths: Sequence[Path]) -> Iterator[str]:
    """A name for each page's pictures; a page whose name was there before gets a number."""
    seen: set[str] = set()
    for path in paths:
        encoded = os.fsencode(path.stem)
        stem = path.stem if len(encoded) <= MAX_STEM_BYTES else encoded[:MAX_STEM_BYTES].decode(errors="ignore")
        name = next(name for name in (stem, *(f"{stem}-{n}" for n in range(2, len(paths) + 2))) if name not in seen)
        seen.add(name)
        yield name


def _read_page(path: Path) -> bytes:
    """The bytes of a page that is a file, of a size that can be checked, and HTML."""
    try:
        if path.is_dir():
            raise InputError(f"{path} is a folder: name an HTML file in it")
        if path.exists() and not path.is_file():
            raise InputError(f"{path} is a device or a pipe: name an HTML file")
        with path.open("rb") as file:
            content = file.read(MAX_PAGE_BYTES + 1)
    except FileNotFoundError:
        raise InputError(f"{path} does not exist: name an HTML file, such as one that `render` wrote") from None
    except OSError as error:
        raise InputError(f"{path} cannot be read: {error.strerror}") from error
    if len(content) > MAX_PAGE_BYTES:
        raise InputError(f"{path} is larger than {MAX_PAGE_BYTES // 2**20} MiB, the most that is checked")
    if not content:
        raise InputError(f"{path} is no HTML file, since it is empty: render it anew")
    head = content[:4096].removeprefix(b"\xef\xbb\xbf").lstrip().lower()
    if path.suffix.lower() not in (".html", ".htm") or not head.startswith((b"<!doctype html", b"<html", b"<!--")):
        raise InputError(f"{path} is no HTML file: name one that ends in .html and begins with <!doctype html>")
    return content
