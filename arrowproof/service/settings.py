"""The settings: what the HTTP application works with."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from arrowproof.service.clock import Clock
from arrowproof.service.hold import Hold
from arrowproof.service.open_files import ROOM, Room
from arrowproof.service.options import REQUEST_SECONDS
from arrowproof.service.pool import DatabasePool
from arrowproof.service.tokens import Tokens

ANSWER_SECONDS: Final = 12.0


@dataclass(frozen=True)
class Settings:
    """What every route needs. ``monitor_pool`` is for the routes that tell how the service is, which must not wait for
    the others. ``max_attempts`` is stored with each new job, and is what a retried one gets anew.
    ``answer_seconds`` is how long the database may take to answer who asks how the service is.
    ``request_seconds`` is how long the head of a request may take to come, then its body, and its answer to be taken.
    ``room`` is how many connections of clients there may be at once.
    Without ``tokens`` everybody who can reach the service is the same client.
    """

    pool: DatabasePool
    monitor_pool: DatabasePool
    max_attempts: int
    clock: Clock
    hold: Hold
    request_seconds: float = REQUEST_SECONDS
    tokens: Tokens | None = None
    answer_seconds: float = ANSWER_SECONDS
    room: Room = ROOM
