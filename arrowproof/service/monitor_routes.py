"""The routes for who runs the service: whether it is well, and its metrics."""

from __future__ import annotations

from dataclasses import dataclass

from fastapi import APIRouter
from fastapi.responses import PlainTextResponse, Response

from arrowproof.service.metrics import MEDIA_TYPE, read_metrics
from arrowproof.service.problem import BUSY, UNAVAILABLE, problem_answers
from arrowproof.service.settings import Settings

_PROBLEMS = problem_answers(BUSY, UNAVAILABLE)


@dataclass(frozen=True)
class Health:
    """The answer of a service that is well."""

    status: str = "ok"


def monitor_routes(settings: Settings) -> APIRouter:
    """The routes, which work with these settings."""
    router = APIRouter()

    @router.get("/health", responses=_PROBLEMS)
    def get_health() -> Health:
        """Whether the database answers: 200 or 503. Asks for no token."""
        with settings.pool.lend() as database:
            database.rows("check_health")
        return Health()

    @router.get("/metrics", response_class=PlainTextResponse, responses=_PROBLEMS)
    def get_metrics() -> Response:
        """The metrics as Prometheus reads them: jobs by state, the age of the oldest due one, outcomes, errors."""
        with settings.pool.lend() as database:
            metrics = read_metrics(database, settings.clock)
        return Response(metrics.exposition(), media_type=MEDIA_TYPE)

    return router
