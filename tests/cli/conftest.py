"""The command as users run it: a real process."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import pytest


@dataclass(frozen=True)
class Result:
    status: int
    out: str
    err: str


Run = Callable[..., Result]


@pytest.fixture
def arrowproof(tmp_path: Path) -> Run:
    """Runs ``arrowproof`` with the given arguments in an empty folder."""

    def run(*arguments: str, cwd: Path = tmp_path, env: dict[str, str] | None = None, timeout: float = 90) -> Result:
        done = subprocess.run(
            [sys.executable, "-m", "arrowproof", *arguments],
            cwd=cwd,
            env={**os.environ, **(env or {})},
            capture_output=True,
            text=True,
            encoding="utf-8",
            timeout=timeout,
            check=False,
        )
        assert "Traceback" not in done.stderr, done.stderr
        return Result(done.returncode, done.stdout, done.stderr)

    return run
