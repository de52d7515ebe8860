"""The driver: how a proof makes this service take a transition, and kills it on either side of the commit."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from arrowproof.conformance.driver import DriverError, Killed, Walked
from arrowproof.conformance.processes import ProcessGroup, RunningProcess
from arrowproof.model.evidence import Row, Side
from arrowproof.model.transitions import Transition

SERVICE = Path(__file__).with_name("lease_service.py")
LEASE_SECONDS = 30
DEEDS = {
    "add": ("desk", "add {queue} {attempts} payload", "{id}"),
    "claim": ("worker", "claim {queue}", "claimed {id}"),
    "take_over": ("other", "claim {queue}", "claimed {id}"),
    "finish": ("worker", "finish", "done"),
    "fail": ("worker", "fail", "queued"),
    "expire": ("desk", "sweep {queue}", "swept 1"),
    "give_up": ("worker", "fail", "dead"),
    "bury": ("desk", "sweep {queue}", "swept 1"),
    "revive": ("desk", "revive {id} {attempts}", "queued"),
    "purge": ("desk", "purge {id}", "purged"),
}
"""For each arrow who is asked, for what, and what has to come."""
TOO_EARLY = {"take_over": "nothing", "expire": "swept 0", "bury": "swept 0"}
"""For what takes a task away from its worker: what has to come while the lease is good."""
INSTEAD = {"fail": "expire", "give_up": "bury"}
"""What comes of a task whose worker was killed at this: its lease runs out, and the desk sees to it."""


class LeaseDriver:
    """Two workers and a desk, which stay. Each tour has a queue of its own, so that it claims its own task."""

    def start(self, folder: Path) -> Path:
        """Start the desk, which makes the table."""
        self.processes, self.database, self.hold = ProcessGroup(folder), folder / "tasks.sqlite3", folder / "hold"
        self.agents: dict[str, RunningProcess] = {}
        self.names = {"desk": "desk", "worker": "ann", "other": "bob"}
        self.now = self.lease_end = self.tours = 0
        self._agent("desk")
        return self.database

    def stop(self) -> None:
        """End the processes."""
        self.processes.stop()

    def begin(self, tour: Sequence[Transition]) -> None:
        """Remember what comes: a task gets as many attempts as there are claims ahead of its end in dead."""
        self.tours, self.coming = self.tours + 1, [step.target for step in tour]

    def walk(self, transition: Transition, key: Row | None) -> Walked:
        """Have it done as the wanted arrow says."""
        self.coming = self.coming[1:]
        return self._do(transition.paths[0][0], key)

    def kill(self, transition: Transition, key: Row | None, side: Side) -> Killed:
        """Have it done up to this side of its commit, and kill whoever does it there."""
        (arrow,) = transition.paths[0]
        self._let_the_lease_run_out(arrow, key)
        self.hold.write_text(side)
        process = self._asked(arrow, key, "held")
        process.kill()
        self.hold.unlink()
        return Killed(side, (process.record(),), key)

    def recover(self, transition: Transition, killed: Killed, side: Side) -> Walked:
        """After the commit nothing is left to do. Before it nothing was done, and who was killed has no lease now."""
        (arrow,) = transition.paths[0]
        if side is Side.AFTER and killed.key is not None:
            return Walked(killed.key)
        if arrow != "finish":
            return self._do(INSTEAD.get(arrow, arrow), killed.key)
        self._do("take_over", killed.key)
        return replace(self._do("finish", killed.key), ahead=(("running", "running"),))

    def _do(self, arrow: str, key: Row | None) -> Walked:
        """What leads to an arrow, the arrow, and that a worker without its lease comes too late."""
        self._let_the_lease_run_out(arrow, key)
        if arrow in ("finish", "fail", "give_up"):
            self._expect("worker", "beat", "kept")
        process = self._asked(arrow, key)
        if arrow in ("claim", "take_over"):
            self.lease_end = self.now + LEASE_SECONDS
        if arrow in TOO_EARLY:
            for late in ("beat", "finish", "fail"):
                self._expect("worker", late, "lost")
        if arrow == "take_over":
            self.names["worker"], self.names["other"] = self.names["other"], self.names["worker"]
        return Walked(key or (("id", int(self.said)),), (process.record(),), (arrow,))

    def _let_the_lease_run_out(self, arrow: str, key: Row | None) -> None:
        if arrow in TOO_EARLY and self.now < self.lease_end:
            self.now = self.lease_end - 1
            self._asked(arrow, key, TOO_EARLY[arrow])
            self.now = self.lease_end

    def _asked(self, arrow: str, key: Row | None, wanted: str | None = None) -> RunningProcess:
        who, command, answer = DEEDS[arrow]
        words = {"queue": f"q{self.tours}", "attempts": self._attempts(), "id": key[0][1] if key else ""}
        return self._expect(who, command.format(**words), wanted or answer.format(**words))

    def _attempts(self) -> int:
        """The claims that come ahead of dead; more than enough when that does not come."""
        ahead = self.coming[: self.coming.index("dead")] if "dead" in self.coming else ["running"] * 9
        return ahead.count("running")

    def _expect(self, who: str, command: str, wanted: str) -> RunningProcess:
        process = self._agent(who)
        self.said = process.ask(f"{self.now} {command}")
        if wanted and self.said != wanted:
            raise DriverError(f"The {who} was asked to {command}, and answered {self.said!r} in place of {wanted!r}.")
        return process

    def _agent(self, who: str) -> RunningProcess:
        """The process of somebody, started when there is none."""
        name = self.names[who]
        if name not in self.agents or not self.agents[name].is_running:
            command = [sys.executable, str(SERVICE), str(self.database), name]
            self.agents[name] = self.processes.start(name, command, {"LEASE_HOLD": str(self.hold)}, waits=True)
            self.agents[name].read_line()
        return self.agents[name]
