"""Has procrastinate work off jobs that each write one history row to PostgreSQL.

Runs in the peers' environment: procrastinate_worker.py URL. For each line on standard input, a number of jobs, it
defers them, works them off, and prints how long that took from the start of the first task to that of the last, as
JSON. One worker, one job at a time, its own settings otherwise; finished jobs stay, as they do by default. The history
row is written by a synchronous task and committed, on a connection that the task keeps.
"""

from __future__ import annotations

import json
import sys
import time

import psycopg
from procrastinate import App, PsycopgConnector

started: list[float] = []


def main() -> None:
    url = sys.argv[1]
    app = App(connector=PsycopgConnector(conninfo=url))
    history = psycopg.connect(url, autocommit=True)
    history.execute(
        "CREATE TABLE history (id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY, created_at timestamptz NOT NULL)"
    )

    @app.task(name="work")
    def work() -> None:
        started.append(time.perf_counter())
        history.execute("INSERT INTO history (created_at) VALUES (clock_timestamp())")

    with app.open():
        app.schema_manager.apply_schema()
    total = 0
    for line in sys.stdin:
        jobs = int(line)
        total += jobs
        with app.open():
            work.batch_defer(*({} for _ in range(jobs)))
        started.clear()
        app.run_worker(concurrency=1, wait=False, install_signal_handlers=False)
        for query in ("history", "procrastinate_jobs WHERE status = 'succeeded'"):
            assert history.execute(f"SELECT count(*) FROM {query}").fetchone() == (total,)
        print(json.dumps({"jobs": jobs - 1, "seconds": started[-1] - started[0]}), flush=True)


if __name__ == "__main__":
    main()
