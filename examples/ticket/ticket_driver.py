"""The driver: how a proof makes this service take a transition, and kills it on either side of the commit."""

import sys
from pathlib import Path

from arrowproof.conformance.driver import Killed, Walked
from arrowproof.conformance.processes import ProcessGroup, RunningProcess
from arrowproof.model.evidence import Row, Side
from arrowproof.model.transitions import Transition

SERVICE = Path(__file__).with_name("ticket_service.py")
COMMANDS = {(None, "open"): "report", ("open", "closed"): "close", ("open", None): "delete"}


class TicketDriver:
    """One process of the service for each transition."""

    def start(self, folder: Path) -> Path:
        """Make the database; the service has no process that stays."""
        self.processes, self.database = ProcessGroup(folder), folder / "tickets.sqlite3"
        self._run("schema").finish()
        return self.database

    def stop(self) -> None:
        """End what is left, after an interrupt for instance."""
        self.processes.stop()

    def walk(self, transition: Transition, key: Row | None) -> Walked:
        """Run the command; ``key`` is None when a ticket is to be made."""
        process = self._run(COMMANDS[transition.pair], key)
        return Walked((("id", int(process.finish())),), (process.record(),))

    def fire(self, event: str, key: Row) -> str:
        """Run the command, which has the name of the event, whatever has become of the ticket."""
        return self._run(event, key).finish()

    def kill(self, transition: Transition, key: Row | None, side: Side) -> Killed:
        """Let the service stop on this side of its commit, and kill it there."""
        word = "before" if side is Side.BEFORE else "after"
        held = self.processes.folder / f"held-{len(self.processes.started)}"
        process = self._run(COMMANDS[transition.pair], key, {"TICKET_HOLD": f"{word}:{held}"})
        process.await_file(held)
        process.kill()
        return Killed(word, (process.record(),), key)

    def _run(self, command: str, key: Row | None = None, environment: dict[str, str] | None = None) -> RunningProcess:
        arguments = [str(self.database), command, *(str(value) for _, value in key or ())]
        return self.processes.start(command, [sys.executable, str(SERVICE), *arguments], environment)
