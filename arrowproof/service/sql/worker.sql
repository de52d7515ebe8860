-- What the worker reads and writes. Each UPDATE names the states that it may leave and the one that it enters.

-- name: count_attempt
-- No transition: the state stays, the count grows. It is written ahead of the work, and outlives its failure.
UPDATE jobs
SET attempts = attempts + 1
WHERE id = :job_id
  AND status IN ('pending', 'retry_wait')
  AND attempts < max_attempts;

-- name: insert_history
-- The work itself. No transition; job_id is the key and refuses a second row.
INSERT INTO note_events (job_id, attempt, created_at)
SELECT jobs.id, jobs.attempts, :now
FROM jobs
WHERE jobs.id = :job_id;

-- name: insert_error
-- Why this attempt failed. No transition.
INSERT INTO attempt_errors (job_id, attempt, error, created_at)
SELECT jobs.id, jobs.attempts, :error, :now
FROM jobs
WHERE jobs.id = :job_id;

-- name: complete_job
-- Transitions: pending -> completed, retry_wait -> completed. Commits together with the history row.
UPDATE jobs
SET status = 'completed', next_run_at = NULL, last_error = NULL, finished_at = :now
WHERE id = :job_id
  AND status IN ('pending', 'retry_wait');

-- name: retry_job
-- Transitions: pending -> retry_wait, retry_wait -> retry_wait. Only while attempts are left.
UPDATE jobs
SET status = 'retry_wait', next_run_at = :next_run_at, last_error = :last_error
WHERE id = :job_id
  AND status IN ('pending', 'retry_wait')
  AND attempts < max_attempts;

-- name: fail_job
-- Transitions: pending -> failed, retry_wait -> failed. Only when no attempt is left.
UPDATE jobs
SET status = 'failed', next_run_at = NULL, last_error = :last_error, finished_at = :now
WHERE id = :job_id
  AND status IN ('pending', 'retry_wait')
  AND attempts = max_attempts;

-- name: set_aside_job
-- Transitions: pending -> failed, retry_wait -> failed. For a job whose attempts kill their worker again and again.
UPDATE jobs
SET status = 'failed', next_run_at = NULL, last_error = :last_error, finished_at = :now
WHERE id = :job_id
  AND status IN ('pending', 'retry_wait');

-- name: read_attempts
-- How many attempts were made at a job, and how many it has left.
SELECT attempts, max_attempts - attempts
FROM jobs
WHERE id = :job_id;

-- name: find_waiting_job
-- Whether a job waits, as far as others can see; no row when it is finished or was removed.
SELECT 1
FROM jobs
WHERE id = :job_id
  AND status IN ('pending', 'retry_wait');

-- name: next_due
-- When the next job is due, of those that are due after a moment; null when there is none.
SELECT min(next_run_at)
FROM jobs
WHERE status IN ('pending', 'retry_wait') AND next_run_at > :after;
