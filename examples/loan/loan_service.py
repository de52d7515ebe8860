"""The service: each call sets the status of one loan, in one transaction; its database refuses what may not be.

    python loan_service.py DATABASE schema|lend|return|lose|find [ID]

LOAN_HOLD=before:FILE (or after:FILE) makes it write FILE on that side of its commit and wait there to be killed.
"""

from __future__ import annotations

import os
import re
import signal
import sys
from pathlib import Path

import apsw

SQL = Path(__file__).parent / "sql"
QUERIES = dict(re.findall(r"^-- name: (\w+)\n(.*?;)", (SQL / "loans.sql").read_text(), re.MULTILINE | re.DOTALL))
STATUS = {"lend": "lent", "return": "returned", "lose": "lost", "find": "returned"}


def hold(side: str) -> None:
    """Wait to be killed, when this is the side of the commit that was asked for."""
    asked, _, file = os.environ.get("LOAN_HOLD", "").partition(":")
    if asked == side:
        Path(file).touch()
        signal.pause()


def main(database: str, command: str, loan: str | None = None) -> None:
    """Do one thing; print the loan's id, or why the database refused it, and exit with 1 then."""
    connection = apsw.Connection(database)
    connection.set_busy_timeout(5000)
    if command == "schema":
        connection.execute(QUERIES["schema"])
        connection.execute((SQL / "guard.sql").read_text())
        return
    connection.execute("BEGIN IMMEDIATE")
    query = QUERIES["lend" if command == "lend" else "move"]
    try:
        made = connection.execute(query, {"status": STATUS[command], "id": loan}).fetchall()
    except apsw.ConstraintError as error:
        sys.exit(str(error))
    hold("before")
    connection.execute("COMMIT")
    hold("after")
    print(made[0][0] if made else loan)


if __name__ == "__main__":
    main(*sys.argv[1:])
