"""The routes for who runs the service: whether it is well, and its metrics.

They have threads and connections of their own, so that they answer while all the others wait for a lock.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeVar

from anyio import CapacityLimiter, fail_after, to_thread
from fastapi import APIRouter
from fastapi.responses import PlainTextResponse, Response

from arrowproof.service.database import DatabaseError
from arrowproof.service.metrics import MEDIA_TYPE, read_metrics
from arrowproof.service.pool import MONITOR_CONNECTIONS
from arrowproof.service.problem import problem_answers
from arrowproof.service.problem_types import BUSY, UNAVAILABLE
from arrowproof.service.settings import Settings

_PROBLEMS = problem_answers(BUSY, UNAVAILABLE)
_Answer = TypeVar("_Answer")


@dataclass(frozen=True)
class Health:
    """The answer of a service that is well."""

    status: str = "ok"


def monitor_routes(settings: Settings) -> APIRouter:
    """The routes, which work with these settings."""
    router = APIRouter()
    threads = CapacityLimiter(MONITOR_CONNECTIONS)

    def check() -> Health:
        with settings.monitor_pool.lend() as database:
            database.rows("check_health")
        return Health()

    def read() -> bytes:
        with settings.monitor_pool.lend() as database:
            metrics = read_metrics(database, settings.clock)
        return metrics.exposition()

    async def in_time(work: Callable[[], _Answer]) -> _Answer:
        """What the work gives. Of a database that says nothing, a thread and a connection wait on by themselves."""
        try:
            with fail_after(settings.answer_seconds):
                return await to_thread.run_sync(work, abandon_on_cancel=True, limiter=threads)
        except TimeoutError:
            raise DatabaseError(f"no answer within {settings.answer_seconds:g} s") from None

    @router.get("/health", responses=_PROBLEMS)
    async def get_health() -> Health:
        """Whether the database answers in time: 200 or 503. Asks for no token."""
        return await in_time(check)

    @router.get("/metrics", response_class=PlainTextResponse, responses=_PROBLEMS)
    async def get_metrics() -> Response:
        """The metrics as Prometheus reads them: jobs by state, the age of the oldest due one, outcomes, errors."""
        return Response(await in_time(read), media_type=MEDIA_TYPE)

    return router
