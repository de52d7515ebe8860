"""Finding, describing, starting and ending the browser: real processes; other programs in its place only to fail."""

from __future__ import annotations

import os
import select
import signal
import subprocess
import sys
import tempfile
from collections.abc import Callable
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Any

import pytest

from arrowproof.errors import MissingEnvironmentError
from arrowproof.render.chromium import (
    browser_pid,
    describe_chromium,
    find_chromium,
    launch_flags,
    open_browser,
    run_chromium,
)

# Opens a browser, says its process id, and stays until it is ended.
PROGRAM = """
from arrowproof.render.chromium import browser_pid, open_browser
with open_browser() as browser:
    page = browser.new_page()
    print(browser_pid(browser), flush=True)
    page.wait_for_function("false", timeout=0)
"""

# The same with a browser that is spoken to over its pipe.
PIPED = """
import time
from arrowproof.render.chromium import run_chromium
with run_chromium() as browser:
    browser.version()
    print(browser.pid, flush=True)
    while not browser.tools.is_over:
        time.sleep(0.01)
"""


def program(path: Path, content: str = "#!/bin/sh\n") -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(content, encoding="utf-8")
    path.chmod(0o755)
    return path


@pytest.fixture
def bare(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A machine without any browser: an empty PATH and an empty home."""
    monkeypatch.delenv("ARROWPROOF_CHROMIUM", raising=False)
    monkeypatch.setenv("PATH", str(tmp_path / "bin"))
    monkeypatch.setenv("PLAYWRIGHT_BROWSERS_PATH", str(tmp_path / "downloads"))
    return tmp_path


def wait_for_end(pid: int) -> None:
    """Return when a process that is no child of ours has ended; pidfd tells, without asking again and again."""
    try:
        descriptor = os.pidfd_open(pid)
    except ProcessLookupError:
        return
    poll = select.poll()
    poll.register(descriptor, select.POLLIN)
    ended = poll.poll(60_000)
    os.close(descriptor)
    assert ended, f"process {pid} still runs"


def test_the_named_browser_comes_first(bare: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    program(bare / "bin" / "chromium")
    named = program(bare / "mine")
    monkeypatch.setenv("ARROWPROOF_CHROMIUM", str(named))
    assert find_chromium() == named


def test_a_name_that_cannot_be_run_is_not_passed_over(bare: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    program(bare / "bin" / "chromium")
    monkeypatch.setenv("ARROWPROOF_CHROMIUM", str(bare / "nothing"))
    with pytest.raises(MissingEnvironmentError, match="ARROWPROOF_CHROMIUM names") as caught:
        find_chromium()
    assert caught.value.remedy == "unset ARROWPROOF_CHROMIUM"


def test_a_browser_on_the_path_comes_before_a_download(bare: Path) -> None:
    download = program(bare / "downloads" / "chromium-1200" / "chrome-linux" / "chrome")
    assert find_chromium() == download
    on_path = program(bare / "bin" / "google-chrome")
    assert find_chromium() == on_path
    first = program(bare / "bin" / "chromium")
    assert find_chromium() == first


def test_the_newest_download_is_taken(bare: Path) -> None:
    program(bare / "downloads" / "chromium-999" / "chrome-linux" / "chrome")
    newest = program(bare / "downloads" / "chromium-1200" / "chrome-linux64" / "chrome")
    assert find_chromium() == newest


def test_without_any_browser_the_one_command_is_said(bare: Path) -> None:
    assert not (bare / "bin").exists()
    with pytest.raises(MissingEnvironmentError) as caught:
        describe_chromium()
    assert caught.value.exit_status == 3
    assert "python -m playwright install" in str(caught.value)


def test_a_program_that_tells_no_version_is_no_browser(bare: Path) -> None:
    program(bare / "bin" / "chromium", "#!/bin/sh\necho out of order >&2\nexit 1\n")
    with pytest.raises(MissingEnvironmentError, match="does not tell its version: out of order"):
        describe_chromium()


def test_a_program_that_does_not_start_as_a_browser_is_said(bare: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ARROWPROOF_CHROMIUM", str(program(bare / "mine", "#!/bin/sh\nexit 1\n")))
    with pytest.raises(MissingEnvironmentError, match="mine does not start"), open_browser():
        pass


def test_the_browser_describes_itself_as_it_runs() -> None:
    described = describe_chromium()
    assert described.path.is_absolute()
    with open_browser() as browser:
        assert browser.version == described.version


def test_a_browser_that_is_spoken_to_tells_its_version() -> None:
    with run_chromium() as browser:
        assert browser.version() == describe_chromium().version


@pytest.mark.parametrize(
    ("content", "said"),
    [("#!/bin/sh\necho no display >&2\nexit 1\n", "mine does not start: no display"), ("", "mine does not start: ")],
    ids=["ends", "is no program"],
)
def test_what_does_not_answer_over_the_pipe_is_said(
    bare: Path, monkeypatch: pytest.MonkeyPatch, content: str, said: str
) -> None:
    monkeypatch.setenv("ARROWPROOF_CHROMIUM", str(program(bare / "mine", content)))
    with pytest.raises(MissingEnvironmentError, match=said), run_chromium() as browser:
        browser.version()


def test_a_browser_without_a_sandbox_says_the_way_out(bare: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    said = "#!/bin/sh\necho '[1:FATAL:zygote.cc] No usable sandbox!' >&2\necho 'dumped' >&2\nexit 1\n"
    monkeypatch.setenv("ARROWPROOF_CHROMIUM", str(program(bare / "mine", said)))
    with pytest.raises(MissingEnvironmentError, match="No usable sandbox!") as caught, run_chromium() as browser:
        browser.version()
    assert caught.value.remedy is not None
    assert "--no-sandbox" in caught.value.remedy


def test_a_browser_that_is_spoken_to_leaves_nothing_behind(monkeypatch: pytest.MonkeyPatch) -> None:
    descriptors = sorted(Path("/proc/self/fd").iterdir())
    with tempfile.TemporaryDirectory() as folder:
        monkeypatch.setattr(tempfile, "tempdir", folder)
        with run_chromium() as browser:
            browser.version()
            assert browser.profile.parent == Path(folder)
        assert list(Path(folder).iterdir()) == []
    assert sorted(Path("/proc/self/fd").iterdir()) == descriptors
    wait_for_end(browser.pid)


@pytest.mark.parametrize("chosen", [signal.SIGINT, signal.SIGTERM])
def test_an_interrupt_while_the_browser_is_started_leaves_nothing_behind(
    monkeypatch: pytest.MonkeyPatch, chosen: signal.Signals
) -> None:
    pids: list[int] = []
    start = os.posix_spawn

    def start_and_interrupt(*arguments: Any, **options: Any) -> int:
        pids.append(start(*arguments, **options))
        os.kill(os.getpid(), chosen)
        return pids[0]

    monkeypatch.setattr(os, "posix_spawn", start_and_interrupt)
    before = signal.signal(chosen, signal.default_int_handler)
    try:
        with tempfile.TemporaryDirectory() as folder:
            monkeypatch.setattr(tempfile, "tempdir", folder)
            with pytest.raises(KeyboardInterrupt), run_chromium():
                pass
            assert list(Path(folder).iterdir()) == []
    finally:
        signal.signal(chosen, before)
    wait_for_end(pids[0])


def test_a_browser_starts_where_temporary_files_have_long_paths(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    deep = tmp_path / ("x" * 100)
    deep.mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(deep))
    with run_chromium() as browser:
        assert browser.version() == describe_chromium().version
    assert not browser.profile.exists()


def test_only_root_runs_without_the_sandbox(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "geteuid", lambda: 0)
    assert "--no-sandbox" in launch_flags()
    monkeypatch.setattr(os, "geteuid", lambda: 1000)
    assert "--no-sandbox" not in launch_flags()
    assert "--disable-background-networking" in launch_flags()


def test_the_browser_ends_with_its_block() -> None:
    with open_browser() as browser:
        pid = browser_pid(browser)
    wait_for_end(pid)


def test_the_browser_ends_when_the_block_fails() -> None:
    pids: list[int] = []

    def fail() -> None:
        with open_browser() as browser:
            pids.append(browser_pid(browser))
            raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        fail()
    wait_for_end(pids[0])


@pytest.mark.parametrize("chosen", [signal.SIGINT, signal.SIGTERM, signal.SIGKILL])
@pytest.mark.parametrize("whole_group", [False, True], ids=["process", "group"])
@pytest.mark.parametrize("content", [PROGRAM, PIPED], ids=["driven", "piped"])
def test_no_browser_is_left_behind_when_the_process_is_ended(
    chosen: signal.Signals, whole_group: bool, content: str
) -> None:
    with tempfile.TemporaryDirectory() as folder:  # a process that is killed leaves its browser's profile behind
        _end_a_process_with_a_browser(content, folder, chosen, whole_group)


def _end_a_process_with_a_browser(content: str, folder: str, chosen: signal.Signals, whole_group: bool) -> None:
    process = subprocess.Popen(
        [sys.executable, "-c", content],
        env={**os.environ, "TMPDIR": folder},
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
        start_new_session=True,
    )
    assert process.stdout is not None
    with process:
        pid = int(process.stdout.readline())
        if whole_group:
            os.killpg(process.pid, chosen)
        else:
            process.send_signal(chosen)
        process.wait(timeout=60)
    wait_for_end(pid)


def test_a_program_with_a_version_of_another_kind_is_no_chromium(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ARROWPROOF_CHROMIUM", "/bin/true")
    with pytest.raises(MissingEnvironmentError, match="does not tell its version"):
        describe_chromium()


@pytest.mark.parametrize("start", [open_browser, run_chromium])
def test_a_temporary_folder_without_room_is_what_is_lacking(
    start: Callable[[], AbstractContextManager[object]], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("arrowproof.render.chromium.PROFILE_ROOM", 2**62)
    with pytest.raises(MissingEnvironmentError, match="MiB free, and the browser needs") as raised, start():
        pass
    assert "TMPDIR" in raised.value.remedy


def test_no_temporary_folder_at_all_is_what_is_lacking() -> None:
    program = """
import errno, tempfile
def refuse(*_):
    raise FileNotFoundError(errno.ENOENT, "No usable temporary directory found")
tempfile._get_default_tempdir = refuse  # what Python itself does where every folder is full
from arrowproof.render.chromium import run_chromium
try:
    with run_chromium():
        pass
except Exception as error:
    print(type(error).__name__, error)
"""
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert done.stdout.startswith("MissingEnvironmentError no folder takes temporary files")
