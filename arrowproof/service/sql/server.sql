-- What the server reads and writes.

-- name: find_accepted_note
-- The note and the job that an idempotency key already has.
SELECT notes.id, jobs.id, notes.text_sha256
FROM notes
JOIN jobs ON jobs.note_id = notes.id
WHERE notes.idempotency_key = :idempotency_key;

-- name: insert_note
-- Keeps the text as it was sent. No transition.
INSERT INTO notes (idempotency_key, text, text_sha256, created_at)
VALUES (:idempotency_key, :text, :text_sha256, :now)
RETURNING id;

-- name: insert_job
-- Transition: created -> pending. The job is due at once.
INSERT INTO jobs (note_id, status, attempts, max_attempts, next_run_at, last_error)
VALUES (:note_id, 'pending', 0, :max_attempts, :now, NULL)
RETURNING id;

-- name: find_job
-- A job as it is stored.
SELECT status, attempts, max_attempts, next_run_at, last_error, note_id
FROM jobs
WHERE id = :job_id;

-- name: find_note
-- A note as it is stored, with its job.
SELECT notes.text, jobs.id
FROM notes
JOIN jobs ON jobs.note_id = notes.id
WHERE notes.id = :note_id;

-- name: list_note_events
-- The history of a note: none before its job is completed, one row afterwards.
SELECT note_events.id, note_events.job_id, note_events.attempt, note_events.created_at
FROM note_events
JOIN jobs ON jobs.id = note_events.job_id
WHERE jobs.note_id = :note_id
ORDER BY note_events.id;
