"""What a note job has to be after each deed, and that a job which is not is told from it."""

from __future__ import annotations

from dataclasses import replace

import pytest

from arrowproof.conformance.driver import DriverError
from arrowproof.conformance.notes_api import Job
from arrowproof.conformance.notes_jobs import (
    after_attempt,
    after_cancel,
    after_creation,
    after_retry,
    after_set_aside,
    check_job,
    is_set_aside,
    waits,
)

NOW, THEN = "2026-11-29T15:09:02.118Z", "2026-11-29T15:09:01.118Z"
ERROR = "ConstraintError: the history row is refused"
CRASHES = "set aside: 3 attempts in a row killed their worker or its connection"
WAITING = Job("retry_wait", 1, 3, THEN, ERROR, 7, None, (1,), THEN)
FAILED = Job("failed", 2, 2, None, ERROR, 7, NOW, (1, 2), NOW)


@pytest.mark.parametrize(
    ("wanted", "found"),
    [
        (after_creation(7, 3), Job("pending", 0, 3, NOW, None, 7, None, ())),
        (after_attempt(WAITING, "completed"), Job("completed", 2, 3, None, None, 7, NOW, (1,), THEN)),
        (after_attempt(WAITING, "retry_wait"), Job("retry_wait", 2, 3, NOW, ERROR, 7, None, (1, 2), NOW)),
        (after_attempt(replace(WAITING, max_attempts=2), "failed"), FAILED),
        (after_set_aside(WAITING), Job("failed", 1, 3, None, CRASHES, 7, NOW, (1,), THEN)),
        (after_retry(FAILED, 3), Job("pending", 2, 5, NOW, ERROR, 7, None, (1, 2), NOW)),
        (after_cancel(WAITING), Job("cancelled", 1, 3, None, ERROR, 7, NOW, (1,), THEN)),
    ],
)
def test_a_job_that_is_as_it_has_to_be_is_taken_and_any_other_is_not(wanted: Job, found: Job) -> None:
    check_job(5, found, wanted)
    others = [
        replace(found, status="pending" if found.status != "pending" else "failed"),
        replace(found, attempts=found.attempts + 1),
        replace(found, max_attempts=found.max_attempts + 1),
        replace(found, next_run_at=None if found.next_run_at else NOW),
        replace(found, last_error=None if found.last_error else ERROR),
        replace(found, note_id=8),
        replace(found, finished_at=None if found.finished_at else NOW),
        replace(found, errors=(*found.errors, 9)),
        replace(found, failed_at=None if found.failed_at else NOW),
    ]
    for other in others:
        with pytest.raises(DriverError, match=r"^Job 5 has "):
            check_job(5, other, wanted)


def test_an_error_that_says_something_else_is_told_from_the_one_that_was_meant() -> None:
    with pytest.raises(DriverError, match=r"^Job 5 has last_error 'database is locked' and not 'set aside: 3"):
        check_job(5, replace(after_set_aside(WAITING), last_error="database is locked"), after_set_aside(WAITING))


def test_a_job_is_set_aside_when_its_error_says_so() -> None:
    assert is_set_aside(after_set_aside(WAITING))
    assert not is_set_aside(FAILED)
    assert not is_set_aside(after_retry(after_set_aside(WAITING), 3))


def test_a_job_waits_twice_as_long_after_each_attempt_a_tenth_less_at_most_and_an_hour_unless_told_otherwise() -> None:
    assert waits(10.0, 1) == (9.0, 10.0)
    assert waits(10.0, 3) == (36.0, 40.0)
    assert waits(600.0, 9) == (3240.0, 3600.0)
    assert waits(7200.0, 9) == (6480.0, 7200.0)
