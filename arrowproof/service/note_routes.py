"""The routes of notes: accepting one, and looking at it."""

from __future__ import annotations

from typing import Any

from fastapi import APIRouter, Response

from arrowproof.service.identity import Client, Id, read_id
from arrowproof.service.note_request import KEY_HEADER, SentNote
from arrowproof.service.notes import Accepted, StoredNote, accept_note, find_note
from arrowproof.service.problem import (
    BODY_MALFORMED,
    BODY_TOO_LARGE,
    BUSY,
    KEY_MALFORMED,
    KEY_MISSING,
    KEY_REUSED,
    MEDIA_TYPE_REFUSED,
    NO_NOTE,
    UNAVAILABLE,
    ProblemError,
    problem_answers,
)
from arrowproof.service.settings import Settings

_NOTE_BODY: dict[str, Any] = {
    "parameters": [
        {
            "name": KEY_HEADER,
            "in": "header",
            "required": True,
            "schema": {"type": "string", "minLength": 1, "maxLength": 255, "pattern": "^[!-~]+$"},
        }
    ],
    "requestBody": {
        "required": True,
        "content": {
            "application/json": {
                "schema": {
                    "type": "object",
                    "required": ["text"],
                    "additionalProperties": False,
                    "properties": {"text": {"type": "string", "minLength": 1}},
                }
            }
        },
    },
}
_NOTE_PROBLEMS = problem_answers(
    KEY_MISSING,
    KEY_MALFORMED,
    BODY_MALFORMED,
    KEY_REUSED,
    BODY_TOO_LARGE,
    MEDIA_TYPE_REFUSED,
    NO_NOTE,
    BUSY,
    UNAVAILABLE,
)


def note_routes(settings: Settings) -> APIRouter:
    """The routes, which work with these settings."""
    router = APIRouter()

    @router.post("/notes", status_code=202, openapi_extra=_NOTE_BODY, responses=_NOTE_PROBLEMS)
    def post_note(sent: SentNote, response: Response) -> Accepted:
        """Accept a note; its history is written later. The same key and text give the same answer again."""
        with settings.pool.lend() as database:
            accepted = accept_note(database, sent, settings.max_attempts, settings.clock, settings.hold)
        response.headers["Location"] = f"/jobs/{accepted.job_id}"
        return accepted

    @router.get("/notes/{note_id}", responses=problem_answers(404, BUSY, UNAVAILABLE))
    def get_note(note_id: Id, client: Client) -> StoredNote:
        """The note as it is stored, with its history."""
        with settings.pool.lend() as database:
            note = find_note(database, read_id(note_id, "note"), client)
        if note is None:
            raise ProblemError(404, f"there is no note {note_id}")
        return note

    return router
