"""Several resident workers on one database while notes come in: nothing lost, nothing twice, nothing that grows."""

from __future__ import annotations

import signal
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from tests.service.test_forever import completed, end, is_started, stay, told, wait_for

__all__ = ["stay"]

NOTES = 60
FAR_AWAY = ["--poll-interval", "100000"]


def history(notes):
    """Jobs by state and attempts, history rows, and jobs that have one."""
    return (
        notes.sql("SELECT status, attempts, count(*) FROM jobs GROUP BY status, attempts"),
        notes.sql("SELECT count(*), count(DISTINCT job_id) FROM note_events"),
    )


def post(server, keys):
    with ThreadPoolExecutor(6) as threads:
        return [answer["job_id"] for answer in threads.map(server.accept, keys)]


def test_each_note_is_worked_on_once_by_one_of_three_workers(notes, stay):
    server = notes.server()
    workers = [stay("--poll-interval", "0.2") for _ in range(3)]
    for worker in workers:
        wait_for(worker, lambda worker=worker: is_started(worker), "its start")
    ids = post(server, [f"k{number}" for number in range(NOTES)])
    wait_for(workers[0], lambda: completed(notes) == NOTES, "every note")
    for worker in workers:
        end(worker)
    worked_on = [line["job_id"] for worker in workers for line in told(worker) if "job_id" in line]
    assert sorted(worked_on) == sorted(ids)
    assert history(notes) == ([("completed", 1, NOTES)], [(NOTES, NOTES)])
    assert not [line for worker in workers for line in told(worker) if line.get("error") or "warning" in line]


def test_workers_that_are_killed_on_the_way_lose_nothing_and_do_nothing_twice(notes, stay):
    server = notes.server()
    quick = ["--poll-interval", "0.1", "--max-crashes", "1000"]
    workers = [stay(*quick) for _ in range(2)]
    with ThreadPoolExecutor(1) as thread:
        coming = thread.submit(post, server, [f"k{number}" for number in range(NOTES)])
        for number in range(4):
            wanted = NOTES * (number + 1) // 8
            wait_for(server, lambda wanted=wanted: completed(notes) >= wanted, f"{wanted} of the notes")
            workers.pop(0).kill()
            workers.append(stay(*quick))
        coming.result()
    wait_for(workers[-1], lambda: completed(notes) == NOTES, "every note")
    for worker in workers:
        end(worker)
    assert history(notes) == ([("completed", 1, NOTES)], [(NOTES, NOTES)])


@pytest.mark.parametrize("batch", ["1", "7"])
def test_a_worker_does_not_grow(notes, stay, batch):
    server = notes.server()
    worker = stay(*FAR_AWAY, "--batch", batch)

    def held():
        files = len(list(Path(f"/proc/{worker.pid}/fd").iterdir()))
        pages = int(Path(f"/proc/{worker.pid}/statm").read_text().split()[1])
        return files, pages * 4096

    post(server, [f"a{number}" for number in range(NOTES)])
    wait_for(worker, lambda: completed(notes) == NOTES, "the first notes")
    files, size = held()
    post(server, [f"b{number}" for number in range(NOTES * 2)])
    wait_for(worker, lambda: completed(notes) == NOTES * 3, "more notes")
    assert held()[0] == files
    assert held()[1] - size < 2_000_000
    worker.process.send_signal(signal.SIGTERM)
    assert worker.outcome()["outcome"] == "completed"
