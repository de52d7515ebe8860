"""The routes of jobs: looking at one, and retrying or cancelling it by hand."""

from __future__ import annotations

from fastapi import APIRouter

from arrowproof.service.identity import Client, Id, read_id
from arrowproof.service.jobs import JobChange, cancel_job, requeue_job
from arrowproof.service.notes import StoredJob, find_job
from arrowproof.service.problem import BUSY, JOB_STATE, UNAVAILABLE, ProblemError, problem_answers
from arrowproof.service.settings import Settings

_LOOK_PROBLEMS = problem_answers(404, BUSY, UNAVAILABLE)
_CHANGE_PROBLEMS = problem_answers(404, JOB_STATE, BUSY, UNAVAILABLE)


def job_routes(settings: Settings) -> APIRouter:
    """The routes, which work with these settings."""
    router = APIRouter()

    @router.get("/jobs/{job_id}", responses=_LOOK_PROBLEMS)
    def get_job(job_id: Id, client: Client) -> StoredJob:
        """The job as it is stored, with the errors of its attempts."""
        with settings.pool.lend() as database:
            return _known(find_job(database, read_id(job_id, "job"), client), job_id)

    @router.post("/jobs/{job_id}/retry", responses=_CHANGE_PROBLEMS)
    def retry_job(job_id: Id, client: Client) -> StoredJob:
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

    return router


def _known(job: StoredJob | None, job_id: str) -> StoredJob:
    if job is None:
        raise ProblemError(404, f"there is no job {job_id}")
    return job
