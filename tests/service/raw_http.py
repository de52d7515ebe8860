"""HTTP as bytes: what no client library would send, and what comes back."""

from __future__ import annotations

import json
import os
import re
import signal
import socket
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, Protocol

NOTE = b'{"text": "a"}'


class HasUrl(Protocol):
    """A server that has said where it is."""

    ready: dict[str, str]


@contextmanager
def connected(server: HasUrl) -> Iterator[socket.socket]:
    """A connection on which nothing was sent."""
    host, _, port = server.ready["ready"].removeprefix("http://").rpartition(":")
    with socket.create_connection((host, int(port)), timeout=30) as client:
        yield client


@contextmanager
def stopped(server: HasUrl) -> Iterator[None]:
    """Meanwhile the server accepts and reads nothing, and what is sent waits in the system."""
    pid = int(server.ready["pid"])
    os.kill(pid, signal.SIGSTOP)
    try:
        yield
    finally:
        os.kill(pid, signal.SIGCONT)


def get(path: str, **headers: object) -> bytes:
    """A request without a body."""
    return _lines(f"GET {path}", headers) + b"\r\n"


def head(key: str, **headers: object) -> bytes:
    """The head of a request for a note; the framing of its body is among the headers."""
    return _lines("POST /notes", {"Idempotency-Key": key, "Content-Type": "application/json", **headers}) + b"\r\n"


def _lines(what: str, headers: dict[str, object]) -> bytes:
    every = {"Host": "localhost", **headers}
    return f"{what} HTTP/1.1\r\n".encode() + "".join(f"{name}: {value}\r\n" for name, value in every.items()).encode()


def read_all(client: socket.socket) -> bytes:
    """Everything that comes until the server closes."""
    received = b""
    while chunk := client.recv(65536):
        received += chunk
    return received


def read_problem(client: socket.socket, status: int, kind: str = "") -> dict[str, Any]:
    """The problem that comes, after which the server closes, as it says."""
    answer = read_all(client)
    first, _, body = answer.partition(b"\r\n\r\n")
    assert first.startswith(f"HTTP/1.1 {status} ".encode()), answer
    for header in (b"connection: close", b"cache-control: no-store", b"x-content-type-options: nosniff", b"date: "):
        assert header in first.lower()
    assert b"\r\nserver:" not in first.lower()
    problem: dict[str, Any] = json.loads(body)
    assert (problem["status"], problem["type"]) == (status, f"/problems/{kind}" if kind else "about:blank")
    assert problem["detail"]
    return problem


def statuses(answers: bytes) -> list[int]:
    """The status of each answer that came on one connection."""
    return [int(status) for status in re.findall(rb"HTTP/1\.1 ([0-9]{3}) ", answers)]
