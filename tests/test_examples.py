"""The examples are proven, as a user would prove them."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
EXAMPLES = ROOT / "examples"
NAMES = sorted(path.parent.name for path in EXAMPLES.glob("*/lifecycle.json"))
ON_A_SERVER = {name for name in NAMES if '"postgresql"' in (EXAMPLES / name / "lifecycle.json").read_text()}
MORE = {"plpgsql": ["--interleavings"]}
DOCUMENT = (ROOT / "docs" / "examples.md").read_text(encoding="utf-8")


@pytest.mark.parametrize("example", NAMES)
def test_each_example_lints_strictly_and_is_proven(example, tmp_path, request):
    model = str(EXAMPLES / example / "lifecycle.json")
    server = ["--db", request.getfixturevalue("postgresql")] if example in ON_A_SERVER else []
    is_guarded = (EXAMPLES / example / "sql" / "guard.sql").exists()
    arrowproof(tmp_path, "lint", model, "--strict")
    arrowproof(tmp_path, "sql", model, status=1 if is_guarded else 0)
    proven = arrowproof(tmp_path, "prove", model, "--out", str(tmp_path), *server, *MORE.get(example, []))
    assert proven.startswith("Proven: ")
    assert "0 sneak paths" in proven


def test_the_guard_of_the_example_is_the_one_that_the_command_writes(tmp_path):
    loan = EXAMPLES / "loan"
    assert (loan / "sql" / "guard.sql").read_text() == arrowproof(tmp_path, "guard", str(loan / "lifecycle.json"))


def test_the_document_lists_each_example_and_its_commands_are_the_ones_that_are_run_here():
    assert sorted(re.findall(r"^\| \[`(\w+)`\]", DOCUMENT, re.MULTILINE)) == NAMES
    commands = re.findall(r"^\$ (.*)$", DOCUMENT, re.MULTILINE)
    runs = {name: [*(["--db", "postgresql"] if name in ON_A_SERVER else []), *MORE.get(name, [])] for name in NAMES}
    wanted = {" ".join(["arrowproof prove", f"examples/{name}/lifecycle.json", *runs[name]]) for name in NAMES}
    assert commands
    assert set(commands) <= wanted


def arrowproof(folder: Path, *arguments: str, status: int = 0) -> str:
    done = subprocess.run(
        [sys.executable, "-m", "arrowproof", *arguments], cwd=folder, capture_output=True, text=True, check=False
    )
    assert done.returncode == status, done.stdout + done.stderr
    return done.stdout
