"""What has two readings, or would cost too much to read, is refused over a real socket, and its connection closed."""

from __future__ import annotations

from itertools import pairwise

import h11
import pytest
from hypothesis import given
from hypothesis import strategies as st

from arrowproof.service.problem import ProblemError
from arrowproof.service.wire import (
    LARGEST_HEAD_BYTES,
    LONGEST_CHUNK_LINE_BYTES,
    LONGEST_REQUEST_LINE_BYTES,
    MOST_CHUNKS,
    MOST_HEADERS,
    StrictConnection,
)
from tests.service.raw_http import NOTE, connected, get, head, read_all, read_problem, statuses

pytestmark = pytest.mark.parametrize("shared_engine", ["sqlite"], indirect=True, scope="module")

CHUNKED = {"Transfer-Encoding": "chunked"}
SIZED = {"Content-Length": len(NOTE)}
ONE_CHUNK = b"d\r\n" + NOTE + b"\r\n"
END = b"0\r\n\r\n"
HOST = b"Host: localhost\r\n"


def with_lines(lines, framing=SIZED):
    """A request for a note with lines of its own at the end of the head."""
    return head("wire", **framing).removesuffix(b"\r\n") + lines + b"\r\n"


TWO_READINGS = {
    "transfer-encoding and content-length": with_lines(b"Content-Length: 5\r\n", CHUNKED) + ONE_CHUNK + END,
    "content-length and transfer-encoding": with_lines(b"Transfer-Encoding: chunked\r\n") + ONE_CHUNK + END,
    "transfer-encoding of HTTP/1.0": head("wire", **CHUNKED).replace(b"HTTP/1.1", b"HTTP/1.0") + ONE_CHUNK + END,
    "two transfer-encodings": with_lines(b"Transfer-Encoding: chunked\r\n", CHUNKED) + ONE_CHUNK + END,
    "two lengths": with_lines(b"Content-Length: 12\r\n") + NOTE,
    "one length twice": with_lines(b"CONTENT-LENGTH: 13\r\n") + NOTE,
    "a list of lengths": head("wire", **{"Content-Length": "13, 13"}) + NOTE,
    "a length with a sign": head("wire", **{"Content-Length": "+13"}) + NOTE,
    "a negative length": head("wire", **{"Content-Length": "-13"}) + NOTE,
    "a hexadecimal length": head("wire", **{"Content-Length": "0xd"}) + NOTE,
    "a length in other digits": with_lines(b"Content-Length: \xd9\xa3\r\n", {}) + NOTE,
    "a header on two lines": with_lines(b"X: a\r\n b\r\n") + NOTE,
    "a first header that begins with a space": get("/health").replace(b"Host", b" Host"),
    "a space before the colon": with_lines(b"X : a\r\n") + NOTE,
    "a length with a space before the colon": with_lines(b"Content-Length : 13\r\n", {}) + NOTE,
    "bare LF": get("/health").replace(b"\r\n", b"\n"),
    "one bare LF": with_lines(b"X: a\nY: b\r\n") + NOTE,
    "a bare LF before the blank line": get("/health").replace(b"localhost\r\n", b"localhost\n"),
    "a bare CR": with_lines(b"X: a\rY: b\r\n") + NOTE,
    "NUL": with_lines(b"X: a\x00\r\n") + NOTE,
    "another control character": with_lines(b"X: a\x0b\r\n") + NOTE,
    "no host": b"GET /health HTTP/1.1\r\n\r\n",
    "two hosts": get("/health").replace(HOST, HOST + HOST),
    "two empty lines before the request": b"\r\n\r\n" + get("/health"),
    "an empty line of bare LF before the request": b"\n" + get("/health"),
    "a bare CR before the request": b"\r" + get("/health"),
    "a space before the request": b" " + get("/health"),
    "a space in the target": get("/jobs /1"),
    "a target without a path": get("health"),
    "another scheme": get("ftp://localhost/health"),
    "a user in the target": get("http://me@localhost/health"),
    "an asterisk that is not for OPTIONS": get("*"),
    "a tunnel": b"CONNECT elsewhere.example:443 HTTP/1.1\r\n" + HOST + b"\r\n",
    "HTTP/0.9": b"GET /health\r\n\r\n",
    "TLS": b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03" + b"\x00" * 100,
    "a chunk without a size": head("wire", **CHUNKED) + b"zz\r\n",
    "a chunk line with bare LF": head("wire", **CHUNKED) + ONE_CHUNK.replace(b"d\r\n", b"d\n") + END,
    "a bare CR in an extension": head("wire", **CHUNKED) + ONE_CHUNK.replace(b"d\r\n", b"d;a\rb\r\n") + END,
    "a space behind the size of a chunk": head("wire", **CHUNKED) + ONE_CHUNK.replace(b"d\r\n", b"d \r\n") + END,
    "a tab behind the size of the last chunk": head("wire", **CHUNKED) + ONE_CHUNK + b"0\t\r\n\r\n",
    "a chunk whose size has a prefix": head("wire", **CHUNKED) + ONE_CHUNK.replace(b"d\r\n", b"0xd\r\n") + END,
    "a chunk longer than its size": head("wire", **CHUNKED) + b"c\r\n" + NOTE + b"\r\n" + END,
    "a body that ends with bare LF": head("wire", **CHUNKED) + ONE_CHUNK + b"0\r\n\n",
    "a trailer with bare LF": head("wire", **CHUNKED) + ONE_CHUNK + b"0\r\nX: a\n\r\n",
    "an extension without end": head("wire", **CHUNKED) + b"d;" + b"x" * LONGEST_CHUNK_LINE_BYTES,
}


@pytest.mark.parametrize("sent", TWO_READINGS.values(), ids=TWO_READINGS)
def test_what_has_two_readings_is_bad_http_and_stores_nothing(server, shared, sent):
    before = shared.sql("SELECT count(*) FROM notes")
    with connected(server) as client:
        client.sendall(sent)
        read_problem(client, 400, "bad-http")
    assert shared.sql("SELECT count(*) FROM notes") == before


@pytest.mark.parametrize(
    ("sent", "status"),
    [
        (get("/health").replace(b"1.1", b"9.9"), 505),
        (b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n", 505),
        (head("wire", **{"Transfer-Encoding": "gzip, chunked"}), 501),
        (head("wire", **{"Transfer-Encoding": "xchunked"}), 501),
        (get("/health", Expect="a-miracle"), 417),
        (get("/health", Expect="100-continue, a-miracle"), 417),
        (head("wire", **SIZED, Expect="200-ok"), 417),
        (get("/jobs?state=" + "x" * 60_000), 414),
        (get("/health", X="x" * 60_000), 431),
    ],
)
def test_what_this_server_does_not_speak_is_answered_with_the_status_that_says_so(server, sent, status):
    with connected(server) as client:
        client.sendall(sent)
        read_problem(client, status)


@pytest.mark.parametrize("said", ["100-continue", "100-Continue", "100-continue,", ""])
def test_what_a_client_may_expect_is_known_however_it_is_written(server, said):
    with connected(server) as client:
        client.sendall(get("/health", Expect=said, Connection="close"))
        assert statuses(read_all(client))[-1] == 200


def test_http_1_0_expects_nothing(server):
    with connected(server) as client:
        client.sendall(get("/health", Expect="a-miracle").replace(b"1.1", b"1.0"))
        assert statuses(read_all(client)) == [200]


def head_of(size):
    return get("/health", X="x" * (size - len(get("/health", X=""))))


@pytest.mark.parametrize(("more", "answered"), [(0, True), (1, False)])
def test_the_limit_of_a_head_is_exact_however_it_comes(server, more, answered):
    sent = head_of(LARGEST_HEAD_BYTES + more)
    for pieces in ([sent], [sent[:-1], sent[-1:]]):
        with connected(server) as client:
            for piece in pieces:
                client.sendall(piece)
            if answered:
                assert client.recv(12) == b"HTTP/1.1 200"
            else:
                read_problem(client, 431)


@pytest.mark.parametrize(("more", "answered"), [(0, True), (1, False)])
def test_the_limit_of_the_first_line_is_exact(server, more, answered):
    size = LONGEST_REQUEST_LINE_BYTES - len(b"GET /health? HTTP/1.1") + more
    with connected(server) as client:
        client.sendall(get("/health?" + "x" * size))
        if answered:
            assert client.recv(12) == b"HTTP/1.1 200"
        else:
            read_problem(client, 414)


@pytest.mark.parametrize(("more", "answered"), [(0, True), (1, False)])
def test_the_limit_of_headers_is_exact(server, more, answered):
    others = {f"X{number}": "" for number in range(MOST_HEADERS - 2 + more)}
    with connected(server) as client:
        client.sendall(get("/health", Connection="close", **others))
        if answered:
            assert statuses(read_all(client)) == [200]
        else:
            assert "more than 100 headers" in read_problem(client, 431)["detail"]


def in_chunks(number):
    """A note in so many chunks, the last of which has no data."""
    body = NOTE.replace(b"a", b"a" * (number - len(NOTE)))
    return b"".join(b"1\r\n%c\r\n" % byte for byte in body) + END


def test_a_body_may_come_in_so_many_chunks_and_no_more(server):
    with connected(server) as client:
        client.sendall(head("chunks", **CHUNKED) + in_chunks(MOST_CHUNKS))
        client.sendall(head("too-many-chunks", **CHUNKED) + in_chunks(MOST_CHUNKS + 1))
        answers = read_all(client)
    assert statuses(answers) == [202, 400]
    assert b"a body must not come in more than 1000 chunks" in answers


def test_an_extension_and_a_trailer_that_are_right_are_passed_over(server):
    with connected(server) as client:
        body = ONE_CHUNK.replace(b"d\r\n", b"d;name=value;other\r\n") + b"0\r\nX: a\r\n\r\n"
        client.sendall(head("extended", **CHUNKED, Connection="close") + body)
        assert statuses(read_all(client)) == [202]


def test_an_empty_line_before_a_request_is_passed_over(server):
    with connected(server) as client:
        note = head("after-an-empty-line", **SIZED) + NOTE
        client.sendall(b"\r\n" + get("/health") + b"\r\n" + note + b"\r\n" + get("/health", Connection="close"))
        assert statuses(read_all(client)) == [200, 202, 200]


@pytest.mark.parametrize("path", ["/health", "/jobs?limit=1", ""])
@pytest.mark.parametrize("scheme", ["http", "HTTP", "https"])
def test_an_address_of_this_server_is_answered_as_its_path_is(server, path, scheme):
    address = server.ready["ready"].replace("http", scheme, 1)
    with connected(server) as client:
        client.sendall(get(address + path, Host="elsewhere.example", Connection="close"))
        assert statuses(read_all(client)) == [200]


def test_the_host_of_an_address_counts_and_not_the_header(server):
    with connected(server) as client:
        client.sendall(get("http://elsewhere.example/health", Connection="close"))
        assert statuses(read_all(client)) == [403]


@pytest.mark.parametrize(
    "path", ["/jobs/%00", "/problems/..%2f..%2fetc", "/problems/../health", "//health", "/%ff", "/a#b"]
)
def test_a_strange_path_is_one_that_is_not_there(server, path):
    with connected(server) as client:
        client.sendall(get(path, Connection="close"))
        assert statuses(read_all(client)) == [404]


def outcome(pieces):
    """What a connection makes of bytes that come in pieces: the events, or the problem."""
    connection = StrictConnection()
    events = []
    try:
        for piece in pieces:
            connection.receive_data(piece)
            while (event := connection.next_event()) not in (h11.NEED_DATA, h11.PAUSED):
                events.append(event)
    except ProblemError as problem:
        return problem.detail
    merged = b"".join(bytes(event.data) for event in events if isinstance(event, h11.Data))
    return [type(event) for event in events if not isinstance(event, h11.Data)], merged


WHOLE = {
    **TWO_READINGS,
    "a note": head("wire", **SIZED) + NOTE,
    "a note after an empty line": b"\r\n" + head("wire", **SIZED) + NOTE,
    "chunks": head("wire", **CHUNKED) + ONE_CHUNK + END,
}


@given(sent=st.sampled_from(sorted(WHOLE.values())), cuts=st.lists(st.integers(0, 300), max_size=4))
def test_how_the_network_cuts_a_request_changes_nothing(shared_engine, sent, cuts):  # noqa: ARG001 - of the module
    places = [0, *sorted(cuts), len(sent)]
    pieces = [piece for begin, end in pairwise(places) if (piece := sent[begin:end])]
    assert outcome(pieces) == outcome([sent])


def test_no_strange_request_was_an_error_of_the_server_or_a_line_of_its_log(server):
    assert server.accept("after-all-of-them")["replayed"] is False
    assert server.stderr == ""
