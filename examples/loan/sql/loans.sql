-- name: schema
CREATE TABLE IF NOT EXISTS loans (
    id INTEGER PRIMARY KEY,
    status TEXT NOT NULL
) STRICT;

-- name: lend
INSERT INTO loans (status) VALUES (:status) RETURNING id;

-- name: move
-- As many ORMs write it: from any status to any. The guard of the schema, guard.sql, is what knows the lifecycle.
UPDATE loans SET status = :status WHERE id = :id;
