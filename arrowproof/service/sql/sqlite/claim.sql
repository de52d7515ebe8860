-- Which jobs an attempt works on, in SQLite: whoever reads here holds the write lock, so no row needs a lock of its own.

-- name: claim_due_jobs
-- The jobs that have waited longest, with the attempts made so far, those left, and the moment by which they are due: by
-- the clock of this machine when :now is null. Read under the write lock, so that no other worker can take them as well.
SELECT id, attempts, max_attempts - attempts, coalesce(:now, strftime('%Y-%m-%dT%H:%M:%fZ', 'now'))
FROM jobs
WHERE status IN ('pending', 'retry_wait') AND next_run_at <= coalesce(:now, strftime('%Y-%m-%dT%H:%M:%fZ', 'now'))
ORDER BY next_run_at, id
LIMIT :most;

-- name: claim_lost_job
-- A job whose attempt lost its transaction, as it stands now.
SELECT status, attempts
FROM jobs
WHERE id = :job_id;

-- name: claim_removable_jobs
-- The jobs that have been finished longest, for retention to remove. The index is named, since SQLite would rather take
-- the one by state and sort all finished jobs, under the write lock.
SELECT id, note_id, status
FROM jobs INDEXED BY jobs_finished
WHERE (status = 'completed' OR status = 'failed' OR status = 'cancelled') AND finished_at <= :finished_before
ORDER BY finished_at, id
LIMIT :most;
