"""The connection: HTTP/1.1 as uvicorn speaks it, with a deadline for the head of a request, and with our problems.

A client that sends its head byte by byte, or the rest of a body that nobody reads any more, would keep its connection
for ever. What the application itself reads has its own deadline; see :mod:`arrowproof.service.note_request`.
"""

from __future__ import annotations

import asyncio
import json
from http import HTTPStatus
from typing import Any

import h11
from uvicorn.protocols.http.h11_impl import H11Protocol

from arrowproof.service.options import REQUEST_SECONDS
from arrowproof.service.problem import GUARD_HEADERS, MEDIA_TYPE, problem_content
from arrowproof.service.problem_types import BAD_HTTP, TOO_SLOW, ProblemType


class NotesConnection(H11Protocol):
    """One connection to a client, on which each head has ``head_seconds`` to come."""

    head_seconds = REQUEST_SECONDS
    _deadline: asyncio.TimerHandle | None = None

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """Begin to wait for the first head."""
        super().connection_made(transport)
        self._watch()

    def connection_lost(self, exc: Exception | None) -> None:
        """Wait no more."""
        self._relax()
        super().connection_lost(exc)

    def data_received(self, data: bytes) -> None:
        """Take what came, and wait for more of the head if it is not whole."""
        super().data_received(data)
        self._watch()

    def on_response_complete(self) -> None:
        """Wait for the rest of a body that nobody reads."""
        super().on_response_complete()
        if self.conn.their_state is h11.SEND_BODY:
            self._watch()

    def send_400_response(self, msg: str) -> None:
        """Say as a problem that what came is no HTTP; nothing, when an answer is on its way already."""
        self._answer(BAD_HTTP, msg)

    def _watch(self) -> None:
        """Hold the client to the deadline while it is the one to send; it began when that was so first."""
        answered = self.conn.our_state is h11.DONE and self.conn.their_state is h11.SEND_BODY
        if not (answered or self.conn.their_state is h11.IDLE) or self.transport.is_closing():
            self._relax()
        elif self._deadline is None:
            self._deadline = self.loop.call_later(self.head_seconds, self._give_up)

    def _relax(self) -> None:
        if self._deadline is not None:
            self._deadline.cancel()
            self._deadline = None

    def _give_up(self) -> None:
        self._deadline = None
        if self.conn.their_state is h11.IDLE and self.conn.trailing_data[0]:
            self._answer(TOO_SLOW, f"the head of a request must be here within {self.head_seconds:g} s")
        else:
            self.transport.close()

    def _answer(self, kind: ProblemType, detail: str) -> None:
        if self.conn.our_state in (h11.IDLE, h11.SEND_RESPONSE) and not self.transport.is_closing():
            body = json.dumps(problem_content(kind, detail)).encode()
            headers = [
                ("content-type", MEDIA_TYPE),
                ("content-length", str(len(body))),
                ("connection", "close"),
                *GUARD_HEADERS.items(),
            ]
            events: list[Any] = [
                h11.Response(status_code=kind.status, headers=headers, reason=HTTPStatus(kind.status).phrase.encode()),
                h11.Data(data=body),
                h11.EndOfMessage(),
            ]
            for event in events:
                self.transport.write(self.conn.send(event) or b"")
        self.transport.close()


def connection_class(seconds: float) -> type[NotesConnection]:
    """The class of connections on which each head has so many seconds to come."""

    class Timed(NotesConnection):
        head_seconds = seconds

    return Timed
