-- What lists and counts the jobs of a client. All of it goes by jobs_of_client, and reads no more of its jobs than are
-- asked for, and none of others.

-- name: list_jobs
-- The newest jobs of a client before one of them, whatever their state, with the beginning of their notes: the newest of
-- the newest in each state.
WITH newest AS (
    SELECT id FROM (
        SELECT id FROM jobs WHERE client = :client AND status = 'pending' AND id < :before
        ORDER BY id DESC LIMIT :most
    ) AS listed
    UNION ALL
    SELECT id FROM (
        SELECT id FROM jobs WHERE client = :client AND status = 'retry_wait' AND id < :before
        ORDER BY id DESC LIMIT :most
    ) AS listed
    UNION ALL
    SELECT id FROM (
        SELECT id FROM jobs WHERE client = :client AND status = 'completed' AND id < :before
        ORDER BY id DESC LIMIT :most
    ) AS listed
    UNION ALL
    SELECT id FROM (
        SELECT id FROM jobs WHERE client = :client AND status = 'failed' AND id < :before
        ORDER BY id DESC LIMIT :most
    ) AS listed
    UNION ALL
    SELECT id FROM (
        SELECT id FROM jobs WHERE client = :client AND status = 'cancelled' AND id < :before
        ORDER BY id DESC LIMIT :most
    ) AS listed
)
SELECT jobs.id, jobs.note_id, jobs.status, jobs.attempts, jobs.max_attempts, jobs.next_run_at, jobs.last_error,
    jobs.finished_at, substr(notes.text, 1, 200)
FROM newest
JOIN jobs ON jobs.id = newest.id
JOIN notes ON notes.id = jobs.note_id
ORDER BY jobs.id DESC
LIMIT :most;

-- name: list_jobs_in_state
-- Those in one state.
SELECT jobs.id, jobs.note_id, jobs.status, jobs.attempts, jobs.max_attempts, jobs.next_run_at, jobs.last_error,
    jobs.finished_at, substr(notes.text, 1, 200)
FROM jobs
JOIN notes ON notes.id = jobs.note_id
WHERE jobs.client = :client AND jobs.status = :state AND jobs.id < :before
ORDER BY jobs.id DESC
LIMIT :most;

-- name: count_client_jobs
-- How many jobs a client has in each state, counted to a limit.
SELECT 'pending', count(*) FROM (
    SELECT 1 FROM jobs WHERE client = :client AND status = 'pending' LIMIT :most
) AS counted
UNION ALL
SELECT 'retry_wait', count(*) FROM (
    SELECT 1 FROM jobs WHERE client = :client AND status = 'retry_wait' LIMIT :most
) AS counted
UNION ALL
SELECT 'completed', count(*) FROM (
    SELECT 1 FROM jobs WHERE client = :client AND status = 'completed' LIMIT :most
) AS counted
UNION ALL
SELECT 'failed', count(*) FROM (
    SELECT 1 FROM jobs WHERE client = :client AND status = 'failed' LIMIT :most
) AS counted
UNION ALL
SELECT 'cancelled', count(*) FROM (
    SELECT 1 FROM jobs WHERE client = :client AND status = 'cancelled' LIMIT :most
) AS counted;
