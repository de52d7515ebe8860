"""Has huey work off jobs that each write one history row to SQLite.

Runs in the peers' environment: huey_worker.py FOLDER. For each line on standard input, a number of jobs, it enqueues
them, works them off, and prints how long that took from the end of the first job to that of the last, as JSON. The loop
is what a worker of huey's consumer does for each task, without its threads and pauses: dequeue and execute. huey
flushes each of its commits (fsync=True, WAL) and stores each result; the history row is written by the task, durably
too, on a connection that it keeps.
"""

from __future__ import annotations

import json
import sqlite3
import sys
import time
from pathlib import Path

from huey import SqliteHuey


def main() -> None:
    folder = Path(sys.argv[1])
    huey = SqliteHuey(filename=str(folder / "huey.db"), fsync=True, results=True)
    history = sqlite3.connect(folder / "history.db", isolation_level=None)
    history.execute("PRAGMA journal_mode = WAL")
    history.execute("PRAGMA synchronous = FULL")
    history.execute("CREATE TABLE history (id INTEGER PRIMARY KEY, created_at TEXT NOT NULL)")

    @huey.task()
    def work() -> bool:
        history.execute("INSERT INTO history (created_at) VALUES (strftime('%Y-%m-%dT%H:%M:%fZ', 'now'))")
        return True

    total = 0
    for line in sys.stdin:
        jobs = int(line)
        total += jobs
        # What enqueues is not timed, and need not be durable.
        huey.storage.conn.execute("PRAGMA synchronous = OFF")
        for _ in range(jobs):
            work()
        huey.storage.conn.execute("PRAGMA synchronous = FULL")
        ended = []
        for _ in range(jobs):
            huey.execute(huey.dequeue())
            ended.append(time.perf_counter())
        assert huey.dequeue() is None
        assert huey.result_count() == total
        assert history.execute("SELECT count(*) FROM history").fetchone() == (total,)
        print(json.dumps({"jobs": jobs - 1, "seconds": ended[-1] - ended[0]}), flush=True)


if __name__ == "__main__":
    main()
