"""The problem: how the service says over HTTP that it did not do what it was asked, as RFC 9457 problem details.

========  =========================================================================================
status    when
========  =========================================================================================
400       the Idempotency-Key is missing or malformed, or the body is no unambiguous JSON
404       no such note, job or path
405       the path does not know the method
409       the key was used with another text
413       the body is larger than the limit
415       the body is not sent as plain application/json
422       the JSON is no note: not an object, unknown fields, no text, or a text that cannot be kept
503       the database is busy or cannot do it now, or the service ends; ``Retry-After`` says when to ask again
========  =========================================================================================
"""

from __future__ import annotations

import logging
from collections.abc import Mapping
from http import HTTPStatus

from fastapi import FastAPI, Request
from fastapi.responses import JSONResponse
from starlette.exceptions import HTTPException

from arrowproof.service.database import BusyError, DatabaseError
from arrowproof.service.notes import KeyTakenError
from arrowproof.service.refusal import RefusedError

MEDIA_TYPE = "application/problem+json"
RETRY_AFTER_SECONDS = 1
_log = logging.getLogger(__name__)


class ProblemError(Exception):
    """A request that is not done: an HTTP status and one sentence for the client."""

    def __init__(self, status: int, detail: str) -> None:
        super().__init__(detail)
        self.status = status
        self.detail = detail


def problem_response(status: int, detail: str, headers: Mapping[str, str] | None = None) -> JSONResponse:
    """The answer with problem details; their title is the status's own phrase."""
    content = {"type": "about:blank", "title": HTTPStatus(status).phrase, "status": status, "detail": detail}
    return JSONResponse(content, status, dict(headers or {}), MEDIA_TYPE)


def install_problem_handlers(app: FastAPI) -> None:
    """Make every error of the application answer with problem details."""
    for error in (DatabaseError, RefusedError):
        app.add_exception_handler(error, _database_failed)
    app.add_exception_handler(ProblemError, _known_problem)
    app.add_exception_handler(KeyTakenError, _key_is_taken)
    app.add_exception_handler(HTTPException, _framework_problem)
    app.add_exception_handler(Exception, _bug)


def _known_problem(_: Request, error: Exception) -> JSONResponse:
    assert isinstance(error, ProblemError)
    return problem_response(error.status, error.detail)


def _key_is_taken(_: Request, __: Exception) -> JSONResponse:
    return problem_response(409, "this Idempotency-Key was used with another text; use a new key for a new note")


def _framework_problem(_: Request, error: Exception) -> JSONResponse:
    assert isinstance(error, HTTPException)
    return problem_response(error.status_code, str(error.detail), error.headers)


def _database_failed(_: Request, error: Exception) -> JSONResponse:
    headers = {"Retry-After": str(RETRY_AFTER_SECONDS)}
    if isinstance(error, BusyError):
        return problem_response(503, "the database is busy; ask again, with the same key", headers)
    _log.error("the database failed: %s: %s", type(error).__name__, error)
    return problem_response(503, "the service cannot do this now; ask again, with the same key", headers)


def _bug(_: Request, __: Exception) -> JSONResponse:
    return problem_response(500, "the service has a bug; its log says more")
