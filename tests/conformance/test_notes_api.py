"""The client of the notes API: what it asks, and the answers that it does not take."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import httpx
import pytest

from arrowproof.conformance.driver import DriverError
from arrowproof.conformance.notes_api import CANCEL, RETRY, Accepted, Job, Note, NotesApi

Answer = tuple[int, Any]
JOB = {
    "status": "retry_wait",
    "attempts": 1,
    "max_attempts": 3,
    "next_run_at": "2026-11-29T15:09:02.118Z",
    "last_error": "e",
    "note_id": 3,
    "finished_at": None,
    "errors": [{"attempt": 1, "error": "e", "created_at": "2026-11-29T15:09:01.118Z"}],
}
TEXT = "\tNote 2 of the proof  "
STORED = {"text": TEXT, "job_id": 5, "events": []}
REPLAYED = {"Idempotent-Replayed": "true"}


def api_that_answers(
    status: int, content: Any, asked: list[httpx.Request] | None = None, headers: dict[str, str] | None = None
) -> NotesApi:
    def answer(request: httpx.Request) -> httpx.Response:
        if asked is not None:
            asked.append(request)
        return httpx.Response(status, json=content, headers=headers)

    api = NotesApi("http://notes")
    api._client = httpx.Client(base_url="http://notes", transport=httpx.MockTransport(answer))
    return api


def test_a_replay_has_the_key_of_the_note_and_other_white_space_around_its_text() -> None:
    asked: list[httpx.Request] = []
    for replayed, headers in ((False, {}), (True, REPLAYED)):
        content = {"note_id": 3, "job_id": 5, "replayed": replayed}
        assert api_that_answers(202, content, asked, headers).post(7, replayed=replayed) == Accepted(3, 5)
    assert len({request.headers["Idempotency-Key"] for request in asked}) == 1
    first, again = (json.loads(request.content)["text"] for request in asked)
    assert first != again
    assert first == TEXT != TEXT.strip() == again.strip()


@pytest.mark.parametrize(("replayed", "headers"), [(True, {}), (False, REPLAYED)])
def test_a_replay_without_its_header_and_a_header_without_a_replay_are_not_taken(
    replayed: bool, headers: dict[str, str]
) -> None:
    content = {"note_id": 3, "job_id": 5, "replayed": replayed}
    with pytest.raises(DriverError, match="with Idempotent-Replayed: "):
        api_that_answers(202, content, headers=headers).post(7, replayed=replayed)


def test_notes_whose_keys_are_nearly_the_same_have_one_text() -> None:
    asked: list[httpx.Request] = []
    for number in range(1, 10):
        api_that_answers(202, {"note_id": 3, "job_id": 5, "replayed": False}, asked).post(number, replayed=False)
    keys = [request.headers["Idempotency-Key"] for request in asked]
    assert len(set(keys)) == 9
    assert len({key.lower().replace("_", "-") for key in keys}) == len({request.content for request in asked}) == 3


def test_other_texts_are_nearly_the_same_under_one_key() -> None:
    asked: list[httpx.Request] = []
    api_that_answers(409, {"status": 409}, asked).post_other_texts(7)
    assert len({request.headers["Idempotency-Key"] for request in asked}) == 1
    texts = [json.loads(request.content)["text"] for request in asked]
    assert TEXT.strip() not in [text.strip() for text in texts]
    assert texts[0].lower() == TEXT.lower()
    assert " ".join(texts[1].split()) == TEXT.strip()
    assert texts[2].strip().startswith(TEXT.strip())


@pytest.mark.parametrize(
    ("answer", "ask"),
    [
        ((200, {"note_id": 3, "job_id": 5, "replayed": False}), lambda api: api.post(7, replayed=False)),
        ((202, {"note_id": 3, "job_id": 5, "replayed": True}), lambda api: api.post(7, replayed=False)),
        ((202, {"note_id": 3, "job_id": "5", "replayed": False}), lambda api: api.post(7, replayed=False)),
        ((202, {"job_id": 5, "replayed": False}), lambda api: api.post(7, replayed=False)),
        ((202, []), lambda api: api.post(7, replayed=False)),
        ((202, {"note_id": 3, "job_id": 5, "replayed": True}), lambda api: api.post_other_texts(7)),
        ((200, {**STORED, "text": "Note 7"}), lambda api: api.check_stored(7, Accepted(3, 5))),
        ((200, {**STORED, "job_id": 6}), lambda api: api.check_stored(7, Accepted(3, 5))),
        ((200, {**STORED, "events": [{"attempt": 1}]}), lambda api: api.check_stored(7, Accepted(3, 5))),
        ((200, {**STORED, "events": None}), lambda api: api.note(3)),
        ((200, {"text": TEXT}), lambda api: api.note(3)),
        ((200, {"status": "pending"}), lambda api: api.job(5)),
        ((200, {**JOB, "errors": None}), lambda api: api.job(5)),
        ((200, {**JOB, "errors": [{"error": "e"}]}), lambda api: api.job(5)),
        ((202, JOB), lambda api: api.ask_for(RETRY, 5)),
        ((409, {"status": 409}), lambda api: api.ask_for(CANCEL, 5)),
        ((200, JOB), lambda api: api.ask_in_vain(CANCEL, 5, 409)),
        ((404, {"status": 404}), lambda api: api.ask_in_vain(RETRY, 5, 409)),
        ((200, JOB), lambda api: api.check_removed(5, 3)),
    ],
)
def test_an_answer_that_breaks_the_contract_is_not_taken(answer: Answer, ask: Callable[[NotesApi], object]) -> None:
    with pytest.raises(DriverError):
        ask(api_that_answers(*answer))


def test_a_conflict_and_a_stored_note_are_taken() -> None:
    api_that_answers(409, {"status": 409}).post_other_texts(7)
    api_that_answers(200, STORED).check_stored(7, Accepted(3, 5))
    event = {"attempt": 2, "created_at": "2026-11-29T15:09:01.118Z"}
    stored = api_that_answers(200, {**STORED, "events": [event]}).note(3)
    assert stored == Note(TEXT, 5, (2,), "2026-11-29T15:09:01.118Z")


def test_a_job_is_taken_as_it_is_answered_and_what_is_unknown_to_the_client_is_passed_over() -> None:
    wanted = Job("retry_wait", 1, 3, "2026-11-29T15:09:02.118Z", "e", 3, None, (1,), "2026-11-29T15:09:01.118Z")
    assert api_that_answers(200, {**JOB, "text": "more"}).job(5) == wanted
    asked: list[httpx.Request] = []
    assert api_that_answers(200, JOB, asked).ask_for(CANCEL, 5) == wanted
    assert [(request.method, request.url.path) for request in asked] == [("POST", "/jobs/5/cancel")]


def test_a_removed_job_is_asked_for_in_every_way() -> None:
    asked: list[httpx.Request] = []
    api_that_answers(404, {"status": 404}, asked).check_removed(5, 3)
    ways = [f"{request.method} {request.url.path}" for request in asked]
    assert ways == ["GET /jobs/5", "GET /notes/3", "POST /jobs/5/retry", "POST /jobs/5/cancel"]


def test_a_job_says_how_long_until_it_is_due() -> None:
    job = api_that_answers(200, {**JOB, "next_run_at": "2001-01-01T00:00:00.000Z"}).job(5)
    assert (job.due_in() or 0) < -1_000_000
    assert api_that_answers(200, {**JOB, "next_run_at": None}).job(5).due_in() is None


@pytest.mark.timeout(60)
def test_a_client_that_an_interrupt_left_locked_keeps_nobody_from_ending() -> None:
    api = NotesApi("http://127.0.0.1:9")
    pool = api._client._transport._pool  # type: ignore[attr-defined]
    with pool._optional_thread_lock:
        api.close()
