-- How a connection to PostgreSQL looks at a database and what it sets before any work.

-- name: find_service_table
-- Whether the schema that new tables go to has the table that marks it as one of the notes service.
SELECT count(*)
FROM pg_catalog.pg_class
WHERE relnamespace = current_schema()::regnamespace AND relname = 'notes_service';

-- name: schema_version
-- The version of its tables.
SELECT schema_version FROM notes_service;

-- name: find_foreign_tables
-- What stands in the way of making the tables, by name.
SELECT relname
FROM pg_catalog.pg_class
WHERE relnamespace = current_schema()::regnamespace
  AND relname IN ('notes', 'jobs', 'note_events', 'attempt_errors', 'removed_jobs', 'begun_attempts')
ORDER BY relname;

-- name: lock_schema
-- Two servers that start at once make the tables once. The lock ends with the transaction.
SELECT pg_advisory_xact_lock(1315927141);

-- name: read_settings
-- What decides whether a commit that was reported is on the disk, and whether this server takes writes at all.
SELECT current_setting('server_version'), current_setting('fsync'), current_setting('synchronous_commit'),
    current_setting('full_page_writes'), current_setting('transaction_read_only');

-- name: read_clock
-- The present moment, by the clock of the machine that PostgreSQL runs on. Not now(), which is when the transaction began.
SELECT clock_timestamp();
