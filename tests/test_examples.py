"""The examples are proven, as a user would prove them."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

EXAMPLES = Path(__file__).parent.parent / "examples"


@pytest.mark.parametrize("example", sorted(path.parent.name for path in EXAMPLES.glob("*/lifecycle.json")))
def test_each_example_lints_strictly_and_is_proven(example, tmp_path):
    model = str(EXAMPLES / example / "lifecycle.json")
    is_guarded = (EXAMPLES / example / "sql" / "guard.sql").exists()
    arrowproof(tmp_path, "lint", model, "--strict")
    arrowproof(tmp_path, "sql", model, status=1 if is_guarded else 0)
    proven = arrowproof(tmp_path, "prove", model, "--out", str(tmp_path))
    assert proven.startswith("Proven: ")
    assert "0 sneak paths" in proven


def test_the_guard_of_the_example_is_the_one_that_the_command_writes(tmp_path):
    loan = EXAMPLES / "loan"
    assert (loan / "sql" / "guard.sql").read_text() == arrowproof(tmp_path, "guard", str(loan / "lifecycle.json"))


def arrowproof(folder: Path, *arguments: str, status: int = 0) -> str:
    done = subprocess.run(
        [sys.executable, "-m", "arrowproof", *arguments], cwd=folder, capture_output=True, text=True, check=False
    )
    assert done.returncode == status, done.stdout + done.stderr
    return done.stdout
