"""The problem: how the service says over HTTP that it did not do what it was asked, as RFC 9457 problem details.

Its ``type`` is one of :mod:`arrowproof.service.problem_types`. A problem whose status says it all, such as 404, has the
type ``about:blank``.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Mapping
from http import HTTPStatus
from typing import Any, Final

from fastapi import FastAPI, Request
from fastapi.responses import JSONResponse, Response
from starlette.exceptions import HTTPException

from arrowproof.service.database import BusyError, DatabaseError
from arrowproof.service.jobs import JobStateError
from arrowproof.service.methods import allowed
from arrowproof.service.notes import KeyTakenError
from arrowproof.service.problem_types import BUSY, JOB_STATE, KEY_REUSED, UNAVAILABLE, ProblemType
from arrowproof.service.refusal import RefusedError
from arrowproof.service.repetition import Repetition

MEDIA_TYPE: Final = "application/problem+json"
RETRY_AFTER_SECONDS: Final = 1
GUARD_HEADERS: Final = {"X-Content-Type-Options": "nosniff", "Cache-Control": "no-store"}
"""Of every answer: no cache keeps it, and no browser guesses it to be of another type."""
_log = logging.getLogger(__name__)


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
    content = problem_content(kind, detail, **members)
    return JSONResponse(content, status, {**(headers or {}), **GUARD_HEADERS}, MEDIA_TYPE)


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


def install_problem_handlers(app: FastAPI) -> Callable[[], None]:
    """Make every error of the application answer with problem details.

    Returns:
        What tells the log at the end how often the database failed since it was told last.
    """
    repetition = Repetition()

    def log_failure(error: str, times: int) -> None:
        _log.error("the database failed: %s%s", error, f" ({times} times)" if times > 1 else "")

    def log_untold() -> None:
        for error, times in repetition.untold():
            log_failure(error, times)

    def database_failed(_: Request, error: Exception) -> JSONResponse:
        headers = {"Retry-After": str(RETRY_AFTER_SECONDS)}
        if isinstance(error, BusyError):
            return problem_response(BUSY, "the database is busy; ask again", headers)
        # Every client is told, but not the log each time.
        if times := repetition.times(str(error)):
            log_failure(str(error), times)
        return problem_response(UNAVAILABLE, "the service cannot do this now; ask again", headers)

    for error in (DatabaseError, RefusedError):
        app.add_exception_handler(error, database_failed)
    app.add_exception_handler(ProblemError, _known_problem)
    app.add_exception_handler(KeyTakenError, _key_is_taken)
    app.add_exception_handler(JobStateError, _job_is_elsewhere)
    app.add_exception_handler(HTTPException, _framework_problem)
    app.add_exception_handler(Exception, _bug)
    return log_untold


def _known_problem(_: Request, error: Exception) -> JSONResponse:
    assert isinstance(error, ProblemError)
    return problem_response(error.kind, error.detail, error.headers)


def _key_is_taken(_: Request, __: Exception) -> JSONResponse:
    return problem_response(KEY_REUSED, "this Idempotency-Key was used with another text; use a new key for a new note")


def _job_is_elsewhere(_: Request, error: Exception) -> JSONResponse:
    assert isinstance(error, JobStateError)
    return problem_response(JOB_STATE, f"the job is {error.state}; nothing was changed", state=error.state)


def _framework_problem(request: Request, error: Exception) -> Response:
    assert isinstance(error, HTTPException)
    headers = dict(error.headers or {})
    if "Allow" in headers:
        headers["Allow"] = allowed(headers["Allow"])
        if request.method == "OPTIONS":
            return Response(status_code=204, headers=headers)
    return problem_response(error.status_code, _way_on(error, headers), headers)


def _way_on(error: HTTPException, headers: Mapping[str, str]) -> str:
    """What the client can do instead, where the framework only repeats the status."""
    if error.status_code == HTTPStatus.NOT_FOUND:
        return "there is nothing at this address; GET /openapi.json says what there is"
    if "Allow" in headers:
        return f"this address takes {headers['Allow']}"
    return str(error.detail)


def _bug(_: Request, __: Exception) -> JSONResponse:
    return problem_response(500, "the service has a bug; its log says more")
