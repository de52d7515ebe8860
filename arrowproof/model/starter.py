"""The starter: a small lifecycle that explains the format in its own notes, for `arrowproof init`."""

from __future__ import annotations

from pathlib import Path


def starter_text() -> str:
    """The text of a complete lifecycle file: creation, a bounded retry loop, success, failure and a binding."""
    return Path(__file__).with_name("starter.lifecycle.json").read_text(encoding="utf-8")
