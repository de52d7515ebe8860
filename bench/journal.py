"""What a journal costs: single-row updates per second with and without its triggers, on SQLite and on PostgreSQL.

.venv/bin/python bench/journal.py [--rounds N] [--updates N]

One connection changes the state of one row again and again, each time in a transaction of its own; rounds with and
without the journal follow one another. The share is of the medians.
"""

from __future__ import annotations

import argparse
import os
import statistics
import tempfile
import time
from collections.abc import Callable
from contextlib import ExitStack
from pathlib import Path

import apsw
import psycopg

from arrowproof.conformance.journal import Address, open_journal
from arrowproof.conformance.own_database import proof_database
from arrowproof.conformance.trial_server import TRIAL
from arrowproof.model.lifecycle import Binding

BINDING = Binding("jobs", ("id",), "status", watch=("attempts",))
TABLE = "CREATE TABLE jobs (id INTEGER PRIMARY KEY, status TEXT NOT NULL, attempts INTEGER NOT NULL)"
ROW = "INSERT INTO jobs VALUES (1, 'running', 0)"
UPDATES = [
    "UPDATE jobs SET status = 'waiting', attempts = attempts + 1 WHERE id = 1 AND status = 'running'",
    "UPDATE jobs SET status = 'running' WHERE id = 1 AND status = 'waiting'",
]
Execute = Callable[[str], object]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--updates", type=int, default=2000)
    options = parser.parse_args()
    print(f"{os.getloadavg()[0]:.1f} processes at work; updates per second, medians of {options.rounds} rounds")
    print(f"{'database':<28}{'bare':>10}{'journal':>10}{'cost':>8}")
    with ExitStack() as stack:
        folder = stack.enter_context(tempfile.TemporaryDirectory())
        url = stack.enter_context(proof_database(TRIAL))
        assert url is not None
        server = stack.enter_context(psycopg.connect(url, autocommit=True))
        for durable in (True, False):
            file = Path(folder) / f"{durable}.sqlite3"
            connection = apsw.Connection(str(file))
            connection.pragma("journal_mode", "WAL")
            connection.pragma("synchronous", "FULL" if durable else "OFF")
            _measure(f"SQLite{'' if durable else ', without syncs'}", file, connection.execute, options)
            server.execute(f"SET synchronous_commit TO {'on' if durable else 'off'}")
            _measure(f"PostgreSQL{'' if durable else ', without syncs'}", url, server.execute, options)
            server.execute("DROP TABLE jobs")
            connection.close()


def _measure(name: str, address: Address, execute: Execute, options: argparse.Namespace) -> None:
    execute(TABLE)
    execute(ROW)
    journal = open_journal(address, BINDING)
    rates: dict[bool, list[float]] = {False: [], True: []}
    for _ in range(options.rounds):
        for with_journal, so_far in rates.items():
            if with_journal:
                journal.install()
            so_far.append(_rate(execute, options.updates))
            if with_journal:
                assert journal.last_order() >= options.updates
                journal.remove()
    bare, kept = (statistics.median(of) for of in rates.values())
    print(f"{name:<28}{bare:>10.0f}{kept:>10.0f}{1 - kept / bare:>8.0%}")


def _rate(execute: Execute, updates: int) -> float:
    start = time.perf_counter()
    for number in range(updates):
        execute(UPDATES[number % 2])
    return updates / (time.perf_counter() - start)


if __name__ == "__main__":
    main()
