"""The note, its job and its history agree at every moment that another connection can see.

So they do while workers are at it alone, and while notes are sent, jobs are retried and cancelled by hand, and finished
ones are removed.
"""

from __future__ import annotations

import os
import signal
import threading
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, closing, contextmanager
from pathlib import Path
from typing import Any, NamedTuple

import apsw
import httpx
import psycopg
import pytest

from arrowproof.service.address import Address
from arrowproof.service.clock import database_clock
from arrowproof.service.database import BusyError
from arrowproof.service.retention import Retention
from tests.service.conftest import Server, wait_until
from tests.service.crash.ground import SETTINGS, Ground, ground
from tests.service.crash.nursery import Nursery
from tests.service.crash.stream import add_backlog
from tests.service.crash.workshop import STORED, StoredJob

# One job in five fails for good, one fails once and then succeeds; the others succeed.
FAILS = "NEW.job_id % 5 = 0 OR (NEW.job_id % 5 = 1 AND NEW.attempt = 1)"
JOBS = 400

Ask = Callable[[str], list[Sequence[Any]]]


def observer(place: Ground, stack: ExitStack) -> Ask:
    """Asks the database, and so in one snapshot, as fast as it can, on one connection."""
    if place.is_file:
        file = apsw.Connection(place.engine.db, flags=apsw.SQLITE_OPEN_READWRITE)
        # SQLite's own timeout waits longer each time, and would hardly ever come between two writers.
        file.set_busy_handler(lambda _: not threading.Event().wait(0.0005))
        stack.callback(file.close)
        return lambda statement: list(file.execute(statement))
    server = stack.enter_context(psycopg.connect(place.engine.db, autocommit=True))
    return lambda statement: list(server.execute(statement))


@contextmanager
def two_workers(place: Ground, folder: Path, retry_delay: float = 0.0) -> Iterator[None]:
    """Resident workers, told to end at the end; each has to end well."""
    with ExitStack() as stack:
        nurseries = [stack.enter_context(closing(Nursery(folder))) for _ in range(2)]
        arguments = ["--db", place.engine.db, "--forever", "--poll-interval", "0.02", "--retry-delay", str(retry_delay)]
        pids = [nursery.start(*arguments) for nursery in nurseries]
        for nursery in nurseries:
            wait_until(lambda nursery=nursery: "started" in nursery.stderr, "workers at work")
        yield
        for pid, nursery in zip(pids, nurseries, strict=True):
            os.kill(pid, signal.SIGTERM)
            assert nursery.wait() == 0, nursery.stderr


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
        ask = observer(place, stack)
        moments: set[tuple[tuple[str, int], ...]] = set()
        looks = 0
        waiting = JOBS
        with two_workers(place, tmp_path):
            while waiting:
                jobs = [StoredJob(*rest) for _, *rest in ask(STORED)]
                looks += 1
                assert len(jobs) == JOBS
                assert [job for job in jobs if not agrees(job)] == []
                moments.add(tuple(sorted(Counter(job.status for job in jobs).items())))
                waiting = sum(job.status in ("pending", "retry_wait") for job in jobs)
        assert Counter(job.status for job in place.stored().values()) == {
            "completed": JOBS * 4 // 5,
            "failed": JOBS // 5,
        }
    found(
        f"{looks} looks while {JOBS} jobs were worked on saw {len(moments)} different moments, all of them in agreement"
    )
    assert len(moments) > 20


NOTES = 150
MOMENT = """
SELECT jobs.status, jobs.attempts, jobs.max_attempts, jobs.next_run_at IS NOT NULL, jobs.finished_at IS NOT NULL,
    (SELECT count(*) FROM note_events WHERE note_events.job_id = jobs.id),
    (SELECT count(*) FROM attempt_errors WHERE attempt_errors.job_id = jobs.id)
FROM notes LEFT JOIN jobs ON jobs.note_id = notes.id
UNION ALL
SELECT 'left ' || status, jobs, 0, false, false, 0, 0 FROM past_outcomes
UNION ALL
SELECT 'strays',
    (SELECT count(*) FROM jobs WHERE note_id NOT IN (SELECT id FROM notes))
    + (SELECT count(*) FROM note_events WHERE job_id NOT IN (SELECT id FROM jobs))
    + (SELECT count(*) FROM attempt_errors WHERE job_id NOT IN (SELECT id FROM jobs)),
    0, false, false, 0, 0
"""
"""Every note with its job, how many jobs have left each end again, and how many rows belong to nothing any more."""


class Line(NamedTuple):
    """A note with what its job says; the status is null when it has none."""

    status: str | None
    attempts: int
    max_attempts: int
    is_due: bool
    is_finished: bool
    history: int
    errors: int

    @property
    def agrees(self) -> bool:
        """Whether what the job says and what is written of it is true together."""
        is_waiting = self.status in ("pending", "retry_wait")
        return (
            self.status in ("pending", "retry_wait", "completed", "failed", "cancelled")
            and self.is_due == is_waiting
            and self.is_finished != is_waiting
            and self.history == (self.status == "completed")
            and self.errors == self.attempts - self.history
            and (self.attempts < self.max_attempts or not is_waiting)
            and (self.status != "failed" or self.attempts == self.max_attempts)
        )


class Moment:
    """What one look saw."""

    def __init__(self, rows: list[Sequence[Any]]) -> None:
        lines = [Line(*row) for row in rows]
        kept_apart = {line.status: line.attempts for line in lines if str(line.status).startswith(("left ", "strays"))}
        self.strays = kept_apart.pop("strays")
        self.left = {str(status).removeprefix("left "): count for status, count in kept_apart.items()}
        self.jobs = [line for line in lines if not str(line.status).startswith(("left ", "strays"))]

    @property
    def outcomes(self) -> dict[str, int]:
        """How often a job has come to each end so far."""
        now = Counter(str(job.status) for job in self.jobs)
        return {end: now[end] + self.left.get(end, 0) for end in ("completed", "failed", "cancelled")}


class Users:
    """People who send notes, and who cancel and retry jobs, each in a thread; what came of it is counted."""

    def __init__(self, url: str) -> None:
        self.done: Counter[str] = Counter()
        self._url = url
        self._errors: list[BaseException] = []
        self._ends = threading.Event()
        self._threads = [threading.Thread(target=self._run, args=(what,)) for what in (self._send, self._retry)]

    def start(self) -> None:
        for thread in self._threads:
            thread.start()

    @property
    def are_sending(self) -> bool:
        return self._threads[0].is_alive()

    def end(self) -> None:
        self._ends.set()
        for thread in self._threads:
            thread.join()
        assert self._errors == []

    def _run(self, what: Callable[[httpx.Client], None]) -> None:
        try:
            with httpx.Client(base_url=self._url, timeout=60, trust_env=False) as client:
                what(client)
        except BaseException as error:
            self._errors.append(error)

    def _send(self, client: httpx.Client) -> None:
        for number in range(NOTES):
            answer = self._until_answered(client, "/notes", {"Idempotency-Key": str(number)}, {"text": "t"})
            assert answer.status_code == 202, answer.text
            self.done["accepted"] += 1
            if number % 3 == 0:
                self._change(client, answer.json()["job_id"], "cancel")

    def _retry(self, client: httpx.Client) -> None:
        while not self._ends.wait(0.01):
            answer = client.get("/jobs?state=failed")
            for job in answer.json()["jobs"] if answer.status_code == 200 else ():
                self._change(client, job["job_id"], "retry")

    def _change(self, client: httpx.Client, job_id: int, what: str) -> None:
        answer = self._until_answered(client, f"/jobs/{job_id}/{what}")
        # A worker or retention may have been there first.
        assert answer.status_code in (200, 404, 409), answer.text
        self.done[what] += answer.status_code == 200

    def _until_answered(self, client: httpx.Client, path: str, headers: Any = None, body: Any = None) -> httpx.Response:
        while True:
            answer = client.post(path, headers=headers, json=body)
            if answer.status_code != 503:
                return answer


class Remover(threading.Thread):
    """Retention that goes on and on, until it is told to end."""

    def __init__(self, place: Ground) -> None:
        super().__init__()
        self.removed = 0
        self._ends = threading.Event()
        self._address = Address(place.engine.db)
        self._error: BaseException | None = None

    def run(self) -> None:
        try:
            with closing(self._address.open()) as database:
                retention = Retention(database, database_clock, 0.3, most_at_once=5)
                while not self._ends.wait(0.01):
                    try:
                        self.removed += retention.remove_some()
                    except BusyError:
                        continue
        except BaseException as error:
            self._error = error

    def end(self) -> None:
        self._ends.set()
        self.join()
        assert self._error is None


@pytest.mark.parametrize("setting", SETTINGS)
def test_so_it_is_while_jobs_are_made_retried_cancelled_and_removed(tmp_path, request, found, setting):
    with ExitStack() as stack:
        place = stack.enter_context(ground(setting, tmp_path, request))
        place.engine.fault("INSERT ON note_events", when=FAILS)
        ask = observer(place, stack)
        mode = ["--journal-mode", place.journal_mode] if place.journal_mode else []
        server = Server(["--db", place.engine.db, "--max-attempts", "2", *mode], tmp_path)
        stack.callback(server.kill)
        users, remover = Users(server.ready["ready"]), Remover(place)
        moments, looks, last = set(), 0, Moment(ask(MOMENT))
        with two_workers(place, tmp_path, retry_delay=0.05):
            users.start()
            remover.start()
            while users.are_sending or any(job.is_due for job in last.jobs):
                if not users.are_sending:
                    users.end()
                before, last = last, Moment(ask(MOMENT))
                looks += 1
                assert last.strays == 0
                assert [job for job in last.jobs if not job.agrees] == []
                assert all(last.outcomes[end] >= count for end, count in before.outcomes.items())
                moments.add((len(last.jobs), *last.outcomes.values()))
        users.end()
        remover.end()
        last = Moment(ask(MOMENT))
        # What is gone was removed, or left its end when it was retried: not one job is missing, and none is twice.
        assert users.done["accepted"] == NOTES
        assert sum(last.left.values()) == remover.removed + users.done["retry"]
        assert len(last.jobs) + remover.removed == NOTES
        assert last.outcomes["cancelled"] == users.done["cancel"]
    found(f"{looks} looks saw {len(moments)} moments in agreement: {dict(users.done)}, {remover.removed} removed")
    assert min(users.done.values()) > 0
    assert remover.removed > 10
    assert len(moments) > 20
