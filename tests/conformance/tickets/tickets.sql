-- name: schema
CREATE TABLE tickets (
    id TEXT PRIMARY KEY NOT NULL,
    state TEXT NOT NULL
);

-- name: sell
INSERT INTO tickets (id, state) VALUES (:id, 'open');

-- name: use
UPDATE tickets
   SET state = 'used'
 WHERE id = :id
   AND state = 'open';

-- name: cancel
UPDATE tickets
   SET state = 'void'
 WHERE id = :id
   AND state = 'open';
