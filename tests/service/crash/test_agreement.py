"""The note, its job and its history agree at every moment that another connection can see."""

from __future__ import annotations

import os
import signal
import threading
from collections import Counter
from collections.abc import Callable
from contextlib import ExitStack, closing

import apsw
import psycopg
import pytest

from tests.service.crash.ground import SETTINGS, Ground, ground
from tests.service.crash.nursery import Nursery
from tests.service.crash.stream import add_backlog
from tests.service.crash.workshop import STORED, StoredJob

# One job in five fails for good, one fails once and then succeeds; the others succeed.
FAILS = "NEW.job_id % 5 = 0 OR (NEW.job_id % 5 = 1 AND NEW.attempt = 1)"
JOBS = 400

Observe = Callable[[], list[StoredJob]]


def observer(place: Ground, stack: ExitStack) -> Observe:
    """Gives every job with its history and its errors in one snapshot, as fast as it can, on one connection."""
    if place.is_file:
        file = apsw.Connection(place.engine.db, flags=apsw.SQLITE_OPEN_READWRITE)
        # SQLite's own timeout waits longer each time, and would hardly ever come between two writers.
        file.set_busy_handler(lambda _: not threading.Event().wait(0.0005))
        stack.callback(file.close)
        return lambda: [StoredJob(*rest) for _, *rest in file.execute(STORED)]
    server = stack.enter_context(psycopg.connect(place.engine.db, autocommit=True))
    return lambda: [StoredJob(*rest) for _, *rest in server.execute(STORED)]


def agrees(job: StoredJob) -> bool:
    """What has to be true of a job at any moment: what its state says, its attempts, its history and its errors say."""
    failed_attempts = job.attempts - job.history
    return (
        job.status in ("pending", "retry_wait", "completed", "failed")
        and job.history == (job.status == "completed")
        and job.errors == failed_attempts
        and (job.status == "pending") == (job.attempts == 0)
        and (job.status == "failed") == (failed_attempts == 3)
    )


@pytest.mark.parametrize("setting", SETTINGS)
def test_whoever_looks_at_any_moment_sees_a_job_and_its_rows_agree(tmp_path, request, found, setting):
    with ExitStack() as stack:
        place = stack.enter_context(ground(setting, tmp_path, request))
        place.engine.fault("INSERT ON note_events", when=FAILS)
        add_backlog(place, JOBS)
        nurseries = [stack.enter_context(closing(Nursery(tmp_path))) for _ in range(2)]
        look = observer(place, stack)
        pids = [
            nursery.start("--db", place.engine.db, "--forever", "--poll-interval", "0.02", "--retry-delay", "0")
            for nursery in nurseries
        ]
        moments: set[tuple[tuple[str, int], ...]] = set()
        looks = 0
        waiting = JOBS
        while waiting:
            jobs = look()
            looks += 1
            assert len(jobs) == JOBS
            assert [job for job in jobs if not agrees(job)] == []
            moments.add(tuple(sorted(Counter(job.status for job in jobs).items())))
            waiting = sum(job.status in ("pending", "retry_wait") for job in jobs)
        for pid, nursery in zip(pids, nurseries, strict=True):
            os.kill(pid, signal.SIGTERM)
            assert nursery.wait() == 0, nursery.stderr
        assert Counter(job.status for job in look()) == {"completed": JOBS * 4 // 5, "failed": JOBS // 5}
    found(
        f"{looks} looks while {JOBS} jobs were worked on saw {len(moments)} different moments, all of them in agreement"
    )
    assert len(moments) > 20
