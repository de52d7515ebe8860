-- What lists jobs. The joins are written CROSS JOIN with a condition, which SQLite takes as an order: it would otherwise
-- read every note of the client to find the newest jobs. So a list stops as soon as it is full; of a client that has few
-- jobs among many of others, all that can be in it are read.

-- name: list_jobs
-- The newest jobs of a client before one of them, whatever their state, with the beginning of their notes.
SELECT jobs.id, jobs.note_id, jobs.status, jobs.attempts, jobs.max_attempts, jobs.next_run_at, jobs.last_error,
    jobs.finished_at, substr(notes.text, 1, 200)
FROM jobs
CROSS JOIN notes
WHERE notes.id = jobs.note_id AND notes.client = :client AND jobs.id < :before
ORDER BY jobs.id DESC
LIMIT :most;

-- name: list_waiting_jobs
-- Those in one of the waiting states. "+ 0" keeps the order of ids from being walked, in which every finished job stands:
-- all waiting ones are read by jobs_waiting, and sorted.
SELECT jobs.id, jobs.note_id, jobs.status, jobs.attempts, jobs.max_attempts, jobs.next_run_at, jobs.last_error,
    jobs.finished_at, substr(notes.text, 1, 200)
FROM jobs
CROSS JOIN notes
WHERE notes.id = jobs.note_id AND notes.client = :client AND jobs.id + 0 < :before
  AND jobs.status = :state AND jobs.status IN ('pending', 'retry_wait')
ORDER BY jobs.id + 0 DESC
LIMIT :most;

-- name: list_finished_jobs
-- Those in one of the states that are an end. They are named, so that the index jobs_ended serves.
SELECT jobs.id, jobs.note_id, jobs.status, jobs.attempts, jobs.max_attempts, jobs.next_run_at, jobs.last_error,
    jobs.finished_at, substr(notes.text, 1, 200)
FROM jobs
CROSS JOIN notes
WHERE notes.id = jobs.note_id AND notes.client = :client AND jobs.id < :before
  AND jobs.status = :state AND (jobs.status = 'completed' OR jobs.status = 'failed' OR jobs.status = 'cancelled')
ORDER BY jobs.id DESC
LIMIT :most;

-- name: count_client_jobs
-- How many jobs a client has in each state, counted to a limit. The limit bounds what is read of a client's own jobs: one
-- that has fewer has all jobs of the state read, whoever's they are. The states are literals, so that an index serves each.
SELECT 'pending', count(*) FROM (
    SELECT 1 FROM jobs CROSS JOIN notes
    WHERE notes.id = jobs.note_id AND notes.client = :client
      AND jobs.status = 'pending' AND jobs.status IN ('pending', 'retry_wait')
    LIMIT :most
) AS counted
UNION ALL
SELECT 'retry_wait', count(*) FROM (
    SELECT 1 FROM jobs CROSS JOIN notes
    WHERE notes.id = jobs.note_id AND notes.client = :client
      AND jobs.status = 'retry_wait' AND jobs.status IN ('pending', 'retry_wait')
    LIMIT :most
) AS counted
UNION ALL
SELECT 'completed', count(*) FROM (
    SELECT 1 FROM jobs CROSS JOIN notes
    WHERE notes.id = jobs.note_id AND notes.client = :client
      AND jobs.status = 'completed'
    LIMIT :most
) AS counted
UNION ALL
SELECT 'failed', count(*) FROM (
    SELECT 1 FROM jobs CROSS JOIN notes
    WHERE notes.id = jobs.note_id AND notes.client = :client
      AND jobs.status = 'failed'
    LIMIT :most
) AS counted
UNION ALL
SELECT 'cancelled', count(*) FROM (
    SELECT 1 FROM jobs CROSS JOIN notes
    WHERE notes.id = jobs.note_id AND notes.client = :client
      AND jobs.status = 'cancelled'
    LIMIT :most
) AS counted;
