-- Which jobs an attempt works on, in PostgreSQL. The row stays locked until the attempt has ended; other workers pass
-- over it and take the next. Not an UPDATE with a sub-select: that can be run again for a row that changed meanwhile.

-- name: claim_due_jobs
-- The jobs that have waited longest and that nobody else works on, with the attempts made so far, those left, and the
-- moment by which they are due: by the clock of the machine that PostgreSQL runs on when :now is null. It is when this
-- statement began, not the transaction, and does not change while it runs, so that the index is searched for it.
SELECT id, attempts, max_attempts - attempts, coalesce(:now, statement_timestamp())
FROM jobs
WHERE status IN ('pending', 'retry_wait') AND next_run_at <= coalesce(:now, statement_timestamp())
ORDER BY next_run_at, id
LIMIT :most
FOR UPDATE SKIP LOCKED;

-- name: claim_lost_job
-- A job whose attempt lost its transaction, as it stands now. Waits for whoever has it.
SELECT status, attempts
FROM jobs
WHERE id = :job_id
FOR UPDATE;

-- name: claim_removable_jobs
-- The jobs that have been finished longest, for retention to remove. Passes over one that is being requeued.
SELECT id, note_id, status
FROM jobs
WHERE status IN ('completed', 'failed', 'cancelled') AND finished_at <= :finished_before
ORDER BY finished_at, id
LIMIT :most
FOR UPDATE SKIP LOCKED;
