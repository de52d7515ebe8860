"""The watch of the preview: it says when a file that a page is made of has changed."""

from __future__ import annotations

import asyncio
import stat
from collections.abc import Awaitable, Callable, Sequence
from pathlib import Path

from watchfiles import Change, awatch

_DEBOUNCE_MS = 100
"""Editors write a file in several steps; what comes within this time is one change."""
_LOOK_MS = 1000
"""How often it is looked whether the watched folders are still those that stand there."""


async def watch(
    sources: Sequence[Path], refresh: Callable[[], Awaitable[None]], fail: Callable[[str], Awaitable[None]]
) -> None:
    """Call ``refresh`` when a source changes, and ``fail`` with the reason when no more changes can be seen.

    Their folders are watched, since many editors replace a file; and when a folder itself is replaced, or a link leads
    elsewhere, the watch begins anew.
    """
    last: _Places | None = None
    try:
        while True:
            places = _places(sources)
            if any(places.values()):
                await _watch_places(places, sources, refresh, is_anew=last is not None)
            else:
                if last not in (None, places):
                    await refresh()
                await asyncio.sleep(_LOOK_MS / 1000)
            last = places
    except OSError as error:
        await fail(f"{sources[0]} cannot be watched, start anew to see changes: {error}")


_Places = dict[Path, tuple[int, int] | None]
"""The paths of files to watch, each with the identity of the folder it is in, None while there is none."""


def _places(sources: Sequence[Path]) -> _Places:
    """Where sources stand now: under their own names, and where links lead."""
    watched = {path.parent / path.name for source in sources for path in (source.absolute(), source.resolve())}
    return {path: _identity(path.parent) for path in sorted(watched)}


def _identity(folder: Path) -> tuple[int, int] | None:
    try:
        found = folder.stat()
    except OSError:
        return None
    return (found.st_dev, found.st_ino) if stat.S_ISDIR(found.st_mode) else None


async def _watch_places(
    places: _Places, sources: Sequence[Path], refresh: Callable[[], Awaitable[None]], is_anew: bool
) -> None:
    """Refresh when something changes at these places, some of them in folders, as long as the sources stand there.

    A watch that begins anew refreshes once it stands, so that no change falls between two watches.
    """

    def concerns(_change: Change, path: str) -> bool:
        return Path(path) in places

    folders = {path.parent for path, identity in places.items() if identity is not None}
    async for changes in awatch(
        *folders,
        watch_filter=concerns,
        debounce=_DEBOUNCE_MS,
        step=20,
        recursive=False,
        rust_timeout=_LOOK_MS,
        yield_on_timeout=True,
    ):
        if changes or is_anew:
            is_anew = False
            await refresh()
        if _places(sources) != places:
            return
