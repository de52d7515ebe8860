-- What the server reads and writes. Each UPDATE names the states that it may leave and the one that it enters.

-- name: find_accepted_note
-- The note and the job that an idempotency key of a client already has.
SELECT notes.id, jobs.id, notes.text_sha256
FROM notes
JOIN jobs ON jobs.note_id = notes.id
WHERE notes.client = :client AND notes.idempotency_key = :idempotency_key;

-- name: insert_note
-- Keeps the text as it was sent. No transition. No row comes back when another request has just taken the key.
INSERT INTO notes (client, idempotency_key, text, text_sha256, created_at)
VALUES (:client, :idempotency_key, :text, :text_sha256, :now)
ON CONFLICT (client, idempotency_key) DO NOTHING
RETURNING id;

-- name: insert_job
-- Transition: created -> pending. The job is due at once, and belongs to the client of its note.
INSERT INTO jobs (note_id, client, status, attempts, max_attempts, next_run_at, last_error, finished_at)
VALUES (
    :note_id, (SELECT client FROM notes WHERE id = :note_id), 'pending', 0, :max_attempts, :now, NULL, NULL
)
RETURNING id;

-- name: requeue_job
-- Transition: failed -> pending. The job is due at once, with as many attempts left as a new one has.
UPDATE jobs
SET status = 'pending', max_attempts = attempts + :more_attempts, next_run_at = :now, finished_at = NULL
WHERE id = :job_id
  AND status = 'failed';

-- name: cancel_job
-- Transitions: pending -> cancelled, retry_wait -> cancelled. Nobody works on the job any more.
UPDATE jobs
SET status = 'cancelled', next_run_at = NULL, finished_at = :now
WHERE id = :job_id
  AND status IN ('pending', 'retry_wait');

-- name: find_job
-- A job of a client as it is stored, once for each of its last errors, the newest first; once when it has none.
SELECT jobs.status, jobs.attempts, jobs.max_attempts, jobs.next_run_at, jobs.last_error, jobs.note_id, jobs.finished_at,
    attempt_errors.attempt, attempt_errors.error, attempt_errors.created_at
FROM jobs
LEFT JOIN attempt_errors ON attempt_errors.job_id = jobs.id
WHERE jobs.id = :job_id AND jobs.client = :client
ORDER BY attempt_errors.attempt DESC
LIMIT 100;

-- name: find_note
-- A note as it is stored, with its job, its client and its history, which bears the number of its job, or null.
SELECT notes.text, jobs.id, notes.client,
    note_events.job_id AS id, note_events.job_id, note_events.attempt, note_events.created_at
FROM notes
JOIN jobs ON jobs.note_id = notes.id
LEFT JOIN note_events ON note_events.job_id = jobs.id
WHERE notes.id = :note_id;
