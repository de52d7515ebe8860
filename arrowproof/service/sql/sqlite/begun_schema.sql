-- The file that stands beside a SQLite database and outlives a killed worker; see begun.sql. Its loss harms nothing.

-- name: create_begun_attempts
-- Which attempts began and have not ended.
CREATE TABLE IF NOT EXISTS begun_attempts (
    job_id INTEGER PRIMARY KEY,
    attempts INTEGER NOT NULL,
    crashes INTEGER NOT NULL
) STRICT;

-- name: mark_begun
-- Marks the file as ours, once its table stands: the number is the word "Begu" in ASCII.
PRAGMA application_id = 1113941877;
