-- The brackets around the work of server and worker, in PostgreSQL.

-- name: begin
-- Rows are locked one by one, as they are claimed. READ COMMITTED, so that a statement that waited for a lock judges the
-- row by what it is then.
BEGIN ISOLATION LEVEL READ COMMITTED READ WRITE;

-- name: commit
-- Makes the work of the transaction durable, all of it.
COMMIT;

-- name: rollback
-- Drops the work of the transaction, all of it.
ROLLBACK;

-- name: savepoint
-- From here on an attempt can be undone without losing its count.
SAVEPOINT attempt;

-- name: rollback_to_savepoint
-- Undoes the attempt and keeps its count.
ROLLBACK TO SAVEPOINT attempt;

-- name: release_savepoint
-- The attempt, done or undone, becomes part of the transaction.
RELEASE SAVEPOINT attempt;
