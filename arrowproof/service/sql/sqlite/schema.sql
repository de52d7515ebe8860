-- The tables of the notes service in SQLite, schema version 4. Run once, in this order, inside one transaction.
-- AUTOINCREMENT, so that the id of a removed note or job is never given to another.

-- name: mark_application
-- Marks the file as a database of the notes service: the number is the word "Note" in ASCII.
PRAGMA application_id = 1315927141;

-- name: mark_version
-- The schema version. A file with another one is refused, never migrated silently.
PRAGMA user_version = 4;

-- name: create_notes
-- What was accepted. A second note under one key of one client cannot exist. client is '' where no token is asked for.
CREATE TABLE notes (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    client TEXT NOT NULL,
    idempotency_key TEXT NOT NULL,
    text TEXT NOT NULL,
    text_sha256 TEXT NOT NULL,
    created_at TEXT NOT NULL,
    UNIQUE (client, idempotency_key)
) STRICT;

-- name: create_jobs
-- What is to be done for a note, whose client is told here once more, so that an index finds the jobs of a client. status
-- is the state of the lifecycle; next_run_at is null once nothing is left to do, and finished_at is null until then: a
-- change that forgets one of them is refused, since the job would never be found again. Written with OR, since for an IN
-- of more than two values SQLite builds a table whenever a row changes.
CREATE TABLE jobs (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    note_id INTEGER NOT NULL UNIQUE REFERENCES notes (id),
    client TEXT NOT NULL,
    status TEXT NOT NULL CHECK (
        status = 'pending' OR status = 'retry_wait'
        OR status = 'completed' OR status = 'failed' OR status = 'cancelled'
    ),
    attempts INTEGER NOT NULL CHECK (attempts BETWEEN 0 AND max_attempts),
    max_attempts INTEGER NOT NULL CHECK (max_attempts >= 1),
    next_run_at TEXT,
    last_error TEXT,
    finished_at TEXT,
    CHECK ((status = 'pending' OR status = 'retry_wait') = (next_run_at IS NOT NULL)),
    CHECK ((status = 'pending' OR status = 'retry_wait') = (finished_at IS NULL))
) STRICT;

-- name: create_jobs_waiting
-- Finds the next due job without reading the finished ones.
CREATE INDEX jobs_waiting ON jobs (next_run_at, id) WHERE status IN ('pending', 'retry_wait');

-- name: create_jobs_finished
-- Finds the job that has been finished longest without reading the waiting ones. Written with OR: for an IN of more than
-- two values SQLite builds a table whenever a row changes, which was a third of the cost of completing a job.
CREATE INDEX jobs_finished ON jobs (finished_at, id)
WHERE status = 'completed' OR status = 'failed' OR status = 'cancelled';

-- name: create_jobs_of_client
-- Lists and counts the jobs of a client by state, without reading those of others.
CREATE INDEX jobs_of_client ON jobs (client, status, id);

-- name: create_note_events
-- The history. job_id is unique: a second history row of one job cannot exist. It has no other key, so that a row lies
-- in one tree, and a job writes one page less.
CREATE TABLE note_events (
    job_id INTEGER PRIMARY KEY REFERENCES jobs (id),
    attempt INTEGER NOT NULL,
    created_at TEXT NOT NULL
) STRICT;

-- name: create_attempt_errors
-- Why an attempt failed: one row for each attempt that did.
CREATE TABLE attempt_errors (
    id INTEGER PRIMARY KEY,
    job_id INTEGER NOT NULL REFERENCES jobs (id),
    attempt INTEGER NOT NULL,
    error TEXT NOT NULL,
    created_at TEXT NOT NULL,
    UNIQUE (job_id, attempt)
) STRICT;

-- name: create_past_outcomes
-- How many jobs came to each end and left it again, removed or retried, so that a count of outcomes never goes down.
CREATE TABLE past_outcomes (
    status TEXT NOT NULL PRIMARY KEY,
    jobs INTEGER NOT NULL
) STRICT;
