"""More clients than there may be: the next one is told so, and those who are there are answered."""

from __future__ import annotations

import resource
from contextlib import ExitStack
from pathlib import Path

from arrowproof.service.open_files import FEWEST_PARTINGS, MOST_CLIENTS, MOST_PARTINGS
from tests.service.engines import only_sqlite
from tests.service.raw_http import connected, get, head, read_problem, statuses, stopped
from tests.service.waiting import wait_until

FILES = 260
ROOM = 40


def limited(soft, hard):
    """The options of a process that may have so many files open."""
    return {"preexec_fn": lambda: resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))}


def answer(client):
    client.sendall(get("/health"))
    return client.recv(4096)


def is_answered(server):
    with connected(server) as client:
        return statuses(answer(client)) == [200]


@only_sqlite
def test_at_the_limit_of_open_files_a_new_client_is_told_to_come_again_and_the_others_are_answered(notes):
    server = notes.server("--request-timeout", "600", **limited(FILES, FILES))
    with ExitStack() as stack:
        clients = [stack.enter_context(connected(server)) for _ in range(FILES)]
        for client in clients:
            client.settimeout(60)
        # Whoever is too many is told at once, without having asked.
        for client in clients[ROOM:]:
            assert "as many connections" in read_problem(client, 503, "unavailable")["detail"]
        assert [statuses(answer(client)) for client in (clients[0], clients[ROOM - 1])] == [[200], [200]]
        assert server.stderr == ""
        clients[0].close()
        wait_until(lambda: is_answered(server), "room for one more")
    assert server.stderr == ""


@only_sqlite
def test_who_is_too_many_and_has_sent_a_request_already_can_read_that_it_is_to_come_again(notes):
    server = notes.server("--request-timeout", "600", **limited(FILES, FILES))
    with ExitStack() as stack:
        clients = [stack.enter_context(connected(server)) for _ in range(ROOM)]
        # The first one has asked nothing yet, so that it may take its time; it came in before those that are answered.
        assert [statuses(answer(client)) for client in clients[1:]] == [[200]] * (ROOM - 1)
        with stopped(server):
            many = [stack.enter_context(connected(server)) for _ in range(5 * FEWEST_PARTINGS)]
            for client in many:
                client.settimeout(60)
                client.sendall(head("too-many", **{"Content-Length": 50_000}) + b" " * 50_000)
        for client in many:
            assert "as many connections" in read_problem(client, 503, "unavailable")["detail"]
        assert statuses(answer(clients[0])) == [200]
    assert server.stderr == ""


@only_sqlite
def test_who_is_told_to_come_again_and_stays_nevertheless_makes_room_for_the_next(notes):
    server = notes.server("--request-timeout", "600", **limited(FILES, FILES))
    with ExitStack() as stack:
        clients = [stack.enter_context(connected(server)) for _ in range(ROOM + 5 * FEWEST_PARTINGS)]
        last = clients[-1]
        last.settimeout(60)
        problem = read_problem(last, 503, "unavailable")
        assert problem["status"] == 503
        sockets = sum("socket:" in str(file.resolve()) for file in Path(f"/proc/{server.pid}/fd").iterdir())
        assert sockets <= ROOM + FEWEST_PARTINGS + 16


@only_sqlite
def test_the_limit_of_open_files_is_raised_as_far_as_it_may_be(notes):
    server = notes.server(**limited(64, 4096))
    soft, hard = resource.prlimit(server.pid, resource.RLIMIT_NOFILE)
    assert MOST_CLIENTS + MOST_PARTINGS < soft < hard == 4096
    assert is_answered(server)


@only_sqlite
def test_a_limit_that_leaves_no_room_for_clients_is_refused(notes, fingerprint):
    server = notes.refused_server(**limited(200, 200))
    assert server.exit_status() == 2
    assert "this process may have 200 files open at once, and the server needs 228 at least" in server.stderr
    assert "(ulimit -n 732), or give fewer --connections" in server.stderr
    assert fingerprint() == {}


@only_sqlite
def test_fewer_connections_to_the_database_leave_room_for_clients(notes):
    assert is_answered(notes.server("--connections", "1", **limited(200, 200)))
