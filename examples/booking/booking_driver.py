"""A driver for a service that is not ours: it starts the server, and asks as any client would."""

import sys
from pathlib import Path

import httpx

from arrowproof.conformance.driver import DriverError, Walked
from arrowproof.conformance.processes import ProcessGroup
from arrowproof.model.evidence import Row
from arrowproof.model.transitions import Transition


class BookingDriver:
    """The whole driver: start, stop and walk, and fire for events where the model does not have them."""

    def start(self, folder: Path) -> Path:
        """Start the server on a new file, and wait for the address that it prints once it listens."""
        self.processes, database = ProcessGroup(folder), folder / "bookings.sqlite3"
        command = [sys.executable, str(Path(__file__).with_name("booking_service.py")), str(database)]
        self.server = self.processes.start("server", command)
        self.url = f"{self.server.read_line()}/bookings"
        return database

    def stop(self) -> None:
        """End the server."""
        self.processes.stop()

    def walk(self, transition: Transition, key: Row | None) -> Walked:
        """Ask for what makes the transition; ``key`` is None when a booking is to be made."""
        event = {"held": "hold", "confirmed": "confirm", "cancelled": "cancel"}[str(transition.target)]
        return Walked((("id", self.fire(event, key)),), (self.server.record(),))

    def fire(self, event: str, key: Row | None) -> int:
        """Ask for an event, which is the last part of its address; give the booking's id."""
        path = "" if key is None or event == "hold" else f"/{key[0][1]}/{event}"
        answer = httpx.post(self.url + path, trust_env=False)
        if answer.status_code != 200:
            raise DriverError(f"POST {path or '/'} answered {answer.status_code}.")
        return int(answer.json()["id"])
