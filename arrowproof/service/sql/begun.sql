-- Which attempts began and have not ended. Written outside of the attempt's transaction, by whoever holds the job's lock,
-- so that it outlives a worker that is killed in the middle; kept where a write costs no flush to the disk.

-- name: record_begun
-- Answers how often an attempt at this job, with this many attempts made before, began and was not heard of again.
INSERT INTO begun_attempts (job_id, attempts, crashes)
VALUES (:job_id, :attempts, 0)
ON CONFLICT (job_id) DO UPDATE
SET attempts = excluded.attempts,
    crashes = CASE WHEN begun_attempts.attempts = excluded.attempts THEN begun_attempts.crashes + 1 ELSE 0 END
RETURNING crashes;

-- name: clear_begun
-- The attempt has ended, one way or another. Not for a record that the next attempt has made meanwhile.
DELETE FROM begun_attempts
WHERE job_id = :job_id AND attempts = :attempts;
