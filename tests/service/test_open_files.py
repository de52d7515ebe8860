"""More clients than there may be: the next one is told so, and those who are there are answered."""

from __future__ import annotations

import resource
from contextlib import ExitStack

from arrowproof.service.open_files import MOST_CLIENTS, SPARE_CLIENTS
from tests.service.engines import only_sqlite
from tests.service.raw_http import connected, get, read_problem, statuses
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
def test_the_limit_of_open_files_is_raised_as_far_as_it_may_be(notes):
    server = notes.server(**limited(64, 4096))
    soft, hard = resource.prlimit(server.pid, resource.RLIMIT_NOFILE)
    assert MOST_CLIENTS + SPARE_CLIENTS < soft < hard == 4096
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
