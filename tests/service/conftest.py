"""Real servers and workers on a database of their own, and SQL beside them.

Processes write their output to files that stay in the test's folder. Every wait is for a signal (a line, a file, an
exit) with a deadline that fails loudly, and every process is ended by its own process id.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from hashlib import sha256
from pathlib import Path
from typing import Any

import httpx
import pytest

from arrowproof.service.begun import BegunAttempts
from arrowproof.service.database import Database
from arrowproof.service.hold import Hold
from tests.service.engines import (
    ENGINES,
    Engine,
    PostgresEngine,
    SQLiteEngine,
    open_begun,
    open_engine,
)
from tests.service.waiting import DEADLINE_SECONDS, wait_until


class Service:
    """One process of the service, its output in files."""

    def __init__(self, module: str, arguments: list[str], folder: Path, hold: str | None = None, **options: Any):
        number = len(list(folder.glob("*.stdout")))
        self.name = f"{number}-{module}"
        self.stdout_file = folder / f"{self.name}.stdout"
        self.stderr_file = folder / f"{self.name}.stderr"
        environment = {key: value for key, value in os.environ.items() if key != "NOTES_HOLD"}
        if hold is not None:
            environment["NOTES_HOLD"] = hold
        command = [sys.executable, "-m", f"arrowproof.service.{module}", *arguments]
        with self.stdout_file.open("wb") as stdout, self.stderr_file.open("wb") as stderr:
            self.process = subprocess.Popen(command, stdout=stdout, stderr=stderr, env=environment, **options)

    @property
    def pid(self) -> int:
        return self.process.pid

    @property
    def stdout(self) -> str:
        return self.stdout_file.read_text()

    @property
    def stderr(self) -> str:
        return self.stderr_file.read_text()

    def exit_status(self) -> int:
        try:
            return self.process.wait(DEADLINE_SECONDS)
        except subprocess.TimeoutExpired:
            pytest.fail(f"{self.name} did not end: {self.stdout} {self.stderr}")

    def outcome(self) -> dict[str, Any]:
        """The last printed line of a worker that ended well."""
        assert self.exit_status() == 0, self.stderr
        return json.loads(self.stdout.splitlines()[-1])

    def kill(self) -> None:
        self.process.kill()
        assert self.exit_status() == -9


class Server(Service):
    """A server that is ready, and a client that speaks to it."""

    def __init__(self, arguments: list[str], folder: Path, hold: str | None = None, **options: Any):
        super().__init__("server", ["--port", "0", *arguments], folder, hold, **options)
        try:
            wait_until(lambda: self.stdout.endswith("\n") or self.process.poll() is not None, "the ready line")
            assert self.process.poll() is None, self.stderr
        except BaseException:
            self.process.kill()
            self.process.wait()
            raise
        self.ready = json.loads(self.stdout)
        self.client = httpx.Client(base_url=self.ready["ready"], timeout=DEADLINE_SECONDS, trust_env=False)

    def post(self, key: str, text: str) -> httpx.Response:
        return self.client.post("/notes", headers={"Idempotency-Key": key}, json={"text": text})

    def accept(self, key: str = "key", text: str = "text") -> dict[str, Any]:
        response = self.post(key, text)
        assert response.status_code == 202, response.text
        return response.json()

    def job(self, job_id: int) -> dict[str, Any]:
        response = self.client.get(f"/jobs/{job_id}")
        assert response.status_code == 200, response.text
        return response.json()

    def note(self, note_id: int) -> dict[str, Any]:
        response = self.client.get(f"/notes/{note_id}")
        assert response.status_code == 200, response.text
        return response.json()


class Notes:
    """A notes database, and the processes that work on it, with their output in a folder."""

    def __init__(self, folder: Path, engine: Engine):
        self.folder = folder
        self.engine = engine
        self.holds = folder / "holds"
        self.holds.mkdir()
        self._processes: list[Service] = []

    @property
    def database(self) -> Path:
        """The file of the database; SQLite alone has one."""
        assert isinstance(self.engine, SQLiteEngine)
        return self.engine.file

    def server(self, *arguments: str, hold: str | None = None, db: object = None, **options: Any) -> Server:
        server = Server(["--db", str(db or self.engine.db), *arguments], self.folder, self._hold(hold), **options)
        self._processes.append(server)
        return server

    def refused_server(self, *arguments: str, db: object = None, **options: Any) -> Service:
        return self._start("server", ["--port", "0", "--db", str(db or self.engine.db), *arguments], **options)

    def worker(self, *arguments: str, hold: str | None = None, db: object = None, **options: Any) -> Service:
        quick = ["--max-polls", "1", "--poll-interval", "0.05", "--retry-delay", "0"]
        every = ["--db", str(db or self.engine.db), *quick, *arguments]
        return self._start("worker", every, hold=self._hold(hold), **options)

    def _start(self, module: str, arguments: list[str], **options: Any) -> Service:
        process = Service(module, arguments, self.folder, **options)
        self._processes.append(process)
        return process

    def _hold(self, point: str | None) -> str | None:
        return None if point is None else f"{point}:{self.holds}"

    def held(self, point: str) -> dict[str, Any]:
        """Wait for the signal of a held process and read it."""
        signal = self.holds / f"{point}.held"
        wait_until(signal.exists, signal.name)
        return json.loads(signal.read_text())

    def release(self, point: str) -> None:
        (self.holds / f"{point}.release").touch()

    def wait_until_open(self, process: Service) -> None:
        """Wait until a process has opened the database."""
        files = Path(f"/proc/{process.pid}/fd")
        # PostgreSQL is reached through a socket, and a worker has no other.
        sought = str(self.engine.file) if isinstance(self.engine, SQLiteEngine) else "socket:"
        wait_until(lambda: any(sought in str(file.resolve()) for file in files.iterdir()), f"{process.name} at work")

    def sql(self, statement: str, *parameters: Any) -> list[tuple[Any, ...]]:
        """Run SQL beside the service, on a connection of its own."""
        return self.engine.sql(statement, parameters)

    def refuse_history(self, action: str = "ABORT") -> None:
        """Put in the fault: no history row can be written."""
        self.engine.fault("INSERT ON note_events", action)

    def allow_history(self) -> None:
        """Take the fault out."""
        self.engine.mend()

    def end(self) -> None:
        for process in self._processes:
            if isinstance(process, Server):
                process.client.close()
            if process.process.poll() is None:
                process.process.kill()
            process.process.wait()


def snapshot(folder: Path) -> dict[str, tuple[str, int]]:
    """Every database file in a folder with the SHA-256 of its bytes and the time of its last change."""
    return {
        file.name: (sha256(file.read_bytes()).hexdigest(), file.stat().st_mtime_ns)
        for file in sorted(folder.iterdir())
        if file.is_file() and file.suffix not in (".stdout", ".stderr")
    }


def make_engine(request: pytest.FixtureRequest, folder: Path) -> Iterator[Engine]:
    """A fresh place for notes in the database that the fixture's parameter names."""
    engine: Engine
    if request.param == "sqlite":
        engine = SQLiteEngine(folder)
    else:
        engine = PostgresEngine(request.getfixturevalue("postgresql"))
    yield engine
    engine.remove()


@pytest.fixture(params=ENGINES)
def engine(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Engine]:
    """Each of the two databases in turn; see ``only_sqlite`` and ``only_postgresql``."""
    yield from make_engine(request, tmp_path)


@pytest.fixture
def notes(tmp_path: Path, engine: Engine) -> Iterator[Notes]:
    """A fresh database and what runs on it."""
    service = Notes(tmp_path, engine)
    yield service
    service.end()


@pytest.fixture
def fingerprint(tmp_path: Path) -> Callable[[], dict[str, tuple[str, int]]]:
    """Says what the test's folder holds, byte for byte."""
    return lambda: snapshot(tmp_path)


@pytest.fixture(scope="module", params=ENGINES)
def shared_engine(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Engine]:
    """Each of the two databases in turn, for all tests of a module."""
    yield from make_engine(request, tmp_path_factory.mktemp("shared"))


@pytest.fixture(scope="module")
def shared(shared_engine: Engine, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Notes]:
    """A database that the tests of a module share."""
    service = Notes(tmp_path_factory.mktemp("processes"), shared_engine)
    yield service
    service.end()


@pytest.fixture(scope="module")
def server(shared: Notes) -> Server:
    """The one server for the tests of a module that only speak HTTP; it waits for a lock only a moment."""
    return shared.server("--max-attempts", "3", "--busy-timeout", "0.2")


@pytest.fixture
def wait() -> Callable[[Callable[[], Any], str], None]:
    """Waits for a signal, and fails loudly when it does not come."""
    return wait_until


class RecordingHold(Hold):
    """Holds nowhere and remembers the points that were passed.

    With ``stops`` everything before a point is done there, as at one where a process is held. Otherwise statements go
    several at a time on PostgreSQL, and those points are passed as well that come behind an error not yet known.
    """

    def __init__(self) -> None:
        super().__init__()
        self.passed: list[str] = []
        self.stops = False

    def reached(self, point: str, database: Database) -> None:
        if self.stops:
            database.stand_still()
        self.at(point)

    def at(self, point: str) -> None:
        self.passed.append(point)


@pytest.fixture
def hold() -> RecordingHold:
    """A hold that remembers the points that were passed."""
    return RecordingHold()


@pytest.fixture
def database(engine: Engine) -> Iterator[Database]:
    """A new notes database, open in this process."""
    made = open_engine(engine, create=True)
    yield made
    made.close()


@pytest.fixture
def begun(engine: Engine, database: Database) -> Iterator[BegunAttempts]:  # noqa: ARG001 - it must be there
    """The record of begun attempts of the new database."""
    made = open_begun(engine)
    yield made
    made.close()
