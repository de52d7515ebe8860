-- The tables of the notes service, schema version 1. Run once, in this order, inside one transaction.

-- name: mark_application
-- Marks the file as a database of the notes service: the number is the word "Note" in ASCII.
PRAGMA application_id = 1315927141;

-- name: mark_version
-- The schema version. A file with another one is refused, never migrated silently.
PRAGMA user_version = 1;

-- name: create_notes
-- What was accepted. The key is UNIQUE: a second note under one key cannot exist.
CREATE TABLE notes (
    id INTEGER PRIMARY KEY,
    idempotency_key TEXT NOT NULL UNIQUE,
    text TEXT NOT NULL,
    text_sha256 TEXT NOT NULL,
    created_at TEXT NOT NULL
) STRICT;

-- name: create_jobs
-- What is to be done for a note. status is the state of the lifecycle; next_run_at is null once nothing is left to do.
CREATE TABLE jobs (
    id INTEGER PRIMARY KEY,
    note_id INTEGER NOT NULL UNIQUE REFERENCES notes (id),
    status TEXT NOT NULL CHECK (status IN ('pending', 'retry_wait', 'completed', 'failed')),
    attempts INTEGER NOT NULL CHECK (attempts BETWEEN 0 AND max_attempts),
    max_attempts INTEGER NOT NULL CHECK (max_attempts >= 1),
    next_run_at TEXT,
    last_error TEXT
) STRICT;

-- name: create_jobs_waiting
-- Finds the next due job without reading the finished ones.
CREATE INDEX jobs_waiting ON jobs (next_run_at, id) WHERE status IN ('pending', 'retry_wait');

-- name: create_note_events
-- The history. job_id is UNIQUE: a second history row of one job cannot exist.
CREATE TABLE note_events (
    id INTEGER PRIMARY KEY,
    job_id INTEGER NOT NULL UNIQUE REFERENCES jobs (id),
    attempt INTEGER NOT NULL,
    created_at TEXT NOT NULL
) STRICT;
