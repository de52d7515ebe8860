"""The web: runs the HTTP application on a socket until the process is told to end."""

from __future__ import annotations

import math
import os
import socket
import threading
from types import FrameType
from typing import Final

import uvicorn
from anyio import to_thread

from arrowproof.service.app import create_app
from arrowproof.service.command import DATABASE_FAILED
from arrowproof.service.connection import connection_class
from arrowproof.service.hold import Hold
from arrowproof.service.open_files import ACCEPTED_AT_ONCE
from arrowproof.service.settings import Settings
from arrowproof.service.streams import complain, say
from arrowproof.service.turns import Turns

IDLE_SECONDS: Final = 5
"""How long a connection may wait for its next request."""
_HARD_SECONDS = 2.0
_CROWD = 8
"""Requests that wait for a thread while all are at work."""


class NotesServer(uvicorn.Server):
    """A server that prints a line once it accepts connections, and lets neither a hold nor a silent database delay its
    end: a thread that waits for a database that does not answer cannot be ended, and so the process is.
    """

    def __init__(self, config: uvicorn.Config, announcement: str, hold: Hold, turns: Turns) -> None:
        super().__init__(config)
        self._turns = turns
        self._announcement = announcement
        self._hold = hold
        # The server may be told to end more than once.
        self._hard_end: threading.Timer | None = None

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        """Start to listen, and say so."""
        await super().startup(sockets)
        threads = to_thread.current_default_thread_limiter()
        self._turns.is_crowded = lambda: threads.statistics().tasks_waiting >= _CROWD
        for each in sockets or ():
            # The queue in which the system keeps who is not accepted yet may be longer than that.
            each.listen(socket.SOMAXCONN)
        if self.started:
            say(self._announcement)

    def handle_exit(self, sig: int, frame: FrameType | None) -> None:
        """Begin to end: no new requests, and a held one is given up."""
        super().handle_exit(sig, frame)
        self._hold.abandon()
        if self._hard_end is None:
            grace = self.config.timeout_graceful_shutdown or 0
            self._hard_end = threading.Timer(grace + _HARD_SECONDS, _end_hard)
            self._hard_end.daemon = True
            self._hard_end.start()


def _end_hard() -> None:
    complain("server: ended while requests still waited for the database, which did not answer")
    os._exit(DATABASE_FAILED)


def serve(settings: Settings, listener: socket.socket, announcement: str, grace_seconds: float) -> None:
    """Serve until SIGTERM or Ctrl-C, which is raised again once the open requests have ended.

    Args:
        settings: What the application works with.
        listener: A socket that listens.
        announcement: The line to print once requests are taken.
        grace_seconds: How long open requests may take to end.
    """
    app, turns = create_app(settings), Turns()
    config = uvicorn.Config(
        app,
        http=connection_class(settings.request_seconds, settings.room, turns),
        loop="asyncio",
        ws="none",
        lifespan="off",
        server_header=False,
        proxy_headers=False,
        access_log=False,
        timeout_keep_alive=IDLE_SECONDS,
        # Also how many are accepted before the first of them is looked at.
        backlog=ACCEPTED_AT_ONCE,
        # Not uvicorn's own, whose lines have no time.
        log_config=None,
        log_level="warning",
        timeout_graceful_shutdown=math.ceil(grace_seconds),
    )
    try:
        NotesServer(config, announcement, settings.hold, turns).run([listener])
    finally:
        app.state.log_untold()
