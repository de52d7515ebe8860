"""What the crash tests share: a seed that is printed, a quick folder, and a line that says what was tried and found."""

from __future__ import annotations

import os
import secrets
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path
from random import Random

import pytest

_CI_SEED = 20261130


@pytest.fixture(scope="session")
def seed() -> int:
    """The same in every run of a commit's check, another in every run at home; ``CRASH_SEED`` repeats one."""
    chosen = os.environ.get("CRASH_SEED")
    if chosen:
        return int(chosen)
    return _CI_SEED if os.environ.get("CI") else secrets.randbelow(10**9)


@pytest.fixture
def random(seed: int, request: pytest.FixtureRequest) -> Random:
    """Chance of this test's own, so that it draws the same alone and in the whole suite."""
    return Random(f"{seed} {request.node.name}")


@pytest.fixture
def found(record_property: Callable[[str, object], None], seed: int, request: pytest.FixtureRequest):
    """Says in the summary of the run what the test tried and what it found."""

    def say(text: str) -> None:
        record_property("found", f"{request.node.name}: {text} (CRASH_SEED={seed})")

    return say


@pytest.fixture
def quick_folder(tmp_path: Path) -> Iterator[Path]:
    """A folder in memory where the system has one: for tests that model the disk themselves."""
    memory = Path("/dev/shm")
    if not os.access(memory, os.W_OK):
        yield tmp_path
        return
    with tempfile.TemporaryDirectory(dir=memory, prefix="notes-") as folder:
        yield Path(folder)
