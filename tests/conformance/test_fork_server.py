"""The fork server: its code is loaded once, and each fork is the command that it was told to be and nothing else."""

from __future__ import annotations

import os
import random
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import pytest

from arrowproof.conformance.driver import DriverError
from arrowproof.conformance.processes import ProcessGroup, RunningProcess

COMMAND = """
import os, random, signal, sys, threading, time

LOADED_IN = os.getpid()
if __name__ == "__main__":
    exec(sys.argv[1])
"""
SLEEP = "print('ready', flush=True); time.sleep(600)"
PROOF = """
import sys, time
from pathlib import Path
from arrowproof.conformance.processes import ProcessGroup
group = ProcessGroup(Path(sys.argv[1]))
group.load("wall", ["craft.painter"], {"PYTHONPATH": sys.argv[1]})
sleepers = [group.start("painter", ["craft.painter", "print(os.getppid(), flush=True); time.sleep(600)"],
                        {"PYTHONPATH": sys.argv[1]}, is_loaded=True) for _ in range(3)]
print(*{sleeper.read_line() for sleeper in sleepers}, *(sleeper.pid for sleeper in sleepers), flush=True)
time.sleep(600)
"""


class Painters:
    """Processes that are forked, of a group whose fork server has loaded the module ``craft.painter``."""

    def __init__(self, folder: Path) -> None:
        (folder / "craft").mkdir()
        (folder / "craft" / "painter.py").write_text(COMMAND)
        self.folder, self.group = folder, ProcessGroup(folder)
        self.group.load("wall", ["craft.painter"], {"PYTHONPATH": str(folder), "BRUSH": "dry"})

    def start(self, code: str, *arguments: str, waits: bool = False, **environment: str) -> RunningProcess:
        command = ["craft.painter", code, *arguments]
        return self.group.start("painter", command, environment, waits=waits, is_loaded=True)

    def server(self) -> int:
        """The process id of the fork server."""
        return int(self.start("print(os.getppid())").finish())


@pytest.fixture
def painters(tmp_path: Path) -> Iterator[Painters]:
    painters = Painters(tmp_path)
    yield painters
    painters.group.stop()


def test_a_fork_runs_its_module_as_the_main_module_with_its_arguments(painters: Painters) -> None:
    said = painters.start(
        "print(__name__, sys.argv[2:], os.path.basename(sys.argv[0]), 'craft.painter' in sys.modules)", "--wet", "a b"
    ).finish()
    assert said == "__main__ ['--wet', 'a b'] painter.py False\n"


def test_each_fork_is_a_process_of_its_own_in_a_session_of_its_own(painters: Painters) -> None:
    code = "print(os.getpid(), os.getppid(), os.getsid(0), os.getpgid(0), LOADED_IN)"
    one, other = painters.start(code), painters.start(code)
    for process in (one, other):
        pid, parent, session, group, run_in = map(int, process.finish().split())
        assert pid == session == group == run_in == process.pid
        assert parent == painters.server()
    assert len({one.pid, other.pid, painters.server(), os.getpid()}) == 4


def test_the_fork_server_has_loaded_the_code_before_and_is_one_thread(painters: Painters) -> None:
    code = "import gc; print(gc.get_freeze_count() > 0, threading.active_count(), len(os.listdir('/proc/self/task')))"
    assert painters.start(code).finish() == "True 1 1\n"


def test_an_exit_status_comes_through(painters: Painters) -> None:
    with pytest.raises(DriverError, match=r"ended with exit 3; its stderr: dry$"):
        painters.start("print('dry', file=sys.stderr); sys.exit(3)").finish()
    with pytest.raises(DriverError, match=r"ended with exit 1; its stderr: .*OSError: no paint$"):
        painters.start("raise OSError('no paint')").finish()
    ended = painters.start("print('all of it')")
    assert ended.finish() == "all of it\n"
    assert ended.record().ended == "exit 0"


@pytest.mark.parametrize(
    ("leave", "ended"),
    [
        ("sys.exit()", "exit 0"),
        ("sys.exit(0)", "exit 0"),
        ("sys.exit(7)", "exit 7"),
        ("sys.exit(-1)", "exit 255"),
        ("sys.exit('no paint')", "exit 1"),
        ("pass", "exit 0"),
    ],
)
def test_however_a_fork_leaves_its_threads_and_all_that_is_to_be_done_at_the_end_come_first(
    painters: Painters, leave: str, ended: str
) -> None:
    thread = "threading.Thread(target=lambda: (time.sleep(0.05), sys.stdout.write('thread '))).start()"
    at_end = "import atexit; atexit.register(lambda: sys.stdout.write('end'))"
    process = painters.start(f"{at_end}; sys.stdout.write('main '); {thread}; {leave}")
    if ended == "exit 0":
        process.finish()
    else:
        said = "; its stderr: no paint$" if ended == "exit 1" else ""
        with pytest.raises(DriverError, match=f"ended with {ended}{said}"):
            process.finish()
    assert process.record().ended == ended
    (output,) = painters.folder.rglob("*.stdout")
    assert output.read_text() == "main thread end"


def test_a_killed_fork_is_seen_as_killed_and_no_other_is(painters: Painters) -> None:
    victim, other = painters.start(SLEEP), painters.start(SLEEP)
    for process in (victim, other):
        process.read_line()
    victim.kill()
    assert (victim.record().ended, other.record().ended) == ("SIGKILL", "running")
    assert not Path(f"/proc/{victim.pid}").exists()
    victim.kill()
    other.terminate()
    other.end()
    assert other.record().ended == "SIGTERM"
    assert painters.start("print('next')").finish() == "next\n"


def test_one_that_is_killed_at_once_is_killed(painters: Painters) -> None:
    for _ in range(20):
        process = painters.start(SLEEP)
        process.kill()
        assert process.record().ended == "SIGKILL"


def test_a_fork_that_was_killed_by_somebody_else_is_seen_too(painters: Painters) -> None:
    process = painters.start(SLEEP)
    process.read_line()
    os.kill(process.pid, signal.SIGKILL)
    with pytest.raises(DriverError, match="did not come to never and ended with SIGKILL"):
        process.await_file(painters.folder / "never")


def test_nobody_is_signalled_by_the_number_of_one_that_has_ended(painters: Painters) -> None:
    process = painters.start("")
    process.finish()
    sleeper = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(600)"], start_new_session=True)
    try:
        process._process.pid = sleeper.pid
        process.terminate()
        process.kill()
        painters.start("").finish()
        assert sleeper.poll() is None
    finally:
        sleeper.kill()
        sleeper.wait()


def test_all_of_a_megabyte_comes(painters: Painters) -> None:
    said = painters.start("print('ready'); print('x' * 1_000_000); print('done')").finish()
    assert said == "ready\n" + "x" * 1_000_000 + "\ndone\n"


def test_twenty_at_once(painters: Painters) -> None:
    processes = [
        painters.start("print(sys.argv[2] + sys.stdin.readline())", str(number), waits=True) for number in range(20)
    ]
    for process in reversed(processes):
        process.tell("!\n")
    assert [process.finish() for process in processes] == [f"{number}!\n\n" for number in range(20)]
    assert len({process.pid for process in processes}) == 20


def test_a_fork_that_waits_is_asked_line_by_line_and_finds_the_end_of_what_it_is_told(painters: Painters) -> None:
    echo = "while line := sys.stdin.readline(): print(line.strip(), 'again', flush=True)\nprint('over')"
    one, other = painters.start(echo, waits=True), painters.start(echo, waits=True)
    assert [one.ask("one"), other.ask("two"), one.ask("three")] == ["one again", "two again", "three again"]
    one.tell("")  # the other one was forked later, and holds no end of this pipe
    assert one.finish().endswith("again\nover\n")
    assert painters.start("print(repr(sys.stdin.read()))").finish() == "''\n"
    assert other.is_running


def test_a_fork_has_no_file_but_its_streams(painters: Painters) -> None:
    waiting = painters.start(SLEEP, waits=True)
    code = "files = os.listdir('/proc/self/fd'); print(*(f for f in files if os.path.exists(f'/proc/self/fd/{f}')))"
    assert sorted(painters.start(code).finish().split()) == ["0", "1", "2"]
    assert waiting.is_running


def test_environment_time_zone_and_folder_are_those_of_the_fork(
    painters: Painters, monkeypatch: pytest.MonkeyPatch
) -> None:
    code = (
        "print(os.environ.get('COLOUR'), os.environ.get('BRUSH'), time.strftime('%z', time.localtime(0)), os.getcwd())"
    )
    painters.start(code, COLOUR="grey").finish()
    monkeypatch.setenv("COLOUR", "blue")
    monkeypatch.chdir(painters.folder / "craft")
    east = painters.start(code, COLOUR="red", TZ="XXX-05:45")
    west = painters.start(code, TZ="XXX+03:00")
    assert east.finish() == f"red None +0545 {painters.folder / 'craft'}\n"
    assert west.finish() == f"blue None -0300 {painters.folder / 'craft'}\n"
    monkeypatch.delenv("COLOUR")
    assert painters.start(code, TZ="UTC").finish().startswith("None None +0000")


def test_signals_are_as_python_has_them_and_chance_is_not_shared(painters: Painters) -> None:
    code = (
        "print(*(signal.getsignal(n) for n in (15, signal.SIGCHLD)), signal.set_wakeup_fd(-1)); print(random.random())"
    )
    first, second = (painters.start(code).finish().splitlines() for _ in range(2))
    plain = subprocess.run(
        [sys.executable, "-c", f"import random, signal; {code}"], capture_output=True, text=True, check=True
    )
    assert first[0] == second[0] == plain.stdout.splitlines()[0]
    assert first[1] != second[1]
    assert random.random() != float(first[1])


def test_a_fork_server_that_is_killed_is_said_and_nothing_hangs(painters: Painters) -> None:
    ended = painters.start("print('done')")
    ended.finish()
    running, server = painters.start(SLEEP), painters.server()
    running.read_line()
    os.kill(server, signal.SIGKILL)
    with pytest.raises(
        DriverError, match=r"The painter \(process \d+\) printed no line and ended with its fork server"
    ):
        running.read_line()
    with pytest.raises(
        DriverError, match=rf"The painter cannot be started: the fork server \(process {server}\) is gone"
    ):
        painters.start("")
    assert ended.record().ended == "exit 0"
    running.kill()
    painters.group.stop()
    wait_until_gone(running.pid)


def test_code_that_does_not_load_is_said(tmp_path: Path) -> None:
    (tmp_path / "dry.py").write_text("raise OSError('no paint')")
    group = ProcessGroup(tmp_path)
    group.load("wall", ["dry"], {"PYTHONPATH": str(tmp_path)})
    with pytest.raises(DriverError, match=r"the fork server .* is gone; its stderr: OSError: no paint$"):
        group.start("painter", ["dry"], is_loaded=True)
    group.stop()


def test_stopping_leaves_no_fork_server(painters: Painters) -> None:
    server = painters.server()
    painters.start(SLEEP)
    stubborn = painters.start("signal.signal(15, signal.SIG_IGN); " + SLEEP)
    stubborn.read_line()
    painters.group.stop(deadline=0.2)
    assert stubborn.record().ended == "SIGKILL"
    assert not Path(f"/proc/{server}").exists()
    assert not any(process.is_running for process in painters.group.started)


@pytest.mark.parametrize("victims", [["the proof"], ["the proof", "its fork server"], ["its fork server", "the proof"]])
def test_a_proof_that_is_killed_leaves_no_fork_and_no_fork_server(tmp_path: Path, victims: list[str]) -> None:
    (tmp_path / "craft").mkdir()
    (tmp_path / "craft" / "painter.py").write_text(COMMAND)
    command = [sys.executable, "-c", PROOF, str(tmp_path)]
    proof = subprocess.Popen(command, stdout=subprocess.PIPE, text=True, start_new_session=True)
    assert proof.stdout is not None
    server, *forks = map(int, proof.stdout.readline().split())
    try:
        assert len(forks) == 3
        for victim in victims:
            os.kill(proof.pid if victim == "the proof" else server, signal.SIGKILL)
        proof.communicate()
        for pid in (server, *forks):
            wait_until_gone(pid)
    finally:
        for pid in (server, *forks):
            with suppress(ProcessLookupError):
                os.killpg(pid, signal.SIGKILL)


def wait_until_gone(pid: int) -> None:
    """Wait until a process is not there any more, or dead: nobody may wait here for the child of a child."""
    deadline = time.monotonic() + 30
    while is_alive(pid):
        assert time.monotonic() < deadline
        time.sleep(0.005)


def is_alive(pid: int) -> bool:
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False
