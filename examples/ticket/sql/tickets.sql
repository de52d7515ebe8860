-- name: schema
CREATE TABLE IF NOT EXISTS tickets (
    id INTEGER PRIMARY KEY,
    status TEXT NOT NULL CHECK (status IN ('open', 'closed'))
) STRICT;

-- name: report
-- Transition: created -> open.
INSERT INTO tickets (status) VALUES ('open') RETURNING id;

-- name: close
-- Transition: open -> closed.
UPDATE tickets SET status = 'closed' WHERE id = :id AND status = 'open';

-- name: delete
-- Transition: open -> removed.
DELETE FROM tickets WHERE id = :id AND status = 'open';
