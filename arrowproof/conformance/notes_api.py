"""The notes API as its client sees it: one connection, every answer checked."""

from __future__ import annotations

from datetime import UTC, datetime
from threading import Thread
from types import TracebackType
from typing import Any

import httpx

from arrowproof.conformance.driver import DriverError
from arrowproof.model.record import record

ANSWER_SECONDS = 20.0
CLOSE_SECONDS = 2.0
RETRY = "retry"
CANCEL = "cancel"
"""What a client can ask for a job by hand."""
_REPLAYED = "Idempotent-Replayed"
_KEYS = ("arrowproof-{}", "Arrowproof-{}", "arrowproof_{}")
"""The keys of three notes of one text: who folds case, takes a key for a pattern or goes by the text mixes them up."""


@record
class Job:
    """A job as the service answers it.

    ``next_run_at`` is UTC RFC 3339, or None when nothing is left to do; ``finished_at`` likewise, and None until then.
    ``errors`` are the attempts that its error records name, and ``failed_at`` is when the last of them was written.
    """

    status: str
    attempts: int
    max_attempts: int
    next_run_at: str | None
    last_error: str | None
    note_id: int
    finished_at: str | None
    errors: tuple[int, ...]
    failed_at: str | None = None

    def due_in(self) -> float | None:
        """Seconds until the next attempt, negative when it is due; None when there will be none."""
        if self.next_run_at is None:
            return None
        return (datetime.fromisoformat(self.next_run_at) - datetime.now(UTC)).total_seconds()


_FIELDS = ("status", "attempts", "max_attempts", "next_run_at", "last_error", "note_id", "finished_at")


@record
class Accepted:
    """The ids in the answer to a POST."""

    note_id: int
    job_id: int


@record
class Note:
    """A note as ``GET /notes/{id}`` gives it; ``history`` are the attempts that its history rows name.

    ``written_at`` is when the last of these rows was written.
    """

    text: str
    job_id: int
    history: tuple[int, ...]
    written_at: str | None = None


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
        """Close the connection.

        An interrupt that came in the middle of a request may have left the client's pool locked for ever. It is then
        left as it is: what it has open ends with this process.
        """
        closing = Thread(target=self._client.close, name="close client", daemon=True)
        closing.start()
        closing.join(CLOSE_SECONDS)

    def post(self, number: int, *, replayed: bool) -> Accepted:
        """Send note ``number`` under its own Idempotency-Key; a replay has other white space around its text."""
        text = f" {_text(number).strip()}\n" if replayed else _text(number)
        headers, answer = self._answer("POST", "/notes", 202, **_note(number, text))
        note_id, job_id = answer.get("note_id"), answer.get("job_id")
        if answer.get("replayed") is not replayed or not (isinstance(note_id, int) and isinstance(job_id, int)):
            raise DriverError(f"POST /notes answered {answer}; expected note_id, job_id and replayed {replayed}.")
        if (marked := headers.get(_REPLAYED)) != ("true" if replayed else None):
            raise DriverError(f"POST /notes answered replayed {replayed} with {_REPLAYED}: {marked}.")
        return Accepted(note_id, job_id)

    def post_other_texts(self, number: int) -> None:
        """Send texts that differ a little under the key of note ``number``, each of which must be a conflict."""
        text = _text(number)
        for other in (text.upper(), text.replace(" of ", "  of "), text.rstrip() + "."):
            self._ask("POST", "/notes", 409, **_note(number, other))

    def check_stored(self, number: int, accepted: Accepted) -> None:
        """Have note ``number`` stored as it was sent first, under the ids that were answered, and without history."""
        note = self.note(accepted.note_id)
        if note != Note(_text(number), accepted.job_id, ()):
            raise DriverError(f"Note {accepted.note_id} of job {accepted.job_id} is stored as {note}.")

    def ask_for(self, by_hand: str, job_id: int) -> Job:
        """A retry or a cancel of a job; gives the job as the answer has it after that."""
        path = f"/jobs/{job_id}/{by_hand}"
        return _job(f"POST {path}", self._ask("POST", path, 200))

    def ask_in_vain(self, by_hand: str, job_id: int, status: int) -> None:
        """A retry or a cancel that must be refused: 409 in the wrong state, 404 when there is no such job."""
        self._ask("POST", f"/jobs/{job_id}/{by_hand}", status)

    def check_removed(self, job_id: int, note_id: int) -> None:
        """Have neither job nor note, and nothing that could be asked for the job."""
        self._ask("GET", f"/jobs/{job_id}", 404)
        self._ask("GET", f"/notes/{note_id}", 404)
        for by_hand in (RETRY, CANCEL):
            self.ask_in_vain(by_hand, job_id, 404)

    def job(self, job_id: int) -> Job:
        """The job as it is stored."""
        return _job(f"GET /jobs/{job_id}", self._ask("GET", f"/jobs/{job_id}", 200))

    def note(self, note_id: int) -> Note:
        """The note as it is stored."""
        answer = self._ask("GET", f"/notes/{note_id}", 200)
        try:
            attempts, written_at = _attempts(answer["events"])
            return Note(answer["text"], answer["job_id"], attempts, written_at)
        except (KeyError, TypeError) as error:
            raise DriverError(f"GET /notes/{note_id} answered {str(answer)[:200]}, which lacks {error}.") from error

    def _ask(self, method: str, path: str, status: int, **content: Any) -> dict[str, Any]:
        return self._answer(method, path, status, **content)[1]

    def _answer(self, method: str, path: str, status: int, **content: Any) -> tuple[httpx.Headers, dict[str, Any]]:
        try:
            response = self._client.request(method, path, **content)
            answer = response.json()
        except (httpx.HTTPError, ValueError) as error:
            raise DriverError(f"{method} {path} got no answer: {type(error).__name__}: {error}") from error
        if response.status_code != status or not isinstance(answer, dict):
            raise DriverError(
                f"{method} {path} answered {response.status_code} {response.text[:200]}; expected {status}."
            )
        return response.headers, answer


def _job(asked: str, answer: dict[str, Any]) -> Job:
    try:
        errors, failed_at = _attempts(answer["errors"])
        return Job(**{name: answer[name] for name in _FIELDS}, errors=errors, failed_at=failed_at)
    except (KeyError, TypeError) as error:
        raise DriverError(f"{asked} answered {str(answer)[:200]}, which lacks {error}.") from error


def _attempts(rows: list[dict[str, Any]]) -> tuple[tuple[int, ...], str | None]:
    """The attempts that these rows name, and when the last of them was written."""
    return tuple(row["attempt"] for row in rows), rows[-1]["created_at"] if rows else None


def _text(number: int) -> str:
    """The text of note ``number``, the first of which is 1, with white space around it."""
    return f"\tNote {(number - 1) // len(_KEYS)} of the proof  "


def _note(number: int, text: str) -> dict[str, Any]:
    nth, spelling = divmod(number - 1, len(_KEYS))
    key = _KEYS[spelling].format(nth)
    return {"headers": {"Idempotency-Key": key}, "json": {"text": text}}
