"""Processes that a driver starts: output in files, a deadline for every wait, and an end in any case.

Every wait is for a signal: a line on stdout, a file, the exit. When the deadline passes or the process ends instead,
the :class:`~arrowproof.conformance.driver.DriverError` quotes the end of its stderr. Output goes into files, not pipes,
so that a service may print as much as it likes, and what it said can be read after the proof.

A process is started as a command, or forked by a :class:`~arrowproof.conformance.fork_server.ForkServer` which has
loaded its code.
"""

from __future__ import annotations

import os
import signal
import subprocess
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path

from arrowproof.conformance.driver import DriverError
from arrowproof.conformance.fork_server import ORPHANED, ForkedProcess, ForkServer
from arrowproof.conformance.waiting import comes_true
from arrowproof.conformance.warden import Warden
from arrowproof.model.evidence import Process
from arrowproof.model.interrupts import interrupts_held

DEADLINE_SECONDS = 30.0
"""How long a process may take for one thing. It fails loudly; no right run comes near it."""

_QUOTED_BYTES = 600
_QUOTED_CHARACTERS = 240


class _Spawned(subprocess.Popen[bytes]):
    """A process that was started as a command."""

    def signal_group(self, number: signal.Signals) -> None:
        """Signal the whole group: what a service forked may be there still when the service itself has ended."""
        self.poll()
        with suppress(ProcessLookupError):
            os.killpg(self.pid, number)


class RunningProcess:
    """One process of a service, in a session of its own, so that an interrupt from the keyboard is ours to pass on.

    ``log`` is the path of its output without the endings ``.stdout`` and ``.stderr``; ``environment`` is added to that
    of this process. One that ``waits`` can be told something on its stdin, once and for all by :meth:`tell` or line by
    line by :meth:`ask`; others find it empty. With ``forks`` the process is forked there: the command is its module and
    arguments, and once it has ended nothing is signalled any more, not even what it may have started itself.
    """

    def __init__(
        self,
        role: str,
        command: Sequence[str],
        log: Path,
        environment: Mapping[str, str],
        *,
        waits: bool = False,
        forks: ForkServer | None = None,
    ) -> None:
        self.role = role
        self._stdout, self._stderr = log.with_suffix(".stdout"), log.with_suffix(".stderr")
        self._lines_read = 0
        whole = {**os.environ, **environment}
        self._process: _Spawned | ForkedProcess
        with self._stdout.open("wb") as stdout, self._stderr.open("wb") as stderr:
            if forks is not None:
                self._process = forks.fork(command, (stdout, stderr), whole, DEADLINE_SECONDS, waits=waits)
                return
            self._process = _Spawned(
                list(command),
                stdin=subprocess.PIPE if waits else subprocess.DEVNULL,
                stdout=stdout,
                stderr=stderr,
                env=whole,
                start_new_session=True,
            )

    @property
    def pid(self) -> int:
        """The process id."""
        return self._process.pid

    @property
    def is_running(self) -> bool:
        """Whether it has not ended."""
        return self._process.poll() is None

    def record(self) -> Process:
        """This process as evidence holds it: ``running``, ``exit 0``, ``SIGKILL``."""
        return Process(self.role, self.pid, _ending(self._process.poll()))

    def tell(self, text: str) -> None:
        """Write ``text``, less than a pipe holds, to the stdin of a process that waits for it, and close that.

        One that has ended does not hear it, which :meth:`finish` and the others tell then.
        """
        if self._process.stdin is not None and not self._process.stdin.closed:
            with suppress(BrokenPipeError), self._process.stdin as stdin:
                stdin.write(text.encode())

    def ask(self, line: str, deadline: float = DEADLINE_SECONDS) -> str:
        """Write a line, less than a pipe holds, to the stdin of a process that waits, and give the next that it prints.

        Raises:
            DriverError: as for :meth:`read_line`.
        """
        if self._process.stdin is not None and not self._process.stdin.closed:
            with suppress(BrokenPipeError):
                self._process.stdin.write(f"{line}\n".encode())
                self._process.stdin.flush()
        return self.read_line(deadline)

    def read_line(self, deadline: float = DEADLINE_SECONDS) -> str:
        """The next whole line of stdout, without its end; ``deadline`` is in seconds.

        Raises:
            DriverError: the process ended, or the deadline passed, before there was one.
        """
        wanted = self._lines_read + 1
        self._await(lambda: self._stdout.read_bytes().count(b"\n") >= wanted, "printed no line", deadline)
        self._lines_read = wanted
        return self._stdout.read_bytes().split(b"\n")[wanted - 1].decode(errors="replace")

    def await_file(self, path: Path, deadline: float = DEADLINE_SECONDS) -> None:
        """Wait until the process has made a file, such as that of a hold point.

        Raises:
            DriverError: the process ended, or the deadline passed, before the file was there.
        """
        self._await(path.exists, f"did not come to {path.name}", deadline)

    def finish(self, deadline: float = DEADLINE_SECONDS) -> str:
        """Wait for exit status 0 and give all that it printed on stdout.

        Raises:
            DriverError: another exit status, or the deadline passed.
        """
        if not self._has_ended_within(deadline):
            raise self._failure(f"did not end within {deadline:g} s")
        if self._process.returncode != 0:
            raise self._failure(f"ended with {self.record().ended}")
        return self._stdout.read_bytes().decode(errors="replace")

    def terminate(self) -> None:
        """SIGTERM, to its process group; does not wait."""
        self._process.signal_group(signal.SIGTERM)

    def kill(self) -> None:
        """SIGKILL, to its process group, and wait for the exit. Nothing happens when it has ended already."""
        self._process.signal_group(signal.SIGKILL)
        self._process.wait()
        self.tell("")

    def end(self, deadline: float = DEADLINE_SECONDS) -> None:
        """Wait for the exit after :meth:`terminate`, and kill it when it has not ended by the deadline."""
        if not self._has_ended_within(deadline):
            self.kill()

    def _await(self, happened: Callable[[], bool], missed: str, deadline: float) -> None:
        if not comes_true(lambda: happened() or not self.is_running, deadline):
            raise self._failure(f"{missed} within {deadline:g} s")
        # What it did last may have come between the two looks.
        if not happened():
            raise self._failure(f"{missed} and ended with {self.record().ended}")

    def _has_ended_within(self, deadline: float) -> bool:
        return comes_true(lambda: not self.is_running, deadline)

    def _failure(self, what: str) -> DriverError:
        said = _last_lines(self._stderr.read_bytes()[-_QUOTED_BYTES:].decode(errors="replace"))
        return DriverError(f"The {self.role} (process {self.pid}) {what}" + (f"; its stderr: {said}" if said else "."))


def _last_lines(text: str) -> str:
    """The last line of a text, with as many of those before it as are short, on one line.

    Why a process ended stands at the end, and a reader of a verdict sees no more than a few hundred characters.
    """
    said = ""
    for line in reversed(text.splitlines()):
        more = " ".join([*line.split(), *said.split()])
        if said and len(more) > _QUOTED_CHARACTERS:
            break
        said = more
    return said


def _ending(status: int | None) -> str:
    """An exit status of :mod:`subprocess` in words; None while it runs, negative for a signal."""
    if status is None:
        return "running"
    if status == ORPHANED:
        return "its fork server"
    return f"exit {status}" if status >= 0 else signal.Signals(-status).name


@dataclass
class ProcessGroup:
    """All processes of one driver, in the order of their start. Their output goes into ``folder/processes``.

    Should this process be killed before that, a :class:`~arrowproof.conformance.warden.Warden` ends them.
    """

    folder: Path
    started: list[RunningProcess] = field(default_factory=list)
    _warden: Warden | None = field(default=None, init=False)
    _forks: ForkServer | None = field(default=None, init=False)

    def load(self, name: str, modules: Sequence[str], environment: Mapping[str, str]) -> None:
        """Start a fork server, and do not wait for it; see :class:`~arrowproof.conformance.fork_server.ForkServer`.

        Raises:
            DriverError: it cannot be started.
        """
        try:
            self._forks = ForkServer(name, modules, environment, self._logs() / "fork-server.stderr")
        except OSError as error:
            raise DriverError(f"The fork server cannot be started: {error}") from error

    def start(
        self,
        role: str,
        command: Sequence[str],
        environment: Mapping[str, str] | None = None,
        *,
        waits: bool = False,
        is_loaded: bool = False,
    ) -> RunningProcess:
        """Start a process; see :class:`RunningProcess` for ``environment`` and ``waits``.

        Where the code ``is_loaded`` (:meth:`load`), the process is forked, and the command is a module and arguments.

        Raises:
            DriverError: the command cannot be run, or the fork server is gone.
        """
        try:
            log = self._logs() / f"{len(self.started) + 1:03}-{role}"
            forks = self._forks if is_loaded else None
            if forks is not None:
                # Outside of what an interrupt waits for.
                forks.await_loaded(DEADLINE_SECONDS)
            with interrupts_held():
                self.started.append(RunningProcess(role, command, log, environment or {}, waits=waits, forks=forks))
                self._warden = self._warden or Warden()
                self._warden.watch(self.started[-1].pid)
        except OSError as error:
            raise DriverError(f"The {role} cannot be started: {error}") from error
        return self.started[-1]

    def stop(self, deadline: float = DEADLINE_SECONDS) -> None:
        """End them all: SIGTERM to each, then SIGKILL to those that are there after ``deadline`` seconds."""
        try:
            for process in self.started:
                process.terminate()
            for process in self.started:
                process.end(deadline)
        finally:
            # An interrupt while waiting must not leave any behind either.
            for process in self.started:
                process.kill()
            if self._forks is not None:
                self._forks.stop(DEADLINE_SECONDS)
                self._forks = None
            if self._warden is not None:
                self._warden.dismiss()
                self._warden = None

    def _logs(self) -> Path:
        logs = self.folder / "processes"
        logs.mkdir(exist_ok=True)
        return logs
