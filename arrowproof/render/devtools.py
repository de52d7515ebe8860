"""A client of the protocol that Chromium itself speaks (DevTools), over the pipes of ``--remote-debugging-pipe``.

The fit check needs two dozen of its methods. A library that speaks the protocol through a process of its own takes
longer to start than the check may last (the figures are in bench/README.md), so that these few are spoken here.

A message is one JSON object with a zero byte after it. Requests are numbered, and answered in any order; whatever has a
method and no number is an event. A session is one page, frame or worker; the browser itself is the session ``""``.
"""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Mapping
from concurrent.futures import Future
from contextlib import suppress
from threading import Lock, Thread
from typing import Any, NamedTuple

Answer = dict[str, Any]
Handler = Callable[[str, Answer], None]
"""Told of an event of a session: its method and its parameters. It must not wait for an answer."""

_CHUNK = 1 << 20


class DevToolsError(Exception):
    """The browser refused a request; the message says why."""


class BrowserEndedError(DevToolsError):
    """The browser, or what the request was for, is no more."""


class _Waiting(NamedTuple):
    session: str
    answer: Future[Answer]


class DevTools:
    """A connection to a running browser; several threads may use it. It ends when the browser does."""

    def __init__(self, reading: int, writing: int) -> None:
        """Take over two file descriptors: what the browser says is read from one, what it is asked written to one."""
        self._reading, self._writing = reading, writing
        self._writes = Lock()
        self._last = 0
        self._waiting: dict[int, _Waiting] = {}
        self._handlers: dict[str, Handler] = {}
        self.is_over = False
        self._listener = Thread(target=self._listen, daemon=True, name="devtools")
        self._listener.start()

    def post(self, method: str, params: Mapping[str, object] | None = None, session: str = "") -> Future[Answer]:
        """Ask for something; the answer comes later, or a :class:`DevToolsError` in its place."""
        answer: Future[Answer] = Future()
        request: dict[str, object] = {"method": method, "params": params or {}}
        if session:
            request["sessionId"] = session
        with self._writes:
            self._last += 1
            number = self._last
            self._waiting[number] = _Waiting(session, answer)
            content = json.dumps({"id": number, **request}).encode() + b"\0"
            with suppress(OSError):  # nobody reads any more: the listener finds the end, too
                while content:
                    content = content[os.write(self._writing, content) :]
        if self.is_over or content:
            self._fail(number, "the browser has ended")
        return answer

    def call(self, method: str, params: Mapping[str, object] | None = None, session: str = "") -> Answer:
        """Ask for something and wait for the answer.

        Raises:
            DevToolsError: it was refused.
            BrowserEndedError: it will never be answered.
        """
        return self.post(method, params, session).result()

    def listen(self, session: str, handler: Handler) -> None:
        """Have a handler told of all events of a session, from now on."""
        self._handlers[session] = handler

    def abandon(self, session: str) -> None:
        """Fail what a session was asked and has not answered: what it stands for is no more."""
        for number, waiting in list(self._waiting.items()):
            if waiting.session == session:
                self._fail(number, "the page has crashed")

    def close(self) -> None:
        """Let go of the browser, which has ended or ends by this."""
        with self._writes:
            os.close(self._writing)
            self._writing = -1
        self._listener.join()

    def _listen(self) -> None:
        """Read until the end; answers go to who waits for them, events to the handler of their session."""
        rest = bytearray()
        try:
            while chunk := _read(self._reading):
                rest += chunk
                if b"\0" in chunk:
                    *messages, rest = rest.split(b"\0")
                    for message in messages:
                        self._take(json.loads(message))
        finally:  # nobody waits for ever, whatever went wrong
            self.is_over = True
            os.close(self._reading)
            for number in list(self._waiting):
                self._fail(number, "the browser has ended")

    def _take(self, message: Answer) -> None:
        if "id" not in message:
            if handler := self._handlers.get(message.get("sessionId", "")):
                handler(message["method"], message.get("params", {}))
        elif waiting := self._waiting.pop(message["id"], None):
            if "error" in message:
                waiting.answer.set_exception(DevToolsError(message["error"].get("message", "no reason given")))
            else:
                waiting.answer.set_result(message.get("result", {}))

    def _fail(self, number: int, why: str) -> None:
        if waiting := self._waiting.pop(number, None):
            waiting.answer.set_exception(BrowserEndedError(why))


def _read(descriptor: int) -> bytes:
    """What there is to read, empty at the end, which a killed browser brings about in either way."""
    try:
        return os.read(descriptor, _CHUNK)
    except OSError:
        return b""
