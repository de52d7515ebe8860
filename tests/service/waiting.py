"""The waiting: for a signal and never for a guessed time, with a deadline that fails loudly."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

import pytest

DEADLINE_SECONDS = 60.0


def wait_until(holds: Callable[[], Any], what: str) -> None:
    """Wait for a signal; look every few milliseconds and fail at the deadline."""
    deadline = time.monotonic() + DEADLINE_SECONDS
    while not holds():
        if time.monotonic() > deadline:
            pytest.fail(f"did not come within {DEADLINE_SECONDS} s: {what}")
        time.sleep(0.005)
