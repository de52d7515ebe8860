-- What tells an operator how the service is. One statement is one moment: its counts agree.

-- name: check_health
-- Whether the database answers. Reads the smallest table.
SELECT count(*) FROM past_outcomes;

-- name: count_jobs
-- How many jobs are in each state, and how many left an end again: removed by retention, or retried. The states are
-- named, so that an index of each kind serves and no table is read.
SELECT 'now', status, count(*) FROM jobs WHERE status IN ('pending', 'retry_wait') GROUP BY status
UNION ALL
SELECT 'now', status, count(*)
FROM jobs
WHERE status = 'completed' OR status = 'failed' OR status = 'cancelled'
GROUP BY status
UNION ALL
SELECT 'left', status, jobs FROM past_outcomes;

-- name: count_errors
-- How many failed attempts are on record.
SELECT count(*) FROM attempt_errors;

-- name: oldest_waiting
-- Since when or from when the job that comes first is due; null when none waits.
SELECT min(next_run_at)
FROM jobs
WHERE status IN ('pending', 'retry_wait');
