"""The relay: stands between a service and its PostgreSQL server, and can cut a connection at its commit.

What a client does when its connection is lost there is a question of its own. It sees the same whether its COMMIT was
lost or the answer to it, and only the database knows which. Nor is it different for the client while the server is not
done with the COMMIT yet. The relay passes on whole messages of the protocol
(https://www.postgresql.org/docs/current/protocol-message-formats.html) and looks into few of them: which backend
serves a connection, which strings commit, and when the server says that a transaction has ended.

It listens where nobody else gets further by it than by the server itself: on a Unix socket in a folder of our own where
the server is reached by one, since that one tells users apart by who connects; else on loopback.
"""

from __future__ import annotations

import re
import socket
import tempfile
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from urllib.parse import quote, urlencode

from arrowproof.conformance.driver import DriverError
from arrowproof.conformance.postgresql_rows import open_server

NO_RELAY = (
    "Lost connections were not tried: the connection to the server is encrypted, and nobody can look into it. A URL"
    " with sslmode=disable, where the server allows that, has them tried."
)

_SSL, _GSS = 80877103, 80877104
"""The codes by which a client asks for encryption, ahead of all else."""
_HEAD = rb"(?:^|;)(?:\s|/\*.{0,1000}?\*/|--[^\n]{0,1000}\n)*+"
"""Where a statement begins; tools that trace clients put a comment ahead of it, which is no longer than that."""
_COMMITS = re.compile(_HEAD + rb"(?:COMMIT|END)\b", re.IGNORECASE | re.DOTALL)
_BEGINS = re.compile(_HEAD + rb"(?:BEGIN|START\s+TRANSACTION)\b", re.IGNORECASE | re.DOTALL)
_CHUNK = 65_536


class Line:
    """One connection of the service, and that of ours which it is passed on to."""

    def __init__(self, client: socket.socket, server: socket.socket) -> None:
        self._client, self._server = client, server
        self._statements: dict[bytes, bytes] = {}
        self._status = b"I"
        self._has_begun = self._has_committed = False
        self._cuts_commit = self._cuts_answer = self._holds_answer = self._delays_commit = False
        self._has_parted = False
        self._is_let_go = threading.Event()
        self.backend = 0
        """The process id of the backend that serves it; 0 until the server has told it."""
        self.is_cut = threading.Event()
        self.is_held = threading.Event()
        """Whether an answer is held back."""

    @property
    def commit_is_to_come(self) -> bool:
        """Whether a transaction stands whose COMMIT the client has not sent yet."""
        return (self._status != b"I" or self._has_begun) and not self._has_committed

    def cut(self) -> None:
        """Cut it, on both sides."""
        self.is_cut.set()
        self.close()

    def cut_commit(self) -> None:
        """Cut it when the client sends COMMIT, which is not passed on."""
        self._cuts_commit = True

    def cut_answer(self) -> None:
        """Cut it when the server says that the transaction is committed, which is not passed on."""
        self._cuts_answer = True

    def part(self) -> None:
        """Cut it on the side of the client. What that has said stands, and the server goes on with it to its commit."""
        self._has_parted = True
        self.is_cut.set()
        _shut(self._client)

    def delay_commit(self) -> None:
        """Cut it on the side of the client when that sends COMMIT, which is passed on once the line is let go."""
        self._delays_commit = True

    def hold_answer(self) -> None:
        """Hold back what the server says when the transaction has ended, until the line is let go or closed."""
        self._holds_answer = True

    def let_go(self) -> None:
        """Pass on what is held back, and hold back nothing more."""
        self._holds_answer = False
        self._is_let_go.set()

    def close(self) -> None:
        """Close it, on both sides. What is held back is lost."""
        for end in (self._client, self._server):
            _shut(end)
        self._is_let_go.set()

    def pass_to_server(self) -> None:
        """Pass on what the client says, until one of them ends it."""
        self._pass(self._client, self._server, self._is_let_to_server)
        if not self._has_parted:
            self.close()

    def pass_to_client(self) -> None:
        """Pass on what the server says, until one of them ends it."""
        self._pass(self._server, self._client, self._is_let_to_client)
        self.close()

    def _pass(self, source: socket.socket, target: socket.socket, is_let: Callable[[list[bytes]], bool]) -> None:
        left = b""
        with suppress(OSError):
            while chunk := source.recv(_CHUNK):
                messages, left = _messages(left + chunk)
                if not is_let(messages):
                    self.cut()
                    break
                if target is self._server or not self._has_parted:
                    target.sendall(b"".join(messages))

    def _is_let_to_server(self, messages: list[bytes]) -> bool:
        for message in messages:
            text = self._said(message)
            self._has_begun |= _BEGINS.search(text) is not None
            if _COMMITS.search(text):
                if self._cuts_commit:
                    return False
                self._has_committed = True
                if self._delays_commit:
                    self.part()
                    self._is_let_go.wait()
        return True

    def _said(self, message: bytes) -> bytes:
        """The SQL that a message of the client has the server run; empty for one that has it run nothing."""
        kind, body = message[:1], message[5:]
        if kind == b"Q":
            return body.rstrip(b"\0")
        if kind == b"P":
            name, text, *_ = body.split(b"\0")
            self._statements[name] = text
        elif kind == b"B":
            _, name, *_ = body.split(b"\0")
            return self._statements.get(name, b"")
        return b""

    def _is_let_to_client(self, messages: list[bytes]) -> bool:
        # All that came together: what a statement answers comes with the word that its transaction has ended.
        has_ended = False
        for message in messages:
            kind, body = message[:1], message[5:]
            if kind == b"K":
                self.backend = int.from_bytes(body[:4], "big")
            elif kind == b"Z":
                self._status = body[:1]
                self._has_begun = self._has_committed = False
            has_ended |= (kind == b"Z" and body[:1] == b"I") or (kind == b"C" and body.startswith(b"COMMIT\0"))
        if has_ended and self._holds_answer:
            self.is_held.set()
            self._is_let_go.wait()
        return not (has_ended and (self._cuts_answer or self._has_parted))


class Relay:
    """Accepts connections, and passes each on to the server.

    Args:
        url: where the server is.
        address: the host or the socket's folder, and the port, that the server was reached by.
        listener: where the service connects to.
        given: the host or the folder, and the port, that the service is given.
    """

    def __init__(self, url: str, address: tuple[str, int], listener: socket.socket, given: tuple[str, int]) -> None:
        self._address = address
        self._listener = listener
        self._lines: list[Line] = []
        self.url = _relayed(url, *given)
        threading.Thread(target=self._accept, name="relay", daemon=True).start()

    def line(self, backend: int) -> Line:
        """The connection that a backend serves.

        Raises:
            DriverError: it is none of those that came by here.
        """
        line = self.find(backend)
        if line is None:
            raise DriverError("The transaction was not made on a connection to the URL that the driver was given.")
        return line

    def find(self, backend: int) -> Line | None:
        """The connection that a backend serves; None when it did not come by here."""
        return next((line for line in reversed(self._lines) if line.backend == backend), None)

    def close(self) -> None:
        """Close every connection, and accept no more."""
        with suppress(OSError):
            self._listener.shutdown(socket.SHUT_RDWR)
        self._listener.close()
        for line in self._lines:
            line.close()

    def _accept(self) -> None:
        with suppress(OSError):
            while True:
                client, _ = self._listener.accept()
                threading.Thread(target=self._serve, args=(client,), name="relay", daemon=True).start()

    def _serve(self, client: socket.socket) -> None:
        with client, suppress(OSError), _connected(*self._address) as server:
            first = _first_message(client)
            if not first:
                return
            server.sendall(first)
            line = Line(client, server)
            self._lines.append(line)
            answers = threading.Thread(target=line.pass_to_client, name="relay", daemon=True)
            answers.start()
            line.pass_to_server()
            answers.join()


@contextmanager
def relay(url: str) -> Iterator[Relay | None]:
    """A relay to the server of a URL until the end of the block; None where the connection to it is encrypted.

    Raises:
        InputError: the server cannot be reached.
    """
    with open_server(url) as connection:
        info = connection.info
        address = (info.host, info.port)
        is_encrypted = connection.pgconn.ssl_in_use
    if is_encrypted:
        yield None
        return
    with tempfile.TemporaryDirectory(prefix="arrowproof-") as folder:
        if address[0].startswith("/"):
            listener = socket.socket(socket.AF_UNIX)
            listener.bind(str(Path(folder) / f".s.PGSQL.{address[1]}"))
            given = (folder, address[1])
        else:
            listener = socket.socket()
            listener.bind(("127.0.0.1", 0))
            given = ("127.0.0.1", listener.getsockname()[1])
        listener.listen()
        made = Relay(url, address, listener, given)
        try:
            yield made
        finally:
            made.close()


def _shut(end: socket.socket) -> None:
    with suppress(OSError):
        end.shutdown(socket.SHUT_RDWR)


def _relayed(url: str, host: str, port: int) -> str:
    from psycopg.conninfo import conninfo_to_dict

    parts = {key: str(value) for key, value in conninfo_to_dict(url).items() if value not in (None, "")}
    parts.pop("hostaddr", None)
    parts |= {"host": host, "port": str(port), "sslmode": "disable", "gssencmode": "disable"}
    return f"postgresql://?{urlencode(parts, quote_via=quote)}"


def _connected(host: str, port: int) -> socket.socket:
    if not host.startswith("/"):
        return socket.create_connection((host, port))
    connection = socket.socket(socket.AF_UNIX)
    connection.connect(f"{host}/.s.PGSQL.{port}")
    return connection


def _first_message(client: socket.socket) -> bytes:
    """The first message of a session, or of a cancel; a client that asks for encryption is told that there is none."""
    while True:
        head = _received(client, 8)
        length, code = int.from_bytes(head[:4], "big"), int.from_bytes(head[4:], "big")
        if code not in (_SSL, _GSS):
            return head + _received(client, length - 8) if head else b""
        client.sendall(b"N")


def _received(client: socket.socket, size: int) -> bytes:
    """So many bytes; none when the client ends before it has sent them."""
    data = b""
    while len(data) < size:
        chunk = client.recv(size - len(data))
        if not chunk:
            return b""
        data += chunk
    return data


def _messages(data: bytes) -> tuple[list[bytes], bytes]:
    """The whole messages at the beginning of ``data``, and what is left of it."""
    messages, at = [], 0
    while len(data) - at >= 5:
        end = at + 1 + int.from_bytes(data[at + 1 : at + 5], "big")
        if end > len(data):
            break
        messages.append(data[at:end])
        at = end
    return messages, data[at:]
