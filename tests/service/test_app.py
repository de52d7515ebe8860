"""The API over real HTTP. Who only speaks HTTP shares one server."""

from __future__ import annotations

import asyncio
import re
import socket
from datetime import datetime
from itertools import count

import httpx
import pytest

from arrowproof.service.app import create_app
from arrowproof.service.clock import database_clock
from arrowproof.service.hold import Hold
from arrowproof.service.note_request import LARGEST_BODY_BYTES
from arrowproof.service.settings import Settings
from tests.service.problems import assert_problem

HEADERS = {"Idempotency-Key": "k", "Content-Type": "application/json"}
_numbers = count()


def new_key():
    return f"key-{next(_numbers)}"


def test_an_accepted_note_can_be_looked_at(server):
    response = server.post(new_key(), " 日本語 \u0001 ")
    assert response.status_code == 202
    accepted = response.json()
    assert accepted.keys() == {"note_id", "job_id", "replayed"}
    assert response.headers["location"] == f"/jobs/{accepted['job_id']}"
    assert server.note(accepted["note_id"]) == {"text": " 日本語 \u0001 ", "job_id": accepted["job_id"], "events": []}
    job = server.job(accepted["job_id"])
    due = job.pop("next_run_at")
    assert re.fullmatch(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z", due)
    assert datetime.fromisoformat(due).tzinfo is not None
    assert job == {
        "status": "pending",
        "attempts": 0,
        "max_attempts": 3,
        "last_error": None,
        "note_id": accepted["note_id"],
        "finished_at": None,
        "errors": [],
    }


@pytest.mark.parametrize("wrong", ["0", "-1", "abc", "1.0", "01", "+1", "%20", "٣", "9" * 5000, str(2**63), "1%00"])
@pytest.mark.parametrize("kind", ["jobs", "notes"])
def test_an_id_that_cannot_be_is_not_found(server, kind, wrong):
    assert_problem(server.client.get(f"/{kind}/{wrong}"), 404)


@pytest.mark.parametrize(
    "path",
    [
        "/jobs/999999",
        f"/notes/{2**63 - 1}",
        "/index.html",
        "/favicon.ico",
        "/notes/1/events",
        "/docs",
        "/jobs/1/",
        "/notes/",
    ],
)
def test_what_is_not_there_is_not_found(server, path):
    assert_problem(server.client.get(path), 404)


def test_who_asks_at_no_address_of_the_service_is_told_where_they_stand(server):
    refused = server.client.get("/nowhere").json()
    assert refused["detail"] == "there is nothing at this address; GET /openapi.json says what there is"


@pytest.mark.parametrize(("method", "path"), [("DELETE", "/jobs/1"), ("GET", "/notes"), ("PUT", "/notes")])
def test_a_method_that_the_path_does_not_know_is_refused(server, method, path):
    response = server.client.request(method, path)
    assert_problem(response, 405)
    assert response.headers["allow"]


@pytest.mark.parametrize(
    ("headers", "status"),
    [
        ([("Content-Type", "application/json")], 400),
        ([("Idempotency-Key", ""), ("Content-Type", "application/json")], 400),
        ([("Idempotency-Key", "a"), ("Idempotency-Key", "b"), ("Content-Type", "application/json")], 400),
        ([("Idempotency-Key", "a b"), ("Content-Type", "application/json")], 400),
        ([("Idempotency-Key", "\xe9".encode("latin-1")), ("Content-Type", "application/json")], 400),
        ([("Idempotency-Key", "x" * 256), ("Content-Type", "application/json")], 400),
        ([("Idempotency-Key", "k")], 415),
        ([("Idempotency-Key", "k"), ("Content-Type", "text/plain")], 415),
    ],
)
def test_headers_that_are_wrong_are_refused(server, headers, status):
    assert_problem(server.client.post("/notes", headers=headers, content=b'{"text": "a"}'), status)


@pytest.mark.parametrize(("body", "status"), [(b'{"text": "a", "text": "b"}', 400), (b'{"text": "\\ud800"}', 422)])
def test_bodies_that_are_wrong_are_refused(server, body, status):
    assert_problem(server.client.post("/notes", headers=HEADERS, content=body), status)


def test_a_body_at_the_limit_is_taken_and_one_byte_more_is_refused(server):
    largest = b'{"text": "' + b"x" * (LARGEST_BODY_BYTES - 12) + b'"}'
    assert len(largest) == LARGEST_BODY_BYTES
    headers = {**HEADERS, "Idempotency-Key": new_key()}
    assert server.client.post("/notes", headers=headers, content=largest).status_code == 202
    assert_problem(server.client.post("/notes", headers=headers, content=largest + b" "), 413)


def test_a_body_that_does_not_say_its_size_is_limited_too(server):
    chunks = (b"x" * 10_000 for _ in range(LARGEST_BODY_BYTES // 10_000 + 1))
    assert_problem(server.client.post("/notes", headers=HEADERS, content=chunks), 413)


def test_no_refused_request_stored_anything_or_stopped_the_server(server):
    before = server.accept(new_key())
    assert_problem(server.client.post("/notes", headers=HEADERS, content=b"{"), 400)
    with socket.create_connection(("127.0.0.1", int(server.ready["ready"].rpartition(":")[2]))) as rude:
        head = "".join(
            f"{name}: {value}\r\n" for name, value in {"Host": "localhost", **HEADERS, "Content-Length": 100}.items()
        )
        rude.sendall(b"POST /notes HTTP/1.1\r\n" + head.encode() + b"\r\n{")
    after = server.accept(new_key())
    assert after["note_id"] == before["note_id"] + 1
    assert "Traceback" not in server.stderr


def test_the_description_names_every_route_and_its_answers(server):
    paths = server.client.get("/openapi.json").json()["paths"]
    assert set(paths) == {
        "/notes",
        "/notes/{note_id}",
        "/jobs",
        "/jobs/{job_id}",
        "/jobs/{job_id}/retry",
        "/jobs/{job_id}/cancel",
        "/problems/{name}",
        "/",
        "/counts",
        "/health",
        "/metrics",
    }
    assert {"202", "400", "409", "413", "415", "422", "503"} <= set(paths["/notes"]["post"]["responses"])
    assert paths["/notes"]["post"]["parameters"][0]["name"] == "Idempotency-Key"


def test_a_busy_database_is_unavailable_for_now_and_the_same_key_works_later(server, shared):
    first = server.accept(new_key())
    key = new_key()
    with shared.engine.busy():
        busy = server.post(key, "text")
        assert_problem(busy, 503, "busy")
        assert busy.headers["retry-after"] == "1"
    assert server.job(first["job_id"])["status"] == "pending"
    assert server.accept(key)["replayed"] is False


def test_a_database_that_refuses_to_store_is_unavailable_and_keeps_nothing(server, shared):
    shared.engine.fault("INSERT ON jobs")
    before = shared.sql("SELECT count(*) FROM notes")
    key = new_key()
    refused = server.post(key, "text")
    assert_problem(refused, 503, "unavailable")
    assert "no history today" not in refused.text
    assert "no history today" in server.stderr
    assert shared.sql("SELECT count(*) FROM notes") == before
    shared.engine.mend()
    assert server.accept(key)["replayed"] is False


def test_a_database_that_goes_on_refusing_is_not_told_to_the_log_at_each_request(server, shared):
    shared.engine.fault("INSERT ON jobs")
    before = server.stderr
    for _ in range(20):
        assert_problem(server.post(new_key(), "text"), 503, "unavailable")
    shared.engine.mend()
    assert len(server.stderr.removeprefix(before).splitlines()) <= 10


def test_a_bug_is_a_problem_that_tells_the_client_nothing_of_it():
    class BrokenPool:
        def lend(self):
            raise ZeroDivisionError("secret")

    async def ask():
        app = create_app(Settings(BrokenPool(), BrokenPool(), 3, database_clock, Hold()))
        transport = httpx.ASGITransport(app, raise_app_exceptions=False)
        async with httpx.AsyncClient(transport=transport, base_url="http://localhost") as client:
            return await client.get("/jobs/1")

    response = asyncio.run(ask())
    assert_problem(response, 500)
    assert "secret" not in response.text
    assert response.headers["cache-control"] == "no-store"
    assert response.headers["x-content-type-options"] == "nosniff"
