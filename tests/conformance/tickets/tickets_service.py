"""A box office in one script: `python tickets_service.py DATABASE SQL_FILE QUERY ID [SIDE:FILE]`.

It runs one named query of the SQL file in a transaction of its own, so that whoever edits the file changes the service.
With SIDE (before or after the commit) it makes FILE there and waits to be killed.
"""

import re
import sys
import time
from pathlib import Path

import apsw


def main(database: str, sql_file: str, query: str, ticket: str, hold: str = "") -> None:
    queries = dict(re.findall(r"-- name: (\w+)\n(.*?)(?=-- name:|\Z)", Path(sql_file).read_text(), re.DOTALL))
    connection = apsw.Connection(database)
    connection.set_busy_timeout(5000)
    connection.execute("BEGIN IMMEDIATE")
    connection.execute(queries[query], {"id": ticket})
    wait_at("before", hold)
    connection.execute("COMMIT")
    wait_at("after", hold)


def wait_at(side: str, hold: str) -> None:
    wanted, _, file = hold.partition(":")
    if wanted == side:
        Path(file).touch()
        time.sleep(60)
        sys.exit("nobody came to kill")


main(*sys.argv[1:])
