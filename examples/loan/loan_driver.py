"""The driver: how a proof makes this service take a transition, and kills it on either side of the commit."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path

from arrowproof.conformance.driver import Killed, Walked
from arrowproof.conformance.processes import ProcessGroup, RunningProcess
from arrowproof.model.evidence import Row, Side
from arrowproof.model.transitions import Transition

SERVICE = Path(__file__).with_name("loan_service.py")


class LoanDriver:
    """One process of the service for each transition; the arrow's id is the command."""

    def start(self, folder: Path) -> Path:
        """Make the database with its guard; the service has no process that stays."""
        self.processes, self.database = ProcessGroup(folder), folder / "loans.sqlite3"
        self._run("schema").finish()
        return self.database

    def stop(self) -> None:
        """End what is left, after an interrupt for instance."""
        self.processes.stop()

    def begin(self, tour: Sequence[Transition]) -> None:
        """Every loan is made in the same way, whatever comes next."""

    def end(self, key: Row | None) -> None:
        """No process picks up loans by itself, so none needs to be put away."""

    def walk(self, transition: Transition, key: Row | None) -> Walked:
        """Run the command; ``key`` is None when a loan is to be made."""
        process = self._run(transition.paths[0][0], key)
        return Walked((("id", int(process.finish())),), (process.record(),))

    def kill(self, transition: Transition, key: Row | None, side: Side) -> Killed:
        """Let the service stop on this side of its commit, and kill it there."""
        word = "before" if side is Side.BEFORE else "after"
        held = self.processes.folder / f"held-{len(self.processes.started)}"
        process = self._run(transition.paths[0][0], key, {"LOAN_HOLD": f"{word}:{held}"})
        process.await_file(held)
        process.kill()
        return Killed(word, (process.record(),), key)

    def recover(self, transition: Transition, killed: Killed, side: Side) -> Walked:
        """Before the commit nothing was done, so that it is done now; after it there is nothing left to do."""
        if side is Side.BEFORE:
            return self.walk(transition, killed.key)
        assert killed.key is not None
        return Walked(killed.key, ())

    def _run(self, command: str, key: Row | None = None, environment: dict[str, str] | None = None) -> RunningProcess:
        arguments = [str(self.database), command, *(str(value) for _, value in key or ())]
        return self.processes.start(command, [sys.executable, str(SERVICE), *arguments], environment)
