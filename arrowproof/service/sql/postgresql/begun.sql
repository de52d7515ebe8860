-- Which attempts began and have not ended. Written outside of the attempt's transaction, by whoever holds the job's lock,
-- so that it outlives a worker that is killed in the middle. Beside a SQLite database a file does what is done here.

-- name: record_begun
-- Answers how often an attempt at this job, with this many attempts made before, began and was not heard of again.
INSERT INTO begun_attempts (job_id, attempts, crashes)
VALUES (:job_id, :attempts, 0)
ON CONFLICT (job_id) DO UPDATE
SET attempts = excluded.attempts,
    crashes = CASE WHEN begun_attempts.attempts = excluded.attempts THEN begun_attempts.crashes + 1 ELSE 0 END
RETURNING crashes;

-- name: reuse_begun
-- The same for a job of which nothing is on record, in the place of an attempt that was committed: that has ended, and the
-- next one at its job has another number. Changes nothing when there is a record of the job, or none in that place.
UPDATE begun_attempts
SET job_id = :job_id, attempts = :attempts, crashes = 0
WHERE job_id = :ended_job_id AND attempts = :ended_attempts
  AND NOT EXISTS (
    SELECT 1 FROM begun_attempts AS other WHERE other.job_id = :job_id AND other.job_id <> :ended_job_id
  );

-- name: list_begun
-- What is on record, the oldest jobs first, for a look at what killed workers have left.
SELECT job_id, attempts
FROM begun_attempts
ORDER BY job_id
LIMIT :most;

-- name: clear_begun
-- The attempt has ended, one way or another. Not for a record that the next attempt has made meanwhile.
DELETE FROM begun_attempts
WHERE job_id = :job_id AND attempts = :attempts;
