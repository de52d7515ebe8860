-- How a connection to SQLite looks at a database and what it sets before any work.

-- name: application_id
-- Whose file this is; 0 when nobody marked it.
PRAGMA application_id;

-- name: user_version
-- The version of its schema.
PRAGMA user_version;

-- name: page_size
-- Of a new file: half of what is usual. An attempt changes little on each of five pages, and a commit writes them whole;
-- the longest idempotency key still fits into its index. A file that holds something keeps the size that it has.
PRAGMA page_size = 2048;

-- name: count_schema_objects
-- 0 in a database in which nothing was ever created.
SELECT count(*) FROM sqlite_schema;

-- name: wal
-- Readers and the writer do not wait for each other. Answers with the journal mode that now holds.
PRAGMA journal_mode = WAL;

-- name: truncate
-- The rollback journal for a SQLite whose WAL can lose a commit. Answers with the journal mode that now holds.
PRAGMA journal_mode = TRUNCATE;

-- name: synchronous
-- A commit that was reported is on the disk.
PRAGMA synchronous = FULL;

-- name: foreign_keys
-- A job without its note, and a history row without its job, are refused.
PRAGMA foreign_keys = ON;

-- name: distrust_schema
-- Triggers and views that someone added may call harmless functions only.
PRAGMA trusted_schema = OFF;

-- name: read_clock
-- The present moment, by the clock of the machine that SQLite runs on.
SELECT strftime('%Y-%m-%dT%H:%M:%fZ', 'now');
