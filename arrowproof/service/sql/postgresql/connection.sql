-- How a connection to PostgreSQL looks at a database and what it sets before any work.

-- name: find_service_table
-- The schema that new tables go to, null when none is there, and whether it has the table that marks it as one of the
-- notes service.
SELECT current_schema(), count(pg_class.oid)
FROM pg_catalog.pg_namespace
JOIN pg_catalog.pg_class ON pg_class.relnamespace = pg_namespace.oid
WHERE pg_namespace.nspname = current_schema() AND pg_class.relname = 'notes_service';

-- name: schema_version
-- The version of its tables.
SELECT schema_version FROM notes_service;

-- name: find_foreign_tables
-- What stands in the way of making the tables, by name.
SELECT pg_class.relname
FROM pg_catalog.pg_class
JOIN pg_catalog.pg_namespace ON pg_namespace.oid = pg_class.relnamespace
WHERE pg_namespace.nspname = current_schema()
  AND pg_class.relname IN ('notes', 'jobs', 'note_events', 'attempt_errors', 'past_outcomes', 'begun_attempts')
ORDER BY pg_class.relname;

-- name: lock_schema
-- Two servers that start at once make the tables once. The lock ends with the transaction.
SELECT pg_advisory_xact_lock(1315927141);

-- name: read_settings
-- What decides whether a commit of this connection is on the disk once it was reported, whether this server takes writes
-- at all, and how the database holds text.
SELECT current_setting('server_version'), current_setting('fsync'), current_setting('synchronous_commit'),
    current_setting('full_page_writes'), current_setting('transaction_read_only'), current_setting('server_encoding');

-- name: prepare_session
-- What every connection needs, whatever its role has by default. A commit that was reported has to be on the disk: where
-- synchronous_commit is off it is turned on, and other values are left alone, as are a statement_timeout and an
-- idle_in_transaction_session_timeout that somebody set. The server looks every second whether the client is still there:
-- a worker that was killed while its statement waits must not have it done after all. Answers last how many seconds a
-- statement may take.
SELECT set_config('TimeZone', 'UTC', false), set_config('DateStyle', 'ISO', false),
    set_config('client_connection_check_interval', '1s', false), set_config('lock_timeout', :lock_timeout, false),
    set_config('synchronous_commit', CASE current_setting('synchronous_commit')
        WHEN 'off' THEN 'on' ELSE current_setting('synchronous_commit')
    END, false),
    set_config('idle_in_transaction_session_timeout', CASE current_setting('idle_in_transaction_session_timeout')
        WHEN '0' THEN :idle_timeout ELSE current_setting('idle_in_transaction_session_timeout')
    END, false),
    extract(epoch FROM set_config('statement_timeout', CASE current_setting('statement_timeout')
        WHEN '0' THEN :statement_timeout ELSE current_setting('statement_timeout')
    END, false)::interval)::float8;

-- name: read_clock
-- The present moment, by the clock of the machine that PostgreSQL runs on. Not now(), which is when the transaction began.
SELECT clock_timestamp();

-- name: allow_silence
-- For a process that is held within a transaction: the server does not end it for that it says nothing.
SELECT set_config('idle_in_transaction_session_timeout', '0', true);

-- name: name_channel
-- The channel on which a worker listens for due jobs: one for each schema, since a database can have several.
SELECT 'arrowproof_notes_' || quote_ident(current_schema())::regnamespace::oid;

-- name: announce_due_job
-- Tells the workers, once the transaction commits, that a job has become due.
SELECT pg_notify('arrowproof_notes_' || quote_ident(current_schema())::regnamespace::oid, '');
