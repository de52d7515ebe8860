"""A work queue in one table of SQLite, in which a worker holds its task by a lease.

    python lease_service.py DATABASE NAME

A worker beats while it works. When its lease has run out, another takes the task over, or a sweep gives it back; each
claim raises the task's token, and who comes with an old one is told that the task is lost.

Each line of the standard input is something to do, TIME and a command, and each is answered by a line. The time is in
seconds, and is never asked of a clock:

    add QUEUE ATTEMPTS PAYLOAD    claim QUEUE    beat    finish    fail    sweep QUEUE    revive ID ATTEMPTS    purge ID

When the file that LEASE_HOLD names says "before commit" or "after commit", the next change says "held" there and waits
to be killed: all that a service needs so that a proof can kill it at the right moment.
"""

from __future__ import annotations

import os
import signal
import sys
from pathlib import Path

import apsw

LEASE_SECONDS = 30

SCHEMA = """
CREATE TABLE IF NOT EXISTS tasks (
    id INTEGER PRIMARY KEY,
    queue TEXT NOT NULL,
    payload TEXT NOT NULL,
    status TEXT NOT NULL CHECK (status IN ('queued', 'running', 'done', 'dead')),
    attempts INTEGER NOT NULL DEFAULT 0,
    max_attempts INTEGER NOT NULL,
    token INTEGER NOT NULL DEFAULT 0,
    owner TEXT,
    leased_until INTEGER,
    CHECK (attempts <= max_attempts),
    CHECK ((status = 'running') = (owner IS NOT NULL AND leased_until IS NOT NULL))
) STRICT
"""
ADD = """
INSERT INTO tasks (queue, max_attempts, payload, status) VALUES (:queue, :max_attempts, :payload, 'queued')
RETURNING id
"""
RAN_OUT = "status = 'running' AND leased_until <= :now"
# The oldest task that nobody has; when there is none, one whose worker has been silent for too long.
FIND = f"""
SELECT id, token, status FROM tasks
WHERE queue = :queue AND (status = 'queued' OR {RAN_OUT} AND attempts < max_attempts)
ORDER BY status, id
LIMIT 1
"""
TAKE = "status = 'running', owner = :owner, leased_until = :until, attempts = attempts + 1, token = token + 1"
CLAIM = f"UPDATE tasks SET {TAKE} WHERE id = :id AND token = :token AND status = 'queued' RETURNING id, token"
TAKE_OVER = f"UPDATE tasks SET {TAKE} WHERE id = :id AND token = :token AND {RAN_OUT} RETURNING id, token"
HELD = "id = :id AND token = :token AND status = 'running'"
FREE = "owner = NULL, leased_until = NULL"
AGAIN = "status = CASE WHEN attempts < max_attempts THEN 'queued' ELSE 'dead' END"
BEAT = f"UPDATE tasks SET leased_until = :until WHERE {HELD} RETURNING 'kept'"
FINISH = f"UPDATE tasks SET status = 'done', {FREE} WHERE {HELD} RETURNING status"
FAIL = f"UPDATE tasks SET {AGAIN}, {FREE} WHERE {HELD} RETURNING status"
SWEEP = f"UPDATE tasks SET {AGAIN}, {FREE} WHERE queue = :queue AND {RAN_OUT} RETURNING id"
REVIVE = """
UPDATE tasks SET status = 'queued', attempts = 0, max_attempts = :max_attempts
WHERE id = :id AND status = 'dead'
RETURNING status
"""
PURGE = "DELETE FROM tasks WHERE id = :id AND status = 'done' RETURNING 'purged'"


class Agent:
    """Whoever works on the queue: a worker with the lease of one task at most, or a desk that has none."""

    def __init__(self, database: str, name: str) -> None:
        self.connection = apsw.Connection(database)
        self.connection.set_busy_timeout(5000)
        self.connection.execute(SCHEMA)
        self.name = name
        self.lease = {"id": 0, "token": 0}

    def answer(self, now: int, command: str, *words: str) -> str:
        """Do what a line says, at the time that it says."""
        until = now + LEASE_SECONDS
        match command, words:
            case "add", [queue, attempts, payload]:
                return self.word(ADD, {"queue": queue, "max_attempts": int(attempts), "payload": payload})
            case "claim", [queue]:
                return self.claim({"queue": queue, "owner": self.name, "now": now, "until": until})
            case "beat", []:
                return self.word(BEAT, {**self.lease, "until": until})
            case "finish", []:
                return self.word(FINISH, self.lease)
            case "fail", []:
                return self.word(FAIL, self.lease)
            case "sweep", [queue]:
                return f"swept {len(self.change(SWEEP, {'queue': queue, 'now': now}))}"
            case "revive", [task, attempts]:
                return self.word(REVIVE, {"id": task, "max_attempts": int(attempts)})
            case "purge", [task]:
                return self.word(PURGE, {"id": task})
        return f"what is {command}?"

    def claim(self, wanted: dict[str, str | int]) -> str:
        """Find a task and take it, if it is still as it was found; else look again."""
        while found := self.connection.execute(FIND, wanted).fetchall():
            ((task, token, status),) = found
            taken = self.change(CLAIM if status == "queued" else TAKE_OVER, {**wanted, "id": task, "token": token})
            if taken:
                self.lease = dict(zip(("id", "token"), taken[0], strict=True))
                return f"claimed {task}"
        return "nothing"

    def word(self, statement: str, parameters: dict[str, str | int]) -> str:
        """What a change gives back, or that there was nothing to be changed."""
        changed = self.change(statement, parameters)
        return str(changed[0][0]) if changed else "lost"

    def change(self, statement: str, parameters: dict[str, str | int]) -> list[tuple[int | str, ...]]:
        """Run one statement in a transaction of its own."""
        self.connection.execute("BEGIN IMMEDIATE")
        changed = self.connection.execute(statement, parameters).fetchall()
        hold("before commit")
        self.connection.execute("COMMIT")
        hold("after commit")
        return changed


def hold(side: str) -> None:
    """Wait to be killed, when this side of the commit was asked for."""
    file = Path(os.environ.get("LEASE_HOLD", os.devnull))
    if file.exists() and file.read_text() == side:
        print("held", flush=True)
        signal.pause()


def main(database: str, name: str) -> None:
    """Answer every line, until there is none."""
    agent = Agent(database, name)
    print("ready", flush=True)
    for line in sys.stdin:
        now, command, *words = line.split()
        print(agent.answer(int(now), command, *words), flush=True)


if __name__ == "__main__":
    main(*sys.argv[1:])
