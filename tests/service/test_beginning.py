"""A signal ends every command without a traceback, also while it still loads its code."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from arrowproof.service.address import Address
from tests.service.engines import only_sqlite

pytestmark = only_sqlite
SIGNALLING = """
import os, sys

class Signalling:
    def find_spec(self, name, path=None, target=None):
        if name == os.environ["SIGNAL_AT"]:
            os.kill(os.getpid(), int(os.environ["SIGNAL"]))

sys.meta_path.insert(0, Signalling())
"""


@pytest.fixture
def signalled(notes, tmp_path):
    """Runs a command that gets a signal just as it comes to load a module."""
    Address(notes.engine.db).open(create=True).close()
    (tmp_path / "hook").mkdir()
    (tmp_path / "hook" / "sitecustomize.py").write_text(SIGNALLING)

    def run(command, number, at):
        every = {
            "server": ["--db", notes.engine.db, "--port", "0"],
            "worker": ["--db", notes.engine.db, "--max-polls", "1"],
            "retention": ["--db", notes.engine.db, "--keep-finished", "9"],
            "tokens": ["somebody"],
        }
        path = os.pathsep.join([str(tmp_path / "hook"), str(Path.cwd())])
        return subprocess.run(
            [sys.executable, "-m", f"arrowproof.service.{command}", *every[command]],
            env={**os.environ, "PYTHONPATH": path, "SIGNAL": str(int(number)), "SIGNAL_AT": at},
            capture_output=True,
            text=True,
            timeout=60,
            check=False,
        )

    return run


@pytest.mark.parametrize(
    ("command", "at"),
    [
        ("worker", "argparse"),
        ("worker", "apsw"),
        ("retention", "argparse"),
        ("retention", "apsw"),
        ("tokens", "argparse"),
        ("server", "argparse"),
        ("server", "apsw"),
        ("server", "pydantic._internal._generate_schema"),
    ],
)
@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_a_signal_that_comes_while_a_command_loads_its_code_ends_it_without_a_word(signalled, command, at, number):
    ended = signalled(command, number, at)
    terminated = 0 if command == "server" else 143
    assert (ended.returncode, ended.stdout, ended.stderr) == (130 if number == signal.SIGINT else terminated, "", "")


@pytest.mark.usefixtures("engine")
@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_a_signal_after_the_work_is_done_leaves_its_exit_status_as_it_is(number):
    # What was registered before all else is called last.
    code = f"""
import atexit, signal, sys
atexit.register(lambda: signal.raise_signal({int(number)}))
from arrowproof.service.beginning import begin
begin()
sys.exit(7)
"""
    assert subprocess.run([sys.executable, "-c", code], check=False, timeout=60).returncode == 7
