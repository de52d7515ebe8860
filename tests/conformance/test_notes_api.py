"""The client of the notes API: what it asks, and the answers that it does not take."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import httpx
import pytest

from arrowproof.conformance.driver import DriverError
from arrowproof.conformance.notes_api import Accepted, Note, NotesApi

Answer = tuple[int, Any]
STORED = {"text": "Note 7 of the proof", "job_id": 5, "events": []}


def api_that_answers(status: int, content: Any, asked: list[httpx.Request] | None = None) -> NotesApi:
    def answer(request: httpx.Request) -> httpx.Response:
        if asked is not None:
            asked.append(request)
        return httpx.Response(status, json=content)

    api = NotesApi("http://notes")
    api._client = httpx.Client(base_url="http://notes", transport=httpx.MockTransport(answer))
    return api


def test_a_replay_has_the_key_of_the_note_and_more_white_space_around_its_text() -> None:
    asked: list[httpx.Request] = []
    for replayed in (False, True):
        content = {"note_id": 3, "job_id": 5, "replayed": replayed}
        assert api_that_answers(202, content, asked).post(7, replayed=replayed) == Accepted(3, 5)
    assert len({request.headers["Idempotency-Key"] for request in asked}) == 1
    first, again = (json.loads(request.content)["text"] for request in asked)
    assert first != again
    assert first == again.strip() == STORED["text"]


@pytest.mark.parametrize(
    ("answer", "ask"),
    [
        ((200, {"note_id": 3, "job_id": 5, "replayed": False}), lambda api: api.post(7, replayed=False)),
        ((202, {"note_id": 3, "job_id": 5, "replayed": True}), lambda api: api.post(7, replayed=False)),
        ((202, {"note_id": 3, "job_id": "5", "replayed": False}), lambda api: api.post(7, replayed=False)),
        ((202, {"job_id": 5, "replayed": False}), lambda api: api.post(7, replayed=False)),
        ((202, []), lambda api: api.post(7, replayed=False)),
        ((202, {"note_id": 3, "job_id": 5, "replayed": True}), lambda api: api.post_another_text(7)),
        ((200, {**STORED, "text": "Note 7"}), lambda api: api.check_stored(7, Accepted(3, 5))),
        ((200, {**STORED, "job_id": 6}), lambda api: api.check_stored(7, Accepted(3, 5))),
        ((200, {**STORED, "events": [{"attempt": 1}]}), lambda api: api.check_stored(7, Accepted(3, 5))),
        ((200, {**STORED, "events": None}), lambda api: api.note(3)),
        ((200, {"text": "Note 7 of the proof"}), lambda api: api.note(3)),
        ((200, {"status": "pending"}), lambda api: api.job(5)),
    ],
)
def test_an_answer_that_breaks_the_contract_is_not_taken(answer: Answer, ask: Callable[[NotesApi], object]) -> None:
    with pytest.raises(DriverError):
        ask(api_that_answers(*answer))


def test_a_conflict_and_a_stored_note_are_taken() -> None:
    api_that_answers(409, {"status": 409}).post_another_text(7)
    api_that_answers(200, STORED).check_stored(7, Accepted(3, 5))
    stored = api_that_answers(200, {**STORED, "events": [{"attempt": 2}]}).note(3)
    assert stored == Note("Note 7 of the proof", 5, (2,))
