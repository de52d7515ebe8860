"""The notes API as its client sees it: one connection, every answer checked."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime
from types import TracebackType
from typing import Any

import httpx

from arrowproof.conformance.driver import DriverError

ANSWER_SECONDS = 20.0


@dataclass(frozen=True)
class Job:
    """A job as ``GET /jobs/{id}`` gives it; ``next_run_at`` is UTC RFC 3339, or None when nothing is left to do."""

    status: str
    attempts: int
    next_run_at: str | None
    note_id: int

    def due_in(self) -> float | None:
        """Seconds until the next attempt, negative when it is due; None when there will be none."""
        if self.next_run_at is None:
            return None
        return (datetime.fromisoformat(self.next_run_at) - datetime.now(UTC)).total_seconds()


class NotesApi:
    """A client of one server. Every method raises :class:`DriverError` when the answer is another or does not come."""

    def __init__(self, url: str) -> None:
        # Plain HTTP on loopback: no certificates to load, and no proxy of the environment in between.
        self._client = httpx.Client(base_url=url, timeout=ANSWER_SECONDS, verify=False, trust_env=False)

    def __enter__(self) -> NotesApi:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, _: TracebackType | None) -> None:
        self.close()

    def close(self) -> None:
        """Close the connection."""
        self._client.close()

    def post(self, number: int, *, replayed: bool) -> int:
        """Send note ``number`` under its own Idempotency-Key and give the job's id."""
        headers = {"Idempotency-Key": f"arrowproof-{number}"}
        answer = self._ask("POST", "/notes", 202, headers=headers, json={"text": f"Note {number} of the proof"})
        if answer.get("replayed") is not replayed or not isinstance(answer.get("job_id"), int):
            raise DriverError(f"POST /notes answered {answer}; expected a job_id and replayed {replayed}.")
        return int(answer["job_id"])

    def job(self, job_id: int) -> Job:
        """The job as it is stored."""
        answer = self._ask("GET", f"/jobs/{job_id}", 200)
        try:
            return Job(*(answer[name] for name in ("status", "attempts", "next_run_at", "note_id")))
        except KeyError as error:
            raise DriverError(f"GET /jobs/{job_id} answered without {error}.") from error

    def events(self, note_id: int) -> int:
        """How many history rows a note has."""
        return len(self._ask("GET", f"/notes/{note_id}", 200).get("events", ()))

    def _ask(self, method: str, path: str, status: int, **content: Any) -> dict[str, Any]:
        try:
            response = self._client.request(method, path, **content)
            answer = response.json()
        except (httpx.HTTPError, ValueError) as error:
            raise DriverError(f"{method} {path} got no answer: {type(error).__name__}: {error}") from error
        if response.status_code != status or not isinstance(answer, dict):
            raise DriverError(
                f"{method} {path} answered {response.status_code} {response.text[:200]}; expected {status}."
            )
        return answer
