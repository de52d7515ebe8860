"""The processes of the bundled notes service on one database: servers, workers and the removal of finished jobs.

Each is forked when it is wanted, by a process that has loaded the code of them all and has done nothing else
(:mod:`arrowproof.conformance.fork_server`). So what restarts the service after a kill is a process that is started
then, and knows of the kill what the database says.

A job's attempts are fixed when it is created, so there is one server for each ``--max-attempts`` that a tour needs.
Those are started ahead of the tour that needs them: on another core, while other tours go on. A process that is to be
killed is told by ``NOTES_HOLD`` where to wait for that. The server that is killed is the one that has served so far,
and the one that is started after that serves from then on: the restart is held to all that the proof still asks.
"""

from __future__ import annotations

import json
import os
import threading
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from arrowproof.conformance.driver import DriverError, Killed
from arrowproof.conformance.own_database import split_password
from arrowproof.conformance.processes import ProcessGroup, RunningProcess
from arrowproof.model.evidence import Moment, Process, Row, Side
from arrowproof.model.record import record

if TYPE_CHECKING:
    from arrowproof.conformance.notes_api import NotesApi

USUAL_ATTEMPTS = 3
"""What a server gives a job that is not told otherwise."""
PACKAGE_FOLDER = Path(__file__).resolve().parents[2]
"""The folder that holds the package which this very module belongs to, whatever else is installed."""

_LAST_POINTS = {"server": "after-job", "worker": "after-state", "retention": "after-state"}
"""Of each program the last point ahead of its commit."""
_OTHER_SIDE = {Side.BEFORE: Side.AFTER, Side.AFTER: Side.BEFORE}
_ATTEMPTS_AHEAD = (1, 2)
_TIME_ZONE = "XXX-05:45"
"""Not UTC, and no whole hours from it: who takes local time for UTC is found out wherever the proof is made."""
_PROGRAMS = tuple(f"arrowproof.service.{role}" for role in ("server", "worker", "retention"))
_LOADED_LATE = ("arrowproof.service.web", "anyio._backends._asyncio")
"""What a server loads only when it serves."""
_DATABASES = {True: "arrowproof.service.sqlite", False: "arrowproof.service.postgresql"}
"""What all load only when they open their database: for a file, and for a server."""


@record
class ServingProcess:
    """The process of a server that is to be killed; who asks for that server after it has another one started."""

    process: RunningProcess
    forget: Callable[[], None]

    def kill(self) -> None:
        """Kill it, and have it forgotten."""
        self.process.kill()
        self.forget()

    def record(self) -> Process:
        """This process as evidence holds it."""
        return self.process.record()


@record
class Hold:
    """A process that waits at a point of its work once it comes there, and then makes the file ``held``.

    While the file ``release`` is there, it passes the point without that.
    """

    process: RunningProcess
    point: str
    held: Path
    release: Path

    def await_held(self) -> None:
        """Wait until it is at its point."""
        self.process.await_file(self.held)

    def arm(self) -> None:
        """Have it wait at its point when it comes there next, as often as it was held before."""
        self.release.unlink(missing_ok=True)
        self.held.unlink(missing_ok=True)

    def kill(self) -> Process:
        """Kill it at its point, and give what it was."""
        self.await_held()
        self.process.kill()
        return self.process.record()


class NotesService:
    """The service on a new database in a folder. Methods raise DriverError when a process does not do its part.

    The database is a new file, or the one at ``url`` of a PostgreSQL server. What runs is the service of the package in
    ``package_folder``.
    """

    def __init__(self, folder: Path, package_folder: Path = PACKAGE_FOLDER, url: str | None = None) -> None:
        self.database: Path | str = folder / "notes.sqlite3"
        self._environment: Mapping[str, str] = {}
        if url is not None:
            self.database, self._environment = split_password(url)
        self._package_folder = package_folder
        self._processes = ProcessGroup(folder)
        self._servers: dict[int, Hold] = {}
        self._apis: dict[int, NotesApi] = {}
        self._is_loaded = False
        self._next_side = Side.BEFORE
        self._holds = 0
        self._last: RunningProcess | None = None
        self._rivals: dict[Moment, Hold] = {}
        self._rival_urls: dict[Moment, str] = {}

    def start(self) -> None:
        """Start a server, which makes the database."""
        self._load()
        # Imported while that loads its code: httpx takes half as long.
        import arrowproof.conformance.notes_api  # noqa: F401

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
                self._start_server(attempts)
                return

    def api(self, max_attempts: int = USUAL_ATTEMPTS) -> NotesApi:
        """A client of a ready server whose jobs have so many attempts, started if there is none."""
        if max_attempts not in self._apis:
            if max_attempts not in self._servers:
                self._start_server(max_attempts)
            self._apis[max_attempts] = _client(self._servers[max_attempts].process)
        return self._apis[max_attempts]

    def server(self, max_attempts: int = USUAL_ATTEMPTS) -> Process:
        """The server of :meth:`api`, as evidence holds it."""
        return self._servers[max_attempts].process.record()

    def serving(self, max_attempts: int) -> ServingProcess:
        """The process of the server of :meth:`api`."""
        process = self._servers[max_attempts].process
        return ServingProcess(process, partial(self._forget, max_attempts))

    def _forget(self, max_attempts: int) -> None:
        self._apis.pop(max_attempts).close()
        del self._servers[max_attempts]

    @property
    def last_run(self) -> RunningProcess:
        """The worker or retention that was run last."""
        if self._last is None:
            raise DriverError("Neither a worker nor a retention was run.")
        return self._last

    def take_server(self, side: Side) -> tuple[NotesApi, Hold]:
        """The usual server, which will wait on this side of its next commit, and its client; both are to be ended.

        Who asks for the usual server after that has another one started.
        """
        if self._next_side is not side:
            self._end_usual()
            self._next_side = side
        api, hold = self.api(), self._servers[USUAL_ATTEMPTS]
        hold.release.unlink()
        del self._apis[USUAL_ATTEMPTS], self._servers[USUAL_ATTEMPTS]
        # A transition is killed on one side and then on the other.
        self._next_side = _OTHER_SIDE[side]
        return api, hold

    def kill_server(self, side: Side, key: Row | None, ask: Callable[[NotesApi], object]) -> Killed:
        """Kill the usual server on this side of the commit that ``ask`` makes; its client must be left unanswered.

        ``key`` is that of the job which is asked about, None where it is to be created.
        """
        api, hold = self.take_server(side)
        answers: list[object] = []
        client = threading.Thread(target=_ask_in_vain, args=(api, ask, answers))
        client.start()
        try:
            killed = hold.kill()
        finally:
            hold.process.kill()
            client.join()
        if answers:
            raise DriverError(f"The server answered with {answers[0]} before it came to {hold.point}.")
        return Killed(hold.point, (killed,), key)

    def rival_server(self, moment: Moment) -> tuple[str, Hold]:
        """A server of several that work at once, which can be held at this moment: its URL and its hold, not armed."""
        if moment not in self._rivals:
            options = ["--port", "0", *self.impatience]
            self._rivals[moment] = self._hold("server", _point("server", moment), options, released=True)
        if moment not in self._rival_urls:
            self._rival_urls[moment] = _url(self._rivals[moment].process)
        return self._rival_urls[moment], self._rivals[moment]

    @property
    def impatience(self) -> list[str]:
        """The options of a process that is to end at once where another has the write lock of a SQLite file.

        A server tells who waits for a lock; of a file nobody does.
        """
        return ["--busy-timeout", "0"] if isinstance(self.database, Path) else []

    def launch(self, role: str, *options: str) -> RunningProcess:
        """Start a worker or a retention, and do not wait for it."""
        return self._start(role, options)

    def _end_usual(self) -> None:
        """End the usual server, whose point is another than the one that is wanted."""
        if USUAL_ATTEMPTS in self._apis:
            self._apis.pop(USUAL_ATTEMPTS).close()
        if USUAL_ATTEMPTS in self._servers:
            self._servers.pop(USUAL_ATTEMPTS).process.terminate()

    def hold(self, role: str, at: Side | Moment | str, *options: str) -> Hold:
        """Start a worker or a retention that will wait at a point, on one side of its commit, or at a moment."""
        return self._hold(role, _point(role, at) if isinstance(at, Side | Moment) else at, options)

    def run(self, role: str, *options: str) -> tuple[Process, object]:
        """Run a worker or a retention to its end; give it and what its last line says (the text if that is no JSON)."""
        process = self._last = self._start(role, options)
        lines = process.finish().splitlines()
        return process.record(), _read(lines[-1]) if lines else None

    def _start_server(self, max_attempts: int) -> None:
        """Start a server that passes the point at which it can be held, for now."""
        options = ["--port", "0"]
        if max_attempts != USUAL_ATTEMPTS:
            options += ["--max-attempts", str(max_attempts)]
        self._servers[max_attempts] = self._hold("server", _point("server", self._next_side), options, released=True)

    def _hold(self, role: str, point: str, options: Sequence[str], *, released: bool = False) -> Hold:
        self._holds += 1
        folder = self._processes.folder / f"hold-{self._holds}"
        folder.mkdir()
        release = folder / f"{point}.release"
        if released:
            release.touch()
        process = self._start(role, options, {"NOTES_HOLD": f"{point}:{folder}"})
        return Hold(process, point, folder / f"{point}.held", release)

    def _start(self, role: str, options: Sequence[str], environment: Mapping[str, str] | None = None) -> RunningProcess:
        """Start a process of the service."""
        self._load()
        command = [f"arrowproof.service.{role}", "--db", str(self.database), *options]
        own = {**self._common_environment(), **(environment or {})}
        return self._processes.start(role, command, own, is_loaded=True)

    def _load(self) -> None:
        """Have the code of all processes loaded, once."""
        if not self._is_loaded:
            modules = (*_PROGRAMS, *_LOADED_LATE, _DATABASES[isinstance(self.database, Path)])
            self._processes.load(str(self.database), modules, self._common_environment())
            self._is_loaded = True

    def _common_environment(self) -> dict[str, str]:
        path = os.pathsep.join(filter(None, [str(self._package_folder), os.environ.get("PYTHONPATH", "")]))
        return {"PYTHONPATH": path, "TZ": _TIME_ZONE, **self._environment}


def _point(role: str, at: Side | Moment) -> str:
    """The point of a program on a side of its commit, or at a moment."""
    if at is Moment.READ:
        return "after-select"
    return "after-commit" if at is Side.AFTER else _LAST_POINTS[role]


def _read(line: str) -> object:
    try:
        return json.loads(line)
    except ValueError:
        return line[:200]


def _ask_in_vain(api: NotesApi, ask: Callable[[NotesApi], object], answers: list[object]) -> None:
    with api, suppress(DriverError):
        answers.append(ask(api))


def _client(server: RunningProcess) -> NotesApi:
    # Imported when it is needed: httpx takes its time.
    from arrowproof.conformance.notes_api import NotesApi

    return NotesApi(_url(server))


def _url(server: RunningProcess) -> str:
    """Where a server listens, once it says so."""
    line = server.read_line()
    try:
        return str(json.loads(line)["ready"])
    except (ValueError, KeyError, TypeError) as error:
        raise DriverError(f"The server's ready line has no URL: {line[:200]}") from error
