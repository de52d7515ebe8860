"""What docs/service.md says of the commands is what they take."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

DOCUMENT = (Path(__file__).parents[2] / "docs" / "service.md").read_text(encoding="utf-8")


def section(title: str) -> str:
    return DOCUMENT.partition(f"\n## {title}\n")[2].partition("\n## ")[0]


@pytest.mark.parametrize("module", ["worker", "server"])
def test_the_table_of_a_command_names_every_option_and_no_other(module):
    run = [sys.executable, "-m", f"arrowproof.service.{module}", "--help"]
    said = subprocess.run(run, capture_output=True, text=True, check=True).stdout
    named = re.findall(r"^\| `(--[a-z-]+)`", section(f"The {module}"), re.MULTILINE)
    assert set(named) == set(re.findall(r"--[a-z-]+", said.partition("options:")[2])) - {"--help"}


def test_every_state_is_in_the_table_of_states():
    from arrowproof.service.states import STATES

    rows = re.findall(r"^\| `([a-z_]+)` \|", section("What happens to a job"), re.MULTILINE)
    assert sorted(rows) == sorted(STATES)
