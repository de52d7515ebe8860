"""Runs: one table and a few named statements, which several workers run in a given order; the smallest service.

The driver makes a row's one tour. Nobody is killed here, and nothing is waited for: the statements of the workers come
in the order in which the defect shows.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from pathlib import Path

import apsw

from arrowproof.conformance.driver import Killed, Walked
from arrowproof.model.evidence import Process, Row, Side
from arrowproof.model.transitions import Transition

SCHEMA = """CREATE TABLE runs (
    id INTEGER PRIMARY KEY,
    state TEXT NOT NULL,
    attempts INTEGER NOT NULL DEFAULT 0,
    worker TEXT,
    finished_at TEXT,
    failed_at TEXT
) STRICT;
"""


def read_queries(sql: str) -> Mapping[str, str]:
    """The statements by the name that stands ahead of each."""
    parts = re.split(r"^-- name: (\w+)\n", sql, flags=re.MULTILINE)
    return dict(zip(parts[1::2], parts[2::2], strict=True))


class Worker:
    """Somebody with a connection of its own, and what it has read last."""

    def __init__(self, name: str, database: Path) -> None:
        self.connection = apsw.Connection(str(database))
        self.known: dict[str, object] = {"worker": name}

    def run(self, statement: str, run_id: object) -> None:
        """Run a statement, of the run that it has read last or, where it has read none, of the tour's."""
        parameters = {"id": run_id, "attempt": 0, **self.known}
        cursor = self.connection.cursor()
        for row in cursor.execute(statement, parameters):
            names = [name for name, _ in cursor.get_description()]
            self.known.update(zip(names, row, strict=True))


class RunsDriver:
    """Makes one tour, whose steps are lists such as ``one: look, two: look, one: reserve``."""

    def __init__(self, sql: str, steps: Sequence[str]) -> None:
        self._queries = read_queries(sql)
        self._steps = list(steps)
        self._database = Path()
        self._workers: dict[str, Worker] = {}

    def start(self, folder: Path) -> Path:
        self._database = folder / "runs.sqlite3"
        connection = apsw.Connection(str(self._database))
        connection.execute(SCHEMA)
        connection.close()
        return self._database

    def stop(self) -> None:
        for worker in self._workers.values():
            worker.connection.close()

    def begin(self, tour: Sequence[Transition]) -> None:
        assert len(tour) == len(self._steps)

    def walk(self, transition: Transition, key: Row | None) -> Walked:
        assert (transition.source is None) == (key is None)
        run_id = None if key is None else key[0][1]
        for deed in self._steps.pop(0).split(", "):
            name, query = deed.split(": ")
            worker = self._workers.setdefault(name, Worker(name, self._database))
            worker.run(self._queries[query], run_id)
            run_id = run_id or worker.known["id"]
        return Walked((("id", int(str(run_id))),), (Process("runs", 0, "running"),))

    def end(self, key: Row | None) -> None:
        assert not self._steps or key is not None

    def kill(self, transition: Transition, key: Row | None, side: Side) -> Killed:
        raise NotImplementedError

    def recover(self, transition: Transition, killed: Killed, side: Side) -> Walked:
        raise NotImplementedError
