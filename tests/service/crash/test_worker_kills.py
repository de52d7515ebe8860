"""A worker is killed at every point at which it can be held, in attempts that succeed and in attempts that fail."""

from __future__ import annotations

import os
import signal
from collections import Counter
from contextlib import closing

import pytest

from arrowproof.service.hold import WORKER_POINTS
from tests.service.conftest import wait_until
from tests.service.crash.ground import SETTINGS, Ground, ground
from tests.service.crash.nursery import Nursery
from tests.service.crash.workshop import COMPLETED, PENDING, RETRY_WAIT, StoredJob

REPETITIONS = 3
QUICK = ("--max-polls", "1", "--retry-delay", "0")
# An attempt that succeeds is not rolled back, and one that fails has no history.
POINTS = {
    "success": [point for point in WORKER_POINTS if point != "after-rollback-to"],
    "error": [point for point in WORKER_POINTS if point != "after-history"],
}


@pytest.fixture
def nursery(tmp_path):
    with closing(Nursery(tmp_path)) as nursery:
        yield nursery


def kill_at(point: str, place: Ground, nursery: Nursery) -> None:
    """Start a worker, wait until it is held at the point, and kill it there."""
    signalled = place.folder / f"{point}.held"
    with place.outlived():
        pid = nursery.start("--db", place.engine.db, *QUICK, hold=f"{point}:{place.folder}")
        wait_until(signalled.exists, signalled.name)
        os.kill(pid, signal.SIGKILL)
        assert nursery.wait() == -signal.SIGKILL
    signalled.unlink()


@pytest.mark.parametrize("setting", SETTINGS)
def test_a_kill_at_any_point_leaves_the_job_as_before_or_as_after_and_a_restart_ends_right(
    tmp_path, request, nursery, found, setting
):
    seen: Counter[str] = Counter()
    with ground(setting, tmp_path, request) as place:
        for outcome, points in POINTS.items():
            for point in points:
                for repetition in range(REPETITIONS):
                    key = f"{outcome} {point} {repetition}"
                    seen[killed_and_restarted(place, nursery, key, outcome, point)] += 1
        assert place.is_sound()
    assert seen.total() == 16 * REPETITIONS
    found(f"{seen.total()} kills: " + ", ".join(f"{count} {what}" for what, count in sorted(seen.items())))


def killed_and_restarted(place: Ground, nursery: Nursery, key: str, outcome: str, point: str) -> str:
    """One kill and what follows it; what the kill left."""
    job_id = place.accept(key)
    if outcome == "error":
        place.engine.fault("INSERT ON note_events")
    kill_at(point, place, nursery)
    done = COMPLETED if outcome == "success" else RETRY_WAIT
    left = place.stored()[key]
    assert left == (done if point == "after-commit" else PENDING), key

    last = nursery.run("--db", place.engine.db, *QUICK)
    if left == COMPLETED:
        assert last == {"outcome": "idle", "job_id": None}, key
    elif outcome == "success":
        assert last == {"outcome": "completed", "job_id": job_id}, key
    else:
        assert last == {"outcome": "retry_wait", "job_id": job_id}, key
        counted = left.attempts + 1
        assert place.stored()[key] == StoredJob("retry_wait", counted, 0, counted), key
        place.engine.mend()
        assert nursery.run("--db", place.engine.db, *QUICK) == {"outcome": "completed", "job_id": job_id}, key
        assert place.stored()[key] == StoredJob("completed", counted + 1, 1, counted), key
    if outcome == "success":
        assert place.stored()[key] == COMPLETED, key
    return "as after" if left == done else "as before"
