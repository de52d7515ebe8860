"""The driver of the bundled notes service: real HTTP, real workers, one database.

A job's attempts are fixed when it is created, so there is one server for each ``--max-attempts`` that a tour needs, all
on the same database. An attempt fails because a trigger on ``note_events`` refuses the history row; the driver adds and
drops it. On the way to a retry it refuses by FAIL, which leaves the row in the table: only a service that rolls back to
a savepoint is rid of it. On the way to failed it refuses by ROLLBACK, which ends the whole transaction: only a service
that then counts the attempt in a new one comes to an end. A job that a tour leaves waiting is put out of reach by a
long ``--retry-delay``, or worked off.

Beside the walks the driver holds the service to its word: what a worker prints, the count of attempts, the history
(one row when the job is completed, none before, which names the attempt), the note as it was sent, replays and
conflicts of an Idempotency-Key, and that the database itself refuses a second note of one key, a second job of one note
and a second history row of one job.
"""

from __future__ import annotations

import json
import os
import sys
import threading
import time
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import apsw

from arrowproof.conformance.driver import DriverError, Killed, Walked
from arrowproof.conformance.processes import ProcessGroup, RunningProcess
from arrowproof.conformance.rows import open_database
from arrowproof.model.evidence import Process, Row, Side
from arrowproof.model.transitions import Transition

if TYPE_CHECKING:
    from arrowproof.conformance.notes_api import Job, NotesApi

USUAL_ATTEMPTS = 3
SHORT_DELAY = 0.05
OUT_OF_REACH = 86_400.0
"""Delays in seconds until the next attempt: for a job that the tour goes on with, and for one that it leaves."""

_LONGEST_WAIT = 20.0
_PROGRAM = [sys.executable, "-P", "-m"]  # -P: no module of the folder that the proof is run in is taken for another
_PACKAGE_FOLDER = Path(__file__).resolve().parents[2]
_POINTS = {
    ("server", Side.BEFORE): "after-job",
    ("worker", Side.BEFORE): "after-state",
    ("server", Side.AFTER): "after-commit",
    ("worker", Side.AFTER): "after-commit",
}
_FAULT = """CREATE TRIGGER arrowproof_fault AFTER INSERT ON note_events
BEGIN SELECT RAISE({action}, 'the history row is refused'); END"""
_ACTIONS = {"retry_wait": "FAIL", "failed": "ROLLBACK"}
_SECOND_NOTE = """INSERT INTO notes (idempotency_key, text, text_sha256, created_at)
SELECT idempotency_key, text, text_sha256, created_at FROM notes ORDER BY id DESC LIMIT 1"""
_SECOND_JOB = """INSERT INTO jobs (note_id, status, attempts, max_attempts)
SELECT note_id, status, attempts, max_attempts FROM jobs ORDER BY id DESC LIMIT 1"""
_SECOND_EVENT = """INSERT INTO note_events (job_id, attempt, created_at)
SELECT job_id, attempt, created_at FROM note_events ORDER BY id DESC LIMIT 1"""


@dataclass(frozen=True)
class _Hold:
    """A process that waits at a point of its work once it comes there, and then makes the file ``held``."""

    process: RunningProcess
    point: str
    held: Path

    def kill(self) -> Process:
        """Kill it at its point."""
        self.process.await_file(self.held)
        self.process.kill()
        return self.process.record()


class NotesDriver:
    """Walks the lifecycle of a note job. See :class:`arrowproof.conformance.driver.Driver`."""

    def __init__(self) -> None:
        self._processes = ProcessGroup(Path())
        self._database = Path()
        self._servers: dict[int, RunningProcess] = {}
        self._apis: dict[int, NotesApi] = {}
        self._held_servers: dict[Side, _Hold] = {}
        self._sides_ahead = iter(Side)
        self._max_attempts = USUAL_ATTEMPTS
        self._steps_left = 0
        self._notes = 0
        self._holds = 0
        self._fault: str | None = None
        self._attempts_before_kill = 0

    def start(self, folder: Path) -> Path:
        """Start a server on a new database."""
        self._processes = ProcessGroup(folder)
        self._database = folder / "notes.sqlite3"
        self._servers[USUAL_ATTEMPTS] = self._spawn_server(USUAL_ATTEMPTS)
        self._api(USUAL_ATTEMPTS)
        return self._database

    def stop(self) -> None:
        """End every process."""
        for api in self._apis.values():
            api.close()
        self._processes.stop()

    def begin(self, tour: Sequence[Transition]) -> None:
        """Choose the server by the attempt at which the tour's job must fail for good."""
        self._start_ahead()
        self._steps_left = len(tour)
        attempts = [step for step in tour if step.source is not None]
        failures = [number for number, step in enumerate(attempts, start=1) if step.target == "failed"]
        self._max_attempts = failures[0] if failures else max(USUAL_ATTEMPTS, len(attempts) + 1)

    def walk(self, transition: Transition, key: Row | None) -> Walked:
        """POST a note, and what must change nothing after it; or run a worker for one look."""
        self._steps_left -= 1
        if key is None:
            self._notes += 1
            job_id = self._create_job(self._api(self._max_attempts))
            return Walked((("id", job_id),), (self._servers[self._max_attempts].record(),))
        attempts = self._prepare(transition, key)
        worker = self._run_worker(key, transition.target)
        self._check(key, transition.target, attempts + 1)
        return Walked(key, (worker,))

    def end(self, key: Row | None) -> None:
        """Work off a job that a later worker could pick up; those that wait for long are out of reach already."""
        if key is None:
            return
        due_in = self._job(key).due_in()
        if due_in is not None and due_in < _LONGEST_WAIT:
            self._set_fault(None)
            time.sleep(max(0.0, due_in))
            self._run_worker(key, "completed")

    def kill(self, transition: Transition, key: Row | None, side: Side) -> Killed:
        """Hold a server or a worker at its point, and kill it there."""
        self._steps_left -= 1
        if key is None:
            hold = self._held_servers.pop(side, None) or self._spawn_held_server(side)
            return Killed(hold.point, (self._kill_server(hold),), None)
        self._attempts_before_kill = self._prepare(transition, key)
        hold = self._hold("worker", side, self._worker_command())
        return Killed(hold.point, (hold.kill(),), key)

    def recover(self, transition: Transition, killed: Killed, side: Side) -> Walked:
        """Start the same program again: the server takes the same POST once more, the worker looks once for work."""
        if transition.source is None:
            server = self._spawn_server(self._max_attempts)
            with _client(_url(server)) as api:
                key = (("id", api.post(self._notes, replayed=side is Side.AFTER).job_id),)
            restarted = server.record()
            server.terminate()
            return Walked(key, (restarted,))
        if killed.key is None:
            raise DriverError("A job was killed whose id nobody knows.")
        worker = self._run_worker(killed.key, transition.target if side is Side.BEFORE else None)
        self._check(killed.key, transition.target, self._attempts_before_kill + 1)
        return Walked(killed.key, (worker,))

    def _create_job(self, api: NotesApi) -> int:
        """POST a note, the same once more, and another text under its key; give the job's id."""
        first, again = (api.post(self._notes, replayed=replayed) for replayed in (False, True))
        if first != again:
            raise DriverError(f"A replay answered with {again}, the first POST with {first}.")
        api.post_another_text(self._notes)
        api.check_stored(self._notes, first)
        self._check_refusal(_SECOND_NOTE, "second note of one Idempotency-Key")
        self._check_refusal(_SECOND_JOB, "second job of one note")
        return first.job_id

    def _prepare(self, transition: Transition, key: Row) -> int:
        """Have the next attempt end as the transition says, wait until it is due, and give the attempts so far."""
        self._set_fault(_ACTIONS.get(transition.target or ""))
        job = self._job(key)
        due_in = job.due_in()
        if due_in is None or due_in > _LONGEST_WAIT:
            raise DriverError(f"{transition.name}: job {_id(key)} is not due (next_run_at is {job.next_run_at}).")
        time.sleep(max(0.0, due_in))
        return job.attempts

    def _check(self, key: Row, state: str | None, attempts: int) -> None:
        job = self._job(key)
        history = self._api(USUAL_ATTEMPTS).note(job.note_id).history
        wanted = (state, attempts, 1 if state == "completed" else 0)
        if (job.status, job.attempts, len(history)) != wanted:
            got = f"{job.status}, {job.attempts} attempts and {len(history)} history rows"
            raise DriverError(f"Job {_id(key)} has {got}; expected {wanted[0]}, {wanted[1]} and {wanted[2]}.")
        if history:
            if history != (attempts,):
                raise DriverError(f"The history row of job {_id(key)} names attempt {history[0]}, not {attempts}.")
            self._check_refusal(_SECOND_EVENT, "second history row of one job")

    def _check_refusal(self, statement: str, what: str) -> None:
        """Try what a UNIQUE constraint must refuse, in a transaction that is rolled back in any case."""
        with open_database(self._database) as connection:
            connection.execute("BEGIN IMMEDIATE")
            try:
                connection.execute(statement)
            except apsw.ConstraintError:
                return
            finally:
                connection.execute("ROLLBACK")
        raise DriverError(f"The database takes a {what}: a UNIQUE constraint is missing.")

    def _job(self, key: Row) -> Job:
        return self._api(USUAL_ATTEMPTS).job(_id(key))

    def _set_fault(self, action: str | None) -> None:
        """Have the history row refused by this action of RAISE, or taken when it is None."""
        if action != self._fault:
            with open_database(self._database) as connection:
                connection.execute("DROP TRIGGER IF EXISTS arrowproof_fault")
                if action is not None:
                    connection.execute(_FAULT.format(action=action))
            self._fault = action

    def _run_worker(self, key: Row, outcome: str | None) -> Process:
        """One look of one worker, which must come to ``outcome`` with this job (None: it must find nothing to do)."""
        worker = self._start("worker", self._worker_command())
        lines = worker.finish().splitlines()
        wanted = {"outcome": outcome or "idle", "job_id": _id(key) if outcome else None}
        try:
            told = json.loads(lines[-1]) if lines else None
        except ValueError:
            told = lines[-1][:200]
        if told != wanted:
            raise DriverError(f"The worker's last line is {told}; expected {wanted}.")
        return worker.record()

    def _worker_command(self) -> list[str]:
        delay = str(SHORT_DELAY if self._steps_left > 0 else OUT_OF_REACH)
        bounds = ["--max-polls", "1", "--retry-delay", delay]
        return [*_PROGRAM, "arrowproof.service.worker", "--db", str(self._database), *bounds]

    def _api(self, max_attempts: int) -> NotesApi:
        """A ready server for this number of attempts, started if there is none."""
        if max_attempts not in self._apis:
            if max_attempts not in self._servers:
                self._servers[max_attempts] = self._spawn_server(max_attempts)
            self._apis[max_attempts] = _client(_url(self._servers[max_attempts]))
        return self._apis[max_attempts]

    def _spawn_server(self, max_attempts: int) -> RunningProcess:
        return self._start("server", self._server_command(max_attempts))

    def _start(self, role: str, command: Sequence[str], environment: Mapping[str, str] | None = None) -> RunningProcess:
        """Start a process of the service that stands beside this very module, whatever else is installed."""
        path = os.pathsep.join(filter(None, [str(_PACKAGE_FOLDER), os.environ.get("PYTHONPATH", "")]))
        return self._processes.start(role, command, {"PYTHONPATH": path, **(environment or {})})

    def _server_command(self, max_attempts: int) -> list[str]:
        options = ["--db", str(self._database), "--port", "0", "--max-attempts", str(max_attempts)]
        return [*_PROGRAM, "arrowproof.service.server", *options]

    def _start_ahead(self) -> None:
        """Start one server that a later tour will need: it gets ready on another core while this tour goes on."""
        for attempts in (1, 2):
            if attempts not in self._servers:
                self._servers[attempts] = self._spawn_server(attempts)
                return
        side = next(self._sides_ahead, None)
        if side is not None:
            self._held_servers[side] = self._spawn_held_server(side)

    def _spawn_held_server(self, side: Side) -> _Hold:
        return self._hold("server", side, self._server_command(USUAL_ATTEMPTS))

    def _hold(self, role: str, side: Side, command: Sequence[str]) -> _Hold:
        """Start a process that will wait at the point on this side of its commit."""
        point = _POINTS[role, side]
        self._holds += 1
        folder = self._processes.folder / f"hold-{self._holds}"
        folder.mkdir()
        process = self._start(role, command, {"NOTES_HOLD": f"{point}:{folder}"})
        return _Hold(process, point, folder / f"{point}.held")

    def _kill_server(self, hold: _Hold) -> Process:
        """Kill a server while a POST is in flight; the client must be left without an answer."""
        url = _url(hold.process)
        self._notes += 1
        answers: list[int] = []
        client = threading.Thread(target=_post_in_vain, args=(url, self._notes, answers))
        client.start()
        try:
            killed = hold.kill()
        finally:
            hold.process.kill()
            client.join()
        if answers:
            raise DriverError(f"The server answered with job {answers[0]} before it came to {hold.point}.")
        return killed


def _post_in_vain(url: str, number: int, answers: list[int]) -> None:
    with _client(url) as api, suppress(DriverError):
        answers.append(api.post(number, replayed=False).job_id)


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


def _id(key: Row) -> int:
    ((_, value),) = key
    if not isinstance(value, int):
        raise DriverError(f"A job's id is an integer, not {value!r}.")
    return value
