"""A shop in one script: `python orders_service.py DATABASE COMMAND [NUMBER]`. Not part of Arrowproof, and not notes.

Orders have keys of TEXT and a table WITHOUT ROWID. Commands: place, pay, ship, cancel, remind. The environment:
ORDERS_HOLD=before|after:FILE makes the file at that side of the commit and waits to be killed; ORDERS_BREAK=WHAT is
what a test wants to be wrong.
"""

import os
import sys
import time
from pathlib import Path

import apsw

BROKEN = os.environ.get("ORDERS_BREAK", "")
TABLE = "CREATE TABLE {} (number TEXT PRIMARY KEY, state TEXT NOT NULL, reminders INTEGER) WITHOUT ROWID"
COMMANDS = {
    "place": "INSERT INTO orders VALUES (:number, 'open', 0)",
    "pay": "UPDATE orders SET state = 'paid' WHERE number = :number AND state = 'open'",
    "ship": "UPDATE orders SET state = 'shipped' WHERE number = :number AND state = 'paid'",
    "cancel": "DELETE FROM orders WHERE number = :number AND state = 'open'",
    "remind": "UPDATE orders SET state = 'open', reminders = reminders + 1 WHERE number = :number AND state = 'open'",
}


def main(database: str, command: str, number: str) -> None:
    connection = apsw.Connection(database)
    connection.set_busy_timeout(5000)
    if command == "setup":
        connection.execute(f"PRAGMA journal_mode = WAL; {TABLE.format('orders')}").fetchall()
        return
    if BROKEN != "autocommit":
        connection.execute("BEGIN IMMEDIATE")
    connection.execute(COMMANDS[command], {"number": number})
    if command == ("cancel" if BROKEN == "other-row" else "pay"):
        go_wrong(connection, number)
    hold("before")
    if connection.in_transaction:
        connection.execute("ROLLBACK" if BROKEN == "never-commits" and command == "pay" else "COMMIT")
    hold("after")


def go_wrong(connection: apsw.Connection, number: str) -> None:
    again = "UPDATE orders SET state = 'paid', reminders = 1 WHERE number = :number"
    wrong = {
        "skips-a-state": "UPDATE orders SET state = 'shipped' WHERE number = :number",
        "unknown-state": "UPDATE orders SET state = 'lost' WHERE number = :number",
        "claims-twice": again,
        "commits-twice": again,
        "other-row": "UPDATE orders SET state = 'open' WHERE number <> :number AND state = 'shipped'",
        "touch-of-other-row": "UPDATE orders SET reminders = 9 WHERE number <> :number",
    }
    if BROKEN == "commits-twice":
        connection.execute("COMMIT; BEGIN IMMEDIATE")
    if BROKEN in wrong:
        connection.execute(wrong[BROKEN], {"number": number})
    if BROKEN == "hides":
        hide(connection)
    if BROKEN == "rebuilds":
        connection.execute(f"{TABLE.format('fresh')}; INSERT INTO fresh SELECT * FROM orders")
        connection.execute("DROP TABLE orders; ALTER TABLE fresh RENAME TO orders")


def hide(connection: apsw.Connection) -> None:
    """Change another order while the triggers are away, and put them back as they were."""
    triggers = connection.execute("SELECT name, sql FROM sqlite_schema WHERE type = 'trigger'").fetchall()
    for name, _ in triggers:
        connection.execute(f'DROP TRIGGER "{name}"')
    connection.execute("INSERT INTO orders VALUES ('hidden', 'shipped', 0)")
    for _, sql in triggers:
        connection.execute(sql)


def hold(side: str) -> None:
    wanted, _, file = os.environ.get("ORDERS_HOLD", "").partition(":")
    if wanted == side:
        Path(file).touch()
        parent = os.getppid()
        while os.getppid() == parent:
            time.sleep(0.002)
        os._exit(1)


main(*sys.argv[1:], *[""] * (4 - len(sys.argv)))
