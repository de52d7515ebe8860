"""What comes over a bare socket, slowly, broken or not at all: a deadline, a problem, and nothing stored."""

from __future__ import annotations

import socket
import time
from contextlib import ExitStack
from pathlib import Path

import pytest

from arrowproof.service.note_request import LARGEST_BODY_BYTES
from arrowproof.service.parting import PARTING_BYTES
from tests.service.raw_http import connected, get, head, read_all, read_problem, statuses
from tests.service.waiting import wait_until

DEADLINE = 0.4
BODY = b'{"text": "slow"}'


@pytest.fixture(scope="module")
def slow(shared):
    """A server that waits for a request only a moment."""
    return shared.server("--request-timeout", str(DEADLINE))


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


def test_a_client_that_has_said_all_it_has_to_say_is_answered_all_of_it_in_order(slow):
    with connected(slow) as client:
        paths = ["/health", "/nowhere", "/problems/busy", "/jobs/0"]
        client.sendall(b"".join(get(path) for path in paths))
        client.shutdown(socket.SHUT_WR)
        assert statuses(read_all(client)) == [200, 404, 200, 404]


def test_a_client_that_has_said_all_is_not_kept_for_another_request(slow):
    with connected(slow) as other, connected(slow) as client:
        for one in (other, client):
            one.sendall(get("/jobs/0"))
            assert one.recv(12) == b"HTTP/1.1 404"
        client.shutdown(socket.SHUT_WR)
        read_all(client)
        other.sendall(get("/jobs/0", Connection="close"))
        assert statuses(read_all(other)) == [404]


def test_a_note_of_a_client_that_has_said_all_it_has_to_say_is_accepted(slow):
    with connected(slow) as client:
        client.sendall(head("all-said", **{"Content-Length": len(BODY)}) + BODY)
        client.shutdown(socket.SHUT_WR)
        assert statuses(read_all(client)) == [202]


def test_a_client_that_ends_within_its_request_ends_the_connection_and_nothing_is_stored(slow, shared):
    before = shared.sql("SELECT count(*) FROM notes")
    for sent in (b"", b"GET /hea", head("cut", **{"Content-Length": len(BODY)}) + BODY[:-1]):
        with connected(slow) as client:
            client.sendall(sent)
            client.shutdown(socket.SHUT_WR)
            assert read_all(client) == b""
    assert shared.sql("SELECT count(*) FROM notes") == before


def sockets_of(server):
    """How many sockets a server has open."""
    return sum("socket:" in str(file.resolve()) for file in Path(f"/proc/{server.pid}/fd").iterdir())


def ask_for_ever(client):
    """Send requests until no more are taken, and read no answer."""
    client.setblocking(False)
    try:
        while True:
            client.send(get("/openapi.json") * 100)
    except BlockingIOError:
        client.setblocking(True)


def test_clients_that_ask_and_do_not_read_lose_their_connections(slow):
    assert slow.client.get("/health").status_code == 200
    before = sockets_of(slow)
    with ExitStack() as stack:
        clients = [stack.enter_context(connected(slow)) for _ in range(8)]
        for client in clients:
            ask_for_ever(client)
        wait_until(lambda: sockets_of(slow) <= before, "the end of the clients that do not read")
        assert slow.client.get("/health").status_code == 200
    assert "Traceback" not in slow.stderr


def test_a_client_that_reads_late_but_in_time_gets_every_answer(server):
    with connected(server) as client:
        client.sendall(get("/openapi.json") * 99 + get("/openapi.json", Connection="close"))
        wait_until(lambda: len(client.recv(2**20, socket.MSG_PEEK)) > 100_000, "several answers that wait")
        assert statuses(read_all(client)) == [200] * 100


def test_a_client_that_still_sends_can_read_why_its_request_is_not_taken(server):
    length = str(LARGEST_BODY_BYTES + 1)
    with connected(server) as client:
        client.sendall(head("large", **{"Content-Length": length}) + b" " * (LARGEST_BODY_BYTES + 1))
        read_problem(client, 413, "body-too-large")


def test_a_client_that_goes_on_sending_for_nothing_is_cut_off(server):
    with connected(server) as client:
        client.sendall(head("endless", **{"Content-Length": str(100 * PARTING_BYTES)}))
        with pytest.raises(OSError, match=r"reset|[Bb]roken"):
            client.sendall(b" " * (100 * PARTING_BYTES))


def test_an_upgrade_that_is_not_known_is_passed_over(server):
    with connected(server) as client:
        client.sendall(get("/health", Connection="upgrade", Upgrade="websocket") + get("/health", Connection="close"))
        assert statuses(read_all(client)) == [200, 200]
    assert server.stderr == ""


def test_who_waits_to_be_told_to_send_the_body_is_told_to_once_the_head_is_right(server):
    with connected(server) as client:
        client.sendall(
            head("expected", **{"Content-Length": len(BODY), "Expect": "100-continue", "Connection": "close"})
        )
        assert statuses(client.recv(4096)) == [100]
        client.sendall(BODY)
        assert statuses(read_all(client)) == [202]


@pytest.mark.parametrize("said", ["100-continue", "100-Continue"])
def test_who_waits_in_vain_to_be_told_to_send_the_body_can_send_nothing_else_that_is_taken_for_it(server, shared, said):
    before = shared.sql("SELECT count(*) FROM notes")
    note = head("hidden", **{"Content-Length": len(BODY)}) + BODY
    with connected(server) as client:
        expected = head("", **{"Content-Length": len(note), "Expect": said})
        client.sendall(expected)
        assert client.recv(12) == b"HTTP/1.1 400"
        client.sendall(note)
        assert b"connection: close" in read_all(client).lower()
    assert shared.sql("SELECT count(*) FROM notes") == before


def test_many_who_come_and_go_without_a_word_leave_nothing_behind(slow):
    before = sockets_of(slow)
    for _ in range(200):
        with connected(slow):
            pass
    wait_until(lambda: sockets_of(slow) <= before, "the end of who said nothing")


def test_no_strange_request_stopped_the_server_or_was_an_error_of_its_own(slow):
    assert slow.accept("after-all-of-them")["replayed"] is False
    assert "Traceback" not in slow.stderr
    assert "Task exception" not in slow.stderr
