"""The routes of notes: accepting one, and looking at it."""

from __future__ import annotations

from typing import Any

from fastapi import APIRouter, Response

from arrowproof.service.idempotency_key import HEADER_PATTERN, KEY_HEADER, REPLAYED_HEADER
from arrowproof.service.identity import Client, Id, read_id
from arrowproof.service.note_request import SentNote
from arrowproof.service.notes import Accepted, StoredNote, accept_note, find_note
from arrowproof.service.problem import ProblemError, problem_answers
from arrowproof.service.problem_types import (
    BODY_MALFORMED,
    BODY_TOO_LARGE,
    BUSY,
    KEY_MALFORMED,
    KEY_MISSING,
    KEY_REUSED,
    MEDIA_TYPE_REFUSED,
    NO_NOTE,
    TOO_SLOW,
    UNAVAILABLE,
)
from arrowproof.service.settings import Settings

_NOTE_BODY: dict[str, Any] = {
    "parameters": [
        {
            "name": KEY_HEADER,
            "in": "header",
            "required": True,
            "description": "Your own name for this note, bare or as a quoted string. It lives as long as its note.",
            "schema": {"type": "string", "pattern": HEADER_PATTERN},
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
_ACCEPTED: dict[int | str, dict[str, Any]] = {
    202: {
        "description": "The note is stored",
        "headers": {
            "Location": {"description": "the job", "schema": {"type": "string"}},
            REPLAYED_HEADER: {
                "description": "there when the key had brought the note before",
                "schema": {"type": "string", "enum": ["true"]},
            },
        },
    }
}
_NOTE_PROBLEMS = problem_answers(
    KEY_MISSING,
    KEY_MALFORMED,
    BODY_MALFORMED,
    KEY_REUSED,
    BODY_TOO_LARGE,
    MEDIA_TYPE_REFUSED,
    NO_NOTE,
    TOO_SLOW,
    BUSY,
    UNAVAILABLE,
)


def note_routes(settings: Settings) -> APIRouter:
    """The routes, which work with these settings."""
    router = APIRouter()

    @router.post("/notes", status_code=202, openapi_extra=_NOTE_BODY, responses=_ACCEPTED | _NOTE_PROBLEMS)
    def post_note(sent: SentNote, response: Response) -> Accepted:
        """Accept a note; its history is written later. The same key and text give the same answer again."""
        with settings.pool.lend() as database:
            accepted = accept_note(database, sent, settings.max_attempts, settings.clock, settings.hold)
        response.headers["Location"] = f"/jobs/{accepted.job_id}"
        if accepted.replayed:
            response.headers[REPLAYED_HEADER] = "true"
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
