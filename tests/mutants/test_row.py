"""A row says what killed a mutant, that it lives, or that it could not be tried; the command ends accordingly."""

from __future__ import annotations

import subprocess
import sys
from dataclasses import replace
from pathlib import Path

from tests.mutants.row import ERROR, LIVES, make_row
from tests.mutants.table import SERVICE, read_mutants

ROOT = SERVICE.parents[1]
(DROPPED,) = (mutant for mutant in read_mutants() if mutant.id == "complete-from-any-state")


def test_a_killed_mutant_is_told_with_its_check_and_the_reason(tmp_path: Path) -> None:
    row = make_row(tmp_path, False, DROPPED)
    assert (row.killed_by, row.is_killed) == ("sql", True)
    assert DROPPED.reason in row.reason


def test_a_mutant_that_lives_is_told_with_what_was_wanted_and_what_was_said(tmp_path: Path) -> None:
    row = make_row(tmp_path, False, replace(DROPPED, reason="attempts 7"))
    assert (row.killed_by, row.is_killed) == (LIVES, False)
    assert "'attempts 7'" in row.reason
    assert "sneak path failed -> completed" in row.reason


def test_a_mutant_that_cannot_be_tried_is_an_error(tmp_path: Path) -> None:
    row = make_row(tmp_path, False, replace(DROPPED, change=replace(DROPPED.change, old="not there")))
    assert (row.killed_by, row.is_killed) == (ERROR, False)
    assert "it must be there once" in row.reason


def run(*arguments: str) -> tuple[int, str]:
    command = [sys.executable, "-m", "tests.mutants", *arguments]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False, timeout=90)
    return done.returncode, done.stdout + done.stderr


def test_the_command_ends_with_0_when_all_are_killed_and_refuses_a_name_that_nobody_has() -> None:
    status, said = run("--only", DROPPED.id)
    assert status == 0, said
    assert "killed: 1 of 1; classes: 1; seconds: " in said
    status, said = run("--only", "nobody")
    assert status == 2
    assert "'nobody'" in said
