"""The server as a process: how it starts, is held, is killed, and ends."""

from __future__ import annotations

import signal
import threading

import apsw
import httpx
import pytest

from tests.service.engines import only_sqlite, open_engine


def test_the_ready_line_says_where_who_and_what_the_database_is(notes):
    server = notes.server()
    database = open_engine(notes.engine)
    facts = dict(database.facts)
    database.close()
    assert {"python", "sqlite" if notes.engine.name == "sqlite" else "postgresql"} <= facts.keys()
    assert server.ready == {"ready": server.ready["ready"], "pid": server.pid, **facts}
    assert server.ready["ready"].startswith("http://127.0.0.1:")


@pytest.mark.parametrize(("told", "status"), [(signal.SIGTERM, 0), (signal.SIGINT, 130)])
def test_it_ends_clean_when_told_to_and_leaves_no_other_file(notes, fingerprint, told, status):
    server = notes.server("--max-attempts", "1")
    assert server.job(server.accept()["job_id"])["max_attempts"] == 1
    server.process.send_signal(told)
    assert server.exit_status() == status
    assert server.stderr == ""
    assert list(fingerprint()) == (["finale.sqlite3"] if notes.engine.name == "sqlite" else [])


def test_two_servers_that_start_on_one_empty_database_at_once_share_it(notes):
    servers = []
    threads = [threading.Thread(target=lambda: servers.append(notes.server())) for _ in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    first, second = servers
    accepted = first.accept("k")
    assert second.accept("k") == {**accepted, "replayed": True}


@pytest.mark.parametrize(
    ("point", "stored"), [("after-job", False), ("after-commit", True)], ids=["before commit", "after commit"]
)
def test_a_kill_while_it_accepts_stores_all_or_nothing_and_the_same_key_is_answered_after_a_restart(
    notes, point, stored
):
    server = notes.server(hold=point)

    def ask_in_vain():
        with pytest.raises(httpx.TransportError):
            server.post("k", "text")

    client = threading.Thread(target=ask_in_vain)
    client.start()
    assert notes.held(point) == {"pid": server.pid, "point": point}
    server.kill()
    client.join()
    expected = [("pending", 0)] if stored else []
    assert notes.sql("SELECT status, attempts FROM jobs") == expected
    accepted = notes.server().accept("k")
    assert accepted["replayed"] is stored
    assert notes.sql("SELECT id, note_id, status FROM jobs") == [(accepted["job_id"], accepted["note_id"], "pending")]


def test_a_held_request_goes_on_after_its_release(notes):
    server = notes.server(hold="after-note")
    answers = []
    client = threading.Thread(target=lambda: answers.append(server.accept()))
    client.start()
    notes.held("after-note")
    assert notes.sql("SELECT count(*) FROM notes") == [(0,)]
    notes.release("after-note")
    client.join()
    assert answers == [{"note_id": 1, "job_id": 1, "replayed": False}]


def test_a_held_request_does_not_keep_the_server_from_ending(notes):
    server = notes.server(hold="after-job")
    answers = []
    client = threading.Thread(target=lambda: answers.append(server.post("k", "text").status_code))
    client.start()
    notes.held("after-job")
    server.process.terminate()
    assert server.exit_status() == 0
    client.join()
    assert answers == [503]
    assert notes.sql("SELECT count(*) FROM notes") == [(0,)]


@only_sqlite
@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["--port", "65536"], "'65536' is no whole number from 0 to 65535"),
        (["--max-attempts", "0"], "'0' is no whole number from 1 to 1000000"),
        (["--host", "no.such.host.invalid"], "cannot listen on 'no.such.host.invalid'"),
        (["--host", "203.0.113.1"], "on '203.0.113.1' others could reach the service"),
        (["--host", "0.0.0.0"], "give --tokens FILE (python -m arrowproof.service.tokens NAME prints a line for it)"),
        (["--host", "::"], "or --host 127.0.0.1"),
        (["--tokens", "no.such.file"], "--tokens 'no.such.file' cannot be read"),
        (["--db", "no/such/folder/finale.sqlite3"], "its folder does not exist"),
        (["--frobnicate"], "unrecognized arguments"),
    ],
)
def test_wrong_arguments_are_refused_and_make_nothing(notes, fingerprint, arguments, said):
    server = notes.refused_server(*arguments)
    assert server.exit_status() == 2
    assert said in server.stderr
    assert "Traceback" not in server.stderr
    assert server.stdout == ""
    assert fingerprint() == {}


@only_sqlite
def test_a_port_that_is_taken_is_refused(notes):
    port = notes.server().ready["ready"].rpartition(":")[2]
    second = notes.refused_server("--port", port)
    assert second.exit_status() == 2
    assert f"port {port}: [Errno 98] Address already in use" in second.stderr


@only_sqlite
def test_a_hold_point_of_the_worker_is_refused(notes):
    server = notes.refused_server(hold=f"after-history:{notes.holds}")
    assert server.exit_status() == 2
    assert "known are after-begin, after-select, after-note, after-job, after-commit" in server.stderr


@only_sqlite
def test_a_database_of_an_older_schema_is_refused_untouched(notes, fingerprint):
    older = apsw.Connection(str(notes.database))
    older.execute("PRAGMA application_id = 1315927141; PRAGMA user_version = 0; CREATE TABLE jobs (id)")
    older.close()
    before = fingerprint()
    server = notes.refused_server()
    assert server.exit_status() == 2
    assert "schema version 0" in server.stderr
    assert fingerprint() == before
