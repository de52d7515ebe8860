-- What tells an operator how the service is. One statement is one moment: its counts agree.

-- name: check_health
-- Whether the database answers. Reads the smallest table.
SELECT count(*) FROM past_outcomes;

-- name: count_jobs
-- How many jobs are in each state, and how many left an end again: removed by retention, or retried. They are counted by
-- client first, in the order of jobs_of_client: SQLite counts them without the table, and PostgreSQL does where it has
-- vacuumed. All jobs are counted, so it takes longer the more there are.
SELECT 'now', status, CAST(sum(jobs) AS bigint)
FROM (SELECT status, count(*) AS jobs FROM jobs GROUP BY client, status) AS of_each_client
GROUP BY status
UNION ALL
SELECT 'left', status, jobs FROM past_outcomes;

-- name: count_errors
-- How many failed attempts are on record, counted to a limit.
SELECT count(*) FROM (SELECT 1 FROM attempt_errors LIMIT :most) AS counted;

-- name: oldest_due
-- Since when the job that has been due for longest is due, as the claim judges it; null when none is.
SELECT min(next_run_at)
FROM jobs
WHERE status IN ('pending', 'retry_wait') AND next_run_at <= :now;
