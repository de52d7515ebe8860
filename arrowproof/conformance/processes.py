"""Processes that a driver starts: with a deadline for every wait, stderr in a file, and an end in any case.

Every wait is for a signal: a line on stdout, a file, the exit. When the deadline passes or the process ends instead,
the :class:`~arrowproof.conformance.driver.DriverError` quotes the end of its stderr.
"""

from __future__ import annotations

import os
import select
import signal
import subprocess
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from arrowproof.conformance.driver import DriverError
from arrowproof.model.evidence import Process

DEADLINE_SECONDS = 30.0
"""How long a process may take for one thing. It fails loudly; no right run comes near it."""

_LOOK_SECONDS = 0.002
_QUOTED_BYTES = 600


class RunningProcess:
    """One process of a service, in a session of its own, so that an interrupt from the keyboard is ours to pass on."""

    def __init__(self, role: str, command: Sequence[str], stderr: Path, environment: Mapping[str, str] | None) -> None:
        self.role = role
        self._stderr = stderr
        self._unread = b""
        with stderr.open("ab") as sink:
            self._process = subprocess.Popen(
                list(command),
                stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE,
                stderr=sink,
                env={**os.environ, **(environment or {})},
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

    def read_line(self, deadline: float = DEADLINE_SECONDS) -> str:
        """The next line of stdout, without its end; ``deadline`` is in seconds.

        Raises:
            DriverError: the process ended, or the deadline passed, before there was one.
        """
        assert self._process.stdout is not None
        stdout, end = self._process.stdout.fileno(), time.monotonic() + deadline
        while b"\n" not in self._unread:
            ready, _, _ = select.select([stdout], [], [], max(0.0, end - time.monotonic()))
            chunk = os.read(stdout, 65536) if ready else b""
            if not chunk:
                raise self._failure("printed no line" + ("" if ready else f" within {deadline:g} s"))
            self._unread += chunk
        line, _, self._unread = self._unread.partition(b"\n")
        return line.decode(errors="replace")

    def finish(self, deadline: float = DEADLINE_SECONDS) -> str:
        """Wait for exit status 0 and give what it printed on stdout.

        Raises:
            DriverError: another exit status, or the deadline passed.
        """
        try:
            output, _ = self._process.communicate(timeout=deadline)
        except subprocess.TimeoutExpired as error:
            raise self._failure(f"did not end within {deadline:g} s") from error
        if self._process.returncode != 0:
            raise self._failure(f"ended with {self.record().ended}")
        return (self._unread + output).decode(errors="replace")

    def await_file(self, path: Path, deadline: float = DEADLINE_SECONDS) -> None:
        """Wait until the process has made a file, such as that of a hold point.

        Raises:
            DriverError: the process ended, or the deadline passed, before the file was there.
        """
        end = time.monotonic() + deadline
        while not path.exists():
            if not self.is_running:
                raise self._failure(f"ended with {self.record().ended} and never came to {path.name}")
            if time.monotonic() > end:
                raise self._failure(f"did not come to {path.name} within {deadline:g} s")
            time.sleep(_LOOK_SECONDS)

    def kill(self) -> None:
        """SIGKILL, to its whole session, and wait for the exit. Nothing happens when it has ended already."""
        self._signal(signal.SIGKILL)
        self._process.wait()
        self._close()

    def terminate(self) -> None:
        """SIGTERM; does not wait."""
        self._signal(signal.SIGTERM)

    def end(self, deadline: float = DEADLINE_SECONDS) -> None:
        """Wait for the exit after :meth:`terminate`, and kill what has not ended by the deadline."""
        try:
            self._process.communicate(timeout=deadline)
        except (subprocess.TimeoutExpired, ValueError):
            # ValueError: its stdout was closed by a kill before.
            self.kill()
        self._close()

    def _signal(self, number: signal.Signals) -> None:
        if self.is_running:
            os.killpg(self.pid, number)

    def _close(self) -> None:
        if self._process.stdout is not None:
            self._process.stdout.close()

    def _failure(self, what: str) -> DriverError:
        with self._stderr.open("rb") as log:
            log.seek(max(0, self._stderr.stat().st_size - _QUOTED_BYTES))
            said = " ".join(log.read().decode(errors="replace").split())
        return DriverError(f"The {self.role} (process {self.pid}) {what}" + (f"; its stderr: {said}" if said else "."))


def _ending(status: int | None) -> str:
    """An exit status of :mod:`subprocess` in words; None while it runs, negative for a signal."""
    if status is None:
        return "running"
    return f"exit {status}" if status >= 0 else signal.Signals(-status).name


@dataclass
class ProcessGroup:
    """All processes of one driver. Their stderr goes into files in ``folder``, one for each role."""

    folder: Path
    started: list[RunningProcess] = field(default_factory=list)

    def start(self, role: str, command: Sequence[str], environment: Mapping[str, str] | None = None) -> RunningProcess:
        """Start a process; ``environment`` is added to this process's own.

        Raises:
            DriverError: the command cannot be run.
        """
        try:
            process = RunningProcess(role, command, self.folder / f"{role}.stderr", environment)
        except OSError as error:
            raise DriverError(f"The {role} cannot be started: {error}") from error
        self.started.append(process)
        return process

    def stop(self, deadline: float = DEADLINE_SECONDS) -> None:
        """End them all: SIGTERM to each, then SIGKILL to those that are there after ``deadline`` seconds."""
        for process in self.started:
            process.terminate()
        for process in self.started:
            process.end(deadline)
        self.started = []
