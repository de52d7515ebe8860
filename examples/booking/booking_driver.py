"""A driver for a service that is not ours: it starts the server, and asks as any client would."""

import json
import sys
from pathlib import Path
from urllib.error import HTTPError
from urllib.request import Request, urlopen

from arrowproof.conformance.driver import DriverError, Walked
from arrowproof.conformance.processes import ProcessGroup
from arrowproof.model.evidence import Row
from arrowproof.model.transitions import Transition

SERVICE = Path(__file__).with_name("booking_service.py")
DEEDS = {"confirmed": "/confirm", "cancelled": "/cancel"}


class BookingDriver:
    """The whole driver: start, stop, walk."""

    def start(self, folder: Path) -> Path:
        """Start the server on a new file, and wait for the address that it prints once it listens."""
        self.processes, database = ProcessGroup(folder), folder / "bookings.sqlite3"
        self.server = self.processes.start("server", [sys.executable, str(SERVICE), str(database)])
        self.url = f"{self.server.read_line()}/bookings"
        return database

    def stop(self) -> None:
        """End the server."""
        self.processes.stop()

    def walk(self, transition: Transition, key: Row | None) -> Walked:
        """Ask for what makes the transition; ``key`` is None when a booking is to be made."""
        path = "" if key is None else f"/{key[0][1]}{DEEDS[str(transition.target)]}"
        try:
            with urlopen(Request(self.url + path, method="POST")) as answer:
                return Walked((("id", json.load(answer)["id"]),), (self.server.record(),))
        except HTTPError as error:
            raise DriverError(f"POST {path or '/'} answered {error.code}.") from error
