"""A proof that is killed leaves no process of its service behind, and one that ends leaves no warden."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

import pytest

from arrowproof.conformance.processes import ProcessGroup

SLEEP = [sys.executable, "-c", "import time; time.sleep(600)"]
WITH_A_CHILD = f"import subprocess, time; subprocess.Popen({SLEEP!r}); time.sleep(600)"
PROOF = f"""
import sys, time
from pathlib import Path
from arrowproof.conformance.processes import ProcessGroup
group = ProcessGroup(Path(sys.argv[1]))
print(group.start("server", [sys.executable, "-c", {WITH_A_CHILD!r}]).pid)
print(group.start("worker", {SLEEP!r}).pid, flush=True)
time.sleep(600)
"""


def sessions() -> dict[int, list[int]]:
    """The processes that run, by their session."""
    found: dict[int, list[int]] = {}
    for folder in Path("/proc").glob("[0-9]*"):
        try:
            state, _, _, session, *_ = (folder / "stat").read_text().rpartition(")")[2].split()
        except OSError:
            continue
        if state != "Z":
            found.setdefault(int(session), []).append(int(folder.name))
    return found


def wait_until(holds: Callable[[], bool]) -> None:
    deadline = time.monotonic() + 30
    while not holds():
        assert time.monotonic() < deadline
        time.sleep(0.005)


@pytest.mark.parametrize("victim", ["the proof", "its process group"])
def test_what_a_killed_proof_has_started_ends_and_so_do_the_children_of_that(tmp_path: Path, victim: str) -> None:
    command = [sys.executable, "-c", PROOF, str(tmp_path)]
    proof = subprocess.Popen(command, stdout=subprocess.PIPE, text=True, start_new_session=True)
    assert proof.stdout is not None
    server, worker = (int(proof.stdout.readline()) for _ in range(2))
    try:
        wait_until(lambda: len(sessions().get(server, [])) == 2)
        assert len(sessions()[worker]) == 1
        (os.kill if victim == "the proof" else os.killpg)(proof.pid, signal.SIGKILL)
        proof.communicate()
        wait_until(lambda: not {server, worker} & set(sessions()))
    finally:
        for started in (server, worker):
            with suppress(ProcessLookupError):
                os.killpg(started, signal.SIGKILL)


def test_a_proof_that_ends_leaves_no_warden_and_one_without_a_warden_goes_on(tmp_path: Path) -> None:
    group = ProcessGroup(tmp_path)
    group.start("server", SLEEP)
    (warden,) = children() - {group.started[0].pid}
    group.stop()
    assert warden not in children()
    group.start("server", SLEEP)
    (warden,) = children() - {process.pid for process in group.started}
    os.kill(warden, signal.SIGKILL)
    group.start("worker", SLEEP)
    group.stop()
    assert not any(process.is_running for process in group.started)


def children() -> set[int]:
    """The child processes of this one."""
    return {int(pid) for pid in Path(f"/proc/self/task/{os.getpid()}/children").read_text().split()}
