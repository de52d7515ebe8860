"""The wake-up on PostgreSQL: NOTIFY within the transaction that makes a job due, LISTEN on a connection of its own.

The server's connections notify at each commit; PostgreSQL sends the notification when the transaction commits, and not
when it is rolled back. The channel bears the
number of the schema that the tables stand in, for one database can have several; a notification of another one wakes
nobody. The connection is the waker's alone: on one that also runs queries a notification could come in with the answer
of a query, and a wait for the socket would never see it.
"""

from __future__ import annotations

import select

import psycopg

from arrowproof.service.address import Address
from arrowproof.service.database import ConnectionLostError
from arrowproof.service.postgresql import PostgresDatabase


class ChannelWaker:
    """See :class:`arrowproof.service.wake.Waker`."""

    def __init__(self, address: Address) -> None:
        self._database = PostgresDatabase(address.url, address.busy_seconds)
        try:
            ((channel,),) = self._database.rows("name_channel")
            self._database.run(f'LISTEN "{channel}"')
        except BaseException:
            self._database.close()
            raise

    def fileno(self) -> int:
        """The socket of the connection."""
        return self._database.connection.fileno()

    def drain(self) -> None:
        """Take in the notifications that have come."""
        connection = self._database.connection.pgconn
        try:
            # Until the socket is silent: behind a farewell of the server comes the end of the connection.
            while select.select([connection.socket], [], [], 0)[0]:
                connection.consume_input()
                while connection.notifies():
                    pass
        except psycopg.Error as error:
            raise ConnectionLostError(f"the connection that listens is lost: {error}") from error

    def close(self) -> None:
        """Close the connection."""
        self._database.close()
