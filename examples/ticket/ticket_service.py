"""The service: each call does one thing to one ticket, in one transaction.

    python ticket_service.py DATABASE schema|report|close|delete [ID]

TICKET_HOLD=before:FILE (or after:FILE) makes it write FILE on that side of its commit and wait there to be killed:
all that a service needs so that a proof can kill it at the right moment.
"""

from __future__ import annotations

import os
import re
import signal
import sys
from pathlib import Path

import apsw

SQL = (Path(__file__).parent / "sql" / "tickets.sql").read_text(encoding="utf-8")
QUERIES = dict(re.findall(r"^-- name: (\w+)\n(.*?;)", SQL, re.MULTILINE | re.DOTALL))


def hold(side: str) -> None:
    """Wait to be killed, when this is the side of the commit that was asked for."""
    asked, _, file = os.environ.get("TICKET_HOLD", "").partition(":")
    if asked == side:
        Path(file).touch()
        signal.pause()


def main(database: str, command: str, ticket: str | None = None) -> None:
    """Do one thing; print the ticket's id, and exit with 1 when there was nothing to do."""
    connection = apsw.Connection(database)
    connection.set_busy_timeout(5000)
    connection.execute("BEGIN IMMEDIATE")
    made = connection.execute(QUERIES[command], {"id": ticket} if ticket else None).fetchall()
    done = connection.changes() == 1 or command == "schema"
    hold("before")
    connection.execute("COMMIT")
    hold("after")
    print(made[0][0] if made else ticket)
    sys.exit(not done)


if __name__ == "__main__":
    main(*sys.argv[1:])
