"""Requests per second of a real server: new notes and replays, by one client and by several at once."""

from __future__ import annotations

import json
import signal
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Iterator, Sequence
from contextlib import closing, contextmanager

from service_jobs import ENVIRONMENT


@contextmanager
def running_server(db: str) -> Iterator[tuple[str, int]]:
    """A server process on a free port, which is ended at the end."""
    command = [sys.executable, "-m", "arrowproof.service.server", "--db", db, "--port", "0"]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, env=ENVIRONMENT)
    assert process.stdout is not None
    try:
        host, _, port = json.loads(process.stdout.readline())["ready"].rpartition("/")[2].rpartition(":")
        yield host, int(port)
    finally:
        process.send_signal(signal.SIGTERM)
        process.stdout.read()
        if process.wait():
            raise subprocess.CalledProcessError(process.returncode, command)


def posts_rate(address: tuple[str, int], keys: Sequence[str], clients: int, replayed: bool) -> float:
    """Answers per second to one POST for each key, of clients that each keep a connection and wait for each answer.

    The client builds its requests before and takes answers apart by hand, so that it costs little beside the server.
    """
    failures: list[Exception] = []
    threads = [
        threading.Thread(target=_post_all, args=(address, keys[client::clients], replayed, failures))
        for client in range(clients)
    ]
    started = time.perf_counter()
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    seconds = time.perf_counter() - started
    if failures:
        raise failures[0]
    return len(keys) / seconds


def _post_all(address: tuple[str, int], keys: Sequence[str], replayed: bool, failures: list[Exception]) -> None:
    wanted = b'"replayed":true' if replayed else b'"replayed":false'
    requests = [_request(address, key) for key in keys]
    try:
        with closing(socket.create_connection(address)) as connection:
            connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            for request in requests:
                connection.sendall(request)
                answer = _answer(connection)
                if not answer.startswith(b"HTTP/1.1 202") or wanted not in answer:
                    raise ValueError(answer)
    except (OSError, ValueError) as error:
        failures.append(error)


def _request(address: tuple[str, int], key: str) -> bytes:
    body = json.dumps({"text": f"the note of {key}"}).encode()
    head = (
        f"POST /notes HTTP/1.1\r\nHost: {address[0]}:{address[1]}\r\nIdempotency-Key: {key}\r\n"
        f"Content-Type: application/json\r\nContent-Length: {len(body)}\r\n\r\n"
    )
    return head.encode() + body


def _answer(connection: socket.socket) -> bytes:
    answer = b""
    while b"\r\n\r\n" not in answer:
        answer += _more(connection)
    head, _, body = answer.partition(b"\r\n\r\n")
    length = int(head.lower().partition(b"content-length:")[2].partition(b"\r\n")[0])
    while len(body) < length:
        body += _more(connection)
    return head + b"\r\n\r\n" + body


def _more(connection: socket.socket) -> bytes:
    came = connection.recv(65536)
    if not came:
        raise OSError("the server closed the connection")
    return came
