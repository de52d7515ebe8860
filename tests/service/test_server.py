"""The server as a process: how it starts, is held, is killed, and ends."""

from __future__ import annotations

import os
import re
import shutil
import signal
import threading
from datetime import datetime

import apsw
import httpx
import pytest

from arrowproof.service.address import Address
from tests.service.conftest import wait_until
from tests.service.engines import only_postgresql, only_sqlite, open_engine
from tests.service.problems import assert_problem


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


def remove_folder(folder):
    shutil.rmtree(folder)


def lead_in_a_circle(folder):
    shutil.rmtree(folder)
    folder.symlink_to(folder)


@only_sqlite
@pytest.mark.parametrize("given", ["relative", "absolute"])
@pytest.mark.parametrize("goes", [remove_folder, lead_in_a_circle])
def test_a_folder_that_goes_while_the_server_runs_is_a_service_that_cannot_do_this_now(notes, tmp_path, given, goes):
    folder = tmp_path / "place"
    folder.mkdir()
    server = notes.server(db="x.sqlite3" if given == "relative" else folder / "x.sqlite3", cwd=folder)
    server.accept()
    goes(folder)
    for answer in (server.client.get("/health"), server.client.get("/jobs"), server.post("k", "text")):
        assert_problem(answer, 503, "unavailable")
        assert answer.headers["retry-after"] == "1"
    assert "Traceback" not in server.stderr


@only_sqlite
@pytest.mark.parametrize("module", ["server", "worker"])
def test_a_working_directory_that_is_gone_is_refused(notes, tmp_path, module):
    folder = tmp_path / "gone"
    folder.mkdir()

    def go_and_remove():
        os.chdir(folder)
        folder.rmdir()

    start = notes.refused_server if module == "server" else notes.worker
    process = start(db="x.sqlite3", preexec_fn=go_and_remove)
    assert process.exit_status() == 2
    assert "'x.sqlite3' cannot be read" in process.stderr
    assert "Traceback" not in process.stderr


@only_sqlite
@pytest.mark.parametrize("name", ["circle", "circle/x.sqlite3"])
def test_links_that_lead_in_a_circle_are_refused(notes, tmp_path, name):
    lead = tmp_path / "circle"
    lead.symlink_to(lead)
    server = notes.refused_server(db=tmp_path / name)
    assert server.exit_status() == 2
    assert "cannot be read" in server.stderr
    assert "Traceback" not in server.stderr


def rename(notes):
    return notes.database.rename(notes.database.with_name("moved.sqlite3"))


@only_sqlite
@pytest.mark.parametrize("goes", [rename, lambda notes: notes.database.unlink()], ids=["renamed", "removed"])
def test_a_note_is_not_accepted_into_a_file_that_is_gone(notes, goes):
    server = notes.server()
    server.accept("before")
    goes(notes)
    for _ in range(3):
        assert_problem(server.post("k", "text"), 503, "unavailable")
        assert_problem(server.client.get("/jobs/1"), 503, "unavailable")
        assert_problem(server.client.get("/health"), 503, "unavailable")
    assert not notes.database.exists()
    first, *_ = server.stderr.splitlines()
    time, _, said = first.partition(" server: the database failed: ")
    assert datetime.fromisoformat(time).tzinfo is not None
    assert (
        said == f"{str(notes.database)!r} is not there any more: move it back, or end this server and start it "
        "again, which makes a new, empty one"
    )
    # Each of the nine is told at once, with those that come after it, or at the end.
    server.process.send_signal(signal.SIGTERM)
    assert server.exit_status() == 0
    assert len(server.stderr.splitlines()) < 9
    counts = [re.search(rf"{re.escape(said)}(?: \(([0-9]+) times\))?$", line) for line in server.stderr.splitlines()]
    assert sum(int(count[1] or 1) for count in counts) == 9


@only_sqlite
def test_a_file_that_comes_back_or_another_in_its_place_is_served(notes):
    server = notes.server()
    server.accept("first")
    moved = rename(notes)
    assert_problem(server.client.get("/health"), 503, "unavailable")
    Address(str(notes.database)).open(create=True).close()
    assert server.client.get("/health").status_code == 200
    assert server.accept("first")["replayed"] is False
    assert notes.sql("SELECT idempotency_key FROM notes") == [("first",)]
    moved.replace(notes.database)
    assert server.accept("first")["replayed"] is True
    notes.database.write_text("something else")
    notes.database.unlink()
    notes.database.write_text("something else")
    assert_problem(server.post("first", "text"), 503, "unavailable")
    assert notes.database.read_text() == "something else"


@only_sqlite
def test_a_note_that_was_written_into_a_file_as_it_went_is_not_called_accepted(notes):
    server = notes.server(hold="after-job")
    answers = []
    client = threading.Thread(target=lambda: answers.append(server.post("k", "text")))
    client.start()
    notes.held("after-job")
    rename(notes)
    notes.release("after-job")
    client.join()
    assert_problem(answers[0], 503, "unavailable")
    assert "was removed, or replaced" in server.stderr


@only_postgresql
@pytest.mark.parametrize(
    ("setting", "loss"),
    [("fsync", "a power cut can break the whole database"), ("full_page_writes", "a power cut in the middle")],
)
def test_settings_that_can_lose_an_accepted_note_are_warned_of_at_the_start(notes, setting, loss):
    with notes.engine.turned_off(setting):
        wait_until(lambda: notes.engine.sql(f"SHOW {setting}") == [("off",)], "the setting")
        assert f"server: warning: {setting} is off on this PostgreSQL server: {loss}" in notes.server().stderr
    wait_until(lambda: notes.engine.sql(f"SHOW {setting}") == [("on",)], "the setting")
    assert notes.server().stderr == ""


def backends(engine):
    """The processes of the connections of the service."""
    with engine.administrator() as connection:
        every = "SELECT pid FROM pg_stat_activity WHERE application_name = 'arrowproof-notes'"
        return {pid for (pid,) in connection.execute(every)}


@only_postgresql
def test_a_server_has_no_more_connections_than_it_is_told_to_and_gives_back_none_that_is_needed(notes):
    held = notes.server(hold="after-note")
    first = threading.Thread(target=held.post, args=("k", "text"))
    first.start()
    notes.held("after-note")
    server = notes.server("--connections", "3", "--busy-timeout", "60")
    before = backends(notes.engine)
    waiting = [threading.Thread(target=server.post, args=("k", "text")) for _ in range(12)]
    for client in waiting:
        client.start()
    wait_until(lambda: len(backends(notes.engine) - before) == 3, "three connections")
    assert server.client.get("/health").status_code == 200
    assert server.client.get("/metrics").status_code == 200
    assert len(backends(notes.engine) - before) == 4
    notes.release("after-note")
    for client in (first, *waiting):
        client.join()
    assert len(backends(notes.engine) - before) == 4
    assert notes.sql("SELECT count(*) FROM notes") == [(1,)]


def test_a_request_that_gets_no_connection_in_time_is_told_that_the_database_is_busy(notes):
    server = notes.server("--connections", "1", "--busy-timeout", "0.2", hold="after-note")
    client = threading.Thread(target=server.post, args=("k", "text"))
    client.start()
    notes.held("after-note")
    answer = server.client.get("/jobs")
    assert_problem(answer, 503, "busy")
    assert answer.headers["retry-after"] == "1"
    assert server.client.get("/health").status_code == 200
    notes.release("after-note")
    client.join()
    assert server.client.get("/jobs").status_code == 200


@only_postgresql
@pytest.mark.parametrize("told", [signal.SIGTERM, signal.SIGINT])
def test_a_database_that_does_not_answer_does_not_keep_the_server_from_ending(notes, told):
    server = notes.server("--busy-timeout", "0.2", hold="after-note")
    answers = []
    client = threading.Thread(target=lambda: answers.append(server.post("k", "text")))
    client.start()
    notes.held("after-note")
    with notes.engine.silence():
        notes.release("after-note")
        server.process.send_signal(told)
        assert server.process.wait(30) == 1
    client.join()
    assert_problem(answers[0], 503, "unavailable")
    assert "Traceback" not in server.stderr
    assert "ended while requests still waited for the database" in server.stderr
    assert notes.sql("SELECT count(*) FROM notes") == [(0,)]
