"""Who may ask, over real HTTP: with tokens each client for itself, without them this machine alone."""

from __future__ import annotations

import httpx
import pytest

from arrowproof.service.tokens import token_digest
from tests.service.problems import assert_problem
from tests.service.raw_http import connected, head, read_problem

TOKENS = {"alice": f"notes_{'a' * 43}", "bob": f"notes_{'b' * 43}"}


@pytest.fixture(scope="module")
def guarded(shared):
    """A server with two clients."""
    file = shared.folder / "tokens"
    file.write_text("".join(f"{name} {token_digest(token)}\n" for name, token in TOKENS.items()))
    file.chmod(0o600)
    return shared.server("--tokens", str(file))


@pytest.fixture(scope="module")
def clients(guarded):
    """The HTTP client of each, which sends its token."""
    opened = {
        name: httpx.Client(
            base_url=guarded.ready["ready"],
            headers={"Authorization": f"Bearer {token}"},
            timeout=60,
            trust_env=False,
        )
        for name, token in TOKENS.items()
    }
    yield opened
    for client in opened.values():
        client.close()


def post(client, key, text="text"):
    answer = client.post("/notes", headers={"Idempotency-Key": key}, json={"text": text})
    assert answer.status_code == 202, answer.text
    return answer.json()


@pytest.mark.parametrize(
    ("method", "path"),
    [
        ("POST", "/notes"),
        ("GET", "/jobs"),
        ("GET", "/jobs/1"),
        ("POST", "/jobs/1/retry"),
        ("GET", "/notes/1"),
        ("GET", "/metrics"),
        ("GET", "/nowhere"),
    ],
)
def test_who_bears_no_token_is_told_to(guarded, method, path):
    answer = guarded.client.request(method, path)
    assert_problem(answer, 401, "token-missing")
    assert answer.headers["www-authenticate"] == 'Bearer realm="notes"'


@pytest.mark.parametrize(
    ("framing", "sent"),
    [
        ({"Content-Length": "200000"}, b""),
        ({"Content-Length": "200000"}, b"1" * 50_000),
        ({"Transfer-Encoding": "chunked"}, b""),
        ({"Transfer-Encoding": "chunked"}, b"ffff\r\n" + b"1" * 50_000),
    ],
)
def test_the_body_of_who_bears_no_token_is_not_waited_for(guarded, framing, sent):
    with connected(guarded) as client:
        client.sendall(head("stranger", **framing, Expect="100-continue"))
        client.sendall(sent)
        read_problem(client, 401, "token-missing")


@pytest.mark.parametrize(
    "sent",
    [
        "Basic YTpi",
        "Bearer",
        "Bearer a b",
        TOKENS["alice"],
        f"Bearer {TOKENS['alice']}, Bearer {TOKENS['bob']}",
        b"Bearer \xff",
    ],
)
def test_what_is_no_bearer_token_is_none(guarded, sent):
    assert_problem(guarded.client.get("/jobs", headers={"Authorization": sent}), 401, "token-missing")


def test_two_tokens_are_none(guarded):
    headers = [("Authorization", f"Bearer {token}") for token in TOKENS.values()]
    assert_problem(guarded.client.get("/jobs", headers=headers), 401, "token-missing")


@pytest.mark.parametrize("token", ["x", TOKENS["alice"][:-1], token_digest(TOKENS["alice"]), "a" * 10_000])
def test_a_token_that_nobody_was_given_is_unknown(guarded, token):
    answer = guarded.client.get("/jobs", headers={"Authorization": f"Bearer {token}"})
    assert_problem(answer, 401, "token-unknown")
    assert 'error="invalid_token"' in answer.headers["www-authenticate"]


def test_the_name_of_the_scheme_may_be_written_in_any_case(guarded):
    assert guarded.client.get("/jobs", headers={"Authorization": f"bEARER {TOKENS['bob']}"}).status_code == 200


@pytest.mark.parametrize("path", ["/openapi.json", "/problems/busy"])
def test_what_belongs_to_nobody_asks_for_no_token(guarded, path):
    assert guarded.client.get(path).status_code == 200


def test_two_clients_may_use_the_same_key_for_two_notes(clients):
    first = post(clients["alice"], "same-key", "hers")
    second = post(clients["bob"], "same-key", "his")
    assert not first["replayed"]
    assert not second["replayed"]
    assert first["note_id"] != second["note_id"]
    assert post(clients["alice"], "same-key", "hers") == {**first, "replayed": True}
    assert post(clients["bob"], "same-key", "his") == {**second, "replayed": True}


def test_what_belongs_to_another_client_is_not_there(clients, shared):
    accepted = post(clients["alice"], "private")
    job, note = f"/jobs/{accepted['job_id']}", f"/notes/{accepted['note_id']}"
    before = clients["alice"].get(job).json()
    for method, path in (("GET", job), ("GET", note), ("POST", f"{job}/cancel"), ("POST", f"{job}/retry")):
        theirs = clients["bob"].request(method, path)
        assert_problem(theirs, 404)
        assert theirs.json()["detail"].startswith("there is no ")
    assert clients["alice"].get(job).json() == before
    assert clients["alice"].get(note).status_code == 200
    for query in ("", "?state=pending"):
        listed = {entry["job_id"] for entry in clients["bob"].get(f"/jobs{query}").json()["jobs"]}
        assert accepted["job_id"] not in listed
    assert clients["alice"].post(f"{job}/cancel").status_code == 200
    assert shared.sql("SELECT status FROM jobs WHERE id = %s", accepted["job_id"]) == [("cancelled",)]


def test_lists_of_finished_jobs_hold_a_clients_own_alone(clients):
    accepted = post(clients["alice"], "cancelled")
    assert clients["alice"].post(f"/jobs/{accepted['job_id']}/cancel").status_code == 200
    mine = [job["job_id"] for job in clients["alice"].get("/jobs?state=cancelled").json()["jobs"]]
    assert accepted["job_id"] in mine
    assert accepted["job_id"] not in [
        job["job_id"] for job in clients["bob"].get("/jobs?state=cancelled").json()["jobs"]
    ]


def test_the_document_says_what_asks_for_a_token(guarded, server):
    described = guarded.client.get("/openapi.json").json()
    assert described["components"]["securitySchemes"] == {"token": {"type": "http", "scheme": "bearer"}}
    assert described["paths"]["/notes"]["post"]["security"] == [{"token": []}]
    assert "security" not in described["paths"]["/problems/{name}"]["get"]
    assert "securitySchemes" not in server.client.get("/openapi.json").json()["components"]


def test_with_tokens_host_and_origin_do_not_matter(clients):
    headers = {"Host": "notes.example", "Origin": "https://other.example", "Idempotency-Key": "from-elsewhere"}
    assert clients["bob"].post("/notes", headers=headers, json={"text": "a"}).status_code == 202


@pytest.mark.parametrize("host", ["localhost", "LOCALHOST:1", "localhost.", "127.0.0.1", "127.9.9.9:80", "[::1]:8765"])
def test_without_tokens_a_host_that_is_this_machine_is_answered(server, host):
    assert server.client.get("/jobs", headers={"Host": host}).status_code == 200


@pytest.mark.parametrize(
    "host", ["evil.example", "localhost.evil.example", "127.0.0.1.evil.example", "10.0.0.1", "[::2]", "a@localhost", ""]
)
@pytest.mark.parametrize(("method", "path"), [("GET", "/jobs"), ("POST", "/notes"), ("GET", "/")])
def test_without_tokens_another_host_is_refused(server, host, method, path):
    assert_problem(server.client.request(method, path, headers={"Host": host}), 403, "host-refused")


@pytest.mark.parametrize("origin", ["https://evil.example", "null", "http://localhost", "http://127.0.0.1:1", ""])
@pytest.mark.parametrize("path", ["/notes", "/jobs/1/retry", "/jobs/1/cancel"])
def test_without_tokens_a_page_of_another_origin_changes_nothing(server, origin, path):
    headers = {"Origin": origin, "Idempotency-Key": "foreign"}
    assert_problem(server.client.post(path, headers=headers, json={"text": "a"}), 403, "origin-refused")


def test_without_tokens_its_own_page_may_change_something(server):
    headers = {"Origin": server.ready["ready"], "Idempotency-Key": "own-page"}
    assert server.client.post("/notes", headers=headers, json={"text": "a"}).status_code == 202


def test_no_answer_is_kept_by_a_cache_or_guessed_to_be_of_another_type(server, guarded):
    for answer in (server.client.get("/jobs"), server.client.get("/jobs/0"), guarded.client.get("/jobs")):
        assert answer.headers["cache-control"] == "no-store"
        assert answer.headers["x-content-type-options"] == "nosniff"


def test_with_tokens_the_server_may_listen_on_every_address(guarded, shared):
    everywhere = shared.server("--tokens", str(shared.folder / "tokens"), "--host", "0.0.0.0")
    assert everywhere.ready["ready"] != guarded.ready["ready"]
    assert everywhere.client.get("/jobs").status_code == 401
