"""Where nobody listens a command does its work nevertheless, and its exit status is that of the work."""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import sys

import pytest

from tests.service.conftest import wait_until

only_sqlite = pytest.mark.parametrize("shared_engine", ["sqlite"], indirect=True)
DEAF = [
    ">&-",
    "2>&-",
    ">&- 2>&-",
    "<&- >&- 2>&-",
    ">/dev/full",
    "2>/dev/full",
    ">/dev/full 2>&1",
    "| true",
    "2>&1 | true",
]


def run(command, arguments, streams, stderr):
    """Run a command of the service in a shell that gives it its streams; its exit status."""
    line = f'set -o pipefail; "$0" -m arrowproof.service.{command} "$@" {streams}'
    with stderr.open("wb") as file:
        return subprocess.run(
            ["bash", "-c", line, sys.executable, *arguments], stdout=file, stderr=file, timeout=60, check=False
        ).returncode


@only_sqlite
@pytest.mark.parametrize("streams", DEAF)
def test_a_worker_that_nobody_hears_does_its_work(shared, server, tmp_path, streams):
    job_id = server.accept(tmp_path.name)["job_id"]
    stderr = tmp_path / "stderr"
    assert run("worker", ["--db", shared.engine.db, "--max-polls", "1"], streams, stderr) == 0
    assert server.job(job_id)["status"] == "completed"
    assert "Traceback" not in stderr.read_text()
    assert "Exception ignored" not in stderr.read_text()


@only_sqlite
@pytest.mark.usefixtures("server")
@pytest.mark.parametrize("streams", [">&- 2>&-", ">/dev/full 2>&1"])
@pytest.mark.parametrize(
    ("command", "arguments", "status"),
    [
        ("retention", ["--keep-finished", "0"], 0),
        ("retention", ["--keep-finished", "never"], 2),
        ("worker", ["--max-polls", "0"], 2),
        ("server", ["--host", "0.0.0.0", "--port", "0"], 2),
    ],
)
def test_the_exit_status_is_that_of_the_work(shared, tmp_path, command, arguments, status, streams):
    stderr = tmp_path / "stderr"
    assert run(command, ["--db", shared.engine.db, *arguments], streams, stderr) == status
    assert "Traceback" not in stderr.read_text()
    assert "Exception ignored" not in stderr.read_text()


@pytest.mark.parametrize("how", ["say", "complain"])
def test_a_line_goes_out_in_one_piece(how):
    # Each write to a socket of datagrams is a message of its own.
    ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_DGRAM)
    with ours, theirs:
        stream = {"say": "stdout", "complain": "stderr"}[how]
        code = f"from arrowproof.service.streams import {how}; {how}('a line')"
        subprocess.run([sys.executable, "-c", code], check=True, **{stream: theirs})
        theirs.close()
        assert ours.recv(100) == b"a line\n"


@pytest.mark.parametrize("streams", [">&-", ">/dev/full"])
def test_a_token_that_nobody_saw_is_no_success(tmp_path, streams):
    stderr = tmp_path / "stderr"
    assert run("tokens", ["somebody"], streams, stderr) == (1 if "full" in streams else 0)
    assert stderr.read_text() == ""


@only_sqlite
@pytest.mark.parametrize("streams", ["2>&-", "2>/dev/full", ">&- 2>&-"])
def test_a_resident_worker_that_nobody_hears_drains_and_ends_with_0(shared, server, tmp_path, streams):
    arguments = ["--db", shared.engine.db, "--forever", "--poll-interval", "0.05"]
    line = f'exec "$0" -m arrowproof.service.worker "$@" {streams}'
    worker = subprocess.Popen(["bash", "-c", line, sys.executable, *arguments], stdout=subprocess.DEVNULL)
    try:
        job_id = server.accept(tmp_path.name)["job_id"]
        wait_until(lambda: server.job(job_id)["status"] == "completed", "completion")
        os.kill(worker.pid, signal.SIGTERM)
        assert worker.wait(60) == 0
    finally:
        worker.kill()
        worker.wait()
