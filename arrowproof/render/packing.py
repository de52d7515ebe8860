"""Packing: how a page stays below what it may weigh, whatever its lifecycle and its evidence say.

A page stands as plain HTML where it can. One that would weigh too much carries a part of itself packed, which its
script puts back before it is first shown (``unpack.js``): what a reader, a screen reader and a printer get is the same.
Packed is LZMA in base64. The scenes of a page say the same labels at places that are further apart than the 32 kB that
DEFLATE looks back, and text that says much the same again and again becomes an eighth of itself. The same text gives
the same bytes with the same liblzma; another build of it may pack it in other ones.
"""

from __future__ import annotations

import base64
from collections.abc import Sequence
from enum import Enum
from importlib.util import find_spec
from typing import Any, NamedTuple

from markupsafe import Markup

from arrowproof.model.record import record

MOST_BYTES, MOST_STATES = 150_000, 12
"""A page of so many states weighs less than this."""

_REACH = 1 << 22
"""How many bytes back it is looked for what is said again; what it takes of memory is ten times as much."""


class Packing(Enum):
    """What of a page is packed, from nothing to all of it; who does not run the script loses the least in this order.

    ``UNSEEN`` is what only the script brings into sight: the drawings that are not shown yet, and its data. Where
    ``WHOLE`` is packed, a line stands in place of the page for those whose browser runs no script.
    """

    NOTHING = 0
    UNSEEN = 1
    WHOLE = 2


class Load(NamedTuple):
    """What of a page is packed, and how many characters are kept of a value that is cut in its table, None for all."""

    packing: Packing
    most_whole: int | None = None


_OF_FEW_STATES = (
    Load(Packing.NOTHING),
    Load(Packing.UNSEEN),
    Load(Packing.WHOLE),
    Load(Packing.WHOLE, 100),
    Load(Packing.WHOLE, 0),
)
_OF_MORE_STATES = _OF_FEW_STATES[:2]
"""Without a promise to keep nothing is packed that is seen without a script, and nothing is left out."""


def possible_loads(states: int) -> Sequence[Load]:
    """The loads of a page of so many states, the plainest first.

    It takes the first that makes it light enough, and the last where none does. A Python that was built without LZMA
    packs nothing.
    """
    if find_spec("_lzma") is None:
        return _OF_FEW_STATES[:1]
    return _OF_FEW_STATES if states <= MOST_STATES else _OF_MORE_STATES


@record
class Packed:
    """A packed text as it may stand in an element of a page, and the bytes of the text that it is made of."""

    text: Markup
    size: int


def pack(text: str) -> Packed:
    """A text packed."""
    import lzma

    plain = text.encode()
    packed = base64.b64encode(lzma.compress(plain, lzma.FORMAT_RAW, filters=_filters()))
    return Packed(Markup(packed.decode("ascii")), len(plain))


def unpack(packed: str) -> str:
    """The text that was packed so."""
    import lzma

    return lzma.decompress(base64.b64decode(packed), lzma.FORMAT_RAW, filters=_filters()).decode()


def _filters() -> Sequence[dict[str, Any]]:
    """What ``unpack.js`` knows: a byte is told by the three highest bits of the one before it, its place by nothing."""
    import lzma

    return ({"id": lzma.FILTER_LZMA1, "dict_size": _REACH, "lc": 3, "lp": 0, "pb": 0, "nice_len": 273},)


def is_light(page: str) -> bool:
    """Whether a page weighs less than it may."""
    return len(page.encode()) < MOST_BYTES
