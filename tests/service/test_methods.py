"""HEAD and OPTIONS are answered on every route."""

from __future__ import annotations

import pytest

from tests.service.problems import assert_problem
from tests.service.raw_http import connected, get, read_all

pytestmark = pytest.mark.parametrize("shared_engine", ["sqlite"], indirect=True, scope="module")


@pytest.mark.parametrize("path", ["/health", "/jobs", "/counts", "/metrics", "/openapi.json", "/problems/busy", "/"])
def test_head_is_answered_as_get_without_the_body(server, path):
    asked, whole = server.client.head(path), server.client.get(path)
    assert asked.status_code == whole.status_code == 200
    assert asked.content == b""
    names = ("content-type", "cache-control") if path == "/metrics" else ("content-type", "content-length")
    assert [asked.headers[name] for name in names] == [whole.headers[name] for name in names]


def test_what_follows_an_answer_to_head_is_the_next_answer(server):
    with connected(server) as client:
        client.sendall(get("/nowhere").replace(b"GET", b"HEAD") + get("/health", Connection="close"))
        first, second = read_all(client).split(b"HTTP/1.1 ")[1:]
    assert first.startswith(b"404 ")
    assert first.endswith(b"\r\n\r\n")
    assert second.endswith(b'{"status":"ok"}')


@pytest.mark.parametrize(
    ("path", "methods"),
    [("/health", "GET, HEAD, OPTIONS"), ("/notes", "OPTIONS, POST"), ("/jobs/1/retry", "OPTIONS, POST")],
)
def test_options_says_what_may_be_done_and_so_does_what_may_not(server, path, methods):
    asked = server.client.options(path)
    assert (asked.status_code, asked.content, asked.headers["allow"]) == (204, b"", methods)
    refused = server.client.delete(path)
    assert_problem(refused, 405)
    assert refused.headers["allow"] == methods
    assert refused.json()["detail"] == f"this address takes {methods}"


def test_options_of_the_server_as_a_whole_is_answered(server):
    with connected(server) as client:
        client.sendall(b"OPTIONS * HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n")
        answer = read_all(client)
    assert answer.startswith(b"HTTP/1.1 204 ")
    assert b"allow: get, head, options, post\r\n" in answer.lower()


def test_options_of_what_is_not_there_is_not_found(server):
    assert_problem(server.client.options("/nowhere"), 404)
