"""The HTTP application: its routes over the notes and jobs of one database."""

from __future__ import annotations

from fastapi import FastAPI
from fastapi.responses import PlainTextResponse

from arrowproof.service.job_routes import job_routes
from arrowproof.service.note_routes import note_routes
from arrowproof.service.problem import PROBLEM_TYPES, ProblemError, install_problem_handlers, problem_answers
from arrowproof.service.settings import Settings


def create_app(settings: Settings) -> FastAPI:
    """The application. Its routes run in threads, each with a connection of its own."""
    app = FastAPI(title="Notes", version="2", docs_url=None, redoc_url=None, redirect_slashes=False)
    install_problem_handlers(app)
    app.include_router(note_routes(settings))
    app.include_router(job_routes(settings))

    @app.get("/problems/{name}", response_class=PlainTextResponse, responses=problem_answers(404))
    async def get_problem(name: str) -> PlainTextResponse:
        """What a type of problem means, and what to do about it."""
        kind = PROBLEM_TYPES.get(name)
        if kind is None:
            raise ProblemError(404, "there is no such type of problem")
        return PlainTextResponse(f"{kind.title}\n\n{kind.advice}\n")

    return app
