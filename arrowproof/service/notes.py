"""Notes: accepting one, and looking at what is stored of notes and jobs."""

from __future__ import annotations

from dataclasses import dataclass
from hashlib import sha256
from typing import cast

from arrowproof.service.clock import Clock, timestamp
from arrowproof.service.database import Database
from arrowproof.service.hold import Hold


class KeyTakenError(Exception):
    """The idempotency key was used before, with another text."""


@dataclass(frozen=True)
class Accepted:
    """The answer to an accepted note. ``replayed`` is true when the key had brought the same text before."""

    note_id: int
    job_id: int
    replayed: bool


@dataclass(frozen=True)
class StoredJob:
    """A job as it is stored. ``next_run_at`` is UTC RFC 3339, or null once nothing is left to do."""

    status: str
    attempts: int
    max_attempts: int
    next_run_at: str | None
    last_error: str | None
    note_id: int


@dataclass(frozen=True)
class StoredEvent:
    """A history row as it is stored: which attempt of which job wrote it, and when."""

    id: int
    job_id: int
    attempt: int
    created_at: str


@dataclass(frozen=True)
class StoredNote:
    """A note as it is stored, with its history."""

    text: str
    job_id: int
    events: tuple[StoredEvent, ...]


def text_digest(text: str) -> str:
    """The SHA-256 by which two texts under one key are compared: white space around them does not count."""
    return sha256(text.strip().encode("utf-8")).hexdigest()


def accept_note(database: Database, key: str, text: str, max_attempts: int, clock: Clock, hold: Hold) -> Accepted:
    """Accept a note under an idempotency key, once, with a job that is due at once.

    Raises:
        KeyTakenError: the key was used with another text.
        apsw.Error: the database did not take it; nothing is stored then.
    """
    digest = text_digest(text)
    database.rows("begin")
    hold.at("after-begin")
    known = database.row("find_accepted_note", idempotency_key=key)
    hold.at("after-select")
    if known is None:
        now = timestamp(clock())
        ((note_id,),) = database.rows("insert_note", idempotency_key=key, text=text, text_sha256=digest, now=now)
        hold.at("after-note")
        ((job_id,),) = database.rows("insert_job", note_id=note_id, max_attempts=max_attempts, now=now)
        hold.at("after-job")
    else:
        note_id, job_id, known_digest = known
        if known_digest != digest:
            raise KeyTakenError(key)
    database.rows("commit")
    hold.at("after-commit")
    return Accepted(cast(int, note_id), cast(int, job_id), replayed=known is not None)


def find_job(database: Database, job_id: int) -> StoredJob | None:
    """The job with this id, or None."""
    row = database.row("find_job", job_id=job_id)
    return None if row is None else StoredJob(*cast(tuple[str, int, int, str | None, str | None, int], row))


def find_note(database: Database, note_id: int) -> StoredNote | None:
    """The note with this id and its history, or None."""
    row = database.row("find_note", note_id=note_id)
    if row is None:
        return None
    text, job_id = cast(tuple[str, int], row)
    events = cast(list[tuple[int, int, int, str]], database.rows("list_note_events", note_id=note_id))
    return StoredNote(text, job_id, tuple(StoredEvent(*event) for event in events))
