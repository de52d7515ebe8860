"""The open files: how many a process may have at once, and how many clients that leaves room for.

A process that may open no more files can accept no client, open no database and load no code. So the server has fewer
clients than that, and tells the next one so.
"""

from __future__ import annotations

import resource
from contextlib import suppress
from dataclasses import dataclass
from typing import Final

from arrowproof.service.refusal import RefusedError

MOST_CLIENTS: Final = 512
"""Connections of clients at once, where the system allows as many."""
MOST_PARTINGS: Final = 256
"""More clients for a moment, which are told that they are too many, where the system allows as many."""
FEWEST_PARTINGS: Final = 32
"""For those there is room in any case."""
ACCEPTED_AT_ONCE: Final = 16
_FEWEST_CLIENTS = 8
_FILES_OF_A_CONNECTION = 5
"""Of one to a SQLite file: the file, its -wal and -shm, a journal and the folder."""
_OTHER_FILES = 32 + 6 * ACCEPTED_AT_ONCE
"""Standard streams, the loop's own, code that is loaded; and what is accepted until the first of it is looked at."""


@dataclass(frozen=True)
class Room:
    """How many connections of clients there may be at once, and how many more that are being told to come again."""

    clients: int
    partings: int


ROOM: Final = Room(MOST_CLIENTS, MOST_PARTINGS)
"""What there is where the system allows it."""


def room_for_clients(database_connections: int) -> Room:
    """How many connections of clients there may be; the limit of this process is raised if it may be.

    Raises:
        RefusedError: the limit of open files leaves room for too few.
    """
    own = own_files(database_connections)
    _raise_limit(own + MOST_CLIENTS + MOST_PARTINGS - FEWEST_PARTINGS)
    limit = _limit()
    clients = min(MOST_CLIENTS, limit - own)
    if clients < _FEWEST_CLIENTS:
        raise RefusedError(
            f"this process may have {limit} files open at once, and the server needs {own + _FEWEST_CLIENTS} at least: "
            f"raise the limit (ulimit -n {own + MOST_CLIENTS}), or give fewer --connections"
        )
    return Room(clients, min(MOST_PARTINGS, FEWEST_PARTINGS + limit - own - clients))


def own_files(database_connections: int) -> int:
    """How many files the server itself may come to have open."""
    return _FILES_OF_A_CONNECTION * database_connections + FEWEST_PARTINGS + _OTHER_FILES


def _limit() -> int:
    soft, _ = resource.getrlimit(resource.RLIMIT_NOFILE)
    return 2**31 if soft == resource.RLIM_INFINITY else soft


def _raise_limit(wanted: int) -> None:
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    if _limit() < wanted:
        most = wanted if hard == resource.RLIM_INFINITY else min(wanted, hard)
        with suppress(OSError, ValueError):
            resource.setrlimit(resource.RLIMIT_NOFILE, (max(most, soft), hard))
