"""The driver: how a proof makes this service take a transition, and which of its processes does.

The service has no hold points. The database holds a transaction ahead of its commit, and the proof kills the process.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path

from arrowproof.conformance.driver import DriverError, Walked
from arrowproof.conformance.processes import ProcessGroup, RunningProcess
from arrowproof.conformance.rivals import RequestRival
from arrowproof.model.evidence import Row
from arrowproof.model.transitions import Transition

CLIENT = [sys.executable, str(Path(__file__).with_name("payment_client.py"))]
CALLS = {
    "request": ("request {merchant} 100 {tries}", "{id}"),
    "claim": ("claim {merchant}", "{id}"),
    "accept": ("settle {id} true", "captured"),
    "decline": ("settle {id} false", "declined"),
    "retry": ("miss {id}", "requested"),
    "give_up": ("miss {id}", "declined"),
    "cancel": ("cancel {id}", "cancelled"),
    "refund_part": ("refund {id} 1", "captured"),
    "refund_rest": ("refund {id} {rest}", "refunded"),
}
"""For each arrow the call, and what has to come."""


class PaymentDriver:
    """One process of the client, which stays. Each tour has a merchant of its own, so that it claims its payment."""

    def start_on(self, url: str, folder: Path) -> None:
        """Make the schema."""
        self.processes, self.environment = ProcessGroup(folder), {"PAYMENTS_URL": url}
        self.tours, self.rivals = 0, list[RunningProcess]()
        self.client = self.processes.start("schema", [*CLIENT, "schema"], self.environment)
        self.client.finish()

    def stop(self) -> None:
        """End the client."""
        self.processes.stop()

    def begin(self, tour: Sequence[Transition]) -> None:
        """A payment has as many tries as the tour has claims ahead of giving up; more than enough when it does not."""
        arrows = [step.paths[0][0] for step in tour]
        self.tries = arrows[: arrows.index("give_up")].count("claim") if "give_up" in arrows else 9
        self.tours, self.rest = self.tours + 1, 100

    def walk(self, transition: Transition, key: Row | None) -> Walked:
        """Make the call of the arrow."""
        (arrow,) = transition.paths[0]
        call, wanted = self._call(arrow, key)
        process = self.process_of(transition)
        answer = process.ask(call)
        if key and answer != wanted:
            raise DriverError(f"{call!r} was answered by {answer!r} in place of {wanted!r}.")
        self.rest -= arrow == "refund_part"
        return Walked(key or (("id", int(answer)),), (process.record(),), (arrow,))

    def process_of(self, transition: Transition) -> RunningProcess:  # noqa: ARG002 - there is one
        """The client, started when there is none."""
        if not self.client.is_running:
            self.client = self._client()
        return self.client

    def set_off(self, transition: Transition, key: Row) -> RequestRival:
        """Have one of three more clients make the call, which may have to wait for another."""
        self.rivals = self.rivals or [self._client() for _ in range(3)]
        self.rivals = [*self.rivals[1:], self.rivals[0]]
        process, (call, _) = self.rivals[0], self._call(transition.paths[0][0], key)
        return RequestRival(lambda: process.ask(call), process)

    def _call(self, arrow: str, key: Row | None) -> tuple[str, str]:
        words = {"merchant": f"m{self.tours}", "tries": self.tries, "rest": self.rest, "id": key[0][1] if key else ""}
        call, answer = CALLS[arrow]
        return call.format(**words), answer.format(**words)

    def _client(self) -> RunningProcess:
        return self.processes.start("client", CLIENT, self.environment, waits=True)
