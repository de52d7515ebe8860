"""What comes over a bare socket, slowly, broken or not at all: a deadline, a problem, and nothing stored."""

from __future__ import annotations

import json
import socket
import time
from contextlib import contextmanager

import pytest

from arrowproof.service.note_request import LARGEST_BODY_BYTES

DEADLINE = 0.4
BODY = b'{"text": "slow"}'


@pytest.fixture(scope="module")
def slow(shared):
    """A server that waits for a request only a moment."""
    return shared.server("--request-timeout", str(DEADLINE))


@contextmanager
def connected(server):
    host, _, port = server.ready["ready"].removeprefix("http://").rpartition(":")
    with socket.create_connection((host, int(port)), timeout=30) as client:
        yield client


def head(key, **headers):
    fields = {"Host": "localhost", "Idempotency-Key": key, "Content-Type": "application/json", **headers}
    return b"POST /notes HTTP/1.1\r\n" + "".join(f"{n}: {v}\r\n" for n, v in fields.items()).encode() + b"\r\n"


def read_all(client):
    """Everything that comes until the server closes."""
    received = b""
    while chunk := client.recv(65536):
        received += chunk
    return received


def read_problem(client, status, kind):
    answer = read_all(client)
    first, _, body = answer.partition(b"\r\n\r\n")
    assert first.startswith(f"HTTP/1.1 {status} ".encode()), answer
    for header in (b"connection: close", b"cache-control: no-store", b"x-content-type-options: nosniff"):
        assert header in first.lower()
    problem = json.loads(body)
    assert (problem["status"], problem["type"]) == (status, f"/problems/{kind}")


def dribble(client, data, until):
    """Send byte by byte until the other side has had enough."""
    deadline = time.monotonic() + until
    try:
        for byte in data:
            if time.monotonic() > deadline:
                pytest.fail("the server would wait for ever")
            client.sendall(bytes([byte]))
            client.settimeout(0.02)
            try:
                if client.recv(1, socket.MSG_PEEK) is not None:
                    return
            except TimeoutError:
                continue
            finally:
                client.settimeout(30)
    except OSError:
        return


def send_for_ever(client):
    deadline = time.monotonic() + 30
    while time.monotonic() < deadline:
        client.sendall(b"x")
        time.sleep(0.01)


@pytest.mark.parametrize(
    "framing", [{"Content-Length": len(BODY)}, {"Transfer-Encoding": "chunked"}], ids=["sized", "chunked"]
)
@pytest.mark.parametrize("sent", [b"", b"1"])
def test_a_body_that_does_not_come_in_time_is_a_problem_and_the_end_of_its_connection(slow, shared, framing, sent):
    before = shared.sql("SELECT count(*) FROM notes")
    with connected(slow) as client:
        client.sendall(head("slow", **framing) + sent)
        read_problem(client, 408, "too-slow")
    assert shared.sql("SELECT count(*) FROM notes") == before


def test_a_body_that_comes_byte_by_byte_has_one_deadline_for_all_of_it(slow):
    with connected(slow) as client:
        client.sendall(head("slow", **{"Content-Length": 100_000}))
        dribble(client, b" " * 100_000, 30)
        read_problem(client, 408, "too-slow")


def test_a_head_that_comes_byte_by_byte_has_one_deadline_for_all_of_it(slow):
    with connected(slow) as client:
        dribble(client, b"GET /jobs/1 HTTP/1.1\r\nX: " + b"x" * 100_000, 30)
        read_problem(client, 408, "too-slow")


def test_a_connection_on_which_nothing_comes_is_closed(slow):
    with connected(slow) as client:
        assert read_all(client) == b""


def test_a_body_that_nobody_reads_does_not_keep_its_connection_open(slow):
    with connected(slow) as client:
        client.sendall(b"POST /jobs/1/retry HTTP/1.1\r\nHost: localhost\r\nContent-Length: 100000\r\n\r\n")
        assert client.recv(12) == b"HTTP/1.1 404"
        with pytest.raises(OSError, match=r"reset|[Bb]roken"):
            send_for_ever(client)


def test_a_pause_between_two_requests_is_no_slow_request(slow):
    with connected(slow) as client:
        for _ in range(2):
            client.sendall(b"GET /problems/busy HTTP/1.1\r\nHost: localhost\r\n\r\n")
            answer = b""
            while not answer.endswith(b"same key.\n"):
                chunk = client.recv(65536)
                assert chunk, answer
                answer += chunk
            time.sleep(DEADLINE * 2)


@pytest.mark.parametrize(
    "request_bytes",
    [
        b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03" + b"\x00" * 100 + b"\r\n\r\n",
        b"GET /jobs/1 HTTP/1.1\r\n\r\n",
        b"GET /jobs/1 HTTP/1.1\r\nHost: a\r\nHost: b\r\n\r\n",
        b"GET /jobs /1 HTTP/1.1\r\nHost: localhost\r\n\r\n",
        b"POST /notes HTTP/1.1\r\nHost: localhost\r\nContent-Length: -1\r\n\r\n",
        b"POST /notes HTTP/1.1\r\nHost: localhost\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\n",
        b"POST /notes HTTP/1.1\r\nHost: localhost\r\nContent-Length: \xd9\xa3\r\n\r\n",
        b"GET /jobs/1 HTTP/1.1\r\nHost: localhost\r\nX: " + b"x" * 100_000,
        head("bad-chunk", **{"Transfer-Encoding": "chunked"}) + b"zz\r\n",
    ],
)
def test_what_is_no_http_is_a_problem(slow, request_bytes):
    with connected(slow) as client:
        client.sendall(request_bytes)
        read_problem(client, 400, "bad-http")


def test_a_chunk_that_is_broken_after_the_answer_ends_the_connection_without_a_word(slow):
    with connected(slow) as client:
        client.sendall(b"POST /jobs/1/retry HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\n\r\n")
        assert client.recv(12) == b"HTTP/1.1 404"
        client.sendall(b"zz\r\n")
        rest = read_all(client)
        assert b"HTTP/1.1" not in rest
    assert "Traceback" not in slow.stderr


def test_a_body_that_says_that_it_is_too_large_is_refused_before_it_comes(server):
    with connected(server) as client:
        length = str(LARGEST_BODY_BYTES + 1)
        client.sendall(head("large", **{"Content-Length": length, "Expect": "100-continue"}))
        assert client.recv(12) == b"HTTP/1.1 413"
    with connected(server) as client:
        client.sendall(head("large", **{"Content-Length": "9" * 5000}))
        assert client.recv(10) == b"HTTP/1.1 4"


def test_no_strange_request_stopped_the_server_or_was_an_error_of_its_own(slow):
    assert slow.accept("after-all-of-them")["replayed"] is False
    assert "Traceback" not in slow.stderr
    assert "Task exception" not in slow.stderr
