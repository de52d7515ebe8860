"""A server is killed at every point of a POST at which it can be held; whoever asks again is answered."""

from __future__ import annotations

import json
import os
import signal
import socket
from collections import Counter
from collections.abc import Iterator
from contextlib import closing, contextmanager
from urllib.parse import urlsplit

import httpx
import pytest

from arrowproof.service.hold import SERVER_POINTS
from tests.service.conftest import wait_until
from tests.service.crash.ground import Ground, ground
from tests.service.crash.nursery import Nursery
from tests.service.crash.workshop import PENDING

REPETITIONS = 10


@pytest.fixture
def nursery(tmp_path):
    with closing(Nursery(tmp_path, "server")) as nursery:
        yield nursery


@contextmanager
def served(place: Ground, nursery: Nursery, hold: str = "") -> Iterator[str]:
    """The URL of a server, which is killed at the end; its connections to the database are gone then."""
    mode = ["--journal-mode", place.journal_mode] if place.journal_mode else []
    with place.outlived():
        pid = nursery.start("--db", place.engine.db, "--port", "0", *mode, hold=hold)
        try:
            wait_until(lambda: nursery.stdout.endswith("\n"), "the ready line")
            yield json.loads(nursery.stdout)["ready"]
        finally:
            os.kill(pid, signal.SIGKILL)
            assert nursery.wait() == -signal.SIGKILL, nursery.stderr


def post_without_answer(url: str) -> socket.socket:
    """Send a note, and leave the answer to come."""
    address = urlsplit(url)
    assert address.hostname
    assert address.port
    body = b'{"text": "text of key"}'
    client = socket.create_connection((address.hostname, address.port))
    client.sendall(
        f"POST /notes HTTP/1.1\r\nHost: {address.netloc}\r\nIdempotency-Key: key\r\n"
        f"Content-Type: application/json\r\nContent-Length: {len(body)}\r\n\r\n".encode()
        + body
    )
    return client


@pytest.mark.timeout(300)
@pytest.mark.parametrize("setting", ["sqlite wal", "postgresql"])
def test_a_kill_at_any_point_of_a_request_stores_all_or_nothing_and_the_same_key_is_answered(
    tmp_path, request, nursery, found, setting
):
    seen: Counter[str] = Counter()
    with ground(setting, tmp_path, request) as place:
        for point in SERVER_POINTS:
            for _ in range(REPETITIONS):
                seen[killed_and_asked_again(place, nursery, point)] += 1
                for table in ("jobs", "notes"):
                    place.sql(f"DELETE FROM {table}")
        assert place.is_sound()
    found(f"{seen.total()} kills: " + ", ".join(f"{count} {what}" for what, count in sorted(seen.items())))


def killed_and_asked_again(place: Ground, nursery: Nursery, point: str) -> str:
    """One kill and what follows it; what the kill left."""
    signalled = place.folder / f"{point}.held"
    with served(place, nursery, f"{point}:{place.folder}") as url:
        client = post_without_answer(url)
        wait_until(signalled.exists, signalled.name)
    signalled.unlink()
    with closing(client):
        assert received(client) == b""
    left = place.stored()
    assert left == ({"key": PENDING} if point == "after-commit" else {}), point

    with served(place, nursery) as url:
        answer = httpx.post(
            f"{url}/notes", headers={"Idempotency-Key": "key"}, json={"text": "text of key"}, trust_env=False
        )
    assert answer.status_code == 202, answer.text
    assert answer.json()["replayed"] == bool(left), point
    assert place.stored() == {"key": PENDING}, point
    ((note_id, job_id),) = place.sql("SELECT note_id, id FROM jobs")
    assert (answer.json()["note_id"], answer.json()["job_id"]) == (note_id, job_id), point
    return "all" if left else "nothing"


def received(client: socket.socket) -> bytes:
    """What came before the connection ended."""
    try:
        return client.recv(1000)
    except ConnectionResetError:
        return b""
