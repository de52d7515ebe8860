"""The service: a thin client of functions in the database, which are all that may change a payment.

    PAYMENTS_URL=postgresql://… python payment_client.py [schema]

With ``schema`` it makes the tables and functions. Else each line of its standard input is a call, such as
``claim acme``, and is answered by a line with what the function gave.
"""

from __future__ import annotations

import os
import sys
from pathlib import Path

import psycopg

SCHEMA = Path(__file__).with_name("schema.sql")
CALLS = {
    "request": "SELECT request_payment(%s, %s, %s)",
    "claim": "SELECT claim_payment(%s)",
    "settle": "SELECT settle_payment(%s, %s)",
    "miss": "SELECT miss_answer(%s)",
    "cancel": "SELECT cancel_payment(%s)",
    "refund": "SELECT refund_payment(%s, %s)",
}


def main(command: str = "serve") -> None:
    """Make the schema, or answer every line until there is none."""
    with psycopg.connect(os.environ["PAYMENTS_URL"], autocommit=True) as connection:
        if command == "schema":
            connection.execute(SCHEMA.read_bytes())
            return
        for line in sys.stdin:
            call, *words = line.split()
            ((answer,),) = connection.execute(CALLS[call], words)
            print(answer, flush=True)


if __name__ == "__main__":
    main(*sys.argv[1:])
