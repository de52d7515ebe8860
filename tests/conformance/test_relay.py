"""What a relay sees of a connection, by messages as a client of PostgreSQL sends them."""

from __future__ import annotations

import socket
import threading

import pytest

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
