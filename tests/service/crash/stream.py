"""The stream: requests that go on while something is killed, and what has to be true of their notes in the end."""

from __future__ import annotations

import threading
from random import Random

import httpx

from tests.service.crash.ground import Ground
from tests.service.crash.workshop import StoredJob

FAILS_ONCE = "NEW.job_id % 5 = 0 AND NEW.attempt = 1"
"""The jobs whose first attempt fails, for ``Engine.fault``."""

BACKLOG = """
WITH RECURSIVE numbers (n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM numbers WHERE n < {count})
INSERT INTO notes (client, idempotency_key, text, text_sha256, created_at)
SELECT '', 'backlog ' || n, 'text', 'sha', '2020-01-01T00:00:00.000Z' FROM numbers
"""
BACKLOG_JOBS = """
INSERT INTO jobs (note_id, client, status, attempts, max_attempts, next_run_at)
SELECT id, client, 'pending', 0, {max_attempts}, created_at FROM notes
"""


def add_backlog(place: Ground, count: int, max_attempts: int = 3) -> set[str]:
    """Many due jobs at once, so that workers have something in hand whenever they are killed; the notes' keys."""
    statements = [BACKLOG.format(count=count), BACKLOG_JOBS.format(max_attempts=max_attempts)]
    if place.journal_mode is None:
        statements[0] = statements[0].replace("'2020-01-01T00:00:00.000Z'", "timestamptz '2020-01-01T00:00:00Z'")
    for statement in statements:
        place.sql(statement)
    return {f"backlog {number}" for number in range(1, count + 1)}


class Requests(threading.Thread):
    """A client that sends notes, and one in five of them once more, until it is told to end.

    It asks again, with the same key, after every answer that says so and after every lost connection. ``told`` is
    what it was told of each key: the ids of note and job.
    """

    def __init__(self, url: str, random: Random):
        super().__init__()
        self.told: dict[str, tuple[int, int]] = {}
        self.replays = 0
        self.asked_again = 0
        self._url = url
        self._random = random
        self._ends = threading.Event()
        self._error: BaseException | None = None

    def run(self) -> None:
        try:
            with httpx.Client(base_url=self._url, timeout=60, trust_env=False) as client:
                while not self._ends.is_set():
                    self._send(client)
        except BaseException as error:
            self._error = error

    def _send(self, client: httpx.Client) -> None:
        is_old = bool(self.told) and self._random.random() < 0.2
        key = self._random.choice(list(self.told)) if is_old else f"sent-{len(self.told)}"
        answer = self._ask(client, key)
        assert answer.status_code == 202, answer.text
        ids = answer.json()["note_id"], answer.json()["job_id"]
        assert self.told.setdefault(key, ids) == ids, key
        self.replays += is_old

    def _ask(self, client: httpx.Client, key: str) -> httpx.Response:
        while True:
            try:
                answer = client.post("/notes", headers={"Idempotency-Key": key}, json={"text": f"text of {key}"})
            except httpx.TransportError:
                answer = None
            if answer is not None and answer.status_code != 503:
                return answer
            self.asked_again += 1
            # A client waits before it asks again; how long is of no account.
            if self._ends.wait(0.02):
                raise TimeoutError(f"{key} was not answered before the end")

    def end(self) -> None:
        """Stop sending, and raise what went wrong."""
        self._ends.set()
        self.join()
        if self._error is not None:
            raise self._error


def check_all_completed(place: Ground, keys: set[str]) -> None:
    """Every note of ``keys``, and no other, has its job completed, once, with as many attempts as there were errors."""
    stored = place.stored()
    assert stored.keys() == keys
    fails_once = {key for (key,) in place.sql(FAILING)}
    expected = {key: StoredJob("completed", 1 + (key in fails_once), 1, int(key in fails_once)) for key in keys}
    assert {key: job for key, job in stored.items() if job != expected[key]} == {}


FAILING = """
SELECT notes.idempotency_key FROM notes JOIN jobs ON jobs.note_id = notes.id WHERE jobs.id % 5 = 0
"""
