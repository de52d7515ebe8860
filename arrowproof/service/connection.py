"""The connection: HTTP/1.1 as uvicorn speaks it, with deadlines, a strict reader, and our problems.

A client that sends its head byte by byte, or the rest of a body that nobody reads any more, or that asks and does not
read what it is answered, would keep its connection for ever. What the application itself reads has its own deadline;
see :mod:`arrowproof.service.note_request`.
"""

from __future__ import annotations

import asyncio
import json
from http import HTTPStatus
from typing import Any

import h11
from uvicorn.config import Config
from uvicorn.protocols.http.h11_impl import H11Protocol
from uvicorn.server import ServerState

from arrowproof.service.open_files import MOST_CLIENTS, SPARE_CLIENTS
from arrowproof.service.options import REQUEST_SECONDS
from arrowproof.service.parting import PartingTransport
from arrowproof.service.problem import GUARD_HEADERS, MEDIA_TYPE, RETRY_AFTER_SECONDS, ProblemError, problem_content
from arrowproof.service.problem_types import TOO_SLOW, UNAVAILABLE
from arrowproof.service.wire import StrictConnection


class NotesConnection(H11Protocol):
    """One connection to a client. Each head has ``seconds`` to come, and each answer to be taken; beyond
    ``most_clients`` connections a client is told to come again.
    """

    seconds = REQUEST_SECONDS
    most_clients = MOST_CLIENTS
    transport: PartingTransport
    _reading_deadline: asyncio.TimerHandle | None = None
    _sending_deadline: asyncio.TimerHandle | None = None
    _has_asked_all = False

    def __init__(
        self,
        config: Config,
        server_state: ServerState,
        app_state: dict[str, Any],
        _loop: asyncio.AbstractEventLoop | None = None,
    ) -> None:
        super().__init__(config, server_state, app_state, _loop)
        self.conn = StrictConnection()

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """Begin to wait for the first head, if there is room for this client."""
        # Then the transport tells of every byte that the client does not take at once.
        transport.set_write_buffer_limits(high=0)
        super().connection_made(PartingTransport(transport, self.loop, self._is_in_a_body))
        if len(self.connections) <= self.most_clients:
            self._watch()
            return
        self._answer(
            ProblemError(
                UNAVAILABLE,
                "the service has as many connections as it can have; ask again",
                {"Retry-After": str(RETRY_AFTER_SECONDS)},
            )
        )

    def connection_lost(self, exc: Exception | None) -> None:
        """Wait no more."""
        self._relax()
        self.resume_writing()
        self.transport.forget()
        super().connection_lost(exc)

    def data_received(self, data: bytes) -> None:
        """Take what came, and wait for more of the head if it is not whole."""
        if self.transport.is_closing():
            self.transport.discard(len(data))
            return
        super().data_received(data)
        self._watch()

    def eof_received(self) -> bool:  # type: ignore[override]
        """Go on while there is something to answer: the client says only that it has asked all that it will ask."""
        self._has_asked_all = True
        is_answering = self.cycle is not None and not (self.cycle.response_complete or self.cycle.more_body)
        return is_answering and not self.transport.is_closing()

    def handle_events(self) -> None:
        """Take apart what came; what is no request is answered with a problem."""
        try:
            super().handle_events()
        except ProblemError as problem:
            self._answer(problem)

    def on_response_complete(self) -> None:
        """Wait for the rest of a body that nobody reads."""
        super().on_response_complete()
        if self._has_asked_all and self.cycle.response_complete:
            self.transport.close()
        elif self.conn.their_state is h11.SEND_BODY:
            self._watch()

    def pause_writing(self) -> None:
        """Begin to wait for the client to take its answer."""
        super().pause_writing()
        self._sending_deadline = self.loop.call_later(self.seconds, self.transport.abort)

    def resume_writing(self) -> None:
        """The client has all that was sent to it."""
        super().resume_writing()
        if self._sending_deadline is not None:
            self._sending_deadline.cancel()
            self._sending_deadline = None

    def shutdown(self) -> None:
        """Close an idle connection, and another after its answer. One that is closing needs no more."""
        if not self.transport.is_closing():
            super().shutdown()

    def _should_upgrade(self) -> bool:
        # Never, and without the lines on stderr by which uvicorn advises to install something.
        return False

    def _is_in_a_body(self) -> bool:
        return self.conn.their_state in (h11.SEND_BODY, h11.ERROR)

    def _watch(self) -> None:
        """Hold the client to the deadline while it is the one to send; it began when that was so first."""
        answered = self.conn.our_state is h11.DONE and self.conn.their_state is h11.SEND_BODY
        if not (answered or self.conn.their_state is h11.IDLE) or self.transport.is_closing():
            self._relax()
        elif self._reading_deadline is None:
            self._reading_deadline = self.loop.call_later(self.seconds, self._give_up)

    def _relax(self) -> None:
        if self._reading_deadline is not None:
            self._reading_deadline.cancel()
            self._reading_deadline = None

    def _give_up(self) -> None:
        self._reading_deadline = None
        if self.conn.their_state is h11.IDLE and self.conn.trailing_data[0]:
            self._answer(ProblemError(TOO_SLOW, f"the head of a request must be here within {self.seconds:g} s"))
        else:
            self.transport.close()

    def _answer(self, problem: ProblemError) -> None:
        """Say a problem and close; say nothing when an answer is on its way already."""
        if self.transport.is_closing():
            return
        if self.cycle is not None and not self.cycle.response_complete:
            # Whoever works on the request is told that nobody waits for it any more.
            self.cycle.disconnected = True
            self.cycle.message_event.set()
        if self.conn.our_state in (h11.IDLE, h11.SEND_RESPONSE):
            self._send(problem)
        if len(self.connections) <= self.most_clients + SPARE_CLIENTS:
            self.transport.part()
        else:
            self.transport.close()

    def _send(self, problem: ProblemError) -> None:
        body = json.dumps(problem_content(problem.kind, problem.detail), separators=(",", ":")).encode()
        ours = {
            "Content-Type": MEDIA_TYPE,
            "Content-Length": str(len(body)),
            "Connection": "close",
            **(problem.headers or {}),
            **GUARD_HEADERS,
        }
        headers = self.server_state.default_headers + [(name.encode(), value.encode()) for name, value in ours.items()]
        reason = HTTPStatus(problem.status).phrase.encode()
        events: list[h11.Event] = [
            h11.Response(status_code=problem.status, headers=headers, reason=reason),
            h11.Data(data=body),
            h11.EndOfMessage(),
        ]
        self.transport.write(b"".join(self.conn.send(event) or b"" for event in events))


def connection_class(seconds: float, most_clients: int) -> type[NotesConnection]:
    """The class of connections with these bounds."""
    bounds = {"seconds": seconds, "most_clients": most_clients}
    return type("BoundedConnection", (NotesConnection,), bounds)
