"""The problem: how the service says over HTTP that it did not do what it was asked, as RFC 9457 problem details.

The ``type`` of a problem is a path of the service itself, ``/problems/NAME``, and the page there says what it means and
what to do. A problem whose status says it all, such as 404, has the type ``about:blank``. The types are those of
:data:`PROBLEM_TYPES`; their names stay what they are, since clients decide by them.
"""

from __future__ import annotations

import logging
from collections.abc import Mapping
from dataclasses import dataclass
from http import HTTPStatus
from typing import Any, Final

from fastapi import FastAPI, Request
from fastapi.responses import JSONResponse
from starlette.exceptions import HTTPException

from arrowproof.service.database import BusyError, DatabaseError
from arrowproof.service.jobs import JobStateError
from arrowproof.service.notes import KeyTakenError
from arrowproof.service.refusal import RefusedError

MEDIA_TYPE: Final = "application/problem+json"
RETRY_AFTER_SECONDS: Final = 1
_log = logging.getLogger(__name__)


@dataclass(frozen=True)
class ProblemType:
    """A kind of problem: the last part of its address, its status, its title, and what to do about it."""

    name: str
    status: int
    title: str
    advice: str

    @property
    def address(self) -> str:
        """What stands as ``type`` in the problem details."""
        return f"/problems/{self.name}"


KEY_MISSING: Final = ProblemType(
    "idempotency-key-missing",
    400,
    "The Idempotency-Key is missing",
    "Send an Idempotency-Key header with a value of your own for each note, such as a UUID, and the same one again "
    "when you do not know whether the note was accepted.",
)
KEY_MALFORMED: Final = ProblemType(
    "idempotency-key-malformed",
    400,
    "The Idempotency-Key is malformed",
    "Send one Idempotency-Key header with 1 to 255 visible ASCII characters: bare, without comma and quotation mark, "
    'or as a quoted string, "like this", in which \\" and \\\\ stand for " and \\. Both ways name the same key.',
)
KEY_REUSED: Final = ProblemType(
    "idempotency-key-reused",
    409,
    "The Idempotency-Key was used with another text",
    "The key belongs to the note that it brought first. Use a new key for a new note. White space around the text "
    "makes no other text.",
)
JOB_STATE: Final = ProblemType(
    "job-state",
    409,
    "The job is in another state",
    "A failed job can be retried, and a waiting one (pending or retry_wait) cancelled. The field state says which "
    "state the job is in.",
)
BODY_MALFORMED: Final = ProblemType(
    "body-malformed",
    400,
    "The body is no unambiguous JSON",
    "Send one JSON value in UTF-8 without a byte order mark; no name twice in an object, no NaN or Infinity, no deep "
    "nesting, no number of thousands of digits.",
)
BODY_TOO_LARGE: Final = ProblemType("body-too-large", 413, "The body is too large", "Send a shorter note.")
TOO_SLOW: Final = ProblemType(
    "too-slow",
    408,
    "The request did not come in time",
    "Nothing was done. Send the request again, with the same key, and without a pause within it.",
)
BAD_HTTP: Final = ProblemType(
    "bad-http", 400, "The request is no valid HTTP", "Send an HTTP/1.1 request, with a head of at most 64 KiB."
)
MEDIA_TYPE_REFUSED: Final = ProblemType(
    "media-type",
    415,
    "The body is not sent as plain application/json",
    "Send Content-Type: application/json once, in UTF-8, and no Content-Encoding.",
)
NO_NOTE: Final = ProblemType(
    "no-note",
    422,
    "The JSON is no note",
    'Send an object whose only field "text" is a string that holds more than white space, no NUL and no lone '
    "surrogate.",
)
QUERY_REFUSED: Final = ProblemType(
    "query",
    400,
    "The query of the address is not understood",
    "Leave out what the detail names, or give it a value that is allowed. Each name may stand once.",
)
TOKEN_MISSING: Final = ProblemType(
    "token-missing",
    401,
    "A token is needed",
    "Send the header Authorization: Bearer TOKEN, once, with the token that was given to you.",
)
TOKEN_UNKNOWN: Final = ProblemType(
    "token-unknown",
    401,
    "The token is not known",
    "Ask whoever runs the service for a token that stands in its file of tokens.",
)
HOST_REFUSED: Final = ProblemType(
    "host-refused",
    403,
    "The host is not this machine",
    "Without tokens the service is for its own machine. Ask for http://localhost or http://127.0.0.1 with its port, or "
    "have the service started with --tokens.",
)
ORIGIN_REFUSED: Final = ProblemType(
    "origin-refused",
    403,
    "A page of another origin may not change anything",
    "Without tokens only the page of the service itself, and programs that send no Origin, may change something. Have "
    "the service started with --tokens.",
)
BUSY: Final = ProblemType(
    "busy",
    503,
    "The database is busy",
    "Nothing was done. Ask again after the time that Retry-After says, with the same key.",
)
UNAVAILABLE: Final = ProblemType(
    "unavailable",
    503,
    "The service cannot do this now",
    "Nothing is known to be done. Ask again after the time that Retry-After says, with the same key.",
)
PROBLEM_TYPES: Final = {
    kind.name: kind
    for kind in (
        KEY_MISSING,
        KEY_MALFORMED,
        KEY_REUSED,
        JOB_STATE,
        BODY_MALFORMED,
        BODY_TOO_LARGE,
        TOO_SLOW,
        BAD_HTTP,
        MEDIA_TYPE_REFUSED,
        NO_NOTE,
        QUERY_REFUSED,
        TOKEN_MISSING,
        TOKEN_UNKNOWN,
        HOST_REFUSED,
        ORIGIN_REFUSED,
        BUSY,
        UNAVAILABLE,
    )
}


class ProblemError(Exception):
    """A request that is not done: its type, or a bare HTTP status, and one sentence for the client."""

    def __init__(self, kind: ProblemType | int, detail: str, headers: Mapping[str, str] | None = None) -> None:
        super().__init__(detail)
        self.kind = kind
        self.status = kind if isinstance(kind, int) else kind.status
        self.detail = detail
        self.headers = headers


def problem_content(kind: ProblemType | int, detail: str, **members: str) -> dict[str, str | int]:
    """The problem details, with members of its own after the usual four."""
    if isinstance(kind, int):
        address, title, status = "about:blank", HTTPStatus(kind).phrase, kind
    else:
        address, title, status = kind.address, kind.title, kind.status
    return {"type": address, "title": title, "status": status, "detail": detail, **members}


def problem_response(
    kind: ProblemType | int, detail: str, headers: Mapping[str, str] | None = None, **members: str
) -> JSONResponse:
    """The answer with problem details."""
    status = kind if isinstance(kind, int) else kind.status
    return JSONResponse(problem_content(kind, detail, **members), status, dict(headers or {}), MEDIA_TYPE)


def problem_answers(*kinds: ProblemType | int) -> dict[int | str, dict[str, Any]]:
    """The problems that a route can answer with, for its OpenAPI description."""
    said: dict[int, list[str]] = {}
    for kind in kinds:
        status = kind if isinstance(kind, int) else kind.status
        said.setdefault(status, []).append(HTTPStatus(kind).phrase if isinstance(kind, int) else kind.title)
    return {status: _described(". ".join(titles)) for status, titles in said.items()}


def _described(description: str) -> dict[str, Any]:
    schema = {
        "type": "object",
        "required": ["type", "title", "status", "detail"],
        "properties": {
            "type": {"type": "string", "format": "uri-reference"},
            "title": {"type": "string"},
            "status": {"type": "integer"},
            "detail": {"type": "string"},
            "state": {"type": "string"},
        },
        "additionalProperties": False,
    }
    return {"description": description, "content": {MEDIA_TYPE: {"schema": schema}}}


def install_problem_handlers(app: FastAPI) -> None:
    """Make every error of the application answer with problem details."""
    for error in (DatabaseError, RefusedError):
        app.add_exception_handler(error, _database_failed)
    app.add_exception_handler(ProblemError, _known_problem)
    app.add_exception_handler(KeyTakenError, _key_is_taken)
    app.add_exception_handler(JobStateError, _job_is_elsewhere)
    app.add_exception_handler(HTTPException, _framework_problem)
    app.add_exception_handler(Exception, _bug)


def _known_problem(_: Request, error: Exception) -> JSONResponse:
    assert isinstance(error, ProblemError)
    return problem_response(error.kind, error.detail, error.headers)


def _key_is_taken(_: Request, __: Exception) -> JSONResponse:
    return problem_response(KEY_REUSED, "this Idempotency-Key was used with another text; use a new key for a new note")


def _job_is_elsewhere(_: Request, error: Exception) -> JSONResponse:
    assert isinstance(error, JobStateError)
    return problem_response(JOB_STATE, f"the job is {error.state}, and stays so", state=error.state)


def _framework_problem(_: Request, error: Exception) -> JSONResponse:
    assert isinstance(error, HTTPException)
    return problem_response(error.status_code, str(error.detail), error.headers)


def _database_failed(_: Request, error: Exception) -> JSONResponse:
    headers = {"Retry-After": str(RETRY_AFTER_SECONDS)}
    if isinstance(error, BusyError):
        return problem_response(BUSY, "the database is busy; ask again, with the same key", headers)
    _log.error("the database failed: %s: %s", type(error).__name__, error)
    return problem_response(UNAVAILABLE, "the service cannot do this now; ask again, with the same key", headers)


def _bug(_: Request, __: Exception) -> JSONResponse:
    return problem_response(500, "the service has a bug; its log says more")
