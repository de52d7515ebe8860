"""Jobs per second: real workers of the service, and other queues, each in a process that stays over all rounds."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import closing, contextmanager
from pathlib import Path

from service_places import Places, Rate, add_jobs, made

from arrowproof.service.address import Address

ROOT = Path(__file__).resolve().parent.parent
SLOW_SYNC = Path(__file__).resolve().parent / "slow_sync.py"
PEERS = Path(__file__).resolve().parent / "peers"
ENVIRONMENT = {**os.environ, "PYTHONPATH": str(ROOT)}


@contextmanager
def resident_worker(db: str, batch: int = 1, sync_seconds: float = 0.0) -> Iterator[Callable[[], Mapping[str, object]]]:
    """A worker process, and what gives the next line that it tells; it is woken, since it polls every ten minutes.

    With ``sync_seconds`` each sync takes it so long: see :mod:`slow_sync`.
    """
    slowed = [str(SLOW_SYNC), str(sync_seconds)] if sync_seconds else ["-m"]
    worker = ["arrowproof.service.worker", "--db", db, "--forever", "--batch", str(batch)]
    command = [sys.executable, *slowed, *worker]
    process = subprocess.Popen(
        [*command, "--poll-interval", "600"], stderr=subprocess.PIPE, stdout=subprocess.DEVNULL, env=ENVIRONMENT
    )
    assert process.stderr is not None
    told = process.stderr
    try:
        yield lambda: json.loads(told.readline())
    finally:
        process.send_signal(signal.SIGTERM)
        told.read()
        if process.wait():
            raise subprocess.CalledProcessError(process.returncode, command)


@contextmanager
def worker(places: Places, batch: int = 1, db: str | None = None, sync_seconds: float = 0.0) -> Iterator[Rate]:
    """Jobs per second of one worker, from the moment that its first transaction is told to that of its last."""
    db = db or made(places)
    address = Address(db)
    with (
        closing(address.open(rings=True)) as database,
        resident_worker(db, batch, sync_seconds) as next_line,
    ):
        while "started" not in next_line():
            pass

        def rate(jobs: int) -> float:
            add_jobs(database, jobs)
            told: list[float] = []
            while len(told) < jobs:
                line = next_line()
                told.append(time.perf_counter())
                assert line.get("outcome") == "completed", line
            return (jobs - batch) / (told[-1] - told[batch - 1])

        yield rate


@contextmanager
def peer(python: Path, script: str, place: str) -> Iterator[Rate]:
    """Jobs per second of another queue, which times itself in a process of its own."""
    command = [str(python), str(PEERS / script), place]
    process = subprocess.Popen(
        command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )
    assert process.stdin is not None
    assert process.stdout is not None
    asked, told = process.stdin, process.stdout

    def rate(jobs: int) -> float:
        asked.write(f"{jobs}\n")
        asked.flush()
        said = told.readline()
        if not said:
            sys.exit(f"{script} failed:\n{process.communicate()[1]}")
        figures = json.loads(said)
        return float(figures["jobs"] / figures["seconds"])

    try:
        yield rate
    finally:
        process.communicate()
