"""The key as it is read, and what it does over real HTTP on both databases, by one server and by two."""

from __future__ import annotations

import re
import threading
from hashlib import sha256

import httpx
import pytest

from arrowproof.service.idempotency_key import HEADER_PATTERN, read_key
from arrowproof.service.problem import ProblemError
from tests.service.problems import assert_problem

GOOD = {
    "k": "k",
    "!~": "!~",
    "x" * 255: "x" * 255,
    "8e03978e-40d5-43dd-bc93-6894a57f9324": "8e03978e-40d5-43dd-bc93-6894a57f9324",
    "a;b=c\\d'e": "a;b=c\\d'e",
    '"k"': "k",
    '"a,b"': "a,b",
    r'"a\"b\\c"': r'a"b\c',
    '"' + "x" * 255 + '"': "x" * 255,
    '"' + r"\"" * 255 + '"': '"' * 255,
}
MALFORMED = [
    "",
    "a b",
    "\x7f",
    "x" * 256,
    "é",
    "a\n",
    "\t",
    "a,b",
    "a, b",
    ",",
    '"',
    '""',
    '"a',
    'a"',
    'a"b',
    '"a b"',
    '"a"b"',
    r'"a\b"',
    '"a\\"',
    '"a", "b"',
    '"a";b=1',
    '"' + "x" * 256 + '"',
    '"é"',
]


@pytest.mark.parametrize(("sent", "key"), GOOD.items())
def test_a_key_is_taken_bare_and_as_a_quoted_string(sent, key):
    assert read_key([sent]) == key


@pytest.mark.parametrize("sent", MALFORMED)
def test_any_other_value_is_malformed(sent):
    with pytest.raises(ProblemError) as caught:
        read_key([sent])
    assert caught.value.kind.name == "idempotency-key-malformed"


def test_none_is_missing_and_two_are_malformed_though_they_be_the_same():
    with pytest.raises(ProblemError) as caught:
        read_key([])
    assert caught.value.kind.name == "idempotency-key-missing"
    with pytest.raises(ProblemError) as caught:
        read_key(["a", "a"])
    assert caught.value.kind.name == "idempotency-key-malformed"


def test_the_description_of_the_header_takes_what_the_reader_takes():
    for value in [*GOOD, *MALFORMED]:
        described = re.fullmatch(HEADER_PATTERN[1:-1], value) is not None
        try:
            read_key([value])
        except ProblemError:
            assert not described, value
        else:
            assert described, value


def test_quoted_and_bare_name_the_same_key(server):
    first = server.post("quoted-or-bare", "text")
    assert first.status_code == 202
    assert "idempotent-replayed" not in first.headers
    again = server.post('"quoted-or-bare"', " text\n")
    assert again.status_code == 202
    assert again.headers["idempotent-replayed"] == "true"
    assert again.headers["location"] == first.headers["location"]
    assert again.json() == {**first.json(), "replayed": True}


def test_a_replay_is_the_stored_answer_though_the_job_has_ended(notes):
    server = notes.server()
    first = server.accept("k", "text")
    notes.worker().outcome()
    assert server.accept("k", "text") == {**first, "replayed": True}


@pytest.mark.parametrize(
    ("headers", "kind"),
    [
        ([], "idempotency-key-missing"),
        ([("Idempotency-Key", "")], "idempotency-key-malformed"),
        ([("Idempotency-Key", "a"), ("Idempotency-Key", "b")], "idempotency-key-malformed"),
        ([("Idempotency-Key", "a, b")], "idempotency-key-malformed"),
        ([("Idempotency-Key", "a b")], "idempotency-key-malformed"),
        ([("Idempotency-Key", b"\xe9")], "idempotency-key-malformed"),
        ([("Idempotency-Key", "x" * 256)], "idempotency-key-malformed"),
    ],
)
def test_a_missing_and_a_malformed_key_are_problems_with_a_page_of_their_own(server, headers, kind):
    answer = server.client.post("/notes", headers=headers, json={"text": "a"})
    assert_problem(answer, 400, kind)
    page = server.client.get(answer.json()["type"])
    assert page.status_code == 200
    assert page.text.startswith(answer.json()["title"])


def test_a_key_with_another_text_is_a_conflict_and_changes_nothing(server):
    first = server.accept("one-text", "text")
    assert_problem(server.post("one-text", "text."), 409, "idempotency-key-reused")
    assert server.note(first["note_id"])["text"] == "text"
    assert server.accept("one-text", "text") == {**first, "replayed": True}


@pytest.mark.parametrize("requests", [12, 50])
def test_of_many_requests_with_one_key_at_two_servers_one_accepts_and_all_get_its_answer(notes, requests):
    servers = [notes.server("--busy-timeout", "30") for _ in range(2)]
    barrier = threading.Barrier(requests)
    answers = []

    def ask(number):
        barrier.wait()
        answers.append(servers[number % 2].post("k", "text"))

    threads = [threading.Thread(target=ask, args=(number,)) for number in range(requests)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert [answer.status_code for answer in answers] == [202] * requests
    replayed = [answer.json().pop("replayed") for answer in answers]
    assert sorted(replayed) == [False] + [True] * (requests - 1)
    assert [answer.headers.get("idempotent-replayed") == "true" for answer in answers] == replayed
    assert len({(answer.json()["note_id"], answer.json()["job_id"]) for answer in answers}) == 1
    assert notes.sql("SELECT count(*) FROM notes") == [(1,)]
    assert notes.sql("SELECT count(*) FROM jobs") == [(1,)]


def test_a_loser_waits_for_who_has_the_key_and_is_then_answered_as_a_replay(notes):
    first = notes.server(hold="after-note")
    second = notes.server("--busy-timeout", "30")
    answers = {}

    def ask(name, server):
        answers[name] = server.post("k", "text")

    threads = [threading.Thread(target=ask, args=("first", first))]
    threads[0].start()
    notes.held("after-note")
    threads.append(threading.Thread(target=ask, args=("second", second)))
    threads[1].start()
    notes.release("after-note")
    for thread in threads:
        thread.join()
    assert answers["first"].json()["replayed"] is False
    assert answers["second"].json() == {**answers["first"].json(), "replayed": True}


def test_who_waits_for_too_long_is_told_that_the_service_is_busy_and_the_key_still_works(notes):
    first = notes.server(hold="after-note")
    second = notes.server("--busy-timeout", "0.2")
    client = threading.Thread(target=first.post, args=("k", "text"))
    client.start()
    notes.held("after-note")
    busy = second.post("k", "text")
    assert_problem(busy, 503, "busy")
    assert busy.headers["retry-after"] == "1"
    notes.release("after-note")
    client.join()
    assert second.accept("k", "text")["replayed"] is True


def test_a_key_whose_first_request_died_before_its_commit_was_not_used(notes):
    first = notes.server(hold="after-job")
    second = notes.server("--busy-timeout", "30")
    lost = threading.Thread(target=lambda: _ask_in_vain(first))
    lost.start()
    notes.held("after-job")
    answers = []
    loser = threading.Thread(target=lambda: answers.append(second.post("k", "another text")))
    loser.start()
    first.kill()
    lost.join()
    loser.join()
    assert answers[0].status_code == 202
    assert answers[0].json()["replayed"] is False
    assert notes.sql("SELECT text_sha256 FROM notes") == [(sha256(b"another text").hexdigest(),)]


def _ask_in_vain(server):
    with pytest.raises(httpx.TransportError):
        server.post("k", "text")
