"""A PNG file written for speed: pixels as they are, without the filters that a PNG may have.

A picture of flat colours is no smaller for filters, which take as long to choose as all the rest (PNG, 3rd edition,
section 12.7).
"""

from __future__ import annotations

import struct
import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from PIL.Image import Image

_SIGNATURE = b"\x89PNG\r\n\x1a\n"
_DEPTH, _RGB = 8, 2
_UNFILTERED = b"\0"
"""What each row begins with."""
_LEVEL = 2
"""Of compression: the fastest one after which a row is no larger than with filters."""


def write_png(picture: Image, path: Path) -> None:
    """Write a picture in RGB."""
    width, height = picture.size
    header = struct.pack(">IIBBBBB", width, height, _DEPTH, _RGB, 0, 0, 0)
    pixels = zlib.compress(b"".join(_rows(picture.tobytes(), 3 * width)), _LEVEL)
    parts = (_chunk(b"IHDR", header), _chunk(b"IDAT", pixels), _chunk(b"IEND", b""))
    path.write_bytes(b"".join((_SIGNATURE, *parts)))


def _rows(pixels: bytes, length: int) -> Iterator[bytes]:
    for start in range(0, len(pixels), length):
        yield _UNFILTERED
        yield pixels[start : start + length]


def _chunk(name: bytes, content: bytes) -> bytes:
    return struct.pack(">I", len(content)) + name + content + struct.pack(">I", zlib.crc32(name + content))
