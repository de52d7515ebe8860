-- The brackets around the work of server and worker, in SQLite.

-- name: begin
-- Takes the write lock at once, so that nothing that is read afterwards can change before the commit.
BEGIN IMMEDIATE;

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
ROLLBACK TO attempt;

-- name: release_savepoint
-- The attempt, done or undone, becomes part of the transaction.
RELEASE attempt;
