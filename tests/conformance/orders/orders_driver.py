"""The driver of the orders script, as an owner would write it; found by `load_driver` in this folder."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path

from arrowproof.conformance.driver import Killed, Walked
from arrowproof.conformance.processes import ProcessGroup, RunningProcess
from arrowproof.model.evidence import Row, Side
from arrowproof.model.transitions import Transition

SERVICE = Path(__file__).with_name("orders_service.py")
COMMANDS = {
    (None, "open"): "place",
    ("open", "paid"): "pay",
    ("paid", "shipped"): "ship",
    ("open", None): "cancel",
    ("open", "open"): "remind",
}


class OrdersDriver:
    """Runs one process of the script for each transition. ``broken`` is what the service shall get wrong."""

    def __init__(self) -> None:
        self.broken = ""
        self.processes = ProcessGroup(Path())
        self.database = Path()
        self.orders = 0

    def start(self, folder: Path) -> Path:
        self.processes = ProcessGroup(folder)
        self.database = folder / "orders.sqlite3"
        self.run("setup", "").finish()
        return self.database

    def stop(self) -> None:
        self.processes.stop()

    def begin(self, tour: Sequence[Transition]) -> None:
        assert tour

    def walk(self, transition: Transition, key: Row | None) -> Walked:
        number = self.number(key)
        process = self.run(COMMANDS[transition.pair], number)
        process.finish()
        return Walked((("number", number),), (process.record(),))

    def end(self, key: Row | None) -> None:
        """Nothing picks up orders on its own."""

    def kill(self, transition: Transition, key: Row | None, side: Side) -> Killed:
        number = self.number(key)
        word = "before" if side is Side.BEFORE else "after"
        held = self.processes.folder / f"{word}-{transition.name}-{number}".replace(" ", "")
        process = self.run(COMMANDS[transition.pair], number, hold=f"{word}:{held}")
        process.await_file(held)
        process.kill()
        return Killed(f"{word}-commit", (process.record(),), (("number", number),))

    def recover(self, transition: Transition, killed: Killed, side: Side) -> Walked:
        assert killed.key is not None
        if side is Side.BEFORE:
            return self.walk(transition, killed.key)
        return Walked(killed.key, ())

    def number(self, key: Row | None) -> str:
        if key is not None:
            return str(key[0][1])
        self.orders += 1
        return f"N-{self.orders}"

    def run(self, command: str, number: str, hold: str = "") -> RunningProcess:
        environment = {"ORDERS_BREAK": self.broken, "ORDERS_HOLD": hold}
        arguments = [sys.executable, str(SERVICE), str(self.database), command, number]
        return self.processes.start("orders", arguments, environment)
