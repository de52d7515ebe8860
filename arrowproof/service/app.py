"""The HTTP application: three routes over the notes of one database."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any

from fastapi import FastAPI, Response

from arrowproof.service.clock import Clock
from arrowproof.service.hold import Hold
from arrowproof.service.note_request import KEY_HEADER, SentNote
from arrowproof.service.notes import Accepted, StoredJob, StoredNote, accept_note, find_job, find_note
from arrowproof.service.pool import DatabasePool
from arrowproof.service.problem import ProblemError, install_problem_handlers

_ID = re.compile(r"[1-9][0-9]{0,18}")
_LARGEST_ID = 2**63 - 1
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


@dataclass(frozen=True)
class Settings:
    """What the application works with. ``max_attempts`` is stored with each new job."""

    pool: DatabasePool
    max_attempts: int
    clock: Clock
    hold: Hold


def create_app(settings: Settings) -> FastAPI:
    """The application. Its routes run in threads, each with a connection of its own."""
    app = FastAPI(title="Notes", version="1", docs_url=None, redoc_url=None, redirect_slashes=False)
    install_problem_handlers(app)

    @app.post("/notes", status_code=202, openapi_extra=_NOTE_BODY, responses=_problems(400, 409, 413, 415, 422, 503))
    def post_note(sent: SentNote, response: Response) -> Accepted:
        """Accept a note; its history is written later. The same key and text give the same answer again."""
        with settings.pool.lend() as database:
            accepted = accept_note(database, sent, settings.max_attempts, settings.clock, settings.hold)
        response.headers["Location"] = f"/jobs/{accepted.job_id}"
        return accepted

    @app.get("/jobs/{job_id}", responses=_problems(404, 503))
    def get_job(job_id: str) -> StoredJob:
        """The job as it is stored."""
        with settings.pool.lend() as database:
            job = find_job(database, _read_id(job_id, "job"))
        if job is None:
            raise ProblemError(404, f"there is no job {job_id}")
        return job

    @app.get("/notes/{note_id}", responses=_problems(404, 503))
    def get_note(note_id: str) -> StoredNote:
        """The note as it is stored, with its history."""
        with settings.pool.lend() as database:
            note = find_note(database, _read_id(note_id, "note"))
        if note is None:
            raise ProblemError(404, f"there is no note {note_id}")
        return note

    return app


def _read_id(text: str, kind: str) -> int:
    if _ID.fullmatch(text) is None or int(text) > _LARGEST_ID:
        raise ProblemError(404, f"there is no such {kind}: an id is a whole number from 1, below 2 to the power of 63")
    return int(text)


def _problems(*statuses: int) -> dict[int | str, dict[str, Any]]:
    """The problem answers of a route, for its OpenAPI description."""
    return {
        status: {"description": "Problem details", "content": {"application/problem+json": {}}} for status in statuses
    }
