"""The routes of jobs: listing them, looking at one, and retrying or cancelling it by hand."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated

from fastapi import APIRouter, Depends, Request

from arrowproof.service.identity import LARGEST_ID, Client, Id, client_of, read_id
from arrowproof.service.jobs import (
    JobChange,
    JobCounts,
    JobFilter,
    JobPage,
    cancel_job,
    count_jobs,
    list_jobs,
    requeue_job,
)
from arrowproof.service.notes import StoredJob, find_job
from arrowproof.service.problem import ProblemError, problem_answers
from arrowproof.service.problem_types import BUSY, JOB_STATE, QUERY_REFUSED, UNAVAILABLE
from arrowproof.service.settings import Settings
from arrowproof.service.states import STATES

USUAL_LIMIT = 50
MOST_LISTED = 200
_COUNT_PROBLEMS = problem_answers(BUSY, UNAVAILABLE)
_LIST_PROBLEMS = problem_answers(QUERY_REFUSED, BUSY, UNAVAILABLE)
_LIST_QUERY = {
    "parameters": [
        {"name": "state", "in": "query", "schema": {"type": "string", "enum": list(STATES)}},
        {
            "name": "limit",
            "in": "query",
            "schema": {"type": "integer", "minimum": 1, "maximum": MOST_LISTED, "default": USUAL_LIMIT},
        },
        {
            "name": "before",
            "in": "query",
            "description": "the id of a job",
            "schema": {"type": "integer", "minimum": 1, "maximum": LARGEST_ID},
        },
    ]
}
_LOOK_PROBLEMS = problem_answers(404, BUSY, UNAVAILABLE)
_CHANGE_PROBLEMS = problem_answers(404, JOB_STATE, BUSY, UNAVAILABLE)


async def read_filter(request: Request) -> JobFilter:
    """Which jobs the query of the address asks for.

    Raises:
        ProblemError: 400, a name that is not known, stands twice, or has a value that it cannot have.
    """
    asked = request.query_params.multi_items()
    query = dict(asked)
    for name in query:
        if name not in ("state", "limit", "before"):
            raise ProblemError(QUERY_REFUSED, f"{name[:100]!r} is not known; known are state, limit and before")
    if len(query) != len(asked):
        raise ProblemError(QUERY_REFUSED, "each of state, limit and before may stand once")
    state = query.get("state", "")
    if "state" in query and state not in STATES:
        raise ProblemError(QUERY_REFUSED, f"state must be one of {', '.join(STATES)}, not {state[:100]!r}")
    before = _read_number(query, "before", LARGEST_ID, LARGEST_ID)
    return JobFilter(await client_of(request), state, before, _read_number(query, "limit", MOST_LISTED, USUAL_LIMIT))


def _read_number(query: Mapping[str, str], name: str, highest: int, usual: int) -> int:
    text = query.get(name, str(usual))
    if not (text.isascii() and text.isdigit() and len(text) <= 19 and 1 <= int(text) <= highest):
        raise ProblemError(QUERY_REFUSED, f"{name} must be a whole number from 1 to {highest}, not {text[:100]!r}")
    return int(text)


Wanted = Annotated[JobFilter, Depends(read_filter)]


def job_routes(settings: Settings) -> APIRouter:
    """The routes, which work with these settings."""
    router = APIRouter()

    @router.get("/jobs", openapi_extra=_LIST_QUERY, responses=_LIST_PROBLEMS)
    def get_jobs(wanted: Wanted) -> JobPage:
        """The newest jobs, of one state or of all. ``before`` of the answer asks for those that follow."""
        with settings.pool.lend() as database:
            return list_jobs(database, wanted)

    @router.get("/counts", responses=_COUNT_PROBLEMS)
    def get_counts(client: Client) -> JobCounts:
        """How many jobs there are in each state, counted to ten thousand."""
        with settings.pool.lend() as database:
            return count_jobs(database, client)

    @router.get("/jobs/{job_id}", responses=_LOOK_PROBLEMS)
    def get_job(job_id: Id, client: Client) -> StoredJob:
        """The job as it is stored, with the errors of its attempts."""
        with settings.pool.lend() as database:
            return _known(find_job(database, read_id(job_id, "job"), client), job_id)

    _add_changes(router, settings)
    return router


def _add_changes(router: APIRouter, settings: Settings) -> None:
    """Add the routes by which somebody changes a job by hand."""

    @router.post("/jobs/{job_id}/retry", responses=_CHANGE_PROBLEMS)
    def post_requeue(job_id: Id, client: Client) -> StoredJob:
        """Begin a failed job anew, with as many attempts left as a new one has. Answers with the job after it."""
        change = JobChange(client, settings.clock, settings.hold)
        with settings.pool.lend() as database:
            return _known(requeue_job(database, read_id(job_id, "job"), settings.max_attempts, change), job_id)

    @router.post("/jobs/{job_id}/cancel", responses=_CHANGE_PROBLEMS)
    def post_cancel(job_id: Id, client: Client) -> StoredJob:
        """End a job that waits; an attempt that is under way decides first. Answers with the job after it."""
        change = JobChange(client, settings.clock, settings.hold)
        with settings.pool.lend() as database:
            return _known(cancel_job(database, read_id(job_id, "job"), change), job_id)


def _known(job: StoredJob | None, job_id: str) -> StoredJob:
    if job is None:
        raise ProblemError(404, f"there is no job {job_id}")
    return job
