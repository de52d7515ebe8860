"""Bookings over HTTP, by the standard library alone. It knows of no proof: no hold points, no word of Arrowproof.

    python booking_service.py DATABASE

It prints its address once it listens; POST /bookings, POST /bookings/ID/confirm, POST /bookings/ID/cancel.
"""

from __future__ import annotations

import json
import sqlite3
import sys
from contextlib import closing
from http.server import BaseHTTPRequestHandler, HTTPServer

SCHEMA = "CREATE TABLE IF NOT EXISTS bookings (id INTEGER PRIMARY KEY AUTOINCREMENT, status TEXT NOT NULL)"
HOLD = "INSERT INTO bookings (status) VALUES ('held') RETURNING id, status"
CONFIRM = "UPDATE bookings SET status = 'confirmed' WHERE id = ? AND status = 'held' RETURNING id, status"
CANCEL = "UPDATE bookings SET status = 'cancelled' WHERE id = ? AND status <> 'cancelled' RETURNING id, status"


class Bookings(BaseHTTPRequestHandler):
    """One request: one statement, committed by itself."""

    def do_POST(self) -> None:
        """Hold a new booking, or confirm or cancel one; 409 when it cannot be."""
        match self.path.strip("/").split("/"):
            case ["bookings"]:
                self.change(HOLD)
            case ["bookings", booking, "confirm"]:
                self.change(CONFIRM, booking)
            case ["bookings", booking, "cancel"]:
                self.change(CANCEL, booking)
            case _:
                self.answer(404, {"error": "no such address"})

    def change(self, statement: str, *parameters: str) -> None:
        """Run a statement that gives the booking, when it has changed one."""
        with closing(sqlite3.connect(DATABASE)) as connection, connection:
            found = connection.execute(statement, parameters).fetchall()
        if found:
            self.answer(200, {"id": found[0][0], "status": found[0][1]})
        else:
            self.answer(409, {"error": "not in its present state"})

    def answer(self, status: int, content: dict[str, object]) -> None:
        """Send JSON."""
        body = json.dumps(content).encode()
        self.send_response(status)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)


DATABASE = sys.argv[1]
with closing(sqlite3.connect(DATABASE)) as made:
    made.execute(SCHEMA)
server = HTTPServer(("127.0.0.1", 0), Bookings)
print(f"http://127.0.0.1:{server.server_port}", flush=True)
server.serve_forever()
