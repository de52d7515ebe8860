-- What retention removes, once it has claimed finished jobs (claim_removable_jobs) and holds them locked. A job goes with
-- its note and all that was written of both, in one transaction, so that an idempotency key lives as long as its note.

-- name: remove_errors
-- Why the attempts at a job failed. No transition.
DELETE FROM attempt_errors
WHERE job_id = :job_id;

-- name: remove_history
-- The history of a job. No transition.
DELETE FROM note_events
WHERE job_id = :job_id;

-- name: remove_job
-- Transitions: completed -> removed, failed -> removed, cancelled -> removed. Judges once more what the claim has found.
DELETE FROM jobs
WHERE id = :job_id
  AND status IN ('completed', 'failed', 'cancelled')
  AND finished_at <= :finished_before;

-- name: remove_note
-- The note of a removed job, and the idempotency key with it.
DELETE FROM notes
WHERE id = :note_id;

-- name: count_past_outcome
-- How many jobs came to an end and left it again, by removal or by a retry, on top of those before: a count of outcomes
-- never goes down.
INSERT INTO past_outcomes (status, jobs)
VALUES (:status, :jobs)
ON CONFLICT (status) DO UPDATE
SET jobs = past_outcomes.jobs + excluded.jobs;
