-- The tables of the notes service in PostgreSQL, schema version 4. Run once, in this order, inside one transaction.

-- name: create_notes_service
-- Marks the schema as one of the notes service. One with another version is refused, never migrated silently.
CREATE TABLE notes_service (
    only_row boolean PRIMARY KEY DEFAULT true CHECK (only_row),
    schema_version integer NOT NULL
);

-- name: mark_version
-- The schema version.
INSERT INTO notes_service (schema_version) VALUES (4);

-- name: create_notes
-- What was accepted. A second note under one key of one client cannot exist. client is '' where no token is asked for.
CREATE TABLE notes (
    id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    client text NOT NULL,
    idempotency_key text NOT NULL,
    text text NOT NULL,
    text_sha256 text NOT NULL,
    created_at timestamptz NOT NULL,
    UNIQUE (client, idempotency_key)
);

-- name: create_jobs
-- What is to be done for a note, whose client is told here once more, so that an index finds the jobs of a client. status
-- is the state of the lifecycle; next_run_at is null once nothing is left to do, and finished_at is null until then: a
-- change that forgets one of them is refused, since the job would never be found again.
CREATE TABLE jobs (
    id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    note_id bigint NOT NULL UNIQUE REFERENCES notes (id),
    client text NOT NULL,
    status text NOT NULL CHECK (status IN ('pending', 'retry_wait', 'completed', 'failed', 'cancelled')),
    attempts integer NOT NULL,
    max_attempts integer NOT NULL CHECK (max_attempts >= 1),
    next_run_at timestamptz,
    last_error text,
    finished_at timestamptz,
    CHECK (attempts BETWEEN 0 AND max_attempts),
    CHECK ((status IN ('pending', 'retry_wait')) = (next_run_at IS NOT NULL)),
    CHECK ((status IN ('pending', 'retry_wait')) = (finished_at IS NULL))
);

-- name: create_jobs_waiting
-- Finds the next due job without reading the finished ones.
CREATE INDEX jobs_waiting ON jobs (next_run_at, id) WHERE status IN ('pending', 'retry_wait');

-- name: create_jobs_finished
-- Finds the job that has been finished longest without reading the waiting ones.
CREATE INDEX jobs_finished ON jobs (finished_at, id) WHERE status IN ('completed', 'failed', 'cancelled');

-- name: create_jobs_of_client
-- Lists and counts the jobs of a client by state, without reading those of others.
CREATE INDEX jobs_of_client ON jobs (client, status, id);

-- name: create_note_events
-- The history. job_id is unique: a second history row of one job cannot exist. It has no other key, and so one index.
CREATE TABLE note_events (
    job_id bigint PRIMARY KEY REFERENCES jobs (id),
    attempt integer NOT NULL,
    created_at timestamptz NOT NULL
);

-- name: create_attempt_errors
-- Why an attempt failed: one row for each attempt that did.
CREATE TABLE attempt_errors (
    id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    job_id bigint NOT NULL REFERENCES jobs (id),
    attempt integer NOT NULL,
    error text NOT NULL,
    created_at timestamptz NOT NULL,
    UNIQUE (job_id, attempt)
);

-- name: create_past_outcomes
-- How many jobs came to each end and left it again, removed or retried, so that a count of outcomes never goes down.
CREATE TABLE past_outcomes (
    status text PRIMARY KEY,
    jobs bigint NOT NULL
);

-- name: create_begun_attempts
-- Which attempts began and have not ended; see begun.sql. UNLOGGED: it outlives a killed worker, for which it is there,
-- and costs no flush; PostgreSQL empties it when it has crashed itself.
CREATE UNLOGGED TABLE begun_attempts (
    job_id bigint PRIMARY KEY,
    attempts integer NOT NULL,
    crashes integer NOT NULL
);
