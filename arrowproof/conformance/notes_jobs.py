"""What a note job has to be after each thing that can happen to it: the service's word, to which a driver holds it.

Each function takes a job as it was and gives it as it has to be. Moments are known only to be there or not, and of an
error only a part: :func:`check_job` compares accordingly.
"""

from __future__ import annotations

from dataclasses import asdict, replace
from typing import TYPE_CHECKING

from arrowproof.conformance.driver import DriverError
from arrowproof.conformance.notes_deeds import Deed

if TYPE_CHECKING:
    from arrowproof.conformance.notes_api import Job

REFUSED = "the history row is refused"
"""What the fault says that makes an attempt fail, and every error of such an attempt with it."""

_SET_ASIDE = "set aside: 3 attempts in a row killed their worker or its connection"
_SOME_TIME = "a moment"
_LONGEST_WAIT = 3600.0
"""The seconds that a worker lets a job wait at most, unless its ``--retry-delay`` is longer."""
_JITTER = 0.1


def after_deed(deed: Deed, job: Job, state: str | None, error: str, more_attempts: int) -> Job:
    """A job to which this was done, and which it brought into ``state``.

    Args:
        deed: what was done, a creation or a removal aside.
        job: the job as it was.
        state: the state that an attempt ended in.
        error: a part of what the error of an attempt that failed says.
        more_attempts: the attempts that a retry gives it.
    """
    match deed:
        case Deed.SET_ASIDE:
            return after_set_aside(job)
        case Deed.RETRY:
            return after_retry(job, more_attempts)
        case Deed.CANCEL:
            return after_cancel(job)
        case _:
            return after_attempt(job, state, error)


def after_creation(note_id: int, max_attempts: int) -> Job:
    """A job that was just made for a note: due, and never tried."""
    # Imported when it is needed: httpx takes its time.
    from arrowproof.conformance.notes_api import Job

    return Job("pending", 0, max_attempts, _SOME_TIME, None, note_id, None, ())


def after_attempt(job: Job, state: str | None, error: str = REFUSED) -> Job:
    """A job whose next attempt ended in ``state``: counted in any case, with a record of its error when it failed.

    ``error`` is a part of what the error says.
    """
    attempts = job.attempts + 1
    if state == "completed":
        return replace(_finished(job, state), attempts=attempts, last_error=None)
    failed = replace(job, attempts=attempts, last_error=error, errors=(*job.errors, attempts), failed_at=_SOME_TIME)
    if state == "retry_wait":
        return replace(failed, status=state, next_run_at=_SOME_TIME)
    return _finished(failed, "failed")


def waits(first: float, attempts: int) -> tuple[float, float]:
    """How many seconds a job waits at least and at most after so many attempts: ``first``, then doubled each time."""
    longest = min(first * 2.0 ** (attempts - 1), max(first, _LONGEST_WAIT))
    return (1 - _JITTER) * longest, longest


def after_set_aside(job: Job) -> Job:
    """A job whose attempts killed their worker three times in a row; none of them is counted."""
    return replace(_finished(job, "failed"), last_error=_SET_ASIDE)


def is_set_aside(job: Job) -> bool:
    """Whether a job failed because its attempts killed their worker."""
    return job.status == "failed" and job.last_error == _SET_ASIDE


def after_retry(job: Job, more_attempts: int) -> Job:
    """A failed job that is tried again: due, with so many attempts left, and what has failed is not forgotten."""
    max_attempts = job.attempts + more_attempts
    return replace(job, status="pending", max_attempts=max_attempts, next_run_at=_SOME_TIME, finished_at=None)


def after_cancel(job: Job) -> Job:
    """A waiting job that is cancelled: nothing of it changes but that nothing is left to do."""
    return _finished(job, "cancelled")


def check_job(job_id: int, found: Job, wanted: Job) -> None:
    """Have a job be as it has to be.

    Raises:
        DriverError: it is not; the message says in what.
    """
    shown = replace(
        found,
        next_run_at=found.next_run_at and _SOME_TIME,
        finished_at=found.finished_at and _SOME_TIME,
        failed_at=found.failed_at and _SOME_TIME,
        last_error=wanted.last_error if (wanted.last_error or "\0") in (found.last_error or "") else found.last_error,
    )
    wanted = replace(
        wanted,
        next_run_at=wanted.next_run_at and _SOME_TIME,
        finished_at=wanted.finished_at and _SOME_TIME,
        failed_at=wanted.failed_at and _SOME_TIME,
    )
    different = asdict(wanted).items() - asdict(shown).items()
    if different:
        said = [f"{name} {asdict(shown)[name]!r} and not {value!r}" for name, value in sorted(different)]
        raise DriverError(f"Job {job_id} has {', '.join(said)}.")


def _finished(job: Job, state: str) -> Job:
    return replace(job, status=state, next_run_at=None, finished_at=_SOME_TIME)
