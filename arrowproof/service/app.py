"""The HTTP application: its routes over the notes and jobs of one database."""

from __future__ import annotations

import json
from functools import cache
from typing import Annotated, Any, Final

from fastapi import FastAPI, Path
from fastapi.openapi.utils import get_openapi
from fastapi.responses import PlainTextResponse, Response

from arrowproof.service.gate import Gate, is_open
from arrowproof.service.job_routes import job_routes
from arrowproof.service.methods import Methods
from arrowproof.service.monitor_routes import monitor_routes
from arrowproof.service.note_routes import note_routes
from arrowproof.service.page import page_routes
from arrowproof.service.problem import ProblemError, install_problem_handlers, problem_answers
from arrowproof.service.problem_types import (
    BAD_HTTP,
    HOST_REFUSED,
    ORIGIN_REFUSED,
    PROBLEM_TYPES,
    TOKEN_MISSING,
    TOKEN_UNKNOWN,
    TOO_SLOW,
    UNAVAILABLE,
)
from arrowproof.service.settings import Settings

ProblemName = Annotated[str, Path(json_schema_extra={"enum": list(PROBLEM_TYPES)})]
_EVERYWHERE: Final = problem_answers(
    BAD_HTTP,
    TOO_SLOW,
    TOKEN_MISSING,
    TOKEN_UNKNOWN,
    HOST_REFUSED,
    ORIGIN_REFUSED,
    UNAVAILABLE,
    414,
    417,
    431,
    500,
    501,
    505,
)


def create_app(settings: Settings) -> FastAPI:
    """The application. Its routes run in threads, each with a connection of its own."""
    # What is at /openapi.json is made here, once, and not for each who asks.
    app = FastAPI(title="Notes", version="2", openapi_url=None, redirect_slashes=False)
    app.state.body_seconds = settings.request_seconds
    app.add_middleware(Methods)
    app.add_middleware(Gate, tokens=settings.tokens)
    app.state.log_untold = install_problem_handlers(app)
    app.include_router(note_routes(settings), responses=_EVERYWHERE)
    app.include_router(job_routes(settings), responses=_EVERYWHERE)
    app.include_router(monitor_routes(settings), responses=_EVERYWHERE)
    app.include_router(page_routes(), responses=_EVERYWHERE)

    @app.get("/problems/{name}", response_class=PlainTextResponse, responses=_EVERYWHERE | problem_answers(404))
    async def get_problem(name: ProblemName) -> PlainTextResponse:
        """What a type of problem means, and what to do about it."""
        kind = PROBLEM_TYPES.get(name)
        if kind is None:
            raise ProblemError(404, "there is no such type of problem")
        return PlainTextResponse(f"{kind.title}\n\n{kind.advice}\n")

    @cache
    def description() -> bytes:
        return json.dumps(_describe(app, asks_for_token=settings.tokens is not None)).encode()

    @app.get("/openapi.json", include_in_schema=False)
    async def get_description() -> Response:
        return Response(description(), media_type="application/json")

    return app


def _describe(app: FastAPI, asks_for_token: bool) -> dict[str, Any]:
    """The OpenAPI document, without the answer that FastAPI gives when it checks parameters; here others do that."""
    schema = get_openapi(title=app.title, version=app.version, routes=app.routes)
    for path, operations in schema["paths"].items():
        for operation in operations.values():
            if asks_for_token and not is_open(path):
                operation["security"] = [{"token": []}]
            if "HTTPValidationError" in str(operation["responses"].get("422")):
                del operation["responses"]["422"]
    for name in ("HTTPValidationError", "ValidationError"):
        schema["components"]["schemas"].pop(name, None)
    if asks_for_token:
        schema["components"]["securitySchemes"] = {"token": {"type": "http", "scheme": "bearer"}}
    return schema
