"""What a relay sees of a connection, by messages as a client of PostgreSQL sends them."""

from __future__ import annotations

import socket
import threading
from collections.abc import Callable

import pytest

from arrowproof.conformance.processes import DEADLINE_SECONDS
from arrowproof.conformance.relay import Line


def query(text: str) -> bytes:
    body = text.encode() + b"\0"
    return b"Q" + (len(body) + 4).to_bytes(4, "big") + body


@pytest.mark.parametrize(
    ("text", "is_cut"),
    [
        ("COMMIT", True),
        ("end;", True),
        ("/* app: shop */ COMMIT", True),
        ("-- app: shop\n/* worker */ commit", True),
        ("UPDATE jobs SET state = 'done'; COMMIT", True),
        ("UPDATE jobs SET state = 'COMMIT'", False),
        ("SELECT 1 -- COMMIT", False),
        ("/* COMMIT */ SELECT 1", False),
    ],
)
def test_a_line_is_cut_at_a_commit_whatever_comment_stands_ahead_of_it(text: str, is_cut: bool) -> None:
    (client, ours), (theirs, server) = socket.socketpair(), socket.socketpair()
    with client, ours, theirs, server:
        line = Line(ours, theirs)
        line.cut_commit()
        passing = threading.Thread(target=line.pass_to_server)
        passing.start()
        client.sendall(query(text))
        client.shutdown(socket.SHUT_WR)
        passing.join()
        assert line.is_cut.is_set() is is_cut
        assert server.recv(1000) == (b"" if is_cut else query(text))


class Gate(threading.Event):
    """What a line waits for until it is let go: it tells of who waits, and ``follow`` is done once it is open."""

    def __init__(self, follow: Callable[[], object] = bool) -> None:
        super().__init__()
        self.has_somebody_waiting = threading.Event()
        self._follow = follow

    def wait(self, timeout: float | None = None) -> bool:
        self.has_somebody_waiting.set()
        return super().wait(timeout)

    def set(self) -> None:
        super().set()
        self._follow()


COMMITTED = b"C\0\0\0\x0bCOMMIT\0" + b"Z\0\0\0\x05I"


@pytest.mark.parametrize("is_delayed", [False, True], ids=["sent already", "delayed"])
def test_a_line_that_parts_leaves_the_server_to_its_commit_and_then_ends_both_sides(is_delayed: bool) -> None:
    (client, ours), (theirs, server) = socket.socketpair(), socket.socketpair()
    with client, ours, theirs, server:
        line = Line(ours, theirs)
        threads = [threading.Thread(target=each) for each in (line.pass_to_server, line.pass_to_client)]
        for each in threads:
            each.start()
        if is_delayed:
            line._is_let_go = gate = Gate()
            line.delay_commit()
        client.sendall(query("COMMIT"))
        if not is_delayed:
            assert server.recv(1000) == query("COMMIT")
            line.part()
        assert client.recv(1000) == b""
        assert line.is_cut.is_set()
        if is_delayed:
            assert gate.has_somebody_waiting.wait(DEADLINE_SECONDS)
            server.settimeout(0)
            with pytest.raises(BlockingIOError):
                server.recv(1000)
            server.settimeout(None)
            line.let_go()
            assert server.recv(1000) == query("COMMIT")
        server.sendall(b"N\0\0\0\x05\0")
        server.sendall(COMMITTED)
        assert server.recv(1000) == b""
        for each in threads:
            each.join()


def test_a_commit_that_is_delayed_when_its_line_is_closed_never_goes_out() -> None:
    (client, ours), (theirs, server) = socket.socketpair(), socket.socketpair()
    with client, ours, theirs, server:
        line = Line(ours, theirs)
        passing = threading.Thread(target=line.pass_to_server)
        # Whatever is let go has gone by the time that the next thing is done.
        line._is_let_go = gate = Gate(follow=passing.join)
        line.delay_commit()
        passing.start()
        client.sendall(query("COMMIT"))
        assert gate.has_somebody_waiting.wait(DEADLINE_SECONDS)
        line.close()
        assert server.recv(1000) == b""
