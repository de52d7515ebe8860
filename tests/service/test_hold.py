from __future__ import annotations

import json
import os
import subprocess
import sys
import threading
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from arrowproof.service import hold as hold_module
from arrowproof.service.hold import (
    SERVER_POINTS,
    WORKER_POINTS,
    Hold,
    HoldAbandonedError,
    hold_from_environment,
)
from arrowproof.service.refusal import RefusedError


def test_without_the_variable_nothing_is_held():
    for environment in ({}, {"NOTES_HOLD": ""}):
        assert hold_from_environment(environment, WORKER_POINTS).point is None


def test_the_variable_names_point_and_folder(tmp_path):
    folder = tmp_path / "a:b"
    folder.mkdir()
    hold = hold_from_environment({"NOTES_HOLD": f"after-count:{folder}"}, WORKER_POINTS)
    assert (hold.point, hold.folder, hold.parent) == ("after-count", folder, os.getppid())


@pytest.mark.parametrize("asked", ["after-lunch:/", "after-note:/", ":", "after-begin/"])
def test_an_unknown_point_is_refused_and_the_known_ones_are_named(asked):
    with pytest.raises(RefusedError, match=r"known are after-begin, .*after-commit"):
        hold_from_environment({"NOTES_HOLD": asked}, WORKER_POINTS)


@pytest.mark.parametrize(
    "asked", ["after-begin", "after-begin:", "after-begin:/no/such/folder", "after-begin:/dev/null"]
)
def test_a_folder_that_is_not_there_is_refused(asked):
    with pytest.raises(RefusedError, match="no folder; write NOTES_HOLD=after-begin:DIR"):
        hold_from_environment({"NOTES_HOLD": asked}, SERVER_POINTS)


def test_the_documentation_lists_every_point():
    for point in {*SERVER_POINTS, *WORKER_POINTS}:
        assert f"\n{point} " in hold_module.__doc__


def test_it_signals_whole_and_waits_for_the_release_once(tmp_path, wait):
    hold = Hold("after-begin", tmp_path)
    thread = threading.Thread(target=hold.at, args=("after-begin",))
    thread.start()
    wait((tmp_path / "after-begin.held").exists, "the signal")
    assert json.loads((tmp_path / "after-begin.held").read_text()) == {"pid": os.getpid(), "point": "after-begin"}
    assert [file.name for file in tmp_path.iterdir()] == ["after-begin.held"]
    assert thread.is_alive()
    (tmp_path / "after-begin.release").touch()
    thread.join(5)
    assert not thread.is_alive()
    (tmp_path / "after-begin.held").unlink()
    hold.at("after-begin")
    assert not (tmp_path / "after-begin.held").exists()


def test_another_point_is_passed(tmp_path):
    Hold("after-begin", tmp_path).at("after-select")
    assert list(tmp_path.iterdir()) == []


def test_while_a_release_is_there_it_passes_the_point_and_can_still_be_held_later(tmp_path):
    release = tmp_path / "after-begin.release"
    release.touch()
    hold = Hold("after-begin", tmp_path)
    hold.at("after-begin")
    hold.at("after-begin")
    assert list(tmp_path.iterdir()) == [release]
    release.unlink()
    hold.abandon()
    with pytest.raises(HoldAbandonedError):
        hold.at("after-begin")


def test_a_hold_that_is_abandoned_is_an_error(tmp_path):
    hold = Hold("after-begin", tmp_path)
    hold.abandon()
    with pytest.raises(HoldAbandonedError, match="held after-begin"):
        hold.at("after-begin")


def test_a_signal_that_cannot_be_written_is_refused(tmp_path):
    with pytest.raises(RefusedError, match="cannot signal after-begin"):
        Hold("after-begin", tmp_path / "gone").at("after-begin")


HELD = """
import sys
from pathlib import Path
from arrowproof.service.hold import Hold
Hold("after-begin", Path(sys.argv[1])).at("after-begin")
"""
PARENT = "import subprocess, sys; subprocess.run([sys.executable, '-c', *sys.argv[1:]])"


def has_ended(pid: int) -> bool:
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] == "Z"
    except FileNotFoundError:
        return True


def test_a_held_process_ends_when_its_parent_dies(tmp_path, wait):
    parent = subprocess.Popen([sys.executable, "-c", PARENT, HELD, str(tmp_path)])
    try:
        wait((tmp_path / "after-begin.held").exists, "the signal")
        held = json.loads((tmp_path / "after-begin.held").read_text())["pid"]
        assert not has_ended(held)
    finally:
        parent.kill()
        parent.wait()
    wait(lambda: has_ended(held), "the end of the held process")


def test_of_many_threads_that_come_at_once_one_is_held(tmp_path, wait):
    for number in range(50):
        folder = tmp_path / str(number)
        folder.mkdir()
        hold, together = Hold("after-begin", folder), threading.Barrier(8)

        def come(hold=hold, together=together):
            together.wait()
            hold.at("after-begin")

        with ThreadPoolExecutor(8) as threads:
            coming = [threads.submit(come) for _ in range(8)]
            try:
                wait(lambda coming=coming: sum(each.done() for each in coming) >= 7, "the others")
                held = [each for each in coming if not each.done()]
            finally:
                (folder / "after-begin.release").touch()
        assert len(held) == 1
        assert [each.result() for each in coming] == [None] * 8
