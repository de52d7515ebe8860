"""Sessions on PostgreSQL servers: each as if it were new, and kept open for the next who wants one while that is asked.

A proof asks a server for a thousand small things, and a new connection takes longer than most of them. What a session
was set to is undone when it comes back (``DISCARD ALL``), and one that somebody left by an error is not used again.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from psycopg import Connection

_Kept = dict[str, list["Connection[Any]"]]
_keepers: list[_Kept] = []
"""The sessions that nobody uses now, by the URL that each leads to, of everybody who has them kept; the last counts."""


@contextmanager
def sessions_kept() -> Iterator[None]:
    """Keep sessions that were used until the end of the block. A setting of a database that is made meanwhile, as by a
    migration, holds for new ones alone.
    """
    kept: _Kept = {}
    _keepers.append(kept)
    try:
        yield
    finally:
        _keepers[:] = [each for each in _keepers if each is not kept]
        for sessions in kept.values():
            for session in sessions:
                session.close()


@contextmanager
def session(url: str, settings: Mapping[str, str], connect_seconds: int) -> Iterator[Connection[Any]]:
    """A session with these settings, each statement its own transaction.

    Raises:
        psycopg.Error: the server does not answer, or refuses a statement.
    """
    found = _kept_session(url, settings) or _new_session(url, settings, connect_seconds)
    try:
        yield found
        _give_back(url, found)
    except BaseException:
        found.close()
        raise


def _new_session(url: str, settings: Mapping[str, str], connect_seconds: int) -> Connection[Any]:
    import psycopg

    # Nothing is prepared: that would not outlive its coming back, and the client would count on it.
    made = psycopg.connect(url, autocommit=True, connect_timeout=connect_seconds, prepare_threshold=None)
    try:
        _set(made, settings)
    except BaseException:
        made.close()
        raise
    return made


def _kept_session(url: str, settings: Mapping[str, str]) -> Connection[Any] | None:
    """One that was kept and that the server still knows; None when there is none."""
    import psycopg

    while _keepers:
        try:
            found = _keepers[-1].get(url, []).pop()
        except IndexError:
            break
        with suppress(psycopg.Error):
            _set(found, settings)
            return found
        found.close()
    return None


def _give_back(url: str, used: Connection[Any]) -> None:
    """Keep a session where that is wanted and it can be made as a new one; else close it."""
    import psycopg

    if _keepers:
        # What was asked of it is done, whatever keeps it from coming back: its server is gone, or a transaction stands.
        with suppress(psycopg.Error):
            used.execute("DISCARD ALL")
            _keepers[-1].setdefault(url, []).append(used)
            return
    used.close()


def _set(connection: Connection[Any], settings: Mapping[str, str]) -> None:
    connection.execute("SELECT " + ", ".join(f"set_config('{name}', '{settings[name]}', false)" for name in settings))
