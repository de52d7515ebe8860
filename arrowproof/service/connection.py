"""The connection: HTTP/1.1 as uvicorn speaks it, with deadlines, a strict reader, and our problems.

A client that sends its head byte by byte, or the rest of a body that nobody reads any more, or that asks and does not
read what it is answered, would keep its connection for ever. What the application itself reads has its own deadline;
see :mod:`arrowproof.service.note_request`. A client that asks for much at once does not keep the others waiting; see
:mod:`arrowproof.service.turns`.
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

from arrowproof.service.open_files import ROOM, Room
from arrowproof.service.options import REQUEST_SECONDS
from arrowproof.service.parting import Partings, PartingTransport
from arrowproof.service.problem import GUARD_HEADERS, MEDIA_TYPE, RETRY_AFTER_SECONDS, ProblemError, problem_content
from arrowproof.service.problem_types import TOO_SLOW, UNAVAILABLE
from arrowproof.service.turns import Turns
from arrowproof.service.wire import StrictConnection


class NotesConnection(H11Protocol):
    """One connection to a client. Each head has ``seconds`` to come, and each answer to be taken; a client for whom
    there is no ``room`` is told to come again. ``turns`` and ``partings`` are those of all connections of a server.
    """

    seconds = REQUEST_SECONDS
    room = ROOM
    turns: Turns
    partings: Partings
    transport: PartingTransport
    _reading_deadline: asyncio.TimerHandle | None = None
    _sending_deadline: asyncio.TimerHandle | None = None
    _has_asked_all = False
    _waits_for_turn = False
    _is_behind = False

    def __init__(
        self,
        config: Config,
        server_state: ServerState,
        app_state: dict[str, Any],
        _loop: asyncio.AbstractEventLoop | None = None,
    ) -> None:
        super().__init__(config, server_state, app_state, _loop)
        self.conn: StrictConnection = StrictConnection()
        self.conn.may_begin = False

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]  # as uvicorn has it
        """Begin to wait for the first head, if there is room for this client."""
        # Then the transport tells of every byte that the client does not take at once.
        transport.set_write_buffer_limits(high=0)
        super().connection_made(PartingTransport(transport, self.loop, self._is_in_a_body, self.partings))
        if len(self.connections) <= self.room.clients:
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
        self._is_behind = False
        super().data_received(data)
        self._watch()

    def eof_received(self) -> bool:  # type: ignore[override]  # uvicorn never goes on
        """Go on while there is something to answer: the client says only that it has asked all that it will ask."""
        self._has_asked_all = True
        is_answering = self.cycle is not None and not (self.cycle.response_complete or self.cycle.more_body)
        return (is_answering or self._waits_for_turn) and not self.transport.is_closing()

    def handle_events(self) -> None:
        """Take apart what came, and the next request when it is its turn; what is none is answered with a problem."""
        try:
            super().handle_events()
        except ProblemError as problem:
            self._answer(problem)
        if self.conn.holds_back and not self._waits_for_turn:
            self._waits_for_turn = True
            self._unset_keepalive_if_required()
            self.turns.ask(self._take_turn, is_behind=self._is_behind)
            if self._waits_for_turn:
                # Else ever more would come of a client that is not the one that is waited for.
                self.flow.pause_reading()

    def _take_turn(self) -> None:
        """Begin the next request, if enough of it is here."""
        if not self._waits_for_turn:
            return
        self._waits_for_turn = False
        if self.transport.is_closing():
            return
        self.flow.resume_reading()
        self.conn.may_begin = True
        try:
            self.handle_events()
        finally:
            self.conn.may_begin = False
        self._watch()
        self._close_after_all()

    def on_response_complete(self) -> None:
        """Wait for the rest of a body that nobody reads."""
        self._is_behind = True
        super().on_response_complete()
        self._close_after_all()
        if self.conn.their_state is h11.SEND_BODY:
            self._watch()

    def _close_after_all(self) -> None:
        """Close when a client that will ask nothing more has been answered everything."""
        is_answering = self.cycle is not None and not self.cycle.response_complete
        if self._has_asked_all and not (is_answering or self._waits_for_turn):
            self.transport.close()

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
        # A request that waits for its turn has come, and is answered like one that is under way.
        self._take_turn()
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
        is_asking = self.conn.their_state is h11.IDLE and not self._waits_for_turn
        if not (answered or is_asking) or self.transport.is_closing():
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
        self.transport.part()
        if len(self.connections) > self.room.clients + self.room.partings:
            self.partings.end_oldest()

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


def connection_class(seconds: float, room: Room, turns: Turns) -> type[NotesConnection]:
    """The class of the connections of one server, with these bounds."""
    of_server = {"seconds": seconds, "room": room, "turns": turns, "partings": Partings()}
    return type("ConnectionOfServer", (NotesConnection,), of_server)
