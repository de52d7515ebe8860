"""Processes of a driver: each wait ends at its signal, or loudly at its deadline, and nothing is left running."""

from __future__ import annotations

import os
import signal
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from arrowproof.conformance.driver import DriverError
from arrowproof.conformance.processes import ProcessGroup, RunningProcess

SLEEP = "import time; time.sleep(600)"


@pytest.fixture
def group(tmp_path: Path) -> Iterator[ProcessGroup]:
    group = ProcessGroup(tmp_path)
    yield group
    group.stop()


def run(group: ProcessGroup, code: str) -> RunningProcess:
    return group.start("script", [sys.executable, "-u", "-c", code])


def test_the_lines_of_a_process_come_one_by_one(group: ProcessGroup) -> None:
    process = run(group, "print('one\\ntwo'); input; print('three')")
    assert [process.read_line(), process.read_line()] == ["one", "two"]
    assert process.finish() == "one\ntwo\nthree\n"
    assert process.record().ended == "exit 0"


def test_a_process_that_waits_hears_what_it_is_told_once_and_others_find_nothing(group: ProcessGroup) -> None:
    echo = [sys.executable, "-c", "import sys; print(repr(sys.stdin.read()))"]
    waiting = group.start("script", echo, waits=True)
    waiting.tell("go\n")
    waiting.tell("again\n")
    assert waiting.finish() == "'go\\n'\n"
    deaf = group.start("script", echo)
    deaf.tell("go\n")
    assert deaf.finish() == "''\n"


def test_a_process_that_waits_is_asked_line_by_line_and_one_that_dies_of_it_is_quoted(group: ProcessGroup) -> None:
    code = "while line := input(): print(line, 'again', flush=True)\nraise SystemExit('no line')"
    process = group.start("script", [sys.executable, "-c", code], waits=True)
    assert [process.ask("one"), process.ask("two")] == ["one again", "two again"]
    with pytest.raises(DriverError, match="printed no line and ended with exit 1; its stderr: no line"):
        process.ask("")
    with pytest.raises(DriverError, match="its stderr: no line"):
        process.ask("three")


def test_a_process_that_was_told_too_late_is_quoted(group: ProcessGroup) -> None:
    process = group.start("script", [sys.executable, "-c", "import sys; sys.exit('tired')"], waits=True)
    process.end()
    process.tell("go\n")
    with pytest.raises(DriverError, match="its stderr: tired"):
        process.finish()


def test_a_service_may_print_more_than_a_pipe_holds(group: ProcessGroup) -> None:
    process = run(group, "print('ready'); print('x' * 1_000_000); print('done')")
    assert process.read_line() == "ready"
    assert process.finish().endswith("x\ndone\n")


def test_two_processes_of_one_role_are_quoted_apart(group: ProcessGroup) -> None:
    loud, quiet = run(group, "import sys; sys.exit('loud')"), run(group, "import sys; sys.exit(2)")
    with pytest.raises(DriverError, match="its stderr: loud"):
        loud.finish()
    with pytest.raises(DriverError, match=r"ended with exit 2\.$"):
        quiet.finish()


def test_a_process_that_ends_without_a_line_is_quoted(group: ProcessGroup) -> None:
    process = run(group, "import sys; sys.exit('no database')")
    with pytest.raises(
        DriverError, match=r"script \(process \d+\) printed no line and .* exit 1; its stderr: no database"
    ):
        process.read_line()


def test_a_failed_process_is_quoted_with_the_end_of_its_stderr_only(group: ProcessGroup) -> None:
    process = run(group, "import sys; sys.stderr.write('x' * 10000 + ' end'); sys.exit(3)")
    with pytest.raises(DriverError, match=r"ended with exit 3; its stderr: x+ end$") as caught:
        process.finish()
    assert len(str(caught.value)) < 800


def test_a_failed_process_is_quoted_from_its_last_line_on(group: ProcessGroup) -> None:
    process = run(group, "import sys; sys.stderr.write('y' * 300 + '\\nbecause\\n  of this\\n\\n'); sys.exit(1)")
    with pytest.raises(DriverError, match=r"its stderr: because of this$"):
        process.finish()


def test_a_deadline_that_passes_is_said(group: ProcessGroup, tmp_path: Path) -> None:
    process = run(group, SLEEP)
    with pytest.raises(DriverError, match=r"printed no line within 0\.01 s"):
        process.read_line(deadline=0.01)
    with pytest.raises(DriverError, match=r"did not come to never within 0\.01 s"):
        process.await_file(tmp_path / "never", deadline=0.01)
    with pytest.raises(DriverError, match=r"did not end within 0\.01 s"):
        process.finish(deadline=0.01)
    assert process.is_running


def test_a_process_that_ends_before_its_file_is_there_is_said(group: ProcessGroup, tmp_path: Path) -> None:
    process = run(group, "")
    with pytest.raises(DriverError, match="did not come to never and ended with exit 0"):
        process.await_file(tmp_path / "never")


def test_a_kill_ends_the_process_and_its_children(group: ProcessGroup) -> None:
    process = run(
        group,
        f"import subprocess, sys; p = subprocess.Popen([sys.executable, '-c', '{SLEEP}']); print(p.pid); p.wait()",
    )
    child = int(process.read_line())
    process.kill()
    assert process.record().ended == "SIGKILL"
    # Nobody waits for a child that is not ours, so its death is looked for.
    deadline = time.monotonic() + 10
    while not _has_ended(child) and time.monotonic() < deadline:
        time.sleep(0.002)
    assert _has_ended(child)
    process.kill()


def test_stopping_ends_every_process_even_one_that_ignores_sigterm(tmp_path: Path) -> None:
    group = ProcessGroup(tmp_path)
    stubborn = run(group, f"import signal; signal.signal(15, signal.SIG_IGN); print('ready'); {SLEEP}")
    willing = run(group, f"print('ready'); {SLEEP}")
    for process in (stubborn, willing):
        process.read_line()
    group.stop(deadline=0.2)
    assert (willing.record().ended, stubborn.record().ended) == ("SIGTERM", "SIGKILL")
    group.stop()


def test_an_interrupt_while_stopping_leaves_nothing_behind(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupt(*_: object) -> None:
        raise KeyboardInterrupt

    group = ProcessGroup(tmp_path)
    process = run(group, f"import signal; signal.signal(15, signal.SIG_IGN); print('ready'); {SLEEP}")
    process.read_line()
    monkeypatch.setattr(process, "end", interrupt)
    with pytest.raises(KeyboardInterrupt):
        group.stop()
    assert process.record().ended == "SIGKILL"


def test_a_command_that_is_not_there_is_said(group: ProcessGroup) -> None:
    with pytest.raises(DriverError, match="The worker cannot be started"):
        group.start("worker", ["/no/such/program"])


def test_the_environment_is_added_to_that_of_this_process(group: ProcessGroup) -> None:
    code = "import os; print(os.environ['ADDED'], 'PATH' in os.environ)"
    process = group.start("script", [sys.executable, "-c", code], {"ADDED": "yes"})
    assert process.finish() == "yes True\n"


def _has_ended(pid: int) -> bool:
    """Whether a process that is not our child has ended: it is gone, or dead and not yet reaped."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] == "Z"
    except FileNotFoundError:
        return True


def test_a_process_runs_in_a_session_of_its_own(group: ProcessGroup) -> None:
    assert os.getsid(run(group, SLEEP).pid) != os.getsid(0)


def test_an_interrupt_during_a_start_comes_after_the_process_is_known(tmp_path, monkeypatch):
    """The interrupt arrives between the start of the process and the note of it: the process is ended all the same."""
    group = ProcessGroup(tmp_path)

    class Interrupted(RunningProcess):
        def __init__(self, *arguments, **options):
            super().__init__(*arguments, **options)
            signal.raise_signal(signal.SIGINT)

    monkeypatch.setattr("arrowproof.conformance.processes.RunningProcess", Interrupted)
    with pytest.raises(KeyboardInterrupt):
        group.start("sleeper", [sys.executable, "-c", "import time; time.sleep(600)"])
    assert len(group.started) == 1
    group.stop()
    assert not group.started[0].is_running
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler


def test_what_a_service_forked_is_ended_with_it_though_the_service_ended_before(group: ProcessGroup) -> None:
    fork = f"import subprocess, sys; print(subprocess.Popen([sys.executable, '-c', {SLEEP!r}]).pid, flush=True)"
    process = run(group, fork)
    child = int(process.read_line())
    process.finish()
    assert is_alive(child)
    group.stop()
    end = time.monotonic() + 10
    while is_alive(child):
        assert time.monotonic() < end
        time.sleep(0.01)


def is_alive(pid: int) -> bool:
    """Whether a process is there and no zombie: nobody may wait here for the child of a child."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except FileNotFoundError:
        return False
