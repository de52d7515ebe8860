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
    for command in (["lint", model, "--strict"], ["sql", model], ["prove", model, "--out", str(tmp_path)]):
        done = subprocess.run(
            [sys.executable, "-m", "arrowproof", *command], cwd=tmp_path, capture_output=True, text=True, check=False
        )
        assert done.returncode == 0, done.stdout + done.stderr
    assert done.stdout.startswith("Proven: ")
    assert "0 sneak paths" in done.stdout
