"""The spare: a command's code is loaded ahead, and the command is run when and as it is told."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from arrowproof.conformance.spare import order

COMMAND = """
import os, sys
print("loaded as", __name__)
if __name__ == "__main__":
    print(sys.argv[1:], os.environ["COLOUR"], os.path.basename(sys.argv[0]))
    sys.exit(3)
"""


@pytest.fixture
def command(tmp_path: Path) -> str:
    (tmp_path / "craft").mkdir()
    (tmp_path / "craft" / "painter.py").write_text(COMMAND)
    (tmp_path / "brushes.py").write_text("print('brushes')\n")
    return "craft.painter"


def spare(folder: Path, *arguments: str, told: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-P", "-m", "arrowproof.conformance.spare", *arguments],
        env={**os.environ, "PYTHONPATH": str(folder), "COLOUR": "grey"},
        input=told,
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )


def test_a_spare_loads_the_code_and_then_is_the_command_that_it_was_told_to_be(tmp_path: Path, command: str) -> None:
    done = spare(tmp_path, command, "wall", "brushes", told=order(["--wet", "a b"], {"COLOUR": "red"}))
    assert done.stdout.splitlines() == [
        "loaded as craft.painter",
        "brushes",
        "loaded as __main__",
        "['--wet', 'a b'] red painter.py",
    ]
    assert (done.returncode, done.stderr) == (3, "")


def test_a_spare_whose_starter_has_gone_ends_and_runs_nothing(tmp_path: Path, command: str) -> None:
    done = spare(tmp_path, command, "wall", told="")
    assert (done.returncode, done.stdout, done.stderr) == (0, "loaded as craft.painter\n", "")


def test_a_command_whose_code_does_not_load_fails_before_it_is_told_anything(tmp_path: Path, command: str) -> None:
    (tmp_path / "craft" / "painter.py").write_text("raise OSError('dry')")
    done = spare(tmp_path, command, "wall", told="")
    assert done.returncode == 1
    assert "OSError: dry" in done.stderr
