"""The processes of the bundled notes service on one database: servers, workers and the removal of finished jobs.

A job's attempts are fixed when it is created, so there is one server for each ``--max-attempts`` that a tour needs. A
server takes long to start, so some are started ahead of the tour that needs them: on another core, while other tours go
on. A process that is to be killed is told by ``NOTES_HOLD`` where to wait for that.
"""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from arrowproof.conformance.driver import DriverError
from arrowproof.conformance.processes import ProcessGroup, RunningProcess
from arrowproof.model.evidence import Process, Side

if TYPE_CHECKING:
    from arrowproof.conformance.notes_api import NotesApi

USUAL_ATTEMPTS = 3

_PROGRAM = [sys.executable, "-P", "-m"]  # -P: no module of the folder that the proof is run in is taken for another
_PACKAGE_FOLDER = Path(__file__).resolve().parents[2]
_POINTS = {
    ("server", Side.BEFORE): "after-job",
    ("worker", Side.BEFORE): "after-state",
    ("retention", Side.BEFORE): "after-state",
    ("server", Side.AFTER): "after-commit",
    ("worker", Side.AFTER): "after-commit",
    ("retention", Side.AFTER): "after-commit",
}
_ATTEMPTS_AHEAD = (1, 2)
_HELD_AHEAD = 4
"""Servers that are killed on each side of a commit: for the POST of a note, a retry, and two cancels."""
_MOST_WAITING = 2


@dataclass(frozen=True)
class Hold:
    """A process that waits at a point of its work once it comes there, and then makes the file ``held``."""

    process: RunningProcess
    point: str
    held: Path

    def kill(self) -> Process:
        """Kill it at its point, and give what it was."""
        self.process.await_file(self.held)
        self.process.kill()
        return self.process.record()


class NotesService:
    """The service on a new database in a folder. Methods raise DriverError when a process does not do its part."""

    def __init__(self, folder: Path) -> None:
        self.database = folder / "notes.sqlite3"
        self._processes = ProcessGroup(folder)
        self._servers: dict[int, RunningProcess] = {}
        self._apis: dict[int, NotesApi] = {}
        self._held_servers: dict[Side, list[Hold]] = {side: [] for side in Side}
        self._held_ahead = dict.fromkeys(Side, 0)
        self._holds = 0

    def start(self) -> None:
        """Start a server, which makes the database."""
        self._servers[USUAL_ATTEMPTS] = self._spawn_server(USUAL_ATTEMPTS)
        self.api()

    def stop(self) -> None:
        """End every process."""
        for api in self._apis.values():
            api.close()
        self._processes.stop()

    def start_ahead(self) -> None:
        """Start one server that a later tour will need, and do not wait for it."""
        for attempts in _ATTEMPTS_AHEAD:
            if attempts not in self._servers:
                self._servers[attempts] = self._spawn_server(attempts)
                return
        for side, waiting in self._held_servers.items():
            if self._held_ahead[side] < _HELD_AHEAD and len(waiting) < _MOST_WAITING:
                self._held_ahead[side] += 1
                waiting.append(self.hold_server(side))
                return

    def api(self, max_attempts: int = USUAL_ATTEMPTS) -> NotesApi:
        """A client of a ready server whose jobs have so many attempts, started if there is none."""
        if max_attempts not in self._apis:
            if max_attempts not in self._servers:
                self._servers[max_attempts] = self._spawn_server(max_attempts)
            self._apis[max_attempts] = _client(_url(self._servers[max_attempts]))
        return self._apis[max_attempts]

    def server(self, max_attempts: int = USUAL_ATTEMPTS) -> Process:
        """The server of :meth:`api`, as evidence holds it."""
        return self._servers[max_attempts].record()

    @contextmanager
    def restarted(self, max_attempts: int) -> Iterator[tuple[NotesApi, RunningProcess]]:
        """A server that starts now and ends afterwards, and a client of it."""
        server = self._spawn_server(max_attempts)
        with _client(_url(server)) as api:
            yield api, server
        server.terminate()

    def take_held_server(self, side: Side) -> tuple[NotesApi, Hold]:
        """A server that will wait at its point on this side of the next commit, and a client of it."""
        waiting = self._held_servers[side]
        hold = waiting.pop(0) if waiting else self.hold_server(side)
        return _client(_url(hold.process)), hold

    def hold_server(self, side: Side) -> Hold:
        """Start a server that will wait on this side of its first commit."""
        return self._hold("server", _POINTS["server", side], _server_options(USUAL_ATTEMPTS))

    def hold(self, role: str, at: Side | str, *options: str) -> Hold:
        """Start a worker or a retention that will wait at a point, or on one side of its commit."""
        return self._hold(role, _POINTS[role, at] if isinstance(at, Side) else at, options)

    def run(self, role: str, *options: str) -> tuple[Process, object]:
        """Run a worker or a retention to its end; give it and what its last line says (the text if that is no JSON)."""
        process = self._start(role, options)
        lines = process.finish().splitlines()
        return process.record(), _read(lines[-1]) if lines else None

    def _spawn_server(self, max_attempts: int) -> RunningProcess:
        return self._start("server", _server_options(max_attempts))

    def _hold(self, role: str, point: str, options: Sequence[str]) -> Hold:
        self._holds += 1
        folder = self._processes.folder / f"hold-{self._holds}"
        folder.mkdir()
        process = self._start(role, options, {"NOTES_HOLD": f"{point}:{folder}"})
        return Hold(process, point, folder / f"{point}.held")

    def _start(self, role: str, options: Sequence[str], environment: Mapping[str, str] | None = None) -> RunningProcess:
        """Start a process of the service that stands beside this very module, whatever else is installed."""
        path = os.pathsep.join(filter(None, [str(_PACKAGE_FOLDER), os.environ.get("PYTHONPATH", "")]))
        command = [*_PROGRAM, f"arrowproof.service.{role}", "--db", str(self.database), *options]
        return self._processes.start(role, command, {"PYTHONPATH": path, **(environment or {})})


def _server_options(max_attempts: int) -> list[str]:
    return ["--port", "0", "--max-attempts", str(max_attempts)]


def _read(line: str) -> object:
    try:
        return json.loads(line)
    except ValueError:
        return line[:200]


def _client(url: str) -> NotesApi:
    # Imported while the first server starts: httpx takes half as long as that.
    from arrowproof.conformance.notes_api import NotesApi

    return NotesApi(url)


def _url(server: RunningProcess) -> str:
    """Where a server listens, once it says so."""
    line = server.read_line()
    try:
        return str(json.loads(line)["ready"])
    except (ValueError, KeyError, TypeError) as error:
        raise DriverError(f"The server's ready line has no URL: {line[:200]}") from error
