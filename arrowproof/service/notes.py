"""Notes: accepting one, and looking at what is stored of notes and jobs."""

from __future__ import annotations

from dataclasses import dataclass
from hashlib import sha256
from typing import cast

from arrowproof.service.clock import Clock, timestamp
from arrowproof.service.database import BusyError, Database
from arrowproof.service.hold import Hold


class KeyTakenError(Exception):
    """The idempotency key was used before, with another text."""


@dataclass(frozen=True)
class SentUnderKey:
    """A note as a client sent it under an idempotency key. ``client`` is empty where no token is asked for."""

    key: str
    text: str
    client: str = ""


@dataclass(frozen=True)
class Accepted:
    """The answer to an accepted note. ``replayed`` is true when the key had brought the same text before."""

    note_id: int
    job_id: int
    replayed: bool


@dataclass(frozen=True)
class StoredError:
    """Why an attempt at a job failed, and when."""

    attempt: int
    error: str
    created_at: str


@dataclass(frozen=True)
class StoredJob:
    """A job as it is stored, with its last hundred errors, the first one first.

    Moments are UTC RFC 3339. ``next_run_at`` is null once nothing is left to do, and ``finished_at`` until then.
    """

    status: str
    attempts: int
    max_attempts: int
    next_run_at: str | None
    last_error: str | None
    note_id: int
    finished_at: str | None
    errors: tuple[StoredError, ...]


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


def accept_note(database: Database, sent: SentUnderKey, max_attempts: int, clock: Clock, hold: Hold) -> Accepted:
    """Accept a note under an idempotency key, once, with a job that is due at once.

    A key that is known is answered without a transaction. Of two requests that bring a new key at the same time, the
    database lets one take it; the other waits for it and is answered as a replay.

    Raises:
        KeyTakenError: the client used the key with another text.
        DatabaseError: the database did not take it; nothing is stored then.
    """
    known = _find_accepted(database, sent)
    if known is not None:
        return known
    database.begin()
    hold.reached("after-begin", database)
    known = _find_accepted(database, sent)
    hold.reached("after-select", database)
    accepted = known or _insert(database, sent, max_attempts, timestamp(clock(database)), hold)
    database.commit()
    hold.reached("after-commit", database)
    return accepted


def _find_accepted(database: Database, sent: SentUnderKey) -> Accepted | None:
    """What the key has brought before, or None."""
    row = database.row("find_accepted_note", client=sent.client, idempotency_key=sent.key)
    if row is None:
        return None
    note_id, job_id, digest = cast(tuple[int, int, str], row)
    if digest != text_digest(sent.text):
        raise KeyTakenError(sent.key)
    return Accepted(note_id, job_id, replayed=True)


def _insert(database: Database, sent: SentUnderKey, max_attempts: int, now: str, hold: Hold) -> Accepted:
    row = database.row(
        "insert_note",
        client=sent.client,
        idempotency_key=sent.key,
        text=sent.text,
        text_sha256=text_digest(sent.text),
        now=now,
    )
    hold.reached("after-note", database)
    if row is None:
        known = _find_accepted(database, sent)
        if known is None:
            raise BusyError("the note of this key was removed in this moment")
        return known
    ((job_id,),) = database.rows("insert_job", note_id=row[0], max_attempts=max_attempts, now=now)
    hold.reached("after-job", database)
    return Accepted(cast(int, row[0]), cast(int, job_id), replayed=False)


def find_job(database: Database, job_id: int, client: str = "") -> StoredJob | None:
    """The job with this id, or None when there is none or its note is another client's.

    One statement reads the job and its errors, so that they agree.
    """
    rows = database.rows("find_job", job_id=job_id, client=client)
    if not rows:
        return None
    errors = tuple(StoredError(*cast(tuple[int, str, str], row[-3:])) for row in reversed(rows) if row[-1] is not None)
    return StoredJob(*cast(tuple[str, int, int, str | None, str | None, int, str | None], rows[0][:-3]), errors)


def find_note(database: Database, note_id: int, client: str = "") -> StoredNote | None:
    """The note with this id and its history, or None when there is none or it is another client's.

    One statement reads the note and its history, so that they agree.
    """
    rows = database.rows("find_note", note_id=note_id)
    if not rows:
        return None
    text, job_id, owner = cast(tuple[str, int, str], rows[0][:3])
    if owner != client:
        return None
    events = tuple(StoredEvent(*cast(tuple[int, int, int, str], row[3:])) for row in rows if row[3] is not None)
    return StoredNote(text, job_id, events)
