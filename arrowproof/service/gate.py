"""The gate: who may ask at all. It stands before every route.

With tokens, a request bears one (``Authorization: Bearer``), and everything it does is done as the client to whom the
token was given. A few addresses hold nothing of anybody and are open: see :data:`OPEN_PATHS`.

Without tokens, the service listens to its own machine alone, and everybody there is the same client. Then a browser on
that machine must not be made a tool of a page from elsewhere: ``Host`` has to name this machine (else a foreign name
that was made to point here would do), and a request that changes something must not come from a page of another
origin. Tokens make both needless: no browser sends them by itself.
"""

from __future__ import annotations

import asyncio
import re
from ipaddress import ip_address
from typing import Final

from starlette.datastructures import Headers, MutableHeaders
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from arrowproof.service.problem import GUARD_HEADERS, ProblemError, problem_response
from arrowproof.service.problem_types import HOST_REFUSED, ORIGIN_REFUSED, TOKEN_MISSING, TOKEN_UNKNOWN, UNAVAILABLE
from arrowproof.service.tokens import Tokens

OPEN_PATHS: Final = ("/", "/health", "/openapi.json")
_OPEN_FOLDER = "/problems/"
_SAFE_METHODS = ("GET", "HEAD", "OPTIONS")
_BEARER = re.compile(r"bearer +([A-Za-z0-9._~+/-]+=*)", re.IGNORECASE)
_HOST = re.compile(r"(\[[0-9A-Fa-f:.]+\]|[A-Za-z0-9.-]+)(:[0-9]{1,5})?")


class Gate:
    """Middleware that lets a request through, as a client, or answers with a problem."""

    def __init__(self, app: ASGIApp, tokens: Tokens | None) -> None:
        self._app = app
        self._tokens = tokens

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Let a request through, or answer it."""

        has_begun = False
        # Whether what comes next is the body, or another request, is not known of a client that was not told to send
        # it: RFC 9110 section 10.1.1.
        is_body_in_doubt = expects_to_be_told(scope)

        async def receive_body() -> Message:
            nonlocal is_body_in_doubt
            is_body_in_doubt = False
            return await receive()

        async def send_guarded(message: Message) -> None:
            nonlocal has_begun
            has_begun = True
            if message["type"] == "http.response.start":
                headers = MutableHeaders(scope=message)
                headers.update(GUARD_HEADERS)
                if is_body_in_doubt:
                    headers["Connection"] = "close"
            await send(message)

        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        try:
            client = self._admit(scope)
        except ProblemError as error:
            # Else the service would have to read the body of whoever may not ask.
            parting = {"Connection": "close"} if brings_body(scope) else {}
            answer = problem_response(error.kind, error.detail, {**(error.headers or {}), **parting})
            await answer(scope, receive, send_guarded)
            return
        if client is not None:
            scope.setdefault("state", {})["client"] = client
        try:
            await self._app(scope, receive_body, send_guarded)
        except asyncio.CancelledError:
            # The server ends, and the database has not answered in all the time that it was given.
            if has_begun:
                raise
            ends = problem_response(UNAVAILABLE, "the service ends, and does not know whether this was done")
            await ends(scope, receive, send_guarded)

    def _admit(self, scope: Scope) -> str | None:
        """The client whose request it is; None where that must not matter."""
        headers = Headers(scope=scope)
        if self._tokens is None:
            check_host(headers.getlist("host"))
            if scope["method"] not in _SAFE_METHODS:
                check_origin(headers.getlist("origin"), headers.get("host", ""))
            return ""
        if is_open(scope["path"]):
            return None
        return client_of_token(self._tokens, headers.getlist("authorization"))


def brings_body(scope: Scope) -> bool:
    """Whether a request says that a body follows its head."""
    headers = Headers(scope=scope)
    return headers.get("content-length", "0") != "0" or "transfer-encoding" in headers


def expects_to_be_told(scope: Scope) -> bool:
    """Whether a request waits for ``100 Continue`` before it sends its body; no other expectation comes so far."""
    return scope["type"] == "http" and brings_body(scope) and "expect" in Headers(scope=scope)


def is_open(path: str) -> bool:
    """Whether a path holds nothing of anybody, and so asks for no token."""
    return path in OPEN_PATHS or path.startswith(_OPEN_FOLDER)


def client_of_token(tokens: Tokens, sent: list[str]) -> str:
    """The client whose token the ``Authorization`` header bears.

    Raises:
        ProblemError: 401.
    """
    match = _BEARER.fullmatch(sent[0]) if len(sent) == 1 else None
    if match is None:
        raise ProblemError(
            TOKEN_MISSING, "send one header Authorization: Bearer TOKEN", {"WWW-Authenticate": 'Bearer realm="notes"'}
        )
    client = tokens.client_of(match.group(1))
    if client is None:
        raise ProblemError(
            TOKEN_UNKNOWN,
            "the token is not known",
            {"WWW-Authenticate": 'Bearer realm="notes", error="invalid_token"'},
        )
    return client


def check_host(sent: list[str]) -> None:
    """Accept a host that is this machine by its name or address. HTTP/1.0 may leave it out, which no browser does.

    Raises:
        ProblemError: 403.
    """
    match = _HOST.fullmatch(sent[0]) if len(sent) == 1 else None
    if sent and (match is None or not is_this_machine(match.group(1).strip("[]"))):
        raise ProblemError(
            HOST_REFUSED, "without tokens the service answers to localhost and loopback addresses only; see Host"
        )


def check_origin(sent: list[str], host: str) -> None:
    """Accept a request that no page of another origin made.

    Raises:
        ProblemError: 403.
    """
    if sent and sent != [f"http://{host}"]:
        raise ProblemError(ORIGIN_REFUSED, "a page of another origin may not change anything here; see Origin")


def is_this_machine(host: str) -> bool:
    """Whether a host is a name or an address of the machine itself."""
    if host.lower().removesuffix(".") == "localhost":
        return True
    try:
        return ip_address(host).is_loopback
    except ValueError:
        return False
