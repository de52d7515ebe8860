"""The lossy line: a proxy before PostgreSQL on which the answer to a statement is lost, as on a network that breaks."""

from __future__ import annotations

import select
import socket
import tempfile
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from socketserver import BaseRequestHandler, ThreadingUnixStreamServer

from psycopg.conninfo import conninfo_to_dict

from tests.service.engines import PostgresEngine

COMMIT = "COMMIT;"
_MOST_BYTES = 65_536


class _Line(ThreadingUnixStreamServer):
    daemon_threads = True

    def __init__(self, place: Path, server: Path, statement: str) -> None:
        self.server = server
        self.statement = statement.encode()
        self.losses = 0
        super().__init__(str(place), _Relay)


class _Relay(BaseRequestHandler):
    """One connection: everything is handed on, but for the answer to the first such statement of all."""

    server: _Line

    def handle(self) -> None:
        client: socket.socket = self.request
        is_answer_lost = False
        with socket.socket(socket.AF_UNIX) as server:
            server.connect(str(self.server.server))
            while True:
                for one in select.select([client, server], [], [])[0]:
                    data = one.recv(_MOST_BYTES)
                    if not data or (one is server and is_answer_lost):
                        return
                    if one is client and self.server.statement in data and not self.server.losses:
                        self.server.losses += 1
                        is_answer_lost = True
                    (server if one is client else client).sendall(data)


@contextmanager
def without_answer(engine: PostgresEngine, statement: str) -> Iterator[str]:
    """The URL of the same database by a line that breaks once the server has answered the first such statement on it.

    ``statement`` is a part of its text, which goes over the line when it is prepared.
    """
    parts = conninfo_to_dict(engine.db)
    name = f".s.PGSQL.{parts.get('port') or 5432}"
    # Not in the test's own folder, whose name can be too long for a socket.
    with (
        tempfile.TemporaryDirectory() as folder,
        _Line(Path(folder) / name, Path(str(parts["host"])) / name, statement) as line,
    ):
        thread = threading.Thread(target=line.serve_forever, kwargs={"poll_interval": 0.01})
        thread.start()
        try:
            yield engine.address(host=folder)
            assert line.losses == 1
        finally:
            line.shutdown()
            thread.join()
